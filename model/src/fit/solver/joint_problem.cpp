// Parameter blocks, residuals and priors of the joint fit.
#include <ceres/normal_prior.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fit/solver/joint_solver.hpp"

namespace ww::model {
namespace {

// The sensor's response, its own lag taken out: a lag shows as a negative fast response, which
// belongs to the next slower one. A sensor lags by a second at most, so that the heatsink's filters
// are far slower. What is still negative there is the noise of two neighbouring filters, of which
// the faster one has too much.
HeatState without_lag(HeatState response) {
  std::size_t sink = kFastHeatCount;
  while (sink < kHeatCount && heat_taus_s[sink] < kSinkHeatS) ++sink;
  for (std::size_t j = kFastHeatCount; j + 1 < sink; ++j) {
    if (response[j] >= 0) continue;
    response[j + 1] += response[j];
    response[j] = 0;
  }
  for (std::size_t j = sink - 1; j > kFastHeatCount && response[j] < 0; --j) {
    response[j - 1] += response[j];
    response[j] = 0;
  }
  return response;
}

double traffic_of(const JointInput& input, const StreamPlateau& stream) {
  return input.centred_distance_mm(stream.engine, stream.quadrant) * stream.bits_per_second * 1e-15;
}

}  // namespace

residuals::Place place_of(const JointInput& input, const Window& window) {
  residuals::Place place;
  place.flat = !input.temperature_correction;
  place.reference_c = input.reference_c;
  place.heat = window.heat;
  if (!place.flat) {
    place.ambient_c = input.temperature.ambient.at(window.session, window.time_s);
    place.drift_weight = input.temperature.ambient.place(window.session, window.time_s).weight;
  }
  const double nominal = input.dvfs[static_cast<std::size_t>(window.dvfs_state)].voltage_v;
  place.log_voltage = std::isfinite(window.voltage_v) ? std::log(window.voltage_v / nominal) : 0;
  return place;
}

Solver::Solver(const JointInput& input) : input_(input) {
  const std::size_t states = input.dvfs.size();
  blocks_.idle.resize(states);
  idle_mean_.resize(states, 0);
  std::vector<double> counts(states, 0);
  std::vector<double> low(states, 1e9);
  std::vector<double> high(states, -1e9);
  for (const Window& window : input.idle) {
    const auto s = static_cast<std::size_t>(window.dvfs_state);
    idle_mean_[s] += window.power_w;
    counts[s] += 1;
    low[s] = std::min(low[s], window.temperature_c);
    high[s] = std::max(high[s], window.temperature_c);
  }
  double widest = -1;
  for (std::size_t s = 0; s < states; ++s) {
    if (counts[s] > 0) idle_mean_[s] /= counts[s];
    if (counts[s] > 0 && high[s] - low[s] > widest) {
      widest = high[s] - low[s];
      best_state_ = s;
    }
  }
  for (std::size_t s = 0; s < states; ++s) {
    if (counts[s] == 0) {
      const auto& here = input.dvfs[s];
      const auto& best = input.dvfs[best_state_];
      idle_mean_[s] = idle_mean_[best_state_] * std::pow(here.voltage_v / best.voltage_v, 2.5);
    }
    blocks_.idle[s] = {idle_mean_[s], 0.1 * idle_mean_[s], 0.01 * idle_mean_[s], 0};
  }
  blocks_.response = without_lag(input.temperature.response);
  for (const double response : blocks_.response) total_response_ += std::abs(response);
  total_response_ = std::clamp(total_response_, 0.05, 2.0);
  response_prior_ = blocks_.response;
  for (const auto& session : input.temperature.ambient.sessions) {
    blocks_.drift.emplace_back(session.knots.size(), 0.0);
  }
  blocks_.variants.assign(input.variants.size(), std::vector<double>(variant_size(), 0.0));
  blocks_.blocks.assign(input.blocks, {0, 0});
  rate_prior_.resize(input.variants.size());
  rate_sigma_.resize(input.variants.size());
  sigma_w_.assign(input.variants.size(), 0.15);
  start_variants();
}

void Solver::start_variants() {
  std::vector<double> dynamic(input_.variants.size());
  for (std::size_t v = 0; v < input_.variants.size(); ++v) {
    const Variant& variant = input_.variants[v];
    double sum = 0;
    for (const std::size_t p : variant.plateaus) sum += input_.streams[p].window.power_w;
    dynamic[v] = (sum / static_cast<double>(variant.plateaus.size()) -
                  idle_mean_[static_cast<std::size_t>(variant.dvfs_state)]) /
                 variant.mean_busy_share;
    blocks_.variants[v][0] = dynamic[v];
  }
  follow_rates(dynamic);
  for (std::size_t v = 0; v < rate_prior_.size(); ++v) blocks_.variants[v][1] = rate_prior_[v];
}

void Solver::follow_rates(const std::vector<double>& dynamic) {
  // Relative slope (1 where power is proportional to rate) of a variant against another rate.
  const auto slope_of = [&](std::size_t v) -> std::optional<double> {
    const Variant& here = input_.variants[v];
    for (std::size_t u = 0; u < input_.variants.size(); ++u) {
      const Variant& other = input_.variants[u];
      const double change = here.mean_bits_per_second - other.mean_bits_per_second;
      if (other.pattern == here.pattern && other.dvfs_state == here.dvfs_state &&
          std::abs(change) > 0.2 * here.mean_bits_per_second && dynamic[v] > 1) {
        return (dynamic[v] - dynamic[u]) / change * here.mean_bits_per_second / dynamic[v];
      }
    }
    return std::nullopt;
  };
  for (std::size_t v = 0; v < input_.variants.size(); ++v) {
    auto slope = slope_of(v);
    double doubt = kRateDoubtOwn;
    for (std::size_t u = 0; u < input_.variants.size() && !slope; ++u) {
      // Takes the slope of another payload that was measured at a similar rate.
      const double ratio =
          input_.variants[u].mean_bits_per_second / input_.variants[v].mean_bits_per_second;
      if (std::abs(ratio - 1) < 0.2) slope = slope_of(u);
      doubt = kRateDoubtOther;
    }
    if (!slope) doubt = kRateDoubtNone;
    const double rate_w = slope.value_or(0.5) * std::max(0.0, dynamic[v]);
    rate_prior_[v] = rate_w;
    rate_sigma_[v] = doubt * std::abs(rate_w) + 0.5;
  }
  throttled_rate_w_ = rate_prior_;
}

double Solver::idle_sigma(const Window& window) const {
  return std::hypot(kIdleSigmaFactor * idle_sigma_w_, window.power_error_w);
}

void Solver::add_prior(double* block, const Eigen::VectorXd& mean, const Eigen::VectorXd& sigma) {
  const Eigen::MatrixXd a = sigma.cwiseInverse().asDiagonal();
  prior_ids_.push_back(problem_->AddResidualBlock(new ceres::NormalPrior(a, mean), nullptr, block));
}

std::vector<double*> Solver::idle_blocks(const Window& window) {
  const auto place = input_.temperature.ambient.place(window.session, window.time_s);
  auto& knots = blocks_.drift[place.session];
  return {blocks_.idle[static_cast<std::size_t>(window.dvfs_state)].data(), blocks_.response.data(),
          blocks_.leakage.data(), &knots[place.knot], &knots[place.knot + 1]};
}

std::vector<double> Solver::basis_at(int engine, int quadrant) const {
  std::vector<double> values;
  for (const Eigen::MatrixXd& w : input_.basis) values.push_back(w(engine, quadrant));
  return values;
}

ceres::LossFunction* Solver::loss() const {
  return input_.robust ? new ceres::HuberLoss(kHuberSigmas) : nullptr;
}

residuals::Place Solver::stream_place(std::size_t stream) const {
  residuals::Place place = place_of(input_, input_.streams[stream].window);
  const Variant& variant = input_.variants[input_.streams[stream].variant];
  for (std::size_t j = 0; j < kHeatCount && !noise_w_.empty(); ++j) {
    place.heat[j] -= heat_share(variant, heat_taus_s[j]) * noise_w_[stream];
  }
  return place;
}

void Solver::build() {
  problem_ = std::make_unique<ceres::Problem>();
  idle_ids_.clear();
  stream_ids_.clear();
  prior_ids_.clear();
  for (const Window& window : input_.idle) {
    auto* cost = new residuals::Idle(place_of(input_, window), window.power_w, idle_sigma(window));
    idle_ids_.push_back(problem_->AddResidualBlock(cost, loss(), idle_blocks(window)));
  }
  for (std::size_t i = 0; i < input_.streams.size(); ++i) {
    const StreamPlateau& stream = input_.streams[i];
    const Variant& variant = input_.variants[stream.variant];
    const residuals::Place place = stream_place(i);
    auto* cost = new residuals::Stream(
        place,
        {stream.window.power_w, sigma_w_[stream.variant], static_cast<std::size_t>(stream.engine),
         static_cast<std::size_t>(stream.quadrant), engines(),
         stream.bits_per_second / variant.mean_bits_per_second - 1, traffic_of(input_, stream),
         stream.place, stream.busy_share * std::exp(2 * place.log_voltage), quadrants(),
         basis_at(stream.engine, stream.quadrant)});
    auto parameters = idle_blocks(stream.window);
    parameters.push_back(blocks_.variants[stream.variant].data());
    parameters.push_back(blocks_.blocks[stream.block].data());
    stream_ids_.push_back(problem_->AddResidualBlock(cost, loss(), parameters));
  }
  add_priors();
}

double Solver::unexplained_sigma(std::size_t v) const {
  const double signal_w = std::abs(blocks_.variants[v][2]) * 1e-15 *
                          input_.variants[v].mean_bits_per_second *
                          input_.centred_distance_mm.norm();
  return std::max(0.5, 0.5 * signal_w / std::sqrt(static_cast<double>(input_.basis.size())));
}

void Solver::add_response_prior(const Eigen::VectorXd& response, Eigen::VectorXd doubt) {
  Eigen::MatrixXd covariance = input_.temperature.covariance;
  if (covariance.size() == 0) {  // no reading of a temperature
    add_prior(blocks_.response.data(), response, doubt);
    return;
  }
  // The heatsink warms the whole die evenly, so the sensor and the leakage respond equally to power
  // through slow filters. Power alone would fix only the product of that response and of idle
  // power's slope.
  for (std::size_t j = 0; j < kHeatCount; ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    if (heat_taus_s[j] >= kSinkHeatS) doubt[at] = kSteadyShare * std::abs(response[at]);
  }
  // The sensor says nothing of the hot spot.
  covariance.topRows(kFastHeatCount).setZero();
  covariance.leftCols(kFastHeatCount).setZero();
  covariance.diagonal() += doubt.cwiseAbs2();
  const Eigen::MatrixXd weight =
      covariance.ldlt().solve(Eigen::MatrixXd::Identity(covariance.rows(), covariance.cols()));
  const Eigen::MatrixXd root = weight.llt().matrixU();
  prior_ids_.push_back(problem_->AddResidualBlock(new ceres::NormalPrior(root, response), nullptr,
                                                  blocks_.response.data()));
}

void Solver::add_priors() {
  const auto constant = [](int size, double value) {
    return Eigen::VectorXd::Constant(size, value);
  };
  for (std::size_t s = 0; s < blocks_.idle.size(); ++s) {
    const double scale = std::max(1.0, idle_mean_[s]);
    Eigen::VectorXd mean(4);
    Eigen::VectorXd sigma(4);
    mean << idle_mean_[s], kIdleSlope * scale, kIdleCurvature * scale, kIdleThird * scale;
    sigma << scale, kIdleSlopeSigma * scale, kIdleCurvatureSigma * scale, kIdleThirdSigma * scale;
    if (s != best_state_ && shape_known_) {
      // A state that was never heated has the shape of the one that was.
      const auto& best = blocks_.idle[best_state_];
      const double ratio = idle_mean_[s] / std::max(1.0, idle_mean_[best_state_]);
      for (int i = 1; i < 4; ++i) {
        mean[i] = best[static_cast<std::size_t>(i)] * ratio;
        sigma[i] = 0.1 * std::abs(mean[i]) + 0.003 * scale;
      }
    }
    add_prior(blocks_.idle[s].data(), mean, sigma);
  }
  Eigen::VectorXd response(kHeatCount);
  for (std::size_t j = 0; j < kHeatCount; ++j) {
    response[static_cast<Eigen::Index>(j)] = response_prior_[j];
  }
  Eigen::VectorXd response_sigma = constant(kHeatCount, 0.5 * total_response_);
  double stream_w = 1;
  for (const auto& variant : blocks_.variants) stream_w = std::max(stream_w, variant[0]);
  for (std::size_t j = 0; j < kFastHeatCount; ++j) {
    constexpr auto kFilters = static_cast<double>(kFastHeatCount);
    const auto at = static_cast<Eigen::Index>(j);
    response[at] = kHotSpotK / kFilters / stream_w;
    response_sigma[at] = kHotSpotSigmaK / std::sqrt(kFilters) / stream_w;
    if (noise_w_.empty()) blocks_.response[j] = response[at];
  }
  add_response_prior(response, response_sigma);
  // In steady state the chip is about as warm as its sensor says. Without this, power alone would
  // fix only the product of response and leakage slope, not the degrees.
  double steady = 0;
  for (const double r : response_prior_) steady += r;
  const double steady_sigma = kSteadyShare * std::max(0.02, std::abs(steady));
  Eigen::MatrixXd seen_by_sensor = Eigen::MatrixXd::Constant(1, kHeatCount, 1 / steady_sigma);
  seen_by_sensor.leftCols(kFastHeatCount).setZero();
  prior_ids_.push_back(problem_->AddResidualBlock(
      new ceres::NormalPrior(seen_by_sensor,
                             constant(kHeatCount, steady / (kHeatCount - kFastHeatCount))),
      nullptr, blocks_.response.data()));
  add_prior(blocks_.leakage.data(), Eigen::Vector2d(beta_.first, 0),
            Eigen::Vector2d(beta_.second, kSteepeningSigma));
  for (auto& session : blocks_.drift) {
    for (double& knot : session) add_prior(&knot, constant(1, 0), constant(1, kDriftSigmaK));
  }
  const auto size = static_cast<int>(variant_size());
  for (std::size_t v = 0; v < blocks_.variants.size(); ++v) {
    Eigen::VectorXd mean = constant(size, 0);
    Eigen::VectorXd sigma = constant(size, input_.crossing ? kEffectSigmaW : 1e-3);
    mean[1] = rate_prior_[v];
    sigma[0] = 1e4;
    sigma[1] = rate_sigma_[v];
    sigma[2] = 1e5;
    const auto extra = static_cast<Eigen::Index>(input_.basis.size());
    if (extra > 0) sigma.tail(extra).setConstant(unexplained_sigma(v));
    add_prior(blocks_.variants[v].data(), mean, sigma);
  }
  Eigen::VectorXd block_sigma(2);
  block_sigma << kBlockSigmaW, kBlockSlopeSigmaW;
  for (auto& block : blocks_.blocks) add_prior(block.data(), constant(2, 0), block_sigma);
}

}  // namespace ww::model
