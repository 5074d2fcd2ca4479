#include "ww/microbench/campaign.hpp"

#include <nlohmann/json.hpp>

#include "bench/engine.hpp"
#include "experiment/experiments.hpp"
#include "homes/home_device.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/process.hpp"
#include "ww/microbench/traffic_check.hpp"

namespace ww::microbench {
namespace {

// A real device, after a profiler was asked whether its streams move the bytes
// that they are taken to move; the answer stands with what else is noted of how
// it was opened. Error bad_data where the profiler says that they do not.
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
    log::warn("bytes are computed from launches and not verified by counters: {}", check.reason);
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
                                     const HalfWidthFunction& half_width,
                                     const ProgressFunction& progress) {
  const ExperimentSettings settings{request.seed,
                                    request.quick,
                                    {{"nops", request.nops},
                                     {"patch_binary", request.patch_binary},
                                     {"mirrored", request.mirrored}}};
  WW_ASSIGN(experiment, make_experiment(experiments(), "calibration", settings));
  ExperimentParts parts;
  // A campaign that goes on has its answer already.
  parts.open = [&request](const DeviceRequest& wanted, const std::string& name) -> Result<Device> {
    const bool asks = !DeviceName(name).is_virtual() && !request.resume;
    WW_ASSIGN(device, asks ? open_real_device(wanted, name) : open_device(wanted, name));
    if (!device.homes && !homes_are_documented(device, wanted)) {
      WW_TRY(find_device_homes(device, wanted));
    }
    return device;
  };
  parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
  parts.half_width = half_width;
  return run_experiment(
      std::move(experiment),
      {request.device, request.folder, request.seed, request.resume, request.half_width}, parts,
      progress);
}

}  // namespace ww::microbench
