// Dapper (Raparti and Pasricha, NOCS 2018): requests on a mesh of virtual-channel routers, replies
// on overlay circuits from the memory controllers.
//
// Message class 0 takes the request plane. Class 1 takes the reply plane where circuits lead (from
// a memory controller to another node), and else the request plane: replies of other nodes, and of
// a controller to itself. Destinations end at nodes that take every flit at once, so the two
// planes cannot wait for each other.
#include <algorithm>

#include "network/dapper/network.hpp"
#include "network/dapper/reply_plane.hpp"
#include "network/mesh/network.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace {

// On the request plane this bit of its kind, which comes back, distinguishes a reply.
constexpr std::uint8_t kReplyBit = 0x80;

class Dapper final : public NetworkBase {
 public:
  Dapper(const NetworkConfig& config, std::vector<NodeId> mcs, std::unique_ptr<Network> requests)
      : NetworkBase(config),
        requests_(std::move(requests)),
        replies_(config, std::move(mcs)),
        reply_buffers_(config),
        check_(node_count(config), config.classes) {}

  [[nodiscard]] Cycles now() const override { return requests_->now(); }

  Status inject(const Packet& packet) override {
    WW_TRY(check_.check(packet, cycle()));
    for (const NodeId destination : packet.destinations) {
      if (packet.message_class == 1 && replies_.reaches(packet.source, destination)) {
        replies_.inject(packet, destination, cycle());
        continue;
      }
      Packet inside = packet;
      inside.destinations = {&destination, 1};
      inside.message_class = 0;
      inside.kind = with_class(packet.kind, packet.message_class);
      WW_TRY(requests_->inject(inside));
    }
    reply_buffers_.count(packet);
    gather_waiting();
    return {};
  }

  void tick() override {
    deliveries_.clear();
    const std::int64_t now = cycle();
    requests_->tick();
    for (Delivery delivery : requests_->deliveries()) {
      const auto kind = static_cast<std::uint8_t>(delivery.kind);
      delivery.message_class = (kind & kReplyBit) != 0 ? 1 : 0;
      delivery.kind = static_cast<PacketKind>(kind & ~kReplyBit);
      deliveries_.push_back(delivery);
    }
    replies_.tick(now, deliveries_);
    gather_waiting();
  }

  [[nodiscard]] std::optional<Cycles> next_event() const override {
    const std::optional<Cycles> request = requests_->next_event();
    const std::int64_t reply = replies_.next_event(cycle());
    if (reply < 0) {
      return request;
    }
    const Cycles at{static_cast<std::uint64_t>(reply)};
    return request ? std::min(*request, at) : at;
  }

  // The request plane's queue counts for both classes of a node that is not a controller.
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return message_class == 1 && replies_.is_controller(node) ? replies_.queued(node, cycle())
                                                              : requests_->source_queue(node, 0);
  }
  [[nodiscard]] std::uint64_t packets_inside() const override {
    return requests_->packets_inside() + replies_.packets_inside();
  }

  [[nodiscard]] power::NetworkEvents events() const override {
    power::NetworkEvents events = requests_->events();
    events.overlay = replies_.events();
    events.injected_flits += replies_.injected_flits();
    events.ejected_flits += replies_.ejected_flits();
    events.reply_buffer_flits = reply_buffers_.flits();
    return events;
  }

  // Parallel links of the planes count as one.
  [[nodiscard]] std::vector<LinkUse> link_use() const override {
    std::vector<LinkUse> links = requests_->link_use();
    replies_.add_use(links);
    return links;
  }
  [[nodiscard]] Status check_conservation() const override {
    WW_TRY(requests_->check_conservation());
    return replies_.check_conservation();
  }
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override {
    auto why = requests_->stuck(patience);
    return why ? why : replies_.stuck(cycle(), static_cast<std::int64_t>(patience.value()));
  }

 private:
  void skip(Cycles to) override {
    requests_->skip_to(to);
    replies_.advance_to(cycle());
  }
  [[nodiscard]] std::int64_t cycle() const {
    return static_cast<std::int64_t>(requests_->now().value());
  }
  [[nodiscard]] static PacketKind with_class(PacketKind kind, std::uint8_t message_class) {
    return static_cast<PacketKind>(static_cast<std::uint8_t>(kind) |
                                   (message_class != 0 ? kReplyBit : 0));
  }
  void gather_waiting() {
    const auto words = requests_->waiting_sources();
    std::copy(words.begin(), words.end(), waiting_.begin());
    replies_.mark_waiting(waiting_, cycle());
  }

  std::unique_ptr<Network> requests_;
  ReplyPlane replies_;
  ReplyBuffers reply_buffers_;
  PacketStore check_;  // holds nothing: only its check of packets is used
};

std::vector<NodeId> dapper_memory_nodes(const NetworkConfig& config) {
  return memory_node_in_each_row(config.width, config.height);
}

std::unique_ptr<Network> make_dapper(const NetworkConfig& config) {
  NetworkConfig plane = config;
  plane.classes = 1;
  plane.memory_nodes.clear();
  auto mcs = config.memory_nodes.empty() ? dapper_memory_nodes(config) : config.memory_nodes;
  return std::make_unique<Dapper>(config, std::move(mcs), make_mesh(plane));
}

}  // namespace

NetworkConfig dapper_network() {
  NetworkConfig config = dapper_baseline();
  config.network = "dapper";
  config.classes = 2;
  config.flit_bits = 64;
  return config;
}

const NetworkKind kDapper{.name = "dapper",
                          .make = make_dapper,
                          .validate = validate_overlay,
                          .keys = overlay_keys,
                          .needs_classes = true,
                          .router = mesh_router_size,
                          .own_planes = true,
                          .approximates = true,
                          .classes = 2,
                          .memory_nodes = dapper_memory_nodes,
                          .paper = dapper_network};

}  // namespace ww::sim::net
