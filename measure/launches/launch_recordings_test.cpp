// Energy of recorded bursts of real cards, from the card's own sensor, beside an external meter.
// `build/release/bin/measure_launch_energy_test --gtest_filter='RecordedBursts*'` prints the table
// of docs/attribution.md. The recordings lie beside the checkout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "ww/core/atomic_file.hpp"
#include "ww/core/statistics.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/launch_energy.hpp"

namespace ww::measure {
namespace {

std::string recorded(const std::string& path) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  return std::string(shared == nullptr ? "../shared" : shared) + "/data/gpu_power_benchmark/" +
         path;
}

// 95% half-width of a card's error at load, from the steady errors that the recordings' authors
// found on their other cards. Cards are left out if they are of the same model, or if their error
// is above 30%: a sensor of a 30 W card, whose offset rules.
double gain_tolerance_without(const std::string& model) {
  const auto text = read_file(recorded("published/overall_results_local_gpus.csv"));
  const auto rows = text ? parse_csv(*text, "published") : tl::unexpected(text.error());
  EXPECT_TRUE(rows.has_value());
  std::map<std::string, double> errors;
  std::string card;
  for (const CsvRow& row : *rows) {
    if (row.fields.size() < 9) continue;
    const std::string& name = row.fields[1];
    if (std::ranges::count(name, '_') > 0) card = name;
    char* end = nullptr;
    const double error = std::strtod(row.fields[8].c_str(), &end);
    const bool number = end != row.fields[8].c_str() && row.fields[5] != "-";
    if (card.empty() || !number || errors.contains(card) || std::abs(error) > 30) continue;
    errors[card] = error / 100;
  }
  double squares = 0, count = 0;
  for (const auto& [name, error] : errors) {
    if (name.find(model) != std::string::npos) continue;
    squares += error * error;
    ++count;
  }
  EXPECT_GE(count, 8);
  return t_quantile_95(count) * std::sqrt(squares / count);
}

struct Burst {
  std::string what, folder, column, model;
  bool with_pause;  // the burst and the pause after it, as one launch
  std::vector<double> bins_s;
  // Window that the recordings' authors found on other recordings of the card, with two standard
  // deviations, for loads whose switching resolves none [s]; 0: from this recording's switches.
  double window_s, window_error_s;
};

struct FoundBurst {
  LaunchEnergy ours;
  double meter_j{}, naive_j{};
  [[nodiscard]] double error() const { return ours.total_j / meter_j - 1; }
  [[nodiscard]] double naive_error() const { return naive_j / meter_j - 1; }
  [[nodiscard]] bool held() const { return std::abs(ours.total_j - meter_j) <= ours.total_half_j; }
};

double meter_energy(const PowerSeries& meter, const TimeSpan& time) {
  double sum = 0;
  for (std::size_t i = 0; i < meter.power_w.size(); ++i) {
    const double from = meter.start_s + meter.step_s * static_cast<double>(i);
    sum += meter.power_w[i] *
           std::max(0.0, std::min(from + meter.step_s, time.to_s) - std::max(from, time.from_s));
  }
  return sum;
}

LaunchSensor sensor_of(const Burst& burst, std::span<const PowerPoint> readings,
                       const UpdatePeriod& period, std::span<const double> switches) {
  LaunchSensor sensor;
  if (burst.window_s > 0) {
    sensor.time_s = burst.window_s;
    sensor.low_s = burst.window_s - burst.window_error_s;
    sensor.high_s = burst.window_s + burst.window_error_s;
    sensor.delay_error_s = 0.010;  // clocks of host and card, and polls 7 to 13 ms apart
  } else {
    sensor = launch_sensor(fit_response_to_load(readings, period, switches));
  }
  sensor.gain_tolerance_95 = gain_tolerance_without(burst.model);
  return sensor;
}

// Ours sees the readings and the switches of the load. The meter only judges.
Result<FoundBurst> find_burst(const Burst& burst) {
  WW_ASSIGN(recording, read_sensor_recording(recorded(burst.folder)));
  const auto column = std::ranges::find(recording.columns, burst.column, &PollColumn::name);
  const auto period = find_update_period(column->polls);
  auto readings = refreshes(column->polls, period);
  const auto& switches = recording.switches;
  const LaunchSensor sensor = sensor_of(burst, readings, period, switches);
  std::vector<KernelLaunch> launches;
  FoundBurst found;
  for (std::size_t i = 0; i + (burst.with_pause ? 2 : 1) < switches.size(); i += 2) {
    launches.push_back({0, {switches[i], switches[i + (burst.with_pause ? 2 : 1)]}});
    found.meter_j += meter_energy(recording.meter, launches.back().time);
  }
  found.meter_j /= static_cast<double>(launches.size());
  found.naive_j = naive_launch_energy(column->polls, launches, 0).value_or(0);
  // The last switch may turn on a load whose end is not known.
  const double end_s = switches.size() % 2 == 0 ? switches.back() + 2 : switches.back();
  std::erase_if(readings, [&](const PowerPoint& reading) {
    return reading.time_s < recording.meter.start_s || reading.time_s > end_s;
  });
  LaunchOptions options;
  options.bins_s = burst.bins_s;
  options.drift_order = 0;
  WW_ASSIGN(energies, launch_energies(readings, launches, {}, sensor, options));
  found.ours = energies.kernels[0];
  return found;
}

TEST(RecordedBursts, HaveTheMetersEnergyWithinTheInterval) {
  if (!std::filesystem::exists(recorded(""))) {
    GTEST_SKIP() << "no recordings from real GPUs beside the checkout";
  }
  const std::vector<double> half_bursts{0.026, 0.052, 0.078, 0.2};
  const std::vector<double> long_bursts{0.2, 1, 6, 6.2, 7};
  const Burst bursts[] = {
      {"A100 burst", "A100_5050", "power.draw.instant", "A100", false, half_bursts, 0, 0},
      {"A100 burst, pause", "A100_5050", "power.draw.instant", "A100", true, {}, 0, 0},
      {"3090 burst",
       "3090_5050",
       "power.draw.instant",
       "3090",
       false,
       {0.054, 0.2},
       0.0996,
       0.0025},
      {"3090 burst, pause", "3090_5050", "power.draw.instant", "3090", true, {}, 0.0996, 0.0025},
      {"3090 1 s average", "3090_5050", "power.draw.average", "3090", true, {}, 0, 0},
      {"4090 burst", "4090_TR", "power.draw", "4090", false, long_bursts, 0.1086, 0.036}};
  std::printf("%-18s %8s %8s %7s %8s %7s   95%% half-width: all (noise, response, gain)\n", "what",
              "meter J", "naive J", "error", "ours J", "error");
  std::map<std::string, FoundBurst> found;
  for (const Burst& burst : bursts) {
    const auto result = find_burst(burst);
    ASSERT_TRUE(result) << burst.what << ": " << result.error().text();
    const LaunchEnergy& ours = result->ours;
    std::printf("%-18s %8.2f %8.2f %+6.1f%% %8.2f %+6.1f%%   %.2f (%.2f, %.2f, %.2f) %s\n",
                burst.what.c_str(), result->meter_j, result->naive_j, 100 * result->naive_error(),
                ours.total_j, 100 * result->error(), ours.total_half_j, ours.noise_j,
                ours.response_j, ours.gain_j, ours.reason.c_str());
    EXPECT_TRUE(result->held()) << burst.what;
    found[burst.what] = *result;
  }
  // A sensor that sees 25 of 101 ms, and one whose window is as long as burst and pause: it shows
  // their sum alone, and says so by the width of the interval.
  EXPECT_LT(found["A100 burst"].naive_error(), -0.25);
  EXPECT_LT(std::abs(found["A100 burst"].error()), 0.08);
  EXPECT_GT(found["3090 burst"].ours.total_half_j, 0.2 * found["3090 burst"].ours.total_j);
  const auto noise_share = [&](const char* what) {
    return found[what].ours.noise_j / found[what].meter_j;
  };
  EXPECT_LT(noise_share("3090 burst, pause"), 0.2 * noise_share("3090 burst"));
  EXPECT_LT(std::abs(found["4090 burst"].error()), 0.02);
}

}  // namespace
}  // namespace ww::measure
