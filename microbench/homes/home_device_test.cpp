// Homes of a campaign that is resumed, and homes beside a floorplan.
#include "homes/home_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/model/floorplan.hpp"
#include "ww/model/known_floorplans.hpp"

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

// Latencies [engine][home] of the drawn MI210, homes in the order 2, 0, 3, 1. `by_port`: all ways
// of an engine pass one port at the middle of the L2's side, as its CUs' requests do that share a
// path into the crossbar.
HomeMemory timed_homes(const model::Floorplan& plan, bool by_port) {
  constexpr double kTicksPerMm = 0.8;  // there and back
  const auto apart = [](const model::Point& a, const model::Point& b) {
    return std::abs(a.x_mm - b.x_mm) + std::abs(a.y_mm - b.y_mm);
  };
  HomeMemory memory;
  Homes& homes = memory.homes;
  const std::vector<std::size_t> order{2, 0, 3, 1};
  for (const std::size_t q : order) homes.channels.push_back(plan.quadrants[q]);
  for (const auto& units : plan.compute_units) {
    model::Point port = units.front();
    for (const model::Point& unit : units) {
      if (std::abs(unit.y_mm - 14.2) < std::abs(port.y_mm - 14.2)) port.y_mm = unit.y_mm;
    }
    auto& row = homes.ticks.emplace_back();
    for (const std::size_t q : order) {
      double sum = 0;
      for (const model::Point& unit : units) {
        for (const int channel : plan.quadrants[q]) {
          const model::Point& slice = plan.l2_channels[static_cast<std::size_t>(channel)];
          sum += by_port ? apart(unit, port) + apart(port, slice) : apart(unit, slice);
        }
      }
      row.push_back(180 + kTicksPerMm * sum / static_cast<double>(units.size() * 8));
    }
    memory.places.resize(memory.places.size() + units.size());
  }
  return memory;
}

model::Floorplan drawn_mi210() {
  const auto text = model::known_floorplan("mi210");
  EXPECT_TRUE(text);
  auto plan = model::parse_floorplan(std::string(*text), "mi210");
  EXPECT_TRUE(plan) << plan.error().text();
  return *plan;
}

TEST(MatchHomes, GivesThemTheNumbersOfTheDrawingsQuadrants) {
  const auto plan = drawn_mi210();
  HomeMemory memory = timed_homes(plan, false);
  EXPECT_EQ(match_homes(memory, plan), "");
  EXPECT_EQ(memory.homes.channels, plan.quadrants);
}

TEST(MatchHomes, RefuseADrawingThatLacksThePortsThatAllWaysPass) {
  auto plan = drawn_mi210();
  plan.position_error_95 = Millimetre(0.2);
  HomeMemory memory = timed_homes(plan, true);
  EXPECT_THAT(match_homes(memory, plan), HasSubstr("other distances than were measured"));
}

TEST(MatchHomes, NameNumbersThatDiffer) {
  const auto plan = drawn_mi210();
  HomeMemory memory = timed_homes(plan, false);
  memory.homes.ticks.pop_back();
  EXPECT_THAT(match_homes(memory, plan), HasSubstr("7 engines"));
}

}  // namespace
}  // namespace ww::microbench
