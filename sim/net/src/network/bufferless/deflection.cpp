#include "network/bufferless/deflection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "bits.hpp"
#include "mesh_links.hpp"
#include "network/bufferless/config.hpp"
#include "network/bufferless/network.hpp"
#include "simple_router/keys.hpp"

namespace ww::sim::net {

Deflection::Deflection(const NetworkConfig& config)
    : ClockedNetwork(config),
      chipper_(config.own<BufferlessConfig>().deflection == "chipper"),
      routers_(static_cast<std::uint32_t>(config.width * config.height)),
      hop_(config.own<SimpleRouterConfig>().router_delay + config.link_delay),
      epoch_(static_cast<std::uint64_t>(config.width + config.height) *
             static_cast<std::uint64_t>(hop_)),
      slots_(std::bit_ceil(static_cast<std::size_t>(hop_ + 1))),
      reassembly_(routers_, config.own<BufferlessConfig>().reassembly_buffers),
      reply_buffers_(config),
      flights_(slots_ * routers_ * 4),
      present_(slots_ * words()),
      sent_(routers_),
      last_class_(routers_),
      asking_(words()),
      again_(routers_),
      link_use_(routers_ * 4),
      ending_(slots_) {
  deliveries_.reserve(routers_);
  for (auto& packets : ending_) {
    packets.reserve(routers_);
  }
  if (config.count_toggles) {
    const std::size_t bytes = static_cast<std::size_t>(config.flit_bits) / 8;
    last_word_.resize(routers_ * 4 * bytes);
    link_toggles_.resize(routers_ * 4);
  }
}

Status Deflection::inject(const Packet& packet) {
  WW_TRY(store_.check(packet, now_));
  for (const NodeId destination : packet.destinations) {
    const std::uint32_t index = store_.enqueue(packet, destination);
    if (orders_.size() <= index) {
      orders_.resize(index + 1);
    }
    orders_[index] = sequence_++;
  }
  reply_buffers_.count(packet);
  waiting_[packet.source / 64] |= std::uint64_t{1} << (packet.source % 64);
  return {};
}

void Deflection::tick() {
  store_.begin_tick();
  deliveries_.clear();
  const std::size_t slot = static_cast<std::size_t>(now_) & (slots_ - 1);
  for (const std::uint32_t index : ending_[slot]) {
    const PacketRecord& record = store_[index];
    const auto hops = static_cast<std::uint16_t>((record.hops + record.flits / 2u) / record.flits);
    store_.deliver(index, now_, hops, deliveries_);
  }
  ending_[slot].clear();
  for (std::size_t word = 0; word < words(); ++word) {
    std::uint64_t& here = present_[slot * words() + word];
    for (std::uint64_t left = here | waiting_[word] | asking_[word]; left != 0; left &= left - 1) {
      step(static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest(left)), slot);
    }
    here = 0;
  }
  ++now_;
}

std::optional<Cycles> Deflection::next_event() const {
  const auto some = [](std::uint64_t word) { return word != 0; };
  if (std::any_of(waiting_.begin(), waiting_.end(), some) ||
      std::any_of(asking_.begin(), asking_.end(), some)) {
    return now();
  }
  for (std::size_t ahead = 0; ahead < slots_; ++ahead) {
    const std::size_t slot = (static_cast<std::size_t>(now_) + ahead) & (slots_ - 1);
    const std::uint64_t* words_here = &present_[slot * words()];
    if (!ending_[slot].empty() || std::any_of(words_here, words_here + words(), some)) {
      return Cycles{static_cast<std::uint64_t>(now_) + ahead};
    }
  }
  return std::nullopt;
}

power::NetworkEvents Deflection::events() const {
  power::NetworkEvents events;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.routers = routers_;
  events.links = mesh_links(config_);
  events.injected_flits = injected_flits_;
  events.ejected_flits = ejected_flits_;
  for (const std::uint64_t flits : link_use_) {
    events.link_flits += flits;
  }
  events.resent_flits = resent_flits_;
  events.crossbar_flits = events.link_flits + left_flits_;
  events.switch_grants = events.crossbar_flits;
  events.reply_buffer_flits = reply_buffers_.flits();
  events.toggles_counted = config_.count_toggles;
  for (const std::uint64_t toggles : link_toggles_) {
    events.link_toggles += toggles;
  }
  return events;
}

