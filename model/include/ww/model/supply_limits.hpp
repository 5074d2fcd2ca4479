// What a core's supply and clock can be: values beyond these are slips of the unit.
#pragma once

namespace ww::model {

inline constexpr double kLeastCoreVoltage = 0.1;  // V
inline constexpr double kMostCoreVoltage = 3;
inline constexpr double kLeastCoreClock = 1e6;  // Hz
inline constexpr double kMostCoreClock = 1e11;

}  // namespace ww::model
