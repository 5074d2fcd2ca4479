// miniFE (Heroux et al., 2009): Poisson's equation on hexahedra, solved by conjugate gradients. The
// right-hand side is made from a known solution.
#include <array>
#include <numeric>

#include "session.hpp"

namespace ww::workloads {
namespace {

struct Ellpack {
  std::size_t rows{};
  std::size_t padded{};  // rows to whole groups
  std::vector<double> value;
  std::vector<std::uint32_t> column;

  [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(rows);
    for (std::size_t k = 0; k < 27; ++k) {
      for (std::size_t r = 0; r < rows; ++r)
        y[r] += value[k * padded + r] * x[column[k * padded + r]];
    }
    return y;
  }
};

// The stiffness matrix of trilinear elements on a cube of n^3 inner nodes with fixed walls: tensor
// products of the one-dimensional stiffness (-1 2 -1) and mass (1 4 1)/6.
Ellpack assemble(std::size_t n) {
  Ellpack m;
  m.rows = n * n * n;
  m.padded = (m.rows + 255) / 256 * 256;
  m.value.resize(27 * m.padded);
  m.column.resize(27 * m.padded);
  constexpr std::array stiff{-1.0, 2.0, -1.0};
  constexpr std::array mass{1.0 / 6, 4.0 / 6, 1.0 / 6};
  for (std::size_t r = 0; r < m.rows; ++r) {
    const std::array<std::size_t, 3> at{r % n, r / n % n, r / n / n};
    for (std::size_t k = 0; k < 27; ++k) {
      const std::array<std::size_t, 3> d{k % 3, k / 3 % 3, k / 9};
      bool inside = true;
      for (std::size_t i = 0; i < 3; ++i) {
        inside = inside && at[i] + d[i] >= 1 && at[i] + d[i] <= n;
      }
      const std::size_t to = k * m.padded + r;
      m.column[to] = static_cast<std::uint32_t>(r);
      if (!inside) continue;
      m.column[to] = static_cast<std::uint32_t>(r + d[0] + n * d[1] + n * n * d[2] - 1 - n - n * n);
      m.value[to] = stiff[d[0]] * mass[d[1]] * mass[d[2]] + mass[d[0]] * stiff[d[1]] * mass[d[2]] +
                    mass[d[0]] * mass[d[1]] * stiff[d[2]];
    }
  }
  return m;
}

}  // namespace

void run_minife(Session& s) {
  const auto n = s.extent();
  const Ellpack m = assemble(n);
  std::vector<double> solution(m.rows);
  for (auto& v : solution) v = s.random.uniform(-1, 1);
  const auto right = m.times(solution);

  s.build("minife.cl");
  const Buffer value = s.upload(m.value);
  const Buffer column = s.upload(m.column);
  const Buffer x = s.zeros<double>(m.rows);
  const Buffer r = s.upload(right);
  const Buffer p = s.upload(right);
  const Buffer ap = s.zeros<double>(m.rows);
  const Buffer sums = s.zeros<double>(m.padded / 256);
  const auto rows = static_cast<std::uint32_t>(m.rows);
  const auto padded = static_cast<std::uint32_t>(m.padded);
  const auto dot = [&](Buffer a, Buffer b) {
    s.launch("dot_groups", {m.padded}, {256}, a, b, sums, rows);
    const auto parts = s.download<double>(sums);
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  };
  double square = dot(r, r);
  const double goal = square * 1e-20;
  int steps = 0;
  for (; steps < 400 && square > goal; ++steps) {
    s.launch("matvec", {m.padded}, {256}, value, column, p, ap, rows, padded);
    const double alpha = square / dot(p, ap);
    s.launch("waxpby", {m.padded}, {256}, 1.0, x, alpha, p, x, rows);
    s.launch("waxpby", {m.padded}, {256}, 1.0, r, -alpha, ap, r, rows);
    const double next = dot(r, r);
    s.launch("waxpby", {m.padded}, {256}, 1.0, r, next / square, p, p, rows);
    square = next;
  }
  s.require(steps < 400, "conjugate gradients did not converge");
  s.check("unknown", s.download<double>(x), solution, 0, 1e-7);
  // A step streams the matrix and gathers x (at most a line a value), two dots of two vectors and
  // three updates of two.
  const double vectors = 8.0 * static_cast<double>(m.rows);
  const double matrix = 12.0 * 27 * static_cast<double>(m.rows);
  s.reads(steps * (matrix + vectors),
          (steps + 1) * (1.02 * matrix + 27 * 2 * vectors + 12 * vectors));
  const auto groups = padded / 256;
  s.writes(steps * 4 * vectors,
           (steps + 1) * (4.5 * vectors + 128.0 * static_cast<double>(groups)));
}

}  // namespace ww::workloads
