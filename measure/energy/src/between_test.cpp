#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/polled_accumulator.hpp"

namespace ww::energy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::PolledAccumulator;

constexpr std::int64_t kMs = 1'000'000;

// A steady 100 W for 1 s, refreshed and stamped each 10 ms.
EnergySeries steady(bool accumulator) {
  EnergySeries series;
  series.stamped = true;
  for (int i = 0; i <= 100; ++i) {
    series.readings.push_back(
        {i * 10 * kMs, accumulator ? i * kTicksPerJoule : kAbsent, 100'000'000});
  }
  return series;
}

TEST(EnergyBetween, IsPowerTimesTimeByEitherColumn) {
  for (const bool accumulator : {true, false}) {
    const auto energy = energy_between(steady(accumulator), 105 * kMs, 905 * kMs);
    ASSERT_TRUE(energy.ok()) << energy.reason;
    EXPECT_EQ(energy.source,
              accumulator ? EnergySource::accumulator : EnergySource::power_register);
    EXPECT_NEAR(energy.power_w, 100, 1e-9);
    EXPECT_NEAR(energy.energy_j, 80, 1e-9);
    // No reading covers 5 ms at either end.
    EXPECT_NEAR(energy.high_j - energy.low_j, 2 * 0.01 * 100, 1e-9);
    EXPECT_EQ(energy.reason.empty(), accumulator) << energy.reason;
  }
}

// A load of 400 W for 2 s between two rests of 60 W, and a counter that is refreshed each 100 ms
// and polled 1 ms before and behind that. The mean of all is not what flows at the ends.
TEST(EnergyBetween, CountsTheEndsAtThePowerBesideThemWhereItIsAsked) {
  constexpr std::int64_t kRefresh = 100 * kMs;
  constexpr std::int64_t kOn = 1037 * kMs, kOff = 3037 * kMs;
  const auto joules = [=](std::int64_t ns) {
    const std::int64_t loaded_ns = std::clamp(ns, kOn, kOff) - kOn;
    return (60.0 * static_cast<double>(ns) + 340.0 * static_cast<double>(loaded_ns)) * 1e-9;
  };
  EnergySeries series;
  for (std::int64_t at = kRefresh; at < 4200 * kMs; at += kRefresh) {
    for (const std::int64_t poll : {at - kMs, at + kMs}) {
      const auto counted = joules(poll / kRefresh * kRefresh) * static_cast<double>(kTicksPerJoule);
      series.readings.push_back({poll, std::llround(counted), kAbsent});
    }
  }
  for (const std::int64_t from_ns : {3 * kMs, 52 * kMs, 96 * kMs}) {
    for (const std::int64_t to_ns : {4005 * kMs, 4050 * kMs, 4097 * kMs}) {
      const double should = joules(to_ns) - joules(from_ns);
      const auto held = energy_between(series, from_ns, to_ns, {.hold_ends = true});
      ASSERT_TRUE(held.ok()) << held.reason;
      EXPECT_NEAR(held.energy_j, should, 1e-3 * should) << from_ns << " " << to_ns;
      EXPECT_LE(held.low_j, should);
      EXPECT_GE(held.high_j, should);
    }
  }
}

// A reading that shows a refresh of long before says less of its moment than one behind a poll.
TEST(EnergyBetween, ReadsTheCounterWhereItsMomentIsKnown) {
  EnergySeries series;
  for (int refresh = 1; refresh <= 40; ++refresh) {
    for (const std::int64_t poll : {refresh * 100 * kMs - kMs, refresh * 100 * kMs + kMs}) {
      series.readings.push_back({poll, poll / (100 * kMs) * 10 * kTicksPerJoule, kAbsent});
    }
  }
  series.readings.push_back({4190 * kMs, 410 * kTicksPerJoule, kAbsent});
  const auto held = energy_between(series, 90 * kMs, 4190 * kMs, {.hold_ends = true});
  ASSERT_TRUE(held.ok()) << held.reason;
  EXPECT_NEAR(held.energy_j, 410, 0.4);
}

