#include "ww/measure/health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

std::vector<SensorReading> healthy() {
  std::vector<SensorReading> readings;
  for (int i = 0; i < 100; ++i) {
    SensorReading reading;
    reading.time_ns = reading.poll_ns = i * 1'000'000;
    reading.power_uw = 60'000'000 + 1000 * (i % 7) + (i > 50 ? 20'000'000 : 0);
    reading.energy_ticks = 4000 * i;
    reading.temperature_mc = 45'000;
    reading.voltage_uv = 1'168'700;
    readings.push_back(reading);
  }
  return readings;
}

void expect_trouble(const std::vector<SensorReading>& readings, const char* word,
                    bool load_changes = false) {
  const auto status = check_health(readings, "hwmon3", {load_changes});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::bad_data);
  EXPECT_THAT(status.error().message, HasSubstr(word));
  EXPECT_THAT(status.error().text(), HasSubstr("hwmon3"));
}

TEST(Health, AcceptsASensorThatWorks) {
  EXPECT_TRUE(check_health(healthy(), "x", {.load_changes = true}));
}

TEST(Health, ToleratesAFewTicksWithoutAnswer) {
  auto readings = healthy();
  for (std::size_t i = 0; i < readings.size(); i += 10) {
    readings[i].power_uw.reset();
    readings[i].energy_ticks.reset();
  }
  EXPECT_TRUE(check_health(readings, "x", {}));
}

TEST(Health, RefusesNoReadings) {
  expect_trouble({}, "no answer");
}

TEST(Health, RefusesReadingsWithoutPower) {
  auto readings = healthy();
  for (auto& r : readings) {
    r.power_uw.reset();
    r.energy_ticks.reset();
  }
  expect_trouble(readings, "no answer");
}

TEST(Health, RefusesASensorThatAnswersSeldom) {
  auto readings = healthy();
  for (std::size_t i = 0; i < readings.size(); i += 2) {
    readings[i].power_uw.reset();
    readings[i].energy_ticks.reset();
  }
  expect_trouble(readings, "only 50 of 100");
}

TEST(Health, WantsAnswersToFourTicksOfFive) {
  auto readings = healthy();
  const auto silence = [&readings](std::size_t i) {
    readings[i].power_uw.reset();
    readings[i].energy_ticks.reset();
  };
  for (std::size_t i = 0; i < 20; ++i) silence(5 * i);
  EXPECT_TRUE(check_health(readings, "x", {}));
  silence(1);
  expect_trouble(readings, "only 79 of 100");
}

TEST(Health, RefusesZeros) {
  auto readings = healthy();
  for (auto& r : readings) r.power_uw = 0;
  expect_trouble(readings, "zero");
}

TEST(Health, RefusesNegativePower) {
  auto readings = healthy();
  readings[20].power_uw = -5;
  expect_trouble(readings, "negative");
}

TEST(Health, RefusesAbsurdReadings) {
  auto readings = healthy();
  readings[20].power_uw = std::numeric_limits<std::int64_t>::max();
  expect_trouble(readings, "absurd power");
  readings = healthy();
  readings[20].temperature_mc = 1'000'000;
  expect_trouble(readings, "absurd temperature");
  readings = healthy();
  readings[20].voltage_uv = -1;
  expect_trouble(readings, "absurd voltage");
}

TEST(Health, RefusesAFrozenReadingOnlyWhenTheLoadChanged) {
  auto readings = healthy();
  for (auto& r : readings) r.power_uw = 61'000'000;
  expect_trouble(readings, "frozen", true);
  EXPECT_TRUE(check_health(readings, "x", {}));
}

TEST(Health, RefusesTimeThatRunsBackwards) {
  auto readings = healthy();
  readings[50].time_ns = readings[10].time_ns;
  expect_trouble(readings, "time runs backwards");
}

TEST(Health, RefusesEnergyThatRunsBackwards) {
  auto readings = healthy();
  readings[50].energy_ticks = 3;
  expect_trouble(readings, "energy counter runs backwards");
}

TEST(Health, AcceptsAnEnergyCounterThatWrapsAt32Bits) {
  auto readings = healthy();
  for (auto& r : readings) r.energy_ticks = (*r.energy_ticks + 0xFFFFFF00) & 0xFFFFFFFF;
  const auto status = check_health(readings, "x", {});
  EXPECT_TRUE(status) << status.error().text();
}

TEST(Microwatts, RefusesWhatIsNotANumber) {
  EXPECT_EQ(microwatts(61.25, "x").value(), 61'250'000);
  EXPECT_EQ(microwatts(std::numeric_limits<double>::quiet_NaN(), "x").error().code,
            ErrorCode::bad_data);
  EXPECT_FALSE(microwatts(std::numeric_limits<double>::infinity(), "x"));
  EXPECT_FALSE(microwatts(1e300, "x"));
}

}  // namespace
}  // namespace ww::measure
