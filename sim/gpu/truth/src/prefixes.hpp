// Factors of the units that chip files are written in.
#pragma once

namespace ww::sim::gpu {

inline constexpr double kPico = 1e-12;
inline constexpr double kFemto = 1e-15;

}  // namespace ww::sim::gpu
