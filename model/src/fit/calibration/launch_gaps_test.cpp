// Fits of campaigns of short launches, between which the chip idles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "testing/fitting.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::model {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// A quarter of the time passes between launches. Far launches last longer, because requests are on
// the way for longer, so that less of their time is gaps.
SyntheticSpec with_gaps(SyntheticSpec spec) {
  spec.latency_loss_per_mm = 0.002;
  spec.launch_gap = 0.3;
  return spec;
}

SyntheticCampaign without_busy_shares(SyntheticCampaign campaign) {
  for (StoredRun& run : campaign.runs) {
    std::erase_if(run.counters,
                  [](const auto& counter) { return counter.first.starts_with("busy_share"); });
  }
  return campaign;
}

double energy_of(const SyntheticCampaign& campaign) {
  const auto result = fit(campaign);
  EXPECT_TRUE(result) << result.error().text();
  return result ? result->energy_per_bit_mm.row.value.value_or(NAN) : NAN;
}

// Errors of the answer [%]: of the recording as it is, and of one that does not say for which share
// of the time launches ran.
struct Errors {
  double known{}, unknown{};
};
Errors errors_of(const SyntheticSpec& spec) {
  const auto campaign = make_campaign(spec);
  return {error_percent(campaign, energy_of(campaign)),
          error_percent(campaign, energy_of(without_busy_shares(campaign)))};
}

TEST(LaunchGaps, AreNotTakenForWires) {
  std::vector<double> known;
  for (std::uint64_t seed = 71; seed <= 76; ++seed) {
    const Errors errors = errors_of(with_gaps(seeded(seed)));
    known.push_back(errors.known);
    EXPECT_GT(errors.unknown - errors.known, 1.5) << seed;
  }
  EXPECT_LT(rms(known), 2.5);
}

TEST(LaunchGaps, AreNotTakenForWiresWherePairsTakeTurns) {
  auto spec = with_gaps(with_lock_in(75));
  spec.variants.push_back({"random", 40, 0.52, 0.5, 1, 0});
  const Errors errors = errors_of(spec);
  EXPECT_LT(std::abs(errors.known), 2.5);
  EXPECT_GT(errors.unknown - errors.known, 1.5);
}

// Engines whose clocks run on between launches draw there what they draw while they wait.
TEST(LaunchGaps, LeaveTheTruthInTheIntervalWhereEnginesStayAwake) {
  int covered = 0;
  for (std::uint64_t seed = 81; seed <= 84; ++seed) {
    auto spec = with_gaps(seeded(seed));
    spec.gap_share = 0.3;
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    const FittedConstant& energy = result->energy_per_bit_mm;
    const double truth = campaign.energy_fj_per_bit_mm;
    covered += energy.sensed_low <= truth && truth <= energy.sensed_high ? 1 : 0;
    const auto& rows = result->budget.rows;
    EXPECT_TRUE(std::ranges::any_of(rows, [](const BudgetRow& row) {
      return row.source == "power between launches" && row.contribution > 0;
    }));
  }
  EXPECT_GE(covered, 3);
}

TEST(LaunchGaps, ChangeNothingWhereRatesAreEqual) {
  auto spec = with_gaps(seeded(76));
  spec.latency_loss_per_mm = 0;
  const Errors errors = errors_of(spec);
  EXPECT_NEAR(errors.known, errors.unknown, 0.5);
}

TEST(LaunchGaps, AShareOfTimeThatCannotBeRejectsItsRun) {
  auto campaign = make_campaign(with_gaps(seeded(77)));
  int spoilt = 0;
  for (StoredRun& run : campaign.runs) {
    if (run.kind != RunKind::stream || spoilt >= 2) continue;
    run.counters[run_keys::busy_share] = spoilt == 0 ? 0.0 : 1.5;
    ++spoilt;
  }
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  std::vector<std::string> reasons;
  for (const PlateauRow& row : result->plateaus) {
    if (!row.used && row.kind == RunKind::stream) reasons.push_back(row.reason);
  }
  EXPECT_THAT(reasons, ::testing::ElementsAre(HasSubstr("launches ran is 0.0"),
                                              HasSubstr("launches ran is 1.5")));
}

}  // namespace
}  // namespace ww::model
