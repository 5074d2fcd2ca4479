// Routing in the mesh: XY, or adaptive between the two minimal outputs.
//
// Deadlock: XY routing takes no turn from y to x, so the channel graph has no cycle (Dally and
// Seitz 1987). Message classes have disjoint VCs, so a request never waits for a reply's buffer.
// Adaptive routing is minimal in double-y form (Dally and Towles, ch. 14; DyXY, DAC'06, separates
// VCs likewise): packets to the east and to the west use disjoint VCs of the y links, so within
// either half the x links are used in one direction only and no cycle closes: whichever of the two
// minimal outputs a head is sent to, so the measure of congestion does not matter. Minimal routes
// end: no livelock. Priority arbitration does not change the channel graph; injection may starve
// while through traffic saturates a port, which stuck() reports.
#pragma once

#include <cstdlib>
#include <vector>

#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

enum class MeshTurns {
  xy,
  dyxy,  // the output whose VCs have the fewer credits in use
  rca,   // Gratz, Grot and Keckler, HPCA 2008, in one dimension: the busy VCs there and beyond
};

class MeshRouting {
 public:
  // Ports: 0 +x, 1 -x, 2 +y, 3 -y, then the nodes.
  static constexpr std::uint32_t kPlusX = 0;
  static constexpr std::uint32_t kPlusY = 2;
  static constexpr std::uint32_t kLocalFrom = 4;
  static constexpr bool kEqualLinks = true;

  MeshRouting(const NetworkConfig& config, MeshTurns turns)
      : turns_(turns),
        width_(static_cast<std::uint32_t>(config.width)),
        height_(static_cast<std::uint32_t>(config.height)),
        nodes_per_router_(static_cast<std::uint32_t>(config.concentration)) {
    for (std::uint32_t router = 0; router < width_ * height_; ++router) {
      places_.push_back(place(router));
    }
    if (turns_ == MeshTurns::rca) {
      congestion_ = congestion_before_ =
          IdVector<RouterId, Congestion>(std::size_t{width_} * height_);
    }
  }

  [[nodiscard]] static bool is_entry(RouterId, PortId input) {
    return input.number() >= kLocalFrom;
  }
  [[nodiscard]] static bool is_exit(RouterId, PortId output) {
    return output.number() >= kLocalFrom;
  }

  [[nodiscard]] Place place_of(NodeId node) const {
    return places_[RouterId(nodes_per_router_ == 1 ? node : node / nodes_per_router_)];
  }
  [[nodiscard]] bool is_adaptive() const { return turns_ != MeshTurns::xy; }
  // Adaptive routing keeps packets to the west apart from the others.
  [[nodiscard]] std::uint32_t phase_of(NodeId source, NodeId destination) const {
    return turns_ != MeshTurns::xy && place_of(destination).x < place_of(source).x ? 1 : 0;
  }
  [[nodiscard]] int hops(NodeId source, NodeId destination) const {
    const Place from = place_of(source);
    const Place to = place_of(destination);
    return std::abs(from.x - to.x) + std::abs(from.y - to.y) + 1;
  }

  template <class Rules, class R>
  [[nodiscard]] Hop route(const Rules& rules, RouterId here, const R& router, PortVc,
                          const Flit& flit) const {
    const Place at = places_[here];
    const Place to = flit.to();
    std::uint32_t group = rules.groups() == 1 ? 0 : flit.message_class().number();
    if (rules.groups() > 1 && turns_ != MeshTurns::xy) {
      const PortId output = adaptive_output(rules, here, router, flit);
      const bool west_on_y = output.number() / 2 == kPlusY / 2 && flit.phase() != 0;
      return {output, GroupId(2 * group + (west_on_y ? 1 : 0))};
    }
    const int x_left = to.x - at.x;
    const int y_left = to.y - at.y;
    const std::uint32_t along_x = kPlusX + is_negative(x_left);
    const std::uint32_t along_y = kPlusY + is_negative(y_left);
    const std::uint32_t behind_x = either(y_left != 0, along_y, flit.port().number());
    return {PortId(either(x_left != 0, along_x, behind_x)), GroupId(group)};
  }

