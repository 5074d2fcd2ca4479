#include "values/values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "ww/core/figure.hpp"

namespace ww::report {

using nlohmann::json;

double number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::quiet_NaN();
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

const json& list_of(const json& object, const char* key) {
  static const json empty = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}

const json& object_of(const json& parent, const char* key) {
  static const json empty = json::object();
  const auto found = parent.find(key);
  return found != parent.end() && found->is_object() ? *found : empty;
}

std::string distance_unit(const json& model) {
  return text_of(object_of(model, "distances"), "unit") == "ns" ? "ns" : "mm";
}

std::string in_unit(const json& model, const char* name) {
  return std::string(name) + "_" + distance_unit(model);
}

std::string misfit_of(const json& content) {
  const json& own = object_of(content, "misfit");
  const bool flagged = own.value("flagged", false) || text_of(content, "status") == "misfit" ||
                       text_of(object_of(content, "constant"), "status") == "misfit";
  if (!flagged) return {};
  const auto reason = text_of(own.empty() ? content : own, "reason");
  return reason.empty() ? "its calibration says no more" : reason;
}

Scale scale_for(double joules) {
  if (joules >= 1) return {1, "J"};
  if (joules >= 1e-3) return {1e3, "mJ"};
  return joules >= 1e-6 ? Scale{1e6, "µJ"} : Scale{1e9, "nJ"};
}

std::string figure_text(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  std::string text = fmt::format("{:.{}g}", value, digits);
  // 390 in two digits, and not 3.9e+02.
  constexpr double kMaxWrittenOut = 1e5;
  if (text.find("e+") == std::string::npos || std::abs(value) >= kMaxWrittenOut) return text;
  return fmt::format("{:.0f}", std::strtod(text.c_str(), nullptr));
}

std::string interval_text(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "–";
  return figure_text(low) + ".." + figure_text(high);
}

std::string cell_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return figure_text(value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return "–";
}

std::string interval_cell(const json& value, double scale) {
  if (!value.is_object()) return "–";
  const double figure = scale * number_of(value, "value");
  const double low = scale * number_of(value, "low");
  const double high = scale * number_of(value, "high");
  // Beside an interval wider than the value more digits would say what nobody knows.
  const int digits = high - low > std::abs(figure) ? 2 : 4;
  return fmt::format("{} ({}..{})", figure_text(figure, digits), figure_text(low, digits),
                     figure_text(high, digits));
}

std::string prefixed_interval(const json& value, const char* unit) {
  if (!value.is_object()) return "–";
  return ww::interval_text(
      Interval{number_of(value, "value"), number_of(value, "low"), number_of(value, "high")}, {},
      unit);
}

}  // namespace ww::report
