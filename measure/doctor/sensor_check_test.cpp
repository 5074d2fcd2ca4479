// The doctor's verdicts on sensors whose truth is known.
#include "ww/measure/sensor_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/simulated_sensor.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;
using testing::SimulatedGpu;

SensorReport check(SimulatedGpu& gpu) {
  testing::SimulatedSensor sensor(gpu);
  testing::SimulatedLoad load(gpu);
  auto report = check_sensor(sensor, load);
  EXPECT_TRUE(report) << report.error().text();
  return report ? *report : SensorReport{};
}

const SensorCheck& energy_of(const SensorReport& report) {
  return *std::ranges::find(report.columns, "energy counter", &SensorCheck::name);
}

// MI210: the averaged field is 0.19 s late and rises over 4 s; the accumulator moves every ms.
TEST(SensorCheck, AnAveragedMi210IsLimitedAndItsAccumulatorGood) {
  SimulatedGpu gpu;
  gpu.shape = {.period_s = 0.003, .window_s = 4.0, .delay_s = 0.19, .noise_w = 0.05};
  const auto report = check(gpu);
  const SensorCheck& power = report.columns.front();
  EXPECT_EQ(power.verdict, Verdict::limited) << power.detail;
  EXPECT_EQ(power.kind, ResponseKind::window);
  EXPECT_NEAR(power.time_s, 4.0, 0.4) << power.detail;
  EXPECT_NEAR(power.period_s, 0.003, 0.0003) << power.detail;
  EXPECT_NEAR(power.delay_s, 0.19, 0.05);
  EXPECT_GT(power.settle_s, 4.1);
  EXPECT_THAT(power.detail, HasSubstr("averaged"));
  const SensorCheck& energy = energy_of(report);
  EXPECT_EQ(energy.verdict, Verdict::good) << energy.detail;
  EXPECT_NEAR(energy.step_w, gpu.load_w - gpu.idle_w, 1);
  EXPECT_LT(energy.noise_w, 1);
}

TEST(SensorCheck, AnH100ThatSees25MillisecondsOf100IsLimited) {
  SimulatedGpu gpu;
  gpu.shape = {
      .period_s = 0.100, .window_s = 0.025, .noise_w = 0.3, .quantum_w = 0.001, .phase_s = 0.0137};
  gpu.energy_period_s = 0.100;
  gpu.poll_jitter_s = 0.0002;
  const auto report = check(gpu);
  const SensorCheck& power = report.columns.front();
  EXPECT_EQ(power.verdict, Verdict::limited) << power.detail;
  EXPECT_NEAR(power.period_s, 0.100, 0.001);
  ASSERT_EQ(power.kind, ResponseKind::window) << power.reason;
  EXPECT_NEAR(power.time_s, 0.025, 0.0025) << power.detail;
  EXPECT_NEAR(power.seen, 0.25, 0.03);
  EXPECT_THAT(power.detail, HasSubstr("unseen"));
  EXPECT_NEAR(energy_of(report).period_s, 0.100, 0.001);
}

// A driver that stamps refreshes and hands over several at once, whose values all differ.
TEST(SensorCheck, FindsTheWindowOfASensorWhoseDriverStampsItsRefreshes) {
  constexpr std::int64_t kPeriodNs = 100'000'000, kWindowNs = 25'000'000;
  std::vector<LoadStep> steps;
  std::int64_t at = 0;
  for (int i = 0; i < 28; ++i) {
    at += 300'000'000 + 7'300'000 * i % 90'000'000;
    steps.push_back({at, at + 350'000'000 + 3'700'000 * i});
    at = steps.back().off_ns;
  }
  SensorColumn column{"power", {}};
  for (std::int64_t time = kPeriodNs; time < at + 400'000'000; time += kPeriodNs) {
    std::int64_t on = 0;
    for (const LoadStep& step : steps) {
      on += std::max<std::int64_t>(
          0, std::min(time, step.off_ns) - std::max(time - kWindowNs, step.on_ns));
    }
    SensorReading reading;
    reading.time_ns = time;
    reading.poll_ns = (time + 999'999'999) / 1'000'000'000 * 1'000'000'000;
    // Noise of some mW, so that every refresh has another value.
    reading.power_uw =
        60'000'000 + 70 * on * 1'000'000 / kWindowNs + time / kPeriodNs * 7919 % 5000;
    reading.changed = true;
    column.readings.push_back(reading);
  }
  const SensorCheck check = check_column(column, steps);
  ASSERT_EQ(check.kind, ResponseKind::window) << check.reason;
  EXPECT_TRUE(check.period_resolved);
  EXPECT_NEAR(check.period_s, 0.100, 1e-9);
  EXPECT_NEAR(check.time_s, 0.025, 0.0025);
  EXPECT_LT(check.low_s, 0.025);
  EXPECT_GT(check.high_s, 0.025);
  EXPECT_NEAR(check.seen, 0.25, 0.03);
}

