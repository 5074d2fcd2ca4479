#include "drawing/package_map.hpp"

#include <algorithm>
#include <array>

#include "drawing/floorplan_map.hpp"
#include "drawing/svg_writer.hpp"

namespace ww::report {
namespace {

constexpr double kWidth = 100, kHeight = 78;
constexpr double kDie = 24;     // side of an I/O die
constexpr double kCompute = 8;  // side of a compute die, which lies on it
constexpr double kStackWidth = 9, kStackHeight = 10;
constexpr double kToStack = 8;
constexpr double kTop = 8;
constexpr std::array<double, 2> kLeft{18, 58};
constexpr std::array<double, 2> kUpper{kTop, kTop + 36};

class PackageDrawing {
 public:
  PackageDrawing(const std::string& what, const std::string& unit, double most)
      : unit_(unit),
        most_(most),
        svg_({0, 0, kWidth, kHeight, what,
              "Four I/O dies in two rows, two compute dies on each, two memory stacks beside each; "
              "ways between them coloured by " +
                  what,
              R"(class="map" style="font-size:2.4px")"}) {}

  void die(double x, double y, double width, double height, const std::string& name) {
    svg_.add(
        R"(<rect class="die" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" rx="0.8"><title>{}</title></rect>)",
        x, y, width, height, name);
  }
  void coloured_die(double x, double y, double width, double height,
                    const std::optional<double>& value, const std::string& name) {
    svg_.add(
        R"(<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" rx="0.8"><title>{}</title></rect>)",
        value ? "cell " + step(*value) : std::string("die"), x, y, width, height,
        hint(name, value));
  }
  void way(double x1, double y1, double x2, double y2, const std::optional<double>& value,
           const std::string& name) {
    svg_.add(
        R"(<path class="wire {}" stroke-width="1.6" d="M{:.2f} {:.2f}L{:.2f} {:.2f}"><title>{}</title></path>)",
        value ? step(*value) : std::string(), x1, y1, x2, y2, hint(name, value));
  }
  void text(double x, double y, const std::string& words) {
    svg_.add(R"(<text class="key" x="{:.2f}" y="{:.2f}" text-anchor="middle">{}</text>)", x, y,
             words);
  }
  void figure(double x, double y, const std::optional<double>& value) {
    if (value) text(x, y, fmt::format("{:.3g} {}", *value, unit_));
  }
  std::string finish() {
    const double y = kHeight - 5;
    for (int i = 1; i <= 8; ++i) {
      svg_.add(R"(<rect class="cell h{}" x="{:.2f}" y="{:.2f}" width="4" height="2"/>)", i,
               30 + 4.0 * (i - 1), y);
    }
    svg_.add(R"(<text x="29" y="{:.2f}" text-anchor="end">0</text>)", y + 2);
    svg_.add(R"(<text x="63" y="{:.2f}">{:.3g} {}</text>)", y + 2, most_, unit_);
    return svg_.finish();
  }

 private:
  [[nodiscard]] std::string step(double value) const {
    return fmt::format("h{}", heat_step(value, 0, most_));
  }
  [[nodiscard]] std::string hint(const std::string& name,
                                 const std::optional<double>& value) const {
    return value ? fmt::format("{}: {:.4g} {}", name, *value, unit_) : name + ": not identified";
  }

  std::string unit_;
  double most_;
  SvgWriter svg_;
};

}  // namespace

std::string package_map(const PackageWays& ways, const std::string& what, const std::string& unit) {
  double most = 0;
  for (const auto& value :
       {ways.compute_die, ways.row, ways.column, ways.across, ways.phy, ways.memory}) {
    most = std::max(most, value.value_or(0));
  }
  PackageDrawing drawing(what, unit, most);
  const double middle = kDie / 2;
  const double between = kLeft[0] + kDie;  // right edge of the left dies
  const double below = kUpper[0] + kDie;   // lower edge of the upper dies
  drawing.way(between, below, kLeft[1], kUpper[1], ways.across, "across, over two links");
  drawing.way(kLeft[1], below, between, kUpper[1], ways.across, "across, over two links");
  for (const double y : kUpper) {
    drawing.way(between, y + middle, kLeft[1], y + middle, ways.row, "link along a row");
  }
  for (const double x : kLeft) {
    drawing.way(x + middle, below, x + middle, kUpper[1], ways.column, "link along a column");
  }
  for (std::size_t row = 0; row < kUpper.size(); ++row) {
    for (std::size_t column = 0; column < kLeft.size(); ++column) {
      const double x = kLeft[column];
      const double y = kUpper[row];
      const bool left = column == 0;
      drawing.die(x, y, kDie, kDie, "I/O die");
      drawing.text(x + middle, y + 3.4, "I/O die");
      for (int i = 0; i < 2; ++i) {
        const double compute_x = x + 3 + i * (kCompute + 2);
        const double compute_y = y + kDie - kCompute - 1.5;
        drawing.way(compute_x + kCompute / 2, y + 7, compute_x + kCompute / 2, compute_y,
                    ways.compute_die, "compute die to its I/O die and cache");
        drawing.die(compute_x, compute_y, kCompute, kCompute, "compute die");
        drawing.text(compute_x + kCompute / 2, compute_y + kCompute / 2 + 0.8, "XCD");
        const double stack_x = left ? x - kToStack - kStackWidth : x + kDie + kToStack;
        const double stack_y = y + 1 + i * (kStackHeight + 2);
        drawing.way(left ? x : x + kDie, stack_y + kStackHeight / 2,
                    left ? stack_x + kStackWidth : stack_x, stack_y + kStackHeight / 2, ways.phy,
                    "I/O die to memory stack, on the I/O die");
        drawing.coloured_die(stack_x, stack_y, kStackWidth, kStackHeight, ways.memory,
                             "memory stack");
        drawing.text(stack_x + kStackWidth / 2, stack_y + kStackHeight / 2 + 0.8, "HBM");
      }
    }
  }
  drawing.figure((between + kLeft[1]) / 2, kUpper[0] + middle - 2, ways.row);
  drawing.figure(kLeft[0] + middle + 5, (below + kUpper[1]) / 2 + 0.8, ways.column);
  drawing.figure((between + kLeft[1]) / 2, below + 2.4, ways.across);
  drawing.figure(kLeft[0] + middle, kUpper[0] + 10.5, ways.compute_die);
  drawing.figure(kLeft[0] - kToStack / 2, kUpper[0] + 1 + kStackHeight / 2 - 2, ways.phy);
  drawing.figure(kLeft[0] - kToStack - kStackWidth / 2, kUpper[0] - 0.5, ways.memory);
  return drawing.finish();
}

}  // namespace ww::report
