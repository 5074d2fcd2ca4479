// Tables of latencies taken apart into what depends on the row, on the column, and on the pair.
#pragma once

#include <cstddef>
#include <vector>

namespace ww::microbench {

using LatencyTable = std::vector<std::vector<double>>;  // [place][line], ticks

struct AdditiveFit {
  double mean{};
  std::vector<double> row, column;  // deviations from the mean
  LatencyTable left;                // what depends on the pair
};
[[nodiscard]] AdditiveFit additive_fit(const LatencyTable& table);

[[nodiscard]] double sum_of_squares(const LatencyTable& table);

// The product of a row's and a column's figure that explains most of a table: row[p] * column[c],
// where columns have the norm 1. `square`: of its singular value.
struct LatencyProduct {
  std::vector<double> row, column;
  double square{};
};
[[nodiscard]] LatencyProduct greatest_product(const LatencyTable& table);

// Whether figures are two of equal size and opposite sign, but for their scatter: the mean size is
// over 2.5 of its standard deviations.
[[nodiscard]] bool stand_apart(const std::vector<double>& figures);

}  // namespace ww::microbench
