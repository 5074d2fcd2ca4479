#include "ww/sweep/choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::sweep {
namespace {

TEST(Parts, AreToldApartByMachineDeviceOrChipAlone) {
  EXPECT_TRUE(are_parts({"host", "device"}));
  EXPECT_TRUE(are_parts({"chip-seed"}));
  EXPECT_FALSE(are_parts({"device", "seed"}));  // runs of one part are no parts
  EXPECT_FALSE(are_parts({}));
}

TEST(Goals, AreKnownOnlyWhereNobodyWouldTurnThemRound) {
  for (const auto& goal : usual_goals("simulate")) EXPECT_FALSE(goal.largest) << goal.metric;
  EXPECT_FALSE(usual_goals("simulate").empty());
  EXPECT_TRUE(usual_goals("calibrate").empty());
}

}  // namespace
}  // namespace ww::sweep
