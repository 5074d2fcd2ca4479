#include "ww/measure/step_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace ww::measure {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct Series {
  std::vector<SensorReading> readings;
  std::vector<LoadStep> steps;
};

struct Shape {
  double period_s{0.001};
  double half_cycle_s{0.5};
  double low_w{60}, step_w{40};
  double noise_w{0};
  double heating_w_per_s{0};
  int cycles{5};
  std::int64_t drift_ns{370'000};  // a cycle: switches do not fall on the sensor's ticks
};

// `response`: the share of a step that the sensor shows t seconds after the switch. Readings are
// polled every millisecond and refresh every `period_s`.
Series series(const Shape& shape, const std::function<double(double)>& response) {
  Series out;
  const auto half = static_cast<std::int64_t>(shape.half_cycle_s * 1e9);
  for (int i = 0; i < shape.cycles; ++i) {
    const std::int64_t on = (2 * i + 1) * half + shape.drift_ns * i;
    out.steps.push_back({on, on + half});
  }
  std::mt19937_64 generator(1);
  std::normal_distribution<double> noise(0.0, 1.0);
  const std::int64_t end = out.steps.back().off_ns + half;
  const auto period = static_cast<std::int64_t>(shape.period_s * 1e9);
  std::int64_t shown_tick = -1;
  SensorReading shown;
  for (std::int64_t t = 0; t < end; t += kMs) {
    const std::int64_t tick = t / period;
    shown.changed = tick != shown_tick;
    if (shown.changed) {
      shown_tick = tick;
      const double at = static_cast<double>(tick * period);
      double power = shape.low_w;
      for (const LoadStep& step : out.steps) {
        const double since_on = (at - static_cast<double>(step.on_ns)) * 1e-9;
        const double since_off = (at - static_cast<double>(step.off_ns)) * 1e-9;
        if (since_on > 0) power += shape.step_w * response(since_on);
        if (since_off > 0) power -= shape.step_w * response(since_off);
        if (since_on > 0 && since_off < 0) power += shape.heating_w_per_s * since_on;
      }
      shown.power_uw = std::llround((power + shape.noise_w * noise(generator)) * 1e6);
    }
    shown.time_ns = shown.poll_ns = t;
    out.readings.push_back(shown);
  }
  return out;
}

std::function<double(double)> boxcar(double lag_s, double window_s) {
  return [=](double t) { return std::clamp((t - lag_s) / window_s, 0.0, 1.0); };
}

TEST(StepTest, FindsTheWindowAndTheLagOfAMovingAverage) {
  const Series s = series({}, boxcar(0.020, 0.050));
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found && found->resolved) << found->reason;
  EXPECT_NEAR(found->period_s, 0.001, 1e-6);
  EXPECT_NEAR(found->delay_s, 0.020, 0.002);
  EXPECT_NEAR(found->rise_s, 0.050, 0.003);
  EXPECT_NEAR(found->step_w, 40.0, 0.2);
}

TEST(StepTest, EndsWhereReadingsFallOnTheBoundsOfTheBins) {
  // 2.017 s is the first multiple of 1 ms whose quotient and product round to different bins.
  const auto [readings, steps] = series({.half_cycle_s = 3, .drift_ns = 0}, boxcar(0.01, 0.05));
  const auto found = analyse_steps(readings, steps);
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->resolved) << found->reason;
  EXPECT_NEAR(found->delay_s + found->rise_s, 0.06, 0.003);
}

TEST(StepTest, FindsAPeriodThatIsNoMultipleOfThePolls) {
  Shape shape;
  shape.period_s = 0.01541;
  shape.half_cycle_s = 3;
  shape.noise_w = 0.5;
  const Series s = series(shape, boxcar(0.0, 0.060));
  Series coarse = s;
  std::erase_if(coarse.readings, [](const SensorReading& r) { return r.time_ns / kMs % 9 != 0; });
  const auto found = analyse_steps(coarse.readings, coarse.steps);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_NEAR(found->period_s, 0.01541, 0.0001);
}

TEST(StepTest, FindsThemUnderNoiseAndHeating) {
  const Series s = series({.noise_w = 1.0, .heating_w_per_s = 3.0}, boxcar(0.010, 0.030));
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found && found->resolved) << found->reason;
  EXPECT_NEAR(found->delay_s, 0.010, 0.004);
  EXPECT_NEAR(found->delay_s + found->rise_s, 0.040, 0.008);
  EXPECT_NEAR(found->noise_w, 1.0, 0.15);
}

TEST(StepTest, WaitsForTheTailOfALag) {
  const double tau = 0.030;
  const Series s = series({}, [=](double t) { return 1 - std::exp(-t / tau); });
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found && found->resolved) << found->reason;
  const double shown = 1 - std::exp(-(found->delay_s + found->rise_s) / tau);
  EXPECT_GT(shown, 0.97);
  EXPECT_LT(shown, 0.999);
}

TEST(StepTest, AnInstantSensorRisesWithinItsPeriod) {
  const Series s = series({}, [](double) { return 1.0; });
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found && found->resolved) << found->reason;
  EXPECT_LE(found->delay_s, 0.0015);
  EXPECT_LE(found->rise_s, 0.0025);
  EXPECT_GE(found->rise_s, found->period_s);
}

TEST(StepTest, FindsASlowRefreshBehindFastPolling) {
  const Series s =
      series({.period_s = 0.100, .half_cycle_s = 2.0, .noise_w = 0.2}, [](double) { return 1.0; });
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found && found->resolved) << found->reason;
  EXPECT_NEAR(found->period_s, 0.100, 0.001);
  EXPECT_LE(found->delay_s + found->rise_s, 0.25);
}

TEST(StepTest, SaysSoWhenTheWindowIsLongerThanTheTest) {
  const Series s = series({.half_cycle_s = 0.5}, boxcar(0.0, 1.0));
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->resolved);
  EXPECT_FALSE(found->reason.empty());
}

TEST(StepTest, SaysSoWhenTheRefreshIsSlowerThanTheTest) {
  const Series s = series({.period_s = 0.200, .half_cycle_s = 0.5}, [](double) { return 1.0; });
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->resolved);
}

TEST(StepTest, SaysSoWhenTheStepDrownsInNoise) {
  const Series s = series({.step_w = 0.5, .noise_w = 3.0}, [](double) { return 1.0; });
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->resolved);
}

TEST(StepTest, AFrozenSensorHasNoPeriod) {
  Series s = series({}, [](double) { return 1.0; });
  for (SensorReading& reading : s.readings) {
    reading.power_uw = 1;
    reading.changed = false;
  }
  const auto found = analyse_steps(s.readings, s.steps);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->resolved);
  EXPECT_EQ(found->period_s, 0.0);
}

TEST(StepTest, WithoutReadingsThereIsNothingToAnalyse) {
  const std::vector<LoadStep> steps{{0, kMs}};
  EXPECT_EQ(analyse_steps({}, steps).error().code, ErrorCode::bad_data);
  EXPECT_EQ(analyse_steps({}, {}).error().code, ErrorCode::bad_data);
}

}  // namespace
}  // namespace ww::measure
