#include "ww/model/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/model/technology.hpp"

namespace ww::model {
namespace {

// 100 fJ/bit/mm +- 5% at 1 V; 1, 10 and 20 mm.
nlohmann::json model_json() {
  return nlohmann::json::parse(R"({
    "format": "wirewatt-model/1", "device": "virtual:test", "virtual": true,
    "energy_fj_per_bit_mm": {"status": "ok", "value": 100, "low": 95, "high": 105,
                             "sensed_low": 99, "sensed_high": 101},
    "constants": [{"name": "toggle_slope_fj_per_transition_mm", "status": "ok", "value": 180,
                   "low": 170, "high": 190, "sensed_low": 178, "sensed_high": 182}],
    "reference": {"voltage_v": 1.0, "clock_hz": 1e9},
    "distances": {"floorplan": "test", "engine_to_quadrant_mm": [[5, 15], [15, 5]],
                  "registers_to_l1_mm": 1, "l2_to_memory_mm": 20}})");
}

WireModel wire_model() {
  auto model = parse_wire_model(model_json(), "test");
  EXPECT_TRUE(model) << model.error().text();
  return *model;
}

KernelTraffic kernel(double l1_l2_bytes) {
  KernelTraffic traffic;
  traffic.kernel = "k";
  traffic.dispatches = 2;
  traffic.time_s = 0.5;
  traffic.segments[0].bytes = 4 * l1_l2_bytes;
  traffic.segments[1].bytes = l1_l2_bytes;
  traffic.segments[2].bytes = l1_l2_bytes / 2;
  return traffic;
}

const SegmentEstimate& l1_l2(const KernelEstimate& kernel) {
  return kernel.segments[1];
}

TEST(Estimate, TakesRegistersL1AsMeasuredAndLeavesTheOthers) {
  EstimateOptions options;
  options.data = data_at_rate(0.25);
  auto model = wire_model();
  const auto before = estimate(model, {kernel(1e9)}, options)->kernels[0];
  EXPECT_EQ(before.segments[0].status, RowStatus::transferred);
  model.registers_l1_fj_per_bit = Interval{60, 54, 72};
  options.voltage_v = 1.0;
  const auto after = estimate(model, {kernel(1e9)}, options)->kernels[0];
  const auto& registers = after.segments[0];
  EXPECT_EQ(registers.status, RowStatus::ok);
  EXPECT_NE(registers.reason.find("wirewatt segments"), std::string::npos) << registers.reason;
  // 4e9 bytes at half the toggles of random data.
  EXPECT_NEAR(registers.energy_j->value, 4e9 * 8 * 60e-15 / 2, 1e-12);
  EXPECT_NEAR(registers.energy_j->low, 4e9 * 8 * 54e-15 / 2, 1e-12);
  EXPECT_NEAR(registers.energy_j->high, 4e9 * 8 * 72e-15 / 2, 1e-12);
  for (const std::size_t s : {1U, 2U}) {
    EXPECT_EQ(after.segments[s].energy_j->value, before.segments[s].energy_j->value);
    EXPECT_EQ(after.segments[s].status, before.segments[s].status);
  }
  // Monitors see the crossbar's toggles, not those on the way to registers.
  auto monitored = kernel(1e9);
  monitored.segments[0].wires = WireActivity{4e9 * 8, 4e9 * 8 * 0.25, 0, 0};
  const auto wide = estimate(model, {monitored}, options)->kernels[0].segments[0];
  EXPECT_NEAR(wide.energy_j->value, registers.energy_j->value, 1e-12);
  EXPECT_LT(wide.energy_j->low, registers.energy_j->value / 2);
  EXPECT_GT(wide.energy_j->high, registers.energy_j->value * 2);
  options.voltage_v = 1.1;
  const auto dearer = estimate(model, {kernel(1e9)}, options)->kernels[0];
  EXPECT_NEAR(dearer.segments[0].energy_j->value / registers.energy_j->value, 1.21, 1e-9);
}

TEST(Estimate, IsBitsTimesEnergyTimesDistance) {
  EstimateOptions options;
  options.data = {{0.5, 0.5, 0.5}, {0, 0, 0}};  // random bits, as the calibration streams them
  const auto result = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(result);
  // 8e9 bits x 100 fJ x 10 mm = 8 mJ in half a second.
  EXPECT_NEAR(l1_l2(result->total).energy_j->value, 8e-3, 1e-12);
  EXPECT_NEAR(l1_l2(result->total).power_w->value, 16e-3, 1e-12);
  EXPECT_EQ(l1_l2(result->total).status, RowStatus::ok);
  EXPECT_NEAR(l1_l2(result->total).energy_j->low, 8e-3 * 0.95, 5e-5);
}

TEST(Estimate, FollowsTheToggleRateAlongTheFittedSlope) {
  EstimateOptions options;
  options.data = data_at_rate(0.34);
  const auto result = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(result);
  EXPECT_NEAR(l1_l2(result->total).energy_j->value, 8e-5 * (100 - 180 * 0.16), 1e-9);
}

// What nobody counted is in the interval: half of it is the slope's way from the assumed rate to
// the end of its range, and what neighbours may add.
TEST(Estimate, HoldsTheRangeOfAnAssumedToggleRateAndOfCouplingInItsInterval) {
  const AssumedData& prior = unknown_data();
  const auto unknown = estimate(wire_model(), {kernel(1e9)}, {});
  EstimateOptions options;
  options.data = data_at_rate(prior.toggle_rate.value);
  const auto rate_known = estimate(wire_model(), {kernel(1e9)}, options);
  options.data.coupling = {0, 0, 0};
  const auto all_known = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(unknown && rate_known && all_known);
  const Interval wide = *l1_l2(unknown->total).energy_j;
  const Interval coupled = *l1_l2(rate_known->total).energy_j;
  const Interval narrow = *l1_l2(all_known->total).energy_j;
  EXPECT_DOUBLE_EQ(wide.value, narrow.value);
  EXPECT_DOUBLE_EQ(coupled.value, narrow.value);
  const double to_joules = 8e-5;
  const double rate_up = 180 * (prior.toggle_rate.high - prior.toggle_rate.value);
  const double rate_down = 180 * (prior.toggle_rate.value - prior.toggle_rate.low);
  const double couple = 90 * prior.toggle_rate.value;  // a unit costs half of a toggle
  const auto squared = [](double x) { return x * x; };
  EXPECT_NEAR(squared((wide.high - wide.value) / to_joules),
              squared((coupled.high - coupled.value) / to_joules) + squared(rate_up), 0.1);
  EXPECT_NEAR(squared((wide.value - wide.low) / to_joules),
              squared((coupled.value - coupled.low) / to_joules) + squared(rate_down), 0.1);
  EXPECT_NEAR(
      squared((coupled.value - coupled.low) / to_joules),
      squared((narrow.value - narrow.low) / to_joules) + squared(couple * prior.coupling.low), 0.1);
  EXPECT_NEAR(coupled.high, narrow.high, 1e-12);  // random words couple most
  // Every watt and joule of the application has it, segments that are transferred included.
  EXPECT_LT(unknown->total.power_w->low, all_known->total.power_w->low);
  EXPECT_GT(unknown->total.power_w->high, all_known->total.power_w->high);
  EXPECT_GT(unknown->total.segments[2].energy_j->high, all_known->total.segments[2].energy_j->high);
  EXPECT_EQ(to_json(*unknown)["assumed"]["toggle_rate"]["high"], prior.toggle_rate.high);
}

TEST(Estimate, OfWordsThatCoupleLessIsLower) {
  EstimateOptions options;
  options.data = data_at_rate(0.34);
  const auto random_words = estimate(wire_model(), {kernel(1e9)}, options);
  options.data.coupling = {-0.5, -0.5, -0.5};
  const auto alike = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(random_words && alike);
  EXPECT_NEAR(l1_l2(random_words->total).energy_j->value - l1_l2(alike->total).energy_j->value,
              8e-5 * 90 * 0.34 * 0.5, 1e-9);
}

nlohmann::json flagged_model_json() {
  auto json = model_json();
  json["energy_fj_per_bit_mm"]["status"] = "misfit";
  json["energy_fj_per_bit_mm"]["reason"] = "pairs depart from distance";
  json["constants"][0]["status"] = "misfit";
  return json;
}

TEST(FlaggedModel, IsRefusedWithTheReasonAndWhatToDo) {
  for (const bool old_file : {false, true}) {
    auto json = flagged_model_json();
    if (old_file) {  // written before the status was: the flag alone
      json = model_json();
      json["misfit"] = {{"flagged", true}, {"reason", "pairs depart from distance"}};
    }
    const auto model = parse_wire_model(json, "run/model.json");
    ASSERT_FALSE(model);
    EXPECT_EQ(exit_code(model.error().code), 1);
    for (const char* part : {"run/model.json", "misfit", "pairs depart from distance",
                             "calibrate again", "--anyway"}) {
      EXPECT_NE(model.error().text().find(part), std::string::npos) << part;
    }
  }
  auto fine = model_json();
  fine["misfit"] = {{"flagged", false}, {"reason", ""}};
  EXPECT_TRUE(parse_wire_model(fine, "x"));
}

TEST(FlaggedModel, AnywayMarksEveryFigureAndChangesNone) {
  const auto model = parse_wire_model(flagged_model_json(), "x", FlaggedModel::mark);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->misfit, "pairs depart from distance");
  EXPECT_TRUE(model->toggle_slope);
  auto bounded = kernel(1e9);
  bounded.kernel = "bounded";
  bounded.segments[2].upper_bytes = *bounded.segments[2].bytes;
  bounded.segments[2].bytes.reset();
  auto marked = estimate(*model, {kernel(1e9), bounded}, {});
  auto plain = estimate(wire_model(), {kernel(1e9), bounded}, {});
  ASSERT_TRUE(marked && plain);
  for (auto* result : {&*marked, &*plain}) {
    const double joules = result->total.energy_j->value;
    add_dynamic_energy(*result, {20 * joules, 19 * joules, 21 * joules});
  }
  EXPECT_DOUBLE_EQ(marked->total.energy_j->value, plain->total.energy_j->value);
  const auto json = to_json(*marked);
  EXPECT_EQ(json["share_status"], "misfit");
  auto kernels = json["kernels"];
  kernels.push_back(json["total"]);
  for (const auto& one : kernels) {
    EXPECT_EQ(one["status"], "misfit");
    for (const auto& segment : one["segments"]) {
      EXPECT_EQ(segment["status"], "misfit") << segment.dump();
      EXPECT_NE(segment["reason"].get<std::string>().find("flagged"), std::string::npos);
    }
  }
  EXPECT_EQ(to_json(*plain)["total"]["status"], "transferred");
}

