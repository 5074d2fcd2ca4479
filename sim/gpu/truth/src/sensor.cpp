#include "sensor.hpp"

#include <algorithm>
#include <cmath>

#include "ww/core/energy_tick.hpp"

namespace ww::sim::gpu {
namespace {

constexpr double kGainReferenceC = 45;

double rounded(double value, double resolution) {
  return std::round(value / resolution) * resolution;
}

}  // namespace

Sensor::Sensor(const Truth& truth, std::uint64_t seed)
    : regulator_(truth.regulator),
      truth_(truth.sensor),
      thermal_(truth.thermal),
      draw_(seed),
      period_s_(static_cast<double>(truth_.period_ns) * 1e-9),
      lag_step_(truth_.lag_s > 0 ? 1.0 - std::exp(-period_s_ / truth_.lag_s) : 1.0) {
  window_ticks_ = static_cast<std::size_t>(
      std::max<std::int64_t>(1, (truth_.window_ns + truth_.period_ns / 2) / truth_.period_ns));
  const auto delay_ticks =
      static_cast<std::size_t>((truth_.delay_ns + truth_.period_ns / 2) / truth_.period_ns);
  history_.assign(window_ticks_ + delay_ticks + 1, 0.0);
  wander_pull_ = std::exp(-period_s_ / truth_.wander_tau_s);
  wander_kick_ = truth_.wander_relative * std::sqrt(1.0 - wander_pull_ * wander_pull_);
  wander_ = truth_.wander_relative * draw_.normal();
  if (truth_.flicker_relative <= 0) return;
  double tau_s = 0.1;
  for (Decade& decade : flicker_) {
    const double sigma = truth_.flicker_relative / std::sqrt(static_cast<double>(flicker_.size()));
    decade.pull = std::exp(-period_s_ / tau_s);
    decade.kick = sigma * std::sqrt(1.0 - decade.pull * decade.pull);
    decade.value = sigma * draw_.normal();
    tau_s *= 10;
  }
}

double Sensor::shunt_w(double power_w) const {
  return regulator_.offset_w + power_w * (regulator_.slope + regulator_.quadratic_per_w * power_w);
}

ww_vgpu_sample Sensor::read(const Tick& tick) {
  wander_ = wander_ * wander_pull_ + wander_kick_ * draw_.normal();
  double slow = 1.0 + wander_ + truth_.gain_per_k * (tick.temperature_c - kGainReferenceC);
  if (truth_.flicker_relative > 0) {
    for (Decade& decade : flicker_) {
      decade.value = decade.value * decade.pull + decade.kick * draw_.normal();
      slow += decade.value;
    }
  }
  const double gain = truth_.gain * slow * (1.0 + truth_.noise_relative * draw_.normal());
  energy_j_ += gain * shunt_w(tick.power_w) * period_s_;

  // The register: mean over the window, late, then filtered. Before the window has filled, the
  // chip is taken to have stood at its first reading.
  const double raw = gain * shunt_w(tick.window_power_w);
  const std::size_t size = history_.size();
  if (ticks_ == 0) {
    std::fill(history_.begin(), history_.end(), raw);
    window_sum_ = raw * static_cast<double>(window_ticks_);
    lagged_w_ = raw;
  }
  const std::size_t delay = size - 1 - window_ticks_;
  history_[ticks_ % size] = raw;
  if (window_ticks_ == 1) {
    window_sum_ = history_[(ticks_ + size - delay) % size];
  } else {
    window_sum_ += history_[(ticks_ + size - delay) % size] -
                   history_[(ticks_ + size - delay - window_ticks_) % size];
  }
  lagged_w_ += lag_step_ * (window_sum_ / static_cast<double>(window_ticks_) - lagged_w_);
  double shown = lagged_w_;
  if (draw_.unit() < truth_.outlier_probability) {
    // A register has no sign.
    shown *= std::max(0.0, 1.0 + truth_.outlier_relative * draw_.uniform(-1.0, 1.0));
  }
  const bool missing = draw_.unit() < truth_.missing_probability;
  if (!missing) {
    last_power_uw_ = std::llround(rounded(shown, truth_.resolution_w) * 1e6);
  }

  ww_vgpu_sample sample{};
  sample.index = ticks_++;
  sample.time_ns = tick.time_ns;
  sample.power_uw = last_power_uw_;
  sample.energy_ticks = static_cast<std::int64_t>(std::floor(energy_j_ / kJoulesPerTick));
  sample.temperature_mc = static_cast<std::int32_t>(
      std::lround(1e3 * rounded(tick.temperature_c + thermal_.sensor_offset_c +
                                    thermal_.sensor_noise_c * draw_.normal(),
                                thermal_.sensor_resolution_c)));
  const double voltage_v = tick.voltage_v + truth_.voltage_noise_v * draw_.normal();
  if (truth_.voltage_shown) {
    sample.voltage_uv = static_cast<std::int32_t>(
        std::lround(1e6 * rounded(voltage_v, truth_.voltage_resolution_v)));
  }
  sample.clock_khz = static_cast<std::int32_t>(std::lround(tick.clock_hz * 1e-3));
  sample.flags = missing ? 0U : static_cast<std::uint32_t>(WW_VGPU_SAMPLE_VALID);
  if (!truth_.accumulator) sample.flags |= static_cast<std::uint32_t>(WW_VGPU_SAMPLE_NO_ENERGY);
  return sample;
}

}  // namespace ww::sim::gpu
