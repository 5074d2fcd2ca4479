// Parboil's stencil: a heat equation's sweeps.
#include "session.hpp"

namespace ww::workloads {

void run_stencil(Session& s) {
  const auto nx = s.pick<std::size_t>(128, 256, 512);
  const auto ny = s.pick<std::size_t>(64, 256, 512);
  const auto nz = s.pick<std::size_t>(16, 32, 64);
  const int sweeps = s.pick(3, 5, 100);
  const float c0 = 1.0F / 6, c1 = 1.0F / 36;
  std::vector<float> grid(nx * ny * nz);
  for (auto& v : grid) v = s.random.uniform(0, 1);
  auto want = grid;
  auto next = grid;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t z = 1; z + 1 < nz; ++z) {
      for (std::size_t y = 1; y + 1 < ny; ++y) {
        for (std::size_t x = 1; x + 1 < nx; ++x) {
          const std::size_t at = (z * ny + y) * nx + x;
          next[at] = c1 * (want[at - 1] + want[at + 1] + want[at - nx] + want[at + nx] +
                           want[at - nx * ny] + want[at + nx * ny]) -
                     c0 * want[at];
        }
      }
    }
    want.swap(next);
  }
  s.build("stencil.cl");
  Buffer from = s.upload(grid);
  Buffer to = s.upload(grid);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    s.launch("jacobi", {nx, ny, nz}, {64, 4, 1}, from, to, static_cast<int>(nx),
             static_cast<int>(ny), static_cast<int>(nz), c0, c1);
    std::swap(from, to);
  }
  s.check("cell", s.download<float>(from), want, 1e-5, 1e-6);
  const double bytes = sweeps * static_cast<double>(from.bytes);
  const double inner = sweeps * 4.0 * static_cast<double>((nx - 2) * (ny - 2) * (nz - 2));
  s.reads(bytes * 0.95, 7.5 * bytes);
  s.writes(inner, bytes);
}

}  // namespace ww::workloads
