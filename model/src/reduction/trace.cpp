#include "reduction/trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "stats.hpp"
#include "ww/energy/energy.hpp"

namespace ww::model {
namespace {

constexpr float kNoReading = std::numeric_limits<float>::quiet_NaN();

// Samples in the order of time, and beside them the same readings as the ruler takes them.
struct Readings {
  std::vector<Sample> samples;
  energy::EnergySeries series;
};

// Puts readings in order and drops those that repeat a time.
void put_in_order(Readings& readings) {
  std::vector<std::size_t> order(readings.samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto time = [&](std::size_t i) { return readings.samples[i].time_ns; };
  std::ranges::stable_sort(order, {}, time);
  const auto same = [&](std::size_t i, std::size_t j) { return time(i) == time(j); };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  Readings sorted;
  sorted.samples.reserve(order.size());
  sorted.series.stamped = readings.series.stamped;
  sorted.series.readings.reserve(order.size());
  for (const std::size_t i : order) {
    sorted.samples.push_back(readings.samples[i]);
    sorted.series.readings.push_back(readings.series.readings[i]);
  }
  readings = std::move(sorted);
}

Readings collect(std::span<const StoredRun> runs) {
  Readings readings;
  std::size_t count = 0;
  for (const StoredRun& run : runs) count += run.samples.size();
  readings.samples.reserve(count);
  readings.series.readings.reserve(count);
  bool ordered = true;
  for (const StoredRun& run : runs) {
    for (const SensorReading& stored : run.samples) {
      if (!stored.power_uw) continue;
      Sample sample;
      sample.time_ns = stored.time_ns;
      sample.power_w = static_cast<float>(static_cast<double>(*stored.power_uw) * 1e-6);
      sample.not_positive = *stored.power_uw <= 0;
      sample.temperature_c =
          stored.temperature_mc ? static_cast<float>(*stored.temperature_mc) * 1e-3F : kNoReading;
      sample.voltage_v =
          stored.voltage_uv ? static_cast<float>(*stored.voltage_uv) * 1e-6F : kNoReading;
      readings.series.stamped = readings.series.stamped || stored.poll_ns != stored.time_ns;
      sample.clock_mhz =
          stored.clock_khz ? static_cast<float>(*stored.clock_khz) * 1e-3F : kNoReading;
      ordered =
          ordered && (readings.samples.empty() || readings.samples.back().time_ns < sample.time_ns);
      readings.samples.push_back(sample);
      readings.series.readings.push_back(
          {stored.time_ns, stored.energy_ticks.value_or(energy::kAbsent), *stored.power_uw});
    }
  }
  if (!ordered) put_in_order(readings);
  return readings;
}

// Power from the accumulator, if there is one that agrees with the power register.
std::optional<energy::EnergySteps> accumulator_power(const energy::EnergySeries& series) {
  auto steps = energy::energy_steps(series);
  if (steps.status != RowStatus::ok) return {};
  const auto ratio = energy::counter_over_register(series, series.readings.front().time_ns,
                                                   series.readings.back().time_ns);
  if (!ratio || std::abs(1 - 1 / *ratio) > agreement) return {};
  return steps;
}

float median_of_5(std::array<float, 5> v) {
  std::nth_element(v.begin(), v.begin() + 2, v.end());
  return v[2];
}

// Replaces glitches by the median of their neighbourhood, which keeps the edges of a step.
void repair_glitches(Trace& trace, double resolution_w) {
  auto& samples = trace.samples;
  if (samples.size() < 5) return;
  std::vector<float> middle(samples.size());
  std::vector<double> differences;
  const std::size_t stride = std::max<std::size_t>(1, samples.size() / 20000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t at = std::clamp<std::size_t>(i, 2, samples.size() - 3);
    middle[i] = median_of_5({samples[at - 2].power_w, samples[at - 1].power_w, samples[at].power_w,
                             samples[at + 1].power_w, samples[at + 2].power_w});
    if (i % stride == 0) differences.push_back(samples[i].power_w - middle[i]);
  }
  // Half of the samples are their own neighbourhood's median or near it; the mean of the absolute
  // differences that are left after trimming the top tenth serves as scale.
  for (double& difference : differences) difference = std::abs(difference);
  std::sort(differences.begin(), differences.end());
  double sum = 0;
  const std::size_t kept = differences.size() * 9 / 10;
  for (std::size_t i = 0; i < kept; ++i) sum += differences[i];
  const double scale = 2 * sum / static_cast<double>(std::max<std::size_t>(kept, 1));
  const double limit = kGlitchScales * scale + 2 * resolution_w;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].not_positive || std::abs(samples[i].power_w - middle[i]) > limit) {
      samples[i].glitch = true;
      samples[i].power_w = middle[i];
    }
  }
}

