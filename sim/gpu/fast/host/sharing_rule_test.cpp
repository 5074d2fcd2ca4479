#include "fast/host/sharing_rule.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu::exec {
namespace {

constexpr std::int64_t kRoundTrip = 100;  // then 20 us are worth sharing

// Takes enough quanta of this length that nothing is left of earlier ones.
void settle(SharingRule& rule, std::int64_t ns) {
  for (int i = 0; i < 50; ++i) rule.took(ns);
}

TEST(SharingRule, TriesWhereTheDistanceIsNotKnown) {
  SharingRule rule;
  EXPECT_TRUE(rule.worth_it(0));
  rule.took(1);
  EXPECT_TRUE(rule.worth_it(0));
}

TEST(SharingRule, SharesLongQuantaAlone) {
  SharingRule rule;
  rule.took(5'000);
  EXPECT_FALSE(rule.worth_it(kRoundTrip));
  settle(rule, 40'000);
  EXPECT_TRUE(rule.worth_it(kRoundTrip));
  // The host's cores are further apart, and the quanta as before.
  EXPECT_FALSE(rule.worth_it(5 * kRoundTrip));
}

TEST(SharingRule, StaysWithWhatSharingMadeShorter) {
  SharingRule rule;
  rule.took(25'000);
  EXPECT_TRUE(rule.worth_it(kRoundTrip));
  settle(rule, 17'000);
  EXPECT_TRUE(rule.worth_it(kRoundTrip));
  settle(rule, 10'000);
  EXPECT_FALSE(rule.worth_it(kRoundTrip));
  settle(rule, 17'000);
  EXPECT_FALSE(rule.worth_it(kRoundTrip));
}

TEST(SharingRule, IsNotMisledByAQuantumThatWaitedForTheHost) {
  SharingRule rule;
  rule.took(5'000);
  rule.took(1'000'000'000);
  EXPECT_FALSE(rule.worth_it(kRoundTrip));
}

}  // namespace
}  // namespace ww::sim::gpu::exec
