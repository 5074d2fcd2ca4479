// A figure: its value with the 95% interval, its unit, and how far it can be trusted. It has one
// text and one JSON form. A failed or missing figure has a status and a reason. It is never 0,
// because 0 would be taken for a measurement.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ww {

// A value with its 95% interval, where its unit is known from elsewhere.
struct Interval {
  double value{};
  double low{};
  double high{};

  [[nodiscard]] Interval times(double factor) const {
    return factor < 0 ? Interval{value * factor, high * factor, low * factor}
                      : Interval{value * factor, low * factor, high * factor};
  }
  // Half-width over value; 0 for a value of 0.
  [[nodiscard]] double relative() const {
    return value == 0 ? 0 : (high - low) / 2 / std::abs(value);
  }
  [[nodiscard]] bool holds(double truth) const { return low <= truth && truth <= high; }
};

// The product of two independent figures, each above 0. Half-widths of the logarithms add in
// quadrature.
[[nodiscard]] inline Interval product(const Interval& a, const Interval& b) {
  const auto side = [](double x, double y) { return x > 0 && y > 0 ? std::log(x / y) : 0.0; };
  const double up = std::hypot(side(a.high, a.value), side(b.high, b.value));
  const double down = std::hypot(side(a.value, a.low), side(b.value, b.low));
  const double value = a.value * b.value;
  const bool open = a.low <= 0 || b.low <= 0;  // a logarithm has no 0
  return {value, open ? 0 : value * std::exp(-down), value * std::exp(up)};
}

// The sum of two figures that share their errors (one constant, one sensor). The ends add.
[[nodiscard]] inline Interval together(const Interval& a, const Interval& b) {
  return {a.value + b.value, a.low + b.low, a.high + b.high};
}

// "4.2 (4..4.4)"; "-" without an interval.
[[nodiscard]] std::string interval_text(const std::optional<Interval>& interval);
// "4.2 mJ (4..4.4)" with the prefix that fits the value; without an interval "at most ..." of the
// bound; "-" without either.
[[nodiscard]] std::string interval_text(const std::optional<Interval>& interval,
                                        const std::optional<double>& upper, const char* unit);
// {value, low, high}; null where it is absent.
[[nodiscard]] nlohmann::json interval_json(const std::optional<Interval>& interval);
// The value, or null.
[[nodiscard]] nlohmann::json or_null(const std::optional<double>& value);

enum class RowStatus {
  ok,
  not_identified,  // the data cannot determine the figure
  transferred,     // carried over from another segment or device, not measured here
  unavailable,     // the device or the file does not offer it
  rejected,        // measured, but not to be trusted; the reason says why
  misfit,          // fitted by a form that the data contradict; it has a value, not to be relied on
  failed,
};
[[nodiscard]] std::string_view to_string(RowStatus status);
// Nothing for a text that is none of these.
[[nodiscard]] std::optional<RowStatus> row_status_from_string(std::string_view text);

struct Figure {
  std::string name;
  std::optional<double> value;  // absent unless status is ok, transferred or misfit
  std::optional<double> low;    // 95% interval
  std::optional<double> high;
  std::string unit;
  RowStatus status{RowStatus::ok};
  std::string reason;
  std::string device;  // "virtual:w9100"; a virtual device says so

  // Returns nothing unless all three numbers are there.
  [[nodiscard]] std::optional<Interval> interval() const;
  [[nodiscard]] static Figure of(std::string name, const Interval& interval, std::string unit);
};

void to_json(nlohmann::json& json, const Figure& figure);
// Reads a figure from such an object. What it lacks stays empty; without a status, the status is ok
// if there is a value, else unavailable.
[[nodiscard]] Figure figure_of(const nlohmann::json& json);
// "4.2 (4..4.4) pJ/bit", or "rejected: the control failed".
[[nodiscard]] std::string text(const Figure& figure);
// Converts joules to picojoules: "J/bit" becomes "pJ/bit".
[[nodiscard]] Figure in_picojoules(Figure figure);

}  // namespace ww
