// Checks that the doctor's findings are good enough to measure with: whatever the sensor, a
// difference of 4 W on 130 W comes out within 1% of itself once the plateaus are cut where it says.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/simulated_sensor.hpp"

namespace ww::measure {
namespace {

using testing::SimulatedGpu;

constexpr double kNearW = 130, far_w = 134;
constexpr double kDriftWPerS = 0.003;  // as a card warms; ABBA cancels it

double uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(*rc::gen::inRange(0, 1'000'001)) * 1e-6;
}

testing::SensorShape any_shape() {
  testing::SensorShape shape;
  shape.period_s = std::exp(uniform(std::log(0.0012), std::log(0.110)));
  // Windows range from a quarter of the period (the rest is unseen) to averages over a second.
  const double longest = 1.2;
  shape.window_s = std::exp(uniform(std::log(0.25 * shape.period_s), std::log(longest)));
  if (*rc::gen::inRange(0, 4) == 0)
    shape.lag_tau_s = std::exp(uniform(std::log(0.01), std::log(0.2)));
  shape.delay_s = uniform(0, 0.2);
  shape.noise_w = uniform(0.02, 1.0);
  shape.phase_s = uniform(0, shape.period_s);
  if (*rc::gen::inRange(0, 2) == 0) shape.quantum_w = 0.001;
  return shape;
}

// Near and far in ABBA order; the mean of what is left of each plateau once `settle_s` is cut.
double difference(const testing::SensorShape& shape, double settle_s) {
  const double plateau_s = std::max(5.0, 2 * settle_s + 1);
  const double readings = (plateau_s - settle_s) / shape.period_s;
  constexpr double wanted_sd_w = 0.008;  // five of them are 1% of 4 W
  const double arm = 2 * std::pow(shape.noise_w / wanted_sd_w, 2) / readings;
  const int blocks = std::max(2, static_cast<int>(std::ceil(arm / 2)));
  testing::SteppedPower power(kNearW);
  double at = 100;
  struct Plateau {
    double from_s, to_s;
    bool far;
  };
  std::vector<Plateau> plateaus;
  for (int block = 0; block < blocks; ++block) {
    for (const bool far : {false, true, true, false}) {
      power.step(at, far ? far_w : kNearW);
      plateaus.push_back({at, at + plateau_s, far});
      at += plateau_s;
    }
  }
  double sum[2] = {0, 0};
  double count[2] = {0, 0};
  for (const Plateau& plateau : plateaus) {
    double mean = 0;
    double n = 0;
    // One poll a refresh, in its middle.
    const double first =
        std::ceil((plateau.from_s + settle_s - shape.phase_s) / shape.period_s) + 0.5;
    for (double k = first; k * shape.period_s + shape.phase_s < plateau.to_s; k += 1) {
      const double t = k * shape.period_s + shape.phase_s;
      mean += testing::shown_power(power, shape, t) + kDriftWPerS * t;
      n += 1;
    }
    if (n == 0) continue;
    sum[plateau.far ? 1 : 0] += mean / n;
    count[plateau.far ? 1 : 0] += 1;
  }
  return sum[1] / count[1] - sum[0] / count[0];
}

RC_GTEST_PROP(Difference, OfFourWattsOnHundredAndThirtyIsWithinOnePercent, ()) {
  SimulatedGpu gpu;
  gpu.shape = any_shape();
  gpu.energy = false;
  testing::SimulatedSensor sensor(gpu);
  testing::SimulatedLoad load(gpu);
  const auto report = check_sensor(sensor, load);
  RC_ASSERT(report.has_value());
  const SensorCheck& check = report->columns.front();
  RC_LOG() << "period " << gpu.shape.period_s << " window " << gpu.shape.window_s << " lag "
           << gpu.shape.lag_tau_s << " delay " << gpu.shape.delay_s << " noise "
           << gpu.shape.noise_w << "\nfound: " << check.detail << ", settles in " << check.settle_s
           << " s\n";
  RC_ASSERT(check.settle_s > 0);
  RC_ASSERT(check.settle_s < 20);
  const double found = difference(gpu.shape, check.settle_s);
  RC_LOG() << "difference " << found << " W\n";
  RC_ASSERT(std::abs(found - (far_w - kNearW)) < 0.01 * (far_w - kNearW));
}

// The cut is what does it: without one a slow sensor mixes near and far.
TEST(Difference, WithoutTheCutASlowSensorIsFarOff) {
  testing::SensorShape shape{.period_s = 0.1, .window_s = 1.0, .delay_s = 0.19, .noise_w = 0.1};
  EXPECT_GT(std::abs(difference(shape, 0.0) - 4.0), 0.08);
  EXPECT_LT(std::abs(difference(shape, 1.3) - 4.0), 0.04);
}

}  // namespace
}  // namespace ww::measure
