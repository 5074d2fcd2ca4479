// Records runs of kernels that are busy with one class of work each: arithmetic by type and data,
// local memory, caches, memory, waiting. The attribution of a whole GPU's watts is fitted to them
// (docs/attribution.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign_summary.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"

namespace ww::microbench {

struct ClassesRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets classes.db
  int blocks{2};                 // each visits every class twice, in mirrored random order
  double plateau_s{0.3};         // of one run
  double settle_s{0.05};         // cut off at its start
  std::uint64_t seed{1};
  bool resume{};  // go on with a recording that was interrupted
};

// Runs (or resumes) into folder/classes.db. A slow sensor lengthens plateau_s and settle_s. Errors:
// unsupported (real devices, whose counters do not follow single launches); else as run_campaign.
[[nodiscard]] Result<CampaignSummary> run_classes(const ClassesRequest& request,
                                                  const ProgressFunction& progress);

// One usable run of a recording.
struct ClassRun {
  std::string run;  // "integer, random, block 1, run 7"
  // "integer, random"; "idle"
  std::string kind;
  double power_w{};  // mean, as energy::energy_between has it
  double seconds{};  // from the first launch's begin to the last one's end
  double active{};   // share of the time in which a launch runs
  // Means over the same time; absent where the telemetry shows none.
  std::optional<double> voltage_v, temperature_c;
  std::map<std::string, double> counters;
};
struct ClassRecording {
  std::string device;
  bool is_virtual{};
  std::vector<ClassRun> runs;
};
// Errors: bad_data (another kind of recording, no usable run), those of the store.
[[nodiscard]] Result<ClassRecording> class_runs(const CampaignStore& store);

}  // namespace ww::microbench
