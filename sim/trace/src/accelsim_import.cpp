#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "kernel_lines.hpp"
#include "ww/sim/trace/accelsim.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::trace {
namespace {

constexpr unsigned kWarpLanes = 32;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "(512,8,1)" or "3,0,0".
std::optional<std::array<std::uint32_t, 3>> triple(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  std::array<std::uint32_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto comma = text.find(',');
    if ((comma == std::string_view::npos) != (i == 2)) return std::nullopt;
    const auto value = number<std::uint32_t>(trimmed(text.substr(0, comma)));
    if (!value) return std::nullopt;
    values[i] = *value;
    text.remove_prefix(i == 2 ? text.size() : comma + 1);
  }
  return values;
}

// What a global or local memory opcode does; nothing for all others (shared memory included).
std::optional<Operation> operation_of(std::string_view opcode) {
  const auto stem = opcode.substr(0, opcode.find('.'));
  // LDGSTS copies from global to shared memory. Accel-Sim's tracer lists both addresses, and its
  // post-processing keeps that of global memory.
  if (stem == "LD" || stem == "LDG" || stem == "LDL" || stem == "LDGSTS") return Operation::load;
  if (stem == "ST" || stem == "STG" || stem == "STL") return Operation::store;
  if (stem == "RED" || stem == "REDG") return Operation::atomic;
  if (stem == "ATOM" || stem == "ATOMG") return Operation::atomic_return;
  return std::nullopt;
}

// Whether an opcode accesses global memory by textures, surfaces or bulk copies (TMA), of which a
// trace has no lanes' addresses.
bool has_no_addresses(std::string_view opcode) {
  constexpr std::string_view kStems[] = {"TEX",     "TLD",     "TLD4",    "TXD",    "SULD",
                                         "SUST",    "SURED",   "SUATOM",  "UBLKCP", "UBLKRED",
                                         "UTMALDG", "UTMASTG", "UTMAREDG"};
  return std::ranges::find(kStems, opcode.substr(0, opcode.find('.'))) != std::end(kStems);
}

// From modifiers such as .128, .U8, .S16, .F32: bytes of a lane; 4 where none tells.
std::uint8_t element_bytes(std::string_view opcode) {
  for (auto dot = opcode.find('.'); dot != std::string_view::npos;
       dot = opcode.find('.', dot + 1)) {
    auto part = opcode.substr(dot + 1);
    part = part.substr(0, part.find('.'));
    while (!part.empty() && (part.front() == 'U' || part.front() == 'S' || part.front() == 'F' ||
                             part.front() == 'B')) {
      part.remove_prefix(1);
    }
    const auto bits = number<unsigned>(part);
    if (bits &&
        (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64 || *bits == 96 || *bits == 128)) {
      return static_cast<std::uint8_t>(*bits / 8);
    }
  }
  return 4;
}

class KernelFile {
 public:
  KernelFile(const std::filesystem::path& file, Writer& writer, Converted& converted)
      : file_(file), writer_(writer), converted_(converted) {}

  Status read() {
    WW_ASSIGN(lines, open_kernel_lines(file_));
    for (std::string line;;) {
      WW_ASSIGN(more, lines->next(line));
      if (!more) break;
      ++line_;
      WW_TRY(take(trimmed(line)));
    }
    if (!launched_)
      return wrong("this is no kernel trace: '-kernel name' or '-grid dim' is missing");
    if (in_block_) return wrong("the file ends within a thread block: it is truncated");
    ++converted_.files;
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string message) const {
    return fail(ErrorCode::parse_error, std::move(message),
                fmt::format("{}:{}", file_.string(), line_));
  }

  Status take(std::string_view line) {
    if (line.empty()) return {};
    if (line.starts_with("-")) return header(line.substr(1));
    if (line.starts_with("#")) {
      if (line.starts_with("#BEGIN_TB")) return begin_block();
      if (line.starts_with("#END_TB")) in_block_ = false;
      if (line.starts_with("#traces format") && line.find("line_num") != line.npos) {
        numbered_ = true;
      }
      return {};
    }
    if (line.find(" = ") != line.npos) return place(line);
    return instruction(line);
  }

