// Homes of a campaign that is resumed, and homes beside a floorplan.
#include "homes/home_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <utility>

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

// Latencies [engine][home] of a drawn die, homes in the order 2, 0, 1, 3. `by_port`: all
// ways of an engine pass one port at the middle of the L2's side, as its CUs' requests do that
// share a path into the crossbar.
HomeMemory timed_homes(const model::Floorplan& plan, bool by_port) {
  constexpr double kTicksPerMm = 0.8;  // there and back
  const auto apart = [](const model::Point& a, const model::Point& b) {
    return std::abs(a.x_mm - b.x_mm) + std::abs(a.y_mm - b.y_mm);
  };
  HomeMemory memory;
  Homes& homes = memory.homes;
  homes.address.interleave_bytes = 256;
  std::vector<std::size_t> order{2, 0, 1};
  for (std::size_t q = order.size(); q < plan.quadrants.size(); ++q) order.push_back(q);
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
      row.push_back(180 + kTicksPerMm * sum /
                              static_cast<double>(units.size() * plan.quadrants[q].size()));
    }
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

// A die whose blocks (engines, quadrants of the L2) lie elsewhere than drawn, within the errors
// that the drawing declares: 95% within position_error_95 along either axis.
model::Floorplan drawn_elsewhere(const model::Floorplan& plan, std::mt19937_64& random) {
  std::normal_distribution<double> off(0, plan.position_error_95.value() / 1.96);
  model::Floorplan die = plan;
  const auto move = [](model::Point& point, double x_mm, double y_mm) {
    point.x_mm += x_mm;
    point.y_mm += y_mm;
  };
  for (auto& units : die.compute_units) {
    const double x_mm = off(random);
    const double y_mm = off(random);
    for (model::Point& unit : units) move(unit, x_mm, y_mm);
  }
  for (const auto& quadrant : die.quadrants) {
    const double x_mm = off(random);
    const double y_mm = off(random);
    for (const int channel : quadrant) {
      move(die.l2_channels[static_cast<std::size_t>(channel)], x_mm, y_mm);
    }
  }
  return die;
}

class PublishedFloorplans : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int kDies = 100;
  static model::Floorplan plan() {
    return model::parse_floorplan(std::string(*model::known_floorplan(GetParam())), GetParam())
        .value();
  }
  static FloorplanAgreement beside(const model::Floorplan& die, const model::Floorplan& drawing) {
    const HomeMemory memory = timed_homes(die, false);
    return compare_floorplan(memory.homes, drawing);
  }
};

// Distances of engines and quadrants [mm] without the means of rows and columns.
std::vector<double> crossed(const model::Floorplan& plan, const std::vector<std::size_t>& order) {
  const std::size_t engines = plan.compute_units.size();
  std::vector<std::vector<double>> mm(engines, std::vector<double>(order.size()));
  for (std::size_t e = 0; e < engines; ++e) {
    for (std::size_t q = 0; q < order.size(); ++q) {
      mm[e][q] = plan.distance(static_cast<int>(e), static_cast<int>(order[q])).value();
    }
  }
  std::vector<double> values;
  for (std::size_t e = 0; e < engines; ++e) {
    const double row =
        std::accumulate(mm[e].begin(), mm[e].end(), 0.0) / static_cast<double>(order.size());
    for (std::size_t q = 0; q < order.size(); ++q) {
      double column = 0;
      double all = 0;
      for (const auto& other : mm) {
        column += other[q] / static_cast<double>(engines);
        all += std::accumulate(other.begin(), other.end(), 0.0) /
               static_cast<double>(engines * order.size());
      }
      values.push_back(mm[e][q] - row - column + all);
    }
  }
  return values;
}

