// Packets that go by way of another router, drawn where they enter, so that load spreads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vc_router/ids.hpp"
#include "ww/sim/net/draws.hpp"

namespace ww::sim::net::graph {

// Routers lie at (x, y).
struct Position {
  int x{};
  int y{};
  bool operator==(const Position&) const = default;
};

class Detours {
 public:
  enum class Kind {
    valiant,      // all packets, by the router of any node (Valiant and Brebner, STOC 1981)
    ugal,         // those whose shortest way is busier than such a detour (Singh, Stanford, 2005)
    ugal_groups,  // as ugal, between the groups of a dragonfly (Kim et al., ISCA 2008)
  };

  // A flattened butterfly, or a dragonfly whose groups are rows, with the router of each node.
  // Behind the detour's router packets are in phase `phase_behind`.
  Detours(Kind kind, int nodes_of_router, std::vector<Position> at, std::vector<RouterId> nodes,
          std::uint32_t phase_behind = 0)
      : kind_(kind),
        nodes_of_router_(static_cast<std::uint32_t>(nodes_of_router)),
        phase_behind_(phase_behind),
        at_(std::move(at)),
        nodes_(std::move(nodes)) {
    for (const Position& position : at_) {
      width_ = std::max(width_, position.x + 1);
      height_ = std::max(height_, position.y + 1);
    }
  }

  // A packet at its destination's router ends its detour there, even before it has passed the drawn
  // router.
  [[nodiscard]] bool end_early() const { return kind_ == Kind::valiant; }
  [[nodiscard]] std::uint32_t phase_behind() const { return phase_behind_; }

  // Draws the router by which a packet goes that enters at `from`; empty: none. load(router): flits
  // under way from the output of `from` towards it. The numbers, and the bias towards the shortest
  // way, are those of BookSim 2.
  template <class Load>
  [[nodiscard]] std::optional<RouterId> draw(Draws& draws, RouterId from, RouterId to,
                                             const Load& load) const {
    if (kind_ == Kind::valiant) {
      const RouterId via = nodes_[draws.below(static_cast<std::uint32_t>(nodes_.size()))];
      return via == from || from == to ? std::nullopt : std::optional(via);
    }
    if (kind_ == Kind::ugal_groups) {
      constexpr std::uint32_t kGroupBias = 30;
      const auto group = [&](RouterId router) { return at_[router.number()].y; };
      if (group(from) == group(to)) {
        return std::nullopt;
      }
      const RouterId via = nodes_[draws.below(static_cast<std::uint32_t>(nodes_.size()))];
      const bool is_freer = group(via) != group(from) && load(to) > 2 * load(via) + kGroupBias;
      return is_freer ? std::optional(via) : std::nullopt;
    }
    if (from == to) {
      return std::nullopt;
    }
    constexpr std::uint32_t kBias = 2;
    static_cast<void>(draws.below(nodes_of_router_));  // which node of the router does not matter
    Position place = at_[from.number()];
    const Position end = at_[to.number()];
    if (place.x != end.x) {
      place.x = static_cast<int>(draws.below(static_cast<std::uint32_t>(width_)));
    }
    if (place.y != end.y) {
      place.y = static_cast<int>(draws.below(static_cast<std::uint32_t>(height_)));
    }
    const RouterId via(place.y * width_ + place.x);
    if (via == from) {
      return std::nullopt;
    }
    const bool is_freer =
        links(from, to) * load(to) > (links(from, via) + links(via, to)) * load(via) + kBias;
    return is_freer ? std::optional(via) : std::nullopt;
  }

 private:
  [[nodiscard]] std::uint32_t links(RouterId from, RouterId to) const {
    const Position a = at_[from.number()];
    const Position b = at_[to.number()];
    return (a.x != b.x ? 1u : 0u) + (a.y != b.y ? 1u : 0u);
  }

  Kind kind_;
  std::uint32_t nodes_of_router_;
  std::uint32_t phase_behind_;
  int width_{};
  int height_{};
  std::vector<Position> at_;  // [router]
  std::vector<RouterId> nodes_;
};

}  // namespace ww::sim::net::graph
