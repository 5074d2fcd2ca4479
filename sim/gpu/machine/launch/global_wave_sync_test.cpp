// Barriers of a whole grid: what groups see of each other, and what becomes of launches that hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::grid_barriers_test {
namespace {

using test::TestGpu;

constexpr std::uint32_t kLocal = 128;
constexpr std::uint32_t kRounds = 3;
constexpr std::uint32_t kNobody = ~0U;

Grid cooperative(std::uint32_t groups, std::uint32_t local = kLocal) {
  return {1, {groups * local, 1, 1}, {local, 1, 1}, true};
}

// Final value of every work-item of kernel `meet`, whose `out` is zero at first.
std::uint32_t expected_sum(std::uint32_t groups) {
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t group = 0; group < groups; ++group) {
      std::uint32_t word = group + 1;
      for (std::uint32_t i = 0; i < group * 7 % 32; ++i) word *= 3;
      sum = sum * 31 + word + round;
    }
  }
  return sum;
}

struct Meeting {
  std::vector<std::uint32_t> out;
  std::vector<double> counters;
  std::uint64_t hash{};
  bool operator==(const Meeting&) const = default;
};

Meeting meet(unsigned threads, const std::string& chip, std::uint32_t groups) {
  TestGpu test(test::TrickOptions{{.threads = threads}, {.parallel_commit_min_requests = 0}}, true,
               chip);
  const auto words = test.buffer(groups * 4);
  const auto out = test.buffer(groups * kLocal * 4);
  const auto done = test.try_launch("meet", cooperative(groups), words, out, kRounds, kNobody);
  EXPECT_TRUE(done) << done.error().text();
  return {test.read<std::uint32_t>(out, groups * kLocal), test.counters(0), test.totals.hash};
}

// The test kernels' chip; where there is code for it, a chip of several dies, too.
std::vector<std::string> chips() {
  const bool dies = binpatch::to_string(test::read_kernels().target()) == "gfx942";
  return dies ? std::vector<std::string>{"", "mi300x"} : std::vector<std::string>{""};
}

TEST(SemanticsOfGridBarriers, AllGroupsSeeWhatTheOthersDidBefore) {
  for (const std::string& chip : chips()) {
    for (const std::uint32_t groups : {1U, 2U, 37U}) {
      const Meeting meeting = meet(1, chip, groups);
      EXPECT_EQ(meeting.out, std::vector<std::uint32_t>(groups * kLocal, expected_sum(groups)))
          << chip << ", " << groups << " groups";
    }
  }
}

TEST(SemanticsOfGridBarriers, GiveTheSameForAnyNumberOfThreads) {
  for (const std::string& chip : chips()) {
    const Meeting meeting = meet(1, chip, 61);
    for (const unsigned threads : {2U, 3U}) EXPECT_EQ(meet(threads, chip, 61), meeting) << chip;
  }
}

TEST(SemanticsOfGridBarriers, MeetAlsoAtOneThatTheKernelSets) {
  const auto kernels = test::read_kernels();
  const std::uint32_t waves = 256 / kernels.find_kernel("meet_in_group")->wavefront_size;
  for (const std::uint32_t resource : {1U, 63U}) {
    TestGpu test;
    const auto out = test.buffer(256 * 4);
    const auto done = test.try_launch("meet_in_group", cooperative(1, 256), out, resource, waves);
    ASSERT_TRUE(done) << done.error().text();
    constexpr std::uint32_t kAll = 1 + 8 * 2 + 64 * 3 + 512 * 4;
    EXPECT_EQ(test.read<std::uint32_t>(out, 256), std::vector<std::uint32_t>(256, kAll));
  }
}

TEST(SemanticsOfGridBarriers, NameAGroupThatNeverComes) {
  TestGpu test;
  const auto words = test.buffer(8 * 4);
  const auto out = test.buffer(8 * kLocal * 4);
  const auto launch = [&](std::uint32_t leaver) {
    return test.try_launch("meet", cooperative(8), words, out, kRounds, leaver);
  };
  for (int i = 0; i < 2; ++i) {  // the first one leaves nobody at the barrier
    const auto hangs = launch(5);
    ASSERT_FALSE(hangs);
    EXPECT_EQ(hangs.error().code, ErrorCode::device_error);
    EXPECT_THAT(hangs.error().text(), testing::HasSubstr("7 waves wait at a grid-wide barrier that "
                                                         "1 more have to reach"));
  }
  EXPECT_TRUE(launch(kNobody));
}

TEST(SemanticsOfGridBarriers, NameGroupsThatHaveNoRoom) {
  TestGpu test;
  const std::uint32_t fit =
      41 * static_cast<std::uint32_t>(test.gpu().chip().architecture().compute_units_of_device());
  const auto words = test.buffer(fit * 4);
  const auto out = test.buffer(fit * 64 * 4);
  const auto hangs = test.try_launch("meet", cooperative(fit, 64), words, out, 1U, kNobody);
  ASSERT_FALSE(hangs);
  EXPECT_THAT(hangs.error().text(), testing::HasSubstr("grid-wide barrier"));
}

TEST(SemanticsOfGridBarriers, AreRefusedInOrdinaryLaunches) {
  TestGpu test;
  const auto words = test.buffer(4);
  const auto out = test.buffer(kLocal * 4);
  Grid grid = cooperative(1);
  const auto launch = [&] { return test.try_launch("meet", grid, words, out, kRounds, kNobody); };
  for (const bool replayed : {false, false, true}) {
    const auto done = launch();
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(done->replayed, replayed);
  }
  grid.cooperative = false;
  const auto refused = launch();  // the other launch is not replayed in its place
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::device_error);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("ds_gws_barrier"));
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("not cooperative"));
}

}  // namespace
}  // namespace ww::sim::gpu::grid_barriers_test
