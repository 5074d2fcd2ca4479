// The ways of XY routing.
#pragma once

#include <memory>

#include "flow/flows.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

// A NetworkKind::flows.
[[nodiscard]] std::unique_ptr<Flows> mesh_flows(const NetworkConfig& config);

}  // namespace ww::sim::net
