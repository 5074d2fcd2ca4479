// What the stub of a card's driver tells the stub of its sensor: the board from a time on.
#pragma once

#include <cstdint>

namespace ww::measure::testing {

struct BoardStep {
  std::int64_t time_ns{};
  double watts{};
  double celsius{};
  double clock_hz{};
};

// Stub boards lie on these PCI buses. CUDA counts the faster board first, NVML by bus.
inline constexpr unsigned first_board_bus = 0xc1;
inline constexpr unsigned second_board_bus = 0x41;

}  // namespace ww::measure::testing
