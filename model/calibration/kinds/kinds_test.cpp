// Tests each kind of calibration on requests, without a process.
#include "ww/calibration/kinds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "ww/core/temporary_folder.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json row(double value, const char* name = "", const char* unit = "") {
  return {{"name", name},        {"status", "ok"}, {"value", value}, {"low", 0.9 * value},
          {"high", 1.1 * value}, {"unit", unit},   {"reason", ""}};
}

json wires_document() {
  json energy = row(200, "energy_fj_per_bit_mm", "fJ/bit/mm");
  energy["sensed_low"] = 190;
  energy["sensed_high"] = 210;
  return {{"format", "wirewatt-model/1"},
          {"device", "virtual:w9100"},
          {"target", "gfx701"},
          {"virtual", true},
          {"energy_fj_per_bit_mm", energy},
          {"constants", {energy}},
          {"reference", {{"voltage_v", 1.0}, {"clock_hz", 9e8}}},
          {"distances",
           {{"floorplan", "w9100"},
            {"unit", "mm"},
            {"engine_to_quadrant_mm", {{2.0, 4.0}, {4.0, 2.0}}},
            {"registers_to_l1_mm", 0.5},
            {"l2_to_memory_mm", 3.0},
            {"route_error_95_mm", 0.1}}}};
}

json crossings_document() {
  return {{"device", "cuda:0"},
          {"chip", {{"target", "sm_80"}}},
          {"energy_pj_per_bit_crossing", row(1.0)},
          {"zero_data_pj_per_bit_crossing", row(0.4)}};
}

json package_document() {
  auto rows = json::array();
  for (const char* name :
       {"compute_die_and_cache", "row_hop", "column_hop", "across", "memory_phy", "memory"}) {
    rows.push_back(row(1.0, name, "pJ/bit/crossing"));
  }
  return {{"method", "chiplet"},
          {"device", "virtual:mi300x"},
          {"virtual", true},
          {"chip", {{"target", "gfx942"}}},
          {"hop_classes", rows}};
}

json ladder_document() {
  return {{"method", "ladder"},
          {"device", "virtual:w9100"},
          {"virtual", true},
          {"chip", {{"target", "gfx701"}}},
          {"ladder_pj_per_bit",
           {row(2, "l1_read"), row(1, "l1_read_zeros"), row(5, "l2_read"), row(3, "l2_read_zeros"),
            row(14, "memory_read"), row(3, "l2_read_less_l1"), row(9, "memory_read_less_l2")}}};
}

std::unique_ptr<Calibration> of(json document, Admission admission = Admission::refuse_flagged) {
  auto parsed = parse(std::move(document), "a file", admission);
  EXPECT_TRUE(parsed) << parsed.error().text();
  return std::move(*parsed);
}

Traffic traffic_of(const char* architecture) {
  Traffic traffic;
  traffic.kernels.resize(1);
  traffic.kernels[0].kernel = "copy";
  traffic.kernels[0].dispatches = 1;
  traffic.kernels[0].time_s = 1e-3;
  for (auto& segment : traffic.kernels[0].segments) segment.bytes = 1e9;
  traffic.architecture = architecture;
  traffic.dispatches = 1;
  traffic.file = "counters.csv";
  return traffic;
}

TEST(Kinds, AreToldByTheirDocuments) {
  EXPECT_EQ(of(wires_document())->kind(), "wires");
  EXPECT_EQ(of(crossings_document())->kind(), "crossings");
  EXPECT_EQ(of(package_document())->kind(), "package");
  EXPECT_NE(of(wires_document())->wires(), nullptr);
  EXPECT_EQ(of(package_document())->wires(), nullptr);
  EXPECT_FALSE(parse({{"anything", 1}}, "a file", Admission::any));
  EXPECT_FALSE(parse(json::array(), "a file", Admission::any));
}

TEST(Kinds, AreFoundInAFolderByTheirFiles) {
  const ScratchFolder folder = ScratchFolder::create("kinds").value();
  EXPECT_FALSE(load(folder.path()));
  std::ofstream(folder.path() / "crossing.json") << crossings_document();
  EXPECT_EQ(load(folder.path()).value()->kind(), "crossings");
  const auto refused = load_wires(folder.path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("a calibration of crossings"));
  std::ofstream(folder.path() / "model.json") << wires_document();
  EXPECT_EQ(load(folder.path()).value()->kind(), "wires");
  EXPECT_EQ(load(folder.path() / "crossing.json").value()->kind(), "crossings");
}

