#include "ww/model/chiplet_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace ww::model {
namespace {

using ::testing::HasSubstr;

// Energies of a made-up package [J/bit].
struct Package {
  double own{0.5e-12}, row{0.6e-12}, column{0.75e-12}, phy{0.55e-12}, memory{2.9e-12};
  double odd{};          // what odd dies take more
  double link_wake_w{};  // of links that carry anything
  double leak_w_per_k{0.2};
  double noise_w{0.01};
  double drift_w{0.3};  // from block to block
  std::array<double, 4> gain{1, 1, 1, 1};
  std::array<bool, 4> metered{true, true, true, true};
  double memory_in_cache{};  // of the stacks, by bit that should hit the cache
};

std::vector<ChipletRun> campaign_of(const Package& truth, unsigned seed = 1, int blocks = 6) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<ChipletRun> runs;
  const auto add = [&](int block, const ChipletPoint* point) {
    ChipletRun run;
    run.block = block;
    run.point = point;
    const double rate = point == nullptr || !point->traffic ? 0
                        : point->slow                       ? 1.8e12
                        : point->dies != ChipletDies::all   ? 1.75e12
                                                            : 3.6e12;
    run.bits_per_s = rate * (1 + 0.02 * normal(random));
    const double awake = point == nullptr ? 0 : point->dies == ChipletDies::all ? 1 : 0.5;
    const double warmer = 3 * awake + normal(random);
    run.temperature_c = 45 + warmer;
    double aid = 65 + truth.drift_w * block + truth.leak_w_per_k * warmer + 0.4 * awake;
    double hbm = 28;
    if (run.bits_per_s > 0) {
      double bit = truth.own;
      if (point->way == ChipletWay::row) bit += truth.row;
      if (point->way == ChipletWay::column) bit += truth.column;
      if (point->way == ChipletWay::across) bit += truth.row + truth.column;
      if (point->memory) bit += truth.phy;
      if (point->way != ChipletWay::own) aid += truth.link_wake_w;
      if (point->dies == ChipletDies::odd) bit += truth.odd;
      aid += run.bits_per_s * bit;
      hbm += run.bits_per_s * (point->memory ? truth.memory : truth.memory_in_cache);
    }
    const double xcd = 110 + 25 * awake + 0.9 * warmer + 4e-12 * run.bits_per_s;
    const std::array<double, 4> watts{1.05 * (xcd + aid + hbm) + 3, xcd, aid, hbm};
    for (std::size_t rail = 0; rail < watts.size(); ++rail) {
      const double shown = truth.gain[rail] * watts[rail] + truth.noise_w * normal(random);
      if (truth.metered[rail]) run.power_w[rail] = shown;
    }
    runs.push_back(run);
  };
  for (int block = 1; block <= blocks; ++block) {
    add(block, nullptr);
    for (const ChipletPoint& point : chiplet_points()) add(block, &point);
  }
  return runs;
}

Figure row_of(const ChipletAnswer& answer, std::string_view name) {
  return *std::ranges::find(answer.rows, name, &Figure::name);
}

TEST(ChipletFit, RecoversEachWayFromItsRail) {
  const Package truth;
  const ChipletAnswer answer = fit_chiplet_runs(campaign_of(truth));
  const auto near = [&](const char* name, double wanted) {
    const Figure row = row_of(answer, name);
    ASSERT_TRUE(row.value) << name << ": " << row.reason;
    EXPECT_NEAR(*row.value, wanted, 0.02 * wanted) << name;
    EXPECT_LT(*row.low, wanted) << name;
    EXPECT_GT(*row.high, wanted) << name;
  };
  near("row_hop", truth.row);
  near("column_hop", truth.column);
  near("across", truth.row + truth.column);
  near("memory_phy", truth.phy);
  near("memory", truth.memory);
  near("compute_die_and_cache", truth.own);
  EXPECT_NEAR(*answer.closure_slope, 1.05, 0.01);
  EXPECT_LT(*answer.closure_residual, 0.01);
  for (const auto& control : answer.controls) EXPECT_TRUE(control.passed) << control.detail;
}

TEST(ChipletFit, BoundsWhatEveryReadPays) {
  const Figure row = row_of(fit_chiplet_runs(campaign_of({})), "infinity_cache");
  EXPECT_FALSE(row.value);
  EXPECT_EQ(row.status, RowStatus::not_identified);
  EXPECT_THAT(row.reason, HasSubstr("at most 0."));
}

