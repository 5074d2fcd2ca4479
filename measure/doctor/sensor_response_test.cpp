#include "ww/measure/sensor_response.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ww::measure {
namespace {

struct Load {
  double on_s{0.052}, off_s{0.052};
  int cycles{70};
  double low_w{60}, high_w{190};
  double ripple_w{3};  // of the power itself
};

struct Scene {
  PowerSeries meter;
  std::vector<double> switches;
};

Scene scene(const Load& load) {
  Scene out;
  for (int i = 0; i < load.cycles; ++i) {
    const double on = i * (load.on_s + load.off_s);
    out.switches.push_back(on);
    out.switches.push_back(on + load.on_s);
  }
  out.meter = {-1.0, 1e-3, {}};
  const double end = out.switches.back() + 1.0;
  std::mt19937_64 random(3);
  std::normal_distribution<double> ripple(0.0, 1.0);
  std::size_t next = 0;
  for (double t = -1.0; t < end; t += 1e-3) {
    while (next < out.switches.size() && out.switches[next] <= t) ++next;
    const double level = next % 2 == 1 ? load.high_w : load.low_w;
    out.meter.power_w.push_back(level + load.ripple_w * ripple(random));
  }
  return out;
}

struct Sensor {
  double period_s{0.1012}, window_s{0.025}, lag_s{0};
  double gain{1}, offset_w{0};
  double poll_s{0.007};
  double step_w{0.01};
};

// Returns what polls of such a sensor show.
std::vector<PowerPoint> polls(const Scene& scene, const Sensor& sensor) {
  const auto& power = scene.meter.power_w;
  std::vector<double> seen(power.size());
  double lagged = power.front(), sum = 0;
  const auto width = static_cast<std::size_t>(std::lround(sensor.window_s * 1e3));
  for (std::size_t i = 0; i < power.size(); ++i) {
    lagged += (power[i] - lagged) * (1 - std::exp(-1e-3 / std::max(sensor.lag_s, 1e-9)));
    sum += power[i] - (i >= width ? power[i - width] : 0.0);
    const double mean = sum / static_cast<double>(std::min(i + 1, width));
    seen[i] = sensor.gain * (sensor.lag_s > 0 ? lagged : mean) + sensor.offset_w;
  }
  std::vector<PowerPoint> out;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> jitter(-0.3, 0.3);
  for (double t = -0.99; t < scene.meter.end_s() - 0.01;
       t += sensor.poll_s * (1 + jitter(random))) {
    const double refresh = std::floor((t - 0.0123) / sensor.period_s) * sensor.period_s + 0.0123;
    const auto i = static_cast<std::size_t>(std::max(0.0, (refresh + 1.0) * 1e3));
    const double value = seen[std::min(i, seen.size() - 1)];
    out.push_back({std::round(t * 1e3) * 1e-3, std::round(value / sensor.step_w) * sensor.step_w});
  }
  return out;
}

SensorResponse response(const Scene& s, const std::vector<PowerPoint>& p) {
  const auto period = find_update_period(p);
  return fit_response(refreshes(p, period), period, s.meter);
}

TEST(UpdatePeriod, IsFoundBetweenCoarsePolls) {
  const Scene s = scene({});
  for (const double poll_s : {0.004, 0.007, 0.013, 0.03}) {
    const auto found = find_update_period(polls(s, {.poll_s = poll_s}));
    ASSERT_TRUE(found.resolved) << found.reason;
    EXPECT_NEAR(found.period_s, 0.1012, 0.0003) << poll_s;
  }
}

TEST(UpdatePeriod, IsTheLargestThatFitsAndNotTheTimeBetweenChanges) {
  // Steps of 2 W hide most refreshes of a steady load.
  const Scene s = scene({.on_s = 6, .off_s = 6, .cycles = 1, .ripple_w = 4});
  const Sensor sensor{.period_s = 0.0154, .lag_s = 0.05, .poll_s = 0.008, .step_w = 1};
  const auto found = find_update_period(polls(s, sensor));
  ASSERT_TRUE(found.resolved) << found.reason;
  EXPECT_NEAR(found.period_s, 0.0154, 0.00015);
}

TEST(UpdatePeriod, IsFoundInSeriesOfHours) {
  std::vector<PowerPoint> points;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> level(50, 60), wait(0.006, 0.010);
  double shown = 0;
  std::int64_t last = -1;
  for (double t = 0; t < 3600; t += wait(random)) {
    const auto tick = static_cast<std::int64_t>(t / 0.099971);
    if (tick != last) shown = level(random);
    last = tick;
    points.push_back({t, shown});
  }
  const auto found = find_update_period(points);
  ASSERT_TRUE(found.resolved) << found.reason;
  EXPECT_NEAR(found.period_s, 0.099971, 1e-6);
  EXPECT_GT(found.contained, 0.99);
}

TEST(UpdatePeriod, IsFoundWhereTheSensorsClockWanders) {
  std::vector<PowerPoint> points;
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> level(50, 60), wait(0.006, 0.009);
  double shown = 0, next = 0, worst_s = 0;
  std::vector<double> ticks;
  for (double t = 0; t < 60; t += wait(random)) {
    while (t >= next) {
      ticks.push_back(next);
      next += 0.0154 * (1 + 0.002 * std::sin(next / 8));
      shown = level(random);
    }
    points.push_back({t, shown});
  }
  const auto found = find_update_period(points);
  ASSERT_TRUE(found.resolved) << found.reason;
  EXPECT_NEAR(found.period_s, 0.0154, 0.0001);
  for (const PowerPoint& refresh : refreshes(points, found)) {
    const auto after = std::ranges::lower_bound(ticks, refresh.time_s);
    double off = 1;
    if (after != ticks.end()) off = *after - refresh.time_s;
    if (after != ticks.begin()) off = std::min(off, refresh.time_s - *(after - 1));
    worst_s = std::max(worst_s, off);
  }
  EXPECT_LT(worst_s, 0.006) << "refreshes follow the clock";
}

TEST(UpdatePeriod, IsNotResolvedByPollsSlowerThanIt) {
  const auto found = find_update_period(polls(scene({}), {.period_s = 0.005, .poll_s = 0.01}));
  EXPECT_FALSE(found.resolved);
  EXPECT_THAT(found.reason, ::testing::HasSubstr("poll faster"));
}

TEST(UpdatePeriod, IsNotResolvedWhereTheValueHardlyEverChanges) {
  std::vector<PowerPoint> still;
  still.reserve(1000);
  for (int i = 0; i < 1000; ++i) still.push_back({0.01 * i, i < 500 ? 60.0 : 61.0});
  EXPECT_FALSE(find_update_period(still).resolved);
  EXPECT_FALSE(find_update_period({}).resolved);
}

TEST(UpdatePeriod, IsNotResolvedWhereChangesFollowNoClock) {
  std::mt19937_64 random(9);
  std::exponential_distribution<double> wait(10);
  std::vector<PowerPoint> points;
  double next = 0, value = 1;
  for (double t = 0; t < 30; t += 0.007) {
    if (t > next) {
      next = t + wait(random);
      value += 1;
    }
    points.push_back({t, value});
  }
  EXPECT_FALSE(find_update_period(points).resolved);
}

TEST(SensorResponse, FindsAWindowShorterThanThePeriodAndWhatItMisses) {
  const Scene s = scene({});
  const auto p = polls(s, {});
  const auto found = response(s, p);
  ASSERT_EQ(found.kind, ResponseKind::window) << found.reason;
  EXPECT_NEAR(found.time_s, 0.025, 0.003);
  EXPECT_NEAR(found.seen(find_update_period(p)), 0.25, 0.03);
}

TEST(SensorResponse, FindsWindowGainAndOffset) {
  const Scene s = scene({.on_s = 0.3, .off_s = 0.2, .cycles = 20});
  const auto found = response(s, polls(s, {.window_s = 0.1, .gain = 1.05, .offset_w = -21}));
  ASSERT_EQ(found.kind, ResponseKind::window) << found.reason;
  EXPECT_NEAR(found.time_s, 0.1, 0.003);
  ASSERT_TRUE(found.gain) << found.gain_reason;
  EXPECT_NEAR(*found.gain, 1.05, 0.01);
  EXPECT_NEAR(*found.offset_w, -21, 1.5);
}

TEST(SensorResponse, FindsAWindowOfManyPeriods) {
  const Scene s = scene({});
  const auto found = response(s, polls(s, {.window_s = 1.05}));
  ASSERT_EQ(found.kind, ResponseKind::window) << found.reason;
  EXPECT_NEAR(found.time_s, 1.05, 0.05);
}

TEST(SensorResponse, FindsAShortWindowUnderAShortPeriod) {
  const Scene s = scene({.on_s = 0.0105, .off_s = 0.0105, .cycles = 300});
  const auto found = response(s, polls(s, {.period_s = 0.02004, .window_s = 0.010}));
  ASSERT_EQ(found.kind, ResponseKind::window) << found.reason;
  EXPECT_NEAR(found.time_s, 0.010, 0.002);
}

TEST(SensorResponse, CallsALagALag) {
  const Scene s = scene({.on_s = 6, .off_s = 6, .cycles = 1});
  const auto found = response(s, polls(s, {.period_s = 0.0154, .lag_s = 0.05, .poll_s = 0.008}));
  ASSERT_EQ(found.kind, ResponseKind::lag) << found.reason;
  EXPECT_NEAR(found.time_s, 0.05, 0.005);
}

TEST(SensorResponse, OfAShortWindowIsNotResolvedByOneStepOfAQuietLoad) {
  const Scene s = scene({.on_s = 6, .off_s = 6, .cycles = 1, .ripple_w = 0});
  auto p = polls(s, {});
  // A quiet sensor would not show its period either; a last digit that flickers does.
  const auto clock = find_update_period(polls(scene({}), {}));
  const auto found = fit_response(refreshes(p, clock), clock, s.meter);
  EXPECT_EQ(found.kind, ResponseKind::not_resolved);
  EXPECT_NE(found.reason.find("fit alike"), std::string::npos) << found.reason;
}

TEST(SensorResponse, IsNotResolvedForReadingsThatDoNotFollow) {
  const Scene s = scene({});
  const Scene other = scene({.on_s = 0.7, .off_s = 0.9, .cycles = 6});
  EXPECT_EQ(response(s, polls(other, {})).kind, ResponseKind::not_resolved);
  EXPECT_EQ(response({}, polls(s, {})).kind, ResponseKind::not_resolved);
}

TEST(SensorResponse, FindsTheWindowFromTheSwitchesOfASquareLoad) {
  const Scene s = scene({});
  const auto p = polls(s, {});
  const auto period = find_update_period(p);
  const auto found = fit_response_to_load(refreshes(p, period), period, s.switches);
  ASSERT_EQ(found.kind, ResponseKind::window) << found.reason;
  EXPECT_NEAR(found.time_s, 0.025, 0.005);
  EXPECT_FALSE(found.gain);
}

TEST(SteadyErrors, CompareLevelsWithoutTheirEdges) {
  const Scene s = scene({.on_s = 6, .off_s = 6, .cycles = 2});
  const auto p = polls(s, {.window_s = 0.1, .gain = 0.95});
  const auto period = find_update_period(p);
  const auto updates = refreshes(p, period);
  const auto errors =
      steady_errors(updates, s.meter, s.switches, fit_response(updates, period, s.meter));
  ASSERT_EQ(errors.size(), 4u);
  for (const auto& error : errors) EXPECT_NEAR(error.relative(), -0.05, 0.005) << error.what;
}

}  // namespace
}  // namespace ww::measure
