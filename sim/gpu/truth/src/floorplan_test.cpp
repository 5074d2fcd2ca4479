// The floorplans that chips publish and model/ reads agree: same points, same distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "truth.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::sim::gpu {
namespace {

void expect_agreement(const Chip& chip) {
  const auto plan = model::parse_floorplan(chip.public_floorplan_toml(), "published");
  ASSERT_TRUE(plan) << plan.error().text();
  const PublishedFloorplan& published = chip.truth().published;
  EXPECT_DOUBLE_EQ(plan->position_error_95.value(), published.position_error_95_mm);
  for (int engine = 0; engine < 4; ++engine) {
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      EXPECT_NEAR(plan->distance(engine, quadrant).value(),
                  published.geometry.mean_distance_mm(engine, quadrant), 1e-9);
    }
  }
}

TEST(PublishedFloorplan, OfTheW9100IsReadAlikeByTheModel) {
  const Chip chip = Chip::load({}).value();
  expect_agreement(chip);
  // IISWC'16, Table II.
  const auto plan = model::parse_floorplan(chip.public_floorplan_toml(), "published").value();
  EXPECT_NEAR(plan.l2_to_memory().value(), 11.5, 0.05);
  EXPECT_NEAR(plan.registers_to_l1.value(), 3.5, 1e-9);
}

TEST(PublishedFloorplan, EveryFileOfTheFolderIsKnown) {
  const std::string names = ", " + std::string(model::known_floorplan_names()) + ", ";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(std::getenv("WW_SOURCE_DIR")) / "model/floorplans")) {
    if (entry.path().extension() != ".toml") {
      continue;
    }
    ++files;
    const std::string name = entry.path().stem().string();
    EXPECT_NE(names.find(", " + name + ", "), std::string::npos) << name << " is not in the list";
    const auto text = model::known_floorplan(name);
    ASSERT_TRUE(text) << name;
    EXPECT_TRUE(model::parse_floorplan(*text, name));
  }
  EXPECT_GT(files, 0);
}

double apart_mm(const Point& at, const model::Point& drawn) {
  return std::max(std::abs(at.x_mm - drawn.x_mm), std::abs(at.y_mm - drawn.y_mm));
}

// The 95% error that a plan states for a kind of block, else for all of them.
double stated_error_mm(const model::Floorplan& plan, const std::string& kind) {
  for (const model::BlockEvidence& block : plan.evidence) {
    if (block.block.find(kind) != std::string::npos) return block.error_95.value();
  }
  return plan.position_error_95.value();
}

// How far the farthest block lies from where it is drawn, where each of `at` is one of `drawn` and
// their numbers say nothing: the channels of a quadrant are numbered by no drawing. By bisection
// over the distances, each with a matching that augmenting paths find.
double farthest_mm(const std::vector<Point>& at, const std::vector<model::Point>& drawn) {
  EXPECT_EQ(at.size(), drawn.size());
  const auto matched_within = [&](double most_mm) {
    std::vector<std::optional<std::size_t>> taker(drawn.size());
    std::vector<bool> tried;
    const std::function<bool(std::size_t)> find_place = [&](std::size_t block) {
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        if (tried[i] || apart_mm(at[block], drawn[i]) > most_mm) continue;
        tried[i] = true;
        if (!taker[i] || find_place(*taker[i])) {
          taker[i] = block;
          return true;
        }
      }
      return false;
    };
    for (std::size_t block = 0; block < at.size(); ++block) {
      tried.assign(drawn.size(), false);
      if (!find_place(block)) return false;
    }
    return true;
  };
  std::vector<double> distances;
  for (const Point& block : at) {
    for (const model::Point& place : drawn) distances.push_back(apart_mm(block, place));
  }
  std::ranges::sort(distances);
  return *std::ranges::partition_point(distances,
                                       [&](double most) { return !matched_within(most); });
}

// A twin's blocks were not drawn from the floorplan that is published of its card, but they lie no
// farther from it than it states.
TEST(PublishedFloorplan, HasTheBlocksOfItsTwinWithinTheStatedError) {
  for (const char* name : {"w9100", "vega10", "vega20", "mi100", "mi210"}) {
    SCOPED_TRACE(name);
    const auto text = model::known_floorplan(name);
    ASSERT_TRUE(text);
    const auto plan = model::parse_floorplan(*text, name).value();
    const Chip chip = Chip::load({.chip = name}).value();
    const Geometry& truth = chip.truth().geometry;
    ASSERT_EQ(truth.compute_units.size(), plan.compute_units.size());
    ASSERT_EQ(truth.quadrants.size(), plan.quadrants.size());
    double engines_mm = 0;
    for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
      engines_mm = std::max(engines_mm, farthest_mm(truth.compute_units[e], plan.compute_units[e]));
    }
    double slices_mm = 0;
    double controllers_mm = 0;
    for (std::size_t q = 0; q < plan.quadrants.size(); ++q) {
      std::vector<Point> slices, controllers;
      for (const int channel : truth.quadrants[q]) {
        slices.push_back(truth.l2_channels[static_cast<std::size_t>(channel)]);
        controllers.push_back(truth.memory_controllers[static_cast<std::size_t>(channel)]);
      }
      std::vector<model::Point> drawn_slices, drawn_controllers;
      for (const int channel : plan.quadrants[q]) {
        drawn_slices.push_back(plan.l2_channels[static_cast<std::size_t>(channel)]);
        drawn_controllers.push_back(plan.memory_controllers[static_cast<std::size_t>(channel)]);
      }
      slices_mm = std::max(slices_mm, farthest_mm(slices, drawn_slices));
      controllers_mm = std::max(controllers_mm, farthest_mm(controllers, drawn_controllers));
    }
    EXPECT_LE(engines_mm, stated_error_mm(plan, "shader engines"));
    EXPECT_LE(slices_mm, stated_error_mm(plan, "L2 slices"));
    EXPECT_LE(controllers_mm, stated_error_mm(plan, "memory controllers"));
    EXPECT_GT(std::min({engines_mm, slices_mm, controllers_mm}), 0.05) << "a copy, not a twin";
    GTEST_LOG_(INFO) << name << ": engines " << engines_mm << " mm, L2 slices " << slices_mm
                     << " mm, memory controllers " << controllers_mm << " mm from the floorplan";
  }
}

TEST(PublishedFloorplan, OfRandomChipsIsReadAlikeByTheModel) {
  for (const ChipClass chip_class : {ChipClass::nested, ChipClass::mild, ChipClass::strong}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      expect_agreement(
          Chip::load({.chip = "random", .seed = seed, .chip_class = chip_class}).value());
    }
  }
}

}  // namespace
}  // namespace ww::sim::gpu
