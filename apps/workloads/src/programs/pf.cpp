// PathFinder: dynamic programming over a grid, with ghost zones.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_pf(Session& s) {
  const auto columns = s.pick<std::size_t>(16384, 65536, 100000);
  const auto rows = s.pick<std::size_t>(41, 97, 1000);
  std::vector<int> wall(columns * rows);
  for (auto& v : wall) v = static_cast<int>(s.random.below(10));
  std::vector<int> want(wall.begin(), wall.begin() + static_cast<std::ptrdiff_t>(columns));
  for (std::size_t r = 1; r < rows; ++r) {
    std::vector<int> next(columns);
    for (std::size_t x = 0; x < columns; ++x) {
      next[x] = wall[r * columns + x] +
                std::min({want[x], want[x > 0 ? x - 1 : x], want[std::min(x + 1, columns - 1)]});
    }
    want = next;
  }
  s.build("pf.cl");
  const Buffer grid = s.upload(wall);
  Buffer from =
      s.upload(std::vector(wall.begin(), wall.begin() + static_cast<std::ptrdiff_t>(columns)));
  Buffer to = s.zeros<int>(columns);
  const std::size_t groups = (columns + 239) / 240;
  double passes = 0;
  for (std::size_t row = 1; row < rows; row += 8, ++passes) {
    s.launch("dynproc", {groups * 256}, {256}, grid, from, to, static_cast<int>(columns),
             static_cast<int>(row), static_cast<int>(std::min<std::size_t>(8, rows - row)));
    std::swap(from, to);
  }
  s.check("cost", s.download<int>(from), want);
  // The wall once, the costs once a pass; the trapezium's 256 of 240 columns, and one line more to
  // those of a wave for the groups that are not aligned (a fifth to four where it has 64 lanes).
  const double most = 1.08 * (1 + 16.0 / static_cast<double>(s.wave_size()));
  const double once = 4.0 * static_cast<double>(columns) * (static_cast<double>(rows - 1) + passes);
  const double line = 4.0 * static_cast<double>(columns) * passes;
  s.reads(once, most * once);
  s.writes(line, most * line);
}

}  // namespace ww::workloads
