// How much of the chip's time commands take that no kernel runs for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww::sim::driver {

// Chip times of one command [ns].
struct Timing {
  std::int64_t start_ns{};
  std::int64_t end_ns{};
};

// Time that moving bytes takes [ns]: between host and device, and within the device.
[[nodiscard]] std::int64_t host_transfer_ns(std::size_t bytes);
[[nodiscard]] std::int64_t device_transfer_ns(std::size_t bytes);
// Lets the chip's time pass and notes it.
void charge(Timing& timing, std::int64_t duration_ns);

}  // namespace ww::sim::driver
