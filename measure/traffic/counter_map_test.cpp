#include "ww/measure/counter_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ww/measure/i_counters.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

TEST(L1L2Bytes, AreLinesOfSixtyFourOnGfx7) {
  EXPECT_EQ(l1_l2_bytes("gfx701", {{"TCC_HIT_sum", 9}, {"TCC_MISS_sum", 1}}).value(), 640.0);
  EXPECT_EQ(l1_l2_bytes("gfx701", {{"TCC_HIT", 9}, {"TCC_MISS", 1}}).value(), 640.0);
}

TEST(L1L2Bytes, AreRequestsOfSixtyFourFromGfx9On) {
  const std::map<std::string, double> counters{{"TCP_TCC_READ_REQ_sum", 5},
                                               {"TCP_TCC_WRITE_REQ_sum", 3},
                                               {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 1}};
  EXPECT_EQ(l1_l2_bytes("gfx900", counters).value(), 640.0);
  EXPECT_EQ(l1_l2_bytes("gfx90a", counters).value(), 640.0);
  EXPECT_EQ(l1_l2_bytes("gfx90a", {{"TCP_TCC_READ_REQ_sum", 5}}).error().code, ErrorCode::bad_data);
}

TEST(L1L2Bytes, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(l1_l2_bytes("gfx1300", {}).error().code, ErrorCode::unsupported);
  EXPECT_THAT(l1_l2_bytes("gfx701", {{"TCC_HIT", 9}}).error().message, HasSubstr("TCC_MISS"));
  EXPECT_EQ(l1_l2_bytes("gfx701", {{"TCC_HIT", -9}, {"TCC_MISS", 0}}).error().code,
            ErrorCode::bad_data);
  EXPECT_EQ(l1_l2_bytes("gfx701", {{"TCC_HIT", std::nan("")}, {"TCC_MISS", 0}}).error().code,
            ErrorCode::bad_data);
}

TEST(L1L2Bytes, FollowTheTableOfEachArchitecture) {
  const std::map<std::string, double> counters{{"TCP_TCC_READ_REQ_sum", 5},
                                               {"TCP_TCC_WRITE_REQ_sum", 3}};
  EXPECT_EQ(l1_l2_bytes("gfx942", counters).value(), 5 * 128 + 3 * 64);
}

TEST(L1L2Requests, AreBytesOfReadsWritesAndAtomics) {
  const auto old = l1_l2_requests(
      {{"TCP_TCC_READ_REQ_sum", 5}, {"TCP_TCC_WRITE_REQ_sum", 3}, {"TCP_TCC_ATOMIC_REQ_sum", 2}});
  ASSERT_TRUE(old) << old.error().text();
  EXPECT_EQ(old->read, 320);
  EXPECT_EQ(old->write, 192);
  EXPECT_EQ(old->atomic, 128);
  const auto split = l1_l2_requests({{"TCP_TCC_READ_REQ_sum", 5},
                                     {"TCP_TCC_WRITE_REQ_sum", 3},
                                     {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 2},
                                     {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 1}});
  ASSERT_TRUE(split) << split.error().text();
  EXPECT_EQ(split->atomic, 192);
}

TEST(L1L2Requests, OfGfx94ReadWholeLines) {
  const auto bytes = l1_l2_requests({{"TCP_TCC_READ_REQ_sum", 5},
                                     {"TCP_TCC_WRITE_REQ_sum", 3},
                                     {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 0},
                                     {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 0},
                                     {"TCC_BUBBLE_sum", 0}});
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(bytes->read, 5 * 128);
  EXPECT_EQ(bytes->of_a_read, 128);
  EXPECT_EQ(bytes->write, 3 * 64);
}

TEST(L1L2Requests, OfGfx10AreCountedAtTheL2) {
  const auto bytes = l1_l2_requests(
      {{"GL2C_READ_128_REQ_sum", 5}, {"GL2C_WRITE_64_REQ_sum", 3}, {"GL2C_ATOMIC_sum", 2}});
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(bytes->read, 5 * 128);
  EXPECT_EQ(bytes->of_a_read, 128);
  EXPECT_EQ(bytes->write, 3 * 64);
  EXPECT_EQ(bytes->atomic, 2 * 64);
}

TEST(L1L2Requests, NameTheCounterThatIsMissing) {
  const auto bytes = l1_l2_requests({{"TCP_TCC_READ_REQ_sum", 5}});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::unsupported);
  EXPECT_THAT(bytes.error().message, HasSubstr("TCP_TCC_WRITE_REQ_sum"));
}

