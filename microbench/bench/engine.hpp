// The one engine of all experiments, over parts that tests can replace.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "bench/i_experiment.hpp"
#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign_summary.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/progress.hpp"
#include "ww/microbench/stop_rule.hpp"

namespace ww::microbench {

struct ExperimentParts {
  // Opens the device of a resolved name.
  std::function<Result<Device>(const DeviceRequest&, const std::string&)> open;
  std::function<Result<std::unique_ptr<Pinning>>(const Device&)> pinning;
  HalfWidthFunction half_width;  // the stop rule; not asked where an experiment
                                 // has no more blocks
};

struct ExperimentRequest {
  DeviceRequest device;
  std::filesystem::path folder;  // gets the experiment's file
  std::uint64_t seed{1};         // of the experiment's orders; noted and compared at resume
  bool resume{};
  double half_width{kDefaultHalfWidth};  // 95%, relative: of noise, where the stop rule ends
};

// Runs or resumes an experiment into its file. Errors and what is left behind:
// as run_campaign. The engine owns the experiment, because its kernels must go
// before the device does.
[[nodiscard]] Result<CampaignSummary> run_experiment(std::unique_ptr<Experiment> experiment,
                                                     const ExperimentRequest& request,
                                                     const ExperimentParts& parts,
                                                     const ProgressFunction& progress);

}  // namespace ww::microbench
