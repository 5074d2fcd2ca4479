// Routers and links of unlike speed: clock domains, and links that are narrower than a flit.
//
// A network's cycle is that of its fastest clock. A router whose clock has f edges where the
// fastest has F acts in the cycles ceil(k F / f), k = 0, 1, ...: as evenly as cycles allow. What
// reaches it in between waits for its next edge. A flit that crosses from one clock to another
// passes a synchronizer of the receiver's clock, and so does its credit on the way back. A link of
// `width` bits takes flit_bits / width cycles of the router before it for each flit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "vc_router/wiring.hpp"

namespace ww::sim::net {

class Clock {
 public:
  Clock() = default;  // an edge in each cycle
  Clock(std::uint32_t own, std::uint32_t fastest)
      : own_(own / std::gcd(own, fastest)), fastest_(fastest / std::gcd(own, fastest)) {}

  // Edges in the cycles before this one.
  [[nodiscard]] std::int64_t edges_before(std::int64_t cycle) const {
    return cycle <= 0 ? 0 : (cycle - 1) * own_ / fastest_ + 1;
  }
  [[nodiscard]] bool has_edge(std::int64_t cycle) const {
    return edges_before(cycle + 1) != edges_before(cycle);
  }
  // The first edge that is no earlier.
  [[nodiscard]] std::int64_t from(std::int64_t cycle) const {
    return cycle_of(edges_before(cycle));
  }
  // The n-th edge after one in this cycle.
  [[nodiscard]] std::int64_t after(std::int64_t edge_cycle, int n) const {
    return cycle_of(edges_before(edge_cycle) + n);
  }
  [[nodiscard]] int longest_period() const {
    return static_cast<int>((fastest_ + own_ - 1) / own_);
  }

 private:
  [[nodiscard]] std::int64_t cycle_of(std::int64_t edge) const {
    return (edge * fastest_ + own_ - 1) / own_;
  }

  std::int64_t own_{1};
  std::int64_t fastest_{1};
};

class Pace {
 public:
  Pace() = default;
  Pace(const Wiring& wiring, int flit_bits)
      : ports_(wiring.ports), synchronizer_(wiring.synchronizer), of_router_(wiring.routers) {
    if (!wiring.clock_mhz.empty()) {
      add_clocks(wiring);
    }
    for (const Wiring::Link& link : wiring.links) {
      if (link.width_bits != 0 && static_cast<int>(link.width_bits) < flit_bits) {
        add_narrow(link, flit_bits / static_cast<int>(link.width_bits));
      }
    }
  }

  [[nodiscard]] bool has_clocks() const { return !domains_.empty(); }
  [[nodiscard]] bool has_narrow_links() const { return !intervals_.empty(); }

  // Call first in each cycle.
  void begin_cycle(std::int64_t now) {
    for (std::size_t word = 0; word < router_edges_.size(); ++word) {
      router_edges_[word] = 0;
    }
    for (std::size_t word = 0; word < node_edges_.size(); ++word) {
      node_edges_[word] = 0;
    }
    for (const Domain& domain : domains_) {
      if (domain.clock.has_edge(now)) {
        or_into(router_edges_, domain.routers);
        or_into(node_edges_, domain.nodes);
      }
    }
  }
  // Mask of those among 64 routers or nodes that act in this cycle.
  [[nodiscard]] std::uint64_t routers_with_edge(std::size_t word) const {
    return has_clocks() ? router_edges_[word] : ~std::uint64_t{0};
  }
  [[nodiscard]] std::uint64_t nodes_with_edge(std::size_t word) const {
    return has_clocks() ? node_edges_[word] : ~std::uint64_t{0};
  }

  // The router's own count of cycles.
  [[nodiscard]] std::int64_t own_time(RouterId router, std::int64_t now) const {
    return has_clocks() ? clock(router).edges_before(now) : now;
  }
  // When something is there that leaves `router` `edges` of its cycles from now, travels `delay`
  // cycles to `to`, and counts `more` of that router's cycles later.
  [[nodiscard]] std::int64_t arrival(RouterId router, RouterId to, std::int64_t now, int edges,
                                     int delay, int more = 0) const {
    if (!has_clocks()) {
      return now + edges + delay + more;
    }
    const bool crosses = of_router_[router.number()] != of_router_[to.number()];
    const std::int64_t reached = clock(to).from(clock(router).after(now, edges) + delay);
    return clock(to).after(reached, more + (crosses ? synchronizer_ : 0));
  }

