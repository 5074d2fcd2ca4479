// The detector of deadlock and starvation, for networks with Sources.
#pragma once

#include <fmt/format.h>

#include <optional>

#include "packet_store.hpp"
#include "vc_router/sources.hpp"

namespace ww::sim::net {

// `last_move`: the last cycle in which a flit moved.
[[nodiscard]] inline std::optional<Stuck> find_stuck(const Sources& sources,
                                                     const PacketStore& store, NodeId nodes,
                                                     std::int64_t now, std::int64_t last_move,
                                                     Cycles patience) {
  const auto limit = static_cast<std::int64_t>(patience.value());
  if (store.inside() != 0 && now - last_move > limit) {
    return Stuck{Stuck::Kind::deadlock,
                 fmt::format("deadlock: {} packets inside, none has moved for {} cycles",
                             store.inside(), now - last_move)};
  }
  for (NodeId node = 0; node < nodes; ++node) {
    const std::int64_t waiting = now - sources.waiting_since(node, now, store);
    if (waiting > limit) {
      return Stuck{
          Stuck::Kind::starvation,
          fmt::format("starvation: node {} has had no flit accepted for {} cycles", node, waiting)};
    }
  }
  return std::nullopt;
}

}  // namespace ww::sim::net
