// The joint fit: idle power against temperature, and the power of every engine and quadrant, in
// one robust least-squares problem (Ceres). Equations: docs/method.md.
//
//   idle plateau     P = I_s(T) (V/V_s)^beta
//   stream plateau   P = I_s(T) (1 + lambda u) (V/V_s)^beta + block_b + slope_b z
//                      + h (V/V_s)^2 [ m_v + E_ve + Q_vq + g_v (B/B_v - 1) + k_v d'(e,q) B
//                                      + sum_i u_vi W_i(e,q) ]
//   temperature      T = ambient(t) + drift(t) + sum_j a_j x_j
//
// s is the voltage/frequency state, v the variant (pattern, throttle, state), d' the published
// distance with the means of its row and column taken out, x_j filtered power, z the run's place
// in its block from -1 to 1. h is the share of the time in which launches ran, and B their bits per
// second meanwhile: between launches a chip draws what it draws at idle. W_i is an orthonormal
// basis of the interactions of engine and quadrant that are orthogonal to d'. lambda lets leakage
// rise more steeply, per 10 K, in a chip that a stream heats unevenly; otherwise that difference
// would be taken for one of beta. u holds what distance does not explain, so that k is the
// projection of the interaction on distance and the residuals are pure error.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fit/solver/core_voltage.hpp"
#include "reduction/facts.hpp"
#include "reduction/reduction.hpp"
#include "reduction/thermal.hpp"

namespace ww::model {

struct Variant {
  std::string pattern;
  int throttle{};
  int dvfs_state{};
  double turn_s{};                    // lock-in: length of a turn; 0: plateaus
  std::vector<std::size_t> plateaus;  // of JointInput::streams
  double mean_bits_per_second{};      // while launches run
  double mean_busy_share{};
  double held_s{};  // how long a pair streams at a stretch, mean
};

struct StreamPlateau {
  Window window;
  std::size_t source{};  // index into Reduced::plateaus
  int engine{}, quadrant{};
  std::size_t variant{};
  std::size_t block{};       // dense index of the block
  double place{};            // -1 ... 1 within the block
  double bits_per_second{};  // while launches run
  double busy_share{1};
};

struct JointInput {
  std::vector<Window> idle;
  std::vector<StreamPlateau> streams;
  std::vector<Variant> variants;
  std::size_t blocks{};
  Eigen::MatrixXd distance_mm;          // engine x quadrant, as published (or swapped)
  Eigen::MatrixXd centred_distance_mm;  // d'
  std::vector<Eigen::MatrixXd> basis;   // W_i
  std::vector<DvfsState> dvfs;
  TemperatureModel temperature;
  double reference_c{};
  bool temperature_correction{true};
  bool robust{true};
  bool crossing{true};  // off: no engine and quadrant effects
  // Why no reading shows the die's voltage; empty where some do.
  std::string no_voltage_reason;
  // Where no reading shows the die's voltage; else 0. The windows' voltages are those of its mean.
  AssumedLoadLine load_line;
  double power_step_w{};  // the sensor's power comes in multiples of it; 0: unknown
};

struct VariantParameters {
  double mean_w{};
  std::vector<double> engine_w, quadrant_w;
  double rate_w{};                    // power for a relative change of rate
  double energy_fj_per_bit_mm{};      // k
  std::vector<double> unexplained_w;  // u
};

struct JointParameters {
  std::vector<std::array<double, 4>> idle;  // by state: P = sum c_i ((T - reference_c)/10)^i
  HeatState response{};                     // a_j [K/W]
  double leakage_voltage_power{};           // beta
  double leakage_steepening{};              // lambda [1/10 K]
  std::vector<std::vector<double>> drift;   // [session][knot] [K]
  std::vector<VariantParameters> variants;
  std::vector<std::array<double, 2>> blocks;  // offset, slope [W]
};

struct JointFit {
  JointParameters parameters;
  std::vector<double> stream_residual_w;  // measured - fitted
  std::vector<double> stream_weight;      // robust weight, 0 ... 1
  std::vector<double> idle_residual_w;
  std::vector<double> stream_sigma_w;  // by variant
  double idle_sigma_w{};
  // Linearisation at the optimum, in sigmas and with robust weights applied. Columns: nuisance
  // (idle) parameters first, then path parameters.
  Eigen::MatrixXd stream_jacobian;  // one row a stream plateau
  Eigen::VectorXd stream_scaled;    // scaled residuals (fitted - measured)
  Eigen::MatrixXd idle_per_watt;    // one row an idle window: jacobian over sigma, so that times
                                    // the covariance it is d(parameters) / dP
  Eigen::MatrixXd covariance;       // of all parameters
  Eigen::MatrixXd path_prior;       // normal matrix of the priors on path parameters
  Eigen::Index idle_columns{};
  Eigen::Index response_column{};    // of a_0
  Eigen::Index steepening_column{};  // of lambda
  double steepening_drift{};         // variance of lambda from idle power that drifts in minutes
  std::vector<Eigen::Index> energy_column;       // of k_v, among all columns
  std::vector<Eigen::Index> unexplained_column;  // of u_v0
  double degrees_of_freedom{};
};

// How much of the heat that follows a pair's power with this time constant the readings of its
// plateau, or of its turn, see: the first quarter of a turn is cut off.
[[nodiscard]] double heat_share(const Variant& variant, double tau_s);

// Latent temperature of a window [C].
[[nodiscard]] double latent_temperature(const JointInput& input, const JointParameters& parameters,
                                        const Window& window);
// Idle power of a state at this temperature and voltage [W].
[[nodiscard]] double idle_power(const JointInput& input, const JointParameters& parameters,
                                int dvfs_state, double temperature_c, double voltage_v);
// Idle power that the fit takes from a plateau [W]; of a stream plateau if `loaded`.
[[nodiscard]] double idle_power(const JointInput& input, const JointParameters& parameters,
                                const Window& window, bool loaded = false);

// Error bad_data when the solver fails.
[[nodiscard]] Result<JointFit> fit_jointly(const JointInput& input);

// Largest relative difference between the derivatives and numeric ones, over residuals of each
// kind at a typical point. For tests.
[[nodiscard]] double gradient_error();

}  // namespace ww::model
