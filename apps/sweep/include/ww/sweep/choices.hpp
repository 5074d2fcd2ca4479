// What of a sweep's results to show where nobody says which.
#pragma once

#include <string>
#include <vector>

#include "ww/sweep/analysis.hpp"

namespace ww::sweep {

// Settings that vary, in the plan's order. Errors: those of Store, parse_error.
[[nodiscard]] Result<std::vector<std::string>> axes_of(const Store& store);

// Numbers that say most about the results of the store's command; for a command without such a list
// the first four of the first result. Errors: those of Store.
[[nodiscard]] Result<std::vector<std::string>> usual_metrics(const Store& store);

// Goals that nobody would turn round, such as a short latency; empty for a command without.
[[nodiscard]] std::vector<Goal> usual_goals(const std::string& command);

// Whether every one of the axes tells parts from each other (host, device, chip-seed), so that the
// points are so many parts.
[[nodiscard]] bool are_parts(const std::vector<std::string>& axes);

// Points whose result has METRIC.value, .low and .high, named by what varies. Errors: as
// load_table.
[[nodiscard]] Result<std::vector<PartValue>> load_parts(const Store& store,
                                                        const std::vector<std::string>& axes,
                                                        const std::string& metric);

}  // namespace ww::sweep
