#include "fit/solver/core_voltage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "fit/solver/assumptions.hpp"

namespace ww::model {
namespace {

// Idle and loads of 40 to 130 W, as a driver shows their voltages in such steps.
std::vector<LoadedVoltage> shown(double ohm, double step_v) {
  std::vector<LoadedVoltage> readings;
  for (const double power_w : {40.0, 100.0, 110.0, 120.0, 130.0}) {
    const double die_v = 1.1 - ohm * power_w / 1.1;
    readings.push_back({power_w, std::round(die_v / step_v) * step_v, 100});
  }
  return readings;
}

TEST(CoreVoltage, IsNotTheDiesWhereLoadMovesItByLessThanAStep) {
  EXPECT_NE(why_not_measured(shown(0, 0.00625), 0.00625), "");
  EXPECT_NE(why_not_measured(shown(0, 0.00625), 0), "") << "no reading differs from another";
  EXPECT_NE(why_not_measured(shown(5e-6, 0.001), 0.001), "");
  EXPECT_NE(why_not_measured(shown(-0.0003, 0.001), 0.001), "") << "it rises under load";
}

TEST(CoreVoltage, IsTheDiesWhereItFallsUnderLoad) {
  EXPECT_EQ(why_not_measured(shown(0.00018, 0.001), 0.001), "");
  EXPECT_EQ(why_not_measured(shown(0.00018, 0.00625), 0.00625), "");
}

TEST(CoreVoltage, IsNotJudgedWithoutTwoLoads) {
  const std::vector<LoadedVoltage> one{{100, 1.1, 10}};
  EXPECT_EQ(why_not_measured(one, 0.001), "");
  EXPECT_EQ(why_not_measured({}, 0.001), "");
}

TEST(CoreVoltage, SaysWhatItSaw) {
  const std::string reason = why_not_measured(shown(0, 0.00625), 0.00625);
  EXPECT_NE(reason.find("falls by 0.00 mV from 36 to 118 A"), std::string::npos) << reason;
  EXPECT_NE(reason.find("steps of 6.25 mV"), std::string::npos) << reason;
}

TEST(CoreVoltage, OfAmdgpuIsTheRequestedOneUpToVega10) {
  for (const char* target : {"gfx701", "gfx704", "gfx802", "gfx803", "gfx900"}) {
    EXPECT_TRUE(amdgpu_shows_requested_voltage(target)) << target;
  }
  for (const char* target :
       {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "sm_80", ""}) {
    EXPECT_FALSE(amdgpu_shows_requested_voltage(target)) << target;
  }
}

TEST(CoreVoltage, FallsAlongALineWithTheCurrent) {
  const auto readings = shown(0.0003, 1e-9);
  const auto line = line_of(sum_loads(readings));
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope_ohm, -0.0003, 2e-5);
  EXPECT_EQ(line->readings, 500);
}

// Sums over the lognormal density, up to what a supply may fall by.
struct LoadLines {
  double mean_ohm{}, sigma_ohm{};
  double flatter{}, below_steepest{};  // shares of them
};
LoadLines summed_up(double most_amps, double nominal_v, const AssumedLoadLine& found) {
  double weight = 0;
  double mean = 0;
  double square = 0;
  double flatter = 0;
  double below = 0;
  for (double z = -8; z < 8; z += 1e-4) {
    const double ohm = kMedianLoadLineOhm * std::exp(kLoadLineLogSigma * z);
    if (ohm * most_amps > kMaxDroopShare * nominal_v) break;
    const double density = std::exp(-z * z / 2);
    weight += density;
    mean += density * ohm;
    square += density * ohm * ohm;
    if (ohm < found.flattest_ohm) flatter += density;
    if (ohm < found.steepest_ohm) below += density;
  }
  mean /= weight;
  return {mean, std::sqrt(square / weight - mean * mean), flatter / weight, below / weight};
}

TEST(CoreVoltage, AssumesTheMeanOfTheLoadLinesThatASupplyMayHave) {
  for (const double most_amps : {0.0, 50.0, 130.0, 330.0, 750.0}) {
    const AssumedLoadLine found = assumed_load_line(most_amps, 1.1);
    const LoadLines truth = summed_up(most_amps, 1.1, found);
    EXPECT_NEAR(found.ohm, truth.mean_ohm, 1e-3 * truth.mean_ohm) << most_amps;
    EXPECT_NEAR(found.sigma_ohm, truth.sigma_ohm, 1e-3 * truth.sigma_ohm) << most_amps;
    EXPECT_NEAR(truth.flatter, 0.025, 1e-4) << most_amps;
    EXPECT_GE(truth.below_steepest, 0.9749) << most_amps;
    EXPECT_LE(found.steepest_ohm * most_amps, 1.0001 * kMaxDroopShare * 1.1) << most_amps;
  }
}

// LoadLineResistanceGfx over 256; Vega 10's in hundredths as well.
TEST(CoreVoltage, AssumesWhatPowerPlayTablesState) {
  const AssumedLoadLine line = assumed_load_line(130, 1.1);
  for (const double ohm : {25e-3 / 256, 38e-3 / 256, 64e-3 / 256, 76e-3 / 256, 0.64e-3}) {
    EXPECT_LT(std::abs(ohm - line.ohm), 1.03 * (line.steepest_ohm - line.ohm)) << ohm;
  }
}

TEST(CoreVoltage, LieOnNoLineWhereTheyBendOrAreFew) {
  std::vector<LoadedVoltage> readings;
  for (int i = 0; i < 20; ++i) {
    readings.push_back({40.0 + 5 * i, 1.1 - 0.0003 * (40 + 5 * i) / 1.1, 100});
  }
  EXPECT_TRUE(fit_load_line(readings, 0.001));
  EXPECT_FALSE(fit_load_line(std::span(readings).first(5), 0.001));
  for (int i = 8; i < 12; ++i) readings[static_cast<std::size_t>(i)].voltage_v += 0.005;
  EXPECT_FALSE(fit_load_line(readings, 0.001));
}

// A line through many loads errs by as much as it says.
TEST(CoreVoltage, HasASlopeWhoseErrorsAreThoseOfStepsAndScatter) {
  constexpr double kStepV = 6.25e-3;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 1e-3);
  std::uniform_real_distribution<double> start_v(1.09, 1.11);
  double square = 0, said = 0;
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    const double at_rest_v = start_v(random);
    std::vector<LoadedVoltage> readings;
    for (int load = 0; load < 24; ++load) {
      const double power_w = 40 + 4 * (load % 12);
      const double volt = at_rest_v - 0.0003 * power_w / at_rest_v;
      double sum = 0, squares = 0;
      for (int k = 0; k < 40; ++k) {
        const double shown_v = kStepV * std::round((volt + normal(random)) / kStepV) - volt;
        sum += shown_v;
        squares += shown_v * shown_v;
      }
      const double mean = sum / 40;
      readings.push_back(
          {power_w, volt + mean, 40, std::sqrt(std::max(0.0, squares / 40 - mean * mean))});
    }
    const auto line = fit_load_line(readings, kStepV);
    ASSERT_TRUE(line);
    square += std::pow(line->slope_ohm + 0.0003, 2) / kTries;
    said += slope_variance(readings, *line, kStepV) / kTries;
  }
  EXPECT_LT(square, 1.3 * said);
  EXPECT_GT(square, 0.2 * said);
}

}  // namespace
}  // namespace ww::model
