// Technology, layouts, regression.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ww/model/floorplan.hpp"
#include "ww/model/known_floorplans.hpp"
#include "ww/model/layout.hpp"
#include "ww/model/regression.hpp"
#include "ww/model/technology.hpp"

namespace ww::model {
namespace {

TEST(Technology, HalvesWhatATransitionCostsForARandomBit) {
  for (const auto& source : wire_sources()) {
    if (source.convention == Convention::per_transition) {
      EXPECT_DOUBLE_EQ(source.per_random_bit(), source.energy_fj_per_bit_mm / 2) << source.name;
    }
    EXPECT_FALSE(source.source.empty());
  }
}

TEST(Technology, SpansItsSourcesAndGoesWithTheSquareOfTheVoltage) {
  const auto low = literature_energy(28, 0.6);
  const auto high = literature_energy(28, 1.2);
  ASSERT_TRUE(low && high);
  EXPECT_NEAR(high->value, 4 * low->value, 1e-9);
  EXPECT_LT(low->low, low->value);
  EXPECT_GT(low->high, low->value);
  EXPECT_NEAR(literature_energy(32, 0.6)->high, 110, 1e-9);  // DARPA's own point is the highest
}

TEST(Technology, RefusesNodesAndVoltagesThatMakeNoSense) {
  EXPECT_EQ(literature_energy(1, 0.7).error().code, ErrorCode::out_of_range);
  EXPECT_EQ(literature_energy(7, 0).error().code, ErrorCode::out_of_range);
}

TEST(Technology, GivesNoModelForADeviceThatItDoesNotKnow) {
  const auto model = literature_model({.architecture = "gfx1234", .node_nm = {}, .voltage_v = {}});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::not_found);
  EXPECT_NE(model.error().text().find("gfx1030"), std::string::npos) << "what there is";
}

TEST(Technology, SaysOnWhichDieItsDistancesRest) {
  for (const char* architecture : {"gfx803", "gfx1030", "gfx1102", "sm_75", "sm_86", "sm_89"}) {
    const auto model =
        literature_model({.architecture = architecture, .node_nm = {}, .voltage_v = {}});
    ASSERT_TRUE(model) << architecture;
    EXPECT_NE(model->distance_source.find(model->device), std::string::npos);
    const double side = std::sqrt(device_sheet(architecture)->die_mm2);
    ASSERT_TRUE(model->distance_mm[1]);
    EXPECT_LT(model->distance_mm[1]->low, side / 2);
    EXPECT_LT(model->distance_mm[1]->high, side);
  }
}

// Every part that a counter map names and that was sold by 2026.
TEST(Technology, HasASheetOfEveryPartWhoseCountersAreRead) {
  for (const char* architecture :
       {"gfx700",  "gfx701",  "gfx702",  "gfx801",  "gfx802",  "gfx803",  "gfx900",  "gfx902",
        "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",  "gfx1010", "gfx1011", "gfx1012",
        "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx1100",
        "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200",
        "gfx1201", "sm_70",   "sm_72",   "sm_75",   "sm_80",   "sm_86",   "sm_87",   "sm_89",
        "sm_90",   "sm_100",  "sm_103",  "sm_120",  "sm_121"}) {
    const DeviceSheet* sheet = device_sheet(architecture);
    ASSERT_NE(sheet, nullptr) << architecture;
    EXPECT_TRUE(!sheet->estimated || !sheet->source.empty()) << architecture;
    EXPECT_TRUE(literature_model({.architecture = architecture, .node_nm = {}, .voltage_v = {}}))
        << architecture;
  }
}

TEST(Technology, TakesTheGraphicsOfADieForItsWires) {
  const auto halo = literature_model({.architecture = "gfx1151", .node_nm = {}, .voltage_v = {}});
  ASSERT_TRUE(halo);
  EXPECT_NEAR(halo->distance_mm[1]->value, 10.5 / 20.9 * std::sqrt(0.4 * 307), 1e-9);
  EXPECT_NE(halo->distance_source.find("40% of the 307 mm2"), std::string::npos);
  EXPECT_NE(halo->distance_source.find("estimated, as the part's data sheet is"),
            std::string::npos);
}

TEST(Technology, DoesNotTellEnergyPerMillimetreAcrossDies) {
  auto model = literature_model({.architecture = "gfx942", .node_nm = {}, .voltage_v = {}});
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->literature);
  EXPECT_FALSE(model->distance_mm[2]);
  EXPECT_FALSE(model->refused[2].empty());
  const auto plan = parse_floorplan(known_floorplan("w9100").value(), "w9100");
  ASSERT_TRUE(plan);
  ASSERT_TRUE(use_floorplan(*model, *plan));  // whose length is that of no crossing
  EXPECT_TRUE(model->distance_mm[1]);
  EXPECT_FALSE(model->distance_mm[2]);
  EXPECT_FALSE(model->refused[2].empty());
}

