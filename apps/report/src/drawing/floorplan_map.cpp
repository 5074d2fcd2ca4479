#include "drawing/floorplan_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "drawing/svg.hpp"
#include "drawing/svg_writer.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::report {
namespace {

using model::Floorplan;
using model::Point;

Point quadrant_middle(const Floorplan& plan, std::size_t quadrant) {
  std::vector<Point> channels;
  for (const int channel : plan.quadrants[quadrant]) {
    channels.push_back(plan.l2_channels[static_cast<std::size_t>(channel)]);
  }
  return middle_of(channels);
}

// The y axis of a floorplan points up, that of a drawing down.
class Map {
 public:
  // `beside` is room to the right, in widths of the die.
  Map(const Floorplan& plan, const std::string& title, const std::string& description,
      double beside = 0)
      : height_(plan.height.to<double>()),
        width_(plan.width.to<double>()),
        svg_({-0.02 * width_, -0.02 * height_, (1.04 + beside) * width_, 1.13 * height_, title,
              description,
              fmt::format(R"(class="map{}" style="font-size:{:.2f}px")", beside > 0 ? " wide" : "",
                          width_ / 38)}) {
    svg_.add(R"(<rect class="die" x="0" y="0" width="{:.2f}" height="{:.2f}" rx="{:.2f}"/>)",
             width_, height_, width_ / 80);
  }
  void square(const Point& at, double side, const std::string& cls, const std::string& hint) {
    svg_.add(
        R"(<rect class="{}" x="{:.3f}" y="{:.3f}" width="{:.3f}" height="{:.3f}"><title>{}</title></rect>)",
        cls, at.x_mm - side / 2, height_ - at.y_mm - side / 2, side, side, hint);
  }
  // Along x, then along y, beside the straight way by `aside`.
  void wire(Point from, Point to, double aside, double thick, const std::string& cls,
            const std::string& hint) {
    from.y_mm += aside;
    to.x_mm += aside;
    svg_.add(
        R"(<path class="wire {}" stroke-width="{:.3f}" d="M{:.3f} {:.3f}H{:.3f}V{:.3f}"><title>{}</title></path>)",
        cls, thick, from.x_mm, height_ - from.y_mm, to.x_mm, height_ - to.y_mm, hint);
  }
  void label(const Point& at, const std::string& text) {
    svg_.add(R"(<text class="key" x="{:.2f}" y="{:.2f}" text-anchor="middle">{}</text>)", at.x_mm,
             height_ - at.y_mm, text);
  }
  // A name with its figure, and below it a bar and the line of its interval.
  void bar(const MapPart& part, std::size_t row, std::size_t rows, double most,
           const std::string& unit) {
    const double left = width_ * 1.08;
    const double length = kBeside * width_ - width_ * 0.12;
    const double pitch = std::min(height_ / static_cast<double>(rows), width_ / 8);
    const double top = pitch * static_cast<double>(row);
    const double thick = width_ / 60;
    const auto at = [&](double value) { return left + length * std::min(1.0, value / most); };
    svg_.add(R"(<text class="key" x="{:.2f}" y="{:.2f}">{}</text>)", left, top + pitch * 0.4,
             part.name);
    svg_.add(R"(<text x="{:.2f}" y="{:.2f}" text-anchor="end">{}</text>)", left + length,
             top + pitch * 0.4,
             part.known
                 ? fmt::format("{:.3g} {} ({:.3g}..{:.3g})", part.value, unit, part.low, part.high)
                 : fmt::format("at most {:.3g} {}", part.high, unit));
    const double y = top + pitch * 0.5;
    if (part.known) {
      svg_.add(R"(<rect class="fill c1" x="{:.2f}" y="{:.2f}" width="{:.3f}" height="{:.2f}"/>)",
               left, y, at(part.value) - left, thick);
    }
    svg_.add(R"(<path class="whisker" style="stroke-width:{:.3f}" d="M{:.3f} {:.3f}H{:.3f}"/>)",
             thick / 5, at(part.known ? part.low : 0), y + thick / 2, at(part.high));
  }
  static constexpr double kBeside = 0.95;
  std::string finish(double low, double high, const std::string& unit) {
    const double step = width_ / 24;
    const double y = height_ * 1.03;
    for (int i = 1; i <= 8; ++i) {
      svg_.add(R"(<rect class="cell h{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>)",
               i, width_ / 4 + step * (i - 1), y, step, step / 2);
    }
    svg_.add(R"(<text x="{:.2f}" y="{:.2f}" text-anchor="end">{:.3g}</text>)",
             width_ / 4 - step / 4, y + step / 2, low);
    svg_.add(R"(<text x="{:.2f}" y="{:.2f}">{:.3g} {}</text>)", width_ / 4 + 8.25 * step,
             y + step / 2, high, unit);
    // A fifth of the die or less, a round number of millimetres.
    const double length = ticks(0, width_, 5).at(1);
    const double left = width_ * 0.98 - length;
    svg_.add(
        R"(<path class="whisker" style="fill:none;stroke-width:{0:.3f}" d="M{1:.2f} {2:.2f}v{3:.2f}h{4:.2f}v-{3:.2f}"/><text x="{5:.2f}" y="{6:.2f}" text-anchor="middle">{4:g} mm</text>)",
        width_ / 300, left, height_ * 0.955, step / 4, length, left + length / 2,
        height_ * 0.955 - step / 8);
    return svg_.finish();
  }
  [[nodiscard]] double cell() const { return width_ / 30; }

