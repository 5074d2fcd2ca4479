#include "ww/report/number_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ww::report {

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1e15 || (size < 1e-4 && size > 0)) return fmt::format("{:.{}g}", value, digits);
  const bool whole = value == std::round(value) || size >= std::pow(10, digits);
  if (!whole) return fmt::format("{:.{}g}", value, digits);
  std::string text = fmt::format("{:.0f}", size);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return std::signbit(value) && text != "0" ? "-" + text : text;
}

}  // namespace ww::report
