// The links of a mesh of routers.
#pragma once

#include <cstdint>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

// Directed links between neighbouring routers.
[[nodiscard]] inline std::uint64_t mesh_links(const NetworkConfig& config) {
  const auto width = static_cast<std::uint64_t>(config.width);
  const auto height = static_cast<std::uint64_t>(config.height);
  return 2 * ((width - 1) * height + width * (height - 1));
}

}  // namespace ww::sim::net
