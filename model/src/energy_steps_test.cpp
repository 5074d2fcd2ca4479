#include "ww/model/energy_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "testing/synthetic_campaign.hpp"
#include "trace.hpp"

namespace ww::model {
namespace {

constexpr double joule_per_tick = 1.0 / 65536;  // 15.259 uJ

// What polls every `poll_s` (each late by up to `late_s`) see of an accumulator that is refreshed
// every `refresh_s`, with `power` watts flowing.
struct Polled {
  std::vector<EnergyReading> readings;
  Polled(double seconds, double poll_s, double refresh_s, double late_s,
         const std::function<double(double)>& power) {
    double energy = 3.0;
    double refreshed = 0;
    std::int64_t ticks = std::llround(energy / joule_per_tick);
    std::uint32_t random = 7;
    for (double due = 0.5e-3; due < seconds; due += poll_s) {
      random = random * 1664525u + 1013904223u;
      const double now = due + late_s * static_cast<double>(random >> 8) / 16777216.0;
      while (refreshed + refresh_s <= now) {
        energy += power(refreshed + refresh_s / 2) * refresh_s;
        refreshed += refresh_s;
        ticks = static_cast<std::int64_t>(energy / joule_per_tick);
      }
      readings.push_back({std::llround(now * 1e9), ticks});
    }
  }
  // Mean of the readings between two times.
  [[nodiscard]] double mean(const EnergySteps& steps, double from_s, double to_s) const {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < readings.size(); ++i) {
      const double at = static_cast<double>(readings[i].time_ns) * 1e-9;
      if (at < from_s || at > to_s) continue;
      sum += static_cast<double>(steps.power_w[i]);
      ++count;
    }
    return sum / count;
  }
};

double stepped(double t) {
  return t < 1.0 ? 60.0 : 130.0;
}

// At 1 kHz the accumulator of an MI210 (refreshed every millisecond, not in step with the polls)
// repeats now and then and then moves twice as far.
TEST(EnergySteps, OfAnAccumulatorThatPollsSeeRepeatedTellBothLevels) {
  for (const double refresh_s : {0.000931, 0.001, 0.00107, 0.0016, 0.0031}) {
    const Polled polled(2.0, 0.001, refresh_s, 90e-6, stepped);
    const auto steps = energy_steps(polled.readings, false);
    ASSERT_TRUE(steps) << refresh_s;
    ASSERT_GT(steps->interval_s, 0) << refresh_s;
    EXPECT_LT(steps->interval_s, 0.0095) << refresh_s;
    const double settle_s = 2 * steps->interval_s;
    EXPECT_NEAR(polled.mean(*steps, 0.02, 1.0), 60, 0.3) << refresh_s;
    EXPECT_NEAR(polled.mean(*steps, 1.0 + settle_s, 1.98), 130, 0.4) << refresh_s;
  }
}

TEST(EnergySteps, ShowTheNewLoadAloneAfterTwoIntervals) {
  const Polled polled(2.0, 0.001, 0.00103, 50e-6, stepped);
  const auto steps = energy_steps(polled.readings, false);
  ASSERT_TRUE(steps);
  const double settle_s = 2 * steps->interval_s;
  for (std::size_t i = 0; i < polled.readings.size(); ++i) {
    const double at = static_cast<double>(polled.readings[i].time_ns) * 1e-9;
    if (std::abs(at - 1.0) < settle_s) continue;
    EXPECT_NEAR(steps->power_w[i], stepped(at), 0.25 * stepped(at)) << at;
  }
}

TEST(EnergySteps, ConserveEnergy) {
  const Polled polled(2.0, 0.001, 0.00097, 90e-6,
                      [](double t) { return 100 + 40 * std::sin(37 * t); });
  const auto steps = energy_steps(polled.readings, false);
  ASSERT_TRUE(steps);
  double energy = 0;
  for (std::size_t i = 1; i < polled.readings.size(); ++i) {
    energy += static_cast<double>(steps->power_w[i]) * 1e-9 *
              static_cast<double>(polled.readings[i].time_ns - polled.readings[i - 1].time_ns);
  }
  const double counted =
      static_cast<double>(polled.readings.back().ticks - polled.readings.front().ticks) *
      joule_per_tick;
  EXPECT_NEAR(energy, counted, 0.005 * counted);  // but for what stands out at both ends
}

TEST(EnergySteps, OfASlowAccumulatorSpanItsRefreshes) {
  const Polled polled(4.0, 0.001, 0.1, 50e-6, stepped);
  const auto steps = energy_steps(polled.readings, false);
  ASSERT_TRUE(steps);
  EXPECT_NEAR(steps->interval_s, 0.105, 0.002);
  EXPECT_NEAR(polled.mean(*steps, 1.0 + 2 * steps->interval_s, 3.9), 130, 0.2);
}

TEST(EnergySteps, OfReadingsThatAllMovedAreThoseBetweenNeighbours) {
  const std::vector<EnergyReading> readings{{0, 0}, {1'000'000, 6554}, {3'000'000, 13108}};
  const auto steps = energy_steps(readings, true);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->interval_s, 0);
  EXPECT_NEAR(steps->power_w[1], 100.0, 0.01);
  EXPECT_NEAR(steps->power_w[2], 50.0, 0.01);
  EXPECT_EQ(steps->power_w[0], steps->power_w[1]);
}

