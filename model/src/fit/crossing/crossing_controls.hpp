// The controls of a campaign of crossings: conditions whose outcome is known in advance.
#pragma once

#include <span>
#include <vector>

#include "fit/crossing/crossing_solver.hpp"
#include "ww/model/crossing_fit.hpp"

namespace ww::model {

// All four, also those that could not be judged. `plain`: blocks.solve_all({}), not empty.
[[nodiscard]] std::vector<CrossingControl> judge_controls(std::span<const CrossingRun> runs,
                                                          const CrossingBlocks& blocks,
                                                          const std::vector<CrossingTerms>& plain);

}  // namespace ww::model
