// Records runs that show what single segments of the way to memory cost
// (ww/model/segments_fit.hpp says by which contrasts).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign_summary.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"
#include "ww/model/segments_fit.hpp"

namespace ww::microbench {

struct SegmentsRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets segments.db
  int blocks{4};                 // each visits every point twice, in mirrored random order
  double plateau_s{0.8};         // of one run
  double settle_s{0.1};          // cut off at its start
  std::uint64_t seed{1};
  std::string only;  // a segment's name; empty: all
  bool resume{};     // go on with a recording that was interrupted
};

// Runs (or resumes) into folder/segments.db. A slow sensor lengthens plateau_s
// and settle_s. Errors: unsupported (real devices, whose counters do not follow
// single launches; parts whose hardware id is not laid out as GCN's); else as
// run_campaign.
[[nodiscard]] Result<CampaignSummary> run_segments(const SegmentsRequest& request,
                                                   const ProgressFunction& progress);

// The energies from a recording. Errors: bad_data (another kind of recording,
// no complete block), those of the store.
[[nodiscard]] Result<model::SegmentsFit> fit_segments(const CampaignStore& store);

}  // namespace ww::microbench
