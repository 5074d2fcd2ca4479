#include "ww/model/beyond_l2.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace ww::model {
namespace {

struct MadeUp {
  double link_pj{0.4}, cache_pj{0.5}, miss_pj{0.3};
  double hit_pj{2};
  double noise_w{};
  double drift_w{};  // over the whole series
  double gain{1};
  bool missed_is_slower{true};
};

// Four rounds, each condition and the same mirrored.
std::vector<PlateauRow> series(const MadeUp& made) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 1);
  std::vector<PlateauRow> rows;
  for (int i = 0; i < 24; ++i) {
    const int place = i % 6;
    const int point = place < 3 ? place : 5 - place;
    PlateauRow row;
    row.kind = RunKind::beyond_l2;
    row.position = 100 + i;
    row.pattern = kBeyondL2Points[static_cast<std::size_t>(point)];
    row.bits_per_second = point == 0 ? 0 : point == 2 && made.missed_is_slower ? 3.2e12 : 3.4e12;
    const double pj =
        made.hit_pj + (point == 2 ? made.link_pj + made.cache_pj + made.miss_pj : 0.0);
    row.power_w = made.gain * (90 + row.bits_per_second * pj * 1e-12 +
                               made.noise_w * noise(random) + made.drift_w * i / 23);
    row.used = true;
    rows.push_back(row);
  }
  return rows;
}

TEST(FanoutLink, IsBoundedByAllThatAReadBehindTheL2TakesMore) {
  const auto link = bound_fanout_link(series({}));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->row.name, "fanout_link_fj_per_bit");
  EXPECT_EQ(link->row.status, RowStatus::not_identified);
  EXPECT_FALSE(link->row.value);
  EXPECT_EQ(link->row.low, 0.0);
  ASSERT_TRUE(link->row.high);
  // 1.2 pJ, as far up as gain (8%) and regulator (5%) may have hidden it.
  EXPECT_NEAR(*link->row.high, 1200 / (0.92 * 0.95), 1e-6);
  EXPECT_NE(link->row.reason.find("at most 1373 fJ/bit"), std::string::npos) << link->row.reason;
}

TEST(FanoutLink, StaysBelowItsBoundWithNoiseDriftAndAGainThatIsLow) {
  const auto link =
      bound_fanout_link(series({.miss_pj = 0, .noise_w = 0.05, .drift_w = 3, .gain = 0.92}));
  ASSERT_TRUE(link && link->row.high);
  EXPECT_GT(*link->row.high, 900);
  EXPECT_LT(*link->row.high, 1300);
}

TEST(FanoutLink, HasNoBoundWhereFewerThanTwoRoundsCanBeUsed) {
  auto rows = series({});
  for (const std::size_t bad : {1U, 8U, 20U}) rows[bad].used = false;
  const auto link = bound_fanout_link(rows);
  ASSERT_TRUE(link);
  EXPECT_EQ(link->row.status, RowStatus::not_identified);
  EXPECT_FALSE(link->row.high);
  EXPECT_NE(link->row.reason.find("fewer than two rounds"), std::string::npos);
}

TEST(FanoutLink, HasNoBoundWhereReadsBehindTheL2TookNoMore) {
  const auto link = bound_fanout_link(series({.link_pj = 0, .cache_pj = 0, .miss_pj = -0.5}));
  ASSERT_TRUE(link);
  EXPECT_FALSE(link->row.high);
}

TEST(FanoutLink, HasNoRowInCampaignsWithoutSuchRuns) {
  EXPECT_FALSE(bound_fanout_link({}));
  PlateauRow stream;
  stream.kind = RunKind::stream;
  EXPECT_FALSE(bound_fanout_link(std::vector{stream}));
}

}  // namespace
}  // namespace ww::model
