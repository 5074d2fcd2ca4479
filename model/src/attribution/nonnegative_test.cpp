#include "attribution/nonnegative.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ww/core/split_mix.hpp"

namespace ww::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct MadeProblem {
  MatrixXd design;
  VectorXd target;
};

// Positive columns of unlike scales; the truth has coefficients below 0, so that bounds bind.
MadeProblem made_problem(std::uint64_t seed) {
  SplitMix mix(seed);
  MadeProblem made{MatrixXd(14, 5), VectorXd::Zero(14)};
  for (Index c = 0; c < 5; ++c) {
    const double scale = std::pow(10.0, static_cast<double>(3 * c) - 6);
    const double truth = (mix.unit() - 0.4) / scale;
    for (Index r = 0; r < 14; ++r) {
      made.design(r, c) = scale * mix.unit();
      made.target(r) += truth * made.design(r, c) + 0.1 * (mix.unit() - 0.5);
    }
  }
  return made;
}

// The best of all 32 choices of columns whose least squares are not negative.
double best_of_all_subsets(const MadeProblem& made) {
  double best = made.target.squaredNorm();
  for (int choice = 1; choice < 32; ++choice) {
    std::vector<Index> columns;
    for (Index c = 0; c < 5; ++c) {
      if ((choice >> c & 1) == 1) columns.push_back(c);
    }
    MatrixXd part(14, static_cast<Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      part.col(static_cast<Index>(i)) = made.design.col(columns[i]);
    }
    const VectorXd b = part.colPivHouseholderQr().solve(made.target);
    if (b.minCoeff() >= 0) best = std::min(best, (made.target - part * b).squaredNorm());
  }
  return best;
}

TEST(NonnegativeFit, IsAsGoodAsTheBestOfAllSubsets) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const MadeProblem made = made_problem(seed);
    const NonnegativeFit fit(made.design, made.target);
    EXPECT_GE(fit.coefficients().minCoeff(), 0);
    EXPECT_NEAR(fit.squares(), best_of_all_subsets(made), 1e-7) << seed;
  }
}

// Fixes c'b at a value by a row of great weight, and compares the sum of squares.
TEST(NonnegativeFit, EndsOfAnIntervalRaiseTheSquaresByWhatIsAllowed) {
  int bounded = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const MadeProblem made = made_problem(seed);
    const NonnegativeFit fit(made.design, made.target);
    const VectorXd c = made.design.colwise().mean().transpose();
    constexpr double allowed = 0.05, weight = 1e3;
    const Interval interval = fit.interval(c, allowed);
    EXPECT_LE(interval.low, interval.value);
    EXPECT_GE(interval.high, interval.value);
    for (const double end : {interval.low, interval.high}) {
      MadeProblem fixed{MatrixXd(15, 5), VectorXd(15)};
      fixed.design << made.design, weight * c.transpose();
      fixed.target << made.target, weight * end;
      const double rise = NonnegativeFit(fixed.design, fixed.target).squares() - fit.squares();
      if (end > 0) {
        EXPECT_NEAR(rise, allowed, 0.01 * allowed) << seed;
        ++bounded;
      } else {
        EXPECT_LE(rise, allowed * 1.01) << seed;
      }
    }
  }
  EXPECT_GT(bounded, 60);
}

TEST(NonnegativeFit, OrthogonalColumnsHaveTheNormalInterval) {
  MatrixXd design = MatrixXd::Zero(4, 2);
  design << 2, 0, 0, 4, 0, 0, 0, 0;
  VectorXd target(4);
  target << 6, 8, 0.1, -0.1;
  const NonnegativeFit fit(design, target);
  const Interval interval = fit.interval(VectorXd::Unit(2, 0), 1);
  EXPECT_NEAR(interval.value, 3, 1e-6);
  EXPECT_NEAR(interval.low, 2.5, 1e-3);  // one unit of squares is 1 / length
  EXPECT_NEAR(interval.high, 3.5, 1e-3);
  EXPECT_NEAR(fit.leverage(VectorXd::Unit(2, 0)), 0.25, 1e-6);
}

TEST(NonnegativeFit, KnowsNothingOfAColumnOfZeros) {
  MatrixXd design(3, 2);
  design << 1, 0, 2, 0, 3, 0;
  const NonnegativeFit fit(design, VectorXd::Constant(3, 1));
  EXPECT_TRUE(std::isinf(fit.interval(VectorXd::Unit(2, 1), 0.1).high));
  EXPECT_TRUE(std::isfinite(fit.interval(VectorXd::Unit(2, 0), 0.1).high));
  EXPECT_EQ(fit.coefficients()(1), 0);
}

}  // namespace
}  // namespace ww::model
