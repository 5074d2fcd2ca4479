// The regression behind the ladder's figures (ww/calibration/ladder_fit.hpp): one linear solution
// of all runs for each way to reduce them, and linear combinations of its slopes.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fit/solver/core_voltage.hpp"
#include "fit/solver/reading_steps.hpp"
#include "ww/calibration/ladder_fit.hpp"

namespace ww::calibration {

// Idle power against temperature, from runs without a launch.
struct IdleCurve {
  double power_w{};  // at mean_c
  double mean_c{};
  double w_per_k{};  // 0 where the temperatures span too little, or none is shown
  double w_per_k2{};
  double error_w_per_k{};  // standard error of the slope
  double voltage_v{};      // mean; 0: not shown
  [[nodiscard]] double at(std::optional<double> celsius) const;
};
[[nodiscard]] IdleCurve idle_curve(std::span<const LadderIdle> idle);

// The core's voltage by the current on its load line. Memory, and often the cache before it, have
// rails of their own, whose current does not pass the core's regulator.
struct CoreVoltage {
  model::LoadLine line;  // of the whole current
  // By how much the voltage lies above that line for each bit/s from these levels [V s/bit].
  std::map<std::string, double> above_v{};

  [[nodiscard]] double at_rest(double power_w) const;
  [[nodiscard]] double under(const LadderRun& run, const std::string& level) const;
};

// How runs are reduced to power over idle at the reference.
struct LadderReduction {
  double idle_exponent{};                // of idle power with the voltage
  double clock_exponent{};               // of power over idle with the clock
  bool bend{};                           // a term in the square of the rate for each stream
  std::optional<CoreVoltage> voltage{};  // absent: voltages are as they are shown
};

class LadderSolution {
 public:
  LadderSolution(const LadderInput& input, const IdleCurve& idle, const LadderReduction& reduction);

  [[nodiscard]] bool solved() const { return solved_; }
  // Slope of a stream [J/bit].
  [[nodiscard]] double slope(std::size_t stream) const;
  // Value and variance of the sum over streams by weights (a number for each stream).
  [[nodiscard]] double value(std::span<const double> weights) const;
  [[nodiscard]] double variance(std::span<const double> weights) const;
  [[nodiscard]] double covariance(std::size_t a, std::size_t b) const;
  // Doubt from the steps of the readings, where no noise dithers them.
  [[nodiscard]] double rounding(std::span<const double> weights) const;
  // By how much a stream's slope falls from its lowest rate to its highest, over the slope; needs
  // LadderReduction::bend.
  [[nodiscard]] double bend(std::size_t stream) const;
  [[nodiscard]] double residual_w() const { return sigma_; }
  [[nodiscard]] double freedom() const { return freedom_; }
  // The mean voltage of the runs, to which they are reduced; 0: there is none.
  [[nodiscard]] double reference_v() const { return reference_v_; }

 private:
  std::size_t streams_{};
  double scale_{1};                                // of rates [bit/s]
  std::vector<std::pair<double, double>> ranges_;  // of each stream's rates, scaled
  Eigen::VectorXd found_;
  Eigen::MatrixXd covariance_;
  Eigen::Index first_slope_{}, first_bend_{};
  // Runs whose power is a mean of readings, or whose voltage is taken as it is shown, and what a
  // watt or a volt of each adds to each parameter.
  struct Shown {
    double step{};
    std::vector<model::SteadyPower> steady;
    Eigen::MatrixXd per_unit;
  };
  Shown watts_, volts_;
  double sigma_{}, freedom_{}, reference_v_{};
  bool solved_{};
};

}  // namespace ww::calibration
