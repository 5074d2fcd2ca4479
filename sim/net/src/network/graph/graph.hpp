// A network as a graph: routers, links and nodes, and a table that says how packets find their way.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "network/graph/detours.hpp"
#include "vc_router/wiring.hpp"
#include "ww/core/result.hpp"

namespace ww::sim::net::graph {

// Collects a wiring. Ports are numbered in the order in which they are added, inputs and outputs
// apart, unless they are named; BookSim numbers them likewise, and priorities follow the numbers.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::uint32_t routers) : inputs_(routers), outputs_(routers) {
    wiring_.routers = routers;
  }

  // The next node enters and leaves at this router.
  void add_node(std::uint32_t router, int delay = 1) { add_node(router, router, delay); }
  void add_node(std::uint32_t from, std::uint32_t to, int delay);
  void add_node_at(std::uint32_t router, std::uint32_t port);
  // Adds a node with wires of this length each way, over the energy accounting's link length.
  void add_node_over(std::uint32_t router, double pitches);
  // `like` gives the delay, length and energy.
  void add_link(std::uint32_t from, std::uint32_t to, const Wiring::Link& like);
  void add_both(std::uint32_t one, std::uint32_t other, const Wiring::Link& like) {
    add_link(one, other, like);
    add_link(other, one, like);
  }
  // Adds a link at ports of the caller's choice.
  void add_link_at(std::uint32_t from, std::uint32_t output, std::uint32_t to, std::uint32_t input,
                   const Wiring::Link& like);

  [[nodiscard]] Wiring take();

 private:
  Wiring wiring_;
  std::vector<std::uint32_t> inputs_;  // [router]: ports so far
  std::vector<std::uint32_t> outputs_;
};

// Finds the output that a packet takes: by its phase, the router where it is and the one where it
// leaves. The phase is what a packet remembers of its way, below 16. The layer is the share of its
// class's VCs that it may use behind that output.
class Routes {
 public:
  static constexpr std::uint16_t kNowhere = std::numeric_limits<std::uint16_t>::max();
  struct Step {
    std::uint16_t output{kNowhere};
    std::uint8_t phase{};
    std::uint8_t layer{};
  };

  Routes() = default;
  Routes(std::uint32_t routers, std::uint32_t phases, std::uint32_t layers)
      : routers_(routers),
        phases_(phases),
        layers_(layers),
        steps_(std::size_t{phases} * routers * routers) {}

  [[nodiscard]] Step& at(std::uint32_t phase, RouterId here, RouterId to) {
    return steps_[index(phase, here, to)];
  }
  [[nodiscard]] const Step& at(std::uint32_t phase, RouterId here, RouterId to) const {
    return steps_[index(phase, here, to)];
  }
  // Packets enter in phase (number of their destination) modulo `phases`, so that those for one
  // router may take different ways.
  void spread_over(std::uint32_t phases) { first_phases_ = phases; }
  [[nodiscard]] std::uint32_t first_phases() const { return first_phases_; }

  // A head that is about to come to `here` draws one of `ways` phases, from `first_phase` on; or it
  // draws two, and takes the one whose output has fewer flits under way, the first if they are
  // equal; or, of two ways, it takes the one whose output has fewer, and draws only if they are
  // equal.
  enum class Choice : std::uint8_t { any, freer_of_two, freer_or_any };
  struct Draw {
    std::uint8_t ways{};  // 0: it keeps its phase
    std::uint8_t first_phase{};
    Choice choice{};
  };
  void draw_at(RouterId here, RouterId to, Draw draw) {
    draws_.resize(std::size_t{routers_} * routers_);
    draws_[index(0, here, to)] = draw;
  }
  [[nodiscard]] bool draws() const { return !draws_.empty() || detours_; }
  // Packets draw at the router alone where they enter.
  void draw_at_entries_alone() { draws_under_way_ = false; }
  [[nodiscard]] bool draws_under_way() const { return !draws_.empty() && draws_under_way_; }
  // Packets may go by way of another router: in phase 1 up to there, and in phase_behind() from
  // there on. The two have layers of their own. As channels of the second leg never wait for those
  // of the first, no circle runs through both.
  void make_detours(Detours detours) { detours_ = std::move(detours); }
  [[nodiscard]] const std::optional<Detours>& detours() const { return detours_; }
  [[nodiscard]] Draw draw(RouterId here, RouterId to) const {
    return draws_.empty() ? Draw{} : draws_[index(0, here, to)];
  }
  // Packets draw the VC in which they enter, anew in each cycle until it is free.
  void draw_entry_vcs() { draws_entry_vcs_ = true; }
  [[nodiscard]] bool draws_entry_vcs() const { return draws_entry_vcs_; }
  // The routes at a packet's last router name a layer of the node's VCs; otherwise it may have any.
  void leave_by_layer() { leaves_by_layer_ = true; }
  [[nodiscard]] bool leaves_by_layer() const { return leaves_by_layer_; }

