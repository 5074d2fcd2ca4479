// Bufferless meshes: flits that do not get their output are deflected.
#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kMeshBufferless;

// `inside` has a node at each router, and config.concentration share it.
std::unique_ptr<Network> make_concentrated(const NetworkConfig& config,
                                           std::unique_ptr<Network> inside);

}  // namespace ww::sim::net
