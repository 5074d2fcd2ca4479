#include <gtest/gtest.h>

#include "ww/energy/energy.hpp"

namespace ww::energy {
namespace {

TEST(TicksBetween, IsTheDifferenceOfTwoReadings) {
  EXPECT_EQ(ticks_between(100, 165), 65);
  EXPECT_EQ(ticks_between(100, 100), 0);
}

TEST(TicksBetween, CountsOnWhere32BitsWrap) {
  EXPECT_EQ(ticks_between(0xFFFFFFF0, 0x10), 0x20);
}

TEST(TicksBetween, IsAbsentForAnAccumulatorThatRanBackward) {
  EXPECT_FALSE(ticks_between(100, 99));
  // Half of the range or less is no wrap: the driver was loaded again.
  EXPECT_FALSE(ticks_between(0x7FFFFFFF, 0));
  // A counter of 64 bits does not wrap at 32.
  EXPECT_FALSE(ticks_between(0x1'0000'0000, 0));
  EXPECT_FALSE(ticks_between(0xFFFFFFF0, -1));
}

TEST(EnergySeries, KeepsAbsentWhatASampleLacksAndLeavesOutSilentPolls) {
  SensorReading counted, shown, silent;
  counted.time_ns = counted.poll_ns = 5;
  counted.energy_ticks = 7;
  shown.time_ns = shown.poll_ns = 6;
  silent.time_ns = silent.poll_ns = 5;
  shown.power_uw = 0;
  const auto series = energy_series(std::vector{counted, silent, shown});
  ASSERT_EQ(series.readings.size(), 2U);
  EXPECT_EQ(series.readings[0].ticks, 7);
  EXPECT_EQ(series.readings[0].power_uw, kAbsent);
  EXPECT_EQ(series.readings[1].ticks, kAbsent);
  EXPECT_EQ(series.readings[1].power_uw, 0);
  EXPECT_FALSE(series.stamped);
}

TEST(EnergySeries, IsStampedIfTimesAreNotThoseOfPolls) {
  SensorReading sample;
  sample.time_ns = 5;
  sample.poll_ns = 8;
  sample.power_uw = 1;
  EXPECT_TRUE(energy_series(std::vector{sample}).stamped);
}

}  // namespace
}  // namespace ww::energy
