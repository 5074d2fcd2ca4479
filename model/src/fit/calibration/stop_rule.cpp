#include "ww/model/stop_rule.hpp"

#include <cmath>

#include "ww/model/fit.hpp"

namespace ww::model {

Result<std::optional<double>> sensed_half_width(const CampaignStore& campaign) {
  FitOptions options;
  options.bootstrap_replicates = 60;  // enough to decide whether to go on
  WW_ASSIGN(fit, fit_campaign(campaign, options));
  const auto& energy = fit.energy_per_bit_mm;
  // A misfit has a width as well: more of the same would not make it fit.
  if (!energy.row.value || *energy.row.value == 0.0) {
    return std::optional<double>{};
  }
  return std::optional((energy.sensed_high - energy.sensed_low) / 2 / std::abs(*energy.row.value));
}

}  // namespace ww::model
