#include "ww/model/stop_rule.hpp"
#include "ww/core/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "ww/model/fit.hpp"

namespace ww::model {
namespace {}  // namespace

Result<std::optional<double>> sensed_half_width(const CampaignStore& campaign) {
  FitOptions options;
  options.bootstrap_replicates = 60;  // enough to decide whether to go on
  WW_ASSIGN(fit, fit_campaign(campaign, options));
  const auto& energy = fit.energy();
  // A misfit has a width as well: more of the same would not make it fit. Where it hangs in the
  // balance whether it is one, more of the same decides.
  if (!energy.row.value || *energy.row.value == 0.0 || !fit.misfit.undecided.empty()) {
    return std::optional<double>{};
  }
  // Bounds that no repetition shows do not get narrower by measuring on.
  const double noise = std::max(energy.covariance_error, energy.bootstrap_error);
  return std::optional(kNormal95 * noise / std::abs(*energy.row.value));
}

}  // namespace ww::model
