// The ideal network: every packet takes the mesh's zero-load latency, as if it were alone. No
// contention, unlimited bandwidth; the floor against which a real network is compared.
#include <algorithm>

#include "mesh_links.hpp"
#include "network/ideal/network.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace {

class Ideal final : public ClockedNetwork {
 public:
  explicit Ideal(const NetworkConfig& config)
      : ClockedNetwork(config),
        router_config_(config.own<VcRouterConfig>()),
        reply_buffers_(config) {}

  Status inject(const Packet& packet) override {
    WW_TRY(store_.check(packet, now_));
    for (const NodeId destination : packet.destinations) {
      const std::uint32_t index = store_.enqueue(packet, destination);
      store_.pop(packet.source, packet.message_class);
      PacketRecord& record = store_[index];
      record.injected = now_;
      record.hops = static_cast<std::uint32_t>(hops(record.source, record.destination));
      const std::int64_t latency =
          static_cast<std::int64_t>(record.hops) * hop_cycles() + 2 + record.flits - 1;
      under_way_.push_back({now_ + latency, sequence_++, index});
      std::push_heap(under_way_.begin(), under_way_.end(), Later{});
      events_.injected_flits += record.flits;
      events_.crossbar_flits += std::uint64_t{record.flits} * record.hops;
      events_.link_flits += std::uint64_t{record.flits} * (record.hops - 1);
      events_.vc_grants += record.hops;
    }
    reply_buffers_.count(packet);
    return {};
  }

  void tick() override {
    store_.begin_tick();
    deliveries_.clear();
    while (!under_way_.empty() && under_way_.front().arrival == now_) {
      std::pop_heap(under_way_.begin(), under_way_.end(), Later{});
      const std::uint32_t index = under_way_.back().packet;
      under_way_.pop_back();
      events_.ejected_flits += store_[index].flits;
      store_.deliver(index, now_, static_cast<std::uint16_t>(store_[index].hops), deliveries_);
    }
    ++now_;
  }

  [[nodiscard]] std::optional<Cycles> next_event() const override {
    if (under_way_.empty()) {
      return std::nullopt;
    }
    return Cycles{static_cast<std::uint64_t>(under_way_.front().arrival)};
  }
  [[nodiscard]] std::uint32_t source_queue(NodeId, std::uint8_t) const override {
    return 0;  // everything leaves at once
  }
  [[nodiscard]] power::NetworkEvents events() const override {
    power::NetworkEvents events = events_;
    events.cycles = static_cast<std::uint64_t>(now_);
    events.routers = static_cast<std::uint64_t>(config_.width * config_.height);
    events.links = mesh_links(config_);
    events.buffer_reads = events.crossbar_flits;
    events.buffer_writes = events.crossbar_flits;
    events.switch_grants = events.crossbar_flits;
    events.reply_buffer_flits = reply_buffers_.flits();
    return events;
  }
  [[nodiscard]] std::vector<LinkUse> link_use() const override { return {}; }
  [[nodiscard]] Status check_conservation() const override {
    if (store_.inside() != under_way_.size()) {
      return fail(ErrorCode::bad_data, "a packet is neither under way nor delivered");
    }
    return {};
  }
  [[nodiscard]] std::optional<Stuck> stuck(Cycles /*patience*/) const override {
    return std::nullopt;  // every packet has a date of arrival
  }

 private:
  struct UnderWay {
    std::int64_t arrival;
    std::uint64_t sequence;
    std::uint32_t packet;
  };
  struct Later {
    bool operator()(const UnderWay& a, const UnderWay& b) const {
      return a.arrival != b.arrival ? a.arrival > b.arrival : a.sequence > b.sequence;
    }
  };

  [[nodiscard]] int hop_cycles() const {
    const VcRouterConfig& router = router_config_;
    const int allocation = router.speculative
                               ? std::max(router.vc_alloc_delay, router.sw_alloc_delay)
                               : router.vc_alloc_delay + router.sw_alloc_delay;
    return router.routing_delay + allocation + router.st_delay + config_.link_delay;
  }
  [[nodiscard]] int hops(NodeId source, NodeId destination) const {
    const int from = static_cast<int>(source) / config_.concentration;
    const int to = static_cast<int>(destination) / config_.concentration;
    return std::abs(from % config_.width - to % config_.width) +
           std::abs(from / config_.width - to / config_.width) + 1;
  }

  const VcRouterConfig router_config_;
  std::vector<UnderWay> under_way_;  // a heap, next arrival first
  power::NetworkEvents events_;
  ReplyBuffers reply_buffers_;
  std::uint64_t sequence_{0};
};

std::unique_ptr<Network> make_ideal(const NetworkConfig& config) {
  return std::make_unique<Ideal>(config);
}

Status validate_ideal(const NetworkConfig&) {
  return {};  // no key depends on another
}

}  // namespace

const NetworkKind kIdeal{.name = "ideal",
                         .make = make_ideal,
                         .validate = validate_ideal,
                         .keys = vc_router_keys,
                         .router = mesh_router_size};

}  // namespace ww::sim::net
