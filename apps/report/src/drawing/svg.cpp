#include "drawing/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "drawing/svg_writer.hpp"

namespace ww::report {
namespace {

constexpr double kPlotLeft = 64, kPlotRight = 14, kPlotBottom = 46;
constexpr double kPlotHead = 30;  // with one row of the legend

struct AxisRange {
  double low{1}, high{0};
  bool empty() const { return low > high; }
  void take(double value) {
    if (!std::isfinite(value)) return;
    if (empty()) {
      low = high = value;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  void widen(double share) {
    double margin = (high - low) * share;
    if (margin <= 0) margin = std::max(1e-9, std::abs(high) * 0.05 + (high == 0 ? 1 : 0));
    low -= margin;
    high += margin;
  }
};

std::string number(double value) {
  if (std::abs(value) < 1e-12) return "0";
  return fmt::format("{:.6g}", value);
}

class PlotWriter {
 public:
  explicit PlotWriter(const Plot& plot)
      : plot_(plot), svg_({0, 0, plot.width, plot.height, plot.title, plot.description}) {
    std::vector<std::string> names;
    for (const Series& series : plot.series) {
      if (!series.name.empty()) names.push_back(series.name);
      for (const Dot& dot : series.dots) {
        if (!std::isfinite(dot.x) || !std::isfinite(dot.y)) continue;
        x_.take(dot.x);
        y_.take(dot.y - dot.error);
        y_.take(dot.y + dot.error);
      }
    }
    keys_ = place_keys(names, kPlotLeft + 5, plot.width - kPlotRight);
    if (!keys_.empty()) top += kKeyRow * keys_.back().row;
  }

  std::string write() {
    if (x_.empty() || y_.empty()) {
      svg_.add(R"(<text class="note" x="{}" y="{}" text-anchor="middle">no data</text>)",
               plot_.width / 2, plot_.height / 2);
      return svg_.finish();
    }
    x_.widen(plot_.x_names.empty() ? 0.02 : 0.12);
    if (plot_.zero_line) y_.take(0);
    if (plot_.y_most > 0) y_.high = std::min(y_.high, plot_.y_most);
    y_.widen(0.06);
    bands();
    axes();
    for (const Series& series : plot_.series) draw(series);
    legend();
    return svg_.finish();
  }

 private:
  double px(double x) const {
    return kPlotLeft + (x - x_.low) / (x_.high - x_.low) * (plot_.width - kPlotLeft - kPlotRight);
  }
  double py(double y) const {
    return plot_.height - kPlotBottom -
           (y - y_.low) / (y_.high - y_.low) * (plot_.height - top - kPlotBottom);
  }

  [[nodiscard]] bool is_beyond(const Dot& dot) const { return plot_.y_most > 0 && dot.y > y_.high; }

  void bands() {
    for (const Band& band : plot_.bands) {
      const double from = std::clamp(px(band.from), kPlotLeft, plot_.width - kPlotRight);
      const double to = std::clamp(px(band.to), kPlotLeft, plot_.width - kPlotRight);
      if (!(to > from)) continue;
      svg_.add(R"(<rect class="band c{}" x="{:.2f}" y="{:g}" width="{:.2f}" height="{:g}"/>)",
               band.colour, from, top, std::max(0.4, to - from), plot_.height - top - kPlotBottom);
    }
  }

  void axes() {
    for (const double y : ticks(y_.low, y_.high, 5)) {
      svg_.add(R"(<line class="grid" x1="{:g}" x2="{:g}" y1="{:.1f}" y2="{:.1f}"/>)", kPlotLeft,
               plot_.width - kPlotRight, py(y), py(y));
      svg_.add(R"(<text x="{:g}" y="{:.1f}" text-anchor="end">{}</text>)", kPlotLeft - 6, py(y) + 4,
               number(y));
    }
    if (!plot_.x_names.empty()) {
      const double room =
          (plot_.width - kPlotLeft - kPlotRight) / static_cast<double>(plot_.x_names.size());
      const auto letters = static_cast<std::size_t>(std::max(4.0, room / text_width("x")));
      for (std::size_t i = 0; i < plot_.x_names.size(); ++i) {
        svg_.add(R"(<text x="{:.1f}" y="{:g}" text-anchor="middle">{}</text>)",
                 px(static_cast<double>(i)), plot_.height - kPlotBottom + 18,
                 shortened(plot_.x_names[i], letters));
      }
    } else {
      for (const double x : ticks(x_.low, x_.high, 8)) {
        svg_.add(R"(<line class="grid" y1="{:g}" y2="{:g}" x1="{:.1f}" x2="{:.1f}"/>)", top,
                 plot_.height - kPlotBottom, px(x), px(x));
        svg_.add(R"(<text x="{:.1f}" y="{:g}" text-anchor="middle">{}</text>)", px(x),
                 plot_.height - kPlotBottom + 18, number(x));
      }
    }
    if (plot_.zero_line) {
      svg_.add(R"(<line class="zero" x1="{:g}" x2="{:g}" y1="{:.1f}" y2="{:.1f}"/>)", kPlotLeft,
               plot_.width - kPlotRight, py(0), py(0));
    }
    svg_.add(R"(<text class="label" x="{:g}" y="{:g}" text-anchor="middle">{}</text>)",
             (kPlotLeft + plot_.width - kPlotRight) / 2, plot_.height - 8, plot_.x_label);
    svg_.add(
        R"svg(<text class="label" transform="translate(14 {:g}) rotate(-90)" text-anchor="middle">{}</text>)svg",
        (top + plot_.height - kPlotBottom) / 2, plot_.y_label);
  }

  void draw(const Series& series) {
    if (series.line) {
      std::string points;
      const Dot* before = nullptr;
      for (const Dot& dot : series.dots) {
        if (!std::isfinite(dot.x) || !std::isfinite(dot.y)) continue;
        Dot shown = dot;
        if (is_beyond(dot)) {
          if (before == nullptr || is_beyond(*before)) continue;
          shown.x = before->x + (dot.x - before->x) * (y_.high - before->y) / (dot.y - before->y);
          shown.y = y_.high;
        }
        points += fmt::format("{:.2f},{:.2f} ", px(shown.x), py(shown.y));
        before = &dot;
      }
      svg_.add(R"(<polyline class="line c{}" points="{}"/>)", series.colour, points);
      if (!series.dotted) return;
    }
    for (const Dot& dot : series.dots) {
      if (!std::isfinite(dot.x) || !std::isfinite(dot.y) || is_beyond(dot)) continue;
      if (dot.error > 0) {
        svg_.add(R"(<line class="error c{}" x1="{:.2f}" x2="{:.2f}" y1="{:.2f}" y2="{:.2f}"/>)",
                 series.colour, px(dot.x), px(dot.x), py(dot.y - dot.error), py(dot.y + dot.error));
      }
      if (dot.hint.empty()) {
        svg_.add(R"(<circle class="dot c{}" cx="{:.2f}" cy="{:.2f}" r="{:g}"/>)", series.colour,
                 px(dot.x), py(dot.y), series.radius);
      } else {
        svg_.add(
            R"(<circle class="dot c{}" cx="{:.2f}" cy="{:.2f}" r="{:g}"><title>{}</title></circle>)",
            series.colour, px(dot.x), py(dot.y), series.radius, dot.hint);
      }
    }
  }

  void legend() {
    auto key = keys_.begin();
    for (const Series& series : plot_.series) {
      if (series.name.empty()) continue;
      const double y = kPlotHead - 16 + kKeyRow * key->row;
      svg_.add(R"(<circle class="dot c{}" cx="{:.1f}" cy="{:g}" r="4"/>)", series.colour,
               key->x + 5, y);
      svg_.add(R"(<text x="{:.1f}" y="{:g}">{}</text>)", key->x + 14, y + 4, series.name);
      ++key;
    }
  }

  const Plot& plot_;
  std::vector<KeyPlace> keys_;
  double top{kPlotHead};
  AxisRange x_, y_;
  SvgWriter svg_;
};

}  // namespace

double text_width(std::string_view text) {
  constexpr double letter = 6.7;  // of 12 px, on average
  return letter * static_cast<double>(std::ranges::count_if(text, [](char c) {
           return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
         }));
}

std::string shortened(std::string_view text, std::size_t letters) {
  std::size_t seen = 0;
  std::size_t cut = text.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) continue;
    if (++seen == letters) cut = at;
    if (seen > letters) return std::string(text.substr(0, cut)) + "…";
  }
  return std::string(text);
}

std::vector<KeyPlace> place_keys(const std::vector<std::string>& names, double from, double until) {
  std::vector<KeyPlace> places;
  KeyPlace next{from, 0};
  for (const auto& name : names) {
    const double width = 14 + text_width(name);
    if (next.x > from && next.x + width > until) next = {from, next.row + 1};
    places.push_back(next);
    next.x += width + 14;
  }
  return places;
}

std::vector<double> ticks(double low, double high, int about) {
  if (!(high > low) || !std::isfinite(high - low) || about < 1) return {};
  const double raw = (high - low) / about;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * power >= raw) {
      step = nice * power;
      break;
    }
  }
  std::vector<double> result;
  for (double at = std::ceil(low / step) * step; at <= high; at += step) result.push_back(at);
  return result;
}

std::string to_svg(const Plot& plot) {
  return PlotWriter(plot).write();
}

}  // namespace ww::report
