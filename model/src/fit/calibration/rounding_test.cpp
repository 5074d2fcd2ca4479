#include "fit/calibration/rounding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "fit/calibration/misfit.hpp"
#include "fit/solver/reading_steps.hpp"
#include "testing/fitting.hpp"
#include "ww/core/statistics.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::model {
namespace {

using namespace testing;

constexpr double kStepW = 1.0;
constexpr double kTruth = 212;  // fJ/bit/mm
constexpr double kBitsPerSecond = 1.8e12;
constexpr Eigen::Index kEngines = 4, kQuadrants = 4;
constexpr Eigen::Index kEnergy = kEngines + kQuadrants - 1;  // column, behind the effects
constexpr double kSigmaW = 0.05;                             // that the fit takes the noise for

// Mean and variance of many readings of a power: Gaussian noise, then rounding. Adds up the noise's
// distribution.
struct Readings {
  double mean_w{}, variance_w2{};
};
Readings readings_of(double power_w, double noise_w) {
  if (noise_w <= 0) return {std::round(power_w / kStepW) * kStepW, 0};
  double weights = 0;
  double sum = 0;
  double square = 0;
  for (int i = -100; i <= 100; ++i) {
    const double z = i / 20.0;
    const double weight = std::exp(-z * z / 2);
    const double off = std::round((power_w + noise_w * z) / kStepW) * kStepW - power_w;
    weights += weight;
    sum += weight * off;
    square += weight * off * off;
  }
  const double mean = sum / weights;
  return {power_w + mean, std::max(0.0, square / weights - mean * mean)};
}

// Inverse of a small positive matrix by elimination.
Eigen::MatrixXd inverse_of(Eigen::MatrixXd matrix) {
  const Eigen::Index n = matrix.rows();
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index pivot = 0; pivot < n; ++pivot) {
    for (Eigen::Index row = 0; row < n; ++row) {
      const double factor =
          row == pivot ? 1 - 1 / matrix(pivot, pivot) : matrix(row, pivot) / matrix(pivot, pivot);
      for (Eigen::Index column = 0; column < n; ++column) {
        matrix(row, column) -= factor * matrix(pivot, column);
        inverse(row, column) -= factor * inverse(pivot, column);
      }
    }
  }
  return inverse;
}

// Energy of wires along the published distances of a W9100: least squares over the mean, engines,
// quadrants and distance. In plain loops: Eigen's products and solvers would be compiled for this
// test without optimisation, and the linker would take them for the library's, whose fits are most
// of the time.
class Pairs {
 public:
  Pairs() {
    const auto plan = parse_floorplan(*known_floorplan("w9100"), "w9100.toml");
    design_ = Eigen::MatrixXd::Zero(kEngines * kQuadrants, kEnergy + 1);
    for (Eigen::Index e = 0; e < kEngines; ++e) {
      for (Eigen::Index q = 0; q < kQuadrants; ++q) {
        const Eigen::Index row = e * kQuadrants + q;
        design_(row, 0) = 1;
        if (e > 0) design_(row, e) = 1;
        if (q > 0) design_(row, kEngines - 1 + q) = 1;
        design_(row, kEnergy) = 1e-15 * kBitsPerSecond *
                                plan->distance(static_cast<int>(e), static_cast<int>(q)).value();
      }
    }
    Eigen::MatrixXd normal(design_.cols(), design_.cols());
    for (Eigen::Index i = 0; i < design_.cols(); ++i) {
      for (Eigen::Index j = 0; j < design_.cols(); ++j) {
        normal(i, j) = 0;
        for (Eigen::Index p = 0; p < design_.rows(); ++p)
          normal(i, j) += design_(p, i) * design_(p, j);
      }
    }
    covariance_ = inverse_of(normal);
  }

