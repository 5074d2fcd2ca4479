#include "ww/model/fit.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "testing/small_model.hpp"

namespace ww::model {
namespace {

// Energy of a wire: 5 per slot, 300 per toggle, 150 per coupling.
VariantActivity variant(const char* name, double toggles, double adjacent, double opposite) {
  return {name,     0,        5 + 300 * toggles + 150 * (2 * opposite - adjacent),
          0.1,      1,        toggles,
          adjacent, opposite, 0,
          0,        0};
}

TEST(WireEvents, AreRecoveredFromPayloadsThatTellThemApart) {
  const std::vector variants = {variant("random", 0.5, 0.25, 0.125),
                                variant("half", 0.25, 0.1, 0.05), variant("zeros", 0.1, 0.1, 0),
                                variant("opposite", 0.5, 0.3, 0.3), variant("lines", 0.5, 0.5, 0)};
  const auto events = solve_wire_events(variants);
  ASSERT_TRUE(events);
  EXPECT_NEAR(events->fj_per_mm[0], 5, 1.5);
  EXPECT_NEAR(events->fj_per_mm[1], 300, 4);
  EXPECT_NEAR(events->fj_per_mm[2], 150, 4);
}

TEST(WireEvents, NeedThreePayloads) {
  const std::vector variants = {variant("random", 0.5, 0.25, 0.125), variant("zeros", 0.1, 0.1, 0)};
  EXPECT_EQ(solve_wire_events(variants).error().code, ErrorCode::bad_data);
}

TEST(WireEvents, PriceWhatMonitorsCountedInPlaceOfTheToggleRate) {
  auto json = model_json();
  for (const auto& v : {variant("random", 0.5, 0.25, 0.125), variant("half", 0.25, 0.1, 0.05),
                        variant("zeros", 0.1, 0.1, 0), variant("opposite", 0.5, 0.3, 0.3)}) {
    json["variant_wires"].push_back({{"pattern", v.pattern},
                                     {"throttle", 0},
                                     {"energy_fj_per_bit_mm", v.energy_fj_per_bit_mm},
                                     {"error", v.error},
                                     {"slot_bits_per_bit", v.slot_bits},
                                     {"toggles_per_bit", v.toggles},
                                     {"adjacent_per_bit", v.adjacent},
                                     {"opposite_per_bit", v.opposite}});
  }
  const auto model = parse_wire_model(json, "test");
  ASSERT_TRUE(model);
  auto traffic = kernel(1e9);
  traffic.segments[1].wires = WireActivity{8e9, 0.8e9, 0.4e9, 0.1e9};
  const auto result = estimate(*model, {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(l1_l2(result->total).toggles_measured);
  EXPECT_NEAR(l1_l2(result->total).toggle_rate, 0.1, 1e-12);
  const double fj_per_mm = 5 * 8e9 + 300 * 0.8e9 + 150 * (0.2e9 - 0.4e9);
  EXPECT_NEAR(l1_l2(result->total).energy_j->value, fj_per_mm * 10 * 1e-15,
              0.02 * fj_per_mm * 1e-14);
  EstimateOptions assumed;
  assumed.use_monitors = false;
  const auto plain = estimate(*model, {traffic}, assumed);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(l1_l2(plain->total).toggles_measured);
}

TEST(WireEvents, PriceRequestsAndTagsByTheirOwnToggles) {
  // Requests that toggle twice as much in one payload's runs must not be taken for its clock.
  std::vector variants = {variant("random", 0.5, 0.25, 0.125), variant("half", 0.25, 0.1, 0.05),
                          variant("zeros", 0.1, 0.1, 0), variant("opposite", 0.5, 0.3, 0.3)};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    variants[i].control_toggles = i % 2 == 0 ? 0.02 : 0.04;
    variants[i].energy_fj_per_bit_mm += 300 * variants[i].control_toggles;
  }
  const auto events = solve_wire_events(variants);
  ASSERT_TRUE(events);
  EXPECT_NEAR(events->fj_per_mm[0], 5, 1.5);
  EXPECT_NEAR(events->fj_per_mm[1], 300, 4);

  auto model = parse_wire_model(model_json(), "test");
  ASSERT_TRUE(model);
  model->events = *events;
  auto traffic = kernel(1e9);
  traffic.segments[1].wires = WireActivity{8e9, 0.8e9, 0.4e9, 0.1e9};
  traffic.trunks_mm = WireActivity{80e9, 8e9, 4e9, 1e9};
  const auto quiet = estimate(*model, {traffic}, {});
  traffic.trunks_mm->toggles += 1e9;
  const auto busy = estimate(*model, {traffic}, {});
  ASSERT_TRUE(quiet && busy);
  EXPECT_NEAR(l1_l2(busy->total).energy_j->value - l1_l2(quiet->total).energy_j->value,
              events->fj_per_mm[1] * 1e9 * 1e-15, 1e-9);
  EXPECT_DOUBLE_EQ(l1_l2(busy->total).toggle_rate, l1_l2(quiet->total).toggle_rate);
}

TEST(WireEvents, ArePricedByTheLengthOfTheWiresThatHadThem) {
  auto model = parse_wire_model(model_json(), "test");
  ASSERT_TRUE(model);
  model->events = WireEvents{{5, 300, 150}, {}, 4};
  auto traffic = kernel(1e9);
  traffic.l1_l2_mm = 10;
  traffic.segments[1].wires = WireActivity{8e9, 0.8e9, 0, 0};
  traffic.trunks_mm = WireActivity{80e9, 8e9, 0, 0};
  const auto even = estimate(*model, {traffic}, {});
  traffic.trunks_mm->toggles /= 2;  // the same toggles, on wires half as long as the others
  const auto near = estimate(*model, {traffic}, {});
  ASSERT_TRUE(even && near);
  EXPECT_NEAR(l1_l2(even->total).energy_j->value, (5 * 80e9 + 300 * 8e9) * 1e-15, 1e-12);
  EXPECT_NEAR(l1_l2(near->total).energy_j->value, (5 * 80e9 + 300 * 4e9) * 1e-15, 1e-12);
}

TEST(WireEvents, LeaveOpenHowMuchOfTheClockGoesAlongALeg) {
  auto model = parse_wire_model(model_json(), "test");
  ASSERT_TRUE(model);
  model->events = WireEvents{{5, 300, 150}, {}, 4};
  auto traffic = kernel(1e9);
  traffic.segments[1].wires = WireActivity{8e9, 0.8e9, 0, 0};
  traffic.trunks_mm = WireActivity{60e9, 6e9, 0, 0};
  traffic.legs_mm = WireActivity{20e9, 2e9, 0, 0};
  const auto result = estimate(*model, {traffic}, {});
  ASSERT_TRUE(result);
  const auto& energy = *l1_l2(result->total).energy_j;
  const double payload = (5 * 60e9 + 300 * 8e9) * 1e-15;
  EXPECT_NEAR(energy.value, payload + 0.5 * 5 * 20e9 * 1e-15, 1e-12);
  EXPECT_LE(energy.low, payload);
  EXPECT_GE(energy.high, payload + 5 * 20e9 * 1e-15);
}

}  // namespace
}  // namespace ww::model
