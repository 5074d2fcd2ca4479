#include "ww/measure/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAdminOnly = "Mobile: 4294967295\nRmProfilingAdminOnly: 1\n";
constexpr const char* kRoot = "Name:\tw\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n";
// Docker's default set, which root in a container has.
constexpr const char* kRootInContainer =
    "Name:\tw\nCapEff:\t00000000a80425fb\nCapBnd:\t000001ffffffffff\n";

TEST(CountersOfNvidia, NeedTheCapabilityAndNotTheNameOfRoot) {
  EXPECT_EQ(check_ncu("/usr/bin/ncu", kAdminOnly, kRoot).verdict, Verdict::good);
  const Finding refused = check_ncu("/usr/bin/ncu", kAdminOnly, kRootInContainer);
  EXPECT_EQ(refused.verdict, Verdict::unavailable);
  EXPECT_THAT(refused.detail, HasSubstr("CAP_SYS_ADMIN"));
  EXPECT_THAT(refused.remedy, HasSubstr("--cap-add SYS_ADMIN"));
  EXPECT_EQ(check_ncu("/usr/bin/ncu", kAdminOnly, "").verdict, Verdict::unavailable);
}

TEST(CountersOfNvidia, AreOpenWhereTheDriverDoesNotKeepThem) {
  EXPECT_EQ(check_ncu("/usr/bin/ncu", "RmProfilingAdminOnly: 0\n", kRootInContainer).verdict,
            Verdict::good);
  EXPECT_EQ(check_ncu("", "", kRoot).verdict, Verdict::unavailable);
}

}  // namespace
}  // namespace ww::measure
