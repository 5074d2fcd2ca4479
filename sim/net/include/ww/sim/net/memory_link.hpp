// An optical link from a memory controller to its memory (OCM: GPUOPT, section 5.4).
#pragma once

#include <array>
#include <cstdint>

#include "ww/core/result.hpp"

namespace ww::sim::net {

struct MemoryLinkConfig {
  int waveguides{2};          // each way
  int wavelengths{64};        // of a waveguide
  int optical_mhz{5000};      // bits on both edges
  double fibre_mm{50};        // to the memory: an assumption
  double fibre_ps_per_mm{5};  // table 3
};

// A link with two directions, each of which carries one transfer after the other. Times are in
// optical cycles.
class MemoryLink {
 public:
  enum class Direction { to_memory, from_memory };

  // Errors, by key: out_of_range.
  [[nodiscard]] static Result<MemoryLink> create(const MemoryLinkConfig& config);

  // Sends `bytes` (> 0) that are ready at cycle `at`. Returns the cycle in which the last one
  // arrives. Calls of a direction must come in ascending order of `at`.
  std::int64_t send(Direction direction, std::int64_t at, std::int64_t bytes);

  [[nodiscard]] std::int64_t bytes_per_cycle() const { return bytes_per_cycle_; }
  [[nodiscard]] double bytes_per_second() const {
    return static_cast<double>(bytes_per_cycle_) * config_.optical_mhz * 1e6;
  }
  [[nodiscard]] std::int64_t flight() const { return flight_; }

 private:
  explicit MemoryLink(const MemoryLinkConfig& config);
  MemoryLinkConfig config_;
  std::int64_t bytes_per_cycle_{};
  std::int64_t flight_{};
  std::array<std::int64_t, 2> free_{};  // [direction]: from this cycle on
};

}  // namespace ww::sim::net
