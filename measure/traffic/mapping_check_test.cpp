#include "ww/measure/mapping_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

constexpr double kMib = 1 << 20;
constexpr KnownBytes kKnown{64 * kMib, 64 * kMib, 1 * kMib};

CounterDispatch run_of(double read_requests, double write_requests, double lost = 0) {
  CounterDispatch dispatch;
  dispatch.counters = {
      {"TCP_TCC_READ_REQ_sum", read_requests},     {"TCP_TCC_WRITE_REQ_sum", write_requests},
      {"TCC_EA_RDREQ_sum", read_requests},         {"TCC_EA_RDREQ_32B_sum", 0},
      {"TCC_EA_WRREQ_sum", write_requests - lost}, {"TCC_EA_WRREQ_64B_sum", write_requests - lost}};
  return dispatch;
}

MappingCheck of(const std::vector<MappingCheck>& checks, Segment segment) {
  return *std::ranges::find(checks, segment, &MappingCheck::segment);
}

TEST(MappingCheck, RightCountersAreTakenAsTheyAre) {
  // Some lines stay dirty in the L2.
  const std::vector runs{run_of(kMib, kMib, 8192), run_of(kMib, kMib, 16000)};
  const auto checks = check_mapping("gfx90a", runs, kKnown);
  for (const Segment segment : {Segment::l1_l2_read, Segment::l1_l2_write, Segment::l1_l2,
                                Segment::l2_memory_read, Segment::l2_memory_write}) {
    EXPECT_EQ(of(checks, segment).verdict, MappingVerdict::exact) << of(checks, segment).reason;
  }
}

// gfx942's requests are 128 B where gfx90a's are 64 B: a table for the wrong part is a factor.
TEST(MappingCheck, AFactorThatEveryRunSharesIsTaken) {
  const std::vector runs{run_of(kMib / 2, kMib), run_of(kMib / 2, kMib)};
  const auto check = of(check_mapping("gfx90a", runs, kKnown), Segment::l1_l2_read);
  EXPECT_EQ(check.verdict, MappingVerdict::scaled);
  EXPECT_NEAR(check.scale, 2.0, 1e-9);
  EXPECT_NEAR(check.error(), -0.5, 1e-9);
  EXPECT_THAT(check.reason, HasSubstr("-50.0%"));
}

TEST(MappingCheck, RunsThatDisagreeAreRefused) {
  const std::vector runs{run_of(kMib / 2, kMib), run_of(0.6 * kMib, kMib)};
  const auto check = of(check_mapping("gfx90a", runs, kKnown), Segment::l1_l2_read);
  EXPECT_EQ(check.verdict, MappingVerdict::refused);
  EXPECT_THAT(check.reason, HasSubstr("differ"));
}

TEST(MappingCheck, AFactorBeyondReasonIsRefused) {
  const std::vector runs{run_of(kMib / 10, kMib), run_of(kMib / 10, kMib)};
  EXPECT_EQ(of(check_mapping("gfx90a", runs, kKnown), Segment::l1_l2_read).verdict,
            MappingVerdict::refused);
}

TEST(MappingCheck, BeyondTheL2DataMustBeLarge) {
  const std::vector runs{run_of(kMib, kMib), run_of(kMib, kMib)};
  const KnownBytes small{64 * kMib, 64 * kMib, 50 * kMib};
  const auto check = of(check_mapping("gfx90a", runs, small), Segment::l2_memory_read);
  EXPECT_EQ(check.verdict, MappingVerdict::refused);
  EXPECT_THAT(check.reason, HasSubstr("not large"));
}

// Dirty lines that one launch leaves in the L2 go to memory in the next one.
TEST(MappingCheck, WritesBeyondTheL2MayBeThoseOfAnEarlierLaunch) {
  const double half_of_l2 = kMib / 128;  // requests of 64 bytes
  const auto beyond = [](double first, double second) {
    const std::vector runs{run_of(kMib, kMib, first), run_of(kMib, kMib, second)};
    return of(check_mapping("gfx90a", runs, kKnown), Segment::l2_memory_write);
  };
  EXPECT_EQ(beyond(half_of_l2, -half_of_l2).verdict, MappingVerdict::exact);
  EXPECT_EQ(beyond(half_of_l2, -half_of_l2).reason, "");
  EXPECT_THAT(beyond(half_of_l2, half_of_l2).reason, HasSubstr("what the L2 keeps"));
  EXPECT_EQ(beyond(half_of_l2, -4 * half_of_l2).verdict, MappingVerdict::refused);
}

TEST(MappingCheck, WithoutTheL2sSizeNothingIsSaidOfWhatLeavesIt) {
  const std::vector runs{run_of(kMib, kMib), run_of(kMib, kMib)};
  const auto checks = check_mapping("gfx90a", runs, KnownBytes{64 * kMib, 64 * kMib, 0});
  for (const Segment segment : {Segment::l2_memory_read, Segment::l2_memory_write}) {
    EXPECT_EQ(of(checks, segment).verdict, MappingVerdict::unavailable);
    EXPECT_THAT(of(checks, segment).reason, HasSubstr("size of the L2 is not known"));
  }
  EXPECT_EQ(of(checks, Segment::l1_l2_read).verdict, MappingVerdict::exact);
}

TEST(MappingCheck, MissingCountersAndSingleRunsAreSaid) {
  const std::vector empty{CounterDispatch{}, CounterDispatch{}};
  const auto missing = of(check_mapping("gfx90a", empty, kKnown), Segment::l1_l2_read);
  EXPECT_EQ(missing.verdict, MappingVerdict::unavailable);
  EXPECT_THAT(missing.reason, HasSubstr("TCP_TCC_READ_REQ"));
  const std::vector one{run_of(kMib, kMib)};
  EXPECT_THAT(of(check_mapping("gfx90a", one, kKnown), Segment::l1_l2).reason, HasSubstr("two"));
  EXPECT_THAT(of(check_mapping("gfx12", empty, kKnown), Segment::l1_l2).reason,
              HasSubstr("no counters are known"));
}

}  // namespace
}  // namespace ww::measure
