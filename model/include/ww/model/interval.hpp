// A figure with its 95% interval.
#pragma once

#include <algorithm>
#include <cmath>

namespace ww::model {

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

}  // namespace ww::model
