// An experiment of one's own: docs/extend.md.
#pragma once

#include <memory>

#include "bench/i_experiment.hpp"
#include "bench/settings.hpp"

namespace ww::examples {

// The furnace at three lengths of launch: what the gaps between launches do to power.
[[nodiscard]] Result<std::unique_ptr<microbench::Experiment>> make_furnace_levels(
    const microbench::ExperimentSettings& settings);

}  // namespace ww::examples
