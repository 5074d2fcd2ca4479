// Energy of crossing between the two sides of a partitioned L2, on parts whose floorplan is not
// public: every side's places against every side's lines, near and far with the same waits at three
// rates. The fit (ww/model/crossing_fit.hpp) takes apart what follows the rate and what does not,
// so unequal rates of near and far do not enter the answer. There is no distance, so the answer is
// per bit and crossing, never per millimetre. Where latency separates no two sides, near and far
// are the ends of the latency's product term (ww/microbench/topology.hpp), and the answer is per
// bit and ns of that latency.
#pragma once

#include <vector>

#include "ww/calibration/crossing_fit.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::microbench {

namespace crossing_contrasts = calibration::crossing_contrasts;
namespace crossing_patterns = calibration::crossing_patterns;

// A launch of known traffic: random bits from the places of one side to the lines of a side.
struct CrossingLaunch {
  bool far{};      // to the other side
  double bytes{};  // of its updates, whole lines of 128
};
// Launches near and far in turn, `rounds` times, for a profiler to watch (`wirewatt exercise
// --crossings`): its counters must see a difference that is the crossing. Errors:
// unsupported (no pinning; latencies without contrast), those of the device.
[[nodiscard]] Result<std::vector<CrossingLaunch>> exercise_crossings(const DeviceRequest& request,
                                                                     int rounds);

}  // namespace ww::microbench
