// Chooses what `calibrate` runs on a device: the campaign that its chip allows. The engine
// (bench/engine) runs all campaigns; calibration::fit() makes the figures from the recording.
#pragma once

#include <span>
#include <string_view>

#include "ww/core/result.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::microbench {

struct CalibrationCampaign {
  std::string_view measures;  // "every shader engine against every quadrant of the L2"
  // The quantity, if it is measured otherwise than wires of one die, with its verb ("ways between
  // dies are"); empty: such campaigns take all options of CampaignRequest.
  std::string_view other_way;
  Result<CampaignSummary> (*run)(const CampaignRequest& request,
                                 const HalfWidthFunction& half_width,
                                 const ProgressFunction& progress);
};

// The campaign for a device. Puts the resolved name into the request. Errors: those of
// resolve_device_name(), virtual_data_sheet() and open_host().
[[nodiscard]] Result<const CalibrationCampaign*> campaign_for(DeviceRequest& device);

}  // namespace ww::microbench
