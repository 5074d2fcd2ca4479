#include "ww/sim/net/memory_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ww::sim::net {

Result<MemoryLink> MemoryLink::create(const MemoryLinkConfig& config) {
  const std::pair<const char*, double> positive[] = {
      {"memory_link.waveguides", config.waveguides},
      {"memory_link.wavelengths", config.wavelengths},
      {"memory_link.optical_mhz", config.optical_mhz}};
  for (const auto& [key, value] : positive) {
    if (value < 1 || value > 1e6) {
      return fail(ErrorCode::out_of_range, fmt::format("{} = {} is outside 1 to 1e6", key, value),
                  key);
    }
  }
  if (!(config.fibre_mm >= 0) || !(config.fibre_ps_per_mm >= 3.3357)) {
    return fail(ErrorCode::out_of_range,
                "a fibre has a length, and light in a vacuum takes 3.34 ps/mm",
                config.fibre_mm >= 0 ? "memory_link.fibre_ps_per_mm" : "memory_link.fibre_mm");
  }
  if (config.waveguides * config.wavelengths * 2 < 8) {
    return fail(ErrorCode::out_of_range, "fewer than 8 bits a cycle", "memory_link.wavelengths");
  }
  return MemoryLink(config);
}

MemoryLink::MemoryLink(const MemoryLinkConfig& config)
    : config_(config),
      bytes_per_cycle_(std::int64_t{config.waveguides} * config.wavelengths * 2 / 8),
      flight_(static_cast<std::int64_t>(
          std::ceil(config.fibre_mm * config.fibre_ps_per_mm * 1e-6 * config.optical_mhz - 1e-9))) {
}

std::int64_t MemoryLink::send(Direction direction, std::int64_t at, std::int64_t bytes) {
  std::int64_t& free = free_[static_cast<std::size_t>(direction)];
  free = std::max(free, at) + (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
  return free + flight_;
}

}  // namespace ww::sim::net
