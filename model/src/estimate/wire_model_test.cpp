#include "ww/model/wire_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "testing/small_model.hpp"

namespace ww::model {
namespace {

// 45 fJ a bit between random words and uniform lines, of 90 fJ for the toggles of a random bit.
TEST(WireModel, TakesTheCouplingShareOfTheCalibrationAndElseAWideOne) {
  const Interval assumed = wire_model().coupling_share;
  EXPECT_DOUBLE_EQ(assumed.low, 0.35);
  EXPECT_DOUBLE_EQ(assumed.high, 0.65);
  auto json = model_json();
  json["constants"].push_back({{"name", "coupling_fj_per_bit_mm"},
                               {"status", "ok"},
                               {"value", 45},
                               {"low", 40},
                               {"high", 50},
                               {"sensed_low", 44},
                               {"sensed_high", 46}});
  const auto model = parse_wire_model(json, "test");
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_DOUBLE_EQ(model->coupling_share.value, 0.5);
  EXPECT_NEAR(model->coupling_share.high - 0.5, 0.5 * std::hypot(1.0 / 45, 2.0 / 180), 1e-12);
}

// 5 fJ a bit less for random words than for uniform lines: noise, or wires that are shielded.
TEST(WireModel, AdmitsAnyCouplingFromNoneOnWhereACalibrationFoundLessThanNone) {
  for (const double sensed_half : {1.0, 4.0, 8.0}) {
    auto json = model_json();
    json["constants"].push_back({{"name", "coupling_fj_per_bit_mm"},
                                 {"status", "ok"},
                                 {"value", -5},
                                 {"low", -14},
                                 {"high", 4},
                                 {"sensed_low", -5 - sensed_half},
                                 {"sensed_high", -5 + sensed_half}});
    const auto model = parse_wire_model(json, "test");
    ASSERT_TRUE(model) << model.error().text();
    EXPECT_EQ(model->coupling_share.value, 0) << sensed_half;
    EXPECT_EQ(model->coupling_share.low, 0) << sensed_half;
    EXPECT_DOUBLE_EQ(model->coupling_share.high, wire_model().coupling_share.high) << sensed_half;
    const auto answer = estimate(*model, {kernel(1e9)}, {});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(l1_l2(answer->total).status, RowStatus::ok);
  }
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

TEST(WireModel, NamesADistanceOfZero) {
  auto json = model_json();
  json["distances"]["engine_to_quadrant_mm"][0][1] = 0;
  const auto model = parse_wire_model(json, "test");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::bad_data);
  EXPECT_NE(model.error().text().find("engine_to_quadrant_mm"), std::string::npos);
}

TEST(WireModel, NamesTheFileAndTheKeyOfAValueOfAnotherType) {
  auto json = model_json();
  json["constants"][0]["value"] = "fast";
  auto model = parse_wire_model(json, "run/model.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::parse_error);
  EXPECT_EQ(model.error().text(), "run/model.json: 'constants[0].value' must be a number");
  json = model_json();
  json["distances"]["engine_to_quadrant_mm"] = "far";
  model = parse_wire_model(json, "run/model.json");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().text().find("'distances.engine_to_quadrant_mm' must be a list"),
            std::string::npos)
      << model.error().text();
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

}  // namespace
}  // namespace ww::model
