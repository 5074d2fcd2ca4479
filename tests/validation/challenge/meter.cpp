#include "meter.hpp"

#include <algorithm>
#include <cmath>

namespace ww::challenge {
namespace {

constexpr double kGainAtC = 50;
// Octaves of 1/f noise: correlation times from 20 ms by fours.
constexpr double kFirstOctaveS = 0.02;
constexpr double kOctaveStep = 4;
constexpr int kOctaves = 8;
constexpr double kTicksPerJoule = 65536;
constexpr double kPollDelayS = 0.0002;

double quantised(double value, double step) {
  return step > 0 ? std::round(value / step) * step : value;
}

}  // namespace

Meter::Meter(Draws& draws, double length_s) : random_(draws.stream("meter.noise")) {
  const std::string kind = draws.word("sensor.kind");
  const double accumulator_s = draws.number("sensor.accumulator_ms") * 1e-3;
  const double register_s = draws.number("sensor.register_ms") * 1e-3;
  const double lag_s = draws.number("sensor.register_lag_ms") * 1e-3;
  const double window_period_s = draws.number("sensor.window_period_ms") * 1e-3;
  const double window_s = draws.number("sensor.window_ms") * 1e-3;
  const double slow_s = draws.number("sensor.slow_s");
  stamped_ = draws.chance("sensor.stamped");
  if (kind == "accumulator") {
    kind_ = MeterKind::accumulator;
    period_s_ = window_s_ = accumulator_s;
  } else if (kind == "register") {
    kind_ = MeterKind::lagging;
    period_s_ = register_s;
    lag_s_ = lag_s / 2.3;  // a lag's rise from nothing to nine tenths
  } else if (kind == "window") {
    kind_ = MeterKind::window;
    period_s_ = window_period_s;
    window_s_ = std::min(window_s, window_period_s);
  } else {
    kind_ = MeterKind::slow;
    period_s_ = window_s_ = slow_s;
  }
  poll_s_ = std::max(0.001, period_s_ / 5);
  jitter_ = draws.number("sensor.jitter");
  gain_ = 1 + draws.number("sensor.gain_error");
  gain_per_k_ = draws.number("sensor.gain_per_k");
  offset_w_ = draws.number("sensor.offset_w");
  white_ = draws.number("sensor.white");
  flicker_ = draws.number("sensor.flicker");
  step_w_ = draws.number("sensor.step_w");
  outlier_share_ = draws.number("sensor.outlier_share");
  shows_voltage_ = draws.chance("sensor.shows_voltage");
  voltage_step_v_ = draws.number("sensor.voltage_step_mv") * 1e-3;
  voltage_noise_v_ = draws.number("sensor.voltage_noise_mv") * 1e-3;
  temperature_step_c_ = draws.number("heat.sensor_step_c");
  temperature_s_ = draws.number("heat.sensor_s");
  rezero_w_ = draws.number("sensor.rezero_w");
  auto random = draws.stream("meter.rezeros");
  std::uniform_real_distribution<double> uniform(0, length_s);
  const auto count = static_cast<int>(draws.number("sensor.rezeros"));
  for (int i = 0; i < count; ++i) rezero_at_s_.push_back(uniform(random));
  octaves_.assign(kOctaves, 0);
  for (double& octave : octaves_) octave = flicker_ * normal_(random_);
  next_refresh_s_ = period_s_;
}

double Meter::gain(double die_c) const {
  return gain_ * (1 + gain_per_k_ * (die_c - kGainAtC));
}

double Meter::until_next_s(double now_s) const {
  double next = next_refresh_s_;
  if (!stamped_) next = std::min(next, next_poll_s_);
  const double window_from = next_refresh_s_ - window_s_;
  if (kind_ == MeterKind::window && window_from > now_s + 1e-9) next = std::min(next, window_from);
  return std::max(1e-6, next - now_s);
}

void Meter::feed(double from_s, double to_s, double power_w, const Surroundings& around,
                 std::vector<SensorReading>& readings) {
  const double seconds = to_s - from_s;
  double offset = offset_w_;
  for (const double at : rezero_at_s_) offset += to_s > at ? rezero_w_ : 0;
  const double seen_w = power_w * gain(around.die_c) + offset;
  if (kind_ != MeterKind::window || from_s > next_refresh_s_ - window_s_ - 1e-9) {
    period_energy_j_ += seen_w * seconds;
    period_time_s_ += seconds;
  }
  if (kind_ == MeterKind::lagging) {
    if (lagged_w_ < 0) lagged_w_ = seen_w;
    lagged_w_ += -std::expm1(-seconds / lag_s_) * (seen_w - lagged_w_);
  }
  if (temperature_c_ < -273) temperature_c_ = around.die_c;
  temperature_c_ += -std::expm1(-seconds / temperature_s_) * (around.die_c - temperature_c_);
  if (to_s > next_refresh_s_ - 1e-9) {
    refresh(to_s, around);
    if (stamped_) report(to_s + kPollDelayS, to_s, readings);
  }
  if (!stamped_ && to_s > next_poll_s_ - 1e-9) {
    if (shown_at_s_ >= 0) report(to_s, to_s, readings);
    next_poll_s_ = to_s + poll_s_;
  }
}

void Meter::refresh(double now_s, const Surroundings& around) {
  const double seconds = std::max(1e-6, now_s - last_refresh_s_);
  double noise = 0;
  double tau_s = kFirstOctaveS;
  for (double& octave : octaves_) {
    const double kept = std::exp(-seconds / tau_s);
    octave = kept * octave + flicker_ * std::sqrt(1 - kept * kept) * normal_(random_);
    noise += octave;
    tau_s *= kOctaveStep;
  }
  noise += white_ * normal_(random_);
  const double mean_w = period_time_s_ > 0 ? period_energy_j_ / period_time_s_ : 0;
  double shown_w = (kind_ == MeterKind::lagging ? lagged_w_ : mean_w);
  shown_w += noise * std::abs(shown_w);
  energy_j_ += (mean_w + noise * std::abs(mean_w)) * seconds;
  std::uniform_real_distribution<double> uniform(0, 1);
  if (uniform(random_) < outlier_share_) shown_w *= 1 + 0.5 * normal_(random_);

  SensorReading next;
  next.power_uw = std::llround(quantised(shown_w, step_w_) * 1e6);
  if (kind_ == MeterKind::accumulator) {
    next.energy_ticks = static_cast<std::int64_t>(energy_j_ * kTicksPerJoule);
  }
  next.temperature_mc =
      static_cast<std::int32_t>(std::lround(1e3 * quantised(temperature_c_, temperature_step_c_)));
  if (shows_voltage_) {
    const double volts = around.voltage_v + voltage_noise_v_ * normal_(random_);
    next.voltage_uv =
        static_cast<std::int32_t>(std::lround(1e6 * quantised(volts, voltage_step_v_)));
  }
  next.clock_khz = static_cast<std::int32_t>(around.clock_hz / 1e3);
  shown_ = next;
  shown_at_s_ = now_s;
  last_refresh_s_ = now_s;
  period_energy_j_ = 0;
  period_time_s_ = 0;
  next_refresh_s_ = now_s + period_s_ * (1 + jitter_ * (2 * uniform(random_) - 1));
}

void Meter::report(double now_s, double refreshed_s, std::vector<SensorReading>& readings) {
  SensorReading reading = shown_;
  reading.time_ns = std::llround(refreshed_s * 1e9);
  reading.poll_ns = std::llround(now_s * 1e9);
  reading.changed = readings.empty() || readings.back().power_uw != reading.power_uw ||
                    readings.back().energy_ticks != reading.energy_ticks;
  readings.push_back(reading);
}

}  // namespace ww::challenge
