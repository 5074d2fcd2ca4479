// Chooses which of a sweep's results to show by default.
#pragma once

#include <string>
#include <vector>

#include "ww/sweep/analysis.hpp"

namespace ww::sweep {

// Settings that vary, in the plan's order. Errors: those of Store, parse_error.
[[nodiscard]] Result<std::vector<std::string>> axes_of(const Store& store);

// The most informative numbers of the store's command. For a command without such a list, the first
// four of the first result. Errors: those of Store.
[[nodiscard]] Result<std::vector<std::string>> usual_metrics(const Store& store);

// Goals with an obvious direction, such as a short latency; empty for a command without any.
[[nodiscard]] std::vector<Goal> usual_goals(const std::string& command);

// Whether every axis distinguishes parts (host, device, chip-seed), so that each point is a part.
[[nodiscard]] bool are_parts(const std::vector<std::string>& axes);

// The points whose result has METRIC.value, .low and .high, named by their varying settings.
// Errors: those of load_table.
[[nodiscard]] Result<std::vector<PartValue>> load_parts(const Store& store,
                                                        const std::vector<std::string>& axes,
                                                        const std::string& metric);

}  // namespace ww::sweep
