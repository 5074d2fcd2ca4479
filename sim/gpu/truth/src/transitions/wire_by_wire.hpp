// Counts changes on 512 wires for tests, wire by wire, by the definition of transitions.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ww::sim::gpu {

using WireWord = std::array<std::uint64_t, 8>;

struct WireCount {
  std::int64_t toggles{};
  std::int64_t squares{};   // sum over gaps, shields included, of (d_i - d_{i+1})^2
  std::int64_t adjacent{};  // neighbouring pairs of which both change
  std::int64_t opposite{};  // those of them that go opposite ways

  // Switched capacitance [F] on a wire of unit length.
  [[nodiscard]] double capacitance_f(double ground_f, double coupling_f) const {
    return ground_f / 2 * static_cast<double>(toggles) +
           coupling_f / 2 * static_cast<double>(squares);
  }
  WireCount& operator+=(const WireCount& other) {
    toggles += other.toggles;
    squares += other.squares;
    adjacent += other.adjacent;
    opposite += other.opposite;
    return *this;
  }
};

// stride 0: groups of 64 wires in straight order; 1, 2, 4: words k and k^stride share one.
inline WireCount count_wire_by_wire(const WireWord& before, const WireWord& after, int stride) {
  std::vector<std::vector<int>> groups;
  const auto change = [&](unsigned lane, unsigned bit) {
    return static_cast<int>(after[lane] >> bit & 1U) - static_cast<int>(before[lane] >> bit & 1U);
  };
  const auto step = static_cast<unsigned>(stride);
  for (unsigned lane = 0; lane < 8; ++lane) {
    if ((lane & step) != 0) continue;
    std::vector<int> group;
    for (unsigned bit = 0; bit < 64; ++bit) {
      group.push_back(change(lane, bit));
      if (stride != 0) group.push_back(change(lane ^ step, bit));
    }
    groups.push_back(group);
  }
  WireCount result;
  for (const auto& group : groups) {
    int previous = 0;
    for (const int d : group) {
      result.toggles += std::abs(d);
      result.squares += (d - previous) * (d - previous);
      result.adjacent += d != 0 && previous != 0 ? 1 : 0;
      result.opposite += d * previous < 0 ? 1 : 0;
      previous = d;
    }
    result.squares += previous * previous;
  }
  return result;
}

}  // namespace ww::sim::gpu
