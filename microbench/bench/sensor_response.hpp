// The sensor's response from the step tests of a set-up.
#pragma once

#include <cstdint>
#include <span>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/step_test.hpp"

namespace ww::microbench {

// Analyses the step tests at the positions first to last, of the session that holds most of them:
// clocks of sessions do not compare. Errors: those of analyse_steps.
[[nodiscard]] Result<measure::StepResponse> response_to_steps(std::span<const StoredRun> runs,
                                                              std::int64_t first,
                                                              std::int64_t last);

}  // namespace ww::microbench
