#include "ww/report/latency_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "drawing/svg_writer.hpp"

namespace ww::report {
namespace {

constexpr double kCut = 5;  // times the least latency

struct CurveRange {
  double rate{};     // 0 to
  double latency{};  // 0 to
  double energy{};   // pJ a flit, 0 to
};

// A round number of at least `value`, of which a fifth is round, too.
double round_up(double value) {
  if (!(value > 0)) return 1;
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5}) {
    if (value <= step * decade) return step * decade;
  }
  return 10 * decade;
}

double energy_of(const sim::net::CurvePoint& point) {
  return sim::net::energy_pj_per_flit(point.run, point.energy);
}

CurveRange range_of(std::span<const NamedCurve> curves) {
  double least = 0;
  double fastest = 0.1;
  double dearest = 0;
  for (const NamedCurve& curve : curves) {
    for (const sim::net::CurvePoint& point : curve.points) {
      if (point.run.stable) {
        fastest = std::max(fastest, point.rate);
        dearest = std::max(dearest, energy_of(point));
        least = least == 0 ? point.run.avg_packet_latency
                           : std::min(least, point.run.avg_packet_latency);
      }
    }
  }
  return {std::min(1.0, std::ceil(fastest * 10 + 0.5) / 10),
          std::ceil(std::max(least, 1.0) * kCut / 25) * 25, round_up(dearest)};
}

// Okabe and Ito's colours, distinguished by nearly everyone, and dashes for those who print.
constexpr std::array kCurveColours{"#0072b2", "#d55e00", "#009e73",
                                   "#cc79a7", "#000000", "#e69f00"};
constexpr std::array kCurveDashes{"", "7 3", "2 3", "9 3 2 3", "4 4", "1 2"};
constexpr double kAxesLeft = 64, kAxesTop = 40, kAxesWidth = 500, kAxesHeight = 320,
                 kAxesPitch = 380;

// One of the pictures that stand above each other, with a curve for each network.
struct CurvePanel {
  double top{};
  double highest{};  // of the axis
  std::string label;
  double (*value)(const sim::net::CurvePoint&);
};

void draw(SvgWriter& svg, const CurvePanel& panel, double most_rate,
          std::span<const NamedCurve> curves) {
  const double foot = panel.top + kAxesHeight;
  const auto x = [&](double rate) { return kAxesLeft + kAxesWidth * rate / most_rate; };
  const auto y = [&](double value) {
    return panel.top + kAxesHeight * (1 - std::min(value, panel.highest) / panel.highest);
  };
  const int columns = static_cast<int>(std::lround(most_rate * 10));
  for (int i = 0; i <= columns; ++i) {
    svg.add(
        "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:.1f}</text>",
        x(i / 10.0), panel.top, foot, foot + 18, i / 10.0);
  }
  for (int i = 0; i <= 5; ++i) {
    const double value = panel.highest * i / 5;
    svg.add(
        "<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>",
        kAxesLeft, y(value), kAxesLeft + kAxesWidth, kAxesLeft - 6, y(value) + 4, value);
  }
  svg.add(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">offered load [flits per node and "
      "cycle]</text>\n<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">"
      "{}</text>",
      kAxesLeft + kAxesWidth / 2, foot + 40, panel.top + kAxesHeight / 2, panel.label);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const char* colour = kCurveColours[c % kCurveColours.size()];
    std::string path;
    double last_x = 0;
    double last_y = 0;
    for (const sim::net::CurvePoint& point : curves[c].points) {
      if (!point.run.stable) {
        break;
      }
      last_x = x(point.rate);
      last_y = y(panel.value(point));
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", last_x, last_y);
    }
    if (path.empty()) {
      continue;
    }
    const double row = panel.top + 20 + 22 * static_cast<double>(c);
    svg.add(
        "<path d=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{2}\"/>\n"
        "<path d=\"M{3:.1f} {4:.1f}v-10\" stroke=\"{1}\" stroke-width=\"3\"/>\n"
        "<path d=\"M{5:.1f} {6:.1f}h26\" stroke=\"{1}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{2}\"/>\n"
        "<text x=\"{7:.1f}\" y=\"{8:.1f}\">{9}</text>",
        path, colour, kCurveDashes[c % kCurveDashes.size()], last_x, last_y + 5,
        kAxesLeft + kAxesWidth + 12, row, kAxesLeft + kAxesWidth + 44, row + 4, curves[c].name);
  }
}

}  // namespace

std::string curves_svg(const std::string& title, std::span<const NamedCurve> curves) {
  const CurveRange range = range_of(curves);
  SvgWriter svg({0, 0, 720, 800, title,
                 "Packet latency and energy a flit against offered load, a curve a network.",
                 R"(font-family="sans-serif" font-size="12")"});
  svg.add(R"(<rect width="720" height="800" fill="#fff"/>)");
  svg.add(R"(<text x="{}" y="24" font-size="15">{}</text>)", kAxesLeft, title);
  draw(svg,
       {kAxesTop, range.latency, "packet latency [cycles]",
        [](const sim::net::CurvePoint& point) { return point.run.avg_packet_latency; }},
       range.rate, curves);
  draw(svg, {kAxesTop + kAxesPitch, range.energy, "energy [pJ a flit]", energy_of}, range.rate,
       curves);
  return svg.finish();
}

std::string curves_text(std::span<const NamedCurve> curves) {
  constexpr std::size_t kColumns = 72, kRows = 20;
  const CurveRange range = range_of(curves);
  std::vector<std::string> rows(kRows, std::string(kColumns, ' '));
  std::string legend;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const char letter = static_cast<char>('A' + c % 26);
    legend += fmt::format("  {} {}", letter, curves[c].name);
    for (const sim::net::CurvePoint& point : curves[c].points) {
      if (point.run.stable) {
        const double across = point.rate / range.rate * (kColumns - 1);
        const double up = std::min(point.run.avg_packet_latency / range.latency, 1.0) * (kRows - 1);
        rows[kRows - 1 - static_cast<std::size_t>(std::lround(up))]
            [static_cast<std::size_t>(std::lround(across))] = letter;
      }
    }
  }
  std::string text = fmt::format("packet latency [cycles], up to {:.0f}\n", range.latency);
  for (const std::string& row : rows) {
    text += "|" + row + "\n";
  }
  text += "+" + std::string(kColumns, '-') + "\n";
  text += fmt::format(" offered load [flits per node and cycle], up to {:.2g}\n{}\n", range.rate,
                      legend);
  return text;
}

}  // namespace ww::report
