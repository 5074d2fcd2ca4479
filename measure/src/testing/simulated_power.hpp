// A load's power as a sensor shows it: for tests, and for the libraries and files that tests fake.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace ww::measure::testing {

// Power that steps at given times, with its mean over a stretch and its first-order lag.
class SteppedPower {
 public:
  explicit SteppedPower(double before_w) : before_w_(before_w) {}
  // Times rise.
  void step(double time_s, double power_w) { steps_.push_back({time_s, power_w}); }

  [[nodiscard]] double energy(double from_s, double to_s) const {
    double joules = 0, power = before_w_, at = from_s;
    for (const Step& step : steps_) {
      if (step.time_s >= to_s) break;
      if (step.time_s > at) {
        joules += power * (step.time_s - at);
        at = step.time_s;
      }
      power = step.power_w;
    }
    return joules + power * (to_s - at);
  }
  [[nodiscard]] double mean(double from_s, double to_s) const {
    return energy(from_s, to_s) / (to_s - from_s);
  }
  [[nodiscard]] double lagged(double time_s, double tau_s) const {
    double shown = before_w_, power = before_w_, at = -1e9;
    for (const Step& step : steps_) {
      if (step.time_s >= time_s) break;
      shown = power + (shown - power) * std::exp(-(step.time_s - at) / tau_s);
      power = step.power_w;
      at = step.time_s;
    }
    return power + (shown - power) * std::exp(-(time_s - at) / tau_s);
  }

 private:
  struct Step {
    double time_s, power_w;
  };
  double before_w_;
  std::vector<Step> steps_;
};

struct SensorShape {
  double period_s{0.001};
  double window_s{0.001};  // 0: none, the lag alone
  double lag_tau_s{0};     // first-order lag instead of the window
  double delay_s{0};
  double noise_w{0};
  double quantum_w{0};  // 0: none
  double phase_s{0};    // of the refreshes
};

// Reproducible noise: of a refresh, not of a poll.
inline double noise_of(std::uint64_t refresh) {
  std::uint64_t x = refresh * 0x9E3779B97F4A7C15ULL + 0x1234567ULL;
  double sum = 0;
  for (int i = 0; i < 12; ++i) {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    sum += static_cast<double>((x * 0x2545F4914F6CDD1DULL) >> 11) * 0x1.0p-53;
  }
  return sum - 6;  // a standard deviation of 1
}

// What the register shows at a time.
inline double shown_power(const SteppedPower& power, const SensorShape& shape, double time_s) {
  const double refresh = std::floor((time_s - shape.phase_s) / shape.period_s);
  const double at = refresh * shape.period_s + shape.phase_s - shape.delay_s;
  double watts =
      shape.lag_tau_s > 0 ? power.lagged(at, shape.lag_tau_s) : power.mean(at - shape.window_s, at);
  watts += shape.noise_w * noise_of(static_cast<std::uint64_t>(refresh + 1e9));
  if (shape.quantum_w > 0) watts = std::round(watts / shape.quantum_w) * shape.quantum_w;
  return watts;
}

}  // namespace ww::measure::testing
