#include "joint_fit.hpp"

#include <ceres/ceres.h>
#include <ceres/normal_prior.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "joint_residuals.hpp"
#include "solver_options.hpp"
#include "stats.hpp"

namespace ww::model {
namespace {

using residuals::Place;

constexpr double drift_sigma_k = 0.25;  // what the temperature sensor leaves open of the ambient
constexpr double steady_share = 0.05;   // of the steady response, die against sensor
constexpr double beta_prior = 2.4;      // leakage and clocks together: between V^2 and V^3
constexpr double beta_sigma = 0.4;
constexpr double beta_least_sigma = 0.1;
// Share of idle power that is clocks, V^2 f: what is never gated of a clock tree.
constexpr double clock_share = 0.10;
constexpr double clock_share_sigma = 0.05;
constexpr double steepening_sigma = 0.03;  // hot spots of some kelvin on an e-fold of 30-80 K
constexpr double effect_sigma_w = 200;     // engine and quadrant effects: free in practice
constexpr double block_sigma_w = 1;
constexpr double block_slope_sigma_w = 0.3;
constexpr double huber_sigmas = 3;
// Windows of one cool-down share errors of the thermal description, which are not noise.
constexpr double idle_sigma_factor = 2;
constexpr int passes = 3;  // scales of the residuals are found between passes

struct Blocks {
  std::vector<std::array<double, 4>> idle;
  HeatState response{};
  std::array<double, 2> leakage{beta_prior, 0};
  std::vector<std::vector<double>> drift;
  std::vector<std::vector<double>> variants;
  std::vector<std::array<double, 2>> blocks;
};

Place place_of(const JointInput& input, const Window& window) {
  Place place;
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

double traffic_of(const JointInput& input, const StreamPlateau& stream) {
  return input.centred_distance_mm(stream.engine, stream.quadrant) * stream.bits_per_second * 1e-15;
}

// State of the solver: problem, parameter blocks and which residual is whose.
class Solver {
 public:
  explicit Solver(const JointInput& input) : input_(input) {
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
    // The sensor's response, its own lag taken out: a lag shows as a negative fast response, which
    // belongs to the next slower one.
    blocks_.response = input.temperature.response;
    for (std::size_t j = 0; j + 1 < heat_count; ++j) {
      if (blocks_.response[j] >= 0) continue;
      blocks_.response[j + 1] += blocks_.response[j];
      blocks_.response[j] = 0;
    }
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

  Result<JointFit> run() {
    for (int pass = 0; pass < passes; ++pass) {
      build();
      if (!solve()) {
        return fail(ErrorCode::bad_data, "the joint fit did not converge: " + message_);
      }
      if (pass + 1 < passes) rescale();
      // States at different temperatures tell nothing when temperature is left out on purpose.
      if (input_.temperature_correction) beta_ = beta_from_states();
    }
    return linearise();
  }

 private:
  std::size_t engines() const { return static_cast<std::size_t>(input_.distance_mm.rows()); }
  std::size_t quadrants() const { return static_cast<std::size_t>(input_.distance_mm.cols()); }
  std::size_t variant_size() const { return 3 + engines() + quadrants() + input_.basis.size(); }

  // Mean dynamic power as start, and how power should follow the rate: from the same pattern at
  // another rate where there is one. Only then is the slope known apart from distance.
  void start_variants() {
    std::vector<double> dynamic(input_.variants.size());
    for (std::size_t v = 0; v < input_.variants.size(); ++v) {
      const Variant& variant = input_.variants[v];
      double sum = 0;
      for (const std::size_t p : variant.plateaus) sum += input_.streams[p].window.power_w;
      dynamic[v] = sum / static_cast<double>(variant.plateaus.size()) -
                   idle_mean_[static_cast<std::size_t>(variant.dvfs_state)];
      blocks_.variants[v][0] = dynamic[v];
    }
    follow_rates(dynamic);
    for (std::size_t v = 0; v < rate_prior_.size(); ++v) blocks_.variants[v][1] = rate_prior_[v];
  }

  void follow_rates(const std::vector<double>& dynamic) {
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
      double doubt = 0.15;
      for (std::size_t u = 0; u < input_.variants.size() && !slope; ++u) {
        // Another payload's slope, at a similar rate.
        const double ratio =
            input_.variants[u].mean_bits_per_second / input_.variants[v].mean_bits_per_second;
        if (std::abs(ratio - 1) < 0.2) slope = slope_of(u);
        doubt = 0.2;
      }
      if (!slope) doubt = 0.8;
      const double rate_w = slope.value_or(0.5) * std::max(0.0, dynamic[v]);
      rate_prior_[v] = rate_w;
      rate_sigma_[v] = doubt * std::abs(rate_w) + 0.5;
    }
  }

  // Short windows are noisier; what all share is the description's error.
  double idle_sigma(const Window& window) const {
    return idle_sigma_factor * std::hypot(idle_sigma_w_, window.power_error_w);
  }

  void add_prior(double* block, const Eigen::VectorXd& mean, const Eigen::VectorXd& sigma) {
    const Eigen::MatrixXd a = sigma.cwiseInverse().asDiagonal();
    prior_ids_.push_back(
        problem_->AddResidualBlock(new ceres::NormalPrior(a, mean), nullptr, block));
  }

  std::vector<double*> idle_blocks(const Window& window) {
    const auto place = input_.temperature.ambient.place(window.session, window.time_s);
    auto& knots = blocks_.drift[place.session];
    return {blocks_.idle[static_cast<std::size_t>(window.dvfs_state)].data(),
            blocks_.response.data(), blocks_.leakage.data(), &knots[place.knot],
            &knots[place.knot + 1]};
  }

  std::vector<double> basis_at(int engine, int quadrant) const {
    std::vector<double> values;
    for (const Eigen::MatrixXd& w : input_.basis) values.push_back(w(engine, quadrant));
    return values;
  }

  ceres::LossFunction* loss() const {
    return input_.robust ? new ceres::HuberLoss(huber_sigmas) : nullptr;
  }

  void build() {
    problem_ = std::make_unique<ceres::Problem>();
    idle_ids_.clear();
    stream_ids_.clear();
    prior_ids_.clear();
    for (const Window& window : input_.idle) {
      auto* cost = new ceres::DynamicAutoDiffCostFunction<residuals::Idle, 5>(
          new residuals::Idle{place_of(input_, window), window.power_w, idle_sigma(window)});
      for (const int size : {4, static_cast<int>(heat_count), 2, 1, 1}) {
        cost->AddParameterBlock(size);
      }
      cost->SetNumResiduals(1);
      idle_ids_.push_back(problem_->AddResidualBlock(cost, loss(), idle_blocks(window)));
    }
    for (const StreamPlateau& stream : input_.streams) {
      const Variant& variant = input_.variants[stream.variant];
      const Place place = place_of(input_, stream.window);
      auto* cost =
          new ceres::DynamicAutoDiffCostFunction<residuals::Stream, 8>(new residuals::Stream{
              place, stream.window.power_w, sigma_w_[stream.variant],
              static_cast<std::size_t>(stream.engine), static_cast<std::size_t>(stream.quadrant),
              engines(), stream.bits_per_second / variant.mean_bits_per_second - 1,
              traffic_of(input_, stream), stream.place, std::exp(2 * place.log_voltage),
              quadrants(), basis_at(stream.engine, stream.quadrant)});
      auto parameters = idle_blocks(stream.window);
      parameters.push_back(blocks_.variants[stream.variant].data());
      parameters.push_back(blocks_.blocks[stream.block].data());
      for (const int size :
           {4, static_cast<int>(heat_count), 2, 1, 1, static_cast<int>(variant_size()), 2}) {
        cost->AddParameterBlock(size);
      }
      cost->SetNumResiduals(1);
      stream_ids_.push_back(problem_->AddResidualBlock(cost, loss(), parameters));
    }
    add_priors();
  }

  // Weak, and only there so that pairs that were never run leave the energy determined.
  double unexplained_sigma(std::size_t v) const {
    const double signal_w = std::abs(blocks_.variants[v][2]) * 1e-15 *
                            input_.variants[v].mean_bits_per_second *
                            input_.centred_distance_mm.norm();
    return std::max(0.5, 0.5 * signal_w / std::sqrt(static_cast<double>(input_.basis.size())));
  }

  void add_priors() {
    const auto constant = [](int size, double value) {
      return Eigen::VectorXd::Constant(size, value);
    };
    for (std::size_t s = 0; s < blocks_.idle.size(); ++s) {
      const double scale = std::max(1.0, idle_mean_[s]);
      Eigen::VectorXd mean(4);
      Eigen::VectorXd sigma(4);
      mean << idle_mean_[s], 0.1 * scale, 0.01 * scale, 0;
      sigma << scale, 0.3 * scale, 0.1 * scale, 0.03 * scale;
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
    Eigen::VectorXd response(heat_count);
    for (std::size_t j = 0; j < heat_count; ++j) {
      response[static_cast<Eigen::Index>(j)] = response_prior_[j];
    }
    add_prior(blocks_.response.data(), response, constant(heat_count, 0.5 * total_response_));
    // In steady state the chip is about as warm as its sensor says. Without this, power alone would
    // fix only the product of response and leakage slope, not the degrees.
    double steady = 0;
    for (const double r : response_prior_) steady += r;
    const double steady_sigma = steady_share * std::max(0.02, std::abs(steady));
    prior_ids_.push_back(problem_->AddResidualBlock(
        new ceres::NormalPrior(Eigen::MatrixXd::Constant(1, heat_count, 1 / steady_sigma),
                               constant(heat_count, steady / heat_count)),
        nullptr, blocks_.response.data()));
    add_prior(blocks_.leakage.data(), Eigen::Vector2d(beta_.first, 0),
              Eigen::Vector2d(beta_.second, steepening_sigma));
    for (auto& session : blocks_.drift) {
      for (double& knot : session) add_prior(&knot, constant(1, 0), constant(1, drift_sigma_k));
    }
    const auto size = static_cast<int>(variant_size());
    for (std::size_t v = 0; v < blocks_.variants.size(); ++v) {
      Eigen::VectorXd mean = constant(size, 0);
      Eigen::VectorXd sigma = constant(size, input_.crossing ? effect_sigma_w : 1e-3);
      mean[1] = rate_prior_[v];
      sigma[0] = 1e4;
      sigma[1] = rate_sigma_[v];
      sigma[2] = 1e5;
      const auto extra = static_cast<Eigen::Index>(input_.basis.size());
      if (extra > 0) sigma.tail(extra).setConstant(unexplained_sigma(v));
      add_prior(blocks_.variants[v].data(), mean, sigma);
    }
    Eigen::VectorXd block_sigma(2);
    block_sigma << block_sigma_w, block_slope_sigma_w;
    for (auto& block : blocks_.blocks) add_prior(block.data(), constant(2, 0), block_sigma);
  }

  // How idle power goes with voltage at one clock, from how it goes with voltage *and* clock over
  // the states, less a share of clocks. Both voltages would fit: prior and its sigma.
  std::pair<double, double> beta_from_states() const {
    const JointParameters now = parameters();
    std::vector<double> celsius(blocks_.idle.size(), 0);
    std::vector<double> count(blocks_.idle.size(), 0);
    for (const Window& window : input_.idle) {
      const auto s = static_cast<std::size_t>(window.dvfs_state);
      celsius[s] += latent_temperature(input_, now, window);
      count[s] += 1;
    }
    const auto exponent = [&](double clocks) -> std::optional<double> {
      const auto& reference = input_.dvfs[best_state_];
      double xy = 0;
      double xx = 0;
      for (std::size_t s = 0; s < count.size(); ++s) {
        const double x = std::log(input_.dvfs[s].voltage_v / reference.voltage_v);
        if (s == best_state_ || count[s] < 4 || std::abs(x) < 0.02) continue;
        const double t = celsius[s] / count[s];
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const double ratio = idle_power(input_, now, static_cast<int>(s), t, nan) /
                             idle_power(input_, now, static_cast<int>(best_state_), t, nan);
        const double leakage =
            (ratio - clocks * std::exp(2 * x) * input_.dvfs[s].clock_hz / reference.clock_hz) /
            (1 - clocks);
        if (!(leakage > 0)) return std::nullopt;
        xy += x * std::log(leakage);
        xx += x * x;
      }
      if (xx <= 0) return std::nullopt;
      return (1 - clocks) * xy / xx + 2 * clocks;
    };
    const auto middle = exponent(clock_share);
    const auto more = exponent(clock_share + clock_share_sigma);
    if (!middle || !more) return {beta_prior, beta_sigma};
    return {*middle, std::hypot(*more - *middle, beta_least_sigma)};
  }

  bool solve() {
    const auto options = solver_options();
    ceres::Solver::Summary summary;
    ceres::Solve(options, problem_.get(), &summary);
    message_ = summary.message;
    shape_known_ = true;
    return summary.IsSolutionUsable();
  }

  double residual_of(ceres::ResidualBlockId id, double sigma) const {
    double cost = 0;
    double residual = 0;
    problem_->EvaluateResidualBlock(id, false, &cost, &residual, nullptr);
    return residual * sigma;
  }

  // Scales of idle and stream residuals, robust.
  void rescale() {
    std::vector<double> idle;
    std::vector<double> noise;
    for (std::size_t i = 0; i < idle_ids_.size(); ++i) {
      idle.push_back(residual_of(idle_ids_[i], idle_sigma(input_.idle[i])));
      noise.push_back(input_.idle[i].power_error_w);
    }
    std::vector<std::vector<double>> streams(input_.variants.size());
    for (std::size_t i = 0; i < stream_ids_.size(); ++i) {
      const std::size_t v = input_.streams[i].variant;
      streams[v].push_back(residual_of(stream_ids_[i], sigma_w_[v]));
    }
    if (!idle.empty()) {
      const double scale = robust_scale(idle);
      const double white = median(std::move(noise));
      // At least half of the scale: windows of one cool-down share errors that are not noise.
      idle_sigma_w_ =
          std::max({1e-3, 0.5 * scale, std::sqrt(std::max(0.0, scale * scale - white * white))});
    }
    // Mean dynamic power is now known at reference voltage and free of leakage.
    std::vector<double> dynamic;
    for (const auto& variant : blocks_.variants) dynamic.push_back(variant[0]);
    follow_rates(dynamic);
    rescale_streams(streams);
  }

  // Degrees of freedom that a variant's residuals keep: its pairs, and offset and slope of its
  // blocks, are fitted.
  double freedom(std::size_t v) const {
    std::set<std::size_t> blocks;
    std::set<std::pair<int, int>> pairs;
    for (const std::size_t p : input_.variants[v].plateaus) {
      blocks.insert(input_.streams[p].block);
      pairs.insert({input_.streams[p].engine, input_.streams[p].quadrant});
    }
    const double means = input_.crossing ? static_cast<double>(pairs.size()) : 2;
    const double spent = means + 2 * static_cast<double>(blocks.size()) - 1;
    return std::max(1.0, static_cast<double>(input_.variants[v].plateaus.size()) - spent);
  }

  // Scales of the variants. A block of plateaus has few degrees of freedom, so plateaus lean on all
  // plateaus together, whose noise goes with their power; turns of lock-in are many and shorter,
  // and stand for themselves.
  void rescale_streams(const std::vector<std::vector<double>>& residuals) {
    constexpr double borrowed = 16;  // degrees of freedom that the others count for
    std::vector<double> square(residuals.size());
    std::vector<double> left(residuals.size());
    std::vector<double> power(residuals.size());
    double shared_square = 0;
    double shared_left = 0;
    for (std::size_t v = 0; v < residuals.size(); ++v) {
      const Variant& variant = input_.variants[v];
      for (const std::size_t p : variant.plateaus) power[v] += input_.streams[p].window.power_w;
      power[v] = std::max(1e-3, power[v] / static_cast<double>(variant.plateaus.size()));
      square[v] = clipped_square_sum(residuals[v]);
      left[v] = freedom(v);
      if (variant.turn_s > 0) continue;
      shared_square += square[v] / (power[v] * power[v]);
      shared_left += left[v];
    }
    for (std::size_t v = 0; v < residuals.size(); ++v) {
      const bool alone = input_.variants[v].turn_s > 0 || shared_left <= 0;
      const double shared =
          alone ? 0 : borrowed * power[v] * power[v] * shared_square / shared_left;
      sigma_w_[v] =
          std::max(2e-3, std::sqrt((square[v] + shared) / (left[v] + (alone ? 0 : borrowed))));
    }
  }

  JointFit linearise() {
    JointFit fit;
    std::vector<double*> parameter_blocks;
    Eigen::Index columns = 0;
    const auto append = [&](double* block, std::size_t size) {
      if (!problem_->HasParameterBlock(block)) return;
      parameter_blocks.push_back(block);
      columns += static_cast<Eigen::Index>(size);
    };
    for (auto& idle : blocks_.idle) append(idle.data(), 4);
    append(blocks_.response.data(), heat_count);
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
    if (!idle_ids_.empty()) {
      const Eigen::MatrixXd idle = dense(idle_ids_, true, ignored);
      normal += idle.transpose() * idle;
    }
    const Eigen::Index path = columns - fit.idle_columns;
    fit.path_prior = prior_normal.bottomRightCorner(path, path);
    fit.covariance = normal.ldlt().solve(Eigen::MatrixXd::Identity(columns, columns));

    for (std::size_t i = 0; i < stream_ids_.size(); ++i) {
      const double sigma = sigma_w_[input_.streams[i].variant];
      const double residual = residual_of(stream_ids_[i], sigma);
      fit.stream_residual_w.push_back(-residual);
      const double size = std::abs(residual / sigma);
      fit.stream_weight.push_back(!input_.robust || size <= huber_sigmas ? 1 : huber_sigmas / size);
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

  JointParameters parameters() const {
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

  const JointInput& input_;
  Blocks blocks_;
  std::vector<double> idle_mean_;
  std::size_t best_state_{};
  bool shape_known_{};
  HeatState response_prior_{};
  double total_response_{};
  std::pair<double, double> beta_{beta_prior, beta_sigma};
  std::vector<double> rate_prior_, rate_sigma_;
  double idle_sigma_w_{0.2};
  std::vector<double> sigma_w_;
  std::unique_ptr<ceres::Problem> problem_;
  std::vector<ceres::ResidualBlockId> idle_ids_, stream_ids_, prior_ids_;
  std::string message_;
};

}  // namespace

double latent_temperature(const JointInput& input, const JointParameters& parameters,
                          const Window& window) {
  const Place place = place_of(input, window);
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
