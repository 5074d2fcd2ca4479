// Least squares of readings on launches.
#pragma once

#include <span>
#include <vector>

#include "launches/launch_problem.hpp"
#include "ww/core/result.hpp"

namespace ww::measure {

// Least squares with the covariance of its solution.
struct LaunchSolution {
  std::vector<double> value;
  std::vector<double> covariance;  // row by row
  double noise_w{};
  double dof{};
  std::vector<double> most;  // largest weight of each unknown
};

// Solves for the unknowns. The covariance is that of Newey and West (1987), because neighbouring
// readings share noise. Error bad_data: no reading sees an unknown, or the readings do not separate
// the unknowns (the message names the remedy).
Result<LaunchSolution> solve_launches(const LaunchProblem& problem, std::span<const PowerPoint> all,
                                      const LaunchSensor& sensor);

}  // namespace ww::measure