// A drawing may be too coarse to show which home is which; then it is refused. One that is not
// refused gives an energy per millimetre that the declared errors cover: the projection of the
// die's distances on the drawn ones is 1 within scale_error_95.
TEST_P(PublishedFloorplans, AgreeWithDiesWithinTheirErrorsOrLeaveTheOrderInDoubt) {
  const model::Floorplan drawing = plan();
  std::vector<std::size_t> as_drawn(drawing.quadrants.size());
  std::iota(as_drawn.begin(), as_drawn.end(), std::size_t{0});
  const std::vector<double> drawn = crossed(drawing, as_drawn);
  const HomeMemory names = timed_homes(drawing, false);
  std::mt19937_64 random(20261122);
  std::vector<double> ranks;
  int covered = 0;
  for (int i = 0; i < kDies; ++i) {
    const model::Floorplan die = drawn_elsewhere(drawing, random);
    const FloorplanAgreement agreement = beside(die, drawing);
    if (!agreement.rank_correlation) {
      EXPECT_THAT(agreement.reason, HasSubstr("the next order"));
      continue;
    }
    // Vega 20's and Navi 21's positions leave the scale open, whatever the order says.
    const bool useful = drawing.scale_error_95() < 1;
    EXPECT_EQ(agreement.agrees, useful) << agreement.reason;
    if (!useful) {
      EXPECT_THAT(agreement.reason, HasSubstr("uncertain"));
    }
    ranks.push_back(*agreement.rank_correlation);
    std::vector<std::size_t> chosen;  // the die's quadrant that each of the drawing's is taken for
    for (const int home : agreement.home_of) {
      const auto found = std::ranges::find(drawing.quadrants,
                                           names.homes.channels[static_cast<std::size_t>(home)]);
      chosen.push_back(static_cast<std::size_t>(found - drawing.quadrants.begin()));
    }
    const std::vector<double> real = crossed(die, chosen);
    const double scale = std::inner_product(drawn.begin(), drawn.end(), real.begin(), 0.0) /
                         std::inner_product(drawn.begin(), drawn.end(), drawn.begin(), 0.0);
    covered += std::abs(scale - 1) <= drawing.scale_error_95() ? 1 : 0;
  }
  const int agree = static_cast<int>(ranks.size());
  ASSERT_GT(agree, kDies / 2);
  std::ranges::sort(ranks);
  std::printf(
      "%s: %d of %d dies agree; rank correlation %.3f to %.3f, median %.3f; scale +-%.0f%% "
      "covers %d\n",
      GetParam(), agree, kDies, ranks.front(), ranks.back(), ranks[ranks.size() / 2],
      100 * drawing.scale_error_95(), covered);
  EXPECT_GE(covered, 95 * agree / 100);
}

TEST(PublishedFloorplan, OfVega20GivesNoMillimetres) {
  const auto text = model::known_floorplan("vega20");
  ASSERT_TRUE(text);
  const auto plan = model::parse_floorplan(std::string(*text), "vega20");
  ASSERT_TRUE(plan) << plan.error().text();
  HomeMemory memory = timed_homes(*plan, false);
  EXPECT_THAT(match_homes(memory, *plan), HasSubstr("may be wrong by 1"));
  EXPECT_EQ(memory.homes.channels, plan->quadrants);  // the order is reported all the same
}

// Moves the blocks to other places: a drawing that is wrong beyond its errors.
TEST_P(PublishedFloorplans, AreRefusedWhereEnginesLieElsewhere) {
  const model::Floorplan drawing = plan();
  model::Floorplan die = drawing;
  // A drawing of three rows does not separate left from right.
  const std::size_t other = drawing.quadrants.size() == 3 ? 2 : 1;
  std::swap(die.compute_units[0], die.compute_units[other]);
  const FloorplanAgreement agreement = beside(die, drawing);
  EXPECT_FALSE(agreement.agrees) << agreement.correlation;
  EXPECT_FALSE(agreement.reason.empty());
}

TEST_P(PublishedFloorplans, SayWhereTheirPositionsComeFrom) {
  const model::Floorplan drawing = plan();
  EXPECT_TRUE(drawing.estimated);
  ASSERT_FALSE(drawing.evidence.empty());
  double most_mm = 0;
  for (const model::BlockEvidence& evidence : drawing.evidence) {
    EXPECT_FALSE(evidence.source.empty()) << evidence.block;
    most_mm = std::max(most_mm, evidence.error_95.value());
  }
  EXPECT_EQ(drawing.position_error_95.value(), most_mm);
}

INSTANTIATE_TEST_SUITE_P(Dies, PublishedFloorplans,
                         ::testing::Values("vega10", "vega20", "mi100", "mi210", "navi21",
                                           "navi31"));

}  // namespace
}  // namespace ww::microbench
