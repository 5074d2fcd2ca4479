#include "ww/sweep/forecast.hpp"

#include <algorithm>

namespace ww::sweep {

Forecast forecast(const Pilot& pilot, std::size_t points, double slots) {
  const auto count = static_cast<double>(points);
  Forecast cost;
  cost.cpu_s = count * pilot.seconds;
  cost.wall_s = cost.cpu_s / std::min(slots, std::max(1.0, count));
  // A result file and the database each contain the result.
  cost.disk_bytes = count * (2 * pilot.result_bytes + pilot.file_bytes);
  return cost;
}

}  // namespace ww::sweep