// IISWC'16: 14.3% becomes 21.9%.
TEST(Technology, TheCalibratedRatioReproducesThePapersProjection) {
  EXPECT_NEAR(100 * projected_share(0.143, kPaperWireToLogic), 21.9, 0.05);
  EXPECT_DOUBLE_EQ(projected_share(0.1, 1), 0.1);
}

TEST(Layout, ThePapersAllowAtMost79PercentLess) {
  const auto layouts = paper_layouts();
  const LayoutTraffic no_memory{1e9, 0};
  const double saved = 1 - layout_cost(layouts[1], no_memory) / layout_cost(layouts[0], no_memory);
  EXPECT_NEAR(100 * saved, 79.4, 0.05);
}

TEST(Layout, KeepsAllBlocksAndControllersAtTheEdge) {
  const auto start = central_plan(44, 16, 20.9);
  ASSERT_TRUE(start);
  const auto best = optimise_plan(*start, {1e9, 1e8}, 7);
  ASSERT_TRUE(best);
  for (const auto tile : {BlockPlan::Tile::compute, BlockPlan::Tile::l2, BlockPlan::Tile::memory}) {
    EXPECT_EQ(std::ranges::count(start->tiles, tile), std::ranges::count(best->tiles, tile));
  }
  for (const int tile : best->controller) {
    const int x = tile % best->side;
    const int y = tile / best->side;
    EXPECT_TRUE(x == 0 || y == 0 || x == best->side - 1 || y == best->side - 1);
    EXPECT_EQ(best->tiles[static_cast<std::size_t>(tile)], BlockPlan::Tile::memory);
  }
}

TEST(Layout, NeverEndsWorseThanItBeganAndIsRepeatable) {
  const auto start = central_plan(44, 16, 20.9);
  ASSERT_TRUE(start);
  for (const LayoutTraffic traffic : {LayoutTraffic{1e9, 1e6}, LayoutTraffic{1e6, 1e9}}) {
    const auto best = optimise_plan(*start, traffic, 3);
    const auto again = optimise_plan(*start, traffic, 3);
    ASSERT_TRUE(best && again);
    EXPECT_EQ(best->picture(), again->picture());
    const auto cost = [&](const BlockPlan& plan) {
      return plan.l1_l2_mm() * traffic.l1_l2_bits + plan.l2_memory_mm() * traffic.l2_memory_bits;
    };
    EXPECT_LE(cost(*best), cost(*start));
  }
}

TEST(Layout, PutsTheL2BesideTheControllersWhereMemoryTrafficRules) {
  const auto start = central_plan(44, 16, 20.9);
  ASSERT_TRUE(start);
  const auto memory = optimise_plan(*start, {1e6, 1e9}, 5);
  const auto crossbar = optimise_plan(*start, {1e9, 1e6}, 5);
  ASSERT_TRUE(memory && crossbar);
  EXPECT_LT(memory->l2_memory_mm(), start->l2_memory_mm());
  EXPECT_LT(memory->l2_memory_mm(), crossbar->l2_memory_mm());
  EXPECT_LT(crossbar->l1_l2_mm(), memory->l1_l2_mm());
}

TEST(Layout, RefusesADieThatIsTooSmallForItsControllers) {
  EXPECT_EQ(central_plan(1, 400, 10).error().code, ErrorCode::out_of_range);
  EXPECT_EQ(central_plan(44, 16, 0).error().code, ErrorCode::out_of_range);
}

// Deterministic scatter.
double noise(int i) {
  return std::sin(12.9898 * i) * 0.5;
}

TEST(Regression, FindsCoefficientsThatTheDataTell) {
  std::vector<double> y;
  Regressor a{"a", {}};
  Regressor b{"b", {}};
  for (int i = 0; i < 30; ++i) {
    a.values.push_back(i % 7);
    b.values.push_back(i % 5);
    y.push_back(40 + 3 * a.values.back() - 2 * b.values.back() + 0.1 * noise(i));
  }
  const auto fit = regress(y, {a, b});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[0].value, 40, 0.2);
  EXPECT_NEAR(fit->coefficients[1].value, 3, 0.05);
  EXPECT_NEAR(fit->coefficients[2].value, -2, 0.05);
  EXPECT_EQ(fit->coefficients[1].status, RowStatus::ok);
}

TEST(Regression, SaysNotIdentifiedOfColumnsThatGoTogether) {
  std::vector<double> y;
  Regressor l2{"L2", {}};
  Regressor wires{"interconnect", {}};
  for (int i = 0; i < 25; ++i) {
    l2.values.push_back(i % 9);
    wires.values.push_back(0.94 * (i % 9) + 0.02 * noise(i));
    y.push_back(100 + 5 * l2.values.back() + noise(3 * i));
  }
  const auto fit = regress(y, {l2, wires});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->coefficients[2].status, RowStatus::not_identified);
  EXPECT_GT(fit->coefficients[2].inflation, 10);
}

TEST(Regression, RefusesFewerRowsThanItNeeds) {
  EXPECT_EQ(regress({1, 2, 3}, {{"a", {1, 2, 4}}}).error().code, ErrorCode::bad_data);
}

}  // namespace
}  // namespace ww::model
