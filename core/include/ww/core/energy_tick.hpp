// The unit in which every energy accumulator of the program counts.
#pragma once

#include <cstdint>

namespace ww {

// An accumulator counts ticks of 2^-16 J = 15.259 uJ, as AMD's hardware does. Counters in other
// units, such as NVIDIA's millijoules, are converted where they are read.
inline constexpr std::int64_t kTicksPerJoule = 65536;
inline constexpr double kJoulesPerTick = 1.0 / static_cast<double>(kTicksPerJoule);

}  // namespace ww