  // Powers with effects drawn anew.
  [[nodiscard]] Eigen::VectorXd powers(std::mt19937_64& random) const {
    std::normal_distribution<double> effect_w(0, 2);
    Eigen::VectorXd parameters(kEnergy + 1);
    for (Eigen::Index i = 0; i < kEnergy; ++i) parameters[i] = effect_w(random);
    parameters[0] += 60;
    parameters[kEnergy] = kTruth;
    return powers_of(parameters);
  }

  // The fit of what a sensor of whole watts shows of these powers.
  struct Seen {
    JointInput input;
    JointFit fit;
    double energy{};
  };
  [[nodiscard]] Seen seen(const Eigen::VectorXd& powers_w, double noise_w) const {
    Seen result;
    result.input.power_step_w = kStepW;
    result.input.variants.resize(1);
    result.fit.stream_sigma_w = {kSigmaW};
    result.fit.energy_column = {kEnergy};
    result.fit.stream_jacobian = design_ / kSigmaW;
    result.fit.covariance = covariance_ * (kSigmaW * kSigmaW);
    Eigen::VectorXd shown(powers_w.size());
    for (Eigen::Index p = 0; p < powers_w.size(); ++p) {
      const Readings readings = readings_of(powers_w[p], noise_w);
      shown[p] = readings.mean_w;
      StreamPlateau stream;
      stream.engine = static_cast<int>(p / kQuadrants);
      stream.quadrant = static_cast<int>(p % kQuadrants);
      stream.window.power_w = readings.mean_w;
      stream.window.power_spread_w = std::sqrt(readings.variance_w2);
      result.input.streams.push_back(stream);
      result.fit.stream_weight.push_back(1);
    }
    Eigen::VectorXd parameters = Eigen::VectorXd::Zero(design_.cols());
    for (Eigen::Index i = 0; i < design_.cols(); ++i) {
      for (Eigen::Index p = 0; p < design_.rows(); ++p) {
        double along = 0;
        for (Eigen::Index j = 0; j < design_.cols(); ++j)
          along += covariance_(i, j) * design_(p, j);
        parameters[i] += along * shown[p];
      }
    }
    const Eigen::VectorXd residual = shown - powers_of(parameters);
    result.fit.stream_residual_w.assign(residual.begin(), residual.end());
    result.energy = parameters[kEnergy];
    return result;
  }

 private:
  [[nodiscard]] Eigen::VectorXd powers_of(const Eigen::VectorXd& parameters) const {
    Eigen::VectorXd powers_w = Eigen::VectorXd::Zero(design_.rows());
    for (Eigen::Index p = 0; p < design_.rows(); ++p) {
      for (Eigen::Index i = 0; i < design_.cols(); ++i)
        powers_w[p] += design_(p, i) * parameters[i];
    }
    return powers_w;
  }

  Eigen::MatrixXd design_;
  Eigen::MatrixXd covariance_;  // of the parameters, for readings of unit variance
};

// Campaigns of a W9100 behind a register of whole watts, as often as makes the rms good to 4%.
// Powers are drawn, rounded, and only then handed over: the position of a power within its step is
// gone.
TEST(Rounding, FollowsTheErrorOfRoundedPowersAtEveryNoise) {
  // Noise before the rounding [W], and the rms error that an independent simulation found [fJ].
  constexpr std::array<std::pair<double, double>, 7> kSimulated{
      {{0, 10.1}, {0.03, 9.1}, {0.06, 7.6}, {0.10, 6.5}, {0.15, 5.1}, {0.20, 3.6}, {0.30, 1.3}}};
  constexpr int kDraws = 300;
  const Pairs pairs;
  std::mt19937_64 random(9106);
  for (const auto& [noise_w, simulated] : kSimulated) {
    double square = 0;
    double stated = 0;
    int outside = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto seen = pairs.seen(pairs.powers(random), noise_w);
      const double variance = rounding_covariance(seen.input, seen.fit)(0, 0);
      const double error = seen.energy - kTruth;
      square += error * error / kDraws;
      stated += variance / kDraws;
      outside += std::abs(error) > kNormal95 * std::sqrt(variance) ? 1 : 0;
    }
    const double rms = std::sqrt(square);
    RecordProperty("rms_fj_at_" + std::to_string(noise_w), std::to_string(rms));
    EXPECT_NEAR(rms, simulated, 0.15 * simulated + 0.3) << noise_w;
    EXPECT_NEAR(std::sqrt(stated), rms, 0.15 * rms) << noise_w;
    // The noise is itself found from the scatter of sixteen powers.
    EXPECT_LT(outside, 0.12 * kDraws) << noise_w;
  }
}

