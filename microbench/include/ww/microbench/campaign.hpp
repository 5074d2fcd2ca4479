// The campaign: which kernel runs where, how long, in what order, and what is recorded.
// Method: Adhinarayanan et al., IISWC'16, section IV, widened from one pair of paths to every
// shader engine against every L2 quadrant (docs/method.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"

namespace ww::microbench {

struct CampaignRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets campaign.db
  bool quick{};
  std::uint64_t seed{1};
  bool resume{};
  bool nops{};  // lower rates by NOPs, as IISWC'16 did (Fig. 9), instead of sleep
  // Negative controls: if the method is broken on purpose, the campaign must fail or its answer
  // must change sign.
  bool patch_binary{true};  // false: run the unpatched binary; the campaign must refuse
  bool mirrored{true};      // false: blocks repeat their order instead of mirroring it
};

struct CampaignSummary {
  std::string device;
  bool is_virtual{};
  std::int64_t runs{};
  std::int64_t rejected{};
  double elapsed_s{};
  bool complete{};  // false after an interrupt; resume to go on
};

// Relative half-width of the answer's interval, from what is recorded so far; nullopt while the
// answer is not identified. The campaign asks after its minimum number of blocks and then after
// every block, and adds blocks until the interval is narrow enough.
using HalfWidthFunction = std::function<Result<std::optional<double>>(const CampaignStore&)>;

// Runs (or resumes) the campaign into folder/campaign.db. Errors: missing_dependency (loader,
// compiler library), device_error, bad_data (not pinned, sensor frozen, zero, NaN or backwards),
// io_error, permission_denied, invalid_argument (folder holds a campaign and resume is false, or
// holds another device's campaign). Whatever was finished before an error stays in the file.
[[nodiscard]] Result<CampaignSummary> run_campaign(const CampaignRequest& request,
                                                   const HalfWidthFunction& half_width,
                                                   const ProgressFunction& progress);

}  // namespace ww::microbench
