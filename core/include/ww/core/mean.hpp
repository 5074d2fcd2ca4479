// A running mean.
#pragma once

namespace ww {

struct Mean {
  double sum{};
  int count{};
  void add(double value) {
    sum += value;
    ++count;
  }
  // Not a number without readings.
  [[nodiscard]] double value() const { return sum / count; }
};

}  // namespace ww
