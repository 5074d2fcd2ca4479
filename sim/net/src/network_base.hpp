// Declares what the networks have in common: their configuration, the last tick's deliveries, the
// nodes that wait, and the rule of skip_to().
#pragma once

#include <algorithm>
#include <vector>

#include "packet_store.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

class NetworkBase : public Network {
 public:
  [[nodiscard]] const NetworkConfig& config() const final { return config_; }
  [[nodiscard]] std::span<const Delivery> deliveries() const final { return deliveries_; }
  [[nodiscard]] std::span<const std::uint64_t> waiting_sources() const final { return waiting_; }
  void skip_to(Cycles cycle) final {
    const std::optional<Cycles> next = next_event();
    const Cycles to = next ? std::min(*next, cycle) : cycle;
    if (to > now()) {
      skip(to);
      deliveries_.clear();
    }
  }

 protected:
  explicit NetworkBase(const NetworkConfig& config)
      : config_(config), waiting_(static_cast<std::size_t>(node_count(config) + 63) / 64) {}

  // Sets now() to a later cycle. Nothing would happen in the cycles before it.
  virtual void skip(Cycles to) = 0;

  const NetworkConfig config_;
  std::vector<std::uint64_t> waiting_;  // mask over nodes with flits in their queues
  Deliveries deliveries_;
};

// A network with a clock and packets of its own, rather than those of another network inside it.
class ClockedNetwork : public NetworkBase {
 public:
  [[nodiscard]] Cycles now() const final { return Cycles{static_cast<std::uint64_t>(now_)}; }
  [[nodiscard]] std::uint64_t packets_inside() const final { return store_.inside(); }
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return store_.length(node, message_class);
  }

 protected:
  explicit ClockedNetwork(const NetworkConfig& config)
      : NetworkBase(config), store_(node_count(config), config.classes) {}

  void skip(Cycles to) override { now_ = static_cast<std::int64_t>(to.value()); }

  PacketStore store_;
  std::int64_t now_{0};
};

}  // namespace ww::sim::net
