// Stacked horizontal bars as inline SVG, with a whisker for the interval of the whole.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ww::report {

struct Bar {
  std::string name;
  std::vector<double> parts;  // in the order of the legend; stacked
  std::optional<std::pair<double, double>> interval;
  std::optional<double> mark;  // another figure for the same, such as a paper's: a vertical line
  std::string hint;            // the whole name, where `name` is a short one: shown when pointed at
};

// A page draws at most this many kernels; its table has all.
inline constexpr std::size_t kMaxKernelBars = 30;

struct BarChart {
  std::string title, description;  // for screen readers
  std::string unit;
  std::vector<std::string> legend;  // of the parts
  std::string mark_name;
  std::vector<Bar> bars;
};

// An <svg> element; a chart without bars says so. Parts that are not finite or negative count as 0.
[[nodiscard]] std::string to_svg(const BarChart& chart);

}  // namespace ww::report
