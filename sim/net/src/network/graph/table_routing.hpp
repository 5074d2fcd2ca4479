// Routing by table, for VcNetwork.
#pragma once

#include <optional>

#include "network/graph/graph.hpp"
#include "vc_router/vc_network.hpp"

namespace ww::sim::net::graph {

// VCs by group: a class's share, or with several layers the share of each, and then all of them.
// With adaptive routes the first layer, the escape channel, has one VC and the second the rest.
[[nodiscard]] inline RouterSizes router_sizes(const Topology& topology, int vcs, int classes) {
  const auto layers = static_cast<int>(topology.routes.layers());
  RouterSizes sizes{topology.wiring.ports, static_cast<std::uint32_t>(vcs), 0, {}};
  std::vector<std::uint32_t> groups;
  for (int c = 0; c < classes; ++c) {
    const int first = c * vcs / classes;
    const int count = (c + 1) * vcs / classes - first;
    for (int layer = 0; layers > 1 && layer < layers; ++layer) {
      const auto start = [&](int of) {
        return first + (topology.routes.adaptive() && of == 1 ? 1 : of * count / layers);
      };
      groups.push_back(vcs_between(start(layer), start(layer + 1)));
    }
    groups.push_back(vcs_between(first, first + count));
  }
  sizes.groups = static_cast<std::uint32_t>(groups.size());
  for (std::uint32_t port = 0; port < sizes.ports; ++port) {
    sizes.group_vcs.insert(sizes.group_vcs.end(), groups.begin(), groups.end());
  }
  return sizes;
}

class TableRouting {
 public:
  static constexpr bool kEqualLinks = false;

  TableRouting(const Wiring& wiring, Routes routes, HopTable hops)
      : routers_(wiring.routers),
        ports_(wiring.ports),
        groups_of_class_(routes.layers() > 1 ? routes.layers() + 1 : 1),
        routes_(std::move(routes)),
        hops_(std::move(hops)),
        terminals_(wiring.terminals),
        entries_(std::size_t{routers_} * ports_),
        exits_(std::size_t{routers_} * ports_),
        links_(routers_) {
    for (const Wiring::Link& link : wiring.links) {
      links_[link.from.number()].push_back(
          {link.output, link.to, static_cast<std::uint32_t>(link.delay)});
    }
    for (const Wiring::Terminal& terminal : terminals_) {
      entries_[number(terminal.from, terminal.input)] = 1;
      exits_[number(terminal.to, terminal.output)] = 1;
    }
  }

  [[nodiscard]] bool is_entry(RouterId router, PortId input) const {
    return entries_[number(router, input)] != 0;
  }
  [[nodiscard]] bool is_exit(RouterId router, PortId output) const {
    return exits_[number(router, output)] != 0;
  }
  // A router's number in two bytes.
  [[nodiscard]] Place place_of(NodeId node) const { return place_of(terminals_[node].to); }
  [[nodiscard]] std::uint32_t phase_of(NodeId, NodeId destination) const {
    return destination % routes_.first_phases();
  }
  [[nodiscard]] bool is_adaptive() const { return routes_.adaptive(); }
  [[nodiscard]] bool draws_entry_vcs() const { return routes_.draws_entry_vcs(); }
  [[nodiscard]] bool draws() const { return routes_.draws(); }
  [[nodiscard]] bool draws_under_way() const { return routes_.draws_under_way(); }
  // Packets of one source and destination may pass different numbers of routers.
  [[nodiscard]] bool hops_vary() const { return routes_.adaptive() || routes_.draws(); }
  // The head has come to the router by which it goes, and now goes to its destination.
  [[nodiscard]] bool ends_detour(RouterId here, NodeId destination, const Flit& head) const {
    return routes_.detours() && head.phase() == kDetour &&
           (here == router_at(head.to()) ||
            (routes_.detours()->end_early() && here == terminals_[destination].to));
  }
  [[nodiscard]] std::uint32_t phase_behind_detour() const {
    return routes_.detours()->phase_behind();
  }
  // A head is about to come to `next`, or has come where routers do not look ahead. load(output) is
  // the flits that have left by an output of `next` and still hold their room behind it.
  template <class Load>
  void draw(Draws& draws, RouterId next, Flit& head, const Load& load) const {
    const RouterId to = router_at(head.to());
    if (routes_.detours()) {
      const auto via = routes_.detours()->draw(draws, next, to, [&](RouterId towards) {
        return load(PortId(routes_.at(kDetour, next, towards).output));
      });
      if (via) {
        head.address(place_of(*via), head.port(), kDetour);
      }
      return;
    }
    const Routes::Draw draw = routes_.draw(next, to);
    if (draw.ways == 0) {
      return;
    }
    const auto load_of = [&](std::uint32_t phase) {
      return load(PortId(routes_.at(phase, next, to).output));
    };
    const std::uint32_t first = draw.first_phase;
    if (draw.choice == Routes::Choice::freer_or_any && load_of(first) != load_of(first + 1)) {
      head.set_phase(load_of(first) < load_of(first + 1) ? first : first + 1);
      return;
    }
    std::uint32_t phase = first + draws.below(draw.ways);
    if (draw.choice == Routes::Choice::freer_of_two) {
      const std::uint32_t other = first + draws.below(draw.ways);
      phase = load_of(other) < load_of(phase) ? other : phase;
    }
    head.set_phase(phase);
  }
  // Precondition: not hops_vary().
  [[nodiscard]] int hops(NodeId source, NodeId destination) const {
    return hops_[std::size_t{terminals_[source].from.number()} * routers_ +
                 terminals_[destination].to.number()];
  }

