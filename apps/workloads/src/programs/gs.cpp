// Gaussian elimination without pivoting, of a diagonally dominant system.
#include "session.hpp"

namespace ww::workloads {

void run_gs(Session& s) {
  const auto n = s.pick<std::size_t>(96, 256, 1024);
  std::vector<float> a(n * n), x(n), b(n);
  for (auto& v : a) v = s.random.uniform(-1, 1);
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] = static_cast<float>(n);
  for (auto& v : x) v = s.random.uniform(-1, 1);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += double{a[i * n + j]} * x[j];
    b[i] = static_cast<float>(sum);
  }
  s.build("gs.cl");
  const Buffer matrix = s.upload(a);
  const Buffer right = s.upload(b);
  const Buffer factors = s.zeros<float>(n * n);
  const std::size_t up = (n + 63) / 64 * 64;
  const auto size = static_cast<int>(n);
  for (int t = 0; t < size - 1; ++t) {
    s.launch("multipliers", {up}, {64}, matrix, factors, size, t);
    s.launch("eliminate", {up, n}, {64, 4}, matrix, right, factors, size, t);
  }
  const auto upper = s.download<float>(matrix);
  const auto rest = s.download<float>(right);
  std::vector<float> solved(n);
  for (std::size_t i = n; i-- > 0;) {
    double sum = rest[i];
    for (std::size_t j = i + 1; j < n; ++j) sum -= double{upper[i * n + j]} * solved[j];
    solved[i] = static_cast<float>(sum / upper[i * n + i]);
  }
  s.check("unknown", solved, x, 1e-3, 1e-4);
  // Each of n^3/3 updates reads a row element and writes it, plus the pivot row and a column whose
  // every element is a line.
  const double cubes = std::pow(static_cast<double>(n), 3) / 3 * 4;
  const double columns = std::pow(static_cast<double>(n), 2) / 2 * 64;
  s.reads(cubes, 4 * cubes + 10 * columns);
  s.writes(cubes, 2 * cubes + 4 * columns);
}

}  // namespace ww::workloads
