// SHOC's Stencil2D in single precision, with its weights.
#include "session.hpp"

namespace ww::workloads {

void run_shoc_stencil(Session& s) {
  const auto n = s.extent(256);  // of the suite's 512, 1024, 2048, 4096
  const int sweeps = s.pick(3, 5, 3, 10);
  const std::size_t pitch = n + 16;  // with the frame, a whole number of lines
  const float centre = 0.25F, cardinal = 0.15F, diagonal = 0.05F;
  std::vector<float> grid(pitch * (n + 2));
  for (std::size_t y = 1; y <= n; ++y) {
    for (std::size_t x = 1; x <= n; ++x) grid[y * pitch + x] = s.random.uniform(0, 1);
  }
  auto want = grid;
  auto next = grid;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t y = 1; y <= n; ++y) {
      for (std::size_t x = 1; x <= n; ++x) {
        const float* at = &want[y * pitch + x];
        const float* up = at - pitch;
        const float* down = at + pitch;
        next[y * pitch + x] = centre * *at + cardinal * (*up + *down + at[1] + at[-1]) +
                              diagonal * (up[1] + down[1] + up[-1] + down[-1]);
      }
    }
    want.swap(next);
  }
  s.build("shoc_stencil.cl");
  Buffer from = s.upload(grid);
  Buffer to = s.upload(grid);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    s.launch("smooth", {n, n / 8}, {256, 1}, from, to, static_cast<int>(pitch), centre, cardinal,
             diagonal);
    std::swap(from, to);
  }
  s.check("cell", s.download<float>(from), want, 1e-5, 1e-6);
  // Rows begin a word behind a line's begin, so that the 64 words of a wave lie in five lines, and
  // the 32 words of RDNA's waves in three. Each group reads ten rows for its eight, and one line on
  // the right.
  const double cells = sweeps * 4.0 * static_cast<double>(n * n);
  s.reads(cells, cells * 10 / 8 * 22 / 16);
  s.writes(cells, cells * 3 / 2);
}

}  // namespace ww::workloads
