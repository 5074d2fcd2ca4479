#include "ww/sim/gpu/toml_key.hpp"

#include <fmt/format.h>

namespace ww::sim::gpu {

std::string toml_range_text(double low, double high) {
  if (low == 0 && high == 0) {
    return {};
  }
  return high >= 0x1p63 ? fmt::format("{} to 2^63 - 1", low) : fmt::format("{} to {}", low, high);
}

}  // namespace ww::sim::gpu
