// The laser controller: from one bit a station to the number of lasers. GPUOPT, section 6.2.3.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ww/sim/net/photonic_config.hpp"

namespace ww::sim::net::photonic {

// Equation (3): the entry of the power table that chose `in_use` units for an epoch in whose end
// `wanted` stations asked for power. P/2 is a real half, as printed. Held within 0 to cap.
[[nodiscard]] int updated_entry(int in_use, int wanted, int cap);

// v: the sum of the SM stations' bits, at most cap.
[[nodiscard]] int sm_units(std::uint64_t sm_bits, int cap);

// Split ratios of the cascaded splitters for a number of lit power waveguides, in 63rds: splitter i
// of n lit ones sends 1/(n - i) of what reaches it into its waveguide, so that all n get the same;
// unlit ones get nothing. (The tuning table; 6 bits an entry.)
[[nodiscard]] std::vector<std::uint8_t> split_ratios(int lit, int waveguides);

class LaserControl {
 public:
  LaserControl(const PhotonicConfig& keys, std::uint64_t llc_mask);

  // Decides from the stations' bits at the end of an epoch (one a position) the units of data power
  // of the next one, v + w, at least floor_units. The table has an entry for each of the 256
  // patterns of 8 LLC bits; where there are more LLC stations, bits share (station modulo 8).
  // `used`: P of equation (3), where it is not what was lit for the LLC stations.
  int decide(std::uint64_t bits, std::optional<int> used = std::nullopt);

  [[nodiscard]] int table_entry(std::uint32_t index) const { return table_[index]; }
  // Split ratios for the last decision.
  [[nodiscard]] const std::vector<std::uint8_t>& ratios() const;
  // Units of the first epoch, before anything was predicted: all that v + w can be.
  [[nodiscard]] int first() const;

 private:
  static constexpr std::uint32_t kEntries = 256;
  [[nodiscard]] std::uint32_t index_of(std::uint64_t llc_bits) const;

  PhotonicConfig keys_;
  std::uint64_t llc_mask_;
  std::array<std::uint8_t, kEntries> table_{};
  std::vector<std::vector<std::uint8_t>> tuning_;  // by lit units
  std::uint32_t previous_index_{};
  int in_use_{};  // w of the current epoch
  int units_{};
};

}  // namespace ww::sim::net::photonic
