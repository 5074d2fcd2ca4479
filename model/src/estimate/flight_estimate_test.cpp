// Estimates with a calibration whose energy is per nanosecond of flight.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ww/model/estimate.hpp"

namespace ww::model {
namespace {

// 200 fJ/bit/ns +- 10% at 1 V, and a whole way of 1 to 5 ns.
nlohmann::json per_ns_json() {
  return nlohmann::json::parse(R"({
    "format": "wirewatt-model/1", "device": "virtual:test", "virtual": true,
    "energy_fj_per_bit_mm": {"status": "not_identified", "value": null, "reason": "no floorplan"},
    "energy_fj_per_bit_ns": {"status": "ok", "value": 200, "low": 180, "high": 220,
                             "sensed_low": 198, "sensed_high": 202},
    "constants": [{"name": "toggle_slope_fj_per_transition_ns", "status": "ok", "value": 360,
                   "low": 350, "high": 370, "sensed_low": 358, "sensed_high": 362}],
    "reference": {"voltage_v": 1.0, "clock_hz": 1e9},
    "distances": {"floorplan": "", "unit": "ns", "engine_to_quadrant_ns": [[0, 2], [2, 0]],
                  "whole_flight_ns": {"low": 1, "high": 5}}})");
}

KernelTraffic traffic_of_gigabyte() {
  KernelTraffic traffic;
  traffic.kernel = "k";
  traffic.time_s = 0.5;
  for (auto& segment : traffic.segments) segment.bytes = 1e9;
  return traffic;
}

EstimateOptions of_random_words() {
  EstimateOptions options;
  options.data = random_words_at_rate(0.5);
  return options;
}

TEST(FlightEstimate, ReachesFromTheShortestWholeWayToTheLongest) {
  const auto model = parse_wire_model(per_ns_json(), "test");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_TRUE(model->per_ns);
  EXPECT_STREQ(model->unit(), "ns");
  const auto result = estimate(*model, {traffic_of_gigabyte()}, of_random_words());
  ASSERT_TRUE(result) << result.error().text();
  const SegmentEstimate& crossbar = result->total.segments[1];
  // 8e9 bits at 200 fJ/bit/ns over 3 ns; never "ok", for the whole way was not timed.
  EXPECT_EQ(crossbar.status, RowStatus::transferred);
  EXPECT_NE(crossbar.reason.find("bounds"), std::string::npos) << crossbar.reason;
  EXPECT_NEAR(crossbar.energy_j->value, 8e9 * 200e-15 * 3, 1e-9);
  EXPECT_LE(crossbar.energy_j->low, 8e9 * 200e-15 * 1);
  EXPECT_GE(crossbar.energy_j->high, 8e9 * 200e-15 * 5);
  EXPECT_LT(crossbar.energy_j->high, 8e9 * 200e-15 * 5 * 1.2);
  const auto json = to_json(*result);
  EXPECT_EQ(json["total"]["segments"][1]["distance_ns"], 3);
  EXPECT_FALSE(json["total"]["segments"][1].contains("distance_mm"));
}

TEST(FlightEstimate, LeavesSegmentsOutWhoseFlightNobodyTimed) {
  const auto model = parse_wire_model(per_ns_json(), "test");
  ASSERT_TRUE(model);
  const auto result = estimate(*model, {traffic_of_gigabyte()}, of_random_words());
  ASSERT_TRUE(result);
  for (const std::size_t s : {0, 2}) {
    EXPECT_EQ(result->total.segments[s].status, RowStatus::not_identified);
    EXPECT_FALSE(result->total.segments[s].energy_j);
    EXPECT_NE(result->total.segments[s].reason.find("flight was not timed"), std::string::npos);
  }
  EXPECT_EQ(result->total.left_out, "registers_l1, l2_memory");
}

TEST(FlightEstimate, NeverMultipliesItsNanosecondsWithMonitorsMillimetres) {
  auto json = per_ns_json();
  for (const double toggles : {0.0, 0.25, 0.5}) {
    json["variant_wires"].push_back({{"pattern", "p"},
                                     {"throttle", 0},
                                     {"energy_fj_per_bit_ns", 20 + 360 * toggles},
                                     {"error", 1},
                                     {"slot_bits_per_bit", 1},
                                     {"toggles_per_bit", toggles},
                                     {"adjacent_per_bit", toggles / 2},
                                     {"opposite_per_bit", toggles / 4}});
  }
  const auto model = parse_wire_model(json, "test");
  ASSERT_TRUE(model) << model.error().text();
  ASSERT_TRUE(model->events);
  auto traffic = traffic_of_gigabyte();
  const double bits = 8e9;
  traffic.segments[1].wires = WireActivity{bits, bits / 2, bits / 4, bits / 8};
  const auto plain = estimate(*model, {traffic}, {});
  // A floorplan's millimetres, as a virtual GPU's monitors weigh events with them.
  traffic.trunks_mm = WireActivity{20 * bits, 10 * bits, 5 * bits, 2.5 * bits};
  traffic.l1_l2_mm = 20;
  const auto weighed = estimate(*model, {traffic}, {});
  ASSERT_TRUE(plain && weighed);
  EXPECT_EQ(plain->total.segments[1].energy_j->value, weighed->total.segments[1].energy_j->value);
  EXPECT_EQ(weighed->total.segments[1].distance_mm, 3);
  EXPECT_TRUE(weighed->total.segments[1].toggles_measured);
}

TEST(FlightEstimate, NeedsBoundsOfTheWholeWay) {
  auto json = per_ns_json();
  json["distances"].erase("whole_flight_ns");
  const auto model = parse_wire_model(json, "run/model.json");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().text().find("whole_flight_ns"), std::string::npos)
      << model.error().text();
  EXPECT_NE(model.error().text().find("run/model.json"), std::string::npos);
  json["distances"]["whole_flight_ns"] = {{"low", 3}, {"high", 2}};
  EXPECT_FALSE(parse_wire_model(json, "test"));
}

TEST(FlightEstimate, TakesNoFloorplansMillimetres) {
  auto model = parse_wire_model(per_ns_json(), "test");
  ASSERT_TRUE(model);
  const auto taken = use_floorplan(*model, Floorplan{});
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().text().find("per nanosecond"), std::string::npos);
  EXPECT_FALSE(require_millimetres(*model, "project"));
}

TEST(FlightEstimate, IsNotMadeWhereTheEnergyPerNanosecondIsNotIdentified) {
  auto json = per_ns_json();
  json["energy_fj_per_bit_ns"] = {{"status", "not_identified"}, {"reason", "whole cycles"}};
  const auto model = parse_wire_model(json, "test");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().text().find("whole cycles"), std::string::npos);
}

TEST(FlightEstimate, OfAFlaggedModelIsRefusedByItsOwnConstant) {
  auto json = per_ns_json();
  json["energy_fj_per_bit_ns"]["status"] = "misfit";
  json["energy_fj_per_bit_ns"]["reason"] = "pairs depart";
  const auto model = parse_wire_model(json, "test");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().text().find("pairs depart"), std::string::npos);
}

}  // namespace
}  // namespace ww::model
