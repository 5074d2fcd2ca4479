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
inline constexpr unsigned kFirstBoardBus = 0xc1;
inline constexpr unsigned kSecondBoardBus = 0x41;

}  // namespace ww::measure::testing
