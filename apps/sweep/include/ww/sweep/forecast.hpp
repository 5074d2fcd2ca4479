// The cost of the rest of a sweep, estimated from the points that were tried.
#pragma once

#include <cstddef>

#include "ww/sweep/sweep.hpp"

namespace ww::sweep {

struct Forecast {
  double cpu_s{};
  double wall_s{};
  double disk_bytes{};
};
// Costs of `points` like those of the pilot on `slots` slots. A slot runs one point at a time.
[[nodiscard]] Forecast forecast(const Pilot& pilot, std::size_t points, double slots);

}  // namespace ww::sweep
