// The campaign: which kernel runs where, how long, in what order, and what is
// recorded. Method: Adhinarayanan et al., IISWC'16, section IV, widened from
// one pair of paths to every shader engine against every L2 quadrant
// (docs/method.md).
#pragma once

#include <cstdint>
#include <filesystem>

#include "ww/core/result.hpp"
#include "ww/microbench/campaign_summary.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"
#include "ww/microbench/stop_rule.hpp"

namespace ww::microbench {

struct CampaignRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets campaign.db
  bool quick{};
  std::uint64_t seed{1};
  bool resume{};
  // 95% half-width of the energy by noise alone, relative, at which no more blocks are run. What is
  // not reached within the most blocks is left.
  double half_width{kDefaultHalfWidth};
  bool nops{};  // lower rates by NOPs, as IISWC'16 did (Fig. 9), instead of sleep
  // Negative controls: if the method is broken on purpose, the campaign must
  // fail or its answer must change sign.
  bool patch_binary{true};  // false: run the unpatched binary; the campaign must refuse
  bool mirrored{true};      // false: blocks repeat their order instead of mirroring it
};

// Runs (or resumes) the campaign into folder/campaign.db. Errors:
// missing_dependency (loader, compiler library), device_error, bad_data (not
// pinned, sensor frozen, zero, NaN or backwards), io_error, permission_denied,
// invalid_argument (folder holds a campaign and resume is false, or holds
// another device's campaign). Whatever was finished before an error stays in
// the file.
[[nodiscard]] Result<CampaignSummary> run_campaign(const CampaignRequest& request,
                                                   const HalfWidthFunction& half_width,
                                                   const ProgressFunction& progress);

}  // namespace ww::microbench
