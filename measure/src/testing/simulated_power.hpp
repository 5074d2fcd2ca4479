// A load's power as a sensor shows it: for tests, and for the libraries and files that tests fake.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

namespace ww::measure::testing {

// Power that steps at given times, with its mean over a stretch and its first-order lag. Questions
// take the logarithm of the number of steps: campaigns have hundreds of thousands.
class SteppedPower {
 public:
  explicit SteppedPower(double before_w) : before_w_(before_w) {}
  // Times rise.
  void step(double time_s, double power_w) {
    const double joules = steps_.empty() ? 0 : energy_at(time_s);
    steps_.push_back({time_s, power_w, joules});
  }

  [[nodiscard]] double energy(double from_s, double to_s) const {
    return energy_at(to_s) - energy_at(from_s);
  }
  [[nodiscard]] double mean(double from_s, double to_s) const {
    return energy(from_s, to_s) / (to_s - from_s);
  }
  [[nodiscard]] double lagged(double time_s, double tau_s) const {
    // Steps older than forty time constants have left no trace.
    auto step = after(time_s - 40 * tau_s);
    double power = step == steps_.begin() ? before_w_ : std::prev(step)->power_w;
    double shown = power, at = time_s - 40 * tau_s;
    for (; step != steps_.end() && step->time_s < time_s; ++step) {
      shown = power + (shown - power) * std::exp(-(step->time_s - at) / tau_s);
      power = step->power_w;
      at = step->time_s;
    }
    return power + (shown - power) * std::exp(-(time_s - at) / tau_s);
  }

 private:
  struct Step {
    double time_s, power_w;
    double joules;  // from the first step until this one
  };
  [[nodiscard]] std::vector<Step>::const_iterator after(double time_s) const {
    return std::ranges::upper_bound(steps_, time_s, {}, &Step::time_s);
  }
  // Since the first step; negative before it.
  [[nodiscard]] double energy_at(double time_s) const {
    const auto next = after(time_s);
    if (steps_.empty()) return before_w_ * time_s;
    if (next == steps_.begin()) return before_w_ * (time_s - next->time_s);
    const Step& last = *std::prev(next);
    return last.joules + last.power_w * (time_s - last.time_s);
  }
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

// Reading of the register at a time.
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
