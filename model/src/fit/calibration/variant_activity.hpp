// Counts the wires' activity in each variant of a campaign, for the estimate's event energies.
#pragma once

#include <span>
#include <vector>

#include "fit/calibration/payloads.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

// Energy of each payload at the reference state, from all that measured it, and activity from the
// counters WW_TRUNK_* and WW_CONTROL_* of the stream runs. Empty where no monitors are.
[[nodiscard]] std::vector<VariantActivity> variant_activity(const Payloads& payloads,
                                                            const Uncertainty& uncertainty,
                                                            std::span<const StoredRun> runs,
                                                            int reference_state);

}  // namespace ww::model