TEST(FlaggedModel, WithAnEnergyBelowZeroIsOfNoUseEvenAnyway) {
  auto json = flagged_model_json();
  json["energy_fj_per_bit_mm"]["value"] = -100;
  json["energy_fj_per_bit_mm"]["low"] = -110;
  json["energy_fj_per_bit_mm"]["high"] = -90;
  const auto model = parse_wire_model(json, "x", FlaggedModel::mark);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::bad_data);
}

TEST(Estimate, TransfersSegmentsWithoutAContrastWithAWiderInterval) {
  const auto result = estimate(wire_model(), {kernel(1e9)}, {});
  ASSERT_TRUE(result);
  for (const std::size_t s : {std::size_t{0}, std::size_t{2}}) {
    const auto& segment = result->total.segments[s];
    EXPECT_EQ(segment.status, RowStatus::transferred);
    EXPECT_LE(segment.energy_j->low, 0.5 * segment.energy_j->value);
    EXPECT_GE(segment.energy_j->high, 2.0 * segment.energy_j->value);
  }
}

TEST(Estimate, ScalesWithTheSquareOfTheVoltage) {
  EstimateOptions options;
  const auto at_one = estimate(wire_model(), {kernel(1e9)}, options);
  options.voltage_v = 0.8;
  const auto lower = estimate(wire_model(), {kernel(1e9)}, options);
  ASSERT_TRUE(at_one && lower);
  EXPECT_NEAR(lower->total.energy_j->value, 0.64 * at_one->total.energy_j->value, 1e-12);
}

