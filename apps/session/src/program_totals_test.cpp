#include "ww/session/program_totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kHead =
    "\"Dispatch_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","
    "\"End_Timestamp\"\n";

std::string row(int dispatch, const char* kernel, const char* counter, double value, int start,
                int end) {
  return std::to_string(dispatch) + ",\"" + kernel + "\",\"" + counter + "\"," +
         std::to_string(value) + ',' + std::to_string(start) + ',' + std::to_string(end) + '\n';
}

TEST(ProgramTotals, AddUpDispatchesByKernelAndCountersByName) {
  ProgramTotals totals;
  ASSERT_TRUE(totals.add(
      kHead + row(1, "saxpy", "SQ_WAVES", 4, 100, 350) +
          row(1, "saxpy", "SQ_INSTS_VALU", 40, 100, 350) + row(2, "dot", "SQ_WAVES", 2, 400, 500) +
          row(3, "saxpy", "SQ_WAVES", 6, 500, 900) + row(3, "saxpy", "SQ_INSTS_VALU", 60, 500, 900),
      "a.csv"));
  EXPECT_THAT(totals.names, ElementsAre("SQ_WAVES", "SQ_INSTS_VALU"));
  const KernelTotals& saxpy = totals.kernels.at("saxpy");
  EXPECT_EQ(saxpy.dispatches, 2U);
  EXPECT_EQ(saxpy.chip_time_ns, 650);
  EXPECT_EQ(saxpy.counters.at("SQ_WAVES"), 10);
  const KernelTotals sum = totals.sum();
  EXPECT_EQ(sum.dispatches, 3U);
  EXPECT_EQ(sum.chip_time_ns, 750);
  EXPECT_EQ(sum.counters.at("SQ_WAVES"), 12);
  EXPECT_EQ(sum.counters.at("SQ_INSTS_VALU"), 100);
}

// Every process numbers its dispatches from 1.
TEST(ProgramTotals, CountADispatchOfEachProcess) {
  ProgramTotals totals;
  for (const char* file : {"a.csv", "b.csv"}) {
    ASSERT_TRUE(totals.add(kHead + row(1, "saxpy", "SQ_WAVES", 4, 0, 10), file));
  }
  EXPECT_EQ(totals.kernels.at("saxpy").dispatches, 2U);
}

TEST(ProgramTotals, NameTheFileAndLineOfABadRow) {
  ProgramTotals totals;
  const auto added = totals.add(std::string(kHead) + "1,k,SQ_WAVES,many,0,10\n", "a.csv");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), HasSubstr("a.csv:2"));
}

TEST(ProgramTotals, ConvertCountsToBytesByTheCounterMap) {
  ProgramTotals totals;
  totals.architecture = "gfx90a";
  KernelTotals kernel;
  EXPECT_EQ(totals.traffic(kernel).l1_l2, 0) << "absent counters";
  kernel.counters = {{"TCP_TCC_READ_REQ_sum", 10}, {"TCP_TCC_WRITE_REQ_sum", 0},
                     {"TCC_EA_RDREQ_sum", 5},      {"TCC_EA_RDREQ_32B_sum", 1},
                     {"TCC_EA_WRREQ_sum", 3},      {"TCC_EA_WRREQ_64B_sum", 2}};
  const CacheTraffic traffic = totals.traffic(kernel);
  EXPECT_EQ(traffic.memory_read, 4 * 64 + 32);
  EXPECT_EQ(traffic.memory_write, 2 * 64 + 32);
}

TEST(Fidelity, CountsWaveInstructionsOfAllUnits) {
  KernelTotals sum;
  sum.counters = {{"SQ_INSTS_VALU", 100},
                  {"SQ_INSTS_LDS", 7},
                  {"SQ_WAVES", 50},
                  {"WW_INSTS_APPROXIMATED_sum", 9}};
  Fidelity fidelity;
  fidelity.count_instructions(sum);
  EXPECT_EQ(fidelity.instructions, 107U);
  EXPECT_EQ(fidelity.exact(), 98U);
}

TEST(Fidelity, AddsTheReportsOfAllProcesses) {
  Fidelity fidelity;
  ASSERT_TRUE(fidelity.add_mistakes(R"({"stopped_launches": 2, "memory_mistakes": 5})", "1.json"));
  ASSERT_TRUE(fidelity.add_mistakes(R"({"unknown_instructions": 1, "memory_mistakes": 1})", "2"));
  EXPECT_EQ(fidelity.stopped_launches, 2U);
  EXPECT_EQ(fidelity.unknown_instructions, 1U);
  EXPECT_EQ(fidelity.memory_mistakes, 6U);
  const auto cut = fidelity.add_mistakes(R"({"stopped_launches": 2)", "3.json");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().context, "3.json");
}

}  // namespace
}  // namespace ww::session