std::vector<LinkUse> Deflection::link_use() const {
  std::vector<LinkUse> links;
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (int port = 0; port < 4; ++port) {
      if (exists(router, port)) {
        const std::size_t link = router * 4 + static_cast<std::size_t>(port);
        links.push_back(LinkUse{router, neighbour(router, port), link_use_[link],
                                config_.count_toggles ? link_toggles_[link] : 0});
      }
    }
  }
  return links;
}

Status Deflection::check_conservation() const {
  std::uint64_t flying = 0;
  for (const Flying& flit : flights_) {
    flying += flit.here() ? 1 : 0;
  }
  if (flying + left_flits_ != entered_flits_) {
    return fail(ErrorCode::bad_data, fmt::format("{} flits went in, {} came out, {} are under way",
                                                 entered_flits_, left_flits_, flying));
  }
  if (store_.inside() == 0 && injected_flits_ != ejected_flits_) {
    return fail(ErrorCode::bad_data, fmt::format("{} flits of packets were sent, {} taken",
                                                 injected_flits_, ejected_flits_));
  }
  return {};
}

std::optional<Stuck> Deflection::stuck(Cycles patience) const {
  const auto limit = static_cast<std::int64_t>(patience.value());
  for (const Flying& flit : flights_) {
    if (flit.here() && now_ - flit.since > limit) {
      return Stuck{Stuck::Kind::livelock,
                   fmt::format("livelock: a flit has been deflected for {} cycles ({} hops)",
                               now_ - flit.since, flit.hops)};
    }
  }
  if (store_.inside() != 0 && now_ - last_taken_ > limit) {
    return Stuck{Stuck::Kind::livelock,
                 fmt::format("livelock: no flit has been taken for {} cycles", now_ - last_taken_)};
  }
  return std::nullopt;
}

void Deflection::step(std::uint32_t router, std::size_t slot) {
  Flying* arrived = &flights_[(slot * routers_ + router) * 4];
  Inputs inputs;
  for (std::size_t port = 0; port < 4; ++port) {
    inputs[port] = arrived[port];
    arrived[port] = Flying{};
  }
  eject(router, inputs);
  inject_flit(router, inputs);
  if (chipper_) {
    permute(router, inputs);
  } else {
    oldest_first(router, inputs);
  }
}

void Deflection::eject(std::uint32_t router, Inputs& inputs) {
  int chosen = -1;
  for (int port = 0; port < 4; ++port) {
    const Flying& flit = inputs[static_cast<std::size_t>(port)];
    if (flit.here() && goal(flit) == router &&
        (chosen < 0 || before(flit, inputs[static_cast<std::size_t>(chosen)]))) {
      chosen = port;
    }
  }
  if (chosen >= 0) {
    arrive(inputs[static_cast<std::size_t>(chosen)]);
    inputs[static_cast<std::size_t>(chosen)] = Flying{};
  }
}

// A flit has reached its node.
void Deflection::arrive(const Flying& flit) {
  ++left_flits_;
  if (flit.index == kAskAgain) {
    const NodeId source = store_[flit.packet].source;
    again_[source].packets.push_back(flit.packet);
    asking_[source / 64] |= std::uint64_t{1} << (source % 64);
    return;
  }
  const PacketRecord& record = store_[flit.packet];
  // Single flits need no buffer; what a node sends to itself comes in order.
  const bool whole = record.flits == 1 || record.source == record.destination;
  if (whole || reassembly_.take(record.destination, flit.packet, flit.index)) {
    take(flit);
  }
}

void Deflection::take(const Flying& flit) {
  PacketRecord& record = store_[flit.packet];
  ++record.arrived_flits;
  record.hops += flit.hops + 1u;
  ++ejected_flits_;
  last_taken_ = now_;
  if (record.arrived_flits != record.flits) {
    return;
  }
  // The flit still has to pass this router and the link to its node.
  ending_[static_cast<std::size_t>(now_ + hop_) & (slots_ - 1)].push_back(flit.packet);
  if (record.flits == 1 || record.source == record.destination) {
    return;
  }
  if (const auto next = reassembly_.complete(record.destination, flit.packet)) {
    again_[record.destination].requests.push_back(*next);
    asking_[record.destination / 64] |= std::uint64_t{1} << (record.destination % 64);
  }
}