  Status header(std::string_view line) {
    const auto equals = line.find('=');
    if (equals == line.npos) return wrong("a header line without '='");
    const auto key = trimmed(line.substr(0, equals));
    const auto value = trimmed(line.substr(equals + 1));
    if (key == "kernel name") {
      launch_.kernel = value;
    } else if (key == "kernel id") {
      launch_.dispatch = number<std::uint64_t>(value).value_or(0);
    } else if (key == "grid dim" || key == "block dim") {
      const auto extents = triple(value);
      if (!extents || std::count(extents->begin(), extents->end(), 0U) != 0) {
        return wrong("a size that is not (x,y,z)");
      }
      (key == "grid dim" ? launch_.groups : launch_.local) = *extents;
      has_grid_ = has_grid_ || key == "grid dim";
    } else if (key == "enable lineinfo") {
      numbered_ = number<int>(value).value_or(0) != 0;
    } else if (key == "accelsim tracer version") {
      version_ = number<int>(value).value_or(3);
    }
    return {};
  }

  Status launch() {
    if (launched_) return {};
    if (launch_.kernel.empty() || !has_grid_) {
      return wrong("this is no kernel trace: '-kernel name' or '-grid dim' is missing");
    }
    const auto& grid = launch_.groups;
    if (std::uint64_t{grid[0]} * grid[1] > 0xFFFFFFFFU / grid[2]) {
      return wrong("a grid of more than 2^32 thread blocks");
    }
    writer_.launch(launch_);
    launched_ = true;
    return {};
  }

  Status begin_block() {
    if (in_block_) return wrong("a thread block within another");
    in_block_ = true;
    return launch();
  }

