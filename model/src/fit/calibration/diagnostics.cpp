#include "fit/calibration/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ww::model {
namespace {

// Wald's test of parameters [first, first + size): W = p' C^-1 p, and with n plateaus
// dBIC = size ln n - W. Below zero the data pay for the term (Schwarz 1978, Annals of Statistics
// 6:461; the likelihood ratio is taken as quadratic).
TermSupport term(const std::string& name, const JointFit& fit, const Eigen::VectorXd& value,
                 Eigen::Index first, double scatter) {
  TermSupport result;
  result.name = name;
  result.parameters = static_cast<int>(value.size());
  if (value.size() == 0) return result;
  const Eigen::MatrixXd covariance =
      scatter * fit.covariance.block(first, first, value.size(), value.size());
  result.wald = value.dot(covariance.ldlt().solve(value));
  result.delta_bic = static_cast<double>(value.size()) *
                         std::log(static_cast<double>(fit.stream_jacobian.rows())) -
                     result.wald;
  result.supported = result.delta_bic < 0;
  return result;
}

Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// Condition number of the normal matrix whose parameters are scaled to unit diagonal.
double condition_number(const Eigen::MatrixXd& covariance) {
  const Eigen::VectorXd scale = covariance.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = scale.asDiagonal() * covariance * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled, Eigen::EigenvaluesOnly);
  const double least = solver.eigenvalues().minCoeff();
  return least > 0 ? solver.eigenvalues().maxCoeff() / least
                   : std::numeric_limits<double>::infinity();
}

}  // namespace

Diagnostics diagnose(const JointInput& input, const JointFit& fit, const Uncertainty& uncertainty,
                     std::size_t main) {
  Diagnostics result;
  result.condition_number = condition_number(fit.covariance);
  // Leverage: diagonal of the hat matrix. A plateau that is left out is missed by r / (1 - h).
  const Eigen::MatrixXd spread = fit.stream_jacobian * fit.covariance;
  double missed = 0;
  double kept = 0;
  double beyond = 0;
  for (Eigen::Index i = 0; i < fit.stream_jacobian.rows(); ++i) {
    const double leverage = std::clamp(spread.row(i).dot(fit.stream_jacobian.row(i)), 0.0, 0.999);
    const double sigma = fit.stream_sigma_w[input.streams[static_cast<std::size_t>(i)].variant];
    const double scaled = fit.stream_residual_w[static_cast<std::size_t>(i)] / sigma;
    result.most_leverage = std::max(result.most_leverage, leverage);
    result.mean_leverage += leverage;
    kept += scaled * scaled;
    missed += scaled * scaled / ((1 - leverage) * (1 - leverage));
    beyond += std::abs(scaled) > 3 ? 1 : 0;
  }
  const auto n = static_cast<double>(std::max<Eigen::Index>(fit.stream_jacobian.rows(), 1));
  result.mean_leverage /= n;
  result.residual_rms_sigmas = std::sqrt(kept / n);
  result.held_back_rms_sigmas = std::sqrt(missed / n);
  result.beyond_three_sigmas = beyond / n;

  const VariantParameters& parameters = fit.parameters.variants[main];
  const Eigen::Index energy = fit.energy_column[main];
  const auto one = [](double value) { return Eigen::VectorXd::Constant(1, value); };
  const auto add = [&](const char* name, const Eigen::VectorXd& value, Eigen::Index first) {
    result.terms.push_back(term(name, fit, value, first, uncertainty.scatter));
  };
  const auto engines = static_cast<Eigen::Index>(parameters.engine_w.size());
  add("distance", one(parameters.energy_fj_per_bit_mm), energy);
  add("bytes", one(parameters.rate_w), energy - 1);
  add("engine offsets", vector_of(parameters.engine_w), energy + 1);
  add("quadrant offsets", vector_of(parameters.quadrant_w), energy + 1 + engines);
  add("interaction beyond distance", vector_of(parameters.unexplained_w),
      fit.unexplained_column[main]);
  add("steeper leakage under load", one(fit.parameters.leakage_steepening), fit.steepening_column);
  result.leakage_steepening = fit.parameters.leakage_steepening;
  result.leakage_steepening_error =
      std::sqrt(uncertainty.scatter * fit.covariance(fit.steepening_column, fit.steepening_column));
  double stream_w = 0;
  for (const VariantParameters& variant : fit.parameters.variants) {
    stream_w = std::max(stream_w, variant.mean_w);
  }
  constexpr auto kFast = static_cast<Eigen::Index>(kFastHeatCount);
  for (std::size_t j = 0; j < kFastHeatCount; ++j) {
    result.hot_spot_k += stream_w * fit.parameters.response[j];
  }
  result.hot_spot_error_k =
      stream_w *
      std::sqrt(fit.covariance.block(fit.response_column, fit.response_column, kFast, kFast).sum());
  return result;
}

}  // namespace ww::model
