// Eigenvalues by bisection (Barth, Martin, Wilkinson, 1967).
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_eigen(Session& s) {
  const auto n = s.pick<std::size_t>(256, 1024, 2048);
  std::vector<float> diagonal(n), squared(n);
  float radius = 0;
  for (std::size_t i = 0; i < n; ++i) {
    diagonal[i] = s.random.uniform(-1, 1);
    const float off = i == 0 ? 0 : s.random.uniform(0.1F, 1);
    squared[i] = off * off;
    radius = std::max(radius, off);
  }
  const float bound = 1 + 2 * radius;  // Gershgorin
  std::vector<float> want(n);
  for (std::size_t k = 0; k < n; ++k) {
    double low = -bound;
    double high = bound;
    for (int step = 0; step < 40; ++step) {
      const double x = (low + high) / 2;
      std::size_t below = 0;
      double q = 1;
      for (std::size_t i = 0; i < n; ++i) {
        q = diagonal[i] - x - squared[i] / q;
        if (std::abs(q) < 1e-20) q = -1e-20;
        below += q < 0 ? 1 : 0;
      }
      (below > k ? high : low) = x;
    }
    want[k] = static_cast<float>((low + high) / 2);
  }
  s.build("eigen.cl", "#define N " + std::to_string(n) + "u\n");
  const Buffer out = s.zeros<float>(n);
  s.launch("bisect", {n}, {64}, s.upload(diagonal), s.upload(squared), out, -bound, bound);
  s.check("eigenvalue", s.download<float>(out), want, 0, 1e-5);
  // The matrix once a group unless the group's CU has it already.
  const auto bytes = static_cast<double>(2 * out.bytes);
  s.reads(bytes, bytes * static_cast<double>(n / 64));
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