// On a busy machine polls are late by up to half of their distance, and no two of them lie close
// together. All of them together still say when the refreshes were.
TEST(EnergyBetween, FindsRefreshesAtEqualDistancesBehindLatePolls) {
  for (const double poll_s : {0.007, 0.013, 0.019, 0.026}) {
    const PolledAccumulator polled(4.2, poll_s, 0.1, poll_s / 2, [](double) { return 350.0; });
    const auto held = energy_between(polled.series, 60 * kMs, 4060 * kMs, {.hold_ends = true});
    ASSERT_TRUE(held.ok()) << held.reason;
    EXPECT_NEAR(held.energy_j, 1400, 1.4) << poll_s;
  }
}

// Refreshes that come at no equal distances are read as they were before.
TEST(EnergyBetween, TrustsNoPeriodThatTheMovesContradict) {
  EnergySeries series;
  std::int64_t refresh_ns = 0, ticks = 0;
  std::uint32_t random = 5;
  for (std::int64_t poll = 7 * kMs; poll < 4200 * kMs; poll += 9 * kMs) {
    while (refresh_ns + 60 * kMs < poll) {
      random = random * 1664525u + 1013904223u;
      const std::int64_t step_ns = 60 * kMs + static_cast<std::int64_t>(random >> 8) % (90 * kMs);
      refresh_ns += step_ns;
      ticks = refresh_ns / kMs * kTicksPerJoule / 10;
    }
    series.readings.push_back({poll, ticks, kAbsent});
  }
  const auto held = energy_between(series, 100 * kMs, 4100 * kMs, {.hold_ends = true});
  ASSERT_TRUE(held.ok()) << held.reason;
  EXPECT_LE(held.low_j, 400);
  EXPECT_GE(held.high_j, 400);
}

TEST(EnergyBetween, FollowsARegisterThatRises) {
  auto series = steady(false);
  for (int i = 0; i <= 100; ++i) {
    series.readings[static_cast<std::size_t>(i)].power_uw = (50 + i) * 1'000'000;
  }
  const auto energy = energy_between(series, 0, 1000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, 100, 1e-9);
}

TEST(EnergyBetween, LeavesWhatNoReadingCoversOpenAtTheHighestPower) {
  auto series = steady(true);
  std::int64_t extra = 0;
  for (int i = 0; i <= 100; ++i) {
    if (i > 50 && i <= 60) extra += 2 * kTicksPerJoule;  // 300 W for 100 ms
    series.readings[static_cast<std::size_t>(i)].ticks += extra;
  }
  const auto energy = energy_between(series, 105 * kMs, 905 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, (79 + 20) / 0.79 * 0.8, 1e-9);
  EXPECT_NEAR(energy.high_j - energy.energy_j, 0.01 * 300, 1e-9);
}

TEST(EnergyBetween, HasAWiderIntervalForAnUncertainGain) {
  const auto energy = energy_between(steady(true), 0, 1000 * kMs, {.gain_tolerance_95 = 0.05});
  EXPECT_NEAR(energy.energy_j, 100, 1e-9);
  EXPECT_NEAR(energy.high_j, 100 / 0.95, 1e-9);
  EXPECT_NEAR(energy.low_j, 100 / 1.05, 1e-9);
}

TEST(EnergyBetween, IsUnavailableForAWindowOfFewReadings) {
  const auto energy = energy_between(steady(true), 0, 15 * kMs);
  EXPECT_EQ(energy.status, RowStatus::unavailable);
  EXPECT_THAT(energy.reason, HasSubstr("three are needed"));
}

TEST(EnergyBetween, RejectsAnAccumulatorThatRanBackward) {
  auto series = steady(true);
  for (std::size_t i = 50; i <= 100; ++i) series.readings[i].ticks -= 50 * kTicksPerJoule;
  const auto energy = energy_between(series, 0, 1000 * kMs);
  EXPECT_EQ(energy.status, RowStatus::rejected);
  EXPECT_THAT(energy.reason, HasSubstr("ran backward"));
}

