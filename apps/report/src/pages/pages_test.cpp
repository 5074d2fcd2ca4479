#include "ww/report/pages.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "drawing/bars.hpp"
#include "drawing/chart_data.hpp"
#include "drawing/svg.hpp"
#include "pages/embedded.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/report/number_text.hpp"
#include "ww/report/report.hpp"

namespace ww::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Bars, StackTheirPartsAndEscapeNames) {
  BarChart chart;
  chart.legend = {"one", "two"};
  chart.bars.push_back({"<kernel>", {1, 3}, std::pair{2.0, 5.0}, 4.0, ""});
  const auto svg = to_svg(chart);
  EXPECT_THAT(svg, HasSubstr("&lt;kernel&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<kernel>")));
  EXPECT_THAT(svg, HasSubstr("fill c1"));
  EXPECT_THAT(svg, HasSubstr("fill c2"));
}

TEST(Bars, SayThatThereIsNoData) {
  EXPECT_THAT(to_svg(BarChart{}), HasSubstr("no data"));
}

std::set<std::string> found_in(const std::string& text, const char* pattern) {
  std::set<std::string> names;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    names.insert((*it)[1]);
  }
  return names;
}

// A class of a drawing that the print style hides would take marks out of the printed chart alone.
TEST(Print, HidesNothingOfADrawing) {
  Plot plot;
  plot.series.push_back({"a", 1, {{0, 1, 0.5, ""}, {1, 2, 0.5, "hint"}}, true, 3, true});
  plot.bands.push_back({0, 1, 2});
  plot.zero_line = true;
  BarChart bars;
  bars.legend = {"one"};
  bars.mark_name = "paper";
  bars.bars.push_back({"kernel", {1}, std::pair{0.5, 2.0}, 1.5, ""});
  const std::string drawn = to_svg(plot) + to_svg(bars);
  std::set<std::string> classes;
  for (const auto& list : found_in(drawn, "class=\"([^\"]*)\"")) {
    for (const auto& name : found_in(list, "([A-Za-z0-9_-]+)")) classes.insert(name);
  }
  EXPECT_TRUE(classes.contains("error") && classes.contains("whisker"));
  const std::string style(embedded_text("page.css"));
  const std::string print = style.substr(style.find("@media print"));
  std::set<std::string> hidden;
  for (const auto& rule : found_in(print, "([^{}]*)\\{[^{}]*display: none")) {
    for (const auto& name : found_in(rule, "\\.([A-Za-z0-9_-]+)")) hidden.insert(name);
  }
  EXPECT_TRUE(hidden.contains("bar")) << "the buttons of a chart are not printed";
  for (const auto& name : classes) EXPECT_FALSE(hidden.contains(name)) << name;
}

TEST(Pages, RefuseWhatIsNoEstimate) {
  const auto folder = ScratchFolder::create("page").value();
  const auto file = folder.path() / "estimate.html";
  const auto status = write_estimate_page({{"total", 3}}, file);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::parse_error);
  EXPECT_FALSE(std::filesystem::exists(file));
}

// An estimate of one kernel, as `estimate --json` prints it.
nlohmann::json small_estimate() {
  const nlohmann::json figure = {{"value", 2.0}, {"low", 1.0}, {"high", 3.0}};
  auto segments = nlohmann::json::array();
  for (const char* name : {"registers_l1", "l1_l2", "l2_memory"}) {
    segments.push_back({{"segment", name},
                        {"bytes", 64.0},
                        {"toggle_rate", 0.3},
                        {"toggles", "measured"},
                        {"energy_j", figure},
                        {"power_w", figure},
                        {"status", "ok"},
                        {"reason", ""}});
  }
  const nlohmann::json kernel = {{"kernel", "add"},
                                 {"energy_j", figure},
                                 {"power_w", figure},
                                 {"left_out", ""},
                                 {"segments", segments}};
  return {{"device", "gpu:0"},
          {"virtual", false},
          {"total", kernel},
          {"kernels", {kernel}},
          {"constant", {{"fj_per_bit_mm", 200.0}, {"status", "ok"}}},
          {"interconnect_share_percent", nullptr},
          {"status", "ok"},
          {"reason", ""}};
}