// The sensed interval, without the gain, misses the truth in some 5%.
TEST(ChipletFit, CoversTheTruthAsOftenAsItSays) {
  int covered = 0;
  int rows = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Package truth;
    const ChipletAnswer answer = fit_chiplet_runs(campaign_of(truth, seed));
    for (std::size_t i = 0; i < answer.rows.size(); ++i) {
      const double wanted = answer.rows[i].name == "row_hop"  ? truth.row
                            : answer.rows[i].name == "memory" ? truth.memory
                                                              : 0;
      if (wanted == 0) continue;
      ++rows;
      const auto& own = answer.sensed[i];
      covered += own && own->low <= wanted && wanted <= own->high ? 1 : 0;
    }
  }
  EXPECT_EQ(rows, 40);
  EXPECT_GE(covered, 33);  // P(fewer) is 0.0007 where 95% is right
}

TEST(ChipletFit, CoversTheTruthThroughTheRailsGain) {
  Package truth;
  truth.gain = {1, 1, 1.05, 0.95};
  const ChipletAnswer answer = fit_chiplet_runs(campaign_of(truth));
  const Figure row = row_of(answer, "row_hop");
  EXPECT_NEAR(*row.value, 1.05 * truth.row, 0.02 * truth.row);
  EXPECT_LT(*row.low, truth.row);
  EXPECT_GT(*row_of(answer, "memory").high, truth.memory);
}

TEST(ChipletFit, RejectsAWayThatWouldGiveEnergyBack) {
  Package truth;
  truth.row = -0.6e-12;
  const ChipletAnswer answer = fit_chiplet_runs(campaign_of(truth));
  const Figure row = row_of(answer, "row_hop");
  EXPECT_EQ(row.status, RowStatus::rejected);
  EXPECT_FALSE(row.value);
  EXPECT_THAT(row.reason, HasSubstr("lies below zero"));
  EXPECT_TRUE(row_of(answer, "column_hop").value);
}

TEST(ChipletFit, IdentifiesNothingWithoutItsRails) {
  Package socket_alone;
  socket_alone.metered = {true, false, false, false};
  for (const Figure& row : fit_chiplet_runs(campaign_of(socket_alone)).rows) {
    EXPECT_FALSE(row.value) << row.name;
    EXPECT_EQ(row.status, RowStatus::not_identified);
    // No package of this campaign has a second part.
    EXPECT_THAT(row.reason, HasSubstr(row.name == "xgmi" ? "no second part" : "no accumulator"))
        << row.name;
  }
  Package frozen;
  frozen.gain[3] = 0;
  frozen.noise_w = 0;
  const ChipletAnswer answer = fit_chiplet_runs(campaign_of(frozen));
  EXPECT_THAT(row_of(answer, "memory").reason, HasSubstr("stands still"));
  EXPECT_TRUE(row_of(answer, "row_hop").value);
  auto runs = campaign_of({});
  for (ChipletRun& run : runs) {
    run.power_w[3].reset();
    run.read[3] = true;
  }
  const ChipletAnswer still = fit_chiplet_runs(runs);
  EXPECT_THAT(row_of(still, "memory").reason, HasSubstr("stands still"));
  EXPECT_EQ(still.controls.size(), 3U);  // that of the stacks cannot be judged
}

TEST(ChipletFit, RejectsWhatRestsOnAControlThatFails) {
  Package odd;
  odd.odd = 0.1e-12;
  EXPECT_EQ(row_of(fit_chiplet_runs(campaign_of(odd)), "row_hop").status, RowStatus::rejected);
  Package leaky;
  leaky.memory_in_cache = 0.5e-12;
  const ChipletAnswer answer = fit_chiplet_runs(campaign_of(leaky));
  EXPECT_EQ(row_of(answer, "memory").status, RowStatus::rejected);
  EXPECT_THAT(row_of(answer, "memory").reason, HasSubstr("stacks at rest"));
  EXPECT_TRUE(row_of(answer, "row_hop").value);
  Package waking;
  waking.link_wake_w = 2;
  const ChipletAnswer links = fit_chiplet_runs(campaign_of(waking));
  for (const char* way : {"row_hop", "column_hop", "across", "memory_phy"}) {
    EXPECT_EQ(row_of(links, way).status, RowStatus::rejected);
    EXPECT_THAT(row_of(links, way).reason, HasSubstr("over links at half the rate"));
  }
  EXPECT_TRUE(row_of(links, "memory").value);
}

TEST(ChipletFit, SaysSoWhereAWayWasNotMeasured) {
  auto runs = campaign_of({});
  std::erase_if(runs, [](const ChipletRun& run) {
    return run.point != nullptr && run.point->way == ChipletWay::row;
  });
  const Figure row = row_of(fit_chiplet_runs(runs), "row_hop");
  EXPECT_EQ(row.status, RowStatus::not_identified);
  EXPECT_THAT(row.reason, HasSubstr("do not tell the ways apart"));
}

}  // namespace
}  // namespace ww::model
