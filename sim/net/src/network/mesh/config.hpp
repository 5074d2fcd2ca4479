#pragma once

#include <string>

namespace ww::sim::net {

struct MeshConfig {
  std::string adaptive{"dyxy"};  // mesh-adaptive chooses by: "dyxy" (local) or "rca" (regional)
  int threads{1};                // that share one mesh, at most one for 64 routers
};

}  // namespace ww::sim::net
