// Sensors whose refresh the polls do not resolve, and what can be said of them all the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <random>

#include "ww/measure/recorded_energy.hpp"
#include "ww/measure/sensor_response.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

// A register that the firmware brings up to date each millisecond.
struct Register {
  double lag_s{};    // 0: it shows the millisecond's power
  double noise_w{};  // of the power itself
  double resolution_w{1};
  std::function<double(double)> load;
};

struct Recorded {
  std::vector<PowerPoint> polls;
  EnergyColumn counter{"meter", {}};
  [[nodiscard]] double joules() const {
    return counter.polls.back().energy_j - counter.polls.front().energy_j;
  }
};

Recorded record(const Register& sensor, double seconds, const std::function<double()>& poll_s) {
  Recorded out;
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 1);
  double shown = sensor.load(0), joules = 1000, next = 0;
  for (int ms = 0; ms * 1e-3 < seconds; ++ms) {
    const double now = ms * 1e-3;
    const double power = sensor.load(now) + sensor.noise_w * noise(random);
    joules += power * 1e-3;
    shown = sensor.lag_s > 0 ? shown + (power - shown) * 1e-3 / sensor.lag_s : power;
    if (now + 1e-9 < next) continue;
    out.polls.push_back({now, std::round(shown / sensor.resolution_w) * sensor.resolution_w});
    out.counter.polls.push_back({now, joules});
    next += poll_s();
  }
  return out;
}

// Heights that change every 0.3 to 0.9 s, and end under load.
double kernels(double t) {
  static const std::vector<double> heights{150, 420, 180, 300, 500, 160, 380, 210, 480, 170, 350};
  std::size_t i = 0;
  for (double end = 0.3; i + 1 < heights.size() && t > end;)
    end += 0.3 + 0.1 * static_cast<double>(++i % 7);
  return heights[i];
}

TEST(OpenPeriod, OfARegisterFasterThanThePollsStillShowsItsLag) {
  const auto run = record({.lag_s = 0.1, .load = kernels}, 5.5, [] { return 0.004; });
  const auto period = find_update_period(run.polls);
  EXPECT_FALSE(period.resolved);
  ASSERT_TRUE(period.within_poll) << period.reason;
  EXPECT_THAT(period.reason, HasSubstr("at least once a poll (4.0 ms or less)"));
  const auto readings = refreshes(run.polls, period);
  EXPECT_EQ(readings.size(), run.polls.size());
  const auto response = fit_response(readings, period, mean_power(run.counter));
  ASSERT_EQ(response.kind, ResponseKind::lag) << response.reason;
  EXPECT_NEAR(response.time_s, 0.1, 0.005);
  EXPECT_NEAR(response.delay_s, 0, 0.0025);
  ASSERT_TRUE(response.gain) << response.gain_reason;
  EXPECT_NEAR(*response.gain, 1, 0.005);
  // The register alone has the joules of the run, although it ends far below the load.
  const auto energy = register_energy(run.polls, period, response, {});
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, run.joules(), 0.003 * run.joules());
  EXPECT_LE(energy.low_j, run.joules());
  EXPECT_GE(energy.high_j, run.joules());
  EXPECT_LT(energy.high_j - energy.low_j, 0.02 * run.joules());
  // Without a response it may be as late as the slowest register known.
  const auto unknown = register_energy(run.polls, period, {}, {});
  EXPECT_LE(unknown.low_j, run.joules());
  EXPECT_GE(unknown.high_j, run.joules());
  EXPECT_NEAR(counter_energy(run.counter).energy_j, run.joules(), 0.001 * run.joules());
}

// Polls of 2 or 3 ms that see whole watts of a board whose power itself moves.
Recorded board(const std::function<double(double)>& load) {
  auto random = std::make_shared<std::mt19937>(3);
  return record({.noise_w = 0.7, .load = load}, 12,
                [random] { return (*random)() % 100 < 57 ? 0.002 : 0.003; });
}
double loads(double t) {
  return std::fmod(t, 3.0) < 1.5 ? 17 : 150;
}

TEST(OpenPeriod, IsNotTakenFromTheRhythmOfThePolls) {
  const auto run = board(loads);
  const auto period = find_update_period(run.polls);
  EXPECT_FALSE(period.resolved) << period.period_s;
  EXPECT_TRUE(period.within_poll) << period.reason;
}

// Where such a load crosses the readings' steps, changes come at a few places of its own period.
TEST(OpenPeriod, IsNoHarmonicOfALoadThatRepeats) {
  struct Sine {
    double height_w, period_s, poll_s;
  };
  for (const Sine& sine :
       {Sine{2.1, 0.2132, 0.004}, Sine{2.6, 0.1492, 0.004}, Sine{4.2, 0.1603, 0.01},
        Sine{4.0, 0.2354, 0.01}, Sine{3.7, 0.2669, 0.004}, Sine{2.4, 0.2791, 0.01}}) {
    for (const bool even : {true, false}) {
      auto random = std::make_shared<std::mt19937>(5);
      const auto run = record(
          {.lag_s = 0.1,
           .load =
               [&](double t) {
                 return 200 + sine.height_w * std::sin(2 * std::numbers::pi * t / sine.period_s);
               }},
          20,
          [&] { return sine.poll_s + (even ? 0 : 0.001 * static_cast<double>((*random)() % 2)); });
      const auto period = find_update_period(run.polls);
      EXPECT_FALSE(period.resolved) << sine.period_s << " s: " << period.period_s;
    }
  }
}

