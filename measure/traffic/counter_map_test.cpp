#include "ww/measure/counter_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(L1L2Requests, NameTheCounterThatIsMissing) {
  const auto bytes = l1_l2_requests({{"TCP_TCC_READ_REQ_sum", 5}});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::unsupported);
  EXPECT_THAT(bytes.error().message, HasSubstr("TCP_TCC_WRITE_REQ_sum"));
}

}  // namespace
}  // namespace ww::measure