  // RCA: what a router knows of an output is the mean of its own busy VCs there and of what the
  // next router along the same direction reported in the cycle before.
  template <class Rules, class Routers>
  void end_cycle(const Rules& rules, const Routers& routers) {
    if (rules.groups() > 1 && turns_ == MeshTurns::rca) {
      share_congestion(rules, routers);
    }
  }
  // Nothing changes but what routers report to each other, which settles within the mesh's diameter
  // and the bits of a value.
  template <class Rules, class Routers>
  void idle(std::uint64_t cycles, const Rules& rules, const Routers& routers) {
    const std::uint64_t settled = std::uint64_t{width_} + height_ + 32;
    for (std::uint64_t left = std::min(cycles, settled); left != 0; --left) {
      end_cycle(rules, routers);
    }
  }

  // The router behind an output, if the output is not at the rim.
  [[nodiscard]] std::optional<RouterId> neighbour(RouterId router, PortId output) const {
    const std::uint32_t from = router.number();
    const Place at = places_[router];
    switch (output.number()) {
      case kPlusX: return rim(at.x + 1u < width_, from + 1);
      case kPlusX + 1: return rim(at.x > 0, from - 1);
      case kPlusY: return rim(at.y + 1u < height_, from + width_);
      default: return rim(at.y > 0, from - width_);
    }
  }

 private:
  [[nodiscard]] static std::uint32_t is_negative(int number) {
    return static_cast<std::uint32_t>(number) >> 31;
  }
  using Congestion = IdArray<PortId, std::uint16_t, kLocalFrom>;  // 8 binary places

  [[nodiscard]] Place place(std::uint32_t router) const {
    return {static_cast<char8_t>(router % width_), static_cast<char8_t>(router / width_)};
  }
  [[nodiscard]] static std::optional<RouterId> rim(bool inside, std::uint32_t router) {
    return inside ? std::optional(RouterId(router)) : std::nullopt;
  }

  // Returns the less congested of two minimal ways; x when they are equal.
  template <class Rules, class R>
  [[nodiscard]] PortId adaptive_output(const Rules& rules, RouterId here, const R& router,
                                       const Flit& flit) const {
    const Place at = places_[here];
    const Place to = flit.to();
    const PortId along_x(kPlusX + (to.x > at.x ? 0u : 1u));
    const PortId along_y(kPlusY + (to.y > at.y ? 0u : 1u));
    if (to.x != at.x && to.y != at.y) {
      const bool y_is_freer =
          turns_ == MeshTurns::rca
              ? congestion_[here][along_y] < congestion_[here][along_x]
              : credits_at(rules, router, along_y) > credits_at(rules, router, along_x);
      return y_is_freer ? along_y : along_x;
    }
    if (to.x != at.x) {
      return along_x;
    }
    return to.y != at.y ? along_y : flit.port();
  }
  template <class Rules, class R>
  [[nodiscard]] static std::uint32_t credits_at(const Rules& rules, const R& router,
                                                PortId output) {
    std::uint32_t credits = 0;
    for (std::uint32_t vc = 0; vc < rules.vcs(); ++vc) {
      credits += router.credits(rules.vc_at(output, VcId(vc)));
    }
    return credits;
  }

  // A VC is busy while a packet owns it or flits of it wait behind the link.
  template <class Rules, class Routers>
  void share_congestion(const Rules& rules, const Routers& routers) {
    std::swap(congestion_, congestion_before_);
    const auto buffer = static_cast<std::uint32_t>(rules.config().vc_buffer);
    for (std::uint32_t number = 0; number < width_ * height_; ++number) {
      const RouterId router(number);
      for (std::uint32_t port = 0; port < kLocalFrom; ++port) {
        const PortId output(port);
        const std::optional<RouterId> next = neighbour(router, output);
        if (!next) {
          continue;
        }
        std::uint32_t busy = 0;
        for (std::uint32_t vc = 0; vc < rules.vcs(); ++vc) {
          const PortVc at = rules.vc_at(output, VcId(vc));
          busy += routers[router].credits(at) != buffer || routers[router].has_owner(at) ? 1 : 0;
        }
        const std::uint32_t here = busy << 8;
        const bool last = !neighbour(*next, output);  // nothing known beyond
        const std::uint32_t beyond = last ? here : congestion_before_[*next][output];
        congestion_[router][output] = static_cast<std::uint16_t>((here + beyond) / 2);
      }
    }
  }

  MeshTurns turns_;
  std::uint32_t width_;
  std::uint32_t height_;
  std::uint32_t nodes_per_router_;
  IdVector<RouterId, Place> places_;
  IdVector<RouterId, Congestion> congestion_;
  IdVector<RouterId, Congestion> congestion_before_;
};

}  // namespace ww::sim::net