  [[nodiscard]] std::uint32_t phases() const { return phases_; }
  [[nodiscard]] std::uint32_t layers() const { return layers_; }

  // Packets may take any way with the least sum of `distances`, [router][router], over VCs of their
  // own. These routes are then those of the escape channel: the first VC of each class, which every
  // head may ask for and no packet leaves before its end.
  void make_escape_of(std::vector<std::uint32_t> distances) {
    distances_ = std::move(distances);
    layers_ = 2;
  }
  [[nodiscard]] bool adaptive() const { return !distances_.empty(); }
  // Precondition: adaptive().
  [[nodiscard]] std::uint32_t distance(RouterId from, RouterId to) const {
    return distances_[std::size_t{from.number()} * routers_ + to.number()];
  }

 private:
  [[nodiscard]] std::size_t index(std::uint32_t phase, RouterId here, RouterId to) const {
    return (std::size_t{phase} * routers_ + here.number()) * routers_ + to.number();
  }

  std::uint32_t routers_{};
  std::uint32_t phases_{1};
  std::uint32_t layers_{1};
  std::uint32_t first_phases_{1};
  bool draws_entry_vcs_{};
  bool draws_under_way_{true};
  bool leaves_by_layer_{};
  std::vector<Step> steps_;  // [phase][here][to]
  std::vector<Draw> draws_;  // [here][to]; empty: nothing is drawn
  std::optional<Detours> detours_;
  std::vector<std::uint32_t> distances_;  // [from][to]; empty: one way only
};

struct Topology {
  Wiring wiring;
  Routes routes;
};

// Routers are refused beyond this: a table has a row for each pair.
inline constexpr std::uint32_t kMaxRouters = 2048;

// The least sum of link delays; ties go to routers of lower number, as in BookSim's anynet.
[[nodiscard]] Routes minimal_routes(const Wiring& wiring);
// Returns the sums, [from][to]; kNoWay where there is none.
inline constexpr std::uint32_t kNoWay = std::numeric_limits<std::uint32_t>::max();
[[nodiscard]] std::vector<std::uint32_t> distances(const Wiring& wiring);
// First towards the root (router 0), then away from it, never back: free of deadlock in any graph
// (Schroeder et al., Autonet, 1991). Of such ways, one with the fewest links.
[[nodiscard]] Routes up_down_routes(const Wiring& wiring);
// Along x, then along y, each time by the link that brings the packet nearest without passing its
// place on that axis. Nobody turns back, so that no circle is possible. Routers lie at
// (x, y) = at[router].
[[nodiscard]] Routes dimension_order_routes(const Wiring& wiring, const std::vector<Position>& at);

// Routers that a packet passes from where it enters to where it leaves: [from][to], 0 for pairs
// that no nodes need.
using HopTable = std::vector<std::uint16_t>;

// Treatment of routes that could wait for each other in a circle: refused, or left to the detector
// of stuck packets.
enum class Circles : std::uint8_t { refuse, watch };

// Follows every route between nodes. Errors, by key `routing`: bad_data when there is no way, when
// a route never ends, or when routes can wait for each other in a circle, which is then named: the
// graph of channels that wait for channels must have no cycle (Dally and Seitz, 1987). Where ways
// are adaptive, this is asked of the escape channel, from every router that a packet may reach
// (Duato, 1993); the table is then empty, for packets count their routers themselves.
[[nodiscard]] Result<HopTable> check_routes(const Topology& topology,
                                            Circles circles = Circles::refuse);

}  // namespace ww::sim::net::graph
