// XSBench (Tramm et al., 2014): the look-ups of Monte Carlo neutron transport, unionised grid.
#include <algorithm>
#include <numeric>

#include "session.hpp"

namespace ww::workloads {
namespace {

std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

}  // namespace

void run_xsbench(Session& s) {
  const auto nuclides = s.pick<std::uint32_t>(34, 68, 68);
  const auto points = s.pick<std::uint32_t>(256, 1024, 11303);
  const auto lookups = s.extent(64);
  const std::uint32_t materials = 12;
  std::vector<double> rows(std::size_t{nuclides} * points * 6);
  std::vector<double> energies;
  for (std::uint32_t n = 0; n < nuclides; ++n) {
    std::vector<double> grid(points);
    for (auto& e : grid) e = static_cast<double>(s.random.next() >> 11) * 0x1p-53;
    std::ranges::sort(grid);
    for (std::uint32_t p = 0; p < points; ++p) {
      double* row = &rows[(std::size_t{n} * points + p) * 6];
      row[0] = grid[p];
      for (int k = 1; k < 6; ++k) row[k] = s.random.uniform(0, 1);
    }
    energies.insert(energies.end(), grid.begin(), grid.end());
  }
  std::ranges::sort(energies);
  const auto lower_point = [&](std::uint32_t n, double energy) {
    std::uint32_t p = 0;
    std::uint32_t size = points;
    while (size > 1) {  // the last point that is not above
      const std::uint32_t step = size / 2;
      if (rows[(std::size_t{n} * points + p + step) * 6] <= energy) p += step;
      size -= step;
    }
    return p;
  };
  std::vector<std::uint32_t> index(energies.size() * nuclides);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    for (std::uint32_t n = 0; n < nuclides; ++n)
      index[i * nuclides + n] = lower_point(n, energies[i]);
  }
  std::vector<std::uint32_t> start{0}, nuclide;
  std::vector<double> amount;
  for (std::uint32_t m = 0; m < materials; ++m) {
    // The fuel holds all nuclides, the others few: lanes of a wave loop for different times.
    const std::uint32_t count = m == 0 ? nuclides : 4 + s.random.below(12);
    for (std::uint32_t i = 0; i < count; ++i) {
      nuclide.push_back(m == 0 ? i : s.random.below(nuclides));
      amount.push_back(s.random.uniform(0, 1));
    }
    start.push_back(static_cast<std::uint32_t>(nuclide.size()));
  }
  std::vector<double> want(lookups * 5);
  double pairs = 0;
  for (std::uint32_t id = 0; id < lookups; ++id) {
    const double energy = (mix(2 * id) >> 8) / 16777216.0;
    const std::uint32_t material = mix(2 * id + 1) % materials;
    const auto above = std::ranges::upper_bound(energies, energy);
    const auto low =
        std::clamp<std::ptrdiff_t>(above - energies.begin() - 1, 0, std::ssize(energies) - 2);
    for (std::uint32_t m = start[material]; m < start[material + 1]; ++m, ++pairs) {
      const std::uint32_t n = nuclide[m];
      const auto p = std::min(index[static_cast<std::size_t>(low) * nuclides + n], points - 2);
      const double* a = &rows[(std::size_t{n} * points + p) * 6];
      const double f = (a[6] - energy) / (a[6] - a[0]);
      for (std::size_t k = 0; k < 5; ++k) {
        want[id * 5 + k] += amount[m] * (a[7 + k] - f * (a[7 + k] - a[1 + k]));
      }
    }
  }
  s.build("xsbench.cl");
  const Buffer out = s.zeros<double>(lookups * 5);
  s.launch("lookup", {lookups}, {64}, s.upload(energies), s.upload(index), s.upload(rows),
           s.upload(start), s.upload(nuclide), s.upload(amount), out, nuclides, points, materials);
  s.check("cross section", s.download<double>(out), want, 1e-9, 1e-9);
  // Each nuclide of each look-up reads an index and two rows of 48 bytes, in three lines that L1
  // may hold; the search adds a line a step.
  const auto n = static_cast<double>(lookups);
  const double steps = std::log2(static_cast<double>(energies.size())) + 1;
  s.reads(64 * pairs, 64 * (16 * pairs + (steps + 4) * n));
  s.writes(static_cast<double>(out.bytes), 5 * 64 * n);
}

}  // namespace ww::workloads
