// Models an L2's far side where that is more than channels of memory: the dies of a package, or an
// Infinity Cache. Each resource is busy for a line's time, counted in fractions of a cycle.
#pragma once

#include <cmath>
#include <cstdint>

#include "ww/core/split_mix.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

class BehindL2 {
 public:
  virtual ~BehindL2() = default;
  // A die's L2 asks at `cycle` for a line. Returns when its data is there.
  virtual std::int64_t read(int die, std::uint32_t line, std::int64_t cycle) = 0;
  // The L2 of the die writes a line back.
  virtual void write(int die, std::uint32_t line, std::int64_t cycle) = 0;
  // A compute unit of the die has written to a line: no other die's L2 may keep it.
  virtual void wrote(int die, std::uint32_t line, std::int64_t cycle) = 0;
};

inline constexpr std::int64_t kCycleFraction = 1024;

[[nodiscard]] inline std::int64_t line_time(const Architecture& architecture,
                                            double bytes_per_clock) {
  return std::llround(architecture.line_bytes / bytes_per_clock *
                      static_cast<double>(kCycleFraction));
}
// Takes the resource for `time`, from `at` or later on; returns when.
inline std::int64_t take(std::int64_t& free, std::int64_t at, std::int64_t time) {
  const std::int64_t begin = at > free ? at : free;
  free = begin + time;
  return begin;
}

// Latency of a read of memory that begins at `cycle`. Some come late; which ones depends on the
// line and the time alone.
[[nodiscard]] inline std::int64_t memory_latency(const Architecture& architecture,
                                                 std::uint32_t line, std::int64_t cycle) {
  if (architecture.late_reads == 0) return architecture.memory_cycles;
  SplitMix random((std::uint64_t{line} << 32U) ^ static_cast<std::uint64_t>(cycle));
  if (random.unit() >= architecture.late_reads) return architecture.memory_cycles;
  return architecture.memory_cycles +
         std::llround(random.unit() * static_cast<double>(architecture.late_read_cycles));
}

}  // namespace ww::sim::gpu::exec
