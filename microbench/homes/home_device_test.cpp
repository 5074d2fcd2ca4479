// Homes of a campaign that is resumed.
#include "homes/home_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;

// Two engines and three homes.
Device found_device() {
  Device device;
  device.name = "a card";
  device.homes.emplace();
  Homes& homes = device.homes->homes;
  homes.found = true;
  homes.address.interleave_bytes = 256;
  homes.address.channels = 6;
  homes.channels = {{0, 1}, {2, 3}, {4, 5}};
  homes.ticks = {{200, 220, 211}, {219, 201, 210}};
  device.quadrants = homes.channels;
  model::MeasuredPaths& paths = device.paths.emplace();
  paths.flight_ns = {{100, 110, 105.5}, {109.5, 100.5, 105}};
  paths.channels = {2, 2, 2};
  return device;
}

std::string recorded(const Device& device) {
  return model::to_json(*device.paths).dump();
}

TEST(ContinueHomes, NumbersThemAsInTheFirstSession) {
  Device first = found_device();
  // An allocation elsewhere: the same homes by other names, and the latencies' own noise.
  Device second = found_device();
  second.homes->homes.channels = {{4, 5}, {0, 1}, {2, 3}};
  second.homes->homes.ticks = {{211, 200, 220}, {210, 219, 201}};
  second.quadrants = second.homes->homes.channels;
  second.paths->flight_ns = {{105.6, 100.1, 109.8}, {105.1, 109.6, 100.4}};
  const auto status = continue_homes(second, recorded(first));
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(second.quadrants, first.quadrants);
  EXPECT_EQ(second.homes->homes.channels, first.homes->homes.channels);
  EXPECT_EQ(second.homes->homes.ticks, first.homes->homes.ticks);
  EXPECT_EQ(second.paths->flight_ns[0], (std::vector<double>{100.1, 109.8, 105.6}));
  EXPECT_THAT(second.notes, HasSubstr("[[0,1],[2,3],[4,5]]"));
}

TEST(ContinueHomes, RefusesWhatCouldMixThem) {
  const Device first = found_device();
  Device alike = found_device();
  alike.paths->flight_ns = {{105, 105, 105.5}, {105, 105, 105}};
  EXPECT_THAT(continue_homes(alike, recorded(first)).error().text(), HasSubstr("which home"));
  Device millimetres = found_device();
  millimetres.paths->by_floorplan = true;
  EXPECT_THAT(continue_homes(millimetres, recorded(first)).error().text(),
              HasSubstr("its distances are times"));
  Device documented = found_device();
  documented.paths.reset();
  documented.homes.reset();
  EXPECT_THAT(continue_homes(documented, recorded(first)).error().text(),
              HasSubstr("found out where lines live"));
  Device searched = found_device();
  EXPECT_THAT(continue_homes(searched, std::nullopt).error().text(), HasSubstr("documented order"));
  Device more = found_device();
  more.paths->channels = {3, 3, 3};
  EXPECT_THAT(continue_homes(more, recorded(first)).error().text(), HasSubstr("other engines"));
  EXPECT_TRUE(continue_homes(documented, std::nullopt));
}

}  // namespace
}  // namespace ww::microbench
