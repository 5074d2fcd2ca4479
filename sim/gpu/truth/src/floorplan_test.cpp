// What chips publish is what model/ reads: same points, same distances.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

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
