// The campaign proper, over parts that tests can replace.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::microbench {

struct CampaignParts {
  // Opens the device of a resolved name.
  std::function<Result<Device>(const DeviceRequest&, const std::string&)> open;
  std::function<Result<std::unique_ptr<Pinning>>(const Device&)> pinning;
  HalfWidthFunction half_width;     // of the answer's sensed interval
  std::int64_t launch_ns{200'000};  // wanted length of a launch
};

inline constexpr double wanted_half_width = 0.015;

// As run_campaign.
[[nodiscard]] Result<CampaignSummary> run_campaign_with(const CampaignRequest& request,
                                                        const CampaignParts& parts,
                                                        const ProgressFunction& progress);

}  // namespace ww::microbench
