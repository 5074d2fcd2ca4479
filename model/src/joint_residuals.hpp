// Ceres functors of the joint fit. Included by joint_fit.cpp alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "joint_fit.hpp"

namespace ww::model::residuals {

// Where a window stands in the model; what the data fix and the parameters do not.
struct Place {
  double ambient_c{};
  double drift_weight{};  // of the later of the two knots
  HeatState heat{};
  double reference_c{};
  double log_voltage{};  // ln(V / V_s)
  bool flat{};           // temperature correction off
};

// ((T - reference) / 10 K); parameters: response a_j, the two drift knots.
template <class T>
T scaled_temperature(const Place& place, const T* response, const T& drift_0, const T& drift_1) {
  if (place.flat) return T(0);
  T temperature = T(place.ambient_c - place.reference_c) + (1 - place.drift_weight) * drift_0 +
                  place.drift_weight * drift_1;
  for (std::size_t j = 0; j < heat_count; ++j) temperature += response[j] * place.heat[j];
  return temperature / 10.0;
}

// `leakage`: beta, and lambda, by which leakage rises more steeply where a stream heats one engine
// than in an idle chip; lambda counts where `loaded`.
template <class T>
T idle_power(const Place& place, const T* c, const T* response, const T* leakage, const T& drift_0,
             const T& drift_1, bool loaded) {
  using std::exp;
  const T u = scaled_temperature(place, response, drift_0, drift_1);
  const T power = (c[0] + u * (c[1] + u * (c[2] + u * c[3]))) * exp(leakage[0] * place.log_voltage);
  return loaded ? power * (1.0 + leakage[1] * u) : power;
}

// Blocks: c(4), response, leakage(2): beta and lambda, drift(1), drift(1).
struct Idle {
  Place place;
  double power_w{};
  double sigma_w{};

  template <class T>
  bool operator()(T const* const* p, T* residual) const {
    residual[0] =
        (idle_power(place, p[0], p[1], p[2], p[3][0], p[4][0], false) - power_w) / sigma_w;
    return true;
  }
};

// Blocks: as Idle, then variant(3 + engines + quadrants + basis), block(2).
// A variant is laid out m, g, k, E_0..., Q_0..., u_0...
struct Stream {
  Place place;
  double power_w{};
  double sigma_w{};
  std::size_t engine{}, quadrant{}, engines{};
  double rate_change{};  // B/B_v - 1
  double traffic{};      // d' B, in W per fJ/bit/mm
  double block_place{};  // z
  double voltage_square{};
  std::size_t quadrants{};
  std::vector<double> basis;  // W_i(engine, quadrant)

  template <class T>
  bool operator()(T const* const* p, T* residual) const {
    const T* v = p[5];
    T dynamic =
        v[0] + v[1] * rate_change + v[2] * traffic + v[3 + engine] + v[3 + engines + quadrant];
    const T* u = v + 3 + engines + quadrants;
    for (std::size_t i = 0; i < basis.size(); ++i) dynamic += u[i] * basis[i];
    residual[0] = (idle_power(place, p[0], p[1], p[2], p[3][0], p[4][0], true) +
                   voltage_square * dynamic + p[6][0] + p[6][1] * block_place - power_w) /
                  sigma_w;
    return true;
  }
};

}  // namespace ww::model::residuals
