// Describes the chip of the stub libcuda: what tests expect to be found.
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
inline constexpr std::uint64_t kSideMask = 1u << 12 | 1u << 14 | 1u << 17 | 1u << 20;
[[nodiscard]] constexpr unsigned side_of_line(std::uint64_t address) {
  return static_cast<unsigned>(std::popcount(address & kSideMask)) & 1;
}

// Energies of the card [J]: idle power over time, more while a kernel runs, each payload bit of an
// atomic, what crosses more, and what the ones among the bits cost, and cost more where they cross.
// In chip time (stub_cuda.cpp) energies per bit are of the same powers, so smaller by chip_speed.
inline constexpr double idle_w = 80.0;
inline constexpr double active_w = 60.0;
inline constexpr double joules_per_bit = 2e-5;
inline constexpr double joules_per_one = 0.4e-5;
inline constexpr double joules_per_crossing_bit = 0.6e-5;
inline constexpr double joules_per_crossing_one = 0.8e-5;
inline constexpr double joules_per_instruction = 1e-6;
inline constexpr double kChipSpeed = 1e3;
// Ticks of an atomic: of one whose old value is awaited, and of a reduction. Near is faster.
inline constexpr unsigned near_ticks = 200, far_ticks = 430;
inline constexpr unsigned near_reduction_ticks = 40, far_reduction_ticks = 60;

// For a stub of CUPTI (stub_cupti.cpp), which gives the stub one under the name
// ww_stub_cuda_listen: a context that was made (no kernel), or a launch with its work-groups and
// the work-items of each.
using Listener = void (*)(void* context, const char* kernel, unsigned groups, unsigned items);

// Exported by the stub under the name ww_stub_cuda_state: its clock and meter.
struct State {
  double seconds;
  double joules;
};

}  // namespace ww::microbench::testing::stub_cuda
