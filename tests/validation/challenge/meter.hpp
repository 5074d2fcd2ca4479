// A power sensor: what it reports of the power that passes it, and when.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "draws.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww::challenge {

enum class MeterKind {
  accumulator,  // counts energy; its register averages over a refresh
  lagging,      // first-order lag
  window,       // mean over the end of each period
  slow,         // mean over a period of half a second or more
};

// State of the chip beside its power at a moment.
struct Surroundings {
  double die_c{}, voltage_v{}, clock_hz{};
};

class Meter {
 public:
  // `length_s`: about how long the campaign takes, for steps of the offset.
  Meter(Draws& draws, double length_s);

  [[nodiscard]] MeterKind kind() const { return kind_; }
  [[nodiscard]] double period_s() const { return period_s_; }
  [[nodiscard]] double power_step_w() const { return step_w_; }
  [[nodiscard]] double temperature_step_c() const { return temperature_step_c_; }
  // Reading over power, at a die of `die_c`.
  [[nodiscard]] double gain(double die_c) const;

  // Time until the meter next refreshes, is polled, or begins to average [s].
  [[nodiscard]] double until_next_s(double now_s) const;
  // `power_w` was drawn from `from_s` to `to_s`, which is no later than from_s + until_next_s.
  void feed(double from_s, double to_s, double power_w, const Surroundings& around,
            std::vector<SensorReading>& readings);

 private:
  void refresh(double now_s, const Surroundings& around);
  void report(double now_s, double refreshed_s, std::vector<SensorReading>& readings);

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  MeterKind kind_{};
  bool stamped_{}, shows_voltage_{};
  double period_s_{}, window_s_{}, lag_s_{}, poll_s_{}, jitter_{};
  double gain_{}, gain_per_k_{}, offset_w_{}, white_{}, flicker_{}, step_w_{}, outlier_share_{};
  double temperature_step_c_{}, temperature_s_{}, voltage_step_v_{}, voltage_noise_v_{};
  std::vector<double> rezero_at_s_;
  double rezero_w_{};
  // State.
  double next_refresh_s_{}, next_poll_s_{}, last_refresh_s_{};
  double energy_j_{}, period_energy_j_{}, period_time_s_{}, lagged_w_{-1}, temperature_c_{-300};
  std::vector<double> octaves_;
  SensorReading shown_;
  double shown_at_s_{-1};
};

}  // namespace ww::challenge
