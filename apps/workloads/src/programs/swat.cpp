// Smith-Waterman local alignment (1981) with affine gaps (Gotoh, 1982): match 3, mismatch -2, the
// first letter of a gap 4 and each further one 1. A gap open costs 4 and its extension 1.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_swat(Session& s) {
  const auto n = s.extent(64);
  constexpr int never = -1000000;
  std::vector<std::uint8_t> a(n), b(n);
  for (auto& letter : a) letter = static_cast<std::uint8_t>(s.random.below(4));
  // A mutated copy of a, so that there is something to find.
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = i > n / 3 ? i - 5 : i;
    b[i] = s.random.below(8) == 0 ? static_cast<std::uint8_t>(s.random.below(4)) : a[from];
  }
  const std::size_t width = n + 1;
  std::vector<int> want(width * width), f(n, never);
  for (std::size_t i = 0; i < n; ++i) {
    int e = never;
    for (std::size_t j = 0; j < n; ++j) {
      e = std::max(e - 1, want[(i + 1) * width + j] - 4);
      f[j] = std::max(f[j] - 1, want[i * width + j + 1] - 4);
      const int match = want[i * width + j] + (a[i] == b[j] ? 3 : -2);
      want[(i + 1) * width + j + 1] = std::max({0, match, e, f[j]});
    }
  }
  s.build("swat.cl");
  const Buffer h = s.zeros<int>(width * width);
  const Buffer first = s.upload(a);
  const Buffer second = s.upload(b);
  const Buffer right = s.upload(std::vector<int>(n, never));
  const Buffer down = s.upload(std::vector<int>(n, never));
  const int tiles = static_cast<int>(n / 64);
  for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
    const int top = std::max(0, diagonal - tiles + 1);
    const int count = std::min(diagonal, tiles - 1) - top + 1;
    s.launch("align_tiles", {static_cast<std::size_t>(count) * 64}, {64}, first, second, h, right,
             down, static_cast<int>(n), diagonal, top);
  }
  s.check("score", s.download<int>(h), want);
  // A step writes up to 64 cells, each to its own row and so to its own line.
  const auto cells = static_cast<double>(n * n);
  s.reads(cells / 64 * 8, 64 * cells * 1.2);
  s.writes(64 * cells, 64 * cells * 1.1);
}

}  // namespace ww::workloads