SegmentBytes of(const std::string& architecture, std::map<std::string, double> counters,
                Segment segment) {
  CounterDispatch dispatch;
  dispatch.counters = std::move(counters);
  const auto all = segment_bytes(architecture, dispatch);
  return *std::ranges::find(all, segment, &SegmentBytes::segment);
}

TEST(SegmentBounds, TakeTheLargestRequestWhereSizesWereNotCounted) {
  const auto mi200 = of("gfx90a", {{"TCC_EA_RDREQ_sum", 100}}, Segment::l2_memory_read);
  EXPECT_EQ(mi200.status, RowStatus::not_identified);
  EXPECT_FALSE(mi200.bytes);
  EXPECT_EQ(mi200.upper_bytes, 6400.0);
  EXPECT_THAT(mi200.reason, HasSubstr("TCC_EA_RDREQ_32B_sum"));
  EXPECT_EQ(of("gfx942", {{"TCC_EA0_RDREQ_sum", 100}}, Segment::l2_memory_read).upper_bytes,
            12800.0);
  // The sizes make it a figure.
  const auto whole = of("gfx90a", {{"TCC_EA_RDREQ_sum", 100}, {"TCC_EA_RDREQ_32B_sum", 10}},
                        Segment::l2_memory_read);
  EXPECT_EQ(whole.bytes, 90 * 64.0 + 10 * 32.0);
  EXPECT_FALSE(whole.upper_bytes);
  EXPECT_EQ(of("gfx90a", {}, Segment::l2_memory_read).status, RowStatus::unavailable);
}

TEST(SegmentBounds, ShareATotalOfReadsAndWrites) {
  const auto read = of("sm_90", {{"dram__bytes.sum", 5000}}, Segment::l2_memory_read);
  const auto write = of("sm_90", {{"dram__bytes.sum", 5000}}, Segment::l2_memory_write);
  EXPECT_EQ(read.upper_bytes, 5000.0);
  EXPECT_EQ(write.upper_bytes, 5000.0);
  EXPECT_TRUE(read.upper_is_of_both && write.upper_is_of_both);
}

constexpr const char* kSectors = "lts__t_sectors_srcunit_tex_op_";
std::map<std::string, double> sectors(const std::map<std::string, double>& by_operation) {
  std::map<std::string, double> counters;
  for (const auto& [operation, value] : by_operation) {
    counters[kSectors + operation + ".sum"] = value;
  }
  return counters;
}

TEST(SegmentBytesOfNvidia, CountAtomicsBothWaysAndReductionsOneWay) {
  const auto counters = sectors({{"read", 1}, {"write", 10}, {"red", 100}, {"atom", 1000}});
  for (const char* architecture : {"sm_70", "sm_80", "sm_90"}) {
    const auto to_the_l2 = of(architecture, counters, Segment::l1_l2_write);
    EXPECT_EQ(to_the_l2.bytes, 32.0 * 1110);
    EXPECT_EQ(to_the_l2.quality, MapQuality::upper_bound);
    EXPECT_THAT(to_the_l2.reason, HasSubstr("unchecked"));
    EXPECT_EQ(of(architecture, counters, Segment::l1_l2_read).bytes, 32.0 * 1001);
    EXPECT_EQ(of(architecture, counters, Segment::l1_l2).bytes, 32.0 * 2111);
  }
}

TEST(SegmentBytesOfNvidia, TakeTheTwoKindsOfAtomicsOnlyWhereTheirSumIsMissing) {
  const std::map<std::string, double> kinds{
      {"read", 1}, {"write", 1}, {"red", 0}, {"atom_dot_alu", 20}, {"atom_dot_cas", 7}};
  EXPECT_EQ(of("sm_80", sectors(kinds), Segment::l1_l2).bytes, 32.0 * (2 + 2 * 27));
  auto both = kinds;
  both["atom"] = 27;
  EXPECT_EQ(of("sm_80", sectors(both), Segment::l1_l2).bytes, 32.0 * (2 + 2 * 27));
  auto half = kinds;
  half.erase("atom_dot_cas");
  EXPECT_EQ(of("sm_80", sectors(half), Segment::l1_l2).quality, MapQuality::lower_bound);
}