TEST(Rounding, OfNoNoiseIsATwelfthOfAStepSquared) {
  EXPECT_NEAR(rounding_variance(0.5, 0), 0.25 / 12, 0.02 * 0.25 / 12);
  EXPECT_LT(rounding_variance(0.5, 0.25), 1e-4 * 0.25 / 12);
}

TEST(Rounding, FindsTheNoiseBeforeItFromTheScatterOfReadings) {
  for (const double noise_w : {0.0, 0.05, 0.1, 0.2, 0.5, 3.0}) {
    double square = 0;
    constexpr int kPositions = 400;
    for (int at = 0; at < kPositions; ++at) {
      square += readings_of(50 + kStepW * at / kPositions, noise_w).variance_w2 / kPositions;
    }
    EXPECT_NEAR(noise_before_rounding(kStepW, square), noise_w, 0.02) << noise_w;
  }
}

// Two plateaus of a pair in the same powers, and what a watt in each moves the energy by.
double variance_of_two(double apart_w, const char* other_payload, int other_quadrant,
                       std::size_t other_variant = 1) {
  JointInput input;
  input.power_step_w = kStepW;
  input.variants.resize(2);
  input.variants[0].pattern = "random";
  input.variants[1].pattern = other_payload;
  JointFit fit;
  fit.stream_sigma_w = {1, 1};
  fit.energy_column = {0};
  fit.covariance = Eigen::MatrixXd::Identity(1, 1);
  fit.stream_jacobian = Eigen::MatrixXd::Ones(2, 1);
  for (std::size_t p = 0; p < 2; ++p) {
    StreamPlateau stream;
    stream.variant = p == 0 ? 0 : other_variant;
    stream.quadrant = p == 0 ? 0 : other_quadrant;
    stream.window.power_w = 50 + (p == 0 ? 0 : apart_w);
    input.streams.push_back(stream);
    fit.stream_weight.push_back(1);
    fit.stream_residual_w.push_back(0);
  }
  return rounding_covariance(input, fit)(0, 0);
}

TEST(Rounding, IsOneErrorForPlateausOfOnePairAndPayloadAtOnePower) {
  const double one = rounding_variance(kStepW, 0);
  EXPECT_NEAR(variance_of_two(0.05, "random", 0), 4 * one, 1e-9);
  EXPECT_NEAR(variance_of_two(0.5, "random", 0), 2 * one, 1e-9) << "the power has moved";
  EXPECT_NEAR(variance_of_two(0, "zeros", 0), 2 * one, 1e-9) << "another payload";
  EXPECT_NEAR(variance_of_two(0, "random", 1), 2 * one, 1e-9) << "another pair";
}

// The scatter of a pair's two plateaus is in the fit's noise, and that of their steps with it.
TEST(Rounding, IsNotCountedAgainWhereTheScatterOfAPairShowsIt) {
  const double one = rounding_variance(kStepW, 0);
  EXPECT_NEAR(variance_of_two(0.05, "random", 0, 0), 4 * one, 1e-9) << "no scatter shows it";
  EXPECT_NEAR(variance_of_two(0.5, "random", 0, 0), 0, 1e-9);
  EXPECT_NEAR(variance_of_two(0.5, "random", 1, 0), 2 * one, 1e-9) << "other pairs";
}