std::string estimate_html(const nlohmann::json& estimate) {
  const auto folder = ScratchFolder::create("page").value();
  const auto file = folder.path() / "estimate.html";
  const auto status = write_estimate_page(estimate, file);
  EXPECT_TRUE(status) << status.error().text();
  return read_file(file).value_or("");
}

TEST(Pages, WriteBytesAndFiguresWithoutPowersOfTen) {
  auto estimate = small_estimate();
  auto& segment = estimate["kernels"][0]["segments"][1];
  segment["bytes"] = 3.1273e10;
  segment["bytes_at_least"] = true;
  segment["power_w"] = {{"value", 150.0}, {"low", 10.2}, {"high", 614.0}};
  estimate["files"] = {"profiles/pmc_perf.csv"};
  estimate["wirewatt_version"] = "1.2.3";
  const auto page = estimate_html(estimate);
  EXPECT_THAT(page,
              HasSubstr("<td>L1–L2</td><td class=\"n\">at&nbsp;least&nbsp;31.3&nbsp;GB</td>"));
  EXPECT_THAT(page, HasSubstr(">150 (10..610)</td>"));
  EXPECT_THAT(page, HasSubstr("<td>registers–L1</td><td class=\"n\">64&nbsp;B</td>"));
  EXPECT_THAT(page, HasSubstr("<td>counters from</td><td>profiles/pmc_perf.csv</td>"));
  EXPECT_THAT(page, HasSubstr("<td>wirewatt</td><td>1.2.3</td>"));
}

TEST(Pages, SayThatTheCalibrationBehindAnEstimateIsFlagged) {
  auto estimate = small_estimate();
  EXPECT_THAT(estimate_html(estimate), HasSubstr("2 W (1..3)</p>"));
  EXPECT_THAT(estimate_html(estimate), Not(HasSubstr("misfit")));
  estimate["status"] = estimate["constant"]["status"] = "misfit";
  estimate["reason"] = "the far path is too cheap";
  const auto flagged = estimate_html(estimate);
  EXPECT_THAT(flagged, HasSubstr("2 W (1..3), misfit</p>"));
  EXPECT_THAT(flagged,
              HasSubstr("the far path is too cheap. Do not rely on the figures of wires."));
}

TEST(Pages, SayThatAnEstimateIsFromLiterature) {
  auto estimate = small_estimate();
  EXPECT_THAT(estimate_html(estimate), Not(HasSubstr("LITERATURE")));
  estimate["notice"] = "The figures are from literature, not this device.";
  const auto page = estimate_html(estimate);
  const auto banner = page.find("<strong>LITERATURE.</strong> The figures are from literature");
  ASSERT_NE(banner, std::string::npos);
  EXPECT_LT(banner, page.find("class=\"answer\"")) << "above the figure";
}

TEST(Pages, GiveTheWholeNamesOfKernels) {
  auto estimate = small_estimate();
  const std::string head = "void benchmark_func<HIP_vector_type<float, 2u>, 256, 8u, ";
  const std::string tail = "u>(HIP_vector_type<float, 2u>*)";
  auto kernel = estimate["kernels"][0];
  estimate["kernels"] = nlohmann::json::array();
  for (const char* flops : {"1", "2"}) {
    kernel["kernel"] = fmt::format("{}{}{}", head, flops, tail);
    estimate["kernels"].push_back(kernel);
  }
  const auto page = estimate_html(estimate);
  for (const char* flops : {"1", "2"}) {
    const std::string name = escape(fmt::format("{}{}{}", head, flops, tail));
    EXPECT_THAT(page, HasSubstr("<td class=\"long\">" + name + "</td>"));
    EXPECT_THAT(page, HasSubstr("<g><title>" + name + "</title>"));
  }
  EXPECT_THAT(page, Not(HasSubstr(" #1<")));
}

