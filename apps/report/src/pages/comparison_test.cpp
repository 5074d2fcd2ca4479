#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "drawing/chart_data.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/report/report.hpp"

namespace ww::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Comparison : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const json& content) {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content.dump()));
    return folder_ / name;
  }
  static json simulation(const std::string& network, double rate, double latency) {
    return {{"network", network},
            {"traffic", "uniform"},
            {"rate", rate},
            {"avg_packet_latency", latency},
            {"energy_pj_per_flit", 10 * latency},
            {"stable", true},
            {"energy_pj", {{"link", 4e6}, {"total", 4e6}}}};
  }
  ScratchFolder scratch_ = ScratchFolder::create("comparison").value();
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(Comparison, GivesTheDifferenceOfEveryFigureThatBothHave) {
  const auto a = put("a.json", simulation("mesh", 0.1, 20));
  const auto b = put("b.json", simulation("mesh", 0.1, 25));
  ASSERT_TRUE(write_comparison(a, b, folder_ / "c.html"));
  const auto html = read_file(folder_ / "c.html").value();
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">+25.00</td>"));
  EXPECT_THAT(html, HasSubstr("<td>no interval</td>"));
}

TEST_F(Comparison, LeadsWithWhatChangedMostAndHasUnits) {
  const auto a = put("a.json", simulation("mesh", 0.1, 20));
  json other = simulation("mesh", 0.1, 25);
  other["energy_pj"]["link"] = 12e6;
  const auto b = put("b.json", other);
  ASSERT_TRUE(write_comparison(a, b, folder_ / "c.html"));
  const auto html = read_file(folder_ / "c.html").value();
  EXPECT_THAT(html,
              HasSubstr("<p class=\"big\">energy of link: 4e+06 to 1.2e+07 pJ (+200.00 %)</p>"));
  EXPECT_THAT(html, HasSubstr("<td>packet latency</td><td>cycles</td>"));
}

TEST_F(Comparison, AnIndexListsRunsInFoldersAndTheirDifferences) {
  std::filesystem::create_directory(folder_ / "below");
  put("a.json", simulation("mesh", 0.1, 20));
  put("below/b.json", simulation("torus", 0.1, 25));
  put("other.json", {{"no", "run"}});
  put("a.json.html", "the page of a.json");
  ASSERT_TRUE(write_index(folder_, folder_ / "index.html"));
  const auto html = read_file(folder_ / "index.html").value();
  EXPECT_THAT(html, HasSubstr("<p class=\"big\">2 runs</p>"));
  EXPECT_THAT(html, HasSubstr("<a href=\"a.json.html\">a.json</a>"));
  EXPECT_THAT(html, HasSubstr("<td>below/b.json</td>"));
  EXPECT_THAT(html, testing::AnyOf(HasSubstr("+25.00"), HasSubstr("-20.00")));
  EXPECT_THAT(html, Not(HasSubstr("other.json")));
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_EQ(write_index(folder_ / "empty", folder_ / "x.html").error().code, ErrorCode::not_found);
}

// Close to saturation latencies would flatten what differs below.
TEST_F(Comparison, CurvesFillEveryColumnAndEndNearFiveTimesTheLeastLatency) {
  const auto point = [](double rate, double latency) {
    return json{{"rate", rate},
                {"stable", true},
                {"avg_packet_latency", latency},
                {"p99_packet_latency", 2 * latency},
                {"accepted_flits_per_node_cycle", rate},
                {"energy_pj_per_flit", 100},
                {"energy_figures",
                 {{"energy", {{"value", 4e-6}, {"low", 3e-6}, {"high", 5e-6}, {"unit", "J"}}},
                  {"power", {{"value", 0.4}, {"low", 0.3}, {"high", 0.5}, {"unit", "W"}}},
                  {"wire_share", {{"value", 49}, {"low", 40}, {"high", 58}, {"unit", "%"}}}}}};
  };
  put("curve.json", {{"network", "mesh"},
                     {"traffic", "uniform"},
                     {"points", {point(0.1, 20), point(0.2, 22), point(0.3, 400)}}});
  ASSERT_TRUE(write_report(folder_ / "curve.json", folder_ / "curve.html"));
  const auto html = read_file(folder_ / "curve.html").value();
  EXPECT_THAT(html, HasSubstr("\"yMost\":100.0"));
  const auto table = html.substr(html.find("<caption class=\"same\">Every point"));
  const auto row = table.substr(table.find("<tbody>"), table.find("</tr>", table.find("<tbody>")));
  const auto first = row.substr(0, row.find("</tr>"));
  std::size_t cells = 0;
  for (auto at = first.find("<td"); at != std::string::npos; at = first.find("<td", at + 1))
    ++cells;
  EXPECT_EQ(cells, 11U) << first;
  EXPECT_THAT(first, HasSubstr("uJ"));
}

TEST_F(Comparison, DrawsAFigureOfAPaperAsLines) {
  const json line{{"name", "ours"},
                  {"points", {{{"x", 5.0}, {"y", 0.0}}, {{"x", 9.0}, {"y", 2.0}}}}};
  const json chart{{"title", "Fig. 5b: power"},
                   {"description", "d"},
                   {"x_label", "mm"},
                   {"y_label", "W"},
                   {"lines", {line}}};
  json empty = chart;
  empty["title"] = "Fig. 8: nothing";
  empty["lines"][0]["points"] = json::array();
  put("r.json", {{"paper", "p"}, {"rows", json::array()}, {"charts", {chart, empty}}});
  ASSERT_TRUE(write_report(folder_ / "r.json", folder_ / "r.html"));
  const auto html = read_file(folder_ / "r.html").value();
  EXPECT_THAT(html, HasSubstr("\"x\":[5.0,9.0],\"y\":[0.0,2.0]"));
  EXPECT_THAT(html, HasSubstr("<p>No data: the rows below say why.</p>"));
}

