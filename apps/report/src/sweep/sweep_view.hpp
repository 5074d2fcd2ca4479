// Collects the content of a sweep's page, read from its folder and chosen.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "values/documents.hpp"
#include "ww/core/result.hpp"
#include "ww/report/report.hpp"
#include "ww/sweep/analysis.hpp"

namespace ww::report {

struct SweepFailure {
  std::size_t point{};
  std::string status, reason, settings;
};

struct SweepView {
  std::map<std::string, std::string> facts;
  sweep::StatusCounts counts;
  // Every point, in the plan's order. Its metrics begin with the shown ones.
  sweep::Table table;
  std::size_t shown{};             // number of metrics that are shown
  std::vector<bool> settled;       // of each row: not said to be unstable
  std::vector<sweep::Goal> goals;  // empty: no front
  std::vector<std::size_t> front;  // rows of settled points that no other beats
  std::vector<std::size_t> over;   // axes of the curves: along x, one or none
  std::vector<std::size_t> by;     // and the distinguished ones; the others are averaged
  std::string parts_metric;        // that parts differ in; empty: the points are no parts
  std::vector<sweep::PartValue> parts;
  std::vector<SweepFailure> failures;  // the first of them
  std::set<std::string> hosts;
  double wall_s{};            // of all points together
  std::string configuration;  // of the first point (JSON): axes and what is fixed
  bool is_virtual{};

  [[nodiscard]] std::size_t column(const std::string& metric) const;
  // Returns the table of settled points alone, from which averages and shares are made.
  [[nodiscard]] sweep::Table settled_table() const;
};

// A table has at most this many rows, which keeps a page light.
inline constexpr std::size_t kMaxTableRows = 2000;

// A metric of a point in six digits; a dash where the point has none.
[[nodiscard]] std::string metric_text(const std::optional<double>& value);

// "k=4, rate=0.1"
[[nodiscard]] std::string settings_text(const sweep::Table& table, const sweep::Row& row);

// Chooses the axis to draw along and the ones to distinguish: the axis of numbers with the most
// values, else the one with the most; and all others where they have few combinations, else the one
// with few values that `effects` name first.
void choose_curves(SweepView& view, const std::vector<sweep::AxisEffect>& effects);

// Reads sweep.db of the folder. Errors: those of Store; invalid_argument where an option names no
// axis, or no number of the results.
[[nodiscard]] Result<SweepView> read_sweep(const std::filesystem::path& folder,
                                           const SweepOptions& options);

}  // namespace ww::report