// A node sends a flit when an input is free: one per cycle.
void Deflection::inject_flit(std::uint32_t router, Inputs& inputs) {
  int ports = 0;
  int flits = 0;
  int free_slot = -1;
  for (int port = 0; port < 4; ++port) {
    const bool here = inputs[static_cast<std::size_t>(port)].here();
    ports += exists(router, port) ? 1 : 0;
    flits += here ? 1 : 0;
    // A router on the rim may keep only as many flits as it has ways out.
    free_slot = !here && exists(router, port) ? port : free_slot;
  }
  const bool room = flits < ports && free_slot >= 0;
  Flying flit;
  if (room && (asking_[router / 64] >> (router % 64) & 1u) != 0) {
    flit = next_again(router);
  } else {
    flit = next_new(router, room);
  }
  if (!flit.here()) {
    return;
  }
  ++entered_flits_;
  if (goal(flit) == router) {
    arrive(flit);  // turns round in its own router
  } else {
    inputs[static_cast<std::size_t>(free_slot)] = flit;
  }
}

// The next request or flit to send again. Precondition: the node has one.
Deflection::Flying Deflection::next_again(std::uint32_t router) {
  Again& again = again_[router];
  Flying flit;
  if (!again.requests.empty()) {
    flit = make_flit(again.requests.front(), kAskAgain);
    again.requests.pop_front();
  } else {
    const std::uint32_t packet = again.packets.front();
    const std::vector<std::uint16_t>& dropped = reassembly_.dropped(packet);
    flit = make_flit(packet, dropped[again.flits_sent]);
    ++resent_flits_;
    if (++again.flits_sent == dropped.size()) {
      again.flits_sent = 0;
      again.packets.pop_front();
    }
  }
  const bool more = !again.requests.empty() || !again.packets.empty();
  asking_[router / 64] &= ~(static_cast<std::uint64_t>(!more) << (router % 64));
  return flit;
}

// The next flit of a new packet; without room only one that stays at its node.
Deflection::Flying Deflection::next_new(std::uint32_t router, bool room) {
  int message_class = static_cast<int>(last_class_[router]);
  std::uint32_t index = kNoPacket;
  if (sent_[router] != 0) {
    index = store_.front(router, message_class);
  } else {
    for (int tried = 0; tried < config_.classes && index == kNoPacket; ++tried) {
      message_class = (message_class + 1) % config_.classes;
      index = store_.front(router, message_class);
    }
  }
  if (index == kNoPacket || (!room && store_[index].destination != router)) {
    return {};
  }
  PacketRecord& record = store_[index];
  last_class_[router] = static_cast<std::uint8_t>(message_class);
  if (sent_[router] == 0) {
    record.injected = now_;
  }
  const Flying flit = make_flit(index, sent_[router]);
  ++injected_flits_;
  if (++sent_[router] == record.flits) {
    sent_[router] = 0;
    store_.pop(router, message_class);
    bool more = false;
    for (int c = 0; c < config_.classes; ++c) {
      more |= store_.front(router, c) != kNoPacket;
    }
    waiting_[router / 64] &= ~(static_cast<std::uint64_t>(!more) << (router % 64));
  }
  return flit;
}

namespace {

std::unique_ptr<Network> make_bufferless(const NetworkConfig& config) {
  if (config.concentration == 1) {
    return std::make_unique<Deflection>(config);
  }
  // A bufferless router ejects one flit a cycle: its nodes share that port.
  NetworkConfig inside = config;
  inside.concentration = 1;
  inside.memory_nodes.clear();  // nodes, of which it has none: its routers are
  return make_concentrated(config, std::make_unique<Deflection>(inside));
}

Status validate_bufferless(const NetworkConfig& config) {
  if (config.width < 2 || config.height < 2) {
    return fail(ErrorCode::out_of_range,
                "a bufferless mesh needs two routers along each axis to deflect into",
                config.width < 2 ? "width" : "height");
  }
  return {};
}

}  // namespace

const NetworkKind kMeshBufferless{.name = "mesh-bufferless",
                                  .make = make_bufferless,
                                  .validate = validate_bufferless,
                                  .keys = bufferless_keys,
                                  .variant_key = "deflection"};

}  // namespace ww::sim::net