// Each read has noise of its own, and power is renewed once a second.
TEST(OpenPeriod, IsThatOfTheStepsWhereEveryPollHasNoiseOfItsOwn) {
  for (const double period_s : {0.1, 1.0}) {
    for (const double resolution_w : {0.001, 1.0}) {
      std::mt19937 random(9);
      std::normal_distribution<double> noise(0, 1);
      Recorded run;
      std::uniform_real_distribution<double> length(0.5, 2.5), height(60, 300);
      double joules = 0, next = 0, refresh = 0, shown = 0, power = 60, until = 0;
      for (int ms = 0; ms < 100'000; ++ms) {
        const double now = ms * 1e-3;
        if (now >= until) {
          power = height(random);
          until = now + length(random);
        }
        joules += power * 1e-3;
        if (now >= refresh) {
          shown = power;
          refresh += period_s;
        }
        if (now + 1e-9 < next) continue;
        next += period_s / 10;
        run.polls.push_back(
            {now, std::round((shown + noise(random)) / resolution_w) * resolution_w});
        run.counter.polls.push_back({now, joules});
      }
      const auto period = find_update_period(run.polls);
      ASSERT_TRUE(period.resolved) << period_s << ": " << period.reason;
      EXPECT_NEAR(period.period_s, period_s, 0.01 * period_s);
      const auto energy = register_energy(run.polls, period, {}, {});
      EXPECT_LE(energy.low_j, run.joules());
      EXPECT_GE(energy.high_j, run.joules());
    }
  }
  // The steps of a load that repeats keep to its own clock.
  const auto repeats =
      record({.noise_w = 2, .load = [](double t) { return std::fmod(t, 1) < 0.5 ? 60 : 240; }}, 40,
             [] { return 0.01; });
  EXPECT_FALSE(find_update_period(repeats.polls).resolved);
}

TEST(OpenPeriod, AClockThatWasSetForwardIsInTheIntervalOfTheJoules) {
  for (const double set_s : {0.3, 5.0, 3600.0}) {
    auto run = board(loads);
    for (std::size_t i = run.polls.size() / 2; i < run.polls.size(); ++i) {
      run.polls[i].time_s += set_s;
    }
    const auto energy = register_energy(run.polls, find_update_period(run.polls), {}, {});
    EXPECT_LE(energy.low_j, run.joules()) << set_s;
    EXPECT_GE(energy.high_j, run.joules()) << set_s;
    EXPECT_THAT(energy.reason, HasSubstr("or the clock was set"));
  }
}

TEST(OpenPeriod, StepsBetweenTwoPollsBoundTheResponseWithoutSwitchTimes) {
  const auto run = board(loads);
  const auto period = find_update_period(run.polls);
  const auto readings = refreshes(run.polls, period);
  // Switches that the load follows a quarter of a second late.
  std::vector<double> early;
  for (double t = 1.25; t < 12; t += 1.5) early.push_back(t);
  for (const auto& switches : {early, std::vector<double>{}}) {
    const auto response = fit_response_to_load(readings, period, switches);
    ASSERT_EQ(response.kind, ResponseKind::window) << response.reason;
    EXPECT_TRUE(response.at_most);
    EXPECT_NEAR(response.time_s, 0.005, 0.0005);
    EXPECT_THAT(response.note, HasSubstr("7 steps passed between two polls"));
  }
  // A lag of three polls is no such step.
  const auto slow = record({.lag_s = 0.008, .load = loads}, 12, [] { return 0.0025; });
  const auto open = find_update_period(slow.polls);
  EXPECT_FALSE(fit_response_to_load(refreshes(slow.polls, open), open, {}).at_most);
}

TEST(OpenPeriod, NamesSpikesOfOnePollAndKeepsThemOutOfTheJoules) {
  auto run = board(loads);
  const auto clean = find_update_period(run.polls);
  const double joules = register_energy(run.polls, clean, {}, {}).energy_j;
  EXPECT_TRUE(find_spikes(run.polls, clean).at.empty());
  for (const std::size_t i : {60U, 300U, 1400U}) run.polls[i].power_w += 23;
  const auto period = find_update_period(run.polls);
  const auto spikes = find_spikes(run.polls, period);
  EXPECT_EQ(spikes.at, (std::vector<std::size_t>{60, 300, 1400}));
  EXPECT_NEAR(spikes.largest_w, 23, 3);
  EXPECT_NEAR(register_energy(run.polls, period, {}, spikes).energy_j, joules, 0.05);
}

TEST(OpenPeriod, OfASensorWithTwoRatesIsSaid) {
  std::mt19937 random(5);
  std::vector<PowerPoint> polls;
  double shown = 0, refresh = 0;
  for (int i = 0; i < 700; ++i) {
    const double now = i * 0.06;
    while (refresh <= now) {
      // Three seconds of fast refreshes, then six of slow ones.
      refresh += std::fmod(refresh, 9) < 3 ? 0.1 : 1.0;
      shown = 30 + static_cast<double>(random() % 9000) * 0.01;
    }
    polls.push_back({now, shown});
  }
  const auto period = find_update_period(polls);
  EXPECT_FALSE(period.resolved);
  EXPECT_FALSE(period.within_poll);
  EXPECT_NEAR(period.held_s, 1.0, 0.07);
  EXPECT_NEAR(period.refresh_s(), period.held_s, 1e-12);
  EXPECT_THAT(period.reason, HasSubstr("two rates"));
  EXPECT_TRUE(refreshes(polls, period).empty());
  // Plateaus of a lagging register in whole watts are of one length as well.
  const auto steps =
      record({.lag_s = 0.02, .load = [](double t) { return std::fmod(t, 0.8) < 0.4 ? 60 : 130; }},
             12, [] { return 0.004; });
  EXPECT_EQ(find_update_period(steps.polls).held_s, 0);
}

}  // namespace
}  // namespace ww::measure