  Status set_group(const std::array<std::uint32_t, 3>& at) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (at[i] >= launch_.groups[i]) return wrong("a thread block outside the grid");
    }
    group_ = at[0] + launch_.groups[0] * (at[1] + launch_.groups[1] * at[2]);
    return {};
  }

  Status place(std::string_view line) {
    const auto equals = line.find('=');
    const auto key = trimmed(line.substr(0, equals));
    const auto value = trimmed(line.substr(equals + 1));
    if (key == "thread block") {
      const auto at = triple(value);
      if (!at) return wrong("a thread block that is not x,y,z");
      return set_group(*at);
    }
    if (key == "warp") {
      const auto warp = number<std::uint32_t>(value);
      if (!warp) return wrong("a warp that is not a number");
      warp_ = *warp;
    }
    return {};
  }

  Status instruction(std::string_view line) {
    words_.clear();
    while (!line.empty()) {
      const auto end = std::min(line.find_first_of(" \t"), line.size());
      words_.push_back(line.substr(0, end));
      line = trimmed(line.substr(end));
    }
    next_ = 0;
    WW_TRY(launch());
    if (version_ < 3) {
      std::array<std::uint32_t, 3> at{};
      for (auto& axis : at) {
        const auto value = number<std::uint32_t>(word());
        if (!value) return wrong("an instruction without its thread block");
        axis = *value;
      }
      WW_TRY(set_group(at));
      const auto warp = number<std::uint32_t>(word());
      if (!warp) return wrong("an instruction without its warp");
      warp_ = *warp;
    }
    if (numbered_) word();
    const auto pc = number<std::uint64_t>(word(), 16);
    const auto mask = number<std::uint32_t>(word(), 16);
    if (!pc || !mask) return wrong("an instruction without address and mask");
    WW_TRY(skip_registers());
    const std::string_view opcode = word();
    WW_TRY(skip_registers());
    const auto width = number<unsigned>(word());
    if (opcode.empty() || !width) return wrong("an instruction without opcode and width");
    const auto operation = operation_of(opcode);
    if (*width == 0 || *mask == 0 || !operation) {
      ++(*mask != 0 && has_no_addresses(opcode) ? converted_.without_addresses
                                                : converted_.skipped);
      return {};
    }
    WW_TRY(addresses(*mask));
    AccessView access;
    const std::uint8_t bytes = element_bytes(opcode);
    access.instruction = writer_.instruction({*pc, std::string(opcode), *operation, bytes, bytes});
    access.group = group_;
    access.wave = warp_;
    access.lanes = *mask;
    access.address = address_.data();
    writer_.access(access);
    return {};
  }

  Status skip_registers() {
    const auto count = number<std::size_t>(word());
    if (!count || *count > words_.size()) return wrong("an instruction with an odd register count");
    next_ += *count;
    return {};
  }

  Status addresses(std::uint32_t mask) {
    const auto mode = number<int>(word());
    if (!mode || *mode < 0 || *mode > 2) return wrong("an address of an unknown form");
    std::uint64_t address = 0;
    std::uint64_t stride = 0;
    bool first = true;
    for (std::uint32_t set = mask; set != 0; set &= set - 1) {
      if (first || *mode == 0) {
        const auto value = number<std::uint64_t>(word(), 16);
        if (!value) return wrong("an address that is missing or not hexadecimal");
        address = *value;
        if (*mode == 1) {
          const auto step = number<std::int64_t>(word());
          if (!step) return wrong("a stride that is missing or not a number");
          stride = static_cast<std::uint64_t>(*step);
        }
      } else if (*mode == 1) {
        address += stride;
      } else {
        const auto step = number<std::int64_t>(word());
        if (!step) return wrong("an address difference that is missing or not a number");
        address += static_cast<std::uint64_t>(*step);
      }
      first = false;
      address_[static_cast<std::size_t>(std::countr_zero(set))] = address;
    }
    return {};
  }

  std::string_view word() { return next_ < words_.size() ? words_[next_++] : std::string_view{}; }

  std::filesystem::path file_;
  Writer& writer_;
  Converted& converted_;
  std::size_t line_{};
  int version_{3};
  bool numbered_{};
  bool has_grid_{};
  bool launched_{};
  bool in_block_{};
  Launch launch_;
  std::uint32_t group_{};
  std::uint32_t warp_{};
  std::vector<std::string_view> words_;
  std::size_t next_{};
  std::array<std::uint64_t, kLanes> address_{};
  static_assert(kWarpLanes <= kLanes);
};

// The kernel files of a list; lines of copies are left out.
Result<std::vector<std::filesystem::path>> listed(const std::filesystem::path& list) {
  std::ifstream stream(list);
  if (!stream) return fail(ErrorCode::not_found, "cannot read", list.string());
  std::vector<std::filesystem::path> files;
  for (std::string line; std::getline(stream, line);) {
    const auto entry = trimmed(line);
    if (entry.empty() || entry.starts_with("Memcpy") || entry.starts_with("#")) continue;
    files.push_back(list.parent_path() / std::string(entry));
  }
  if (files.empty()) return fail(ErrorCode::parse_error, "lists no kernel file", list.string());
  return files;
}

}  // namespace

std::string missing_traffic(const Converted& converted) {
  if (converted.without_addresses == 0) return {};
  return fmt::format(
      "the trace has no lanes' addresses of instructions on textures, surfaces or by bulk copies "
      "(TMA), so that their traffic is missing: {} of them",
      converted.without_addresses);
}

Result<Converted> import_accelsim(const std::filesystem::path& from,
                                  const std::filesystem::path& to) {
  std::vector<std::filesystem::path> files{from};
  if (from.extension() == ".g") {
    WW_ASSIGN(list, listed(from));
    files = std::move(list);
  }
  WW_ASSIGN(writer, Writer::create(to, "accelsim:" + from.filename().string()));
  Converted converted;
  for (const auto& file : files) WW_TRY(KernelFile(file, *writer, converted).read());
  WW_TRY(writer->finish());
  converted.totals = writer->totals();
  return converted;
}

}  // namespace ww::sim::trace