TEST(EnergySteps, AreNotThereForAccumulatorsThatRestOrRunBackwards) {
  const Polled polled(2.0, 0.001, 0.001, 50e-6, stepped);
  auto frozen = polled.readings;
  for (std::size_t i = 800; i < 1600; ++i) frozen[i].ticks = frozen[800].ticks;
  EXPECT_FALSE(energy_steps(frozen, false));
  auto dead = polled.readings;
  for (auto& reading : dead) reading.ticks = 12;
  EXPECT_FALSE(energy_steps(dead, false));
  auto backwards = polled.readings;
  backwards[700].ticks -= 100000;
  EXPECT_FALSE(energy_steps(backwards, false));
  auto absent = polled.readings;
  for (auto& reading : absent) reading.ticks = -1;
  EXPECT_FALSE(energy_steps(absent, false));
  EXPECT_FALSE(energy_steps({}, true));
}

TEST(EnergySteps, BridgeReadingsThatToldNothing) {
  auto polled = Polled(2.0, 0.001, 0.001, 50e-6, stepped);
  for (std::size_t i = 3; i < polled.readings.size(); i += 50) polled.readings[i].ticks = -1;
  const auto steps = energy_steps(polled.readings, false);
  ASSERT_TRUE(steps);
  EXPECT_NEAR(polled.mean(*steps, 0.02, 0.99), 60, 0.3);
}

// The register of an MI210 averages over seconds; the fit must not wait for it.
TEST(Trace, TakesARepeatedAccumulatorBeforeASlowRegister) {
  constexpr double lag_s = 0.8;
  const auto loaded = [](double t) { return t > 3.0 && t < 8.0 ? 130.0 : 60.0; };
  const Polled polled(16.0, 0.001, 0.00103, 90e-6, loaded);
  StoredRun run;
  double shown = 60;
  double before = 0;
  for (const EnergyReading& reading : polled.readings) {
    const double at = static_cast<double>(reading.time_ns) * 1e-9;
    shown += (loaded(at) - shown) * -std::expm1(-(at - before) / lag_s);
    before = at;
    StoredSample sample;
    sample.time_ns = sample.poll_ns = reading.time_ns;
    sample.energy_ticks = reading.ticks;
    sample.power_uw = std::llround(shown * 1e6);
    run.samples.push_back(sample);
  }
  SensorFact sensor;
  sensor.period_s = 0.003;
  sensor.delay_s = 0.19;
  sensor.rise_s = 4.0;
  const std::vector<StoredRun> runs{run};
  const Trace trace = build_trace(runs, sensor);
  ASSERT_LT(trace.settle_s, 0.03);
  const std::size_t from = trace.first_at(static_cast<std::int64_t>((3.0 + trace.settle_s) * 1e9));
  const std::size_t to = trace.first_at(7'990'000'000);
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) {
    sum += static_cast<double>(trace.samples[i].power_w);
    EXPECT_FALSE(trace.samples[i].glitch);
  }
  EXPECT_NEAR(sum / static_cast<double>(to - from), 130, 0.2);
}

}  // namespace
}  // namespace ww::model
