// Carries the board's power from a time on from the driver's stub to the sensor's stub.
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