TEST_F(Comparison, FiguresOfAPageNeedNoStyleOfIt) {
  put("a.json", simulation("mesh", 0.1, 20));
  put("b.json", simulation("mesh", 0.2, 30));
  const auto files = write_figures(folder_, folder_ / "pictures");
  ASSERT_TRUE(files) << files.error().text();
  ASSERT_FALSE(files->empty());
  for (const auto& file : *files) {
    if (file.extension() != ".svg") continue;
    const auto svg = read_file(file).value();
    EXPECT_THAT(svg, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(svg, HasSubstr(".c1{ stroke: #0072b2; }"));
    EXPECT_THAT(svg, Not(HasSubstr("var(")));
    EXPECT_THAT(svg, HasSubstr(" width=\""));
  }
}

TEST_F(Comparison, RefusesRunsOfDifferentKinds) {
  const auto a = put("a.json", simulation("mesh", 0.1, 20));
  const auto b = put("b.json", {{"paper", "p"}, {"rows", json::array()}});
  const auto status = write_comparison(a, b, folder_ / "c.html");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "c.html"));
}

TEST_F(Comparison, SimulationsInAFolderBecomeOneSeries) {
  put("a.json", simulation("mesh", 0.1, 20));
  put("b.json", simulation("mesh", 0.2, 30));
  ASSERT_TRUE(write_report(folder_, folder_ / "series.html"));
  const auto html = read_file(folder_ / "series.html").value();
  EXPECT_THAT(html, HasSubstr("2 simulations"));
  EXPECT_THAT(html, HasSubstr("\"x\":[0.1,0.2],\"y\":[20.0,30.0]"));
}

TEST_F(Comparison, SaysOfSimulationsThatTheirCalibrationIsFlagged) {
  json flagged = simulation("mesh", 0.1, 20);
  flagged["status"] = "misfit";
  flagged["reason"] = "the far path is too cheap";
  const auto a = put("a.json", flagged);
  const auto b = put("b.json", simulation("mesh", 0.2, 30));
  const auto page_of = [&](const Status& written) {
    EXPECT_TRUE(written) << written.error().text();
    return read_file(folder_ / "page.html").value();
  };
  const auto flagged_run = HasSubstr("the far path is too cheap");
  EXPECT_THAT(page_of(write_report(a, folder_ / "page.html")), flagged_run);
  EXPECT_THAT(page_of(write_report(b, folder_ / "page.html")), Not(HasSubstr("misfit")));
  const auto series = page_of(write_report(folder_, folder_ / "page.html"));
  EXPECT_THAT(series, HasSubstr("a.json: the far path is too cheap"));
  EXPECT_THAT(series, HasSubstr(">200,&nbsp;misfit</td>"));
  EXPECT_THAT(series, HasSubstr(">300</td>"));
  const auto both = page_of(write_comparison(a, b, folder_ / "page.html"));
  EXPECT_THAT(both, flagged_run);
  EXPECT_THAT(both, HasSubstr("the first run is flagged"));
}

TEST_F(Comparison, ASimulationsPageHasItsAreaAndLongestPath) {
  json run = simulation("mesh", 0.1, 20);
  put("a.json", run);
  ASSERT_TRUE(write_report(folder_, folder_ / "page.html"));
  EXPECT_THAT(read_file(folder_ / "page.html").value(), testing::Not(HasSubstr("longest path")));
  run["area"] = {{"cells_mm2", 0.53},     {"routers", 16},    {"router_mm2", {{"total", 0.0326}}},
                 {"repeaters_mm2", 0.01}, {"wiring_mm2", 2},  {"router_path_ps", 231.4},
                 {"link_ps", 343.2},      {"clock_ps", 1000}, {"source", "DSENT Bulk22LVT"}};
  put("a.json", run);
  ASSERT_TRUE(write_report(folder_, folder_ / "page.html"));
  const auto html = read_file(folder_ / "page.html").value();
  EXPECT_THAT(html, HasSubstr("<td>longest path of a router</td><td class=\"n\">231.4</td>"));
  EXPECT_THAT(html, HasSubstr("DSENT Bulk22LVT"));
}

TEST_F(Comparison, SaysWhatAFolderWithoutARunLacks) {
  const auto status = write_report(folder_, folder_ / "x.html");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_THAT(status.error().text(), HasSubstr("calibrate"));
  put("b.json", {{"nothing", 1}});
  EXPECT_EQ(write_report(folder_, folder_ / "x.html").error().code, ErrorCode::parse_error);
}

TEST(ChartData, CannotEndItsScriptAndLeavesOutWhatIsNotFinite) {
  Plot plot;
  plot.title = "</script><b>";
  Series series;
  series.dots = {{1, 2, 0, {}}, {2, std::nan(""), 0, {}}, {3, 1.0 / 3, 0.5, {}}};
  plot.series = {series};
  const auto text = to_data(plot);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  const auto data = json::parse(text);
  EXPECT_EQ(data["title"], "</script><b>");
  EXPECT_EQ(data["series"][0]["y"], (json{2.0, 0.333333}));
  EXPECT_EQ(data["series"][0]["e"], (json{0.0, 0.5}));
}

}  // namespace
}  // namespace ww::report
