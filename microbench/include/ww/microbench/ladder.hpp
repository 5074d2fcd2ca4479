// The ladder's campaign: streams that end in each level of the memory's hierarchy, at rates that
// all levels share (ww/calibration/ladder_fit.hpp has the fit). It needs a power sensor and kernels
// with a clock; no pinning, no counters, no floorplan and no root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/campaign_summary.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"

namespace ww::microbench {

inline constexpr const char* kLadderFile = "ladder.db";

struct LadderRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets ladder.db
  bool quick{};
  std::uint64_t seed{1};
  bool resume{};
  std::string data{"half_random"};  // beside random and zeros: a name of kernels::Pattern
  std::int64_t most_mib{};          // of the largest set [MiB]; 0: by the device's memory
};

// Runs (or resumes) into folder/ladder.db. Errors: unsupported (its kernels have no clock, or its
// latencies show fewer than two levels), missing_dependency (its power cannot be read), else as
// run_campaign.
[[nodiscard]] Result<CampaignSummary> run_ladder(const LadderRequest& request,
                                                 const ProgressFunction& progress);

// A launch that a recording's plan names, for `wirewatt score`.
struct LadderExercise {
  std::string stream;  // LadderStream::name()
  double bits{};
};
// Performs each launch of the plan in `recording` kLadderExerciseLaunches times, in order, on the
// device. The last one finds caches as a run has them. Errors: those of the file and of the device.
inline constexpr int kLadderExerciseLaunches = 3;
[[nodiscard]] Result<std::vector<LadderExercise>> exercise_ladder(
    const DeviceRequest& device, const std::filesystem::path& recording);

}  // namespace ww::microbench
