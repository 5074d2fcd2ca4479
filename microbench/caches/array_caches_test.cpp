#include "caches/array_caches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ww::microbench {
namespace {

using Kind = ArrayCacheVerdict::Kind;
using ::testing::HasSubstr;

constexpr std::int64_t kKib = 1024;

std::vector<StairPoint> stairs(double inside, double beyond) {
  return {{64 * kKib, inside},
          {96 * kKib, inside},
          {192 * kKib, 0.5 * (inside + beyond)},
          {512 * kKib, beyond},
          {1024 * kKib, beyond}};
}

// A cache that the bits pass by: plain loads see it, the streams' loads do not.
ArrayCacheEvidence obeying() {
  ArrayCacheEvidence evidence;
  evidence.litmus = Visibility{512, 32, 0, 16'000, 1, 2};
  evidence.past = stairs(300, 301);
  evidence.plain = stairs(170, 300);
  return evidence;
}

TEST(ArrayCaches, ArePassedByWhereNoLineIsStaleAndTheControlIs) {
  const auto verdict = judge_array_caches(obeying());
  EXPECT_EQ(verdict.kind, Kind::passed_by) << verdict.reason;
  // 16,384 lines without a stale one.
  EXPECT_NEAR(verdict.max_hits, 3.0 / 16'384, 1e-5);
}

TEST(ArrayCaches, AnswerWhereOneLineIsStale) {
  auto evidence = obeying();
  evidence.litmus->stale = 1;
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::answers);
  EXPECT_THAT(verdict.reason, HasSubstr("1 of 16384 lines"));
}

// As where the other array's stores throw lines out: the litmus shows nothing then.
TEST(ArrayCaches, AnswerWhereSmallSetsAreFasterThoughNoLineIsStale) {
  auto evidence = obeying();
  evidence.past = stairs(170, 300);
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::answers);
  EXPECT_THAT(verdict.reason, HasSubstr("170 ticks"));
}

TEST(ArrayCaches, ArePassedByByTheStaircaseAloneWithAWiderBound) {
  auto evidence = obeying();
  evidence.litmus->stale_plain = 0;
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::passed_by) << verdict.reason;
  EXPECT_NEAR(verdict.max_hits, 2.0 / 130, 1e-9);
}

TEST(ArrayCaches, AreNotShownWhereBothControlsFail) {
  auto evidence = obeying();
  evidence.litmus.reset();
  evidence.no_litmus = "it has one shader array";
  evidence.plain = stairs(282, 300);
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::not_shown);
  EXPECT_THAT(verdict.reason, HasSubstr("one shader array"));
  EXPECT_THAT(verdict.reason, HasSubstr("staircase does not show"));
  const ArrayCacheEvidence none;
  EXPECT_EQ(judge_array_caches(none).kind, Kind::not_shown);
}

// As on RDNA 4.
TEST(ArrayCaches, ArePassedByWhereNeitherTestShowsOneEvenForPlainLoads) {
  auto evidence = obeying();
  evidence.litmus->stale_plain = 0;
  evidence.plain = stairs(299, 301);
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::passed_by) << verdict.reason;
  EXPECT_THAT(verdict.reason, HasSubstr("no cache between"));
  EXPECT_NEAR(verdict.max_hits, 3.0 / 16'384, 1e-5);
  // The latencies alone would not show a cache that takes as long as the L2.
  evidence.litmus.reset();
  EXPECT_EQ(judge_array_caches(evidence).kind, Kind::not_shown);
}

TEST(ArrayCaches, DoNotMatterWhereLoadsGoPastTheL2) {
  auto evidence = obeying();
  evidence.past = stairs(520, 522);
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::past_l2);
  EXPECT_THAT(verdict.reason, HasSubstr("522 ticks where plain loads take 300"));
}

TEST(ArrayCaches, AnswerWhereAShortListIsReadFasterThanALongOne) {
  auto evidence = obeying();
  evidence.rates = ListRates{1.5e12, 1.0e12};
  const auto verdict = judge_array_caches(evidence);
  EXPECT_EQ(verdict.kind, Kind::answers);
  EXPECT_THAT(verdict.reason, HasSubstr("1500 GB/s from a list of 64 KiB"));
  // A short list may be slower: fewer channels of the L2 answer it.
  evidence.rates = ListRates{0.7e12, 1.0e12};
  EXPECT_EQ(judge_array_caches(evidence).kind, Kind::passed_by);
}

TEST(ArrayCaches, EvidenceIsWrittenWithItsVerdict) {
  const auto json = to_json(obeying());
  EXPECT_EQ(json.at("verdict"), "passed_by");
  EXPECT_EQ(json.at("litmus").at("stale_plain"), 16'000);
  EXPECT_EQ(json.at("past").size(), 5u);
}

TEST(ArrayCaches, AreOfRdnaOneToThreeAndAHalf) {
  EXPECT_TRUE(has_array_caches("gfx1030"));
  EXPECT_TRUE(has_array_caches("gfx1151"));
  EXPECT_FALSE(has_array_caches("gfx1201"));
  EXPECT_FALSE(has_array_caches("gfx90a"));
}

}  // namespace
}  // namespace ww::microbench
