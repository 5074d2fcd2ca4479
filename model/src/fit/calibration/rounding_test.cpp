#include "fit/calibration/rounding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "testing/fitting.hpp"

namespace ww::model {
namespace {

using namespace testing;

constexpr double kStepW = 0.8;
// Fitted powers, and what a watt in each moves the energies of two variants by.
const std::vector<double> powers_w{71.13, 71.42, 72.05, 70.31, 72.9, 71.78};
const std::vector<std::array<double, 2>> moves{{{3, 0}, {-2, 0}, {-1, 0}, {0, 2}, {0, 1}, {0, -3}}};

// A fit whose energies are those moves times the powers.
struct Made {
  JointInput input;
  JointFit fit;
};
Made made_of(double spread_w) {
  Made made;
  made.input.power_step_w = kStepW;
  made.input.variants.resize(2);
  const auto rows = static_cast<Eigen::Index>(powers_w.size());
  made.fit.stream_jacobian = Eigen::MatrixXd::Zero(rows, 2);
  made.fit.covariance = Eigen::MatrixXd::Identity(2, 2);
  made.fit.energy_column = {0, 1};
  made.fit.stream_sigma_w = {0.5, 0.25};
  for (std::size_t p = 0; p < powers_w.size(); ++p) {
    StreamPlateau stream;
    stream.variant = p < 3 ? 0 : 1;
    stream.window.power_spread_w = spread_w;
    // What was read is not what was fitted.
    const double residual_w = p % 2 == 0 ? 0.2 : -0.1;
    stream.window.power_w = powers_w[p] + residual_w;
    made.fit.stream_residual_w.push_back(residual_w);
    made.fit.stream_weight.push_back(p == 1 ? 0.25 : 1);
    const double scale =
        std::sqrt(made.fit.stream_weight[p]) / made.fit.stream_sigma_w[stream.variant];
    for (Eigen::Index v = 0; v < 2; ++v) {
      made.fit.stream_jacobian(static_cast<Eigen::Index>(p), v) =
          moves[p][static_cast<std::size_t>(v)] / scale;
    }
    made.input.streams.push_back(stream);
  }
  return made;
}

// Mean error of rounding x plus Gaussian noise, by adding up the noise's distribution.
double rounding_error(double x, double noise_w) {
  if (noise_w <= 0) return std::round(x / kStepW) * kStepW - x;
  double sum = 0;
  double weights = 0;
  for (int i = -100; i <= 100; ++i) {
    const double z = i / 20.0;
    const double weight = std::exp(-z * z / 2);
    const double seen = x + noise_w * z;
    sum += weight * (std::round(seen / kStepW) * kStepW - seen);
    weights += weight;
  }
  return sum / weights;
}

// The same, by moving the powers through one step.
Eigen::Matrix2d by_simulation(double noise_w) {
  constexpr int kPositions = 800;
  Eigen::Matrix2d square = Eigen::Matrix2d::Zero();
  for (int at = 0; at < kPositions; ++at) {
    Eigen::Vector2d energy = Eigen::Vector2d::Zero();
    for (std::size_t p = 0; p < powers_w.size(); ++p) {
      const double error = rounding_error(powers_w[p] + kStepW * at / kPositions, noise_w);
      for (Eigen::Index v = 0; v < 2; ++v) {
        energy[v] += moves[p][static_cast<std::size_t>(v)] * error;
      }
    }
    square += energy * energy.transpose() / kPositions;
  }
  return square;
}

TEST(Rounding, OfSteadyPowersIsWhatMovingThemThroughAStepGives) {
  const Made made = made_of(0);
  const Eigen::MatrixXd found = rounding_covariance(made.input, made.fit);
  const Eigen::Matrix2d expected = by_simulation(0);
  EXPECT_LT((found - expected).norm(), 0.03 * expected.norm()) << found << "\n\n" << expected;
  EXPECT_GT(std::abs(expected(0, 1)), 0.02 * expected.norm());
}

TEST(Rounding, IsSmoothedByNoiseAsASimulationIs) {
  for (const double share : {0.1, 0.2, 0.3}) {
    const double noise_w = share * kStepW;
    // Sheppard: what readings scatter by is the noise and the steps.
    const Made made = made_of(std::hypot(noise_w, kStepW / std::sqrt(12)));
    const Eigen::MatrixXd found = rounding_covariance(made.input, made.fit);
    const Eigen::Matrix2d expected = by_simulation(noise_w);
    EXPECT_LT((found - expected).norm(), 0.03 * expected.norm()) << share;
  }
}

TEST(Rounding, IsNothingWhereNoiseExceedsHalfAStepOrNoStepIsKnown) {
  const double steady = rounding_covariance(made_of(0).input, made_of(0).fit).norm();
  const Made noisy = made_of(std::hypot(0.5, 1 / std::sqrt(12)) * kStepW);
  EXPECT_LT(rounding_covariance(noisy.input, noisy.fit).norm(), 1e-4 * steady);
  Made unknown = made_of(0);
  unknown.input.power_step_w = 0;
  EXPECT_EQ(rounding_covariance(unknown.input, unknown.fit).norm(), 0);
}

// Pairs that draw alike are rounded alike in every block, so that no scatter shows it.
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
