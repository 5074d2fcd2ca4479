// The table of experiments: a name and what makes it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "bench/i_experiment.hpp"
#include "bench/settings.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::microbench {

struct ExperimentEntry {
  std::string_view name;
  // Error invalid_argument names the setting that is wrong.
  Result<std::unique_ptr<Experiment>> (*make)(const ExperimentSettings& settings);
};

[[nodiscard]] std::span<const ExperimentEntry> experiments();

// Makes the experiment of a name. Errors: not_found, with the names that there
// are; those of the experiment's settings.
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_experiment(
    std::span<const ExperimentEntry> table, std::string_view name,
    const ExperimentSettings& settings);

// One for each entry.
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_calibration(const ExperimentSettings&);
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_chiplet(const ExperimentSettings&);
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_classes(const ExperimentSettings&);
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_crossing(const ExperimentSettings&);
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_ladder(const ExperimentSettings&);
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_segments(const ExperimentSettings&);

// Run (or resume) the campaigns of the crossings of an L2 and of a package's dies into
// folder/campaign.db, with device, folder, quick, seed and resume of the request. The crossings'
// runs hold the side of the places as engine and the side of the lines as quadrant; the package's,
// the name of their point (model::chiplet_points()) as pattern. Errors: unsupported (no pinning,
// latencies without contrast), missing_dependency
// (its power cannot be read), else as run_campaign.
[[nodiscard]] Result<CampaignSummary> run_crossing(const CampaignRequest& request,
                                                   const ProgressFunction& progress);
[[nodiscard]] Result<CampaignSummary> run_chiplet(const CampaignRequest& request,
                                                  const ProgressFunction& progress);

}  // namespace ww::microbench
