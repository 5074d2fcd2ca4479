#include "fit/solver/core_voltage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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

}  // namespace
}  // namespace ww::model