// 220 W for 8 s, polled each millisecond.
EnergySeries polled_for_8_s() {
  EnergySeries series;
  for (int i = 0; i <= 8000; ++i) {
    series.readings.push_back(
        {i * kMs, 1'000'000'000'000 + i * 220 * kTicksPerJoule / 1000, kAbsent});
  }
  return series;
}

TEST(EnergyBetween, LeavesOutAStrayReadingOfTheAccumulator) {
  struct Stray {
    std::size_t first, count;
    std::int64_t ticks;
  };
  // Strays of one poll and of 20 ms, below and above, within, at the beginning and at the end.
  for (const Stray stray :
       {Stray{2000, 1, -1'000'000'000}, Stray{2000, 20, -1'000'000'000},
        Stray{3000, 1, 1'000'000'000}, Stray{3000, 3, 4'000'000}, Stray{0, 5, -1'000'000'000},
        Stray{0, 5, 1'000'000'000}, Stray{7998, 3, -1'000'000'000}}) {
    auto series = polled_for_8_s();
    for (std::size_t i = 0; i < stray.count; ++i) {
      series.readings[stray.first + i].ticks += stray.ticks;
    }
    const auto energy = energy_between(series, 0, 8000 * kMs);
    ASSERT_TRUE(energy.ok()) << energy.reason;
    EXPECT_NEAR(energy.energy_j, 8 * 220, 0.5) << stray.first << " " << stray.ticks;
    EXPECT_LT(energy.high_j - energy.low_j, 8) << stray.first << " " << stray.ticks;
    EXPECT_EQ(energy.source, EnergySource::accumulator);
    EXPECT_THAT(energy.reason, HasSubstr(std::to_string(stray.count) + " readings of the energy"));
    EXPECT_EQ(energy_steps(series).status, RowStatus::ok);
  }
}

// A counter of 32 bits that reads 0 once seems to wrap, and then to rise by 65 kJ.
TEST(EnergyBetween, TakesAStrayZeroForNoWrap) {
  auto series = polled_for_8_s();
  for (auto& reading : series.readings) reading.ticks += 3'500'000'000 - 1'000'000'000'000;
  series.readings[4000].ticks = 0;
  const auto energy = energy_between(series, 0, 8000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, 8 * 220, 0.5);
}

TEST(EnergyBetween, RejectsAnAccumulatorThatBeganAnewOrStraysOften) {
  auto reset = polled_for_8_s();
  for (std::size_t i = 4000; i < reset.readings.size(); ++i) {
    reset.readings[i].ticks -= reset.readings[3999].ticks;
  }
  EXPECT_EQ(energy_between(reset, 0, 8000 * kMs).status, RowStatus::rejected);
  auto often = polled_for_8_s();
  for (std::size_t i = 0; i < often.readings.size(); i += 10) {
    often.readings[i].ticks -= 1'000'000'000;
  }
  const auto energy = energy_between(often, 0, 8000 * kMs);
  EXPECT_EQ(energy.status, RowStatus::rejected);
  EXPECT_THAT(energy.reason, HasSubstr("ran backward"));
}

TEST(EnergyBetween, RejectsASensorThatStoodStill) {
  auto series = steady(true);
  for (auto& reading : series.readings) reading.ticks = 7;
  const auto energy = energy_between(series, 0, 1000 * kMs);
  EXPECT_EQ(energy.status, RowStatus::rejected);
  EXPECT_THAT(energy.reason, HasSubstr("stood still"));
}

TEST(EnergyBetween, TakesTheRegisterBesideAFrozenAccumulator) {
  auto series = steady(true);
  for (auto& reading : series.readings) reading.ticks = 7;
  for (std::size_t i = 0; i < series.readings.size(); i += 2) {
    series.readings[i].power_uw += 4'000'000;
  }
  const auto energy = energy_between(series, 0, 1000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.power_w, 102, 0.1);
  EXPECT_EQ(energy.source, EnergySource::power_register);
  EXPECT_THAT(energy.reason, HasSubstr("integrated from power readings; the energy accumulator"));
}

