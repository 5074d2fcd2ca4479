#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ww/energy/energy.hpp"

namespace ww::energy {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMillisecond = 1'000'000;

// Readings each millisecond: 30 idle ones, 100 busy ones, 30 idle ones. Idle power rises from 20 W
// by `warmed_w`; idle readings scatter by `scatter_w` either way.
EnergySeries recording(double warmed_w, double scatter_w) {
  EnergySeries series;
  series.stamped = true;
  double energy_j = 2;
  for (int i = 0; i <= 160; ++i) {
    series.readings.push_back(
        {i * kMillisecond, static_cast<std::int64_t>(energy_j * kTicksPerJoule), kAbsent});
    const bool busy = i >= 30 && i < 130;
    const double idle_w = (i < 30 ? 20.0 : 20.0 + warmed_w) + (i % 2 == 0 ? scatter_w : -scatter_w);
    energy_j += (busy ? 120.0 + warmed_w / 2 : idle_w) * 1e-3;
  }
  return series;
}

constexpr BusyWindow kWindow{0, 30 * kMillisecond, 130 * kMillisecond, 160 * kMillisecond};

TEST(EnergyAboveIdle, IsWhatTheLoadAddsToIdlePower) {
  const auto above = energy_above_idle(recording(0, 0), kWindow);
  ASSERT_TRUE(above.ok()) << above.reason;
  EXPECT_NEAR(above.energy_j, 100 * 0.1, 1e-3);
  EXPECT_NEAR(above.idle_w, 20, 1e-3);
  EXPECT_LT(above.high_j - above.low_j, 0.02);
}

TEST(EnergyAboveIdle, LeavesHalfOfAChangeOfIdlePowerOpen) {
  const auto above = energy_above_idle(recording(4, 0), kWindow);
  ASSERT_TRUE(above.ok()) << above.reason;
  EXPECT_NEAR(above.energy_j, 100 * 0.1, 2e-3);
  EXPECT_NEAR(above.idle_w, 22, 1e-3);
  EXPECT_NEAR(above.high_j - above.energy_j, 4.0 / 2 * 0.1, 2e-3);
}

TEST(EnergyAboveIdle, IsWiderWhereIdleReadingsScatter) {
  const auto above = energy_above_idle(recording(0, 2), kWindow);
  ASSERT_TRUE(above.ok()) << above.reason;
  const double scatter_w = 2 * std::sqrt(30.0 / 29.0);
  const double half_j = std::hypot(1.96 * scatter_w * std::sqrt(0.1 * 0.001),
                                   1.96 * scatter_w / std::sqrt(60.0) * 0.1);
  EXPECT_NEAR(above.high_j - above.energy_j, half_j, 1e-3);
}

TEST(EnergyAboveIdle, NeedsAnAccumulator) {
  auto series = recording(0, 0);
  for (auto& reading : series.readings) {
    reading.ticks = kAbsent;
    reading.power_uw = 50'000'000;
  }
  const auto above = energy_above_idle(series, kWindow);
  EXPECT_EQ(above.status, RowStatus::unavailable);
  EXPECT_THAT(above.reason, HasSubstr("idle before the load: the sensor has no energy accumul"));
}

}  // namespace
}  // namespace ww::energy
