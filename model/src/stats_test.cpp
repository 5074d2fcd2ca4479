#include "stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

// Values of a standard table (Abramowitz and Stegun, table 26.9).
TEST(Stats, FisherTailMatchesTables) {
  EXPECT_NEAR(f_tail(3.438, 8, 8), 0.05, 1e-4);
  EXPECT_NEAR(f_tail(3.173, 8, 30), 0.01, 1e-4);
  EXPECT_DOUBLE_EQ(f_tail(0, 8, 30), 1);
}

TEST(Stats, MedianAndScaleIgnoreOneWildValue) {
  const std::vector<double> values{1, 2, 3, 4, 1e9};
  EXPECT_DOUBLE_EQ(median(values), 3);
  EXPECT_NEAR(robust_scale(values), 1.4826, 1e-9);
}

// A moving average of w samples correlates neighbours: the plain formula is too small by sqrt(w).
TEST(ClippedSquareSum, CountsAnOutlierAsThreeScales) {
  std::vector<double> residuals(20, 1.0);
  for (std::size_t i = 0; i < residuals.size(); i += 2) residuals[i] = -1.0;
  EXPECT_DOUBLE_EQ(clipped_square_sum(residuals), 20.0);
  residuals[3] = 1000;
  EXPECT_NEAR(clipped_square_sum(residuals), 19 + 9 * 1.4826 * 1.4826, 1e-9);
}

TEST(ClippedSquareSum, KeepsResidualsOfWhichMostAreZero) {
  EXPECT_DOUBLE_EQ(clipped_square_sum(std::vector<double>{0, 0, 0, 2}), 4.0);
}

TEST(Stats, ErrorOfAMeanAllowsForTheAveragingWindow) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  constexpr int window = 20;
  double square = 0;
  double claimed = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> raw(2000 + window);
    for (double& value : raw) value = noise(random);
    std::vector<double> series;
    for (std::size_t i = window; i < raw.size(); ++i) {
      double sum = 0;
      for (std::size_t j = i - window; j < i; ++j) sum += raw[j];
      series.push_back(sum / window);
    }
    const auto result = correlated_mean(series);
    square += result.mean * result.mean;
    claimed += result.error;
  }
  EXPECT_NEAR(claimed / rounds / std::sqrt(square / rounds), 1.0, 0.3);
}

TEST(Stats, ATrendIsNotNoise) {
  std::vector<double> series;
  series.reserve(100);
  for (int i = 0; i < 100; ++i) series.push_back(5 + 0.1 * i);
  const auto result = correlated_mean(series);
  EXPECT_NEAR(result.mean, 9.95, 1e-9);
  EXPECT_LT(result.error, 1e-9);
}

}  // namespace
}  // namespace ww::model
