#include "metric_unit.hpp"

#include <gtest/gtest.h>

namespace ww::otf2 {
namespace {

struct Case {
  const char* name;
  const char* unit;
  bool is_power;
  double to_base;
};

class Known : public ::testing::TestWithParam<Case> {};
TEST_P(Known, UnitIsFound) {
  const auto found = metric_unit(GetParam().name, GetParam().unit);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->is_power, GetParam().is_power);
  EXPECT_DOUBLE_EQ(found->to_base, GetParam().to_base);
}
INSTANTIATE_TEST_SUITE_P(
    Metric, Known,
    ::testing::Values(Case{"x86_energy/BLADE/E", "J", false, 1},
                      Case{"power_usage", "mW", true, 1e-3}, Case{"p", "\u00b5W", true, 1e-6},
                      Case{"p", "MW", true, 1e6}, Case{"e", " Joules ", false, 1},
                      Case{"A2rocm_smi:::current_socket_power:device=3", "#", true, 1e-6},
                      Case{"rocm_smi:::energy_count:device=0", "", false, 1e-6},
                      Case{"A2coretemp:::hwmon5:power1_input", "#", true, 1e-6},
                      Case{"A3coretemp:::craypm:accel0_energy", "#", false, 1},
                      Case{"A3coretemp:::craypm:power", "#", true, 1},
                      Case{"nvml:::NVIDIA_A100:device_0:power", "#", true, 1e-3}));

TEST(MetricUnit, IsNoneForWhatIsNeitherPowerNorEnergyAndForLimits) {
  EXPECT_FALSE(metric_unit("PAPI_TOT_CYC", "#"));
  EXPECT_FALSE(metric_unit("HIP Memory", "bytes"));
  EXPECT_FALSE(metric_unit("A2coretemp:::hwmon5:freq2_input", "#"));
  EXPECT_FALSE(metric_unit("A2coretemp:::hwmon5:power1_cap", "#"));
  EXPECT_FALSE(metric_unit("nvml:::X:device_0:power_management_limit", "mW"));
  EXPECT_FALSE(metric_unit("t", "Wx"));
}

TEST(MetricUnit, LeavesAPowerOfUnknownUnitToBeNamed) {
  EXPECT_FALSE(metric_unit("other:::node_power", "#"));
  EXPECT_TRUE(sounds_like_power("other:::node_power"));
  EXPECT_FALSE(sounds_like_power("other:::node_power_cap"));
}

}  // namespace
}  // namespace ww::otf2
