// A saturated stream of L2 reads by one engine from one quadrant, as the accounting would see it
// from a perfect kernel: every cycle a 64-byte line from each of the quadrant's channels, whose
// chunks (the interleave: what one wavefront's load takes of a channel) are dealt to the engine's
// CUs in turn. What reveal() and the sanity tests run through the ledger.
#pragma once

#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

// The data patterns of Adhinarayanan et al. (IISWC'16), Fig. 6, and patterns with controlled
// statistics: independent bits of another density, neighbouring bits (2i, 2i + 1) that are equal or
// opposite, lines that are all ones or all zeros.
enum class StreamPattern {
  zeros,
  ones,
  alternating,
  half_random,
  random,
  density_25,
  density_75,
  pairs_equal,
  pairs_opposite,
  uniform_lines,
};

struct StreamOptions {
  StreamPattern pattern{StreamPattern::random};
  std::int64_t beats{4096};  // per channel
  std::uint64_t seed{1};     // of the random bits
  bool with_cores{true};     // instructions, caches and clocks of the streaming CUs as well
  std::int64_t cycles_per_beat{1};
};

[[nodiscard]] LaunchActivity stream(const Chip& chip, int engine, int quadrant,
                                    const StreamOptions& options);

}  // namespace ww::sim::gpu
