// A quantile of measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ww::measure {

// The value that a share `q` (0 to 1) of the values lies below, without interpolation. `values`
// must not be empty.
[[nodiscard]] inline double quantile(std::vector<double> values, double q) {
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace ww::measure