// A run of `attribute --run --json`, in which the counters part only all wires together.
nlohmann::json attributed_run(const char* device) {
  const auto known = [](double value) {
    return nlohmann::json{
        {"value", value}, {"low", value - 1}, {"high", value + 1}, {"at_most", value + 1}};
  };
  const nlohmann::json unknown = {
      {"value", nullptr}, {"low", nullptr}, {"high", nullptr}, {"at_most", 7.5}};
  const auto row = [](const char* name, const char* part, const nlohmann::json& figure, bool sum) {
    return nlohmann::json{{"name", name},
                          {"part", part},
                          {"energy_j", figure},
                          {"power_w", figure},
                          {"sum", sum},
                          {"reason", ""},
                          {"status", figure["value"].is_null() ? "not_identified" : "ok"}};
  };
  return {{"run", "dct"},
          {"device", device},
          {"virtual", true},
          {"scatter", 0.01},
          {"measured_w", 60},
          {"fitted_w", 61},
          {"seconds", 1},
          {"parts",
           {row("static", "static", known(30), false), row("l1_l2", "wires", unknown, false),
            row("l2_memory", "wires", unknown, false), row("alu", "alu", unknown, false),
            row("wires, in all", "", known(25), true)}}};
}

std::string attribution_text(const nlohmann::json& run) {
  const auto folder = ScratchFolder::create("page");
  EXPECT_TRUE(folder) << folder.error().text();
  if (!folder) return "";
  EXPECT_TRUE(write_file_atomically(folder->path() / "run.json", run.dump()));
  const auto status = write_report(folder->path() / "run.json", folder->path() / "run.html");
  EXPECT_TRUE(status) << status.error().text();
  return read_file(folder->path() / "run.html").value_or("");
}

TEST(Pages, ColourTheWiresOfARunByWhatTheyDrew) {
  const auto text = attribution_text(attributed_run("virtual:w9100 (virtual)"));
  EXPECT_THAT(text, HasSubstr("VIRTUAL"));
  EXPECT_THAT(text, HasSubstr("Where the joules went"));
  EXPECT_THAT(text, HasSubstr("wire wire h8"));  // not parted: the colour of all wires
  EXPECT_THAT(text, HasSubstr("do not part the segments; all wires 25 J"));
  EXPECT_THAT(text, HasSubstr("at most 7.5 J"));  // alu
  EXPECT_LT(text.find(">static<"), text.find(">wires<")) << "the dearest part comes first";
  auto one = attributed_run("virtual:w9100 (virtual)");
  one["parts"][1] = one["parts"][4];
  one["parts"][1]["name"] =
      "l1_l2";  // has a figure of its own, so that the sum is no longer theirs
  EXPECT_THAT(attribution_text(one), HasSubstr("l2_memory: not identified, at most 7.5 J"));
  auto run = attributed_run("virtual:w9100 (virtual)");
  for (auto& row : run["parts"]) row["status"] = "not_identified";
  EXPECT_THAT(attribution_text(run), Not(HasSubstr("wire wire h")));
}

TEST(Pages, ShowARunOfADeviceWithoutFloorplanAsBars) {
  const auto text = attribution_text(attributed_run("virtual:random (virtual)"));
  EXPECT_THAT(text, HasSubstr("no published floorplan"));
  EXPECT_THAT(text, Not(HasSubstr("class=\"map")));
  EXPECT_THAT(text, Not(HasSubstr("</h2></section>"))) << "a heading with nothing below it";
  auto watts = attributed_run("");
  watts.erase("seconds");
  for (auto& row : watts["parts"]) row.erase("energy_j");
  const auto of_watts = attribution_text(watts);
  EXPECT_THAT(of_watts, HasSubstr("Where the energy of dct went<"));
  EXPECT_THAT(of_watts, Not(HasSubstr("Where the joules went")));
}

