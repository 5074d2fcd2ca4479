#include "reduction/trace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "polled_accumulator.hpp"

namespace ww::model {
namespace {

// The register of an MI210 averages over seconds; the fit must not wait for it.
TEST(Trace, TakesARepeatedAccumulatorBeforeASlowRegister) {
  constexpr double lag_s = 0.8;
  const auto loaded = [](double t) { return t > 3.0 && t < 8.0 ? 130.0 : 60.0; };
  const energy::testing::PolledAccumulator polled(16.0, 0.001, 0.00103, 90e-6, loaded);
  StoredRun run;
  double shown = 60;
  double before = 0;
  for (const energy::EnergyReading& reading : polled.series.readings) {
    const double at = static_cast<double>(reading.time_ns) * 1e-9;
    shown += (loaded(at) - shown) * -std::expm1(-(at - before) / lag_s);
    before = at;
    SensorReading sample;
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

// A register answers after its delay, follows for some of its rise times, and shows a value for a
// period more. Idle power is a small difference, so it waits for a rise more.
TEST(Trace, SettlesAfterTheDelayAndTheRiseAndThePeriodOfARegister) {
  StoredRun run;
  for (int i = 0; i < 200; ++i) {
    SensorReading sample;
    sample.time_ns = sample.poll_ns = 10'000'000LL * i;
    sample.power_uw = 60'000'000;
    run.samples.push_back(sample);
  }
  const std::vector<StoredRun> runs{run};
  const auto settling = [&runs](double delay_s, double rise_s, double period_s) {
    SensorFact sensor;
    sensor.delay_s = delay_s;
    sensor.rise_s = rise_s;
    sensor.period_s = period_s;
    const Trace trace = build_trace(runs, sensor);
    return std::pair{trace.settle_s, trace.idle_settle_s};
  };
  const auto [plain, plain_idle] = settling(0, 0, 0.02);
  EXPECT_DOUBLE_EQ(plain, 0.02);
  EXPECT_DOUBLE_EQ(plain_idle, 0.02);
  const auto [late, late_idle] = settling(0.1, 0, 0.02);
  EXPECT_DOUBLE_EQ(late, 0.12);
  EXPECT_DOUBLE_EQ(late_idle, 0.12);
  const auto [slow, slow_idle] = settling(0, 0.1, 0.02);
  EXPECT_DOUBLE_EQ(slow, 0.22);
  EXPECT_DOUBLE_EQ(slow_idle, 0.32);
}

}  // namespace
}  // namespace ww::model
