#include "ww/report/report.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "testing/synthetic_campaign.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/model/fit.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/measured_paths.hpp"

namespace ww::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// A page as it is written, without its scripts and the SVG's name space, which is never fetched.
std::string without_scripts(std::string html) {
  const auto erase = [&html](std::string_view from, std::string_view to) {
    for (auto at = html.find(from); at != std::string::npos; at = html.find(from)) {
      html.erase(at, html.find(to, at) - at + to.size());
    }
  };
  erase("<script", "</script>");
  erase("http://www.w3.org/2000/svg", "g");
  return html;
}

class Report : public testing::Test {
 protected:
  void calibrate(const model::testing::SyntheticSpec& spec = {}) { record(make_campaign(spec)); }

  void record(model::testing::SyntheticCampaign campaign) {
    campaign.runs.back().status = RunStatus::rejected;
    campaign.runs.back().reason = "<b>too hot</b>";
    ASSERT_TRUE(write_campaign(campaign, folder_ / "campaign.db"));
    const auto store = CampaignStore::open_read_only(folder_ / "campaign.db");
    ASSERT_TRUE(store);
    const auto fit = model::fit_campaign(*store, {});
    ASSERT_TRUE(fit) << fit.error().text();
    ASSERT_TRUE(model::write_model(folder_ / "model.json", *fit));
  }

  std::string page() {
    const auto status = write_report(folder_, folder_ / "report.html");
    EXPECT_TRUE(status) << status.error().text();
    return read_file(folder_ / "report.html").value_or("");
  }

  ScratchFolder scratch_ = ScratchFolder::create("report").value();
  const std::filesystem::path& folder_ = scratch_.path();
};

TEST_F(Report, IsOnePageThatNeedsNothingElse) {
  calibrate();
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("VIRTUAL"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));  // a browser would refuse to fetch
  const std::string own = without_scripts(html);
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    EXPECT_THAT(own, Not(HasSubstr(outside)));
  }
  for (auto at = own.find("href="); at != std::string::npos; at = own.find("href=", at + 1)) {
    EXPECT_EQ(own.substr(at, 7), "href=\"#") << own.substr(at, 40);
  }
  EXPECT_LT(html.size(), 1'000'000U);
}

TEST_F(Report, AnswerWithItsIntervalComesFirst) {
  calibrate();
  const std::string html = page();
  const auto model = nlohmann::json::parse(*read_file(folder_ / "model.json"));
  char value[32];
  std::snprintf(value, sizeof value, "%.4g fJ/bit/mm",
                model["energy_fj_per_bit_mm"]["value"].get<double>());
  const auto answer = html.find(value);
  ASSERT_NE(answer, std::string::npos) << value;
  EXPECT_LT(answer, html.find("<svg"));
  EXPECT_LT(html.find("95% interval"), html.find("<svg"));
}

TEST_F(Report, SpeaksOfNanosecondsWhereDistancesAreTimes) {
  auto campaign = model::testing::make_campaign({});
  const std::string floorplan(campaign_keys::floorplan);
  const auto plan = model::parse_floorplan(campaign.facts.at(floorplan), "floorplan").value();
  model::MeasuredPaths paths;
  for (int engine = 0; engine < std::ssize(plan.compute_units); ++engine) {
    auto& row = paths.flight_ns.emplace_back();
    for (int quadrant = 0; quadrant < std::ssize(plan.quadrants); ++quadrant) {
      row.push_back(100 + 0.3 * plan.distance(engine, quadrant).value());
    }
  }
  for (const auto& quadrant : plan.quadrants) {
    paths.channels.push_back(static_cast<int>(quadrant.size()));
  }
  campaign.facts.erase(floorplan);
  campaign.facts[model::kPathsFact] = model::to_json(paths).dump();
  record(campaign);
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("fJ/bit/ns"));
  EXPECT_THAT(html, Not(HasSubstr("mm instead of")));
  EXPECT_THAT(html, HasSubstr("measured latencies"));
  EXPECT_THAT(html, HasSubstr("pair of engine and quadrant [ns]"));
}

TEST_F(Report, EveryPlotHasATitleAndADescriptionAndData) {
  calibrate();
  const std::string html = page();
  std::size_t plots = 0;
  for (auto at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1)) {
    ++plots;
    const std::string plot = html.substr(at, html.find("</svg>", at) - at);
    EXPECT_THAT(plot, HasSubstr("<title>"));
    EXPECT_THAT(plot, HasSubstr("<desc>"));
    EXPECT_THAT(plot, Not(HasSubstr("no data")));
    EXPECT_THAT(plot, Not(HasSubstr("nan")));
  }
  EXPECT_EQ(plots, 7U);  // six charts and the floorplan
}