TEST(Pages, ShowEveryRowOfAReproduction) {
  const auto folder = ScratchFolder::create("page").value();
  const auto file = folder.path() / "reproduction.html";
  const nlohmann::json reproduction = {
      {"paper", "a paper"},
      {"device", "virtual:w9100"},
      {"virtual", true},
      {"charts",
       {{{"title", "Fig. 1"},
         {"description", "d"},
         {"unit", "%"},
         {"legend", {"x"}},
         {"bars", {{{"name", "b"}, {"parts", {2.5}}, {"mark", 3}}}}},
        {{"title", "Space"},
         {"description", "d"},
         {"x_label", "performance"},
         {"y_label", "ED2"},
         {"points",
          {{{"name", "best of both"}, {"x", 2}, {"y", 1}, {"front", true}},
           {{"name", "worse"}, {"x", 1}, {"y", 2}, {"front", false}}}}}}},
      {"summary",
       {{{"claim", "power is saved"},
         {"paper", "50 %"},
         {"ours", "20 %"},
         {"verdict", "40% of the paper's"}}}},
      {"rows",
       {{{"figure", "Fig. 1"},
         {"quantity", "q"},
         {"paper", nullptr},
         {"ours", 32768},
         {"unit", "%"},
         {"status", "picture"},
         {"note", "a picture alone"}}}}};
  ASSERT_TRUE(write_reproduction_page(reproduction, file));
  const auto text = read_file(file);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("VIRTUAL"));
  EXPECT_THAT(*text, HasSubstr("a picture alone"));
  EXPECT_THAT(*text, HasSubstr("power is saved"));
  EXPECT_THAT(*text, HasSubstr("40% of the paper"));
  EXPECT_THAT(*text, HasSubstr("32,768"));
  EXPECT_THAT(*text, HasSubstr("<svg"));
  EXPECT_THAT(*text, HasSubstr("best of both"));
  EXPECT_THAT(*text, HasSubstr("the front"));
}

TEST(NumberText, IsAsPeopleWriteIt) {
  EXPECT_EQ(number_text(32768), "32,768");
  EXPECT_EQ(number_text(-1234567), "-1,234,567");
  EXPECT_EQ(number_text(12), "12");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(12345.678), "12,346");
  EXPECT_EQ(number_text(-0.004246), "-0.004246");
  EXPECT_EQ(number_text(293.71, 3), "294");
  EXPECT_EQ(number_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(number_text(0.0 / 0.0), "-");
}

TEST(ReproductionPage, ShowsOutputPicturesInItself) {
  const auto scratch = ScratchFolder::create("page").value();
  const auto& folder = scratch.path();
  ASSERT_TRUE(write_file_atomically(folder / "exact.png", std::string("PNG!")));
  nlohmann::json reproduction{{"paper", "P"},
                              {"device", "virtual:x"},
                              {"rows", nlohmann::json::array()},
                              {"inconsistencies", {"two figures for one thing"}},
                              {"builds", {"0.1.0+one", "0.1.0+other"}},
                              {"pictures", {{{"variant", "exact"}, {"file", "exact.png"}}}}};
  ASSERT_TRUE(write_reproduction_page(reproduction, folder / "page.html"));
  const auto text = read_file(folder / "page.html");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("data:image/png;base64,UE5HIQ=="));
  EXPECT_THAT(*text, HasSubstr("two figures for one thing"));
  EXPECT_THAT(*text, HasSubstr("several builds"));
  EXPECT_THAT(*text, HasSubstr("0.1.0+one, 0.1.0+other"));
  reproduction["pictures"][0]["file"] = "missing.png";
  EXPECT_FALSE(write_reproduction_page(reproduction, folder / "page.html"));
}

}  // namespace
}  // namespace ww::report
