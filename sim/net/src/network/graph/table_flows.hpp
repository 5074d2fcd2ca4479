// The ways of routing by table.
#pragma once

#include <memory>

#include "flows.hpp"
#include "network/graph/graph.hpp"

namespace ww::sim::net::graph {

// Precondition: check_routes() has succeeded.
[[nodiscard]] std::unique_ptr<Flows> table_flows(Topology topology);

}  // namespace ww::sim::net::graph