TEST(SensorCheck, AHealthySensorIsGood) {
  SimulatedGpu gpu;
  gpu.shape = {
      .period_s = 0.005, .window_s = 0.020, .delay_s = 0.004, .noise_w = 0.5, .quantum_w = 0.001};
  const auto report = check(gpu);
  const SensorCheck& power = report.columns.front();
  EXPECT_EQ(power.verdict, Verdict::good) << power.detail;
  EXPECT_NEAR(power.period_s, 0.005, 0.0005) << power.detail;
  EXPECT_NEAR(power.time_s, 0.020, 0.002) << power.detail;
  EXPECT_NEAR(power.noise_w, 0.5, 0.1);
  EXPECT_NEAR(power.step_w, 70, 1);
  EXPECT_NEAR(power.resolution_w, 0.001, 0.0011);
}

TEST(SensorCheck, AFrozenAccumulatorIsBadAndThePowerBesideItStaysGood) {
  SimulatedGpu gpu;
  gpu.shape = {.period_s = 0.005, .window_s = 0.020, .noise_w = 0.5};
  gpu.frozen_energy = true;
  const auto report = check(gpu);
  EXPECT_EQ(energy_of(report).verdict, Verdict::bad);
  EXPECT_EQ(energy_of(report).status.status, ReadingStatus::frozen);
  EXPECT_EQ(report.columns.front().verdict, Verdict::good) << report.columns.front().detail;
}

TEST(SensorCheck, AFrozenPowerReadingIsBadAtOnce) {
  SimulatedGpu gpu;
  gpu.frozen = true;
  const auto report = check(gpu);
  EXPECT_EQ(report.columns.front().verdict, Verdict::bad);
  EXPECT_EQ(report.columns.front().status.status, ReadingStatus::frozen);
  EXPECT_LT(report.seconds, 40);
}

TEST(SensorCheck, ALagIsCalledALag) {
  SimulatedGpu gpu;
  gpu.shape = {.period_s = 0.0154, .lag_tau_s = 0.050, .noise_w = 0.1};
  const auto report = check(gpu);
  const SensorCheck& power = report.columns.front();
  EXPECT_EQ(power.kind, ResponseKind::lag) << power.detail;
  EXPECT_NEAR(power.time_s, 0.050, 0.005) << power.detail;
  EXPECT_NEAR(power.period_s, 0.0154, 0.0003);
}

TEST(SensorCheck, NvmlsAverageOfOneSecondIsAWindowOfOneSecond) {
  SimulatedGpu gpu;
  gpu.shape = {.period_s = 0.100, .window_s = 1.0, .noise_w = 0.2, .quantum_w = 0.001};
  const auto report = check(gpu);
  const SensorCheck& power = report.columns.front();
  EXPECT_EQ(power.kind, ResponseKind::window) << power.reason;
  EXPECT_NEAR(power.time_s, 1.0, 0.1) << power.detail;
  EXPECT_NEAR(power.period_s, 0.100, 0.001);
  EXPECT_EQ(power.verdict, Verdict::limited);
}

TEST(SensorCheck, AWindowAsLongAsThePeriodSeesAllOfTheTime) {
  SimulatedGpu gpu;
  gpu.shape = {.period_s = 0.100, .window_s = 0.100, .noise_w = 0.2, .phase_s = 0.05};
  const auto report = check(gpu);
  const SensorCheck& power = report.columns.front();
  ASSERT_EQ(power.kind, ResponseKind::window) << power.reason;
  EXPECT_NEAR(power.time_s, 0.100, 0.010) << power.detail;
  EXPECT_EQ(power.verdict, Verdict::good) << power.detail;
}

