// Makes the joint fit's input from plateaus: variants, blocks, distances, steadied voltages.
#pragma once

#include "fit/solver/joint_fit.hpp"
#include "reduction/facts.hpp"
#include "reduction/reduction.hpp"

namespace ww::model {

// Marks plateaus that cannot be used (row.used, row.reason). Errors: bad_data by name: no idle
// runs, no stream runs, one stream run only, one temperature only.
[[nodiscard]] Result<JointInput> prepare(Reduced& reduced, const Facts& facts,
                                         const FitOptions& options);

// Puts the voltages of all windows on a load line from their state's nominal voltage,
// V = V_s - ohm P / V, for a card whose readings show none.
void assume_load_line(JointInput& input, double ohm);

// Root mean square of the double-centred distances [mm]; 0 means that no pair is farther than its
// engine and quadrant explain.
[[nodiscard]] double distance_contrast_mm(const JointInput& input);

}  // namespace ww::model