TEST(Estimate, RefusesWattsAndGivesJoulesWithoutATime) {
  auto traffic = kernel(1e9);
  traffic.time_s.reset();
  traffic.time_reason = "the times were rounded";
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->total.energy_j);
  EXPECT_FALSE(result->total.power_w);
  EXPECT_EQ(result->total.time_reason, "k: the times were rounded");
}

TEST(Estimate, RefusesWattsWhereTheTimeIsZero) {
  auto traffic = kernel(1e9);
  traffic.time_s = 0;
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->total.power_w);
}

TEST(Estimate, NeverSumsASegmentThatOneKernelLacks) {
  auto lacking = kernel(1e9);
  lacking.kernel = "lacking";
  lacking.segments[2].bytes.reset();
  lacking.segments[2].reason = "counters missing: TCC_EA_RDREQ_sum";
  const auto result = estimate(wire_model(), {kernel(1e9), lacking}, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->total.segments[2].energy_j);
  EXPECT_EQ(result->total.segments[2].reason, "counters missing: TCC_EA_RDREQ_sum");
  EXPECT_NE(result->total.left_out.find("l2_memory"), std::string::npos);
}

TEST(Estimate, GivesOnlyABoundWhereTheBytesAreABound) {
  auto traffic = kernel(1e9);
  traffic.segments[0].bytes.reset();
  traffic.segments[0].upper_bytes = 1e9;
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->total.segments[0].status, RowStatus::not_identified);
  EXPECT_FALSE(result->total.segments[0].energy_j);
  EXPECT_GT(*result->total.segments[0].upper_j, 0);
}

