#include "network/graph/table_flows.hpp"

#include <algorithm>

namespace ww::sim::net::graph {
namespace {

class TableFlows final : public Flows {
 public:
  explicit TableFlows(Topology topology)
      : topology_(std::move(topology)),
        link_of_(std::size_t{topology_.wiring.routers} * topology_.wiring.ports) {
    const auto& links = topology_.wiring.links;
    for (std::size_t link = 0; link < links.size(); ++link) {
      link_of_[links[link].from.number() * std::size_t{ports()} + links[link].output.number()] =
          &links[link];
    }
  }

  [[nodiscard]] std::uint32_t routers() const override { return topology_.wiring.routers; }
  [[nodiscard]] std::uint32_t ports() const override { return topology_.wiring.ports; }
  [[nodiscard]] std::uint32_t layers() const override { return topology_.routes.layers(); }

  void find(NodeId from, NodeId to, Path& path) const override {
    const Wiring::Terminal& source = topology_.wiring.terminals[from];
    const Wiring::Terminal& exit = topology_.wiring.terminals[to];
    path.steps.clear();
    path.wire_cycles = source.delay + exit.delay;
    std::uint32_t phase = to % topology_.routes.first_phases();
    RouterId here = source.from;
    std::uint32_t input = source.input.number();
    while (here != exit.to) {
      const Routes::Step& step = topology_.routes.at(phase, here, exit.to);
      const std::uint32_t channel = here.number() * ports() + step.output;
      const Wiring::Link& link = *link_of_[channel];
      path.steps.push_back({channel, input, link.delay});
      path.wire_cycles += link.delay;
      phase = step.phase;
      here = link.to;
      input = link.input.number();
    }
    path.steps.push_back({here.number() * ports() + exit.output.number(), input, exit.delay});
  }

 private:
  Topology topology_;
  std::vector<const Wiring::Link*> link_of_;  // [router][output]; null: a node's, or none
};

}  // namespace

std::unique_ptr<Flows> table_flows(Topology topology, int flit_bits) {
  const Wiring& wiring = topology.wiring;
  const bool narrow =
      std::any_of(wiring.links.begin(), wiring.links.end(), [flit_bits](const auto& link) {
        return link.width_bits != 0 && link.width_bits < static_cast<std::uint32_t>(flit_bits);
      });
  const Routes& routes = topology.routes;
  const bool one_way = !routes.adaptive() && !routes.draws() && !routes.draws_entry_vcs();
  if (narrow || !wiring.clock_mhz.empty() || !one_way) {
    return nullptr;
  }
  return std::make_unique<TableFlows>(std::move(topology));
}

}  // namespace ww::sim::net::graph
