// Counts what changes on a 512-wire bus when the next word is driven: the inner loop of the energy
// accounting, some tens of millions of calls a second.
//
// With d_i in {-1, 0, 1} the change of wire i, groups of wires between grounded shields, the
// energy of a change is
//   sum_i Cg/2 d_i^2 V^2 + sum_gaps Cc/2 (d_i - d_{i+1})^2 V^2      (Sotiriadis & Chandrakasan
//   2000)
// and sum_gaps (d_i - d_{i+1})^2 = 2 T - 2 A + 4 O with
//   T wires that change, A neighbouring pairs of which both change, O those that go opposite ways.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ww::sim::gpu {

struct TransitionCounts {
  std::uint64_t toggles{};   // T
  std::uint64_t adjacent{};  // A
  std::uint64_t opposite{};  // O

  // Switched capacitance [F] on a wire of unit length, times V^2 the energy.
  [[nodiscard]] double capacitance_f(double ground_f, double coupling_f) const {
    return (ground_f / 2 + coupling_f) * static_cast<double>(toggles) -
           coupling_f * static_cast<double>(adjacent) +
           2 * coupling_f * static_cast<double>(opposite);
  }
  TransitionCounts& operator+=(const TransitionCounts& other) {
    toggles += other.toggles;
    adjacent += other.adjacent;
    opposite += other.opposite;
    return *this;
  }
};

// The 512 wires: what they hold, and counts kept by 64-wire lane so that no sum is taken in the
// inner loop.
struct alignas(64) Bus {
  std::array<std::uint64_t, 8> word;
  std::array<std::uint64_t, 8> toggles;
  std::array<std::uint64_t, 8> adjacent;
  std::array<std::uint64_t, 8> opposite;

  [[nodiscard]] TransitionCounts counts() const;
};

inline constexpr std::array<std::uint64_t, 8> kParkedWord{~0ULL, ~0ULL, ~0ULL, ~0ULL,
                                                          ~0ULL, ~0ULL, ~0ULL, ~0ULL};

// Pairs of words that cross the two narrow buses of 64 wires beside a link: request + i with the
// low eight bits of sequence + i from wire 48 on, and, where the link answers, the tag with the
// same bits from wire 6 on. Zeros stand where those bits go.
struct ControlRun {
  static constexpr unsigned kMax = 4;
  std::uint64_t request{};
  std::uint64_t tag{};
  std::uint32_t sequence{};
  unsigned count{};  // 1 to kMax
  bool answered{};
};

// How words are driven onto a bus and counted; all versions give the same counts.
struct BusDriver {
  // The 64 bytes at `next` (any alignment).
  void (*one)(Bus& bus, const void* next);
  // The first `bytes` of 64 bytes; the other wires keep their state.
  void (*part)(Bus& bus, const void* next, std::size_t bytes);
  // `count` words that lie in a row, one after the other, onto two buses.
  void (*both)(Bus& first, Bus& second, const void* words, unsigned count);
  // The two halves of 64 bytes each, one after the other, onto the lower 256 wires in straight
  // order; the others hold. `next`: where the `count` words are, at least one.
  void (*halves)(Bus& bus, const void* const* next, unsigned count);
  // The requests on the lower four lanes and the tags on the upper four, in straight order: each
  // lane changes to its word from the one in the lane below, the first from what the last one had.
  void (*control)(Bus& bus, const ControlRun& run);
};

// stride 0: straight order; 1, 2, 4: words k and k^stride lie interleaved bit by bit. The fastest
// version that this processor runs.
[[nodiscard]] BusDriver bus_driver(int stride);
// One version alone; only the portable one runs everywhere.
[[nodiscard]] BusDriver portable_bus_driver(int stride);
[[nodiscard]] BusDriver avx2_bus_driver(int stride);
[[nodiscard]] BusDriver avx512_bus_driver(int stride);

}  // namespace ww::sim::gpu