TEST(Estimate, NamesTheKernelAndSegmentOfNegativeBytes) {
  auto traffic = kernel(1e9);
  traffic.segments[1].bytes = -64;
  const auto result = estimate(wire_model(), {traffic}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_data);
  EXPECT_NE(result.error().text().find("l1_l2"), std::string::npos);
  EXPECT_NE(result.error().text().find("k"), std::string::npos);
}

TEST(Estimate, RefusesNoKernelAndImpossibleToggleRates) {
  EXPECT_EQ(estimate(wire_model(), {}, {}).error().code, ErrorCode::bad_data);
  EstimateOptions options;
  options.data = data_at_rate(1.5);
  EXPECT_EQ(estimate(wire_model(), {kernel(1)}, options).error().code, ErrorCode::out_of_range);
}

TEST(Estimate, AddsUpOverKernels) {
  auto other = kernel(3e9);
  other.kernel = "other";
  const auto both = estimate(wire_model(), {kernel(1e9), other}, {});
  const auto one = estimate(wire_model(), {kernel(4e9)}, {});
  ASSERT_TRUE(both && one);
  EXPECT_NEAR(both->total.energy_j->value, one->total.energy_j->value, 1e-12);
  EXPECT_EQ(both->kernels.front().kernel, "other");
}

TEST(Estimate, GivesTheShareOfTheDynamicEnergy) {
  auto result = estimate(wire_model(), {kernel(1e9)}, {});
  ASSERT_TRUE(result);
  const double joules = result->total.energy_j->value;
  add_dynamic_energy(*result, {20 * joules, 19 * joules, 21 * joules});
  ASSERT_TRUE(result->share_percent);
  EXPECT_NEAR(result->share_percent->value, 5, 1e-9);
  EXPECT_NEAR(*result->dynamic_w, 40 * joules, 1e-9);
}

TEST(Estimate, LeavesOutAShareThatNoiseCouldMake) {
  auto result = estimate(wire_model(), {kernel(1e9)}, {});
  ASSERT_TRUE(result);
  add_dynamic_energy(*result, {1e-3, -1e-3, 3e-3});
  EXPECT_FALSE(result->share_percent);
  EXPECT_FALSE(result->share_reason.empty());
}

TEST(WireModel, NamesADistanceOfZero) {
  auto json = model_json();
  json["distances"]["engine_to_quadrant_mm"][0][1] = 0;
  const auto model = parse_wire_model(json, "test");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::bad_data);
  EXPECT_NE(model.error().text().find("engine_to_quadrant_mm"), std::string::npos);
}

TEST(WireModel, PassesOnWhyTheEnergyIsNotIdentified) {
  auto json = model_json();
  json["energy_fj_per_bit_mm"] = {{"status", "not_identified"}, {"reason", "one temperature only"}};
  const auto model = parse_wire_model(json, "test");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().text().find("one temperature only"), std::string::npos);
}

TEST(WireModel, RefusesWhatIsNoModel) {
  EXPECT_EQ(parse_wire_model({{"format", "other"}}, "x").error().code, ErrorCode::parse_error);
}

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

TEST(Interval, ProductsAddLogarithmsInQuadrature) {
  const auto result = product({2, 1, 4}, {3, 1.5, 6});
  EXPECT_DOUBLE_EQ(result.value, 6);
  EXPECT_NEAR(result.high, 6 * std::exp(std::hypot(std::log(2.0), std::log(2.0))), 1e-9);
}

}  // namespace
}  // namespace ww::model
