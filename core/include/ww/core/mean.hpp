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
  // Returns the mean; without readings it is not a number.
  [[nodiscard]] double value() const { return sum / count; }
};

}  // namespace ww
