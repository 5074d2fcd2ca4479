#include "fit/solver/joint_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/solver/joint_solver.hpp"
#include "fit/solver/solver_options.hpp"

namespace ww::model {
namespace {

constexpr int kPasses = 3;  // scales of the residuals are found between passes

}  // namespace

Result<JointFit> Solver::run() {
  for (int pass = 0; pass < kPasses; ++pass) {
    build();
    hold_fast_heat(pass == 0);
    if (!solve()) {
      return fail(ErrorCode::bad_data, "the joint fit did not converge: " + message_);
    }
    if (pass + 1 < kPasses) {
      rescale();
      compare_payloads();
    }
    // States at different temperatures show nothing when temperature is left out on purpose.
    if (input_.temperature_correction) beta_ = beta_from_states();
  }
  return linearise();
}

// Holds the responses of fast filters at their priors, which remain in the covariance.
// - In the first pass a plateau's heat is of its measured power, noise and all. Filters that follow
//   within a plateau would explain that noise, whatever it is, by a steep idle power: a minimum
//   from which later passes do not come back.
// - Behind a slow sensor the first idle window comes so late after a load that cool-downs show
//   nothing of filters faster than that. Streams alone would fit them, for the same wrong reason.
void Solver::hold_fast_heat(bool first_pass) {
  if (!problem_->HasParameterBlock(blocks_.response.data())) return;
  double slowest_s = std::numeric_limits<double>::infinity();
  for (const Window& idle : input_.idle) slowest_s = std::min(slowest_s, idle.since_load_s);
  if (first_pass) slowest_s = std::max(slowest_s, kSlowHeatS);
  std::vector<int> held;
  for (std::size_t j = 0; j < kHeatCount && heat_taus_s[j] < slowest_s; ++j) {
    held.push_back(static_cast<int>(j));
  }
  if (held.empty() || held.size() == kHeatCount) return;
  problem_->SetManifold(blocks_.response.data(),
                        new ceres::SubsetManifold(static_cast<int>(kHeatCount), held));
}

bool Solver::solve() {
  auto options = solver_options();
  // Variants meet in the idle parameters alone: most of the normal matrix is zero. Eigen first, for
  // CHOLMOD's own threads spin for each other where cores are few or busy.
  for (const auto library : {ceres::EIGEN_SPARSE, ceres::SUITE_SPARSE}) {
    if (!ceres::IsSparseLinearAlgebraLibraryTypeAvailable(library)) continue;
    options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
    options.sparse_linear_algebra_library_type = library;
    break;
  }
  // Data of one clock must not move beta: their voltages follow from their own powers, so that
  // noise of a power alone would make idle power fall with voltage.
  blocks_.leakage[0] = beta_.first;
  problem_->SetManifold(blocks_.leakage.data(), new ceres::SubsetManifold(2, {0}));
  ceres::Solver::Summary summary;
  ceres::Solve(options, problem_.get(), &summary);
  problem_->SetManifold(blocks_.leakage.data(), nullptr);
  message_ = summary.message;
  problem_->SetManifold(blocks_.response.data(), nullptr);
  shape_known_ = true;
  if (summary.termination_type == ceres::CONVERGENCE) return true;
  // Readings far out, whose loss is linear, can make the last steps small and many. A cost that
  // hardly fell over the last fifth of them is at its minimum.
  const auto& steps = summary.iterations;
  return summary.termination_type == ceres::NO_CONVERGENCE && steps.size() > 5 &&
         steps[steps.size() * 4 / 5].cost - summary.final_cost < kCrawl;
}

JointFit Solver::linearise() {
  JointFit fit;
  std::vector<double*> parameter_blocks;
  Eigen::Index columns = 0;
  const auto append = [&](double* block, std::size_t size) {
    if (!problem_->HasParameterBlock(block)) return;
    parameter_blocks.push_back(block);
    columns += static_cast<Eigen::Index>(size);
  };
  for (auto& idle : blocks_.idle) append(idle.data(), 4);
  fit.response_column = columns;
  append(blocks_.response.data(), kHeatCount);
  append(blocks_.leakage.data(), 2);
  fit.steepening_column = columns - 1;
  for (auto& session : blocks_.drift) {
    for (double& knot : session) append(&knot, 1);
  }
  fit.idle_columns = columns;
  for (auto& variant : blocks_.variants) {
    fit.energy_column.push_back(columns + 2);
    fit.unexplained_column.push_back(columns +
                                     static_cast<Eigen::Index>(3 + engines() + quadrants()));
    append(variant.data(), variant.size());
  }
  for (auto& block : blocks_.blocks) append(block.data(), 2);

  const auto dense = [&](const std::vector<ceres::ResidualBlockId>& ids, bool loss,
                         std::vector<double>& residuals) {
    ceres::Problem::EvaluateOptions options;
    options.parameter_blocks = parameter_blocks;
    options.residual_blocks = ids;
    options.apply_loss_function = loss;
    ceres::CRSMatrix sparse;
    problem_->Evaluate(options, nullptr, &residuals, nullptr, &sparse);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(sparse.num_rows, sparse.num_cols);
    for (int row = 0; row < sparse.num_rows; ++row) {
      for (int i = sparse.rows[static_cast<std::size_t>(row)];
           i < sparse.rows[static_cast<std::size_t>(row) + 1]; ++i) {
        matrix(row, sparse.cols[static_cast<std::size_t>(i)]) =
            sparse.values[static_cast<std::size_t>(i)];
      }
    }
    return matrix;
  };
  std::vector<double> scaled;
  std::vector<double> ignored;
  fit.stream_jacobian = dense(stream_ids_, true, scaled);
  fit.stream_scaled =
      Eigen::Map<Eigen::VectorXd>(scaled.data(), static_cast<Eigen::Index>(scaled.size()));
  const Eigen::MatrixXd prior = dense(prior_ids_, true, ignored);
  Eigen::MatrixXd normal = fit.stream_jacobian.transpose() * fit.stream_jacobian;
  const Eigen::MatrixXd prior_normal = prior.transpose() * prior;
  normal += prior_normal;
  Eigen::MatrixXd idle(0, columns);
  if (!idle_ids_.empty()) idle = dense(idle_ids_, true, ignored);
  normal += idle.transpose() * idle;
  const Eigen::Index path = columns - fit.idle_columns;
  fit.path_prior = prior_normal.bottomRightCorner(path, path);
  fit.covariance = normal.ldlt().solve(Eigen::MatrixXd::Identity(columns, columns));

  for (std::size_t i = 0; i < idle_ids_.size(); ++i) {
    idle.row(static_cast<Eigen::Index>(i)) /= idle_sigma(input_.idle[i]);
  }
  fit.idle_per_watt = std::move(idle);
  const Eigen::Index idle_rows = fit.idle_per_watt.rows();
  Eigen::VectorXd by_row(idle_rows + fit.stream_jacobian.rows());
  by_row << fit.idle_per_watt * fit.covariance.col(fit.steepening_column),
      fit.stream_jacobian * fit.covariance.col(fit.steepening_column);
  for (std::size_t i = 0; i < stream_ids_.size(); ++i) {
    by_row[idle_rows + static_cast<Eigen::Index>(i)] /= sigma_w_[input_.streams[i].variant];
  }
  fit.steepening_drift = drift_variance(by_row);

  for (std::size_t i = 0; i < stream_ids_.size(); ++i) {
    const double sigma = sigma_w_[input_.streams[i].variant];
    const double residual = residual_of(stream_ids_[i], sigma);
    fit.stream_residual_w.push_back(-residual);
    const double size = std::abs(residual / sigma);
    fit.stream_weight.push_back(!input_.robust || size <= kHuberSigmas ? 1 : kHuberSigmas / size);
  }
  for (std::size_t i = 0; i < idle_ids_.size(); ++i) {
    fit.idle_residual_w.push_back(-residual_of(idle_ids_[i], idle_sigma(input_.idle[i])));
  }
  fit.stream_sigma_w = sigma_w_;
  fit.idle_sigma_w = idle_sigma_w_;
  fit.parameters = parameters();
  for (std::size_t v = 0; v < input_.variants.size(); ++v) fit.degrees_of_freedom += freedom(v);
  return fit;
}

double Solver::drift_variance(const Eigen::VectorXd& by_row) const {
  std::vector<const Window*> windows;
  for (std::size_t i = 0; i < idle_ids_.size(); ++i) windows.push_back(&input_.idle[i]);
  for (std::size_t i = 0; i < stream_ids_.size(); ++i) windows.push_back(&input_.streams[i].window);
  double sum = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    for (std::size_t j = 0; j < windows.size(); ++j) {
      if (windows[i]->session != windows[j]->session) continue;
      const double apart_s = std::abs(windows[i]->time_s - windows[j]->time_s);
      sum += by_row[static_cast<Eigen::Index>(i)] * by_row[static_cast<Eigen::Index>(j)] *
             std::exp(-apart_s / kDriftOfPowerS);
    }
  }
  return idle_wander_w_ * idle_wander_w_ * std::max(0.0, sum);
}

