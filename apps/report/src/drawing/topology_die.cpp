#include "drawing/topology_die.hpp"

#include <fmt/format.h>

#include "drawing/floorplan_map.hpp"

namespace ww::report {
namespace {

using model::Floorplan;
using model::Point;

constexpr double kDieLeft = 90, kDieWide = 560;  // of the die, in pixels
constexpr double kDieHead = 44, kDieFoot = 40;   // room for the title and for the scale

// From millimetres, whose y axis points up, to pixels.
class Die {
 public:
  Die(const Floorplan& plan, double top)
      : top_(top),
        height_mm_(plan.height.to<double>()),
        scale_(kDieWide / plan.width.to<double>()) {}
  [[nodiscard]] double x(const Point& at) const { return kDieLeft + at.x_mm * scale_; }
  [[nodiscard]] double y(const Point& at) const { return top_ + (height_mm_ - at.y_mm) * scale_; }
  [[nodiscard]] double pixels(double mm) const { return mm * scale_; }

 private:
  double top_, height_mm_, scale_;
};

void add_die_part(SvgWriter& svg, const Die& die, const Point& at, double side, const char* fill,
                  const std::string& hint) {
  svg.add(
      R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>{}</title></rect>)",
      die.x(at) - side / 2, die.y(at) - side / 2, side, side, fill, hint);
}

void add_nearest(SvgWriter& svg, const Die& die, const Floorplan& plan,
                 const std::vector<int>& nearest) {
  for (std::size_t c = 0; c < nearest.size(); ++c) {
    const auto engine = static_cast<std::size_t>(nearest[c]);
    if (nearest[c] < 0 || engine >= plan.compute_units.size()) continue;
    const Point to = middle_of(plan.compute_units[engine]);
    svg.add(
        R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#0072b2"><title>channel {}: engine {} is its nearest</title></line>)",
        die.x(plan.l2_channels[c]), die.y(plan.l2_channels[c]), die.x(to), die.y(to), c, engine);
  }
}

// The longest of 1, 2, 5, 10, ... mm that takes no more than a third of the die.
double bar_mm(double width_mm) {
  double bar = 1;
  for (const double length : {2.0, 5.0, 10.0, 20.0}) {
    if (length <= width_mm / 3) bar = length;
  }
  return bar;
}

void add_millimetres(SvgWriter& svg, const Die& die, double width_mm, double y) {
  const double mm = bar_mm(width_mm);
  svg.add(
      R"(<path d="M{:.1f} {:.1f}v5h{:.1f}v-5" fill="none" stroke="#000"/><text x="{:.1f}" y="{:.1f}">{:g} mm</text>)",
      kDieLeft, y, die.pixels(mm), kDieLeft + die.pixels(mm) + 8, y + 7, mm);
}

}  // namespace

double die_height(const Floorplan& plan) {
  return kDieHead + kDieWide * plan.height.to<double>() / plan.width.to<double>() + kDieFoot;
}

void add_die(SvgWriter& svg, const Floorplan& plan, const std::vector<int>& nearest, int engines,
             double top) {
  const Die die(plan, top + kDieHead);
  const double width_mm = plan.width.to<double>(), height_mm = plan.height.to<double>();
  const bool fits = engines == static_cast<int>(plan.compute_units.size()) &&
                    nearest.size() == plan.l2_channels.size();
  svg.add(R"(<text x="8" y="{:.0f}">die of {}, {:.1f} by {:.1f} mm{}</text>)", top + 14, plan.name,
          width_mm, height_mm, plan.estimated ? ", positions estimated" : "");
  svg.add(R"(<text x="8" y="{:.0f}">grey: compute units; red: memory controllers; {}</text>)",
          top + 32,
          fits ? "numbers: L2 channels, with a line to the nearest engine that was found"
               : "numbers: L2 channels; the device has another number of them");
  svg.add(
      R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#fff" stroke="#000"/>)",
      kDieLeft, top + kDieHead, kDieWide, die.pixels(height_mm));
  for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
    for (const Point& cu : plan.compute_units[e]) {
      add_die_part(svg, die, cu, 10, "#bbb", fmt::format("compute unit of engine {}", e));
    }
  }
  for (const Point& controller : plan.memory_controllers) {
    add_die_part(svg, die, controller, 8, "#d55e00", "memory controller");
  }
  if (fits) add_nearest(svg, die, plan, nearest);
  for (std::size_t c = 0; c < plan.l2_channels.size(); ++c) {
    const Point& at = plan.l2_channels[c];
    add_die_part(svg, die, at, 14, "#fff", fmt::format("L2 channel {}", c));
    svg.add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-size="10">{}</text>)",
            die.x(at), die.y(at) + 4, c);
  }
  for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
    const Point at = middle_of(plan.compute_units[e]);
    svg.add(
        R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-weight="bold">engine {}</text>)",
        die.x(at), die.y(at) + 4, e);
  }
  add_millimetres(svg, die, width_mm, top + kDieHead + die.pixels(height_mm) + 14);
}

}  // namespace ww::report
