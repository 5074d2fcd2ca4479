// Flits that pass memory controllers' output buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

class ReplyBuffers {
 public:
  explicit ReplyBuffers(const NetworkConfig& config) {
    if (!config.memory_nodes.empty()) {
      is_memory_.resize(static_cast<std::size_t>(node_count(config)));
      for (const NodeId node : config.memory_nodes) {
        is_memory_[node] = 1;
      }
    }
  }
  // A packet that the network has taken. Requests have no part in it: those of networks with
  // classes have class 0. Where no memory node is known, whoever replies has memory.
  void count(const Packet& packet) {
    const bool leaves_memory =
        is_memory_.empty() ? is_reply(packet.kind) : is_memory_[packet.source] != 0;
    if ((packet.message_class != 0 || is_reply(packet.kind)) && leaves_memory) {
      flits_ += std::uint64_t{packet.flits} * packet.destinations.size();
    }
  }
  [[nodiscard]] std::uint64_t flits() const { return flits_; }

 private:
  std::vector<char> is_memory_;  // [node]; empty: none is known
  std::uint64_t flits_{};
};

}  // namespace ww::sim::net
