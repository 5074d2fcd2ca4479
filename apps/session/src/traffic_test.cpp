#include "ww/session/traffic.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ww/core/temporary_folder.hpp"

namespace ww::session {
namespace {

using measure::CounterDispatch;
using ::testing::HasSubstr;
using Counters = std::map<std::string, double>;

constexpr std::size_t kL1L2 = 1;
constexpr std::size_t kMemory = 2;

CounterDispatch launch(std::uint64_t id, Counters counters, double grid = 1024) {
  CounterDispatch dispatch;
  dispatch.id = id;
  dispatch.kernel = "copy";
  dispatch.grid_size = grid;
  dispatch.counters = std::move(counters);
  dispatch.start_ns = static_cast<std::int64_t>(id) * 100'000;
  dispatch.duration_ns = 20'000;
  return dispatch;
}

model::KernelTraffic only_kernel(const std::vector<CounterDispatch>& launches,
                                 const std::string& architecture = "gfx90a") {
  auto traffic = count_traffic(launches, architecture);
  EXPECT_TRUE(traffic) << traffic.error().text();
  EXPECT_EQ(traffic->kernels.size(), 1u);
  return traffic->kernels.at(0);
}

TEST(LaunchSpan, IsFromTheFirstStartToTheLastEnd) {
  auto untimed = launch(9, {});
  untimed.duration_ns.reset();
  auto lasting = launch(1, {});
  lasting.duration_ns = 500'000.4;
  const auto span = launch_span(std::vector{launch(3, {}), lasting, untimed});
  ASSERT_TRUE(span);
  EXPECT_EQ(span->start_ns, 100'000);
  EXPECT_EQ(span->end_ns, 600'000);
  EXPECT_FALSE(launch_span(std::vector{untimed}));
}

const Counters kL1Turn{{"TCP_TCC_READ_REQ_sum", 100}, {"TCP_TCC_WRITE_REQ_sum", 50}};
const Counters kMemoryTurn{{"TCC_EA_RDREQ_sum", 80},
                           {"TCC_EA_RDREQ_32B_sum", 0},
                           {"TCC_EA_WRREQ_sum", 40},
                           {"TCC_EA_WRREQ_64B_sum", 40}};

TEST(CountersInTurns, AreScaledToAllLaunchesAlikeAndSaySo) {
  const auto kernel = only_kernel(
      {launch(1, kL1Turn), launch(2, kMemoryTurn), launch(3, kL1Turn), launch(4, kMemoryTurn)});
  EXPECT_EQ(kernel.segments[kL1L2].bytes, 4 * 150 * 64.0);
  EXPECT_TRUE(kernel.segments[kL1L2].scaled);
  EXPECT_THAT(kernel.segments[kL1L2].reason,
              HasSubstr("2 of 4 launches alike lack TCP_TCC_READ_REQ, TCP_TCC_WRITE_REQ"));
  EXPECT_EQ(kernel.segments[kMemory].bytes, 4 * 120 * 64.0);
  EXPECT_TRUE(kernel.segments[kMemory].scaled);
}

TEST(CountersInTurns, TakeTheMeanOfUnequalLaunchesAndTellTheirSpread) {
  auto more = kL1Turn;
  more["TCP_TCC_READ_REQ_sum"] = 300;
  const auto kernel = only_kernel({launch(1, kL1Turn), launch(2, kMemoryTurn), launch(3, more)});
  EXPECT_EQ(kernel.segments[kL1L2].bytes, 3 * (200 + 50) * 64.0);
  EXPECT_THAT(kernel.segments[kL1L2].reason, HasSubstr("differ by up to 200%"));
}

TEST(CountersInTurns, AreKeptApartByGridAndNamedWhereAGridLacksATurn) {
  const auto kernel =
      only_kernel({launch(1, kL1Turn), launch(2, kMemoryTurn, 4096), launch(3, kMemoryTurn)});
  EXPECT_FALSE(kernel.segments[kL1L2].bytes);
  EXPECT_THAT(kernel.segments[kL1L2].reason,
              HasSubstr("1 of 3 launches of this kernel have TCP_TCC_READ_REQ"));
  EXPECT_THAT(kernel.segments[kL1L2].reason, HasSubstr("every grid size needs"));
}

TEST(CountersInTurns, FillOneValueThatIsMissing) {
  auto lacking = kL1Turn;
  lacking.erase("TCP_TCC_WRITE_REQ_sum");
  const auto kernel = only_kernel({launch(1, kL1Turn), launch(2, lacking)});
  EXPECT_EQ(kernel.segments[kL1L2].bytes, 2 * 150 * 64.0);
  EXPECT_TRUE(kernel.segments[kL1L2].scaled);
}

TEST(LaunchesWithAllCounters, AreNotScaled) {
  const auto kernel = only_kernel({launch(1, kL1Turn), launch(2, kL1Turn)});
  EXPECT_EQ(kernel.segments[kL1L2].bytes, 2 * 150 * 64.0);
  EXPECT_FALSE(kernel.segments[kL1L2].scaled);
  EXPECT_FALSE(kernel.segments[kMemory].bytes);
}

TEST(UncountedLaunches, MakeTheBytesALowerBoundBesideCountedOnes) {
  auto blind = launch(2, {});
  blind.uncounted = "every counter is 0";
  const auto kernel = only_kernel({launch(1, kL1Turn), blind});
  EXPECT_EQ(kernel.segments[kL1L2].bytes, 150 * 64.0);
  EXPECT_TRUE(kernel.segments[kL1L2].at_least);
  EXPECT_THAT(kernel.segments[kL1L2].reason,
              HasSubstr("1 of 2 launches are left out: every counter is 0"));
}

TEST(NoBytes, AreNeverReportedWithoutADoubt) {
  const Counters zeros{{"TCP_TCC_READ_REQ_sum", 0},
                       {"TCP_TCC_WRITE_REQ_sum", 0},
                       {"TCP_TOTAL_CACHE_ACCESSES_sum", 0},
                       {"SQ_WAVES", 64}};
  const auto kernel = only_kernel({launch(1, zeros)});
  EXPECT_EQ(kernel.segments[kL1L2].bytes, 0.0);
  EXPECT_THAT(kernel.segments[kL1L2].reason, HasSubstr("nothing moved here, or they were not on"));
  EXPECT_EQ(kernel.segments[0].upper_bytes, 0.0);
  EXPECT_THAT(kernel.segments[0].reason, HasSubstr("nothing moved here"));
}

TEST(MemoryInstructions, AreKnownWhereAllLaunchesCountThem) {
  const Counters both{{"SQ_INSTS_VMEM_RD", 30}, {"SQ_INSTS_VMEM_WR", 10}, {"SQ_INSTS_FLAT", 2}};
  EXPECT_EQ(only_kernel({launch(1, both), launch(2, both)}).memory_instructions, 84.0);
  const Counters one{{"SQ_INSTS_VMEM_RD", 30}};
  EXPECT_FALSE(only_kernel({launch(1, both), launch(2, one)}).memory_instructions);
}

TEST(WritesToMemory, AreKnownApartWhereAllLaunchesCountThem) {
  const Counters both{{"TCC_EA_RDREQ_sum", 100},   {"TCC_EA_RDREQ_32B_sum", 0},
                      {"TCC_EA_WRREQ_sum", 30},    {"TCC_EA_WRREQ_64B_sum", 30},
                      {"TCP_TCC_READ_REQ_sum", 5}, {"TCC_MISS_sum", 90}};
  const auto kernel = only_kernel({launch(1, both), launch(2, both)});
  EXPECT_EQ(kernel.segments[2].bytes, 2 * (100 + 30) * 64.0);
  EXPECT_EQ(kernel.memory_written_bytes, 2 * 30 * 64.0);
  EXPECT_EQ(kernel.l2_filled_bytes, 2 * 90 * 128.0);
  EXPECT_FALSE(only_kernel({launch(1, both), launch(2, kL1Turn)}).memory_written_bytes);
}

TEST(LaunchTimes, CarryARemarkWhereEndsWereCut) {
  auto late = launch(2, kL1Turn);
  late.cut_ns = 780'000;
  auto noisy = launch(3, kL1Turn);
  noisy.cut_ns = 27;
  const auto kernel = only_kernel({launch(1, kL1Turn), late, noisy});
  ASSERT_TRUE(kernel.time_s);
  EXPECT_DOUBLE_EQ(*kernel.time_s, 60e-6);
  EXPECT_THAT(kernel.time_reason, HasSubstr("1 of 3 launches end after"));
  EXPECT_THAT(kernel.time_reason, HasSubstr("780 us"));
  EXPECT_EQ(only_kernel({launch(1, kL1Turn), noisy}).time_reason, "");
}

TEST(LaunchTimes, CarryARemarkWhereOneLaunchLastsFarLongerThanTheOthers) {
  auto stray = launch(4, kL1Turn);
  stray.duration_ns = 1.6e9;
  const auto kernel =
      only_kernel({launch(1, kL1Turn), launch(2, kL1Turn), launch(3, kL1Turn), stray});
  EXPECT_THAT(kernel.time_reason, HasSubstr("lasts 1.6 s, 80000 times their median"));
}

std::string csv(const std::string& counter, int process = 7) {
  return fmt::format(
      "\"Dispatch_Id\",\"Agent_Id\",\"Process_Id\",\"Grid_Size\",\"Kernel_Name\",\"Counter_Name\","
      "\"Counter_Value\"\n1,\"Agent 1\",{0},64,\"k\",\"{1}\",100\n"
      "2,\"Agent 1\",{0},64,\"k\",\"{1}\",100\n",
      process, counter);
}

class CounterFiles : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    const auto path = scratch_.path() / name;
    std::ofstream(path) << text;
    return path.string();
  }
  ScratchFolder scratch_ = ScratchFolder::create("traffic").value();
};

TEST_F(CounterFiles, ThatArePassesOfOneProgramAreJoined) {
  const auto traffic = read_traffic(
      {put("a.csv", csv("TCP_TCC_READ_REQ_sum")), put("b.csv", csv("TCP_TCC_WRITE_REQ_sum", 8))},
      "gfx90a");
  ASSERT_TRUE(traffic) << traffic.error().text();
  ASSERT_EQ(traffic->kernels.size(), 1u);
  EXPECT_EQ(traffic->kernels[0].dispatches, 2u);
  EXPECT_EQ(traffic->kernels[0].segments[kL1L2].bytes, 2 * 200 * 64.0);
  EXPECT_FALSE(traffic->kernels[0].segments[kL1L2].scaled);
}

TEST_F(CounterFiles, OfTwoRunsWithTheSameCountersAreAdded) {
  const auto traffic = read_traffic(
      {put("a.csv", csv("TCP_TCC_READ_REQ_sum")), put("b.csv", csv("TCP_TCC_READ_REQ_sum", 8))},
      "gfx90a");
  ASSERT_TRUE(traffic) << traffic.error().text();
  EXPECT_EQ(traffic->dispatches, 4u);
}

TEST_F(CounterFiles, AreNotMixedWithATraceOfKernels) {
  const auto trace =
      put("t.csv",
          "\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\","
          "\"End_Timestamp\"\nKERNEL_DISPATCH,1,1,\"k\",10,20\n");
  const auto traffic = read_traffic({put("a.csv", csv("TCP_TCC_READ_REQ_sum")), trace}, "gfx90a");
  ASSERT_FALSE(traffic);
  EXPECT_THAT(traffic.error().message, HasSubstr("without counters"));
}

}  // namespace
}  // namespace ww::session
