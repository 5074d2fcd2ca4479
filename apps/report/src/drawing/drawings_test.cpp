#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "drawing/bars.hpp"
#include "drawing/package_map.hpp"
#include "drawing/svg_writer.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/report/latency_curves.hpp"
#include "ww/report/topology_picture.hpp"

namespace ww::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(SvgWriter, EscapesTextsAndLeavesNumbers) {
  const std::string name = "<b> & \"c\"";
  SvgWriter svg({0, 0, 10, 20, name, "d", R"(class="map")"});
  svg.add(R"(<text x="{:.1f}" class="c{}">{}</text>)", 1.25, 3, name);
  const std::string text = svg.finish();
  EXPECT_THAT(text, HasSubstr(R"(viewBox="0 0 10 20")"));
  EXPECT_THAT(text, HasSubstr(R"( class="map">)"));
  EXPECT_THAT(text, HasSubstr("<title>&lt;b&gt; &amp; &quot;c&quot;</title><desc>d</desc>"));
  EXPECT_THAT(text, HasSubstr(R"(class="c3">&lt;b&gt; &amp;)"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  EXPECT_THAT(text, EndsWith("</svg>\n"));
}

std::vector<NamedCurve> rising_curve() {
  NamedCurve curve{"mesh <XY>", {}};
  for (const double rate : {0.1, 0.3, 0.5}) {
    sim::net::CurvePoint point;
    point.rate = rate;
    point.run.stable = rate < 0.5;
    point.run.avg_packet_latency = 20 + 100 * rate;
    point.run.window.ejected_flits = 100;
    point.energy.link = Picojoule(1000 * rate);  // 1 and 3 pJ a flit
    curve.points.push_back(point);
  }
  return {curve};
}

TEST(LatencyCurves, EndWhereTheNetworkNoLongerKeepsUp) {
  const std::string svg = curves_svg("Latency", rising_curve());
  EXPECT_THAT(svg, HasSubstr("mesh &lt;XY&gt;"));
  // Through the two stable points alone.
  const std::regex curve(R"re(d="M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)" fill="none")re");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, curve)) << svg;
  // Returns the column at which the axis has this rate.
  const auto column = [&](const char* rate) {
    std::smatch label;
    const std::regex text(std::string(R"re(<text x="([0-9.]+)"[^>]*>)re") + rate + "</text>");
    return std::regex_search(svg, label, text) ? std::stod(label[1]) : -1;
  };
  EXPECT_NEAR(std::stod(found[1]), column("0.1"), 0.1);
  EXPECT_NEAR(std::stod(found[3]), column("0.3"), 0.1);
  EXPECT_GT(std::stod(found[2]), std::stod(found[4])) << "more latency is higher up";
}

TEST(LatencyCurves, HaveTheEnergyAFlitBelow) {
  const std::string svg = curves_svg("Latency", rising_curve());
  EXPECT_THAT(svg, HasSubstr("energy [pJ a flit]"));
  // 1 and 3 of 3 pJ, on an axis from 740 up to 420.
  EXPECT_THAT(svg, HasSubstr("d=\"M189.0 633.3L439.0 420.0"));
}

TEST(LatencyCurves, StandUnderALetterOnATerminal) {
  const std::string text = curves_text(rising_curve());
  EXPECT_THAT(text, HasSubstr("  A mesh <XY>"));
}

microbench::Topology two_engines() {
  microbench::Topology topology;
  topology.device = "virtual:<w>";
  topology.is_virtual = true;
  topology.places = {{0, 0, 0}, {1, 0, 1}};
  topology.latency.found = true;
  topology.latency.ticks = {{100, 130}, {120, 110}};
  topology.latency.nearest_place = {0, 1};
  return topology;
}

TEST(TopologyPicture, SaysVirtualAndMarksTheNearestEngine) {
  const std::string text = topology_picture(two_engines());
  EXPECT_THAT(text, HasSubstr("virtual:<w> (virtual)"));
  EXPECT_THAT(text, HasSubstr("engine 0  0.0* 30.0 "));
  EXPECT_THAT(text, HasSubstr("near engine 1: channels 1"));
}

