#include "drawing/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drawing/svg.hpp"
#include "drawing/svg_writer.hpp"

namespace ww::report {
namespace {

constexpr double kBarsWidth = 860;
constexpr double kBarsRight = 70;
constexpr double kBarsRow = 24;
constexpr double kBarHeight = 14;
constexpr double kBarsHead = 34;  // with one row of the legend
constexpr std::size_t kBarsLetters = 40;

double sane(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

std::string to_svg(const BarChart& chart) {
  double left = 60;
  for (const Bar& entry : chart.bars) {
    left = std::max(left, text_width(shortened(entry.name, kBarsLetters)) + 22);
  }
  auto names = chart.legend;
  if (!chart.mark_name.empty()) names.push_back(chart.mark_name);
  const auto keys = place_keys(names, left, kBarsWidth);
  const double top = kBarsHead + (keys.empty() ? 0 : kKeyRow * keys.back().row);
  const double height =
      top + kBarsRow * static_cast<double>(std::max<std::size_t>(1, chart.bars.size())) + 34;
  SvgWriter svg({0, 0, kBarsWidth, std::round(height), chart.title, chart.description});
  double most = 0;
  for (const Bar& entry : chart.bars) {
    double sum = 0;
    for (const double part : entry.parts) sum += sane(part);
    most = std::max(most, sum);
    if (entry.interval) most = std::max(most, sane(entry.interval->second));
    if (entry.mark) most = std::max(most, sane(*entry.mark));
  }
  if (chart.bars.empty() || most <= 0) {
    svg.add("<text x=\"{}\" y=\"{}\">no data</text>", kBarsWidth / 2, height / 2);
    return svg.finish();
  }
  const auto x = [&](double value) {
    return left + sane(value) / most * (kBarsWidth - left - kBarsRight);
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double y = 8 + kKeyRow * keys[i].row;
    if (i < chart.legend.size()) {
      svg.add("<rect class=\"fill c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\"/>",
              i % 8 + 1, keys[i].x, y);
    } else {
      svg.add(
          "<line class=\"whisker\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" "
          "y2=\"{2:.1f}\" stroke-dasharray=\"3 2\"/>",
          keys[i].x + 5, y - 2, y + 12);
    }
    svg.add("<text class=\"key\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", keys[i].x + 14, y + 9,
            names[i]);
  }
  const double foot = height - 26;
  for (const double tick : ticks(0, most, 6)) {
    svg.add(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g}</text>",
        x(tick), top - 6, foot, foot + 14, tick);
  }
  svg.add("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kBarsWidth - kBarsRight + 14, foot + 14,
          chart.unit);
  double y = top;
  for (const Bar& entry : chart.bars) {
    svg.add(
        "<g><title>{}</title><text class=\"key\" x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        entry.hint.empty() ? entry.name : entry.hint, left - 8, y + 11.5,
        shortened(entry.name, kBarsLetters));
    double from = 0;
    for (std::size_t i = 0; i < entry.parts.size(); ++i) {
      const double to = from + sane(entry.parts[i]);
      svg.add(
          "<rect class=\"fill c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{}\"/>",
          i % 8 + 1, x(from), y, std::max(0.0, x(to) - x(from)), kBarHeight);
      from = to;
    }
    if (entry.interval) {
      svg.add("<line class=\"whisker\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
              x(entry.interval->first), y + kBarHeight / 2, x(entry.interval->second),
              y + kBarHeight / 2);
    }
    if (entry.mark) {
      svg.add(
          "<line class=\"whisker\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" "
          "y2=\"{2:.1f}\" stroke-dasharray=\"3 2\"/>",
          x(*entry.mark), y - 3, y + kBarHeight + 3);
    }
    const double end = entry.interval ? std::max(from, sane(entry.interval->second)) : from;
    svg.add("<text x=\"{:.1f}\" y=\"{:.1f}\">{:.3g}</text></g>", x(end) + 5, y + 11.5, from);
    y += kBarsRow;
  }
  return svg.finish();
}

}  // namespace ww::report
