#include "ww/session/kernel_energy.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "ww/core/split_mix.hpp"

namespace ww::session {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLaunch_ns = 200'000;
constexpr std::int64_t kReading_ns = 1'000'000;

// Launches of two kernels, 10 mJ and 30 mJ above 40 W, 0.2 ms each.
struct TwoKernels {
  LaunchLog log;
  std::vector<double> joules;  // of each launch
  std::int64_t end_ns{};

  // `in_turn`: each launch of one follows a launch of the other.
  TwoKernels(int count, bool in_turn) {
    std::int64_t at = 40'000'000;
    for (int i = 0; i < count; ++i) {
      const bool second = in_turn ? i % 2 == 1 : (i / 10) % 2 == 1;
      log.add(second ? "two" : "one", at, at + kLaunch_ns);
      joules.push_back(second ? 0.030 : 0.010);
      at += 210'000 + (in_turn || i % 10 != 9 ? 0 : 3'000'000);
    }
    end_ns = at;
  }

  // Energy since the beginning, at rest and of the launches.
  [[nodiscard]] double until(std::int64_t time_ns) const {
    double sum = 40e-9 * static_cast<double>(time_ns);
    for (std::size_t i = 0; i < joules.size(); ++i) {
      const auto& launch = log.launches()[i];
      sum += joules[i] *
             std::clamp(static_cast<double>(time_ns - launch.start_ns) / kLaunch_ns, 0.0, 1.0);
    }
    return sum;
  }

  // An energy counter that refreshes every millisecond, and goes on for 30 ms after the program.
  [[nodiscard]] energy::EnergySeries counted(double noise_w) const {
    SplitMix draw(3);
    energy::EnergySeries series{{}, true};
    double noise_j = 0;
    for (std::int64_t time = kReading_ns; time < end_ns + 30'000'000; time += kReading_ns) {
      noise_j += noise_w * 1e-3 * draw.normal();
      const double ticks = (until(time) + noise_j) / kJoulesPerTick;
      series.readings.push_back({time, static_cast<std::int64_t>(ticks)});
    }
    return series;
  }

