#include "ww/sweep/forecast.hpp"

#include <gtest/gtest.h>

namespace ww::sweep {
namespace {

Pilot pilot() {
  Pilot pilot;
  pilot.points = 3;
  pilot.seconds = 2;
  pilot.result_bytes = 1000;
  pilot.file_bytes = 50;
  return pilot;
}

TEST(Forecast, DividesTheTimeByTheSlots) {
  const Forecast cost = forecast(pilot(), 100, 8);
  EXPECT_EQ(cost.cpu_s, 200);
  EXPECT_EQ(cost.wall_s, 25);
  EXPECT_EQ(cost.disk_bytes, 100 * (2 * 1000 + 50));
}

TEST(Forecast, UsesNoMoreSlotsThanPoints) {
  EXPECT_EQ(forecast(pilot(), 3, 8).wall_s, 2);
  EXPECT_EQ(forecast(pilot(), 0, 8).wall_s, 0);
}

}  // namespace
}  // namespace ww::sweep