// Two idle windows, and streams whose noise dithers them.
double variance_of_idle(double apart_w, int other_state) {
  JointInput input;
  input.power_step_w = kStepW;
  input.variants.resize(1);
  JointFit fit;
  fit.stream_sigma_w = {1};
  fit.energy_column = {0};
  fit.covariance = Eigen::MatrixXd::Identity(1, 1);
  fit.stream_jacobian = Eigen::MatrixXd::Ones(1, 1);
  fit.stream_weight = {1};
  fit.stream_residual_w = {0};
  input.streams.emplace_back().window.power_w = 100;
  input.streams.front().window.power_spread_w = kStepW;
  fit.idle_per_watt = Eigen::MatrixXd::Ones(2, 1);
  fit.idle_residual_w = {0, 0};
  input.idle.resize(2);
  for (Window& window : input.idle) window.power_w = 16;
  input.idle.back().power_w += apart_w;
  input.idle.back().dvfs_state = other_state;
  return rounding_covariance(input, fit)(0, 0);
}

TEST(Rounding, IsThatOfIdlePowerWhereNoiseDithersTheLoadAlone) {
  const double one = rounding_variance(kStepW, 0);
  EXPECT_NEAR(variance_of_idle(0.05, 0), 4 * one, 1e-6);
  EXPECT_NEAR(variance_of_idle(0.5, 0), 2 * one, 1e-6) << "the power has moved";
  EXPECT_NEAR(variance_of_idle(0, 1), 2 * one, 1e-6) << "another state";
}

TEST(Rounding, IsNothingWhereNoiseExceedsHalfAStepOrNoStepIsKnown) {
  const Pairs pairs;
  std::mt19937_64 random(1);
  const Eigen::VectorXd powers_w = pairs.powers(random);
  const auto steady = pairs.seen(powers_w, 0);
  const auto noisy = pairs.seen(powers_w, 0.5 * kStepW);
  const double most = rounding_covariance(steady.input, steady.fit).norm();
  EXPECT_LT(rounding_covariance(noisy.input, noisy.fit).norm(), 1e-3 * most);
  auto unknown = steady;
  unknown.input.power_step_w = 0;
  EXPECT_EQ(rounding_covariance(unknown.input, unknown.fit).norm(), 0);
}

// Interactions of engine and quadrant are rounded as well: links that distance explains are no
// misfit behind a quiet register of whole watts.
TEST(Rounding, OfThePairsIsNoMisfitOfTheLinks) {
  for (const std::uint64_t seed : {61, 62, 63, 64}) {
    auto spec = seeded(seed);
    spec.power_step_w = 1;
    spec.noise_w = 0.01;
    spec.outlier_share = 0;
    const auto result = fit(make_campaign(spec));
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_FALSE(result->misfit.flagged) << seed << ": " << result->misfit.reason;
  }
}

// A pair is rounded the same way in every block, so that no scatter shows it.
TEST(Rounding, IsALineOfTheBudgetOfACampaignWithoutNoiseAlone) {
  const auto rounding = [](const SyntheticSpec& spec) -> std::optional<double> {
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    EXPECT_TRUE(result) << result.error().text();
    for (const BudgetRow& row : result->budget.rows) {
      if (row.source.starts_with("steps of the readings")) {
        return row.contribution / campaign.sensed_fj_per_bit_mm;
      }
    }
    return std::nullopt;
  };
  auto spec = seeded(61);
  EXPECT_EQ(rounding(spec), std::nullopt) << "noise of several steps";
  spec.power_step_w = 1;
  spec.noise_w = 0.01;
  spec.outlier_share = 0;
  // The span of the pairs is 3.1 W; errors of 0.3 W in 16 of them leave some percent.
  EXPECT_GT(rounding(spec).value_or(0), 0.01);
  EXPECT_LT(rounding(spec).value_or(0), 0.1);
}

}  // namespace
}  // namespace ww::model
