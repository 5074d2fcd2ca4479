#include "ww/session/live_kernels.hpp"

#include <gmock/gmock.h>

namespace ww::session {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMillisecond = 1'000'000;

// A reading each millisecond of 40 W, and of 60 W while `kernel` runs for 20 ms from 60 ms on.
LiveNews refresh(const std::string& process, const std::string& kernel) {
  LiveNews news;
  double joules = 0;
  for (int ms = 0; ms < 140; ++ms) {
    news.samples.push_back({process, ms * kMillisecond, 40,
                            static_cast<std::int64_t>(joules / kJoulesPerTick), 50, std::nullopt});
    joules += 1e-3 * (ms >= 60 && ms < 80 ? 60 : 40);
  }
  measure::CounterDispatch launch;
  launch.kernel = kernel;
  launch.start_ns = 60 * kMillisecond;
  launch.duration_ns = 20 * kMillisecond;
  news.dispatches.push_back(launch);
  return news;
}

TEST(LiveKernels, GivesAKernelTheJoulesAboveRest) {
  LiveKernels kernels;
  kernels.take(refresh("1", "copy"));
  const auto found = kernels.energies({});
  ASSERT_EQ(found.kernels.size(), 1U);
  ASSERT_TRUE(found.kernels[0].energy_j) << found.kernels[0].reason;
  EXPECT_NEAR(found.kernels[0].energy_j->value, 0.4, 0.004);
  EXPECT_EQ(kernels.note(), "");
}

TEST(LiveKernels, KernelsOfSeveralProcessesHaveNoJoules) {
  LiveKernels kernels;
  kernels.take(refresh("1", "copy"));
  kernels.take(refresh("2", "copy"));
  EXPECT_TRUE(kernels.energies({}).kernels.empty());
  EXPECT_THAT(kernels.note(), HasSubstr("several processes"));
}

TEST(LiveKernels, KeepsNothingBeyondItsMostLaunches) {
  LiveKernels kernels(1);
  kernels.take(refresh("1", "copy"));
  EXPECT_EQ(kernels.note(), "");
  kernels.take(refresh("1", "add"));
  EXPECT_THAT(kernels.note(), HasSubstr("the first 1 launches"));
  kernels.take(refresh("1", "scale"));
  EXPECT_EQ(kernels.energies({}).kernels.size(), 2U);
}

}  // namespace
}  // namespace ww::session
