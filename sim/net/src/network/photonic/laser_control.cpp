#include "network/photonic/laser_control.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ww::sim::net::photonic {

int updated_entry(int in_use, int wanted, int cap) {
  if (wanted >= in_use) {
    return std::min(in_use + 1, cap);
  }
  return 2 * wanted >= in_use ? in_use : in_use - 1;
}

int sm_units(std::uint64_t sm_bits, int cap) {
  return std::min(std::popcount(sm_bits), cap);
}

std::vector<std::uint8_t> split_ratios(int lit, int waveguides) {
  std::vector<std::uint8_t> ratios(static_cast<std::size_t>(waveguides));
  for (int i = 0; i < std::min(lit, waveguides); ++i) {
    const double share = 1.0 / (std::min(lit, waveguides) - i);
    ratios[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(std::lround(share * 63));
  }
  return ratios;
}

LaserControl::LaserControl(const PhotonicConfig& keys, std::uint64_t llc_mask)
    : keys_(keys), llc_mask_(llc_mask) {
  for (int lit = 0; lit <= keys.power_units; ++lit) {
    tuning_.push_back(split_ratios(lit, keys.power_units));
  }
  in_use_ = keys.unit_cap;
  units_ = first();
  table_.fill(static_cast<std::uint8_t>(std::min(keys.table_start, keys.unit_cap)));
}

int LaserControl::first() const {
  return std::min(2 * keys_.unit_cap, keys_.power_units);
}

std::uint32_t LaserControl::index_of(std::uint64_t llc_bits) const {
  std::uint32_t index = 0;
  std::uint32_t which = 0;
  for (std::uint64_t left = llc_mask_; left != 0; left &= left - 1, ++which) {
    const std::uint64_t one = left & (~left + 1);
    if ((llc_bits & one) != 0) {
      index |= 1u << (which % 8);
    }
  }
  return index;
}

int LaserControl::decide(std::uint64_t bits, std::optional<int> used) {
  const int wanted = std::popcount(bits & llc_mask_);
  table_[previous_index_] = static_cast<std::uint8_t>(
      std::clamp(updated_entry(used.value_or(in_use_), wanted, keys_.unit_cap), 0, keys_.unit_cap));
  previous_index_ = index_of(bits & llc_mask_);
  in_use_ = table_[previous_index_];
  const int v = sm_units(bits & ~llc_mask_, keys_.unit_cap);
  units_ = std::min(std::max(v + in_use_, keys_.floor_units), keys_.power_units);
  return units_;
}

const std::vector<std::uint8_t>& LaserControl::ratios() const {
  return tuning_[static_cast<std::size_t>(units_)];
}

}  // namespace ww::sim::net::photonic
