// The unit of PitchedWireEvents.
#pragma once

namespace ww::sim::power {

inline constexpr double kPitchesPerMilliPitch = 1e-3;

}  // namespace ww::sim::power