TEST_F(Report, ShowsTheUncertaintyBudgetAtThreeLevels) {
  calibrate();
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("Uncertainty budget of the energy"));
  for (const char* text : {"positions in the floorplan", "68&nbsp;%", "95&nbsp;%", "99&nbsp;%"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
}

TEST_F(Report, RejectedRunsAreListedWithTheirReasonEscaped) {
  calibrate();
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;too hot&lt;/b&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("<b>too hot")));
}

TEST_F(Report, NotIdentifiedIsSaidInsteadOfANumber) {
  model::testing::SyntheticSpec spec;
  spec.same_distance = true;
  calibrate(spec);
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<p class=\"big\">not_identified</p>"));
  EXPECT_THAT(html, HasSubstr("no distance contrast"));
}

TEST_F(Report, ScoreIsShownWhereThereIsOne) {
  calibrate();
  ASSERT_TRUE(write_file_atomically(
      folder_ / "score.json",
      R"({"truth_fj_per_bit_mm": 199.5, "error_percent": 0.25, "error_sensed_percent": 0.1,
          "constants": [{"name": "energy_fj_per_bit_mm", "truth": 199.5, "fit": 200, "low": 190, "high": 210, "covered": true}]})"));
  EXPECT_THAT(page(), HasSubstr("Against the sealed truth"));
}

TEST_F(Report, MissingAndDamagedInputsAreErrorsAndLeaveNoPage) {
  EXPECT_EQ(write_report(folder_, folder_ / "report.html").error().code, ErrorCode::not_found);
  calibrate();
  for (
      const char* text :
      {"{", "[]", "{}",
       R"({"format": "wirewatt-model/1", "constants": [{"reason": 3}], "runs": "x", "plateaus": [{"used": "no"}]})"}) {
    ASSERT_TRUE(write_file_atomically(folder_ / "model.json", text));
    const auto status = write_report(folder_, folder_ / "report.html");
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().code, ErrorCode::parse_error) << text;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));
}

TEST_F(Report, ShowsACalibrationOfCrossingsWithItsControls) {
  const auto row = [](double value) {
    return nlohmann::json{
        {"status", "ok"}, {"value", value}, {"low", 0.9 * value}, {"high", 1.1 * value}};
  };
  nlohmann::json crossing = {
      {"device", "cuda:0"},
      {"virtual", false},
      {"energy_pj_per_bit_crossing", row(1.25)},
      {"zero_data_pj_per_bit_crossing", row(0.5)},
      {"data_part_pj_per_bit_crossing", row(0.75)},
      {"controls", {{{"name", "null pair"}, {"passed", false}, {"detail", "differ by <2 pJ"}}}},
      {"half_widths_pj_per_bit_crossing", {{"noise", 0.03}, {"gain", 0.06}}},
      {"near_bits_per_s", 2e12},
      {"far_bits_per_s", 1.5e12},
      {"near_w", 50.0},
      {"far_w", 61.25},
      {"greatest_rate_mismatch", 0.333},
      {"waits", 3},
      {"blocks", 4},
      {"runs", 84},
      {"rejected", 1}};
  const auto folder = folder_ / "crossing";
  std::filesystem::create_directories(folder);
  const auto page_of = [&] {
    std::ofstream(folder / "crossing.json") << crossing.dump();
    const auto written = write_report(folder, folder / "page.html");
    EXPECT_TRUE(written) << written.error().text();
    return read_file(folder / "page.html").value_or("");
  };
  const std::string page = page_of();
  EXPECT_NE(page.find("1.25 (1.125..1.375) pJ per bit and crossing"), std::string::npos);
  EXPECT_NE(page.find("FAILED"), std::string::npos);
  EXPECT_NE(page.find("differ by &lt;2 pJ"), std::string::npos);
  EXPECT_NE(page.find("61.25"), std::string::npos);
  EXPECT_NE(page.find("33.30"), std::string::npos);
  // Without a figure the reason comes first.
  crossing["energy_pj_per_bit_crossing"] = {
      {"status", "rejected"}, {"value", nullptr}, {"reason", "control 'null pair' failed"}};
  const std::string refused = page_of();
  EXPECT_NE(refused.find("No figure: rejected"), std::string::npos);
  EXPECT_NE(refused.find("null pair"), std::string::npos);
  // A damaged file is reported, and leaves no page.
  crossing.erase("controls");
  std::filesystem::remove(folder / "page.html");
  std::ofstream(folder / "crossing.json") << crossing.dump();
  const auto damaged = write_report(folder, folder / "page.html");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::parse_error);
  EXPECT_FALSE(std::filesystem::exists(folder / "page.html"));
}

}  // namespace
}  // namespace ww::report
