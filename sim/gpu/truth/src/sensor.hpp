// Models the registers in which the chip reports its power, temperature and voltage.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "draw.hpp"
#include "truth.hpp"
#include "ww/core/vgpu_abi.h"

namespace ww::sim::gpu {

class Sensor {
 public:
  Sensor(const Truth& truth, std::uint64_t seed);

  // Mean values since the last tick. window_power_w is the mean over the part of the tick that the
  // power register sees (all of it unless the window is shorter than the period).
  struct Tick {
    std::int64_t time_ns{};
    double power_w{};  // of the chip
    double window_power_w{};
    double voltage_v{};
    double temperature_c{};  // where the sensor sits
    double clock_hz{};
  };
  [[nodiscard]] ww_vgpu_sample read(const Tick& tick);

 private:
  [[nodiscard]] double shunt_w(double power_w) const;

  RegulatorTruth regulator_;
  SensorTruth truth_;
  ThermalTruth thermal_;
  Draw draw_;
  double period_s_;
  double lag_step_;       // share of the way the lag filter goes in a tick
  double wander_pull_{};  // Ornstein-Uhlenbeck, per tick
  double wander_kick_{};
  std::vector<double> history_;  // window and delay, in ticks
  std::size_t window_ticks_;
  std::uint64_t ticks_{};
  double window_sum_{};
  double lagged_w_{};
  double wander_{};
  // 1/f noise as a sum of Ornstein-Uhlenbeck processes, a decade apart.
  struct Decade {
    double pull{}, kick{}, value{};
  };
  std::array<Decade, 5> flicker_;
  double energy_j_{};
  std::int64_t last_power_uw_{};
};

}  // namespace ww::sim::gpu
