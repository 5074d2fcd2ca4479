#include "ww/microbench/campaign.hpp"

#include <spdlog/spdlog.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/process.hpp"
#include "ww/microbench/traffic_check.hpp"
#include "ww/model/fit.hpp"

namespace ww::microbench {
namespace {

Result<std::optional<double>> half_width_of_fit(const CampaignStore& campaign) {
  model::FitOptions options;
  options.bootstrap_replicates = 60;  // enough to decide whether to go on
  WW_ASSIGN(fit, model::fit_campaign(campaign, options));
  const auto& energy = fit.energy_per_bit_mm;
  // A misfit has a width as well: more of the same would not make it fit.
  if (!energy.row.value || *energy.row.value == 0.0) {
    return std::optional<double>{};
  }
  return std::optional((energy.sensed_high - energy.sensed_low) / 2 / std::abs(*energy.row.value));
}

// A real device, after a profiler was asked whether its streams move the bytes that they are taken
// to move; the answer stands with what else is noted of how it was opened. Error bad_data where the
// profiler says that they do not.
Result<Device> open_real_device(const DeviceRequest& request, const std::string& name) {
  DeviceRequest named = request;
  named.name = name;
  WW_ASSIGN(self, own_program());
  WW_ASSIGN(check, check_traffic(named, self));
  if (check.contradicted) {
    return fail(ErrorCode::bad_data, check.profiler + ": " + check.reason, name);
  }
  WW_ASSIGN(device, open_device(named, name));
  if (!check.verified) {
    spdlog::warn("bytes are computed from launches and not verified by counters: {}", check.reason);
  }
  auto notes = nlohmann::json::parse(device.notes, nullptr, false);
  if (notes.is_object()) {
    notes["traffic"]["check"] = to_json(check);
    device.notes = notes.dump();
  }
  return device;
}

}  // namespace

Result<CampaignSummary> run_campaign(const CampaignRequest& request,
                                     const ProgressFunction& progress) {
  CampaignParts parts;
  // A campaign that goes on has its answer already.
  parts.open = [&request](const DeviceRequest& device, const std::string& name) {
    const bool asks = !DeviceName(name).is_virtual() && !request.resume;
    return asks ? open_real_device(device, name) : open_device(device, name);
  };
  parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
  parts.half_width = half_width_of_fit;
  return run_campaign_with(request, parts, progress);
}

}  // namespace ww::microbench
