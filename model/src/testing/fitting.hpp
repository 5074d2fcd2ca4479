// Declares what tests of the fit share: made-up campaigns, fitted.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fit/calibration/fit_runs.hpp"
#include "testing/synthetic_campaign.hpp"
#include "ww/model/fit.hpp"

namespace ww::model::testing {

inline SyntheticSpec seeded(std::uint64_t seed) {
  SyntheticSpec spec;
  spec.seed = seed;
  return spec;
}

inline Result<FitResult> fit(const SyntheticCampaign& campaign, const FitOptions& options = {}) {
  return fit_runs(campaign.runs, campaign.facts, options);
}

inline double error_percent(const SyntheticCampaign& campaign, double value) {
  return 100 * (value / campaign.energy_fj_per_bit_mm - 1);
}

inline double rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// The only one of that name.
inline const FittedConstant& constant(const FitResult& result, const std::string& name) {
  const auto is_named = [&](const FittedConstant& constant) { return constant.row.name == name; };
  EXPECT_EQ(std::ranges::count_if(result.constants, is_named), 1) << name;
  const auto found = std::ranges::find_if(result.constants, is_named);
  return found != result.constants.end() ? *found : result.energy_per_bit_mm;
}

inline SyntheticSpec with_lock_in(std::uint64_t seed) {
  auto spec = seeded(seed);
  spec.accumulator = true;
  spec.latency_loss_per_mm = 0;
  spec.turns_s = {0.05, 0.2, 0.8};
  spec.variants = {{"random", 0, 0.95, 0.5, 2, 0}};
  return spec;
}

}  // namespace ww::model::testing
