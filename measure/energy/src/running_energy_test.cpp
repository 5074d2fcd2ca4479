#include "ww/energy/running_energy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/polled_accumulator.hpp"

namespace ww::energy {
namespace {

// 300 W for a second, 100 W for a second, and so on.
double switching(double seconds) {
  return std::fmod(seconds, 2) < 1 ? 300 : 100;
}

TEST(RunningEnergy, OfAnAccumulatorIsThatOfAllReadingsThoughItKeepsFew) {
  // 200 s of polls every 20 ms: ten thousand readings, of which 256 are kept.
  const testing::PolledAccumulator polled(200, 0.02, 0.001, 0.002, switching);
  const auto& readings = polled.series.readings;
  RunningEnergy running(readings.front().time_ns, {}, false, 256);
  for (const EnergyReading& reading : readings) running.add(reading);
  const Energy whole = running.so_far();
  ASSERT_TRUE(whole.ok()) << whole.reason;
  EXPECT_EQ(whole.source, EnergySource::accumulator);
  EXPECT_NEAR(whole.energy_j, 200 * 200, 0.001 * 200 * 200);
  EXPECT_LE(whole.low_j, 200 * 200);
  EXPECT_GE(whole.high_j, 200 * 200);
  const Energy all =
      energy_between(polled.series, readings.front().time_ns, readings.back().time_ns);
  EXPECT_NEAR(whole.energy_j, all.energy_j, 1e-3 * all.energy_j);
}

TEST(RunningEnergy, OfARegisterIsThatOfAllReadingsThoughItKeepsFew) {
  EnergySeries series;
  for (int i = 0; i < 20'000; ++i) {
    const double seconds = 0.01 * i;
    series.readings.push_back(
        {std::llround(seconds * 1e9), kAbsent, std::llround(switching(seconds) * 1e6) + i % 7});
  }
  const std::int64_t to_ns = series.readings.back().time_ns;
  const Energy all = energy_between(series, 0, to_ns, {.gain_tolerance_95 = 0.05});
  RunningEnergy running(0, {.gain_tolerance_95 = 0.05}, false, 200);
  Energy before;
  for (const EnergyReading& reading : series.readings) {
    running.add(reading);
    const Energy now = running.so_far();
    if (!now.ok()) continue;
    EXPECT_GE(now.energy_j, before.energy_j);
    before = now;
  }
  const Energy whole = running.so_far();
  ASSERT_TRUE(whole.ok()) << whole.reason;
  EXPECT_EQ(whole.source, EnergySource::power_register);
  EXPECT_NE(whole.reason, "");  // integrated, and why
  EXPECT_NEAR(whole.energy_j, all.energy_j, 1e-9 * all.energy_j);
  EXPECT_NEAR(whole.power_w, all.power_w, 1e-6);
  EXPECT_NEAR(whole.low_j, all.low_j, 1e-6 * all.low_j);
}

// gpu_metrics v1.0 counts in 32 bits, which are full after two minutes at 500 W.
TEST(RunningEnergy, SeesEveryWrapOfACounterOf32Bits) {
  RunningEnergy running(0, {}, false, 128);
  constexpr double kWatts = 500;
  constexpr int kSeconds = 3'000;
  for (int i = 0; i <= 10 * kSeconds; ++i) {
    const double joules = 60'000 + kWatts * 0.1 * i;
    running.add({100'000'000LL * i, std::llround(joules / kJoulesPerTick) % (1LL << 32), kAbsent});
  }
  const Energy whole = running.so_far();
  ASSERT_TRUE(whole.ok()) << whole.reason;
  EXPECT_NEAR(whole.energy_j, kWatts * kSeconds, 1e-3 * kWatts * kSeconds);
}

TEST(RunningEnergy, LeavesOutWhatWasReadBeforeItsStart) {
  RunningEnergy running(1'000'000'000, {});
  for (int i = 0; i < 200; ++i)
    running.add({10'000'000LL * i, 65'536LL * i * (i < 100 ? 9 : 1), kAbsent});
  EXPECT_FALSE(RunningEnergy(0, {}).so_far().ok());
  const Energy later = running.so_far();
  ASSERT_TRUE(later.ok()) << later.reason;
  EXPECT_NEAR(later.power_w, 100, 1e-6);
}

}  // namespace
}  // namespace ww::energy