TEST(SegmentBytesWithoutCountersOfAtomics, AreALowerBoundThatNamesThem) {
  const auto nvidia = of("sm_80", sectors({{"read", 1}, {"write", 1}}), Segment::l1_l2);
  EXPECT_EQ(nvidia.bytes, 64);
  EXPECT_EQ(nvidia.quality, MapQuality::lower_bound);
  EXPECT_THAT(nvidia.reason, HasSubstr("not counted without lts__t_sectors_srcunit_tex_op_red.sum, "
                                       "lts__t_sectors_srcunit_tex_op_atom.sum"));
  const auto known =
      of("sm_80", sectors({{"read", 1}, {"write", 1}, {"red", 0}, {"atom", 0}}), Segment::l1_l2);
  EXPECT_EQ(known.quality, MapQuality::unchecked);
  EXPECT_EQ(known.reason, "");

  const std::map<std::string, double> mi200{{"TCP_TCC_READ_REQ_sum", 5},
                                            {"TCP_TCC_WRITE_REQ_sum", 3}};
  const auto amd = of("gfx90a", mi200, Segment::l1_l2);
  EXPECT_EQ(amd.quality, MapQuality::lower_bound);
  EXPECT_THAT(amd.reason, HasSubstr("TCP_TCC_ATOMIC_WITH_RET_REQ_sum, "
                                    "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"));
  auto without_atomics = mi200;
  without_atomics["TCP_TCC_ATOMIC_WITH_RET_REQ_sum"] = 0;
  without_atomics["TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"] = 0;
  EXPECT_EQ(of("gfx90a", without_atomics, Segment::l1_l2).quality, MapQuality::exact);
}

TEST(SegmentBytesOfGfx950, CountRequestsOf128BytesByTheirOwnName) {
  const std::map<std::string, double> counters{{"TCC_EA0_RDREQ_sum", 100},
                                               {"TCC_EA0_RDREQ_32B_sum", 10},
                                               {"TCC_EA0_RDREQ_128B_sum", 60},
                                               {"TCC_BUBBLE_sum", 0}};
  EXPECT_EQ(of("gfx950", counters, Segment::l2_memory_read).bytes,
            60 * 128.0 + 30 * 64.0 + 10 * 32.0);
  auto older = counters;
  older.erase("TCC_EA0_RDREQ_128B_sum");
  EXPECT_FALSE(of("gfx950", older, Segment::l2_memory_read).bytes);
}

TEST(SegmentBytesOfPasses, AreRejectedWhereTheirPartsTogetherExceedTheWhole) {
  const std::map<std::string, double> together{
      {"TCC_EA0_RDREQ_sum", 1000}, {"TCC_BUBBLE_sum", 990}, {"TCC_EA0_RDREQ_32B_sum", 50}};
  const auto rejected = of("gfx942", together, Segment::l2_memory_read);
  EXPECT_EQ(rejected.status, RowStatus::rejected);
  EXPECT_FALSE(rejected.bytes);
  EXPECT_THAT(rejected.reason, HasSubstr("TCC_EA0_RDREQ_32B_sum = 50 and TCC_BUBBLE_sum = 990 "
                                         "cannot be parts of TCC_EA0_RDREQ_sum = 1000"));
  auto within = together;
  within["TCC_EA0_RDREQ_32B_sum"] = 25;  // passes do not repeat to the last request
  EXPECT_TRUE(of("gfx942", within, Segment::l2_memory_read).bytes);

  const std::map<std::string, double> mi350{
      {"TCC_EA0_RDREQ_sum", 100}, {"TCC_EA0_RDREQ_32B_sum", 60}, {"TCC_EA0_RDREQ_128B_sum", 60}};
  EXPECT_FALSE(of("gfx950", mi350, Segment::l2_memory_read).bytes);
  const std::map<std::string, double> second_port{{"TCC_EA_RDREQ_sum", 100},
                                                  {"TCC_EA_RDREQ_32B_sum", 0},
                                                  {"TCC_EA1_RDREQ_sum", 100},
                                                  {"TCC_EA1_RDREQ_32B_sum", 130}};
  EXPECT_FALSE(of("gfx906", second_port, Segment::l2_memory_read).bytes);
  const std::map<std::string, double> navi{{"GL2C_EA_RDREQ_sum", 100},
                                           {"GL2C_EA_RDREQ_32B_sum", 30},
                                           {"GL2C_EA_RDREQ_64B_sum", 30},
                                           {"GL2C_EA_RDREQ_96B_sum", 30},
                                           {"GL2C_EA_RDREQ_128B_sum", 30}};
  EXPECT_FALSE(of("gfx1100", navi, Segment::l2_memory_read).bytes);
}

