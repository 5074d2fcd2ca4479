// The AMD APP SDK's EigenValue: intervals are counted and narrowed, launch by launch, until the
// widest is below the sample's tolerance.
#include <algorithm>

#include "reference.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_sdk_eigen(Session& s) {
  const auto n = s.extent(256);  // 1024 is the sample's default
  const float tolerance = 0.001F;
  std::vector<float> diagonal(n), off(n - 1);
  for (auto& v : diagonal) v = s.random.uniform(0, 255);
  for (auto& v : off) v = s.random.uniform(0, 255);
  float low = diagonal[0];
  float high = diagonal[0];
  std::vector<float> squared(n);
  for (std::size_t i = 0; i < n; ++i) {  // Gershgorin
    const float left = i == 0 ? 0 : off[i - 1];
    const float radius = left + (i + 1 == n ? 0 : off[i]);
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
    squared[i] = left * left;
  }
  const auto want = tridiagonal_eigenvalues(diagonal, squared, low, high);

  std::vector<float> intervals(2 * n, high);  // one with all eigenvalues, and empty ones
  intervals[0] = low;
  s.build("sdk_eigen.cl");
  const Buffer diagonals = s.upload(diagonal);
  const Buffer offs = s.upload(off);
  const Buffer counts = s.zeros<std::uint32_t>(n);
  Buffer from = s.upload(intervals);
  Buffer to = s.zeros<float>(2 * n);
  const auto wide = [&] {
    for (std::size_t i = 0; i < n; ++i) {
      if (!(intervals[2 * i + 1] - intervals[2 * i] < tolerance)) return true;
    }
    return false;
  };
  double rounds = 0;
  for (; wide() && rounds < 64; ++rounds) {
    const auto rows = static_cast<std::uint32_t>(n);
    s.launch("count_in_interval", {n}, {256}, counts, from, diagonals, offs, rows);
    s.launch("narrow", {n}, {256}, to, from, counts, diagonals, offs, rows, tolerance);
    std::swap(from, to);
    intervals = s.download<float>(from);
  }
  std::vector<float> got(n);
  for (std::size_t i = 0; i < n; ++i) got[i] = (intervals[2 * i] + intervals[2 * i + 1]) / 2;
  // Half an interval, and the rounding of values up to 765.
  s.check("eigenvalue", got, want, 0, 2e-3);
  // Every lane walks the counts from the first to its own, and looks its interval up.
  const double bytes = 4.0 * static_cast<double>(n);
  const double groups = static_cast<double>(n) / 64;
  s.reads(rounds * 2 * bytes, rounds * (8 * bytes + groups * (4 * bytes + 64 * 256)));
  s.writes(rounds * 3 * bytes, rounds * 5 * bytes);
}

}  // namespace ww::workloads
