#include "ww/core/wire_constants.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ww {
namespace {

TEST(WireConstant, EndsInTheUnitOfDistanceIfItFollowsDistance) {
  EXPECT_EQ(name_of(WireConstant::energy), "energy_fj_per_bit_mm");
  EXPECT_EQ(unit_of(WireConstant::energy), "fJ/bit/mm");
  EXPECT_EQ(name_of(WireConstant::toggle_slope, Distance::ns), "toggle_slope_fj_per_transition_ns");
  EXPECT_EQ(unit_of(WireConstant::toggle_slope, Distance::ns), "fJ/transition/ns");
  for (const WireConstant alone : {WireConstant::fanout_link, WireConstant::voltage_exponent}) {
    EXPECT_FALSE(follows_distance(alone));
    EXPECT_EQ(name_of(alone, Distance::ns), name_of(alone, Distance::mm));
    EXPECT_EQ(unit_of(alone, Distance::ns), unit_of(alone, Distance::mm));
  }
}

TEST(WireConstant, HasANameOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(WireConstant::frequency_exponent); ++i) {
    const auto constant = static_cast<WireConstant>(i);
    EXPECT_TRUE(names.insert(name_of(constant)).second) << name_of(constant);
    EXPECT_FALSE(unit_of(constant).empty()) << name_of(constant);
  }
}

}  // namespace
}  // namespace ww
