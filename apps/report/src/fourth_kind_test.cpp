// A kind of calibration that this program does not have: one class and one row of the table. It is
// loaded, estimated, projected, scored, priced and reported on like those of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/report/pages.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Links between two cards: energy per bit that leaves one.
class Cables final : public Calibration {
 public:
  explicit Cables(json document)
      : document_(std::move(document)), pj_(figure_of(document_["cable_pj"])) {
    pj_.name = "cable";
    pj_.unit = "pJ/bit";
    provenance_ = {document_["device"], "", "calibration of cables", true, "", ""};
  }
  [[nodiscard]] std::string_view kind() const override { return "cables"; }
  [[nodiscard]] std::string_view title() const override { return "a calibration of cables"; }
  [[nodiscard]] const Provenance& provenance() const override { return provenance_; }
  [[nodiscard]] std::vector<Figure> figures() const override { return {pj_}; }
  [[nodiscard]] Foreign foreign(Use) const override { return {kForeign, "has energy per cable"}; }
  [[nodiscard]] Result<Answer> estimate(const Traffic& traffic,
                                        const EstimateRequest&) const override {
    double bits = 0;
    for (const auto& kernel : traffic.kernels) bits += 8 * kernel.segments[2].bytes.value_or(0);
    Answer result = answer("energy_j", pj_.interval()->times(1e-12 * bits));
    result.priced = {{{"cable", "ok", "", pj_.interval()->times(1e-12 * bits), {}}}, {}};
    return result;
  }
  [[nodiscard]] std::vector<std::string> priced_rows() const override { return {"cable"}; }
  [[nodiscard]] Result<Answer> project(const ProjectRequest& request) const override {
    return answer("pj", pj_.interval()->times(request.node_nm / 7));
  }
  [[nodiscard]] Result<Answer> score(const Revealed& truth) const override {
    Answer result;
    result.json["covered"] = pj_.interval()->holds(truth.figures.front().truth);
    return result;
  }
  [[nodiscard]] Result<LinkConstants> link_constants() const override {
    LinkConstants links;
    links.pj_per_crossing = {*pj_.interval(), std::nullopt};
    return links;
  }
  [[nodiscard]] Page page() const override {
    return {
        "Cables", text(pj_), {}, {{"Energy", false, {{"A cable", {{"cable"}}, {{text(pj_)}}}}}}};
  }
  [[nodiscard]] const json& document() const override { return document_; }

 private:
  static constexpr std::array<std::string_view, 1> kForeign{"--voltage"};
  static Answer answer(const char* key, const Interval& figure) {
    Answer result;
    result.json[key] = interval_json(figure);
    result.text.emplace_back(fmt::format("{}: {}", key, interval_text(figure)));
    return result;
  }

  json document_;
  Figure pj_;
  Provenance provenance_;
};

Result<std::unique_ptr<Calibration>> parse_cables(json document, const std::string&, Admission) {
  return std::make_unique<Cables>(std::move(document));
}

Result<Fitted> fit_cables(const CampaignStore&, const FitRequest&) {
  Fitted fitted;
  fitted.file = "cables.json";
  fitted.identified = true;
  return fitted;
}

std::vector<Kind> with_cables() {
  std::vector<Kind> table(kinds().begin(), kinds().end());
  table.insert(
      table.begin(),
      {"cables", "cables.json", "cable_pj", "cables", "cables", {}, parse_cables, fit_cables});
  return table;
}

TEST(AFourthKind, IsAClassAndARow) {
  const auto table = with_cables();
  const ScratchFolder folder = ScratchFolder::create("cables").value();
  std::ofstream(folder.path() / "cables.json") << json{
      {"device", "virtual:two"}, {"cable_pj", {{"value", 2.0}, {"low", 1.5}, {"high", 3.0}}}};
  const auto calibration = load(folder.path(), Admission::refuse_flagged, table).value();
  EXPECT_EQ(calibration->kind(), "cables");

  Traffic traffic;
  traffic.kernels.resize(1);
  traffic.kernels[0].segments[2].bytes = 1e9;
  const Answer estimated = calibration->estimate(traffic, {}).value();
  EXPECT_NEAR(estimated.json["energy_j"]["value"].get<double>(), 0.016, 1e-9);
  EXPECT_EQ(answer_text(estimated), "energy_j: 0.016 (0.012..0.024)\n");
  EXPECT_EQ(unpriced(*calibration, "idle", "").rows.at(0).name, "cable");
  EXPECT_NEAR(price(*calibration, traffic, {}).value().rows.at(0).energy_j->value, 0.016, 1e-9);

  ProjectRequest request;
  request.node_nm = 14;
  EXPECT_EQ(calibration->project(request).value().json["pj"]["value"], 4.0);
  Revealed truth;
  truth.figures = {{"cable", 2.5, 2.5, "pJ/bit"}};
  EXPECT_EQ(calibration->score(truth).value().json["covered"], true);
  EXPECT_EQ(calibration->link_constants().value().pj_per_crossing->random.value, 2.0);
  EXPECT_FALSE(refuse_foreign(*calibration, Use::project, std::vector<std::string>{"--voltage"}));
  EXPECT_EQ(calibration->score_application(traffic, {}, {}).error().code, ErrorCode::unsupported);

  const auto page = folder.path() / "page.html";
  ASSERT_TRUE(report::write_calibration_page(*calibration, page));
  EXPECT_THAT(read_file(page).value(), HasSubstr("2 (1.5..3) pJ/bit"));

  // Its campaign's plan names it as well.
  auto campaign = CampaignStore::create((folder.path() / "campaign.db").string()).value();
  ASSERT_TRUE(campaign.put(campaign_keys::plan, R"({"method": "cables"})"));
  EXPECT_EQ(fit(campaign, {}, table).value().file, "cables.json");
}

}  // namespace
}  // namespace ww::calibration
