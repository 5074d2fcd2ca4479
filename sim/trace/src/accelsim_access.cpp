#include "accelsim_access.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace ww::sim::trace {
namespace {

std::string_view stem_of(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

bool is_width(unsigned bytes) {
  constexpr unsigned kWidths[] = {1, 2, 4, 8, 12, 16, 32, 64};
  return std::ranges::find(kWidths, bytes) != std::end(kWidths);
}

}  // namespace

std::optional<MemoryOperation> memory_operation(std::string_view opcode) {
  struct Row {
    std::string_view stem;
    MemoryOperation what;
  };
  // LDGSTS copies from global to shared memory. Accel-Sim's tracer lists both addresses, and its
  // post-processing keeps that of global memory.
  constexpr Row kRows[] = {{"LD", {Operation::load, Space::generic}},
                           {"LDG", {Operation::load, Space::global}},
                           {"LDGSTS", {Operation::load, Space::global}},
                           {"LDL", {Operation::load, Space::local}},
                           {"ST", {Operation::store, Space::generic}},
                           {"STG", {Operation::store, Space::global}},
                           {"STL", {Operation::store, Space::local}},
                           {"RED", {Operation::atomic, Space::generic}},
                           {"REDG", {Operation::atomic, Space::global}},
                           {"ATOM", {Operation::atomic_return, Space::generic}},
                           {"ATOMG", {Operation::atomic_return, Space::global}}};
  const auto* const row = std::ranges::find(kRows, stem_of(opcode), &Row::stem);
  if (row == std::end(kRows)) return std::nullopt;
  return row->what;
}

bool has_no_addresses(std::string_view opcode) {
  constexpr std::string_view kStems[] = {"TEX",     "TLD",     "TLD4",    "TXD",    "SULD",
                                         "SUST",    "SURED",   "SUATOM",  "UBLKCP", "UBLKRED",
                                         "UTMALDG", "UTMASTG", "UTMAREDG"};
  return std::ranges::find(kStems, stem_of(opcode)) != std::end(kStems);
}

std::optional<std::uint8_t> access_bytes(std::string_view opcode, unsigned line_width) {
  for (auto dot = opcode.find('.'); dot != std::string_view::npos;
       dot = opcode.find('.', dot + 1)) {
    auto part = opcode.substr(dot + 1);
    part = part.substr(0, part.find('.'));
    part.remove_prefix(std::min(part.find_first_not_of("USFB"), part.size()));
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), bits);
    if (error == std::errc{} && end == part.data() + part.size() && bits % 8 == 0 &&
        is_width(bits / 8)) {
      return static_cast<std::uint8_t>(bits / 8);
    }
  }
  if (!is_width(line_width)) return std::nullopt;
  return static_cast<std::uint8_t>(line_width);
}

namespace {

// Size of both windows; a lower one ends where the other begins.
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 24;

bool is_in_window(std::uint64_t address, std::uint64_t base, std::uint64_t other) {
  const std::uint64_t bytes = other > base ? std::min(kWindowBytes, other - base) : kWindowBytes;
  return address >= base && address - base < bytes;
}

}  // namespace

bool Windows::has_shared(std::uint64_t address) const {
  return are_known() && is_in_window(address, shared, local);
}

bool Windows::has_local(std::uint64_t address) const {
  return are_known() && is_in_window(address, local, shared);
}

std::uint64_t local_address(std::uint64_t warp, unsigned lane, std::uint64_t offset) {
  // A thread has 512 KiB at most, wherever in the window they lie.
  constexpr std::uint64_t kThreadBytes = std::uint64_t{1} << 19;
  constexpr std::uint64_t kWarpLanes = 32;
  constexpr std::uint64_t kWord = 4;
  constexpr std::uint64_t kLocalMemory = std::uint64_t{1} << 63;
  offset %= kThreadBytes;
  return kLocalMemory + warp * (kThreadBytes * kWarpLanes) + offset / kWord * (kWord * kWarpLanes) +
         lane * kWord + offset % kWord;
}

}  // namespace ww::sim::trace
