// Several nodes at each router of a network that knows one node a router: they share its port.
#include <algorithm>

#include "network/bufferless/network.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "slots.hpp"

namespace ww::sim::net {
namespace {

class Concentrated final : public NetworkBase {
 public:
  Concentrated(const NetworkConfig& config, std::unique_ptr<Network> inside)
      : NetworkBase(config),
        share_(static_cast<NodeId>(config.concentration)),
        inside_(std::move(inside)),
        open_(static_cast<std::size_t>(node_count(config))),
        reply_buffers_(config) {}

  [[nodiscard]] Cycles now() const override { return inside_->now(); }

  Status inject(const Packet& packet) override {
    const auto nodes = static_cast<NodeId>(open_.size());
    if (packet.source >= nodes) {
      return fail(ErrorCode::out_of_range, "source is not one of the nodes", "packet.source");
    }
    for (const NodeId destination : packet.destinations) {
      if (destination >= nodes) {
        return fail(ErrorCode::out_of_range, "unreachable destination", "packet.destinations");
      }
    }
    if (packet.destinations.empty()) {
      return fail(ErrorCode::invalid_argument, "a packet needs at least one destination",
                  "packet.destinations");
    }
    // A copy for each destination, with a tag of its own, which finds the nodes again.
    for (const NodeId destination : packet.destinations) {
      const NodeId router = destination / share_;
      Packet one = packet;
      one.source = packet.source / share_;
      one.destinations = {&router, 1};
      const std::uint64_t slot = slots_.take({packet.tag, packet.source, destination});
      one.tag = slot;
      if (Status sent = inside_->inject(one); !sent) {
        slots_.give_back(slot);
        return sent;
      }
      ++open_[packet.source];
    }
    reply_buffers_.count(packet);
    gather_waiting();
    return {};
  }

  void tick() override {
    inside_->tick();
    deliveries_.clear();
    for (Delivery delivery : inside_->deliveries()) {
      const Ends ends = slots_.at(delivery.tag);
      slots_.give_back(delivery.tag);
      --open_[ends.source];
      delivery.tag = ends.tag;
      delivery.source = ends.source;
      delivery.destination = ends.destination;
      deliveries_.push_back(delivery);
    }
    gather_waiting();
  }

  [[nodiscard]] std::optional<Cycles> next_event() const override { return inside_->next_event(); }
  // Returns the router's queue, which its nodes share.
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return inside_->source_queue(node / share_, message_class);
  }
  [[nodiscard]] std::uint64_t packets_inside() const override { return inside_->packets_inside(); }
  [[nodiscard]] power::NetworkEvents events() const override {
    power::NetworkEvents events = inside_->events();
    events.reply_buffer_flits = reply_buffers_.flits();
    return events;
  }
  [[nodiscard]] std::vector<LinkUse> link_use() const override { return inside_->link_use(); }
  [[nodiscard]] Status check_conservation() const override { return inside_->check_conservation(); }
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override {
    return inside_->stuck(patience);
  }

 private:
  struct Ends {
    std::uint64_t tag;
    NodeId source;
    NodeId destination;
  };

  void skip(Cycles to) override { inside_->skip_to(to); }

  // A node waits while its router does and something of it is under way.
  void gather_waiting() {
    std::fill(waiting_.begin(), waiting_.end(), 0);
    const auto routers = inside_->waiting_sources();
    for (NodeId node = 0; node < open_.size(); ++node) {
      const NodeId router = node / share_;
      if (open_[node] > 0 && (routers[router / 64] >> (router % 64) & 1) != 0) {
        waiting_[node / 64] |= std::uint64_t{1} << (node % 64);
      }
    }
  }

  const NodeId share_;
  std::unique_ptr<Network> inside_;
  std::vector<std::uint32_t> open_;  // [node] packets that have not arrived
  ReplyBuffers reply_buffers_;
  Slots<Ends> slots_;
};

}  // namespace

std::unique_ptr<Network> make_concentrated(const NetworkConfig& config,
                                           std::unique_ptr<Network> inside) {
  return std::make_unique<Concentrated>(config, std::move(inside));
}

}  // namespace ww::sim::net
