#include "energy_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::session {
namespace {

using testing::HasSubstr;

constexpr std::int64_t ms = 1'000'000;

// A steady 100 W, read each 10 ms.
std::vector<StoredSample> steady(bool accumulator) {
  std::vector<StoredSample> readings;
  for (int i = 0; i <= 100; ++i) {
    StoredSample reading;
    reading.time_ns = i * 10 * ms;
    reading.power_uw = 100'000'000;
    if (accumulator) reading.energy_ticks = i * 65536;  // 1 J a reading
    readings.push_back(reading);
  }
  return readings;
}

TEST(EnergyWindow, IsPowerTimesTimeFromEitherRegister) {
  for (const bool accumulator : {true, false}) {
    const auto joules = energy_between(steady(accumulator), 105 * ms, 905 * ms, 0);
    ASSERT_EQ(joules.status, RowStatus::ok) << joules.reason;
    EXPECT_NEAR(joules.energy->value, 80, 1e-9);
    // The ends may lie a reading off.
    EXPECT_NEAR(joules.energy->high - joules.energy->low, 2 * 0.01 * 100, 1e-9);
  }
}

TEST(EnergyWindow, GainWidensTheInterval) {
  const auto joules = energy_between(steady(true), 0, 1000 * ms, 0.05);
  EXPECT_NEAR(joules.energy->value, 100, 1e-9);
  EXPECT_NEAR(joules.energy->high, 105, 1e-9);
}

TEST(EnergyWindow, TooShortIsUnavailableAndSaysSo) {
  const auto joules = energy_between(steady(true), 0, 15 * ms, 0);
  EXPECT_EQ(joules.status, RowStatus::unavailable);
  EXPECT_FALSE(joules.energy);
  EXPECT_THAT(joules.reason, HasSubstr("three are needed"));
}

TEST(EnergyWindow, BackwardAndFrozenSensorsAreRejected) {
  auto readings = steady(true);
  readings[50].energy_ticks = 0;
  EXPECT_EQ(energy_between(readings, 0, 1000 * ms, 0).status, RowStatus::rejected);
  for (auto& reading : readings) reading.energy_ticks = 7;
  EXPECT_EQ(energy_between(readings, 0, 1000 * ms, 0).status, RowStatus::rejected);
}

}  // namespace
}  // namespace ww::session
