// Rows of IISWC'16 from a model made by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "iiswc16/iiswc16.hpp"
#include "ww/runner/chip_architecture.hpp"

namespace ww::study::iiswc16 {
namespace {

using nlohmann::json;

// Idle power over a range of temperatures, as 10 W + 2 W/(10 K) and bends of second and third
// order.
json idle(double low, double high, double square, double cube, double rms) {
  return {{"idle",
           {{{"dvfs_state", 0},
             {"rms_w", rms},
             {"coefficients_w", {10.0, 2.0, square, cube}},
             {"reference_c", (low + high) / 2},
             {"low_c", low},
             {"high_c", high}}}}};
}

const ReproductionRow* find(const Reproduction& out, const std::string& figure,
                            const std::string& quantity = "") {
  const auto row = std::ranges::find_if(out.rows, [&](const ReproductionRow& one) {
    return one.figure == figure && one.quantity.find(quantity) != std::string::npos;
  });
  return row == out.rows.end() ? nullptr : &*row;
}

std::string status(const json& model, const std::string& figure, const std::string& quantity = "") {
  Reproduction out;
  add_characterisation(out, model, {});
  const ReproductionRow* row = find(out, figure, quantity);
  return row == nullptr ? "no row" : row->status;
}

TEST(IdlePower, IsVacuousWhereAStraightLineWouldFitAsWell) {
  EXPECT_EQ(status(idle(60, 61, 0.3, 0.1, 0.02), "Fig. 4"), kVacuous);
  EXPECT_EQ(status(idle(45, 85, 0.3, 0.1, 0.02), "Fig. 4"), kMatches);
  EXPECT_EQ(status(idle(45, 85, 0.3, 0.1, 3.0), "Fig. 4"), kDiffers);
}

TEST(Distance, IsByConstructionSinceTheLedgerIsLinear) {
  json model{{"pairs", json::array()}};
  for (const double mm : {-3.0, -1.0, 4.0}) {
    model["pairs"].push_back({{"dvfs_state", 0},
                              {"pattern", "random"},
                              {"throttle", 0},
                              {"centred_distance_mm", mm},
                              {"energy_fj_per_bit", 200 * mm}});
  }
  model["plateaus"] = {
      {{"kind", "stream"}, {"used", true}, {"pattern", "random"}, {"bits_per_second", 1e12}}};
  EXPECT_EQ(status(model, "Fig. 5b", "R2"), kByConstruction);
  model["pairs"][0]["energy_fj_per_bit"] = 900;
  EXPECT_EQ(status(model, "Fig. 5b", "R2"), kDiffers);
}

TEST(Platform, IsReadFromTheChip) {
  const auto chip = runner::chip_architecture({});
  ASSERT_TRUE(chip) << chip.error().text();
  sim::gpu::Architecture other = *chip;
  other.l2_bytes *= 2;
  Reproduction out;
  add_characterisation(out, json::object(), *chip);
  add_characterisation(out, json::object(), other);
  std::vector<std::string> statuses;
  for (const auto& row : out.rows) {
    if (row.figure == "Table I" && row.quantity == "L2") statuses.push_back(row.status);
  }
  EXPECT_EQ(statuses, (std::vector<std::string>{kByConstruction, kDiffers}));
}

}  // namespace
}  // namespace ww::study::iiswc16
