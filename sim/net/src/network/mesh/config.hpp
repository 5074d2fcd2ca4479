#pragma once

#include <string>

namespace ww::sim::net {

struct MeshConfig {
  std::string adaptive{"dyxy"};  // mesh-adaptive chooses by: "dyxy" (local) or "rca" (regional)
};

}  // namespace ww::sim::net
