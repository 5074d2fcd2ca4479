#include "chip/random_sensor.hpp"

#include <array>

namespace ww::sim::gpu {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// SVI2 shows steps of 6.25 mV. Telemetry is dithered by about as much as a step's own error.
void draw_svi2(Draw& draw, SensorTruth& sensor) {
  sensor.voltage_resolution_v = 6.25e-3;
  sensor.voltage_noise_v = draw.uniform(1.0e-3, 2.5e-3);
}

void every_millisecond(SensorTruth& sensor) {
  sensor.period_ns = sensor.window_ns = kMillisecond;
  sensor.delay_ns = 0;
  sensor.lag_s = 0;
}

// Recorded on four MI300A: a lag of 99 +- 1 ms, the nearest watt, and no noise of its own. Power
// under a steady load scatters by 0.6% in 4 ms, as 1.2% in each millisecond would, and how much of
// that is the load's nobody can say.
void draw_instinct(Draw& draw, SensorTruth& sensor) {
  every_millisecond(sensor);
  sensor.lag_s = draw.uniform(0.095, 0.105);
  sensor.resolution_w = 1.0;
  sensor.noise_relative = draw.log_uniform(0.0005, 0.012);
  sensor.flicker_relative = sensor.gain_per_k = 0;
  sensor.outlier_probability = sensor.missing_probability = 0;
  sensor.voltage_shown = false;
}

// Recorded on a Radeon PRO W7700: steps pass within two polls of 2 to 3 ms, readings of a steady
// load scatter by 0.46%, and 2.4 in 10,000 are spikes of up to 105%.
void draw_radeon(Draw& draw, SensorTruth& sensor, bool spikes) {
  every_millisecond(sensor);
  sensor.accumulator = false;
  sensor.resolution_w = 1.0;
  sensor.noise_relative = draw.uniform(0.002, 0.006);
  if (spikes) {
    sensor.outlier_probability = 2.4e-4;
    sensor.outlier_relative = 1.05;
  }
}

// Yang, Adamek and Armour (2023): 25 of 100 ms on A100 and H100, 100 of 100 on Ampere's and Ada's
// other boards; on Kepler a lag of 50 ms, refreshed each 15 ms. NVML shows milliwatts.
void draw_nvml(Draw& draw, SensorTruth& sensor, bool counts) {
  sensor.accumulator = counts;
  sensor.resolution_w = 1e-3;
  sensor.delay_ns = 0;
  sensor.lag_s = 0;
  sensor.voltage_shown = false;
  if (!counts && draw.unit() < 0.5) {
    sensor.period_ns = sensor.window_ns = 15 * kMillisecond;
    sensor.lag_s = 0.05;
    return;
  }
  sensor.period_ns = 100 * kMillisecond;
  sensor.window_ns = counts ? 25 * kMillisecond : sensor.period_ns;
}

}  // namespace

void draw_card_sensor(Draw& draw, SensorKind kind, Truth& truth) {
  SensorTruth& sensor = truth.sensor;
  const bool nested = truth.chip_class == ChipClass::nested;
  // 1/f noise, and copper as a shunt: 0.39% a kelvin, compensated to some hundredths.
  const double flicker = draw.log_uniform(1e-4, 1e-3);
  const double gain_per_k = draw.uniform(-3e-4, 3e-4);
  sensor.flicker_relative = nested ? 0.0 : flicker;
  sensor.gain_per_k = nested ? 0.0 : gain_per_k;
  switch (kind) {
    case SensorKind::instinct_average:
      every_millisecond(sensor);
      sensor.window_ns = 4'000 * kMillisecond;
      sensor.delay_ns = 190 * kMillisecond;
      sensor.resolution_w = 1.0;
      draw_svi2(draw, sensor);
      break;
    case SensorKind::instinct: draw_instinct(draw, sensor); break;
    case SensorKind::instinct_guest:
      draw_instinct(draw, sensor);
      sensor.accumulator = false;
      break;
    case SensorKind::radeon:
      draw_radeon(draw, sensor, !nested);
      draw_svi2(draw, sensor);
      break;
    case SensorKind::requested_voltage:
      draw_radeon(draw, sensor, false);
      // The firmware of Polaris shows 256ths of a watt.
      sensor.resolution_w = draw.unit() < 0.5 ? 1.0 : 1.0 / 256;
      sensor.voltage_requested = true;
      sensor.voltage_resolution_v = 6.25e-3;
      sensor.voltage_noise_v = 0;
      break;
    case SensorKind::nvml_counter:
    case SensorKind::nvml_register:
      draw_nvml(draw, sensor, kind == SensorKind::nvml_counter);
      break;
    case SensorKind::instrument:
    case SensorKind::count: break;
  }
}

}  // namespace ww::sim::gpu
