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

// Statements of commands about their results, by row of a table.
struct Marks {
  std::vector<bool> settled;  // not said to be unstable
  bool is_virtual{};          // one of them at least is of a virtual device
};
struct MarkedTable {
  Table table;
  Marks marks;
};
// load_table, and the marks of its rows.
[[nodiscard]] Result<MarkedTable> load_marked_table(const Store& store,
                                                    std::vector<std::string> settings,
                                                    std::vector<std::string> metrics,
                                                    std::optional<std::size_t> limit = {});

// The rows that are settled: what averages and shares are made of. An unstable network's latency
// grows with the length of the run and is no property of the network.
[[nodiscard]] Table settled_rows(const Table& table, const std::vector<bool>& settled);
// pareto_front of the settled rows, by their places in the whole table.
[[nodiscard]] std::vector<std::size_t> settled_front(const Table& table,
                                                     const std::vector<bool>& settled,
                                                     const std::vector<Goal>& goals,
                                                     const std::vector<std::size_t>& columns);

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
