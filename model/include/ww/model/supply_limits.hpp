// Limits of a core's supply and clock: values beyond these are slips of the unit.
#pragma once

namespace ww::model {

inline constexpr double kMinCoreVoltage = 0.1;  // V
inline constexpr double kMaxCoreVoltage = 3;
inline constexpr double kMinCoreClock = 1e6;  // Hz
inline constexpr double kMaxCoreClock = 1e11;

}  // namespace ww::model