TEST(SegmentBytesOfNvidia, AreRejectedWhereReadsAndWritesExceedTheirTotal) {
  const std::map<std::string, double> dram{
      {"dram__bytes_read.sum", 80}, {"dram__bytes_write.sum", 40}, {"dram__bytes.sum", 100}};
  EXPECT_EQ(of("sm_90", dram, Segment::l2_memory_read).status, RowStatus::rejected);
  EXPECT_EQ(of("sm_90", dram, Segment::l2_memory_write).status, RowStatus::rejected);
  auto l2 = sectors({{"read", 80}, {"write", 40}});
  EXPECT_TRUE(of("sm_90", l2, Segment::l1_l2).bytes);
  l2["lts__t_sectors_srcunit_tex.sum"] = 100;
  EXPECT_EQ(of("sm_90", l2, Segment::l1_l2).status, RowStatus::rejected);
}

TEST(SegmentBytesOfRadeons, AreALowerBoundWhereRequestsHaveNoSize) {
  const std::map<std::string, double> counters{{"GL2C_EA_RDREQ_sum", 1000},
                                               {"GL2C_EA_RDREQ_32B_sum", 0},
                                               {"GL2C_EA_RDREQ_64B_sum", 0},
                                               {"GL2C_EA_RDREQ_128B_sum", 200},
                                               {"GL2C_EA_RDREQ_256B_sum", 0}};
  const auto bytes = of("gfx1201", counters, Segment::l2_memory_read);
  EXPECT_EQ(bytes.bytes, 200 * 128.0);
  EXPECT_EQ(bytes.quality, MapQuality::lower_bound);
  EXPECT_THAT(bytes.reason, HasSubstr("800 have no counter of their size"));
}

TEST(SegmentBytesByLookups, AreRejectedWhereNoneWasCountedButRequestsLeftTheL2) {
  const std::map<std::string, double> counters{
      {"GL2C_HIT_sum", 0}, {"GL2C_MISS_sum", 0}, {"GL2C_MC_WRREQ_sum", 7}};
  EXPECT_EQ(of("gfx1030", counters, Segment::l1_l2).status, RowStatus::rejected);
  const std::map<std::string, double> hawaii{
      {"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 0}, {"TCC_MC_RDREQ_sum", 7}};
  EXPECT_EQ(of("gfx701", hawaii, Segment::l1_l2).status, RowStatus::rejected);
}

TEST(SegmentBytesOfStrix, AreALowerBoundUnlessAllInstancesAreThere) {
  const std::map<std::string, double> sums{{"GL2C_HIT_sum", 4}, {"GL2C_MISS_sum", 4}};
  for (const char* part : {"gfx1150", "gfx1151", "gfx1152", "gfx1153"}) {
    const auto half = of(part, sums, Segment::l1_l2);
    EXPECT_EQ(half.quality, MapQuality::lower_bound) << part;
    EXPECT_THAT(half.reason, HasSubstr("twice as many")) << part;
  }
  EXPECT_EQ(of("gfx1100", sums, Segment::l1_l2).quality, MapQuality::unchecked);
  std::map<std::string, double> instances;
  for (int i = 0; i < 8; ++i) {
    instances["GL2C_HIT[" + std::to_string(i) + "]"] = 1;
    instances["GL2C_MISS[" + std::to_string(i) + "]"] = 1;
  }
  EXPECT_EQ(of("gfx1151", instances, Segment::l1_l2).quality, MapQuality::unchecked);
}

TEST(SegmentBytesOfPasses, CarryTheRemarkOfACounterThatTheyUse) {
  CounterDispatch dispatch;
  dispatch.counters = {{"TCP_TCC_READ_REQ_sum", 9}, {"TCP_TCC_WRITE_REQ_sum", 1}};
  dispatch.remarks = {{"TCP_TCC_READ_REQ_sum", "the mean of 2 passes"}, {"SQ_WAVES", "other"}};
  const auto all = segment_bytes("gfx90a", dispatch);
  const auto& bytes = *std::ranges::find(all, Segment::l1_l2, &SegmentBytes::segment);
  EXPECT_THAT(bytes.reason, HasSubstr("the mean of 2 passes"));
  EXPECT_THAT(bytes.reason, ::testing::Not(HasSubstr("other")));
}

}  // namespace
}  // namespace ww::measure
