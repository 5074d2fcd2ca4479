#include "ww/core/sensor_tolerances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ww {

Interval through_scale(double measured, double half_width, double scale_error_95) {
  if (measured < 0) {
    const Interval mirrored = through_scale(-measured, half_width, scale_error_95);
    return {measured, -mirrored.high, -mirrored.low};
  }
  const double square = half_width * half_width;
  const double kept = 1 - scale_error_95 * scale_error_95;
  const double root =
      std::sqrt(std::max(0.0, std::pow(scale_error_95 * measured, 2) + kept * square));
  const double sum = measured + root;
  return {measured, sum > 0 ? (measured * measured - square) / sum : 0,
          kept > 0 ? sum / kept : std::numeric_limits<double>::infinity()};
}

}  // namespace ww
