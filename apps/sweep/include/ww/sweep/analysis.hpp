// Analyses a sweep's results: which points are best, which axis matters, how parts differ.
#pragma once

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ww/sweep/store.hpp"

namespace ww::sweep {

// One leaf of a result. Its name is a dotted path, and elements of a list have numbers. Texts are
// unchanged, numbers and truth values are as JSON writes them, and null is left out. leaves()
// orders them by name.
struct Leaf {
  std::string name;
  std::string text;
  bool number{};
};
[[nodiscard]] std::vector<Leaf> leaves(const std::string& json);

struct Row {
  std::size_t index{};
  std::vector<std::string> settings;           // empty text: not set
  std::vector<std::optional<double>> metrics;  // absent: no result, or no number
};

struct Table {
  std::vector<std::string> settings;
  std::vector<std::string> metrics;
  std::vector<Row> rows;
};
// Reads numbers of all points, or of the first `limit`. Errors: those of Store.
[[nodiscard]] Result<Table> load_table(const Store& store, std::vector<std::string> settings,
                                       std::vector<std::string> metrics,
                                       std::optional<std::size_t> limit = {});

// One aim of a Pareto front.
struct Goal {
  std::string metric;
  bool largest{};  // else smallest
};
// "min:a,max:b". Error invalid_argument.
[[nodiscard]] Result<std::vector<Goal>> parse_goals(const std::string& text);

// Rows that no other row beats: none is at least as good in every goal and better in one. `columns`
// are the goals' places among the table's metrics. Rows without all of them take no part. In order
// of the first goal, best first.
[[nodiscard]] std::vector<std::size_t> pareto_front(const Table& table,
                                                    const std::vector<Goal>& goals,
                                                    const std::vector<std::size_t>& columns);

// The effect of one axis on a metric, averaged over the other axes.
struct AxisEffect {
  struct Level {
    std::string value;
    std::size_t points{};
    double mean{};
  };
  std::string axis;
  std::vector<Level> levels;  // as they first occur
  double range{};             // largest less smallest of the means
  // Variance of the levels' means over the variance of all points, 0..1 (the first-order index of a
  // full grid; Saltelli et al., Global Sensitivity Analysis, 2008, eq. 1.24). Absent if the metric
  // does not vary.
  std::optional<double> share;
};
// The effects of all axes, largest share first. `metric` is the column.
[[nodiscard]] std::vector<AxisEffect> sensitivity(const Table& table, std::size_t metric);

// One part's value with the 95% interval that its own measurement gives.
struct PartValue {
  std::string name;
  double value{};
  double low{};
  double high{};
};

// The difference between parts beyond what their intervals explain.
struct PartVariation {
  std::size_t parts{};
  double mean{};  // of the population of such parts
  double mean_low{};
  double mean_high{};
  double deviation{};  // between parts, standard deviation
  double deviation_low{};
  double deviation_high{};
  double same_p{};               // chance of a scatter like this among equal parts
  std::vector<double> distance;  // of each part from the mean, in standard deviations of both
  [[nodiscard]] double relative_deviation() const { return deviation / std::abs(mean); }
};
// Random-effects model y_i = mean + part_i + error_i: the deviation by Paule and Mandel (J. Res.
// NBS 87, 1982), its 95% interval by the Q profile (Viechtbauer, Stat. Med. 26, 2007), the mean's
// by Student's factor of Hartung and Knapp (Stat. Med. 20, 2001). Errors: bad_data (fewer than two
// parts, an interval without width).
[[nodiscard]] Result<PartVariation> part_variation(const std::vector<PartValue>& parts);

// Writes every point as CSV: index, hash, varying settings, status, reason, then every leaf of the
// results that any point has. A result of the name of another column is `result.NAME`. The bytes
// are the same wherever the sweep ran. Errors: io_error, permission_denied; the file is then
// unchanged.
Status write_csv(const Store& store, const std::filesystem::path& file);

}  // namespace ww::sweep
