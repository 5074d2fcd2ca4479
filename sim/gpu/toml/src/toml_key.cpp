#include "ww/sim/gpu/toml_key.hpp"

#include <fmt/format.h>

namespace ww::sim::gpu {

std::string toml_range_text(double low, double high) {
  return low == 0 && high == 0 ? std::string() : fmt::format("{} to {}", low, high);
}

}  // namespace ww::sim::gpu
