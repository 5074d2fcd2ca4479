// One operating point of dynamic voltage and frequency scaling (DVFS).
#pragma once

namespace ww {

// Nominal values, as a data sheet, a driver's table or a campaign states them.
struct DvfsState {
  double voltage_v{};  // 0 where only the clock is known
  double clock_hz{};
};

}  // namespace ww
