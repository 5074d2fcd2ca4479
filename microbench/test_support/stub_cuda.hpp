// What the stub libcuda's chip is like: what tests expect to be found.
#pragma once

#include <bit>
#include <cstdint>

namespace ww::microbench::testing::stub_cuda {

inline constexpr unsigned sms = 8;
// SMs 0, 1, 4, 5 are on side 0.
[[nodiscard]] constexpr unsigned side_of_sm(unsigned sm) {
  return sm >> 1 & 1;
}
// The side of a 4 KiB piece: the parity of address bits 12, 14, 17 and 20.
inline constexpr std::uint64_t side_mask = 1u << 12 | 1u << 14 | 1u << 17 | 1u << 20;
[[nodiscard]] constexpr unsigned side_of_line(std::uint64_t address) {
  return static_cast<unsigned>(std::popcount(address & side_mask)) & 1;
}

}  // namespace ww::microbench::testing::stub_cuda
