// Sensors of real cards beside an external meter. The recordings lie beside the checkout; their
// README says what a right tool must find, with tolerances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/recorded/units.hpp"
#include "ww/measure/recorded_energy.hpp"
#include "ww/measure/sensor_response.hpp"

namespace ww::measure {
namespace {

std::string shared_data(const std::string& path) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  return std::string(shared == nullptr ? "" : shared) + "/data/" + path;
}
std::string data(const std::string& path) {
  return shared_data("gpu_power_benchmark/" + path);
}

struct Found {
  UpdatePeriod period;
  std::vector<PowerPoint> readings;
  SensorResponse metered, stepped;
  std::vector<SteadyError> errors;
};

struct Expected {
  std::string folder, column;
  double period_s, period_tolerance_s;
  ResponseKind kind;
  double low_s, high_s;
};

Found analyse(const SensorRecording& recording, const std::string& name) {
  Found found;
  const auto column = std::ranges::find(recording.columns, name, &PollColumn::name);
  if (column == recording.columns.end()) return found;
  found.period = find_update_period(column->polls);
  found.readings = refreshes(column->polls, found.period);
  found.metered = fit_response(found.readings, found.period, recording.meter);
  found.stepped = fit_response_to_load(found.readings, found.period, recording.switches);
  found.errors = steady_errors(found.readings, recording.meter, recording.switches, found.metered);
  return found;
}

// Skips only without any recordings: one that is missing among others is a failure.
#define SKIP_WITHOUT_RECORDINGS()                                       \
  if (!std::filesystem::exists(data(""))) {                             \
    GTEST_SKIP() << "no recordings from real GPUs beside the checkout"; \
  }
// Skips tests of sensors that were recorded later than the others.
#define SKIP_WITHOUT(folder)                                       \
  if (!std::filesystem::exists(shared_data(folder))) {             \
    GTEST_SKIP() << "no recording " folder " beside the checkout"; \
  }

double error_of(const Found& found, const std::string& what) {
  const auto at = std::ranges::find_if(
      found.errors, [&](const SteadyError& error) { return error.what.starts_with(what); });
  return at == found.errors.end() ? std::nan("") : at->relative();
}

class Sensor : public testing::TestWithParam<Expected> {};

TEST_P(Sensor, HasItsPeriodAndItsWindowOrLag) {
  const Expected& expected = GetParam();
  SKIP_WITHOUT_RECORDINGS();
  const auto recording = read_sensor_recording(data(expected.folder));
  ASSERT_TRUE(recording) << recording.error().text();
  const Found found = analyse(*recording, expected.column);
  ASSERT_TRUE(found.period.resolved) << found.period.reason;
  EXPECT_NEAR(found.period.period_s, expected.period_s, expected.period_tolerance_s);
  ASSERT_EQ(found.metered.kind, expected.kind) << found.metered.reason;
  EXPECT_GE(found.metered.time_s, expected.low_s);
  EXPECT_LE(found.metered.time_s, expected.high_s);
  EXPECT_LE(found.metered.low_s, found.metered.time_s);
  EXPECT_GE(found.metered.high_s, found.metered.time_s);
  // Without the meter: right, or not resolved; never another answer.
  if (found.stepped.kind != ResponseKind::not_resolved) {
    EXPECT_EQ(found.stepped.kind, expected.kind);
    EXPECT_GE(found.stepped.time_s, expected.low_s);
    EXPECT_LE(found.stepped.time_s, expected.high_s);
  } else {
    EXPECT_FALSE(found.stepped.reason.empty());
  }
}
constexpr auto kWindow = ResponseKind::window;
INSTANTIATE_TEST_SUITE_P(
    Recordings, Sensor,
    testing::Values(
        Expected{"A100_5050", "power.draw", 0.10122, 0.0005, kWindow, 0.020, 0.030},
        Expected{"A100_5050", "power.draw.instant", 0.10122, 0.0005, kWindow, 0.020, 0.030},
        Expected{"3090_5050", "power.draw.instant", 0.09997, 0.0005, kWindow, 0.095, 0.105},
        Expected{"3090_5050", "power.draw.average", 0.09997, 0.0005, kWindow, 0.950, 1.150},
        Expected{"3090_5050", "power.draw", 0.09997, 0.0005, kWindow, 0.950, 1.150},
        Expected{"4090_TR", "power.draw", 0.09998, 0.0005, kWindow, 0.090, 0.115},
        Expected{"K40m_TR", "power.draw", 0.01541, 0.00015, ResponseKind::lag, 0.045, 0.060}));

TEST(SensorRecordings, SayThatAnA100MissesThreeQuartersOfTheTimeAndGiveNoGainForIt) {
  SKIP_WITHOUT_RECORDINGS();
  const auto recording = read_sensor_recording(data("A100_5050"));
  ASSERT_TRUE(recording);
  const Found found = analyse(*recording, "power.draw.instant");
  EXPECT_NEAR(1 - found.metered.seen(found.period), 0.75, 0.05);
  EXPECT_FALSE(found.metered.gain);
  EXPECT_FALSE(found.metered.gain_reason.empty());
  EXPECT_NEAR(error_of(found, "idle"), -0.075, 0.005);
  EXPECT_NEAR(error_of(found, "mean of the run"), -0.060, 0.012);
}

TEST(SensorRecordings, GiveGainAndOffsetAgainstTheMeterWhereTheFitIsGood) {
  SKIP_WITHOUT_RECORDINGS();
  struct Gain {
    std::string folder, column;
    double gain, gain_tolerance, offset_w, offset_tolerance_w;
  };
  const Gain known[] = {{"3090_5050", "power.draw.instant", 0.957, 0.01, -2.8, 2.5},
                        {"4090_TR", "power.draw", 1.048, 0.005, -21.5, 0.5},
                        {"K40m_TR", "power.draw", 1.020, 0.005, 1.1, 0.5}};
  for (const Gain& expected : known) {
    const auto recording = read_sensor_recording(data(expected.folder));
    ASSERT_TRUE(recording);
    const Found found = analyse(*recording, expected.column);
    ASSERT_TRUE(found.metered.gain) << found.metered.gain_reason;
    EXPECT_NEAR(*found.metered.gain, expected.gain, expected.gain_tolerance) << expected.folder;
    EXPECT_NEAR(*found.metered.offset_w, expected.offset_w, expected.offset_tolerance_w);
  }
}

// A gain under one offset is not one percentage: -1% loaded, -26% idle.
TEST(SensorRecordings, GiveSteadyErrorsLevelByLevel) {
  SKIP_WITHOUT_RECORDINGS();
  const auto ada = read_sensor_recording(data("4090_TR"));
  const auto kepler = read_sensor_recording(data("K40m_TR"));
  const auto ampere = read_sensor_recording(data("3090_5050"));
  ASSERT_TRUE(ada && kepler && ampere);
  EXPECT_NEAR(error_of(analyse(*ada, "power.draw"), "load on"), -0.009, 0.003);
  EXPECT_NEAR(error_of(analyse(*ada, "power.draw"), "idle"), -0.26, 0.01);
  EXPECT_NEAR(error_of(analyse(*kepler, "power.draw"), "load on"), 0.033, 0.005);
  EXPECT_NEAR(error_of(analyse(*ampere, "power.draw.instant"), "idle"), -0.050, 0.003);
  EXPECT_NEAR(error_of(analyse(*ampere, "power.draw.instant"), "mean of the run"), -0.053, 0.003);
  EXPECT_NEAR(error_of(analyse(*ampere, "power.draw.average"), "mean of the run"), -0.052, 0.003);
}

TEST(SensorRecordings, HavePeriodsWithoutAMeterAndWindowsNotResolved) {
  SKIP_WITHOUT_RECORDINGS();
  const std::pair<std::string, double> known[] = {
      {"A100", 0.10116}, {"V100", 0.02004}, {"3090", 0.09997}};
  for (const auto& [card, period_s] : known) {
    const auto path = data("pwr_update_freq_" + card + "_first30s.csv");
    const auto text = read_file(path);
    ASSERT_TRUE(text);
    const auto columns = parse_polls(*text, path);
    ASSERT_TRUE(columns) << columns.error().text();
    for (const PollColumn& column : *columns) {
      const auto period = find_update_period(column.polls);
      ASSERT_TRUE(period.resolved) << card << ": " << period.reason;
      EXPECT_NEAR(period.period_s, period_s, std::min(0.0005, 0.01 * period_s)) << card;
      const auto readings = refreshes(column.polls, period);
      EXPECT_EQ(fit_response(readings, period, {}).kind, ResponseKind::not_resolved);
      EXPECT_EQ(fit_response_to_load(readings, period, {}).kind, ResponseKind::not_resolved);
    }
  }
}

// Compares with the recordings as another program decodes them, in means of each millisecond.
TEST(SensorRecordings, DecodeTheMeterAsAnotherProgramDoes) {
  SKIP_WITHOUT_RECORDINGS();
  for (const std::string folder : {"A100_5050", "3090_5050", "4090_TR", "K40m_TR"}) {
    const auto recording = read_sensor_recording(data(folder));
    ASSERT_TRUE(recording);
    const auto path = data(folder + "/derived_pmd_1ms.csv");
    const auto text = read_file(path);
    ASSERT_TRUE(text);
    const auto rows = parse_csv(*text, path);
    ASSERT_TRUE(rows);
    const PowerSeries& meter = recording->meter;
    double ours = 0, theirs = 0;
    std::size_t count = 0;
    for (std::size_t r = 1; r < rows->size(); ++r) {
      const double t = std::stod((*rows)[r].fields[0]) * 1e-3;
      const double steps = (t - meter.start_s) / meter.step_s;
      if (steps < 0 || steps >= static_cast<double>(meter.power_w.size())) continue;
      theirs += std::stod((*rows)[r].fields[3]);
      ours += meter.power_w[static_cast<std::size_t>(steps)];
      ++count;
      if (count % 500 == 0) {
        EXPECT_NEAR(ours / theirs, 1.0, 0.01) << folder << " until " << t;
        ours = theirs = 0;
      }
    }
    EXPECT_GT(count, 9000u);
  }
}

Result<SensorRecording> table(const std::string& path) {
  WW_ASSIGN(text, read_file(path));
  auto log = parse_pmt_log(text, path);
  return log ? std::move(log) : parse_power_table(text, path);
}

// An MI300A's register is refreshed each millisecond and polled each 4 ms, beside its own counter.
TEST(SensorRecordings, OfAnMi300aHaveALagOf100MsThoughThePollsDoNotShowThePeriod) {
  SKIP_WITHOUT("amd_sensor_mi300a");
  const auto recording = table(shared_data("amd_sensor_mi300a/mi300a_device0_energy.csv"));
  ASSERT_TRUE(recording) << recording.error().text();
  const auto& polls = recording->columns.at(0).polls;
  const auto period = find_update_period(polls);
  EXPECT_FALSE(period.resolved);
  ASSERT_TRUE(period.within_poll) << period.reason;
  const auto* counter = counter_beside(*recording, recording->columns[0].name);
  ASSERT_NE(counter, nullptr);
  const auto response = fit_response(refreshes(polls, period), period, mean_power(*counter));
  ASSERT_EQ(response.kind, ResponseKind::lag) << response.reason;
  EXPECT_NEAR(response.time_s, 0.100, 0.010);
  EXPECT_NEAR(response.delay_s, 0, 0.003);
  EXPECT_NEAR(response.gain.value(), 0.9973, 0.004);  // ticks of 2^-16 J, written as 15.3 uJ
  constexpr double kKnown_j = 2231.36, kWriter = 15.3 / (1e6 / 65536);
  EXPECT_NEAR(counter_energy(*counter).energy_j / kWriter, kKnown_j, 0.001 * kKnown_j);
  const auto energy = register_energy(polls, period, response, {});
  EXPECT_LE(energy.low_j, kKnown_j);
  EXPECT_GE(energy.high_j, kKnown_j);
  EXPECT_LT(energy.high_j - energy.low_j, 0.01 * kKnown_j);
  // Idle, over 3 W: right or not resolved, and the joules are held all the same.
  const auto idle = table(shared_data("amd_sensor_mi300a/mi300a_device2_energy.csv"));
  ASSERT_TRUE(idle);
  const auto open = find_update_period(idle->columns[0].polls);
  EXPECT_TRUE(open.within_poll) << open.reason;
  const auto resting = register_energy(idle->columns[0].polls, open, {}, {});
  EXPECT_LE(resting.low_j, 879.25);
  EXPECT_GE(resting.high_j, 879.25);
}

// Polls of the register alone: its fastest step says how late it may be, and no counter is needed.
TEST(SensorRecordings, OfAnMi300asRegisterAloneHoldItsJoules) {
  SKIP_WITHOUT("amd_sensor_mi300a");
  const auto recording = table(shared_data("amd_sensor_mi300a/mi300a_device0_hwmon.csv"));
  ASSERT_TRUE(recording) << recording.error().text();
  const auto& polls = recording->columns.at(0).polls;
  const auto period = find_update_period(polls);
  const auto response = fit_response_to_load(refreshes(polls, period), period, {});
  ASSERT_EQ(response.kind, ResponseKind::not_resolved);
  const auto energy = register_energy(polls, period, response, {});
  constexpr double kKnown_j = 2231.36;
  EXPECT_LE(energy.low_j, kKnown_j);
  EXPECT_GE(energy.high_j, kKnown_j);
  EXPECT_LT(energy.high_j - energy.low_j, 0.15 * kKnown_j) << energy.reason;
}

TEST(SensorRecordings, OfAW7700HaveNoPeriodAndNoLagAndSomeSpikes) {
  SKIP_WITHOUT("amd_sensor_w7700");
  const auto recording = table(shared_data("amd_sensor_w7700/pmt-rocm.log"));
  ASSERT_TRUE(recording) << recording.error().text();
  const auto& polls = recording->columns.at(0).polls;
  EXPECT_EQ(polls.size(), 15'096U);
  const auto period = find_update_period(polls);
  EXPECT_FALSE(period.resolved) << period.period_s;
  EXPECT_TRUE(period.within_poll) << period.reason;
  const auto response = fit_response_to_load(refreshes(polls, period), period, {});
  EXPECT_TRUE(response.at_most) << response.reason;
  EXPECT_LE(response.time_s, 0.005);
  const auto spikes = find_spikes(polls, period);
  EXPECT_GE(spikes.at.size(), 3U);
  EXPECT_LE(spikes.at.size(), 5U);
  EXPECT_NEAR(spikes.largest_w, 23, 1);
}

TEST(SensorRecordings, OfAnAd4000HaveOnePeriodAndAnAverageOfTwoRates) {
  SKIP_WITHOUT("nvml_ad4000");
  const auto recording = table(shared_data("nvml_ad4000/pmt-nvml.log"));
  ASSERT_TRUE(recording) << recording.error().text();
  const auto instant = find_update_period(recording->columns.at(0).polls);
  ASSERT_TRUE(instant.resolved) << instant.reason;
  EXPECT_NEAR(instant.period_s, 0.1002, 0.0005);
  const auto average = find_update_period(recording->columns.at(1).polls);
  EXPECT_FALSE(average.resolved) << average.period_s;
  EXPECT_NEAR(average.held_s, 1.0, 0.03);
}

// Cray's meter is upstream of the card: losses that no load changes are in the ratio of the joules,
// and not in the slope.
TEST(SensorRecordings, OfAnMi250xHaveAGainAgainstTheNodesMeter) {
  SKIP_WITHOUT("amd_sensor_mi250x");
  const auto card = table(shared_data("amd_sensor_mi250x/rank0_energy.csv"));
  const auto node = table(shared_data("amd_sensor_mi250x/rank0_craypm.csv"));
  ASSERT_TRUE(card && node);
  const auto find = [](const SensorRecording& recording, std::string_view name) {
    return *std::ranges::find(recording.counters, name, &EnergyColumn::name);
  };
  EnergyColumn counter = find(*card, "dev0_uj");
  constexpr double kWriter = 15.3 / (1e6 / 65536);
  for (EnergyPoint& poll : counter.polls) poll.energy_j /= kWriter;
  PowerSeries meter = mean_power(find(*node, "accel0_energy_j"));
  meter.start_s += node->zero_s - card->zero_s;
  const auto gain = compare_with_meter(counter, meter);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->ratio, 1.055, 0.005);
  ASSERT_TRUE(gain->slope);
  EXPECT_NEAR(*gain->slope, 1.027, 0.02);
  EXPECT_NEAR(*gain->offset_w, 11, 8);
}

// One of the two dies of a package counts, and the other reads 0 for ever.
TEST(SensorRecordings, OfAnMi250xHaveCountersOfFourPackagesAndFourThatCountNothing) {
  SKIP_WITHOUT("amd_sensor_mi250x");
  const auto recording = table(shared_data("amd_sensor_mi250x/rank0_energy.csv"));
  ASSERT_TRUE(recording) << recording.error().text();
  ASSERT_EQ(recording->counters.size(), 8U);
  for (const EnergyColumn& counter : recording->counters) {
    const bool odd = counter.name.at(3) % 2 == 1;
    EXPECT_EQ(counter_energy(counter).ok(), !odd) << counter.name;
    EXPECT_EQ(mean_power(counter).empty(), odd) << counter.name;
  }
}

}  // namespace
}  // namespace ww::measure
