// Line and point plots as inline SVG. Colours come from the page's CSS, so they follow light, dark
// and print.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/xml.hpp"

namespace ww::report {

[[nodiscard]] inline std::string escape(std::string_view text) {
  return escape_xml(text);
}

struct Dot {
  double x{}, y{};
  double error{};    // half length of a vertical bar; 0 for none
  std::string hint;  // shown when pointed at
};

struct Series {
  std::string name;  // in the legend; empty for none
  int colour{1};     // 1 ... 8, CSS class c1 ... c8
  std::vector<Dot> dots;
  bool line{};  // joined, without markers
  double radius{2.5};
  bool dotted{};  // a line with markers
};

struct Band {  // between two x values, behind everything
  double from{}, to{};
  int colour{1};
};

struct Plot {
  std::string title, description;  // for screen readers: <title> and <desc>
  std::string x_label, y_label;
  std::vector<Series> series;
  std::vector<Band> bands;
  std::vector<std::string> x_names;  // for whole-numbered x: names instead of numbers
  double width{860}, height{320};
  bool zero_line{};
  double y_most{};  // end of the y axis; 0: the greatest value. Lines end where they cross it
};

// Width of a text in a drawing's letters, about [user units]; of UTF-8.
[[nodiscard]] double text_width(std::string_view text);
// A text with at most `letters` letters, the last one an ellipsis where some are left out.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t letters);

// Place of a legend's keys: from `from` on, in as many rows as they need before `until`.
struct KeyPlace {
  double x{};
  int row{};
};
[[nodiscard]] std::vector<KeyPlace> place_keys(const std::vector<std::string>& names, double from,
                                               double until);
constexpr double kKeyRow = 17;  // height of a legend's row

// Round positions for the ticks of an axis.
[[nodiscard]] std::vector<double> ticks(double low, double high, int about);

// An <svg> element. Points that are not finite are left out; a plot without points says so.
[[nodiscard]] std::string to_svg(const Plot& plot);

}  // namespace ww::report
