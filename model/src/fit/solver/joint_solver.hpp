// The joint fit's problem and solver. Private to joint_*.cpp.
#pragma once

#include <ceres/ceres.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fit/solver/assumptions.hpp"
#include "fit/solver/joint_fit.hpp"
#include "fit/solver/joint_residuals.hpp"

namespace ww::model {

// The place of a window in the model.
[[nodiscard]] residuals::Place place_of(const JointInput& input, const Window& window);

// State of the solver: problem, parameter blocks and which residual is whose.
class Solver {
 public:
  explicit Solver(const JointInput& input);
  Result<JointFit> run();

 private:
  std::size_t engines() const { return static_cast<std::size_t>(input_.distance_mm.rows()); }
  std::size_t quadrants() const { return static_cast<std::size_t>(input_.distance_mm.cols()); }
  std::size_t variant_size() const { return 3 + engines() + quadrants() + input_.basis.size(); }
  // Start values: the mean dynamic power, and the slope of power over rate. The slope comes from
  // the same pattern at another rate, if there is one; only then is it known independently of
  // distance.
  void start_variants();
  void follow_rates(const std::vector<double>& dynamic);
  // Finds the slope of power over rate from the effect that all payloads share (joint_rates.cpp).
  void compare_payloads();
  // Relative rates of a variant's pairs, engine by quadrant; nothing where a pair was not run.
  std::optional<Eigen::MatrixXd> relative_rates(std::size_t v) const;
  // Part of the rate's interaction along distance, 0 to 1, that launches and last wavefronts make,
  // which do not depend on distance. The rest is latency, for which an engine waits.
  double late_part_along_distance(std::size_t v) const;
  // Share of dynamic power, beyond throttling's, that follows the rates of `used` variants of a
  // state, and its standard error, which is infinite if the data do not determine the share.
  std::pair<double, double> rate_share(int state, const std::vector<bool>& used) const;
  // Scale of an idle window's residual. Short windows are noisier; the error of the model is common
  // to all.
  double idle_sigma(const Window& window) const;
  void add_prior(double* block, const Eigen::VectorXd& mean, const Eigen::VectorXd& sigma);
  std::vector<double*> idle_blocks(const Window& window);
  std::vector<double> basis_at(int engine, int quadrant) const;
  ceres::LossFunction* loss() const;
  void build();
  // A weak prior, so that the energy is determined even if some pairs were never run.
  double unexplained_sigma(std::size_t v) const;
  void add_priors();
  // Prior of the responses to heat: `response` is the sensor's less its lag, and the hot spot's;
  // `doubt` is the standard deviation between sensor and leakage, beside the error of the readings.
  void add_response_prior(const Eigen::VectorXd& response, Eigen::VectorXd doubt);
  // Prior of beta, the exponent of idle power over voltage at one clock, and its sigma. It follows
  // from the exponent over the states, where voltage and clock change together, less a share of
  // clocks.
  std::pair<double, double> beta_from_states() const;

  bool solve();
  void hold_fast_heat(bool first_pass);
  double residual_of(ceres::ResidualBlockId id, double sigma) const;
  // The place of a stream plateau, with heat from the power that was last fitted. Noise of its own
  // measured power did not warm it, and would look like leakage that follows power.
  residuals::Place stream_place(std::size_t stream) const;
  // Scales of idle and stream residuals, robust, and the streams' noise.
  void rescale();
  // Degrees of freedom that a variant's residuals keep: its pairs, and offset and slope of its
  // blocks, are fitted.
  double freedom(std::size_t v) const;
  // Scales of the variants. A block of plateaus has few degrees of freedom, so its scale also uses
  // all other plateaus, whose noise is proportional to power. Turns of lock-in are shorter and
  // numerous, and determine their own scale.
  void rescale_streams(const std::vector<std::vector<double>>& residuals);
  JointFit linearise();
  // Variance of a parameter from power that wanders over kDriftOfPowerS, by as much as idle windows
  // depart from the fit beyond their noise. `by_row`: change of the parameter [1/W] by a change of
  // power in the idle windows, then in the stream plateaus.
  double drift_variance(const Eigen::VectorXd& by_row) const;
  JointParameters parameters() const;

  struct Blocks {
    std::vector<std::array<double, 4>> idle;
    HeatState response{};
    std::array<double, 2> leakage{kBeta, 0};
    std::vector<std::vector<double>> drift;
    std::vector<std::vector<double>> variants;
    std::vector<std::array<double, 2>> blocks;
  };

  const JointInput& input_;
  Blocks blocks_;
  std::vector<double> idle_mean_;
  std::size_t best_state_{};
  bool shape_known_{};
  HeatState response_prior_{};
  double total_response_{};
  std::pair<double, double> beta_{kBeta, kBetaSigma};
  std::vector<double> rate_prior_, rate_sigma_, throttled_rate_w_;
  double idle_sigma_w_{0.2};
  double idle_wander_w_{};  // departure of idle windows from the fit, beyond their noise
  std::vector<double> sigma_w_;
  std::vector<double> noise_w_;  // of stream plateaus, measured - fitted, in the pass before
  std::unique_ptr<ceres::Problem> problem_;
  std::vector<ceres::ResidualBlockId> idle_ids_, stream_ids_, prior_ids_;
  std::string message_;
};

}  // namespace ww::model
