#include "ww/session/device_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ww/core/energy_tick.hpp"

namespace ww::session {
namespace {

using ::testing::HasSubstr;

// A package whose driver is read each 50 ms. Its firmware's clock began earlier than the machine's.
class Package final : public measure::Sensor {
 public:
  bool has_accumulator{true};
  // Lets seconds pass at a power [W].
  void pass(double seconds, double watts) {
    constexpr double kPollS = 0.05;
    const double until_s = now_s_ + seconds;
    while (now_s_ + kPollS <= until_s + 1e-9) {
      now_s_ += kPollS;
      joules_ += kPollS * watts;
      SensorReading reading;
      reading.time_ns = reading.poll_ns = now_ns();
      reading.power_uw = std::llround(watts * 1e6);
      if (has_accumulator) reading.energy_ticks = std::llround(joules_ / kJoulesPerTick);
      readings_.push_back(reading);
      const auto rail = [&](const char* name, double share) {
        rails_.push_back({now_ns(), now_ns() + 7'000'000'000, name, "2^-16 J",
                          std::llround(share * joules_ / kJoulesPerTick)});
      };
      rail("aid_energy", 0.25);
      rail("xcd_energy", 0.5);
      rails_.push_back({now_ns(), now_ns() + 7'000'000'000, "xgmi_read_0", "kB", 12});
    }
  }

  const measure::SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override { return std::llround(now_s_ * 1e9); }
  void sleep_until(std::int64_t) override {}
  Result<std::vector<SensorReading>> new_readings() override {
    return std::exchange(readings_, {});
  }
  std::vector<RailReading> new_rails() override { return std::exchange(rails_, {}); }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return {}; }

 private:
  measure::SensorFacts facts_;
  double now_s_{100}, joules_{3'000};
  std::vector<SensorReading> readings_;
  std::vector<RailReading> rails_;
};

TEST(JoulesTogether, AddTheEndsOfIntervals) {
  const auto sum = joules_together({{"gpu:0", {RowStatus::ok, "", Interval{10, 9, 12}}},
                                    {"gpu:1", {RowStatus::ok, "", Interval{5, 4, 6}}}});
  EXPECT_EQ(sum.status, RowStatus::ok);
  ASSERT_TRUE(sum.energy);
  EXPECT_EQ(sum.energy->value, 15);
  EXPECT_EQ(sum.energy->low, 13);
  EXPECT_EQ(sum.energy->high, 18);
  EXPECT_FALSE(joules_together({}).energy);
}

TEST(JoulesTogether, LackAFigureWhereADeviceDoes) {
  const auto sum = joules_together({{"gpu:0", {RowStatus::ok, "", Interval{10, 9, 12}}},
                                    {"gpu:1", {RowStatus::unavailable, "no sensor", {}}}});
  EXPECT_FALSE(sum.energy);
  EXPECT_EQ(sum.status, RowStatus::unavailable);
  EXPECT_EQ(sum.reason, "gpu:1: no sensor");
}

TEST(ReadingBetween, IntegratesPowerBetweenTwoMoments) {
  energy::EnergySeries series{{}, true};
  for (int ms = 0; ms <= 2000; ms += 10) {
    series.readings.push_back(
        {ms * 1'000'000LL, energy::kAbsent, ms < 1000 ? 50'000'000 : 80'000'000});
  }
  const auto reading = reading_between(series, 1'200'000'000, 1'700'000'000);
  EXPECT_EQ(reading.seconds, 0.5);
  ASSERT_TRUE(reading.device.energy) << reading.device.reason;
  EXPECT_NEAR(reading.device.energy->value, 40, 0.1);
  ASSERT_TRUE(reading.power_w);
  EXPECT_NEAR(*reading.power_w, 80, 0.2);
  EXPECT_FALSE(reading.by_accumulator);
}

TEST(DeviceMeter, HasTheAccumulatorsJoulesOfTheDeviceAndOfEachRail) {
  Package package;
  package.pass(5, 90);  // before the start
  DeviceMeter meter(package);
  package.pass(20, 300);
  ASSERT_TRUE(meter.take());
  package.pass(10, 120);
  ASSERT_TRUE(meter.take());
  const MeterReading reading = meter.until(package.now_ns());
  constexpr double kJoules = 20 * 300 + 10 * 120;
  EXPECT_DOUBLE_EQ(reading.seconds, 30);
  EXPECT_TRUE(reading.by_accumulator);
  ASSERT_TRUE(reading.device.energy) << reading.device.reason;
  EXPECT_NEAR(reading.device.energy->value, kJoules, 1e-3 * kJoules);
  EXPECT_LE(reading.device.energy->low, kJoules);
  EXPECT_GE(reading.device.energy->high, kJoules);
  ASSERT_EQ(reading.rails.size(), 2U);  // links are no joules
  EXPECT_EQ(reading.rails[0].rail, "aid");
  EXPECT_THAT(reading.rails[0].says, HasSubstr("at most"));
  ASSERT_TRUE(reading.rails[0].joules.energy) << reading.rails[0].joules.reason;
  EXPECT_NEAR(reading.rails[0].joules.energy->value, kJoules / 4, 1e-3 * kJoules / 4);
  EXPECT_NEAR(reading.rails[1].joules.energy->value, kJoules / 2, 1e-3 * kJoules / 2);
}

TEST(DeviceMeter, IntegratesPowerWhereThereIsNoAccumulatorAndSaysSo) {
  Package card;
  card.has_accumulator = false;
  DeviceMeter meter(card);
  card.pass(20, 200);
  ASSERT_TRUE(meter.take());
  const MeterReading reading = meter.so_far();
  EXPECT_FALSE(reading.by_accumulator);
  ASSERT_TRUE(reading.device.energy) << reading.device.reason;
  EXPECT_NEAR(reading.device.energy->value, 4'000, 1e-3 * 4'000);
  EXPECT_THAT(reading.device.reason, HasSubstr("no energy accumulator"));
}

TEST(DeviceMeter, HasNoFigureOfAStretchThatIsTooShort) {
  Package package;
  DeviceMeter meter(package);
  package.pass(0.05, 300);
  ASSERT_TRUE(meter.take());
  const MeterReading reading = meter.so_far();
  EXPECT_FALSE(reading.device.energy);
  EXPECT_NE(reading.device.reason, "");
}

}  // namespace
}  // namespace ww::session
