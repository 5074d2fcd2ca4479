// Finds quantities between the joint fit's passes: scales of residuals, and how idle power goes
// with voltage.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "fit/solver/assumptions.hpp"
#include "fit/solver/joint_solver.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
std::pair<double, double> Solver::beta_from_states() const {
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
  const auto middle = exponent(kClockShare);
  const auto more = exponent(kClockShare + kClockShareSigma);
  if (!middle || !more) return {kBeta, kBetaSigma};
  return {*middle, std::hypot(*more - *middle, kBetaLeastSigma)};
}

double Solver::residual_of(ceres::ResidualBlockId id, double sigma) const {
  double cost = 0;
  double residual = 0;
  problem_->EvaluateResidualBlock(id, false, &cost, &residual, nullptr);
  return residual * sigma;
}

void Solver::rescale() {
  // Errors beyond noise show in windows with little of it: the first ones after a load are short.
  std::vector<double> noise;
  for (const Window& window : input_.idle) noise.push_back(window.power_error_w);
  const double usual = noise.empty() ? 0 : median(noise);
  std::erase_if(noise, [&](double error) { return error > usual; });
  std::vector<double> idle;
  for (std::size_t i = 0; i < idle_ids_.size(); ++i) {
    if (input_.idle[i].power_error_w > usual) continue;
    idle.push_back(residual_of(idle_ids_[i], idle_sigma(input_.idle[i])));
  }
  std::vector<std::vector<double>> streams(input_.variants.size());
  noise_w_.clear();
  for (std::size_t i = 0; i < stream_ids_.size(); ++i) {
    const std::size_t v = input_.streams[i].variant;
    streams[v].push_back(residual_of(stream_ids_[i], sigma_w_[v]));
    noise_w_.push_back(-streams[v].back());
  }
  if (!idle.empty()) {
    const double scale = robust_scale(idle);
    const double white = median(std::move(noise));
    idle_wander_w_ = std::sqrt(std::max(0.0, scale * scale - white * white));
    // Takes at least half of the scale: windows of one cool-down share errors that are not noise.
    idle_sigma_w_ = std::max({1e-3, 0.5 * scale, idle_wander_w_});
  }
  // Mean dynamic power is now known at reference voltage and free of leakage.
  std::vector<double> dynamic;
  for (const auto& variant : blocks_.variants) dynamic.push_back(variant[0]);
  follow_rates(dynamic);
  rescale_streams(streams);
}

double Solver::freedom(std::size_t v) const {
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

void Solver::rescale_streams(const std::vector<std::vector<double>>& residuals) {
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
        alone ? 0 : kBorrowedFreedom * power[v] * power[v] * shared_square / shared_left;
    sigma_w_[v] = std::max(
        2e-3, std::sqrt((square[v] + shared) / (left[v] + (alone ? 0 : kBorrowedFreedom))));
  }
}

}  // namespace ww::model
