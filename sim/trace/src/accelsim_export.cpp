#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "ww/core/streamed_file.hpp"
#include "ww/sim/trace/accelsim.hpp"

namespace ww::sim::trace {
namespace {

constexpr std::uint64_t kMaxGroups = std::uint64_t{1} << 24;
constexpr unsigned kWarp = 32;

std::string opcode_of(const Instruction& instruction) {
  std::string name;
  switch (instruction.operation) {
    case Operation::load: name = "LDG.E"; break;
    case Operation::store: name = "STG.E"; break;
    case Operation::atomic: name = "RED.E.ADD"; break;
    case Operation::atomic_return: name = "ATOMG.E.ADD"; break;
  }
  if (instruction.element_bytes < 4)
    return name + fmt::format(".U{}", 8 * instruction.element_bytes);
  if (instruction.element_bytes > 4)
    return name + fmt::format(".{}", 8 * instruction.element_bytes);
  return name;
}

// One launch's instructions by work-group and half of a wave.
struct Kernel {
  struct Warp {
    std::uint64_t instructions{};
    std::string lines;
  };
  // Warps by work-group and by twice the wave plus which half of it.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Warp> warps;
  bool has_upper_halves{};
  std::uint32_t last_wave{};

  void add(const Access& access, const Instruction& instruction, unsigned half) {
    const auto mask = static_cast<std::uint32_t>(access.lanes >> (half * kWarp));
    if (mask == 0) return;
    has_upper_halves = has_upper_halves || half != 0;
    last_wave = std::max(last_wave, access.wave);
    Warp& warp = warps[{access.group, std::uint64_t{access.wave} * 2 + half}];
    ++warp.instructions;
    auto out = std::back_inserter(warp.lines);
    fmt::format_to(out, "{:04x} {:08x} 0 {} 0 {}", instruction.address, mask,
                   opcode_of(instruction), instruction.element_bytes);
    // Address form 1 for one run of lanes at one stride, else form 2.
    const auto* address = access.address.data() + half * kWarp;
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint32_t shifted = mask >> first;
    std::uint64_t stride = (shifted & 2U) != 0 ? address[first + 1] - address[first] : 0;
    bool regular = (shifted & (shifted + 1)) == 0;
    for (unsigned lane = first + 1; lane < kWarp && regular && (mask >> lane & 1U) != 0; ++lane) {
      regular = address[lane] == address[lane - 1] + stride;
    }
    fmt::format_to(out, " {} 0x{:x}", regular ? 1 : 2, address[first]);
    if (regular) {
      fmt::format_to(out, " {}", static_cast<std::int64_t>(stride));
    } else {
      std::uint64_t before = address[first];
      for (std::uint32_t set = mask & (mask - 1); set != 0; set &= set - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(set));
        fmt::format_to(out, " {}", static_cast<std::int64_t>(address[lane] - before));
        before = address[lane];
      }
    }
    warp.lines += '\n';
  }

  // Every warp of every work-group is there and ends with EXIT, as the simulator expects.
  Status write(const Launch& launch, std::uint64_t number,
               const std::filesystem::path& file) const {
    std::uint64_t groups = 1;
    for (const std::uint64_t extent : launch.groups) {
      groups = groups > kMaxGroups ? groups : groups * extent;
    }
    const std::uint64_t size = std::uint64_t{launch.local[0]} * launch.local[1] * launch.local[2];
    if (groups > kMaxGroups || size > 4096) {
      return fail(ErrorCode::out_of_range,
                  "a launch of too many work-groups or work-items to export", launch.kernel);
    }
    WW_ASSIGN(out, StreamedFile::create(file));
    WW_TRY(out.write(fmt::format(
        "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n"
        "-shmem = 0\n-nregs = 32\n-binary version = 70\n-cuda stream id = 0\n"
        "-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n-nvbit version = 1.5\n"
        "-accelsim tracer version = 3\n\n"
        "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
        "[adrrescompress?] [mem_addresses]\n\n",
        launch.kernel, number, launch.groups[0], launch.groups[1], launch.groups[2],
        launch.local[0], launch.local[1], launch.local[2])));
    const auto per_group = static_cast<std::uint32_t>((size + kWarp - 1) / kWarp);
    // Waves of 32 lanes, as imported warps are, have no upper halves, and there are more of them
    // than a group has of 64.
    const bool narrow = !has_upper_halves && last_wave >= (per_group + 1) / 2;
    std::size_t found_warps = 0;
    for (std::uint32_t group = 0; group < groups; ++group) {
      WW_TRY(out.write(fmt::format("#BEGIN_TB\n\nthread block = {},{},{}\n\n",
                                   group % launch.groups[0],
                                   group / launch.groups[0] % launch.groups[1],
                                   group / launch.groups[0] / launch.groups[1])));
      for (std::uint32_t warp = 0; warp < per_group; ++warp) {
        const auto found = warps.find({group, std::uint64_t{warp} * (narrow ? 2 : 1)});
        const bool any = found != warps.end();
        found_warps += any ? 1 : 0;
        WW_TRY(out.write(fmt::format("warp = {}\ninsts = {}\n", warp,
                                     1 + (any ? found->second.instructions : 0))));
        if (any) WW_TRY(out.write(found->second.lines));
        const std::uint64_t left = size - std::uint64_t{warp} * kWarp;
        const std::uint32_t mask = left >= kWarp ? 0xFFFFFFFFU : (1U << left) - 1;
        WW_TRY(out.write(fmt::format("fff0 {:08x} 0 EXIT 0 0\n\n", mask)));
      }
      WW_TRY(out.write("#END_TB\n\n"));
    }
    if (found_warps != warps.size()) {
      return fail(ErrorCode::parse_error,
                  fmt::format("{} of {} warps with accesses lie outside the launch: it has {} "
                              "work-groups of {} work-items",
                              warps.size() - found_warps, warps.size(), groups, size),
                  launch.kernel);
    }
    return out.keep();
  }
};

}  // namespace

Result<Converted> export_accelsim(Reader& reader, const std::filesystem::path& folder) {
  Converted converted;
  WW_ASSIGN(list, StreamedFile::create(folder / "kernelslist.g"));
  Kernel kernel;
  std::uint32_t launch = 0;
  const auto write_up_to = [&](std::size_t end) -> Status {
    for (; launch < end; ++launch) {
      const auto name = fmt::format("kernel-{}.traceg", launch + 1);
      WW_TRY(kernel.write(reader.launches()[launch], launch + 1, folder / name));
      WW_TRY(list.write(name + "\n"));
      ++converted.files;
      kernel = {};
    }
    return {};
  };
  Access access;
  while (true) {
    WW_ASSIGN(more, reader.next(access));
    if (!more) break;
    WW_TRY(write_up_to(access.launch));
    for (const unsigned half : {0U, 1U}) {
      kernel.add(access, reader.instructions()[access.instruction], half);
    }
  }
  WW_TRY(write_up_to(reader.launches().size()));
  WW_TRY(list.keep());
  converted.totals = reader.totals();
  return converted;
}

}  // namespace ww::sim::trace