TEST(EnergyBetween, RejectsARegisterThatShowsNothing) {
  auto series = steady(false);
  for (auto& reading : series.readings) reading.power_uw = 0;
  EXPECT_EQ(energy_between(series, 0, 1000 * kMs).status, RowStatus::rejected);
}

// In the mean of all, one among a hundred would add its share, and nothing to the interval.
TEST(EnergyBetween, LeavesOutOneReadingThatNoDeviceDrawsAndRejectsMore) {
  for (const std::int64_t watts : {65'535, -3}) {
    auto series = steady(false);
    series.readings[50].power_uw = watts * 1'000'000;
    const auto one = energy_between(series, 0, 1000 * kMs);
    ASSERT_TRUE(one.ok()) << one.reason;
    EXPECT_NEAR(one.energy_j, 100, 1e-9) << watts;
    EXPECT_THAT(one.reason, HasSubstr("1 power readings like " + std::to_string(watts) + " W"));
    series.readings[70].power_uw = watts * 1'000'000;
    const auto energy = energy_between(series, 0, 1000 * kMs);
    EXPECT_EQ(energy.status, RowStatus::rejected) << watts;
    EXPECT_THAT(energy.reason, HasSubstr(std::to_string(watts) + " W")) << watts;
    // An accumulator beside it does not depend on it.
    series = steady(true);
    series.readings[50].power_uw = watts * 1'000'000;
    EXPECT_TRUE(energy_between(series, 0, 1000 * kMs).ok());
  }
  auto jumped = steady(true);
  for (std::size_t i = 60; i < jumped.readings.size(); ++i) {
    jumped.readings[i].ticks += 500 * kTicksPerJoule;  // 50 kW
  }
  const auto energy = energy_between(jumped, 0, 1000 * kMs);
  EXPECT_EQ(energy.status, RowStatus::rejected);
  EXPECT_THAT(energy.reason, HasSubstr("no device draws"));
}

TEST(CounterOverRegister, ComparesTheColumnsWithoutReadingsThatNoDeviceDraws) {
  auto series = steady(true);
  series.readings[50].power_uw = 65'535'000'000;
  EXPECT_NEAR(counter_over_register(series, 0, 1000 * kMs).value(), 1, 1e-9);
  for (auto& reading : series.readings) reading.ticks *= 2;
  EXPECT_NEAR(counter_over_register(series, 0, 1000 * kMs).value(), 2, 1e-9);
  EXPECT_FALSE(counter_over_register(steady(false), 0, 1000 * kMs));
}

TEST(EnergyBetween, SaysWhereTheColumnsDifferByMoreThanALagExplains) {
  EnergySeries series;
  for (int i = 0; i <= 12'000; ++i) {
    series.readings.push_back({i * kMs, 2 * i * kTicksPerJoule / 10, 100'000'000});
  }
  const auto energy = energy_between(series, 0, 12'000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.power_w, 200, 0.1);
  EXPECT_THAT(energy.reason, HasSubstr("2.00 times the energy of the power readings"));
  EXPECT_THAT(energy_between(series, 0, 5'000 * kMs, {.counter_unit = "mJ"}).reason,
              HasSubstr("2.00 times the energy of the power readings: one of them does not measure "
                        "all of the device, or the counter does not count in mJ"));
  // A register that lags may differ over a shorter time.
  EXPECT_EQ(energy_between(series, 0, 4'000 * kMs).reason, "");
  EXPECT_THAT(energy_between(series, 0, 2'000 * kMs, {.register_lag_s = 0.5}).reason,
              HasSubstr("2.00 times"));
}

// The counter saw 200 W for a second, then 20 W; a mean over the last second follows.
TEST(EnergyBetween, HasNoDoubtWhereTheRegisterLags) {
  EnergySeries series;
  std::int64_t ticks = 0;
  for (int i = 0; i <= 6'000; ++i) {
    ticks += (i < 3'000 ? 200 : 20) * kTicksPerJoule / 1000;
    const std::int64_t shown_mw = 200'000 - 180 * std::clamp(i - 3'000, 0, 1'000);
    series.readings.push_back({i * kMs, ticks, shown_mw * 1000});
  }
  EXPECT_EQ(energy_between(series, 2'900 * kMs, 4'500 * kMs, {.register_lag_s = 1.0}).reason, "");
  EXPECT_EQ(energy_between(series, 500 * kMs, 5'500 * kMs).reason, "");
}

TEST(EnergyBetween, SaysWhereARegisterShowsOneValueThroughout) {
  auto series = steady(false);
  EXPECT_THAT(energy_between(series, 0, 1000 * kMs).reason, HasSubstr("all 101 show 100 W"));
  series.readings[30].power_uw += 1'000'000;
  EXPECT_THAT(energy_between(series, 0, 1000 * kMs).reason, Not(HasSubstr("stuck")));
}

TEST(EnergyBetween, MeasuresFromMoveToMoveWherePollsRepeat) {
  const PolledAccumulator polled(4.0, 0.001, 0.1, 50e-6,
                                 [](double t) { return t < 1.0 ? 60.0 : 130.0; });
  const auto energy = energy_between(polled.series, 1'150 * kMs, 3'850 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.power_w, 130, 0.1);
  EXPECT_NEAR(energy.energy_j, 130 * 2.7, 0.3);
  // Moves at 1.2 s and 3.8 s leave 0.1 s open; stamps are late by up to a poll of 1 ms.
  EXPECT_NEAR(energy.high_j - energy.energy_j, 130 * 0.101, 0.05);
}

// A program that begins and ends at rest: what lies between its start and the first poll that is
// due would count at the mean power.
TEST(EnergyBetween, BeginsAtTheFirstPollWhereEachPollFindsAMove) {
  EnergySeries series;
  std::int64_t ticks = 0;
  for (int i = 0; i <= 100; ++i) {
    series.readings.push_back({i * 50 * kMs, ticks, kAbsent});
    const double watts = i < 20 || i >= 80 ? 20 : 300;
    ticks += std::llround(watts * 0.05 * static_cast<double>(kTicksPerJoule));
  }
  // A poll at the end finds the value of the one just before.
  series.readings.push_back({5'000 * kMs + 1, series.readings.back().ticks, kAbsent});
  constexpr double kJoules = 40 * 0.05 * 20 + 60 * 0.05 * 300;
  const auto energy = energy_between(series, 0, 5'000 * kMs + 1);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, kJoules, 1e-6 * kJoules);
  // Where polls repeat, the first value may be as old as a refresh.
  series.readings.insert(series.readings.begin() + 1,
                         {40 * kMs, series.readings.front().ticks, kAbsent});
  const auto later = energy_between(series, 0, 5'000 * kMs + 1);
  ASSERT_TRUE(later.ok()) << later.reason;
  EXPECT_GT(later.energy_j, 1.001 * kJoules);
  EXPECT_LT(later.low_j, kJoules);
}

TEST(EnergyBetween, FallsBackToTheRegisterIfTheAccumulatorMovedTooSeldom) {
  PolledAccumulator polled(1.0, 0.001, 0.1, 50e-6, [](double) { return 90.0; });
  for (auto& reading : polled.series.readings) reading.power_uw = 91'000'000;
  const auto slow = energy_between(polled.series, 420 * kMs, 650 * kMs);  // two moves
  ASSERT_TRUE(slow.ok()) << slow.reason;
  EXPECT_EQ(slow.source, EnergySource::power_register);
  EXPECT_NEAR(slow.power_w, 91, 1e-9);
  EXPECT_THAT(slow.reason, HasSubstr("moved 2 times"));
  const auto counted =
      energy_between(polled.series, 420 * kMs, 650 * kMs, {.only = EnergySource::accumulator});
  EXPECT_EQ(counted.status, RowStatus::unavailable);
}

TEST(EnergyBetween, DoesNotTrustMovesThatLieWithinAFewPolls) {
  PolledAccumulator polled(1.0, 0.001, 0.001, 50e-6, [](double) { return 90.0; });
  EXPECT_EQ(energy_between(polled.series, 500 * kMs, 504 * kMs).status, RowStatus::unavailable);
  EXPECT_TRUE(energy_between(polled.series, 500 * kMs, 508 * kMs).ok());
}

TEST(EnergyBetween, TakesEitherColumnAloneIfAsked) {
  auto series = steady(true);
  for (auto& reading : series.readings) reading.power_uw = 110'000'000;
  const auto shown = energy_between(series, 0, 1000 * kMs, {.only = EnergySource::power_register});
  EXPECT_NEAR(shown.power_w, 110, 1e-9);
  EXPECT_EQ(shown.source, EnergySource::power_register);
  EXPECT_NEAR(energy_between(series, 0, 1000 * kMs, {.only = EnergySource::accumulator}).power_w,
              100, 1e-9);
}

// A register with a lag of 50 ms under a load of 50 W that starts at 0.
TEST(EnergyBetween, LeavesOutWhatALaggingRegisterStillShowsOfTheTimeBefore) {
  EnergySeries series;
  for (int i = -20; i <= 200; ++i) {
    const double t = i * 0.005;
    const double shown = t < 0 ? 20.0 : 70.0 - 50.0 * std::exp(-t / 0.050);
    series.readings.push_back({i * 5 * kMs, kAbsent, std::llround(shown * 1e6)});
  }
  const auto late = energy_between(series, 0, 1000 * kMs);
  EXPECT_LT(late.power_w, 68);
  const auto energy = energy_between(series, 0, 1000 * kMs, {.settle_s = 0.4});
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.power_w, 70, 0.01);
  EXPECT_NEAR(energy.energy_j, 70, 0.01);
  EXPECT_NEAR(energy.high_j - energy.energy_j, 0.4 * 70, 0.1);
}

TEST(EnergyBetween, WidensForAGapInARegistersReadings) {
  auto series = steady(false);
  for (auto& reading : series.readings) reading.time_ns *= 10;  // 10 s, each 100 ms
  series.readings.erase(series.readings.begin() + 40, series.readings.begin() + 59);
  const auto energy = energy_between(series, 0, 10'000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, 1000, 1e-6);
  EXPECT_NEAR(energy.high_j - energy.energy_j, 2 * 100, 1e-6);
  EXPECT_THAT(energy.reason, HasSubstr("2 s without readings"));
}

TEST(EnergyBetween, TakesAPauseOfSomeUsualOnesForNoGap) {
  auto series = steady(false);
  for (auto& reading : series.readings) reading.time_ns *= 10;  // 10 s, each 100 ms
  series.readings.erase(series.readings.begin() + 40, series.readings.begin() + 47);  // 0.8 s
  const auto energy = energy_between(series, 0, 10'000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.high_j - energy.energy_j, 0, 1e-9);
  EXPECT_THAT(energy.reason, Not(HasSubstr("without readings")));
}

TEST(EnergyBetween, CountsThroughAGapIfThereIsAnAccumulator) {
  auto series = steady(true);
  for (auto& reading : series.readings) reading.time_ns *= 10;
  for (std::size_t i = 60; i < series.readings.size(); ++i) {
    series.readings[i].ticks += 500 * kTicksPerJoule;
  }
  series.readings.erase(series.readings.begin() + 40, series.readings.begin() + 59);
  const auto energy = energy_between(series, 0, 10'000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, 600, 1e-6);
}

TEST(EnergyBetween, CountsThroughAWrapOf32Bits) {
  auto series = steady(true);
  for (auto& reading : series.readings) {
    reading.ticks = (reading.ticks + 0xFFFF0000) % (std::int64_t{1} << 32);
  }
  const auto energy = energy_between(series, 0, 1000 * kMs);
  ASSERT_TRUE(energy.ok()) << energy.reason;
  EXPECT_NEAR(energy.energy_j, 100, 1e-9);
}

}  // namespace
}  // namespace ww::energy