TEST(Kinds, RefuseOptionsThatTheyHaveNoUseFor) {
  const std::vector<std::string> voltage{"--model", "--voltage"};
  for (const json& document : {crossings_document(), package_document()}) {
    const auto refused = refuse_foreign(*of(document), Use::project, voltage);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_THAT(refused.error().message, HasSubstr("does not go with --voltage"));
  }
  EXPECT_TRUE(refuse_foreign(*of(wires_document()), Use::project, voltage));
  const std::vector<std::string> moved{"--moved"};
  EXPECT_FALSE(refuse_foreign(*of(wires_document()), Use::project, moved));
}

TEST(Kinds, PriceTheLinksThatTheyMeasured) {
  const auto wires = of(wires_document())->link_constants().value();
  EXPECT_EQ(wires.fj_per_mm->random.value, 200);
  EXPECT_FALSE(wires.pj_per_crossing);
  const auto crossings = of(crossings_document())->link_constants().value();
  EXPECT_EQ(crossings.pj_per_crossing->zero->value, 0.4);
  EXPECT_FALSE(crossings.fj_per_mm);
  EXPECT_EQ(of(package_document())->link_constants().value().pj_per_hop->row.value, 1.0);
  json without = package_document();
  without["hop_classes"][1]["status"] = "rejected";
  EXPECT_EQ(of(without)->link_constants().error().code, ErrorCode::unsupported);
}

TEST(WiresCalibration, PricesBytesByMillimetre) {
  const auto answer = of(wires_document())->estimate(traffic_of("gfx701"), {}).value();
  const json& l1_l2 = answer.json["total"]["segments"][1];
  EXPECT_EQ(l1_l2["status"], "ok");
  EXPECT_GT(l1_l2["energy_j"]["value"].get<double>(), 0);
  EXPECT_FALSE(answer.lacking);
  EXPECT_THAT(answer_text(answer), HasSubstr("energy per bit and mm: 200 fJ (180..220)"));
  // Not of another part.
  EstimateRequest request;
  request.part = "gfx701";
  EXPECT_EQ(of(wires_document())->estimate(traffic_of("gfx90a"), request).error().code,
            ErrorCode::invalid_argument);
}

TEST(WiresCalibration, GoesToAnotherNodeAndVoltage) {
  ProjectRequest request;
  request.node_nm = 28;
  request.card_node_nm = 28;
  request.voltage_v = 0.5;
  const auto answer = of(wires_document())->project(request).value();
  bool published = false;
  for (const json& node : answer.json["node"]) {
    if (node["status"] != "published") continue;
    published = true;
    EXPECT_NEAR(node["energy_fj_per_bit_mm"].get<double>(), 200, 1e-9);
  }
  EXPECT_TRUE(published);
  EXPECT_NEAR(answer.json["dvfs"]["energy_factor"].get<double>(), 0.25, 1e-9);
  request.voltage_v = 900;
  EXPECT_EQ(of(wires_document())->project(request).error().code, ErrorCode::out_of_range);
}

TEST(WiresCalibration, IsScoredByTheNamesOfItsConstants) {
  Revealed truth;
  truth.figures = {{"energy_fj_per_bit_mm", 250, 205, "fJ/bit/mm"}, {"unknown", 1, 1, ""}};
  const auto score = of(wires_document())->score(truth).value().json;
  EXPECT_EQ(score["truth_fj_per_bit_mm"], 250);
  EXPECT_EQ(score["covered"], false);
  EXPECT_EQ(score["covered_sensed"], true);
  EXPECT_NEAR(score["error_percent"].get<double>(), -20, 1e-9);
  ASSERT_EQ(score["constants"].size(), 1U);
  EXPECT_EQ(score["constants"][0]["covered_sensed"], true);
}

