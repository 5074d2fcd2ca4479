// Writes one <svg> element. Every drawing of the program is made with it, so that each one is named
// for screen readers and no text can break out of the markup.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ww/core/xml.hpp"

namespace ww::report {

// A text that stands in markup.
struct SvgText {
  std::string_view text;
};

}  // namespace ww::report

template <>
struct fmt::formatter<ww::report::SvgText> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const ww::report::SvgText& value, Context& context) const {
    return fmt::formatter<std::string_view>::format(ww::escape_xml(value.text), context);
  }
};

namespace ww::report {

// The type that a value becomes before it is formatted: numbers stay, texts are escaped.
template <class T>
using SvgArgument =
    std::conditional_t<std::is_convertible_v<const T&, std::string_view>, SvgText, T>;

struct SvgFrame {
  double x{}, y{}, width{}, height{};   // the part of the plane that is shown [user units]
  std::string_view title, description;  // for screen readers
  std::string_view attributes{};        // more attributes of the element, as markup
};

class SvgWriter {
 public:
  explicit SvgWriter(const SvgFrame& frame) {
    add(R"(<svg viewBox="{:g} {:g} {:g} {:g}" role="img" xmlns="http://www.w3.org/2000/svg")",
        frame.x, frame.y, frame.width, frame.height);
    svg_.back() = frame.attributes.empty() ? '>' : ' ';
    if (!frame.attributes.empty()) svg_.append(frame.attributes).append(">");
    add("<title>{}</title><desc>{}</desc>", frame.title, frame.description);
  }

  // Adds a line of markup, in which texts among `arguments` are escaped.
  template <class... Arguments>
  void add(fmt::format_string<SvgArgument<Arguments>...> markup, const Arguments&... arguments) {
    svg_ += fmt::format(markup, SvgArgument<Arguments>{arguments}...);
    svg_ += '\n';
  }

  // Closes the element and returns it; the writer is empty then.
  [[nodiscard]] std::string finish() {
    add("</svg>");
    return std::move(svg_);
  }

 private:
  std::string svg_;
};

}  // namespace ww::report
