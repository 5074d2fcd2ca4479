#include "ww/model/stop_rule.hpp"
#include "ww/core/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "ww/model/fit.hpp"

namespace ww::model {

Result<std::optional<double>> sensed_half_width(const CampaignStore& campaign) {
  FitOptions options;
  options.bootstrap_replicates = 60;  // enough to decide whether to go on
  WW_ASSIGN(fit, fit_campaign(campaign, options));
  const auto& energy = fit.energy();
  // More blocks narrow the interval of a misfit, too, but do not make it fit, so the interval
  // decides. Where it is not clear yet whether the data are a misfit, more blocks are needed.
  if (!energy.row.value || *energy.row.value == 0.0 || !fit.misfit.undecided.empty()) {
    return std::optional<double>{};
  }
  // Only the noise shrinks with more blocks. Bounds of systematic errors do not.
  const double noise = std::max(energy.covariance_error, energy.bootstrap_error);
  return std::optional(kNormal95 * noise / std::abs(*energy.row.value));
}

}  // namespace ww::model