TEST(WiresCalibration, IsRefusedOrMarkedWhereItsFitWasFlagged) {
  json flagged = wires_document();
  flagged["energy_fj_per_bit_mm"]["status"] = "misfit";
  flagged["energy_fj_per_bit_mm"]["reason"] = "the data contradict it";
  EXPECT_EQ(parse(flagged, "a file", Admission::refuse_flagged).error().code, ErrorCode::bad_data);
  const auto marked = of(flagged, Admission::mark_flagged);
  EXPECT_EQ(marked->provenance().misfit, "the data contradict it");
  const auto answer = marked->estimate(traffic_of("gfx701"), {}).value();
  EXPECT_EQ(answer.json["total"]["status"], "misfit");
  EXPECT_THAT(answer_text(answer), HasSubstr("MISFIT: rely on no figure"));
}

TEST(WiresCalibration, WithoutAFigureCanBeShownAndNotUsed) {
  json unknown = wires_document();
  unknown["energy_fj_per_bit_mm"]["status"] = "not_identified";
  EXPECT_FALSE(parse(unknown, "a file", Admission::refuse_flagged));
  const auto shown = of(unknown, Admission::any);
  EXPECT_EQ(shown->figures().size(), 1U);
  EXPECT_EQ(shown->wires(), nullptr);
  EXPECT_EQ(shown->estimate(traffic_of("gfx701"), {}).error().code, ErrorCode::bad_data);
}

TEST(CrossingsCalibration, PricesWhatTheFabricCounted) {
  Traffic traffic = traffic_of("sm_80");
  traffic.crossings["copy"].bytes = 160e6;
  EstimateRequest request;
  request.toggle_rate = 0.5;
  const auto answer = of(crossings_document())->estimate(traffic, request).value();
  EXPECT_NEAR(answer.json["total"]["energy_j"]["value"].get<double>(), 1.28e-3, 1e-6);
  EXPECT_EQ(answer.json["total"]["status"], "ok");
  request.toggle_rate = 1.5;
  EXPECT_EQ(of(crossings_document())->estimate(traffic, request).error().code,
            ErrorCode::out_of_range);
  // Traffic of another part is refused, or marked.
  request.toggle_rate = 0.5;
  request.part = "sm_90";
  EXPECT_FALSE(of(crossings_document())->estimate(traffic, request));
  request.anyway = true;
  EXPECT_EQ(of(crossings_document())->estimate(traffic, request).value().json["status"],
            "transferred");
}

TEST(CrossingsCalibration, ProjectsWhatMovingThemSaves) {
  ProjectRequest request;
  request.moved_percent = {20};
  const json without = of(crossings_document())->project(request).value().json;
  ASSERT_EQ(without["moved"].size(), 1U);
  EXPECT_NEAR(without["moved"][0]["saved_pj_per_bit_that_crosses"]["value"].get<double>(), 0.2,
              1e-9);
  EXPECT_FALSE(without["moved"][0].contains("saved_j"));
  EXPECT_EQ(without["node"][0]["status"], "unavailable");
  request.traffic = traffic_of("sm_80");
  request.traffic->crossings["copy"].bytes = 160e6;
  request.estimate.toggle_rate = 0.5;
  request.card_node_nm = 7;
  const json with = of(crossings_document())->project(request).value().json;
  EXPECT_NEAR(with["moved"][0]["saved_j"]["value"].get<double>(), 0.2 * 1.28e-3, 1e-7);
  EXPECT_NEAR(with["node"][0]["energy_pj_per_bit_crossing"]["value"].get<double>(), 1.0, 1e-9);
  request.crossing_mm = 10;
  EXPECT_FALSE(of(crossings_document())->project(request));  // without a source
}

TEST(PackageCalibration, PricesTheWaysThatMonitorsCounted) {
  Traffic traffic = traffic_of("gfx942");
  traffic.io_dies["copy"] = {.own = 4e8, .row = 3e8, .column = 2e8, .across = 1e8, .memory = 5e8};
  EstimateRequest request;
  request.options.data = model::random_words_at_rate(0.5);
  const auto answer = of(package_document())->estimate(traffic, request).value();
  EXPECT_EQ(answer.json["kind"], "chiplet");
  const json& ways = answer.json["ways"]["total"]["hop_classes"];
  EXPECT_NEAR(ways[1]["energy_j"]["value"].get<double>(), 8 * 3e8 * 1e-12, 1e-12);
  // The wires of the dies are the literature's.
  EXPECT_EQ(answer.json["constant"]["literature"], true);
  EXPECT_THAT(answer_text(answer), HasSubstr("wires of the compute dies"));
}