 private:
  double height_, width_;
  SvgWriter svg_;
};

std::string hint(const std::string& what, double value, const std::string& unit) {
  return fmt::format("{}: {:.4g} {}", what, value, unit);
}

}  // namespace

model::Point middle_of(const std::vector<model::Point>& points) {
  model::Point sum;
  for (const model::Point& point : points) {
    sum.x_mm += point.x_mm;
    sum.y_mm += point.y_mm;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, points.size()));
  return {sum.x_mm / count, sum.y_mm / count};
}

int heat_step(double value, double low, double high) {
  if (!(high > low)) return 4;
  return 1 + std::clamp(static_cast<int>((value - low) / (high - low) * 8), 0, 7);
}

std::string route_map(const Floorplan& plan, const std::function<double(int, int)>& value,
                      const std::string& what, const std::string& unit) {
  const auto engines = static_cast<int>(plan.compute_units.size());
  const auto quadrants = static_cast<int>(plan.quadrants.size());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (int e = 0; e < engines; ++e) {
    for (int q = 0; q < quadrants; ++q) {
      if (const double v = value(e, q); std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
    }
  }
  Map map(plan, what,
          fmt::format("Die of {} with the routes from every shader engine to every quadrant of the "
                      "L2, coloured from {:.3g} to {:.3g} {}.",
                      plan.name, low, high, unit));
  const double cell = map.cell();
  for (int e = 0; e < engines; ++e) {
    for (const Point& cu : plan.compute_units[static_cast<std::size_t>(e)]) {
      map.square(cu, cell * 0.8, "part", fmt::format("compute unit of engine {}", e));
    }
  }
  for (const Point& controller : plan.memory_controllers) {
    map.square(controller, cell * 0.6, "part", "memory controller");
  }
  for (int e = 0; e < engines; ++e) {
    for (int q = 0; q < quadrants; ++q) {
      const double v = value(e, q);
      if (!std::isfinite(v)) continue;
      map.wire(middle_of(plan.compute_units[static_cast<std::size_t>(e)]),
               quadrant_middle(plan, static_cast<std::size_t>(q)),
               (e * quadrants + q - (engines * quadrants - 1) / 2.0) * cell * 0.14, cell * 0.13,
               fmt::format("h{}", heat_step(v, low, high)),
               hint(fmt::format("engine {} to quadrant {}", e, q), v, unit));
    }
  }
  for (int q = 0; q < quadrants; ++q) {
    for (const int channel : plan.quadrants[static_cast<std::size_t>(q)]) {
      map.square(plan.l2_channels[static_cast<std::size_t>(channel)], cell * 0.5, "part",
                 fmt::format("L2 channel {}, quadrant {}", channel, q));
    }
  }
  for (int e = 0; e < engines; ++e) {
    Point at = middle_of(plan.compute_units[static_cast<std::size_t>(e)]);
    double top = at.y_mm;
    for (const Point& cu : plan.compute_units[static_cast<std::size_t>(e)]) {
      top = std::max(top, cu.y_mm);
    }
    map.label({at.x_mm, top + cell * 0.7}, fmt::format("engine {}", e));
  }
  const Point centre = middle_of(plan.l2_channels);
  for (int q = 0; q < quadrants; ++q) {
    // Towards the middle of the L2, where no route ends.
    const Point at = quadrant_middle(plan, static_cast<std::size_t>(q));
    map.label({at.x_mm + 0.4 * (centre.x_mm - at.x_mm), at.y_mm + 0.4 * (centre.y_mm - at.y_mm)},
              fmt::format("q{}", q));
  }
  return map.finish(low, high, unit);
}

namespace {

std::string segment_hint(std::size_t segment, const std::optional<double>& value,
                         const std::string& unit) {
  static constexpr std::array<const char*, 3> kNames{"registers–L1", "L1–L2", "L2–memory"};
  return value ? hint(kNames[segment], *value, unit)
               : fmt::format("{}: no figure", kNames[segment]);
}

double most_of(const std::array<std::optional<double>, 3>& segments) {
  double most = 0;
  for (const auto& segment : segments) most = std::max(most, segment.value_or(0));
  return most;
}

void draw_segments(Map& map, const Floorplan& plan,
                   const std::array<std::optional<double>, 3>& segments,
                   const std::array<std::string, 3>& said) {
  const double high = most_of(segments);
  const auto heat = [&](const std::optional<double>& value, const char* kind) {
    return value ? fmt::format("{} h{}", kind, heat_step(*value, 0, high)) : std::string("part");
  };
  const double cell = map.cell();
  for (std::size_t i = 0; i < plan.l2_channels.size() && i < plan.memory_controllers.size(); ++i) {
    if (segments[2]) {
      map.wire(plan.memory_controllers[i], plan.l2_channels[i], 0, cell * 0.14,
               heat(segments[2], "wire"), said[2]);
    }
    map.square(plan.memory_controllers[i], cell * 0.6, "part", "memory controller");
  }
  for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
    for (std::size_t q = 0; q < plan.quadrants.size() && segments[1]; ++q) {
      map.wire(middle_of(plan.compute_units[e]), quadrant_middle(plan, q),
               (static_cast<double>(e) - 1.5) * cell * 0.2, cell * 0.2, heat(segments[1], "wire"),
               said[1]);
    }
    for (const Point& cu : plan.compute_units[e]) {
      map.square(cu, cell * 0.8, heat(segments[0], "cell"), said[0]);
    }
  }
  for (const Point& channel : plan.l2_channels)
    map.square(channel, cell * 0.5, "part", "L2 channel");
}

}  // namespace

