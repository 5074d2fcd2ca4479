#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/polled_accumulator.hpp"

namespace ww::energy {
namespace {

using ::testing::HasSubstr;
using testing::PolledAccumulator;

double stepped(double t) {
  return t < 1.0 ? 60.0 : 130.0;
}

// At 1 kHz the accumulator of an MI210 (refreshed every millisecond, not in step with the polls)
// repeats now and then and then moves twice as far.
TEST(EnergySteps, OfAnAccumulatorThatPollsSeeRepeatedShowBothLevels) {
  for (const double refresh_s : {0.000931, 0.001, 0.00107, 0.0016, 0.0031}) {
    const PolledAccumulator polled(2.0, 0.001, refresh_s, 90e-6, stepped);
    const auto steps = energy_steps(polled.series);
    ASSERT_EQ(steps.status, RowStatus::ok) << refresh_s << steps.reason;
    ASSERT_GT(steps.interval_s, 0) << refresh_s;
    EXPECT_LT(steps.interval_s, 0.0095) << refresh_s;
    const double settle_s = 2 * steps.interval_s;
    EXPECT_NEAR(polled.mean(steps, 0.02, 1.0), 60, 0.3) << refresh_s;
    EXPECT_NEAR(polled.mean(steps, 1.0 + settle_s, 1.98), 130, 0.4) << refresh_s;
  }
}

TEST(EnergySteps, ShowTheNewLoadAloneAfterTwoIntervals) {
  const PolledAccumulator polled(2.0, 0.001, 0.00103, 50e-6, stepped);
  const auto steps = energy_steps(polled.series);
  ASSERT_EQ(steps.status, RowStatus::ok);
  const double settle_s = 2 * steps.interval_s;
  for (std::size_t i = 0; i < polled.series.readings.size(); ++i) {
    const double at = static_cast<double>(polled.series.readings[i].time_ns) * 1e-9;
    if (std::abs(at - 1.0) < settle_s) continue;
    EXPECT_NEAR(steps.power_w[i], stepped(at), 0.25 * stepped(at)) << at;
  }
}

TEST(EnergySteps, ConserveEnergy) {
  const PolledAccumulator polled(2.0, 0.001, 0.00097, 90e-6,
                                 [](double t) { return 100 + 40 * std::sin(37 * t); });
  const auto& readings = polled.series.readings;
  const auto steps = energy_steps(polled.series);
  ASSERT_EQ(steps.status, RowStatus::ok);
  double energy = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    energy += static_cast<double>(steps.power_w[i]) * 1e-9 *
              static_cast<double>(readings[i].time_ns - readings[i - 1].time_ns);
  }
  const double counted =
      static_cast<double>(readings.back().ticks - readings.front().ticks) * kJoulesPerTick;
  EXPECT_NEAR(energy, counted, 0.005 * counted);  // but for the time beyond both ends
}

TEST(EnergySteps, OfASlowAccumulatorSpanItsRefreshes) {
  const PolledAccumulator polled(4.0, 0.001, 0.1, 50e-6, stepped);
  const auto steps = energy_steps(polled.series);
  ASSERT_EQ(steps.status, RowStatus::ok);
  EXPECT_NEAR(steps.interval_s, 0.105, 0.002);
  EXPECT_NEAR(polled.mean(steps, 1.0 + 2 * steps.interval_s, 3.9), 130, 0.2);
}

TEST(EnergySteps, OfStampedReadingsThatAllMovedLieBetweenNeighbours) {
  const EnergySeries series{{{0, 0}, {1'000'000, 6554}, {3'000'000, 13108}}, true};
  const auto steps = energy_steps(series);
  ASSERT_EQ(steps.status, RowStatus::ok);
  EXPECT_EQ(steps.interval_s, 0);
  EXPECT_EQ(steps.moves, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_NEAR(steps.power_w[1], 100.0, 0.01);
  EXPECT_NEAR(steps.power_w[2], 50.0, 0.01);
  EXPECT_EQ(steps.power_w[0], steps.power_w[1]);
}

TEST(EnergySteps, LastAtLeastAsLongAsAsked) {
  PolledAccumulator polled(2.0, 0.001, 0.001, 50e-6, stepped);
  for (const bool stamped : {false, true}) {
    polled.series.stamped = stamped;
    const auto steps = energy_steps(polled.series, 0.020);
    ASSERT_EQ(steps.status, RowStatus::ok);
    EXPECT_NEAR(steps.interval_s, 0.021, 0.001);
    for (std::size_t i = 1; i < steps.moves.size(); ++i) {
      EXPECT_GE(polled.series.readings[steps.moves[i]].time_ns -
                    polled.series.readings[steps.moves[i - 1]].time_ns,
                20'000'000);
    }
  }
}

TEST(EnergySteps, OfAnAccumulatorThatRestsAreRejected) {
  const PolledAccumulator polled(2.0, 0.001, 0.001, 50e-6, stepped);
  auto frozen = polled.series;
  for (std::size_t i = 800; i < 1600; ++i) frozen.readings[i].ticks = frozen.readings[800].ticks;
  EXPECT_EQ(energy_steps(frozen).status, RowStatus::rejected);
  EXPECT_THAT(energy_steps(frozen).reason, HasSubstr("stood still for 0.8 s"));
  auto dead = polled.series;
  for (auto& reading : dead.readings) reading.ticks = 12;
  EXPECT_EQ(energy_steps(dead).status, RowStatus::rejected);
}

TEST(EnergySteps, OfAnAccumulatorThatRanBackwardAreRejected) {
  PolledAccumulator polled(2.0, 0.001, 0.001, 50e-6, stepped);
  auto& readings = polled.series.readings;
  readings[700].ticks -= 100000;
  EXPECT_EQ(energy_steps(polled.series).status, RowStatus::ok);  // a stray
  for (std::size_t i = 701; i < readings.size(); ++i) readings[i].ticks -= 100000;
  const auto steps = energy_steps(polled.series);
  EXPECT_EQ(steps.status, RowStatus::rejected);
  EXPECT_THAT(steps.reason, HasSubstr("ran backward"));
}

TEST(EnergySteps, AreUnavailableWithoutAnAccumulator) {
  PolledAccumulator polled(2.0, 0.001, 0.001, 50e-6, stepped);
  for (auto& reading : polled.series.readings) reading.ticks = kAbsent;
  EXPECT_EQ(energy_steps(polled.series).status, RowStatus::unavailable);
  EXPECT_EQ(energy_steps({{}, true}).status, RowStatus::unavailable);
}

TEST(EnergySteps, AreUnavailableWithFewerThanThreeMoves) {
  const PolledAccumulator polled(0.25, 0.001, 0.1, 50e-6, stepped);  // moves twice
  const auto steps = energy_steps(polled.series);
  EXPECT_EQ(steps.status, RowStatus::unavailable);
  EXPECT_THAT(steps.reason, HasSubstr("moved 2 times"));
}

TEST(EnergySteps, BridgeReadingsWithoutAnAccumulator) {
  PolledAccumulator polled(2.0, 0.001, 0.001, 50e-6, stepped);
  for (std::size_t i = 3; i < polled.series.readings.size(); i += 50) {
    polled.series.readings[i].ticks = kAbsent;
  }
  const auto steps = energy_steps(polled.series);
  ASSERT_EQ(steps.status, RowStatus::ok);
  EXPECT_NEAR(polled.mean(steps, 0.02, 0.99), 60, 0.3);
}

TEST(EnergySteps, CountThroughAGapInWhichNobodyPolled) {
  PolledAccumulator polled(4.0, 0.001, 0.001, 50e-6, stepped);
  auto& readings = polled.series.readings;
  readings.erase(readings.begin() + 1500, readings.begin() + 2700);
  const auto steps = energy_steps(polled.series);
  ASSERT_EQ(steps.status, RowStatus::ok) << steps.reason;
  EXPECT_NEAR(polled.mean(steps, 1.1, 3.9), 130, 0.4);
}

TEST(EnergySteps, CountThroughAWrapOf32Bits) {
  PolledAccumulator polled(2.0, 0.001, 0.001, 50e-6, stepped);
  const std::int64_t middle = polled.series.readings[1500].ticks;
  for (auto& reading : polled.series.readings) {
    reading.ticks = (reading.ticks - middle + (std::int64_t{1} << 32)) % (std::int64_t{1} << 32);
  }
  const auto steps = energy_steps(polled.series);
  ASSERT_EQ(steps.status, RowStatus::ok) << steps.reason;
  for (std::size_t i = 1400; i < 1600; ++i) EXPECT_NEAR(steps.power_w[i], 130, 30);
  EXPECT_NEAR(polled.mean(steps, 1.4, 1.6), 130, 0.7);
}

}  // namespace
}  // namespace ww::energy