TEST(SensorCheck, AnEnergyCounterOfAnotherTickIsSaidToDisagree) {
  SimulatedGpu gpu;
  gpu.shape = {.period_s = 0.005, .window_s = 0.020, .noise_w = 0.5};
  testing::SimulatedSensor sensor(gpu);
  testing::SimulatedLoad load(gpu);
  struct Doubled final : Sensor {
    explicit Doubled(Sensor& inner) : inner_(inner) {}
    const SensorFacts& facts() const override { return inner_.facts(); }
    std::int64_t now_ns() override { return inner_.now_ns(); }
    void sleep_until(std::int64_t t) override { inner_.sleep_until(t); }
    Result<std::vector<SensorReading>> new_readings() override {
      auto readings = inner_.new_readings();
      for (auto& reading : *readings) reading.energy_ticks = *reading.energy_ticks * 2;
      return readings;
    }
    std::vector<DvfsState> dvfs_states() const override { return {}; }
    int dvfs_current() const override { return -1; }
    Status select_dvfs(int) override { return {}; }
    Sensor& inner_;
  } doubled(sensor);
  const auto report = check_sensor(doubled, load);
  ASSERT_TRUE(report);
  EXPECT_EQ(energy_of(*report).verdict, Verdict::limited);
  EXPECT_THAT(energy_of(*report).detail, HasSubstr("2.00 times"));
}

TEST(SensorCheck, JsonHasNullForWhatIsNotKnown) {
  SensorCheck check;
  check.name = "x";
  const auto json = to_json(check);
  EXPECT_TRUE(json["window_s"].is_null());
  EXPECT_TRUE(json["period_s"].is_null());
}

SensorReading reading(std::optional<std::int64_t> power_w, std::optional<std::int64_t> energy) {
  SensorReading sample;
  if (power_w) sample.power_uw = *power_w * 1'000'000;
  sample.energy_ticks = energy;
  return sample;
}

ReadingStatus status_of(const std::vector<SensorReading>& readings, const std::string& field) {
  const auto rows = reading_statuses(readings, true);
  return std::ranges::find(rows, field, &StatusRow::field)->status;
}

TEST(ReadingStatuses, NameEachTrouble) {
  EXPECT_EQ(status_of({reading(1, 1), reading(2, 2)}, "power"), ReadingStatus::healthy);
  EXPECT_EQ(status_of({reading(0, 1), reading(0, 2)}, "power"), ReadingStatus::zero);
  EXPECT_EQ(status_of({reading(5, 1), reading(-2, 2)}, "power"), ReadingStatus::negative);
  EXPECT_EQ(status_of({reading(5, 1), reading(20000, 2)}, "power"), ReadingStatus::absurd);
  EXPECT_EQ(status_of({reading(5, 1), reading(5, 2)}, "power"), ReadingStatus::frozen);
  EXPECT_EQ(status_of({reading(5, 9), reading(6, 8)}, "energy"), ReadingStatus::backward);
  EXPECT_EQ(status_of({reading(5, 9), reading(6, 9)}, "energy"), ReadingStatus::frozen);
  EXPECT_EQ(status_of({reading(5, {}), reading(6, {})}, "energy"), ReadingStatus::no_answer);
  EXPECT_EQ(status_of({reading(5, {}), reading({}, {}), reading({}, {})}, "power"),
            ReadingStatus::no_answer);
}

TEST(ReadingStatuses, SayWhyAFieldIsMissing) {
  auto rows = reading_statuses(std::vector{reading(5, {}), reading(6, {})}, true);
  const std::vector<FieldState> fields{{"energy", FieldStatus::denied, "gpu_metrics: denied"},
                                       {"temperature_edge", FieldStatus::missing, "no file"}};
  explain_missing(rows, fields);
  EXPECT_EQ(std::ranges::find(rows, "energy", &StatusRow::field)->status, ReadingStatus::denied);
  const auto temperature = std::ranges::find(rows, "temperature", &StatusRow::field);
  EXPECT_EQ(temperature->status, ReadingStatus::missing);
  EXPECT_EQ(temperature->reason, "no file");
}

}  // namespace
}  // namespace ww::measure
