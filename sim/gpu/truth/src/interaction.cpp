#include "interaction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chip_timeline.hpp"
#include "truth.hpp"
#include "ww/core/energy_tick.hpp"

namespace ww::sim::gpu {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Mean flight of a request and its reply between an array's CUs and a quadrant's channels, in core
// cycles of the reference state [ns].
double flight_ns(const Chip& chip, int engine, int quadrant) {
  const Architecture& architecture = chip.architecture();
  const auto& members = chip.truth().geometry.quadrants[static_cast<std::size_t>(quadrant)];
  double cycles = 0;
  for (int cu = 0; cu < architecture.cus_per_engine; ++cu) {
    for (const int channel : members) cycles += chip.crossbar_cycles(engine, cu, channel);
  }
  const double clock_hz =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].clock_hz;
  return cycles / static_cast<double>(members.size()) / architecture.cus_per_engine / clock_hz *
         1e9;
}

double sum(const LaunchActivity& activity) {
  return std::accumulate(activity.capacitance_f.begin(), activity.capacitance_f.end(), 0.0);
}

}  // namespace

Interaction interaction(const Chip& chip, StreamPattern pattern, std::int64_t beats,
                        const FlightTable& measured_ns) {
  const Truth& truth = chip.truth();
  std::vector<double> energy, control;
  std::vector<double> true_mm;
  std::vector<double> published_mm;
  std::vector<double> flight;
  StreamOptions options;
  options.pattern = pattern;
  options.beats = beats;
  options.with_cores = false;
  const int arrays = chip.architecture().arrays_per_engine();
  const int engines = truth.engines() / arrays;
  for (int engine = 0; engine < engines; ++engine) {
    // Compute units of all its arrays stream equally.
    const auto mean = [&](const auto& of_array) {
      double sum = 0;
      for (int array = engine * arrays; array < (engine + 1) * arrays; ++array) {
        sum += of_array(array);
      }
      return sum / arrays;
    };
    for (int quadrant = 0; quadrant < truth.quadrants(); ++quadrant) {
      const LaunchActivity activity = stream(chip, engine, quadrant, options);
      const auto bits = static_cast<double>(activity.payload_bits);
      energy.push_back(sum(activity) / bits);
      control.push_back(static_cast<double>(activity.monitors.control.toggles) / bits);
      true_mm.push_back(mean([&](int array) { return truth.routed_distance_mm(array, quadrant); }));
      published_mm.push_back(mean(
          [&](int array) { return truth.published.geometry.mean_distance_mm(array, quadrant); }));
      flight.push_back(
          measured_ns.empty()
              ? mean([&](int array) { return flight_ns(chip, array, quadrant); })
              : measured_ns[static_cast<std::size_t>(engine)][static_cast<std::size_t>(quadrant)]);
    }
  }
  Interaction result;
  result.control_toggles_per_bit =
      std::accumulate(control.begin(), control.end(), 0.0) / static_cast<double>(control.size());
  const auto [low, high] = std::minmax_element(energy.begin(), energy.end());
  result.spread_f_per_bit = *high - *low;
  for (auto* matrix : {&energy, &true_mm, &published_mm, &flight}) {
    double_centre(*matrix, engines, truth.quadrants());
  }
  result.per_true_mm = dot(energy, true_mm) / dot(true_mm, true_mm);
  result.per_published_mm = dot(energy, published_mm) / dot(published_mm, published_mm);
  result.per_flight_ns = dot(energy, flight) / dot(flight, flight);
  double residual = 0;
  for (std::size_t i = 0; i < energy.size(); ++i) {
    const double left = energy[i] - result.per_published_mm * published_mm[i];
    residual += left * left;
  }
  result.residual_ratio =
      std::sqrt(residual / dot(published_mm, published_mm)) / std::abs(result.per_published_mm);
  return result;
}

double dynamic_power_w(const Chip& chip, const LaunchActivity& activity) {
  const Architecture& architecture = chip.architecture();
  const DvfsState state = architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)];
  return sum(activity) * state.voltage_v * state.voltage_v * state.clock_hz /
         static_cast<double>(activity.cycles);
}

double stream_power_w(const Chip& chip) {
  const Truth& truth = chip.truth();
  LaunchActivity activity = stream(chip, 0, 0, {});
  // Repeats the stream long enough for the pauses between launches not to count.
  constexpr std::int64_t kTimes = 5000;
  activity.cycles *= kTimes;
  for (double& zone : activity.capacitance_f) {
    zone *= static_cast<double>(kTimes);
  }
  ChipTimeline timeline(chip, 1);
  const double seconds = 3.0 * truth.thermal.sink_tau_s;
  while (static_cast<double>(timeline.now_ns()) < seconds * 1e9) {
    timeline.run(activity);
  }
  std::vector<ww_vgpu_sample> samples(
      std::min(timeline.sample_count() - 1,
               static_cast<std::uint64_t>(1'000'000'000 / truth.sensor.period_ns)));
  const std::uint64_t first = timeline.sample_count() - samples.size();
  ww_vgpu_sample before{};
  timeline.samples_since(first - 1, {&before, 1});
  timeline.samples_since(first, samples);
  const double shunt_w =
      static_cast<double>(samples.back().energy_ticks - before.energy_ticks) * kJoulesPerTick /
      (static_cast<double>(samples.size()) * static_cast<double>(truth.sensor.period_ns) * 1e-9) /
      truth.sensor.gain;
  // Undo offset + slope P + quadratic P^2.
  double power_w = shunt_w;
  for (int iteration = 0; iteration < 20; ++iteration) {
    power_w = (shunt_w - truth.regulator.offset_w) /
              (truth.regulator.slope + truth.regulator.quadratic_per_w * power_w);
  }
  return power_w;
}

}  // namespace ww::sim::gpu