JointParameters Solver::parameters() const {
  JointParameters result;
  result.idle = blocks_.idle;
  result.response = blocks_.response;
  result.leakage_voltage_power = blocks_.leakage[0];
  result.leakage_steepening = blocks_.leakage[1];
  result.drift = blocks_.drift;
  for (const auto& block : blocks_.variants) {
    VariantParameters variant;
    variant.mean_w = block[0];
    variant.rate_w = block[1];
    variant.energy_fj_per_bit_mm = block[2];
    const auto engine = block.begin() + 3;
    const auto quadrant = engine + static_cast<std::ptrdiff_t>(engines());
    variant.engine_w.assign(engine, quadrant);
    const auto unexplained = quadrant + static_cast<std::ptrdiff_t>(quadrants());
    variant.quadrant_w.assign(quadrant, unexplained);
    variant.unexplained_w.assign(unexplained, block.end());
    result.variants.push_back(std::move(variant));
  }
  result.blocks = blocks_.blocks;
  return result;
}

double heat_share(const Variant& variant, double tau_s) {
  const double begin = variant.turn_s > 0 ? variant.held_s / 4 : 0;
  const double end = std::max(variant.held_s, begin + 1e-6);
  return 1 - tau_s / (end - begin) * (std::exp(-begin / tau_s) - std::exp(-end / tau_s));
}

