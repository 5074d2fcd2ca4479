// The table of experiments: a name and what makes it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "bench/i_experiment.hpp"
#include "bench/settings.hpp"
#include "ww/core/result.hpp"

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
[[nodiscard]] Result<std::unique_ptr<Experiment>> make_segments(const ExperimentSettings&);

}  // namespace ww::microbench