TEST(PackageCalibration, ProjectsPagesAndHitsAndRefusesNodes) {
  ProjectRequest request;
  request.moved_percent = {50};
  const json bit = of(package_document())->project(request).value().json;
  EXPECT_EQ(bit["near_pages"][0]["status"], "assumed");
  EXPECT_NEAR(bit["near_pages"][0]["saved_pj_per_bit"]["value"].get<double>(), 0.5 * 0.25 * 3,
              1e-9);
  EXPECT_FALSE(bit.contains("cache_hits"));
  EXPECT_EQ(bit["not_projected"][0]["status"], "unsupported");
  request.traffic = traffic_of("gfx942");
  const json unseen = of(package_document())->project(request).value().json;
  EXPECT_EQ(unseen["near_pages"][0]["status"], "transferred");
  EXPECT_TRUE(unseen["cache_hits"][0]["saved_j"].is_null());
  EXPECT_GT(unseen["cache_hits"][0]["upper_j"].get<double>(), 0);
}

TEST(PackageCalibration, IsScoredByItsWays) {
  Revealed truth;
  truth.figures = {{"row_hop", 1.05, 0.98, ""}, {"xgmi", 1, 1, ""}};
  const json score = of(package_document())->score(truth).value().json;
  ASSERT_EQ(score["ways"].size(), 1U);
  EXPECT_EQ(score["ways"][0]["covered"], true);
  EXPECT_TRUE(score["ways"][0]["covered_sensed"].is_null());
  EXPECT_NEAR(score["ways"][0]["error_sensed_percent"].get<double>(), 100 * (1 / 0.98 - 1), 1e-9);
}

// The rows that a live view and a metered run show: they make room for them before there is
// traffic.
TEST(Priced, HasTheRowsOfEveryKindThatItsEstimateHas) {
  const std::vector<std::pair<json, const char*>> kinds{{wires_document(), "gfx701"},
                                                        {crossings_document(), "sm_80"},
                                                        {package_document(), "gfx942"},
                                                        {ladder_document(), "gfx701"}};
  for (const auto& [document, part] : kinds) {
    const auto calibration = of(document);
    const Traffic traffic = traffic_of(part);
    EstimateRequest request;
    request.part = part;
    const auto priced = price(*calibration, traffic, request);
    ASSERT_TRUE(priced) << calibration->kind() << ": " << priced.error().text();
    std::vector<std::string> names;
    for (const PricedRow& row : priced->rows) names.push_back(row.name);
    EXPECT_EQ(names, calibration->priced_rows()) << calibration->kind();
    std::vector<PricedRow> rows = priced->rows;
    rows.push_back(priced->together);  // of a package only where each way has a figure
    int figures = 0;
    for (const PricedRow& row : rows) {
      if (!row.energy_j) continue;
      ++figures;
      ASSERT_TRUE(row.power_w) << calibration->kind() << ", " << row.name;
      EXPECT_NEAR(row.power_w->value, row.energy_j->value / 1e-3, 1e-6 * row.power_w->value)
          << calibration->kind() << ", " << row.name;
    }
    EXPECT_GT(figures, 0) << calibration->kind();
    const Priced none = unpriced(*calibration, "idle", "");
    ASSERT_EQ(none.rows.size(), names.size());
    EXPECT_EQ(none.rows.front().name, names.front());
    EXPECT_EQ(none.rows.front().status, "idle");
    EXPECT_FALSE(none.rows.front().energy_j);
  }
}

TEST(Priced, OfALadderHasItsStepsAndSaysWhatIsLeftOut) {
  const auto ladder = of(ladder_document());
  Traffic traffic = traffic_of("gfx701");
  EstimateRequest request;
  request.part = "gfx701";
  request.toggle_rate = 0.5;
  const Priced whole = price(*ladder, traffic, request).value();
  EXPECT_NEAR(whole.rows.at(2).energy_j->value, 8 * 1e9 * 9e-12, 1e-4);
  EXPECT_EQ(whole.together.status, "");
  traffic.kernels[0].segments[2].bytes.reset();
  traffic.kernels[0].time_s.reset();
  const Priced part = price(*ladder, traffic, request).value();
  EXPECT_EQ(part.together.status, "partly");
  EXPECT_FALSE(part.rows.at(2).energy_j);
  EXPECT_FALSE(part.together.power_w);
}

}  // namespace
}  // namespace ww::calibration
