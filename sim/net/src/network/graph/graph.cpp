#include "network/graph/graph.hpp"

#include <algorithm>

namespace ww::sim::net::graph {

void GraphBuilder::add_node(std::uint32_t from, std::uint32_t to, int delay) {
  wiring_.terminals.push_back(
      {RouterId(from), PortId(inputs_[from]++), RouterId(to), PortId(outputs_[to]++), delay});
}

void GraphBuilder::add_node_at(std::uint32_t router, std::uint32_t port) {
  wiring_.terminals.push_back({RouterId(router), PortId(port), RouterId(router), PortId(port)});
  inputs_[router] = std::max(inputs_[router], port + 1);
  outputs_[router] = std::max(outputs_[router], port + 1);
}

void GraphBuilder::add_node_over(std::uint32_t router, double pitches) {
  add_node(router);
  wiring_.terminals.back().pitches = pitches;
}

void GraphBuilder::add_link(std::uint32_t from, std::uint32_t to, const Wiring::Link& like) {
  const std::uint32_t output = outputs_[from];
  add_link_at(from, output, to, inputs_[to], like);
}

void GraphBuilder::add_link_at(std::uint32_t from, std::uint32_t output, std::uint32_t to,
                               std::uint32_t input, const Wiring::Link& like) {
  Wiring::Link link = like;
  link.from = RouterId(from);
  link.output = PortId(output);
  link.to = RouterId(to);
  link.input = PortId(input);
  wiring_.links.push_back(link);
  outputs_[from] = std::max(outputs_[from], output + 1);
  inputs_[to] = std::max(inputs_[to], input + 1);
}

Wiring GraphBuilder::take() {
  for (std::uint32_t router = 0; router < wiring_.routers; ++router) {
    wiring_.ports = std::max({wiring_.ports, inputs_[router], outputs_[router]});
  }
  return std::move(wiring_);
}

}  // namespace ww::sim::net::graph