// Power that one sample in twenty lies below: idle, where there is any.
double low_power(const std::vector<Sample>& samples) {
  std::vector<float> power;
  const std::size_t stride = std::max<std::size_t>(1, samples.size() / 5000);
  for (std::size_t i = 0; i < samples.size(); i += stride) power.push_back(samples[i].power_w);
  const auto at = power.begin() + static_cast<std::ptrdiff_t>(power.size() / 20);
  std::nth_element(power.begin(), at, power.end());
  return *at;
}

// First-order filters of power, exact for a power that is constant between samples.
void run_filters(Trace& trace) {
  auto& samples = trace.samples;
  if (samples.empty()) return;
  // The chip's load before the first sample is not known; most likely it idled. Slow filters that
  // start wrong look like a drift of the ambient, and are fitted as one.
  HeatState state;
  state.fill(low_power(samples));
  HeatState gain{};
  HeatState kept{};  // mean distance to the goal over a step, of the one at its beginning
  std::int64_t gain_for_ns = -1;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) {
      const std::int64_t step_ns = samples[i].time_ns - samples[i - 1].time_ns;
      if (step_ns != gain_for_ns) {
        gain_for_ns = step_ns;
        for (std::size_t j = 0; j < kHeatCount; ++j) {
          const double steps = static_cast<double>(step_ns) * 1e-9 / heat_taus_s[j];
          gain[j] = -std::expm1(-steps);
          kept[j] = steps > 0 ? gain[j] / steps : 1;
        }
      }
    }
    for (std::size_t j = 0; j < kHeatCount; ++j) {
      const double goal = samples[i].power_w;
      samples[i].heat[j] = static_cast<float>(goal + kept[j] * (state[j] - goal));
      state[j] += gain[j] * (goal - state[j]);
    }
  }
}

}  // namespace

double Trace::seconds(std::int64_t time_ns) const {
  return static_cast<double>(time_ns - samples.front().time_ns) * 1e-9;
}

std::size_t Trace::first_at(std::int64_t time_ns) const {
  const auto found =
      std::lower_bound(samples.begin(), samples.end(), time_ns,
                       [](const Sample& s, std::int64_t time) { return s.time_ns < time; });
  return static_cast<std::size_t>(found - samples.begin());
}

Trace build_trace(std::span<const StoredRun> runs, const SensorFact& sensor) {
  Trace trace;
  trace.session = runs.front().session;
  Readings readings = collect(runs);
  auto power = accumulator_power(readings.series);
  trace.samples = std::move(readings.samples);
  trace.settle_s = sensor.delay_s + kRisesToSettle * sensor.rise_s + sensor.period_s;
  trace.idle_settle_s = sensor.delay_s + kRisesToIdle * sensor.rise_s + sensor.period_s;
  if (power) {
    // The first whole interval after a change, and a little for the regulator.
    const bool repeats = power->interval_s > 0;
    const double settle_s = 2 * (repeats ? power->interval_s : sensor.period_s) + kRegulatorS;
    // A slow accumulator may still be the better sensor, but not one that eats the plateau.
    if (repeats && settle_s > std::max(kSlowestSettleS, trace.settle_s)) power.reset();
    if (power) {
      trace.settle_s = trace.idle_settle_s = settle_s;
      trace.tail_s = power->interval_s;
    }
  }
  if (power) {
    for (std::size_t i = 0; i < trace.samples.size(); ++i) {
      trace.samples[i].power_w = power->power_w[i];
      trace.samples[i].not_positive = false;
    }
  }
  // Intervals of unlike length show unlike noise; to take the rare ones for glitches would lose
  // their energy. What an accumulator counted wrongly, it would count backwards.
  if (!power || power->interval_s == 0) repair_glitches(trace, sensor.power_resolution_w);
  run_filters(trace);
  return trace;
}

}  // namespace ww::model