TEST(TopologyPicture, ListsTheMultiprocessorsOfASide) {
  auto topology = two_engines();
  for (int sm = 2; sm < 8; ++sm) {
    topology.places.push_back({sm, 0, static_cast<std::uint32_t>(sm)});
  }
  microbench::Sides sides;
  sides.found = true;
  sides.side_of_place = {0, 0, 1, 1, 0, 0, 1, 1};
  topology.sides = sides;
  EXPECT_THAT(topology_picture(topology), HasSubstr("side 1    SMs 2-3, 6-7"));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

TEST(PackageMap, DrawsEveryDieAndColoursTheWaysByTheirFigures) {
  const std::string svg = package_map(
      {.compute_die = 0.5, .row = 0.6, .column = 0.7, .across = {}, .phy = 0.5, .memory = 2.9},
      "energy", "pJ");
  EXPECT_EQ(times(svg, "<title>I/O die</title>"), 4);
  EXPECT_EQ(times(svg, "<title>compute die</title>"), 8);
  EXPECT_EQ(times(svg, "class=\"cell h8\" x"), 9);  // the stacks and the scale's last step
  EXPECT_EQ(times(svg, "<title>memory stack: 2.9 pJ</title>"), 8);
  EXPECT_EQ(times(svg, "<title>link along a row: 0.6 pJ</title>"), 2);
  EXPECT_EQ(times(svg, "<title>link along a column: 0.7 pJ</title>"), 2);
  EXPECT_EQ(times(svg, "<title>across, over two links: not identified</title>"), 2);
}

// An interval that is cut at the edge would look like a narrower one.
TEST(Bars, DrawTheWholeIntervalHoweverWide) {
  BarChart chart;
  chart.legend = {"all"};
  chart.unit = "W";
  for (const double high : {50.0, 100.0}) {
    Bar bar;
    bar.name = "one";
    bar.parts = {1.0};
    bar.interval = {0.5, high};
    chart.bars.push_back(std::move(bar));
  }
  const std::string svg = to_svg(chart);
  EXPECT_EQ(times(svg, "class=\"whisker\" x1="), 2);
  EXPECT_THAT(svg, HasSubstr("x2=\"790.0\""));  // 100 W: the axis' end
  EXPECT_THAT(svg, HasSubstr("x2=\"425.0\""));  // 50 W: its middle
}

TEST(TopologySvg, ShadesNearCellsDarkerAndEscapesTheName) {
  const std::string svg = topology_svg(two_engines());
  EXPECT_THAT(svg, HasSubstr("virtual:&lt;w&gt; (virtual): latency"));
  EXPECT_THAT(svg, HasSubstr("fill=\"rgb(60,60,255)\"><title>100.0 ticks"));
  EXPECT_THAT(svg, HasSubstr("fill=\"rgb(240,240,255)\"><title>130.0 ticks"));
}

TEST(TopologySvg, DrawsTheDieWithItsScaleAndChannelNumbers) {
  const auto topology = two_engines();
  model::Floorplan plan;
  plan.name = "small & square";
  plan.estimated = true;
  plan.width = Millimetre{12};
  plan.height = Millimetre{6};
  plan.compute_units = {{{2, 3}, {4, 3}}, {{9, 3}}};
  for (std::size_t c = 0; c < topology.latency.nearest_place.size(); ++c) {
    plan.l2_channels.push_back({1.0 + static_cast<double>(c), 5});
  }
  plan.memory_controllers = {{0, 5}};
  const std::string svg = topology_svg(topology, &plan);
  EXPECT_THAT(svg, HasSubstr("die of small &amp; square, 12.0 by 6.0 mm, positions estimated"));
  EXPECT_THAT(svg, HasSubstr(">2 mm</text>"));
  EXPECT_EQ(times(svg, "<title>L2 channel "), static_cast<int>(plan.l2_channels.size()));
  EXPECT_EQ(times(svg, "is its nearest</title>"), static_cast<int>(plan.l2_channels.size()));
  // Another part's floorplan has no such lines, and says why.
  plan.l2_channels.pop_back();
  const std::string other = topology_svg(topology, &plan);
  EXPECT_EQ(times(other, "is its nearest</title>"), 0);
  EXPECT_THAT(other, HasSubstr("the device has another number of them"));
}

TEST(TopologySvg, GivesTheReasonWhereLatencyWasNotFound) {
  auto topology = two_engines();
  topology.latency.found = false;
  topology.latency.reason = "no contrast & no noise";
  const std::string svg = topology_svg(topology);
  EXPECT_THAT(svg, HasSubstr("latency not found: no contrast &amp; no noise"));
  EXPECT_THAT(svg, Not(HasSubstr("<rect")));
}

}  // namespace
}  // namespace ww::report
