#include "reference.hpp"

#include <cmath>

namespace ww::workloads {

void butterfly(std::vector<float>& data, std::size_t stride) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if ((i & stride) != 0) continue;
    const float x = data[i];
    const float y = data[i + stride];
    data[i] = x + y;
    data[i + stride] = x - y;
  }
}

std::vector<float> tridiagonal_eigenvalues(const std::vector<float>& diagonal,
                                           const std::vector<float>& squared, double low,
                                           double high) {
  std::vector<float> values(diagonal.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    double from = low;
    double to = high;
    for (int step = 0; step < 40; ++step) {
      const double x = (from + to) / 2;
      std::size_t below = 0;
      double q = 1;
      for (std::size_t i = 0; i < diagonal.size(); ++i) {
        q = diagonal[i] - x - squared[i] / q;
        if (std::abs(q) < 1e-20) q = -1e-20;
        below += q < 0 ? 1 : 0;
      }
      (below > k ? to : from) = x;
    }
    values[k] = static_cast<float>((from + to) / 2);
  }
  return values;
}

}  // namespace ww::workloads