  template <class Rules, class R>
  [[nodiscard]] Hop route(const Rules& rules, RouterId here, const R& router, PortVc input_vc,
                          Flit& flit) const {
    const RouterId to = router_at(flit.to());
    const std::uint32_t first = flit.message_class().number() * groups_of_class_;
    if (here == to) {
      const std::uint32_t layer = routes_.leaves_by_layer()
                                      ? routes_.at(flit.phase(), here, to).layer
                                      : groups_of_class_ - 1;
      return {flit.port(), GroupId(first + layer)};
    }
    std::uint32_t phase = flit.phase();
    if (routes_.adaptive() && !came_by_escape(rules, here, input_vc, GroupId(first))) {
      const GroupId free_ways(first + 1);
      if (const auto output = freest_output(rules, here, to, router, free_ways)) {
        return {*output, free_ways};
      }
      phase = 0;  // whatever an earlier request for the escape channel has left there
    }
    const Routes::Step& step = routes_.at(phase, here, to);
    flit.set_phase(step.phase);
    return {PortId(step.output), GroupId(first + step.layer)};
  }

  template <class Rules, class Routers>
  void end_cycle(const Rules&, const Routers&) {}
  template <class Rules, class Routers>
  void idle(std::uint64_t, const Rules&, const Routers&) {}

 private:
  static constexpr std::uint32_t kDetour =
      1;  // the phase of a packet on its way to a detour's router

  [[nodiscard]] static Place place_of(RouterId router) {
    return {static_cast<char8_t>(router.number() & 0xFF),
            static_cast<char8_t>(router.number() >> 8)};
  }
  [[nodiscard]] static RouterId router_at(Place place) {
    return RouterId(place.x | static_cast<std::uint32_t>(place.y) << 8);
  }

  struct Out {
    PortId output;
    RouterId to;
    std::uint32_t delay;
  };

  template <class Rules>
  [[nodiscard]] bool came_by_escape(const Rules& rules, RouterId here, PortVc input_vc,
                                    GroupId escape) const {
    const PortId input = rules.port_of(input_vc);
    const std::uint32_t vc = std::uint32_t{1} << rules.vc_of(input_vc, input).number();
    return !is_entry(here, input) && (rules.group_vcs(input, escape) & vc) != 0;
  }
  // Returns the output on a shortest way that has a VC to give and the most credits.
  template <class Rules, class R>
  [[nodiscard]] std::optional<PortId> freest_output(const Rules& rules, RouterId here, RouterId to,
                                                    const R& router, GroupId group) const {
    std::optional<PortId> best;
    std::uint32_t most = 0;
    for (const Out& out : links_[here.number()]) {
      const std::uint32_t beyond = routes_.distance(out.to, to);
      if (beyond == kNoWay || beyond + out.delay != routes_.distance(here, to)) {
        continue;
      }
      const std::uint32_t usable = rules.group_vcs(out.output, group);
      std::uint32_t credits = 0;
      for_each_bit<VcId>(usable,
                         [&](VcId vc) { credits += router.credits(rules.vc_at(out.output, vc)); });
      if ((router.free_vcs(rules, out.output) & usable) != 0 && credits > most) {
        most = credits;
        best = out.output;
      }
    }
    return best;
  }
  [[nodiscard]] std::size_t number(RouterId router, PortId port) const {
    return std::size_t{router.number()} * ports_ + port.number();
  }

  std::uint32_t routers_;
  std::uint32_t ports_;
  std::uint32_t groups_of_class_;
  Routes routes_;
  HopTable hops_;
  std::vector<Wiring::Terminal> terminals_;
  std::vector<char> entries_;  // [router][port]
  std::vector<char> exits_;
  std::vector<std::vector<Out>> links_;  // [router]
};

}  // namespace ww::sim::net::graph
