// The ways of routing by table.
#pragma once

#include <memory>

#include "flow/flows.hpp"
#include "network/graph/graph.hpp"

namespace ww::sim::net::graph {

// Null where ways are adaptive or drawn, and where routers or links are not all of one speed.
// Precondition: check_routes() has succeeded.
[[nodiscard]] std::unique_ptr<Flows> table_flows(Topology topology, int flit_bits);

}  // namespace ww::sim::net::graph
