// What tests of the fit share: made-up campaigns, fitted.
#pragma once

#include <gtest/gtest.h>

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

inline const FittedConstant& constant(const FitResult& result, const std::string& name) {
  for (const auto& c : result.constants) {
    if (c.row.name == name) return c;
  }
  ADD_FAILURE() << "no constant " << name;
  return result.energy_per_bit_mm;
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
