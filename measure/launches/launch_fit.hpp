// Least squares of readings on launches.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "launches/launch_problem.hpp"
#include "ww/core/result.hpp"

namespace ww::measure {

// Least squares with the covariance of its solution.
class LaunchSolution {
 public:
  std::vector<double> value;
  std::vector<double> covariance;  // row by row
  double noise_w{};
  std::vector<double> most;  // largest weight of each unknown

  // Degrees of freedom of the variance c' covariance c. They are those of the whole fit if the
  // readings that see c have no residual, and few if they are few.
  [[nodiscard]] double freedom(const std::vector<double>& c) const;

 private:
  friend Result<LaunchSolution> solve_launches(const LaunchProblem&, std::span<const PowerPoint>,
                                               const LaunchSensor&);
  struct Fit;
  std::shared_ptr<const Fit> fit_;
};

// Solves for the unknowns. The covariance is that of Newey and West (1987), because neighbouring
// readings share noise. A fit takes noise out of the residuals: all of it where one reading alone
// sees an unknown. What it takes from products of residuals, in the mean of white noise, is put
// back:
//
//   covariance = (X'X)^-1 X' [(e e' + s^2 H) o T] X (X'X)^-1,   H = X (X'X)^-1 X',
//
// T being the taper over lags, and s^2 the residuals' mean square. Error bad_data: no reading sees
// an unknown, or the readings do not separate the unknowns (the message names the remedy).
Result<LaunchSolution> solve_launches(const LaunchProblem& problem, std::span<const PowerPoint> all,
                                      const LaunchSensor& sensor);

}  // namespace ww::measure