double latent_temperature(const JointInput& input, const JointParameters& parameters,
                          const Window& window) {
  const residuals::Place place = place_of(input, window);
  if (place.flat) return input.reference_c;
  const auto at = input.temperature.ambient.place(window.session, window.time_s);
  const auto& knots = parameters.drift[at.session];
  return input.reference_c + 10 * residuals::scaled_temperature(place, parameters.response.data(),
                                                                knots[at.knot], knots[at.knot + 1]);
}

double idle_power(const JointInput& input, const JointParameters& parameters, int dvfs_state,
                  double temperature_c, double voltage_v) {
  const auto state = static_cast<std::size_t>(dvfs_state);
  const auto& c = parameters.idle[state];
  const double u = (temperature_c - input.reference_c) / 10;
  const double ratio = std::isfinite(voltage_v) ? voltage_v / input.dvfs[state].voltage_v : 1;
  return (c[0] + u * (c[1] + u * (c[2] + u * c[3]))) *
         std::pow(ratio, parameters.leakage_voltage_power);
}

double idle_power(const JointInput& input, const JointParameters& parameters, const Window& window,
                  bool loaded) {
  const double celsius = latent_temperature(input, parameters, window);
  const double steepening =
      loaded ? parameters.leakage_steepening * (celsius - input.reference_c) / 10 : 0;
  return idle_power(input, parameters, window.dvfs_state, celsius, window.voltage_v) *
         (1 + steepening);
}

Result<JointFit> fit_jointly(const JointInput& input) {
  return Solver(input).run();
}

}  // namespace ww::model
