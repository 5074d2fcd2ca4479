#include "reduction/thermal.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ww::model {
namespace {

constexpr std::size_t kSinkFilter = 6;  // of 31.6 s
constexpr double kSinkResponse = 0.15;  // [K/W]
constexpr double kAmbientC = 30;

// Loads of 20 s, all different, on a die that is nothing but a heatsink. Loads that repeat would
// repeat the error of the temperature's steps, too.
Reduced readings(double window_s, std::size_t count, double step_c = 1) {
  Reduced reduced;
  reduced.temperature_step_c = step_c;
  reduced.sessions = {1};
  reduced.temperature_window_s = window_s;
  HeatState heat{};
  for (std::size_t i = 0; i < count; ++i) {
    Window window;
    window.session = 1;
    window.time_s = window_s * static_cast<double>(i);
    const double power_w = 20 + 100 * std::fmod(0.618034 * std::floor(window.time_s / 20), 1);
    for (std::size_t j = 0; j < kHeatCount; ++j) {
      heat[j] -= std::expm1(-window_s / heat_taus_s[j]) * (power_w - heat[j]);
    }
    window.heat = heat;
    window.temperature_c =
        step_c * std::round((kAmbientC + kSinkResponse * heat[kSinkFilter]) / step_c);
    reduced.temperature.push_back(window);
  }
  reduced.session_length_s = {window_s * static_cast<double>(count)};
  return reduced;
}

double sum_of_slow(const HeatState& response) {
  return response[kSinkFilter - 1] + response[kSinkFilter] + response[kSinkFilter + 1];
}

// Standard error of the sum of the slow responses.
double error_of_slow(const TemperatureModel& model) {
  return std::sqrt(model.covariance.block<3, 3>(kSinkFilter - 1, kSinkFilter - 1).sum());
}

TEST(TemperatureModel, FindsTheHeatsinkWithinItsError) {
  const TemperatureModel model = fit_temperature(readings(2, 900));
  ASSERT_EQ(model.covariance.rows(), static_cast<Eigen::Index>(kHeatCount));
  EXPECT_LT(error_of_slow(model), 0.1 * kSinkResponse);
  EXPECT_NEAR(sum_of_slow(model.response), kSinkResponse, 2 * error_of_slow(model));
}

// A sensor of coarse steps says as much less.
TEST(TemperatureModel, FindsTheHeatsinkWithinItsErrorBehindCoarseSteps) {
  const TemperatureModel fine = fit_temperature(readings(2, 900));
  const TemperatureModel coarse = fit_temperature(readings(2, 900, 4));
  EXPECT_GT(error_of_slow(coarse), 1.5 * error_of_slow(fine));
  EXPECT_NEAR(sum_of_slow(coarse.response), kSinkResponse, 2 * error_of_slow(coarse));
}

// Windows of a quarter of a second share the error of a temperature that rests for seconds: eight
// of them say no more than one of two seconds.
TEST(TemperatureModel, ShortWindowsTellNoMoreThanLongOnesOfTheSameTime) {
  const double of_short = error_of_slow(fit_temperature(readings(0.25, 7200)));
  const double of_long = error_of_slow(fit_temperature(readings(2, 900)));
  EXPECT_NEAR(of_short / of_long, 1, 0.1);
}

TEST(TemperatureModel, HasNoCovarianceWithoutReadings) {
  Reduced none = readings(2, 900);
  none.temperature.clear();
  EXPECT_EQ(fit_temperature(none).covariance.size(), 0);
}

}  // namespace
}  // namespace ww::model
