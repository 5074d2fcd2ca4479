#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ww/model/chiplet_fit.hpp"

namespace ww::model {
namespace {

using ::testing::HasSubstr;

// Energies of two made-up parts [J/bit].
struct Pair {
  double xgmi{1.6e-12};
  std::array<double, 2> reader{6.0e-12, 6.7e-12};
  double seconds_memory{0.5e-12};
  double wake_w{};          // while a launch crosses a link
  double serial{0.01e-12};  // what reads one by one take more
  double noise_w{0.02};
  bool metered{true};
};

std::vector<ChipletRun> campaign_of(const Pair& truth, unsigned seed = 1, int blocks = 6) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<ChipletRun> runs;
  const auto add = [&](int block, const ChipletPoint* point) {
    ChipletRun run;
    run.block = block;
    run.point = point;
    const bool far = point != nullptr && point->way == ChipletWay::xgmi;
    const std::size_t reader = point != nullptr && point->dies == ChipletDies::odd ? 1 : 0;
    if (point != nullptr && point->traffic) run.bits_per_s = point->slow ? 0.75e12 : 1.5e12;
    const double warmer = (point == nullptr ? 0 : 2) + normal(random);
    run.temperature_c = 45 + warmer;
    double watts = 90 + 0.4 * block + 0.3 * warmer;
    if (point != nullptr) watts += reader == 0 ? 30 : 33;
    if (run.bits_per_s > 0) {
      double bit = truth.reader[reader];
      if ((reader == 1) != far) bit += truth.seconds_memory;
      if (far) bit += truth.xgmi;
      if (point->serial) bit += truth.serial;
      watts += run.bits_per_s * bit + (far ? truth.wake_w : 0);
    }
    run.read[0] = truth.metered;
    if (truth.metered) run.power_w[0] = watts + truth.noise_w * normal(random);
    runs.push_back(run);
  };
  for (int block = 1; block <= blocks; ++block) {
    add(block, nullptr);
    for (const ChipletPoint& point : pair_points()) add(block, &point);
  }
  return runs;
}

TEST(PairFit, FindsTheLinkWhateverPartsAndMemoriesHaveOfTheirOwn) {
  for (const double xgmi : {0.8e-12, 1.6e-12}) {
    Pair truth;
    truth.xgmi = xgmi;
    const ChipletAnswer answer = fit_pair_runs(campaign_of(truth));
    ASSERT_EQ(answer.rows.size(), 1U);
    const Figure& row = answer.rows.front();
    EXPECT_EQ(row.name, "xgmi");
    EXPECT_EQ(row.unit, "J/bit/crossing");
    ASSERT_TRUE(row.value) << row.reason;
    EXPECT_NEAR(*row.value, xgmi, 0.03 * xgmi);
    EXPECT_LT(*row.low, xgmi);
    EXPECT_GT(*row.high, xgmi);
    for (const auto& control : answer.controls) EXPECT_TRUE(control.passed) << control.detail;
  }
}

TEST(PairFit, CoversTheTruthAsOftenAsItSays) {
  int covered = 0;
  constexpr int kCampaigns = 60;
  for (unsigned seed = 1; seed <= kCampaigns; ++seed) {
    const Pair truth;
    const ChipletAnswer answer = fit_pair_runs(campaign_of(truth, seed));
    const auto& own = answer.sensed.front();
    covered += own && own->low <= truth.xgmi && truth.xgmi <= own->high ? 1 : 0;
  }
  EXPECT_GE(covered, 51);  // 57 of 60 on average; p 0.005
}

TEST(PairFit, WidensTheIntervalByWhatAnotherRhythmOfReadsTakes) {
  const auto width = [](double serial) {
    Pair truth;
    truth.serial = serial;
    const auto own = *fit_pair_runs(campaign_of(truth)).sensed.front();
    return own.high - own.low;
  };
  EXPECT_GT(width(0.3e-12), 2 * 0.3e-12);
  EXPECT_LT(width(0), 0.3e-12);
}

TEST(PairFit, RejectsLinksThatTakeMoreForABitTheFewerThereAre) {
  Pair truth;
  truth.wake_w = 6;
  const ChipletAnswer answer = fit_pair_runs(campaign_of(truth));
  const Figure& row = answer.rows.front();
  EXPECT_FALSE(row.value);
  EXPECT_EQ(row.status, RowStatus::rejected);
  EXPECT_THAT(row.reason, HasSubstr("half the rate"));
}

TEST(PairFit, IdentifiesNothingWithoutTheSocketsPower) {
  Pair truth;
  truth.metered = false;
  const Figure row = fit_pair_runs(campaign_of(truth)).rows.front();
  EXPECT_FALSE(row.value);
  EXPECT_EQ(row.status, RowStatus::not_identified);
  EXPECT_THAT(row.reason, HasSubstr("socket_energy"));
}

}  // namespace
}  // namespace ww::model