  // A power register with a window of 5 ms, every millisecond.
  [[nodiscard]] energy::EnergySeries averaged(double noise_w) const {
    constexpr std::int64_t kWindow_ns = 5'000'000;
    SplitMix draw(3);
    energy::EnergySeries series{{}, true};
    for (std::int64_t time = kWindow_ns; time < end_ns + 30'000'000; time += kReading_ns) {
      const double power_w = (until(time) - until(time - kWindow_ns)) / 5e-3;
      series.readings.push_back(
          {time, energy::kAbsent,
           static_cast<std::int64_t>(1e6 * (power_w + noise_w * draw.normal()))});
    }
    return series;
  }
};

void expect_both_known(const KernelEnergies& found) {
  ASSERT_EQ(found.kernels.size(), 2u);
  for (const KernelEnergy& kernel : found.kernels) {
    ASSERT_EQ(kernel.status, RowStatus::ok) << kernel.reason;
    EXPECT_EQ(kernel.launches, 200u);
    const double truth = kernel.kernel == "one" ? 2.0 : 6.0;
    EXPECT_NEAR(kernel.energy_j->value, truth, 0.03 * truth);
    EXPECT_LT(kernel.energy_j->low, truth);
    EXPECT_GT(kernel.energy_j->high, truth);
    EXPECT_GT(kernel.energy_j->relative(), 0.05);  // the gain is in it
  }
}

std::vector<KernelEnergy> two_unknown(const KernelEnergies& found) {
  EXPECT_EQ(found.kernels.size(), 2u);
  EXPECT_TRUE(found.covariance.empty());
  for (const KernelEnergy& kernel : found.kernels) {
    EXPECT_EQ(kernel.status, RowStatus::not_identified);
    EXPECT_FALSE(kernel.energy_j);
  }
  return found.kernels;
}

TEST(LaunchLog, LeavesOutLaunchesWithoutTimes) {
  measure::CounterDispatch timed, untimed;
  timed.kernel = untimed.kernel = "one";
  timed.start_ns = 1000;
  timed.duration_ns = 249.6;
  LaunchLog log;
  EXPECT_TRUE(log.add(std::vector{timed}));
  EXPECT_FALSE(log.add(std::vector{untimed, timed}));
  ASSERT_EQ(log.launches().size(), 2u);
  EXPECT_EQ(log.launches()[1].end_ns, 1250);
}

TEST(NaiveKernelEnergy, IsTheMeanReadingDuringLaunchesTimesTheirLength) {
  LaunchLog log;
  log.add("one", 0, 4'000'000'000);
  log.add("two", 4'000'000'000, 5'000'000'000);
  energy::EnergySeries series{{}, true};
  for (int s = 0; s < 4; ++s) {
    series.readings.push_back({s * 1'000'000'000LL + 1, energy::kAbsent, 10'000'000 * (s + 1)});
  }
  EXPECT_NEAR(naive_kernel_energy(log, series, 0).value(), 25 * 4, 1e-6);
  EXPECT_FALSE(naive_kernel_energy(log, series, 1));
}

TEST(KernelEnergies, PartTwoKernelsByTheirLaunches) {
  const TwoKernels run(400, false);
  const auto found = kernel_energies(run.log, run.counted(0.5));
  expect_both_known(found);
  EXPECT_EQ(found.source, "energy counter");
}

// Half-widths are of one kernel alone; the gain makes both wrong together.
TEST(KernelEnergies, CovarianceHoldsNoiseAndTheSharedGain) {
  const TwoKernels run(400, false);
  const auto found = kernel_energies(run.log, run.counted(0.5));
  ASSERT_EQ(found.covariance.size(), 4u);
  const auto half = [&](std::size_t k) {
    return (found.kernels[k].energy_j->high - found.kernels[k].energy_j->low) / 2;
  };
  for (const std::size_t k : {0u, 1u}) {
    EXPECT_NEAR(1.96 * std::sqrt(found.covariance[3 * k]), half(k), 0.05 * half(k));
  }
  EXPECT_DOUBLE_EQ(found.covariance[1], found.covariance[2]);
  const double correlation =
      found.covariance[1] / std::sqrt(found.covariance[0] * found.covariance[3]);
  EXPECT_GT(correlation, 0.5);
  EXPECT_LE(correlation, 1);
  const auto of_one = found.covariance_of_one_launch();
  EXPECT_DOUBLE_EQ(of_one[1] * static_cast<double>(found.kernels[0].launches) *
                       static_cast<double>(found.kernels[1].launches),
                   found.covariance[1]);
}

// The driver launches a program's kernels again after its end, and does not say when.
TEST(KernelEnergies, AreNotMovedByWhatRunsLongAfterTheLastLaunch) {
  const TwoKernels run(400, false);
  auto series = run.counted(0.5);
  const auto before = kernel_energies(run.log, series);
  std::int64_t time = series.readings.back().time_ns;
  std::int64_t ticks = series.readings.back().ticks;
  for (int i = 0; i < 500; ++i) {
    series.readings.push_back({time += kReading_ns, ticks += 20'000});
  }
  const auto after = kernel_energies(run.log, series);
  for (const std::size_t k : {0u, 1u}) {
    EXPECT_NEAR(after.kernels[k].energy_j->value, before.kernels[k].energy_j->value, 0.01);
  }
}

TEST(KernelEnergies, FollowFromAPowerRegisterWhoseResponseIsKnown) {
  const TwoKernels run(400, false);
  KernelSensor sensor;
  sensor.response = measure::register_response(measure::ResponseKind::window, 5e-3, 0.01);
  sensor.response->delay_error_s = 0;
  const auto found = kernel_energies(run.log, run.averaged(0.5), sensor);
  expect_both_known(found);
  EXPECT_EQ(found.source, "power register");
}

TEST(KernelEnergies, AreNotReadFromAPowerRegisterAlone) {
  const TwoKernels run(400, false);
  for (const KernelEnergy& kernel : two_unknown(kernel_energies(run.log, run.averaged(0.5)))) {
    EXPECT_FALSE(kernel.launches_wanted);
    EXPECT_THAT(kernel.reason, HasSubstr("no energy counter"));
    EXPECT_THAT(kernel.reason, HasSubstr("wirewatt doctor"));
  }
}

TEST(KernelEnergies, SayHowManyLaunchesANoisySensorNeeds) {
  const TwoKernels run(40, false);
  KernelSensor sensor;
  sensor.response = measure::register_response(measure::ResponseKind::window, 5e-3, 0);
  sensor.response->delay_error_s = 0;
  const auto found = kernel_energies(run.log, run.averaged(50), sensor);
  ASSERT_EQ(found.kernels.size(), 2u);
  const KernelEnergy& kernel = found.kernels.back();
  EXPECT_EQ(kernel.status, RowStatus::not_identified);
  EXPECT_FALSE(kernel.energy_j);
  ASSERT_TRUE(kernel.launches_wanted) << kernel.reason;
  EXPECT_GT(*kernel.launches_wanted, 20);
  EXPECT_THAT(kernel.reason, HasSubstr("launches would bring it"));
}

// Always in turn within one reading: nothing parts them.
TEST(KernelEnergies, SayHowManyLaunchesFillTheReadings) {
  const TwoKernels run(2, true);
  auto series = run.counted(0);
  std::erase_if(series.readings, [&](const auto& one) { return one.time_ns > run.end_ns; });
  for (const KernelEnergy& kernel : two_unknown(kernel_energies(run.log, series))) {
    // 100 readings of 1 ms, by launches of 0.2 ms.
    ASSERT_TRUE(kernel.launches_wanted);
    EXPECT_NEAR(*kernel.launches_wanted, 500, 1);
    EXPECT_THAT(kernel.reason, HasSubstr("launches would fill 100"));
  }
}

TEST(KernelEnergies, OfNoLaunchesAreNone) {
  EXPECT_TRUE(kernel_energies({}, TwoKernels(2, true).counted(0)).kernels.empty());
}

}  // namespace
}  // namespace ww::session
