// Names the links of a line between the I/O die that its reader stands on and that of its home.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

enum class IoDieWay : std::uint8_t { own, row, column, across };

// Returns the way on the ring 0-1-2-3-0: 0-1 and 2-3 stand in a row, 1-2 and 3-0 in a column.
[[nodiscard]] constexpr IoDieWay io_die_way(int from, int to) {
  if (from == to) return IoDieWay::own;
  if ((to - from) % 2 == 0) return IoDieWay::across;
  const int low = from < to ? from : to;
  const int high = from < to ? to : from;
  return low % 2 == 0 && high == low + 1 ? IoDieWay::row : IoDieWay::column;
}

// Lines of 64 bytes, read and written, by IoDieWay.
[[nodiscard]] inline std::array<std::uint64_t, 4> lines_by_way(const IoDieActivity& activity,
                                                               const Architecture& architecture) {
  std::array<std::uint64_t, 4> lines{};
  for (std::size_t die = 0; die < activity.reads.size(); ++die) {
    const int from = architecture.io_die_of(static_cast<int>(die));
    for (std::size_t home = 0; home < activity.reads[die].size(); ++home) {
      const IoDieWay way = io_die_way(from, static_cast<int>(home));
      lines[static_cast<std::size_t>(way)] +=
          activity.reads[die][home] + activity.writes[die][home];
    }
  }
  return lines;
}

// Lines between the Infinity Cache and memory.
[[nodiscard]] inline std::uint64_t memory_lines(const IoDieActivity& activity) {
  std::uint64_t lines = 0;
  for (const std::uint64_t count : activity.memory_reads) lines += count;
  for (const std::uint64_t count : activity.memory_writes) lines += count;
  return lines;
}

}  // namespace ww::sim::gpu
