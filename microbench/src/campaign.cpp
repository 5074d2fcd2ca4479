#include "ww/microbench/campaign.hpp"

#include <cmath>

#include "engine.hpp"
#include "ww/model/fit.hpp"

namespace ww::microbench {
namespace {

Result<std::optional<double>> half_width_of_fit(const CampaignStore& campaign) {
  model::FitOptions options;
  options.bootstrap_replicates = 60;  // enough to decide whether to go on
  WW_ASSIGN(fit, model::fit_campaign(campaign, options));
  const auto& energy = fit.energy_per_bit_mm;
  if (energy.row.status != RowStatus::ok || !energy.row.value || *energy.row.value == 0.0) {
    return std::optional<double>{};
  }
  return std::optional((energy.sensed_high - energy.sensed_low) / 2 / std::abs(*energy.row.value));
}

}  // namespace

Result<CampaignSummary> run_campaign(const CampaignRequest& request,
                                     const ProgressFunction& progress) {
  CampaignParts parts;
  parts.open = open_device;
  parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
  parts.half_width = half_width_of_fit;
  return run_campaign_with(request, parts, progress);
}

}  // namespace ww::microbench
