// Eigenvalues by bisection (Barth, Martin, Wilkinson, 1967).
#include <algorithm>

#include "reference.hpp"
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
  const auto want = tridiagonal_eigenvalues(diagonal, squared, -bound, bound);
  s.build("eigen.cl", "#define N " + std::to_string(n) + "u\n");
  const Buffer out = s.zeros<float>(n);
  s.launch("bisect", {n}, {64}, s.upload(diagonal), s.upload(squared), out, -bound, bound);
  s.check("eigenvalue", s.download<float>(out), want, 0, 1e-5);
  // The matrix once a group unless the group's CU has it already.
  const auto bytes = static_cast<double>(2 * out.bytes);
  const std::size_t whole_groups = n / 64;
  const auto groups = static_cast<double>(whole_groups);
  s.reads(bytes, bytes * groups);
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