  // Cycles of its router that an output takes for a flit.
  [[nodiscard]] int interval(RouterId router, PortId output) const {
    return has_narrow_links() ? intervals_[number(router, output)] : 1;
  }
  // A flit has won the switch for this output.
  void take(RouterId router, PortId output, std::int64_t own_time) {
    if (has_narrow_links()) {
      free_[number(router, output)] = own_time + intervals_[number(router, output)];
    }
  }
  // The outputs that can take another flit.
  template <class Ports>
  [[nodiscard]] Ports open(RouterId router, std::int64_t now) const {
    Ports open = static_cast<Ports>(~Ports{0});
    if (has_narrow_links() && !narrow_[router.number()].empty()) {
      const std::int64_t own = own_time(router, now);
      for (const PortId output : narrow_[router.number()]) {
        const Ports bit = static_cast<Ports>(Ports{1} << output.number());
        open = static_cast<Ports>(open & ~(free_[number(router, output)] > own ? bit : Ports{0}));
      }
    }
    return open;
  }

  // Cycles that routers with slower clocks have not had, summed over routers.
  [[nodiscard]] std::uint64_t cycles_without_edge(std::int64_t now) const {
    std::uint64_t sum = 0;
    for (std::size_t router = 0; has_clocks() && router < of_router_.size(); ++router) {
      sum += static_cast<std::uint64_t>(now - domains_[of_router_[router]].clock.edges_before(now));
    }
    return sum;
  }
  // The longest time from an event to one that it causes, where on one clock and over full links it
  // is `own` cycles of a router and `wire` of links.
  [[nodiscard]] int longest(int own, int wire) const {
    int period = 1;
    for (const Domain& domain : domains_) {
      period = std::max(period, domain.clock.longest_period());
    }
    int interval = 1;
    for (const int one : intervals_) {
      interval = std::max(interval, one);
    }
    // Both ends of both ways may wait for an edge.
    const int waits = has_clocks() ? 2 * (synchronizer_ + 2) : 0;
    return (own + 2 * (interval - 1) + waits) * period + wire;
  }

 private:
  struct Domain {
    Clock clock;
    std::vector<std::uint64_t> routers;  // mask
    std::vector<std::uint64_t> nodes;
  };

  static void or_into(std::vector<std::uint64_t>& mask, const std::vector<std::uint64_t>& more) {
    for (std::size_t word = 0; word < mask.size(); ++word) {
      mask[word] |= more[word];
    }
  }
  [[nodiscard]] std::size_t number(RouterId router, PortId port) const {
    return std::size_t{router.number()} * ports_ + port.number();
  }
  [[nodiscard]] const Clock& clock(RouterId router) const {
    return domains_[of_router_[router.number()]].clock;
  }

  void add_clocks(const Wiring& wiring) {
    const std::uint32_t fastest =
        *std::max_element(wiring.clock_mhz.begin(), wiring.clock_mhz.end());
    router_edges_.resize((wiring.routers + 63) / 64);
    node_edges_.resize((wiring.terminals.size() + 63) / 64);
    std::map<std::uint32_t, std::uint32_t> domain_of;  // by MHz
    for (std::uint32_t router = 0; router < wiring.routers; ++router) {
      const auto [at, is_new] = domain_of.try_emplace(wiring.clock_mhz[router],
                                                      static_cast<std::uint32_t>(domains_.size()));
      if (is_new) {
        domains_.push_back({Clock(wiring.clock_mhz[router], fastest),
                            std::vector<std::uint64_t>(router_edges_.size()),
                            std::vector<std::uint64_t>(node_edges_.size())});
      }
      of_router_[router] = at->second;
      domains_[at->second].routers[router / 64] |= std::uint64_t{1} << (router % 64);
    }
    for (std::size_t node = 0; node < wiring.terminals.size(); ++node) {
      const std::uint32_t domain = of_router_[wiring.terminals[node].from.number()];
      domains_[domain].nodes[node / 64] |= std::uint64_t{1} << (node % 64);
    }
  }
  void add_narrow(const Wiring::Link& link, int interval) {
    if (intervals_.empty()) {
      intervals_.assign(of_router_.size() * ports_, 1);
      free_.assign(intervals_.size(), 0);
      narrow_.resize(of_router_.size());
    }
    intervals_[number(link.from, link.output)] = interval;
    narrow_[link.from.number()].push_back(link.output);
  }

  std::uint32_t ports_{};
  int synchronizer_{};
  std::vector<Domain> domains_;           // empty: one clock
  std::vector<std::uint32_t> of_router_;  // [router]: its domain
  std::vector<std::uint64_t> router_edges_;
  std::vector<std::uint64_t> node_edges_;
  std::vector<int> intervals_;               // [router][port]; empty: no link is narrow
  std::vector<std::int64_t> free_;           // [router][port], in the router's own time
  std::vector<std::vector<PortId>> narrow_;  // [router]
};

}  // namespace ww::sim::net
