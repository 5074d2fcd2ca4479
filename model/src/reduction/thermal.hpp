// Temperature from power: the readings of a sensor with steps of 1 C, explained by power through a
// bank of first-order filters plus a slowly drifting ambient (docs/method.md, "Temperature").
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "reduction/reduction.hpp"

namespace ww::model {

// A quantised reading errs by up to half a step for as long as the temperature rests, some seconds.
// Windows that are shorter share one error: each counts for its part of that time only.
inline constexpr double kStepErrorC = 0.29;  // of a step of 1 C: that over the square root of 12
inline constexpr double kRestS = 5;
inline constexpr double kAmbientStepSigmaC = 0.3;  // from knot to knot
inline constexpr double kResponseSigmaKPerW = 0.3;

// Piecewise linear in time, one set of knots a session.
struct Drift {
  static constexpr double knot_s = 60;
  struct Session {
    std::int64_t session{};
    std::vector<double> knots;  // at 0, knot_s, 2 knot_s, ...
  };
  std::vector<Session> sessions;

  struct Place {
    std::size_t session{};
    std::size_t knot{};  // between this one and the next
    double weight{};     // of the next
  };
  [[nodiscard]] Place place(std::int64_t session, double time_s) const;
  [[nodiscard]] double at(std::int64_t session, double time_s) const;
};

struct TemperatureModel {
  Drift ambient;               // [C]
  HeatState response{};        // of the sensor to each filtered power [K/W]; fast ones may be
                               // negative, because they undo the sensor's own lag
  Eigen::MatrixXd covariance;  // of the responses, whatever the ambient did [(K/W)^2]
  double rms_c{};              // of the readings about the model
  double low_c{}, high_c{};    // range of the readings
};

// Least squares with weak priors over all temperature windows. Without readings the result has
// `low_c` > `high_c`.
[[nodiscard]] TemperatureModel fit_temperature(const Reduced& reduced);

}  // namespace ww::model