std::string segment_map(const Floorplan& plan, const std::array<std::optional<double>, 3>& segments,
                        const std::string& what, const std::string& unit) {
  std::array<std::string, 3> said;
  for (std::size_t s = 0; s < said.size(); ++s) said[s] = segment_hint(s, segments[s], unit);
  Map map(plan, what,
          fmt::format("Die of {} with its segments coloured. {}; {}; {}.", plan.name, said[0],
                      said[1], said[2]));
  draw_segments(map, plan, segments, said);
  return map.finish(0, most_of(segments), unit);
}

std::string energy_map(const Floorplan& plan, const std::array<std::optional<double>, 3>& segments,
                       const std::array<std::string, 3>& said, const std::vector<MapPart>& parts,
                       const std::string& what, const std::string& unit) {
  Map map(plan, what,
          fmt::format("Die of {} with its segments coloured. {}; {}; {}. Beside it, a bar for each "
                      "part.",
                      plan.name, said[0], said[1], said[2]),
          Map::kBeside);
  draw_segments(map, plan, segments, said);
  double most = 0;
  for (const MapPart& part : parts) most = std::max(most, part.high);
  for (std::size_t row = 0; row < parts.size() && most > 0; ++row) {
    map.bar(parts[row], row, parts.size(), most, unit);
  }
  return map.finish(0, most_of(segments), unit);
}

std::optional<model::Floorplan> known_floorplan(const std::string& device) {
  const auto name = device.substr(device.rfind(':') + 1);
  const auto toml = model::known_floorplan(name);
  if (!toml) return std::nullopt;
  auto plan = model::parse_floorplan(*toml, name);
  if (!plan) return std::nullopt;
  return std::move(*plan);
}

}  // namespace ww::report
