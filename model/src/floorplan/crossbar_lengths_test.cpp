#include "ww/model/crossbar_lengths.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::model {
namespace {

Floorplan w9100() {
  return *parse_floorplan(*known_floorplan("w9100"), "w9100.toml");
}

double mean_of(const CrossbarLengths& lengths, std::size_t engine,
               const std::vector<int>& channels) {
  double sum = 0;
  for (const auto& unit : lengths.mm[engine]) {
    for (const int channel : channels) {
      sum += unit[static_cast<std::size_t>(channel)];
    }
  }
  return sum / static_cast<double>(lengths.mm[engine].size() * channels.size());
}

Result<CrossbarLengths> of_calibration(const nlohmann::json& distances) {
  const auto folder = ScratchFolder::create("crossbar-lengths");
  const auto path = folder->path() / "model.json";
  EXPECT_TRUE(write_file_atomically(path, nlohmann::json{{"distances", distances}}.dump()));
  return crossbar_lengths(path);
}

TEST(CrossbarLengths, TakeAUnitOfEachEngineInTurn) {
  CrossbarLengths lengths;
  lengths.mm = {{{1}, {2}, {3}}, {{10}}, {{20}, {21}}};
  const std::vector<std::vector<double>> expected{{1}, {10}, {20}, {2}, {21}, {3}};
  EXPECT_EQ(lengths.units_in_turn(), expected);
}

TEST(CrossbarLengths, HaveTheFloorplansMeanForEachEngineAndQuadrant) {
  const Floorplan plan = w9100();
  const CrossbarLengths lengths = crossbar_lengths(plan);
  ASSERT_EQ(lengths.mm.size(), 4U);
  ASSERT_EQ(lengths.mm[0].size(), 11U);
  ASSERT_EQ(lengths.mm[0][0].size(), 16U);
  for (std::size_t engine = 0; engine < 4; ++engine) {
    for (std::size_t quadrant = 0; quadrant < 4; ++quadrant) {
      EXPECT_NEAR(mean_of(lengths, engine, plan.quadrants[quadrant]),
                  plan.distance(static_cast<int>(engine), static_cast<int>(quadrant)).value(),
                  1e-9);
    }
  }
}

TEST(CrossbarLengths, AreBroughtToTheCalibrationsPairsAndKeepTheirOrderWithin) {
  const auto lengths = of_calibration({{"floorplan", "w9100"},
                                       {"engine_to_quadrant_mm",
                                        {{6.0, 12.0, 9.0, 16.0},
                                         {12.0, 6.0, 16.0, 9.0},
                                         {9.0, 16.0, 6.0, 12.0},
                                         {16.0, 9.0, 12.0, 6.0}}}});
  ASSERT_TRUE(lengths) << lengths.error().text();
  const Floorplan plan = w9100();
  EXPECT_NEAR(mean_of(*lengths, 0, plan.quadrants[0]), 6.0, 1e-9);
  EXPECT_NEAR(mean_of(*lengths, 3, plan.quadrants[1]), 9.0, 1e-9);
  const double drawn = crossbar_lengths(plan).mm[0][10][3];
  EXPECT_NEAR(lengths->mm[0][10][3], drawn * 6.0 / plan.distance(0, 0).value(), 1e-9);
}

TEST(CrossbarLengths, AreRefusedWhereTheCalibrationHasNone) {
  const auto no_mm = of_calibration({{"floorplan", ""}, {"unit", "ns"}});
  ASSERT_FALSE(no_mm);
  EXPECT_EQ(no_mm.error().code, ErrorCode::unsupported);
  const auto unknown =
      of_calibration({{"floorplan", "napkin"}, {"engine_to_quadrant_mm", {{1.0, 2.0}}}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("--floorplan"), std::string::npos);
  const auto other =
      of_calibration({{"floorplan", "w9100"}, {"engine_to_quadrant_mm", {{1.0, 2.0}}}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::bad_data);
}

}  // namespace
}  // namespace ww::model
