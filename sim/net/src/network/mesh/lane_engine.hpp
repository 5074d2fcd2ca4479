// The engine of lane_mesh.hpp: sixteen routers at a time (lanes.hpp).
//
// A word of a lane is a mask over the virtual channels of a router, port after port, so that one
// instruction asks the same question of all channels of sixteen routers. What Router (vc_router/)
// keeps as numbers is kept as masks here:
// - flits in a buffer: `held[k]` are the input VCs with more than k flits, `tails[k]` those whose
//   flit k is a tail, so that a departure moves all places down by one;
// - credits: the binary digits of their numbers, a mask each;
// - a round-robin pointer: the mask of all that lies at or after it;
// - the VC accept pointer of an input VC: the output VCs before it, within one output alone, since
//   in another output the search begins at VC 0 anyway.
// Only heads are looked at one by one, when they come to the front and when they get a VC.
#pragma once

#include "network/mesh/lanes.hpp"

#ifdef WW_HAS_LANES
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <vector>

#include "network/mesh/routing.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "vc_router/sources.hpp"
#include "vc_router/team.hpp"
#include "ww/sim/net/vc_router_config.hpp"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,bmi,bmi2,lzcnt,popcnt")

namespace ww::sim::net::lanes {

constexpr int kPorts = 5;
constexpr int kLocal = static_cast<int>(MeshRouting::kLocalFrom);
constexpr std::int64_t kTerminalDelay = 2;  // as VcNetwork's
constexpr std::int64_t kExitLoop = 1 + 2 * kTerminalDelay;

// A packet on its way, as its head knows it: where it goes, and through which output of the router
// where it is the front of its VC. One word: bytes that were written one by one and then read
// together would have to reach the cache between the two.
class Head {
 public:
  Head() = default;
  Head(std::uint32_t packet, Place to)
      : word_(packet | std::uint64_t{to.x} << kX | std::uint64_t{to.y} << kY) {}
  [[nodiscard]] std::uint32_t packet() const { return static_cast<std::uint32_t>(word_); }
  [[nodiscard]] std::uint32_t x() const { return byte(kX); }
  [[nodiscard]] std::uint32_t y() const { return byte(kY); }
  [[nodiscard]] std::uint32_t output() const { return byte(kOutput); }
  [[nodiscard]] Head through(std::uint32_t output) const {
    Head head;
    head.word_ = (word_ & ((std::uint64_t{1} << kOutput) - 1)) | std::uint64_t{output} << kOutput;
    return head;
  }

 private:
  static constexpr int kX = 32;
  static constexpr int kY = 40;
  static constexpr int kOutput = 48;
  [[nodiscard]] std::uint32_t byte(int from) const {
    return static_cast<std::uint32_t>(word_ >> from) & 0xFF;
  }
  std::uint64_t word_{};
};

// kVcs: of a port. kRoom: at least as many flits as a VC holds.
template <int kVcs, int kRoom>
class LaneMesh final : public ClockedNetwork {
 public:
  [[gnu::cold]] explicit LaneMesh(const NetworkConfig& config);

  Status inject(const Packet& packet) override;
  void tick() override;
  [[nodiscard]] std::optional<Cycles> next_event() const override;
  [[nodiscard, gnu::cold]] power::NetworkEvents events() const override;
  [[nodiscard, gnu::cold]] std::vector<LinkUse> link_use() const override;
  [[nodiscard, gnu::cold]] Status check_conservation() const override;
  [[nodiscard, gnu::cold]] std::optional<Stuck> stuck(Cycles patience) const override;

 private:
  static constexpr int kAllVcs = kPorts * kVcs;
  static constexpr int kPlanes = std::bit_width(static_cast<unsigned>(kRoom));
  static constexpr std::uint32_t kField = (1u << kVcs) - 1;  // the VCs of port 0
  static constexpr std::uint32_t field(int port) { return kField << (port * kVcs); }
  // A bit for each port, the first of its field.
  static constexpr std::uint32_t every_port() {
    std::uint32_t bits = 0;
    for (int port = 0; port < kPorts; ++port) {
      bits |= 1u << (port * kVcs);
    }
    return bits;
  }

  // Sixteen routers.
  struct Group {
    Row active;                        // input VCs that own an output VC
    std::array<Row, kAllVcs> owner;    // [output VC]: its input VC
    std::array<Row, kPorts> requests;  // [output]: input VCs that want a VC of it
    std::array<Row, kRoom> held;
    std::array<Row, kRoom> tails;
    std::array<Row, kPlanes> credits;            // of output VCs
    std::array<Row, kAllVcs> vc_grant_from;      // [output VC]: input VCs at or after the pointer
    std::array<Row, kAllVcs> vc_accept_past;     // [output VC]: input VCs whose pointer is past it
    std::array<Row, kPorts> switch_grant_from;   // [output]: input VCs at or after the pointer
    std::array<Row, kPorts> switch_accept_from;  // [output]: inputs whose pointer it is at or after
    Row switch_vc_from;                          // VCs at or after their inputs' pointers
    std::array<Row, kPorts> sent;                // [output]: flits, lately
  };
  struct Leaving {
    std::vector<std::uint32_t> packets;
    std::uint64_t flits{};
  };
  // Groups `first` to `last` - 1, the nodes at them, and what their thread alone writes. All that
  // comes to a group is at least a cycle old, so that bands need not wait for each other.
  struct alignas(64) Band {
    std::size_t first{};
    std::size_t last{};
    std::size_t first_nodes{};  // of words of masks over nodes
    std::size_t last_nodes{};
    std::uint64_t injected_flits{};
    std::uint64_t vc_grants{};
    std::int64_t last_move{};
    std::array<Leaving, 4> leaving;  // by cycle
  };

  // The bits of each field folded onto its first.
  [[gnu::always_inline]] static Vec ports_of(Vec vcs) {
    Vec folded = vcs;
#pragma GCC unroll 32
    for (int vc = 1; vc < kVcs; ++vc) {
      folded |= vcs >> vc;
    }
    return folded & every_port();
  }
  // The fields of ports.
  [[gnu::always_inline]] static Vec fields_of(Vec ports) {
    return (ports << kVcs) - ports;
  }
  // Returns in each field the bits above those that are set.
  [[gnu::always_inline]] static Vec above_in_fields(Vec vcs) {
    Vec above{};
#pragma GCC unroll 32
    for (int vc = 1; vc < kVcs; ++vc) {
      above |= (vcs << vc) & (every_port() * (kField & ~((1u << vc) - 1)));
    }
    return above;
  }
  // Turns a mask over output VCs into the neighbours' mask over input VCs, or the other way.
  [[gnu::always_inline]] Vec from_around(const std::uint32_t* words) const {
    return (get(words + 1) >> kVcs & field(0)) | (get(words - 1) << kVcs & field(1)) |
           (get(words + width_) >> kVcs & field(2)) | (get(words - width_) << kVcs & field(3));
  }

  [[nodiscard]] bool is_idle() const {
    return store_.inside() == 0 && now_ - last_move() > settled_;
  }
  [[nodiscard]] std::int64_t last_move() const {
    std::int64_t last = 0;
    for (const Band& band : bands_) {
      last = std::max(last, band.last_move);
    }
    return last;
  }
  [[gnu::cold]] void cut_into_bands(int threads);
  void deliver();
  void step(Band& band);
  void send(Band& band, NodeId node, std::uint32_t packet, VcId vc, bool first, bool last);
  void take_node_credits(const Band& band);
  [[gnu::always_inline]] void push_head(std::size_t channel, Head head) {
    heads_[(channel << ring_shift_) + (written_[channel]++ & ring_mask_)] = head;
  }
  [[gnu::always_inline]] Head pop_head(std::size_t channel) {
    return heads_[(channel << ring_shift_) + (read_[channel]++ & ring_mask_)];
  }
  void begin_heads(Group& group, std::size_t first_router, Vec begins);
  void arrive(std::size_t number);
  void act(Band& band, std::size_t number);
  [[gnu::always_inline]] Vec allocate_switch(Group& group, Vecs<kPorts>& won);
  [[gnu::always_inline]] Vec allocate_vcs(Band& band, Group& group, std::size_t first_router);
  [[gnu::always_inline]] void leave(Band& band, Group& group, std::size_t first, Vec winners,
                                    const Vecs<kPorts>& won);
  void keep_counts();
  [[nodiscard]] std::uint64_t flits_sent(std::uint32_t router, std::uint32_t output) const {
    return sent_before_[router * kPorts + output] +
           groups_[router / kLanes].sent[output].lane[router % kLanes];
  }

  const MeshRouting routing_;
  const VcRouterConfig router_config_;
  const std::uint32_t routers_;
  const std::ptrdiff_t width_;
  const bool counts_exit_credits_;
  const int flit_delay_;
  const int credit_delay_;
  const int exit_credit_delay_;
  const std::int64_t settled_;

  std::vector<Group> groups_;
  DelayLine forward_;       // output VCs that flits have left through
  DelayLine forward_tail_;  // those whose flit was a tail
  DelayLine back_;          // input VCs that flits have left
  DelayLine entering_;      // input VCs that a node's flit reaches
  DelayLine entering_tail_;
  int ring_shift_;
  std::uint32_t ring_mask_;
  // [channel], of routers' input VCs and behind them of the VCs to their nodes: the packets that
  // have taken the channel and whose heads have not come to its front.
  std::vector<Head> heads_;
  std::vector<std::uint8_t> written_;
  std::vector<std::uint8_t> read_;
  std::vector<Head> fronts_;         // [channel]
  std::vector<std::uint32_t> next_;  // [router][8 outputs]: the channel behind VC 0
  std::vector<Place> places_;        // [router]
  std::vector<Band> bands_;
  Sources sources_;
  ReplyBuffers reply_buffers_;
  std::uint64_t ejected_flits_{};
  std::vector<std::uint64_t> sent_before_;  // [router][output]
  std::unique_ptr<Team> team_;              // of several bands; last, so that its threads end first
};

template <int kVcs, int kRoom>
LaneMesh<kVcs, kRoom>::LaneMesh(const NetworkConfig& config)
    : ClockedNetwork(config),
      routing_(config, MeshTurns::xy),
      router_config_(config.own<VcRouterConfig>()),
      routers_(static_cast<std::uint32_t>(config.width * config.height)),
      width_(config.width),
      counts_exit_credits_(router_config_.vc_buffer <= kExitLoop + router_config_.credit_delay),
      flit_delay_(2 + config.link_delay),
      credit_delay_(1 + config.link_delay + router_config_.credit_delay),
      exit_credit_delay_(static_cast<int>(kExitLoop) + router_config_.credit_delay),
      settled_(2 * std::max(flit_delay_, std::max(credit_delay_, exit_credit_delay_)) + 2),
      groups_((routers_ + kLanes - 1) / kLanes),
      forward_(std::max(flit_delay_, exit_credit_delay_), groups_.size() * kLanes,
               static_cast<std::size_t>(config.width)),
      forward_tail_(flit_delay_, groups_.size() * kLanes, static_cast<std::size_t>(config.width)),
      back_(std::max<int>(credit_delay_, kTerminalDelay), groups_.size() * kLanes,
            static_cast<std::size_t>(config.width)),
      entering_(kTerminalDelay, groups_.size() * kLanes, 0),
      entering_tail_(kTerminalDelay, groups_.size() * kLanes, 0),
      ring_shift_(std::bit_width(static_cast<unsigned>(router_config_.vc_buffer))),
      ring_mask_((1u << ring_shift_) - 1),
      heads_((2 * groups_.size() * kLanes * kStride) << ring_shift_),
      written_(2 * groups_.size() * kLanes * kStride),
      read_(written_.size()),
      fronts_(groups_.size() * kLanes * kStride),
      next_(groups_.size() * kLanes * 8),
      sources_(routers_, config.classes, router_config_),
      reply_buffers_(config),
      sent_before_(groups_.size() * kLanes * kPorts) {
  for (Group& group : groups_) {
    const auto set = [](auto& rows, std::uint32_t word) {
      for (Row& row : rows) {
        row.lane.fill(word);
      }
    };
    set(group.vc_grant_from, ~0u);
    set(group.switch_grant_from, ~0u);
    set(group.switch_accept_from, every_port());
    group.switch_vc_from.lane.fill(~0u);
    for (int plane = 0; plane < kPlanes; ++plane) {
      const bool is_set = (router_config_.vc_buffer >> plane & 1) != 0;
      group.credits[static_cast<std::size_t>(plane)].lane.fill(is_set ? (1u << kAllVcs) - 1 : 0);
    }
  }
  for (std::uint32_t router = 0; router < routers_; ++router) {
    places_.push_back(routing_.place_of(router));
    for (std::uint32_t port = 0; port < MeshRouting::kLocalFrom; ++port) {
      if (const auto to = routing_.neighbour(RouterId(router), PortId(port))) {
        next_[router * 8 + port] = to->number() * kStride + (port ^ 1) * kVcs;
      }
    }
    next_[router * 8 + MeshRouting::kLocalFrom] =
        static_cast<std::uint32_t>(groups_.size() * kLanes + router) * kStride;
  }
  deliveries_.reserve(routers_);
  cut_into_bands(config.own<MeshConfig>().threads);
}

// Bands of whole words of the masks over nodes, so that no two threads write to one.
template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::cut_into_bands(int threads) {
  constexpr std::size_t kGroups = 64 / kLanes;  // of a word
  const std::size_t words = waiting_.size();
  const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(threads), 1, words);
  for (std::size_t number = 0; number < count; ++number) {
    Band& band = bands_.emplace_back();
    band.first_nodes = words * number / count;
    band.last_nodes = words * (number + 1) / count;
    band.first = kGroups * band.first_nodes;
    band.last = std::min(kGroups * band.last_nodes, groups_.size());
    for (Leaving& leaving : band.leaving) {
      leaving.packets.reserve((band.last - band.first) * kLanes);
    }
  }
  if (count > 1) {
    team_ = std::make_unique<Team>(count, [this](std::size_t band) { step(bands_[band]); });
  }
}

template <int kVcs, int kRoom>
Status LaneMesh<kVcs, kRoom>::inject(const Packet& packet) {
  WW_TRY(store_.check(packet, now_));
  for (const NodeId destination : packet.destinations) {
    store_.enqueue(packet, destination);
  }
  reply_buffers_.count(packet);
  sources_.wake(packet.source);
  waiting_[packet.source / 64] |= std::uint64_t{1} << (packet.source % 64);
  return {};
}

template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::deliver() {
  store_.begin_tick();
  deliveries_.clear();
  for (Band& band : bands_) {
    Leaving& leaving = band.leaving[static_cast<std::size_t>(now_) % band.leaving.size()];
    ejected_flits_ += leaving.flits;
    leaving.flits = 0;
    for (const std::uint32_t index : leaving.packets) {
      const PacketRecord& record = store_[index];
      const int hops = routing_.hops(record.source, record.destination);
      store_.deliver(index, now_, static_cast<std::uint16_t>(hops), deliveries_);
    }
    leaving.packets.clear();
  }
}

template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::send(Band& band, NodeId node, std::uint32_t packet, VcId vc, bool first,
                                 bool last) {
  ++band.injected_flits;
  band.last_move = now_;
  const std::uint32_t input_vc = kLocal * kVcs + vc.number();
  if (first) {
    push_head(node * kStride + input_vc, Head(packet, places_[store_[packet].destination]));
  }
  entering_.at(now_ + kTerminalDelay)[node] = 1u << input_vc;
  entering_tail_.at(now_ + kTerminalDelay)[node] = static_cast<std::uint32_t>(last) << input_vc;
}

template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::take_node_credits(const Band& band) {
  const std::uint32_t* left = back_.at(now_ - kTerminalDelay);
  for (std::size_t first = band.first * kLanes; first < band.last * kLanes; first += kLanes) {
    for_each_set(meet(get(left + first), all(field(kLocal))), [&](std::uint32_t lane) {
      const std::size_t node = first + lane;
      const std::uint32_t vc =
          static_cast<std::uint32_t>(__builtin_ctz(left[node] >> (kLocal * kVcs)));
      sources_.take_credit(Sources::node_vc(static_cast<NodeId>(node), VcId(vc)), waiting_);
    });
  }
}

template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::tick() {
  deliver();
  if (!is_idle()) {
    if (team_ != nullptr) {
      team_->run();
    } else {
      step(bands_.front());
    }
  }
  ++now_;
  if (now_ % (std::int64_t{1} << 31) == 0) {
    keep_counts();
  }
}

template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::step(Band& band) {
  take_node_credits(band);
  sources_.template step<false>(
      band.first_nodes, band.last_nodes, now_, store_, waiting_,
      [](std::size_t) { return ~std::uint64_t{0}; },
      [&](NodeId node, std::uint32_t packet, const PacketRecord&, VcId vc, bool first, bool last) {
        send(band, node, packet, vc, first, last);
      });
  for (std::size_t number = band.first; number < band.last; ++number) {
    arrive(number);
  }
  for (std::size_t number = band.first; number < band.last; ++number) {
    act(band, number);
  }
}

template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::keep_counts() {
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (std::uint32_t output = 0; output < kPorts; ++output) {
      std::uint32_t& sent = groups_[router / kLanes].sent[output].lane[router % kLanes];
      sent_before_[router * kPorts + output] += sent;
      sent = 0;
    }
  }
}

// Heads have come to the front of their VCs: each asks for a VC of its next output.
template <int kVcs, int kRoom>
[[gnu::always_inline]] inline void LaneMesh<kVcs, kRoom>::begin_heads(Group& group,
                                                                      std::size_t first_router,
                                                                      Vec begins) {
  for_each_channel(begins, first_router, [&](std::uint32_t channel) {
    const std::size_t router = channel / kStride;
    const Place at = places_[router];
    const Head head = pop_head(channel);
    const std::uint32_t along_x = MeshRouting::kPlusX + (head.x() > at.x ? 0u : 1u);
    const std::uint32_t along_y = MeshRouting::kPlusY + (head.y() > at.y ? 0u : 1u);
    const bool x_done = head.x() == at.x;
    const bool y_done = head.y() == at.y;
    const std::uint32_t output = only_if(!x_done, along_x) | only_if(x_done & !y_done, along_y) |
                                 only_if(x_done & y_done, MeshRouting::kLocalFrom);
    fronts_[channel] = head.through(output);
    group.requests[output].lane[router % kLanes] |= 1u << (channel % kStride);
  });
}

// Flits and credits that come in this cycle.
template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::arrive(std::size_t number) {
  Group& group = groups_[number];
  const std::size_t first = number * kLanes;
  std::uint32_t* const entering = entering_.at(now_) + first;
  std::uint32_t* const entering_tail = entering_tail_.at(now_) + first;
  const Vec flits = from_around(forward_.at(now_ - flit_delay_) + first) | get(entering);
  if (nonzero(flits) != 0) {
    const Vec tails =
        from_around(forward_tail_.at(now_ - flit_delay_) + first) | get(entering_tail);
    put(entering, Vec{});
    put(entering_tail, Vec{});
    const Vec begins = flits & ~get(group.held[0]) & ~get(group.active);
    Vec above = get(group.held[kRoom - 1]);
#pragma GCC unroll 32
    for (std::size_t k = kRoom - 1; k > 0; --k) {
      const Vec below = get(group.held[k - 1]);
      const Vec here = flits & below & ~above;
      put(group.held[k], above | here);
      put(group.tails[k], get(group.tails[k]) | (here & tails));
      above = below;
    }
    put(group.tails[0], get(group.tails[0]) | (flits & tails & ~above));
    put(group.held[0], above | flits);
    begin_heads(group, first, begins);
  }
  Vec credits = from_around(back_.at(now_ - credit_delay_) + first);
  if (counts_exit_credits_) {
    credits |= get(forward_.at(now_ - exit_credit_delay_) + first) & field(kLocal);
  }
#pragma GCC unroll 32
  for (Row& plane : group.credits) {
    const Vec before = get(plane);
    put(plane, before ^ credits);
    credits &= before;
  }
}

// Returns the input VCs that win the switch; won: by output, a bit for the input.
template <int kVcs, int kRoom>
[[gnu::always_inline]] inline Vec LaneMesh<kVcs, kRoom>::allocate_switch(Group& group,
                                                                         Vecs<kPorts>& won) {
  Vec credited{};
#pragma GCC unroll 32
  for (const Row& plane : group.credits) {
    credited |= get(plane);
  }
  const Vec held = get(group.held[0]);
  Vecs<kPorts> bids;
  Vecs<kPorts> offers;
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    Vec mine{};
#pragma GCC unroll 32
    for (std::size_t vc = output * kVcs; vc < (output + 1) * kVcs; ++vc) {
      mine = or_in(meet(credited, all(1u << vc)), mine, get(group.owner[vc]));
    }
    bids[output] = mine & held;
    offers[output] = ports_of(first_bit(bids[output], get(group.switch_grant_from[output])));
  }
  // Each input takes the first output that offers, from its pointer on.
  Vec taken{};
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    won[output] = offers[output] & get(group.switch_accept_from[output]) & ~taken;
    taken |= won[output];
  }
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    const Vec wraps = offers[output] & ~taken;
    won[output] |= wraps;
    taken |= wraps;
  }
  Vec before{};  // inputs that took an output before this one
  Vec candidates{};
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    put(group.switch_accept_from[output],
        (get(group.switch_accept_from[output]) & ~taken) | before);
    before |= won[output];
    put(group.switch_grant_from[output],
        choose(nonzero(won[output]), -(won[output] << kVcs), get(group.switch_grant_from[output])));
    candidates |= bids[output] & fields_of(won[output]);
  }
  const Vec above = candidates & get(group.switch_vc_from);
  const Vec from = above | (candidates & ~fields_of(ports_of(above)));
  const Vec winners = from & ~above_in_fields(from);
  put(group.switch_vc_from,
      (get(group.switch_vc_from) & ~fields_of(taken)) | above_in_fields(winners));
  return winners;
}

// Gives VCs to heads. Returns the input VCs that got one.
template <int kVcs, int kRoom>
[[gnu::always_inline]] inline Vec LaneMesh<kVcs, kRoom>::allocate_vcs(Band& band, Group& group,
                                                                      std::size_t first_router) {
  Vec granted{};
  Vecs<3> digits{};  // of the numbers of the VCs granted
  Vecs<kPorts> granted_by{};
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    const Vec requests = get(group.requests[output]);
    if (nonzero(requests) == 0) {
      continue;
    }
    const auto vcs = [&](std::size_t vc) { return output * kVcs + vc; };
    Vecs<kVcs> offers;
    Vecs<kVcs> taken;
    Vec all_taken{};
#pragma GCC unroll 32
    for (std::size_t vc = 0; vc < kVcs; ++vc) {
      const __mmask16 busy = nonzero(get(group.owner[vcs(vc)]));
      offers[vc] = only(static_cast<__mmask16>(~busy),
                        first_bit(requests, get(group.vc_grant_from[vcs(vc)])));
      taken[vc] = offers[vc] & ~get(group.vc_accept_past[vcs(vc)]) & ~all_taken;
      all_taken |= taken[vc];
    }
#pragma GCC unroll 32
    for (std::size_t vc = 0; vc < kVcs; ++vc) {
      const Vec wraps = offers[vc] & ~all_taken;
      taken[vc] |= wraps;
      all_taken |= wraps;
      put(group.owner[vcs(vc)], get(group.owner[vcs(vc)]) | taken[vc]);
      put(group.vc_grant_from[vcs(vc)],
          choose(nonzero(taken[vc]), -(taken[vc] << 1), get(group.vc_grant_from[vcs(vc)])));
      for (std::size_t digit = 0; digit < digits.size(); ++digit) {
        if ((vc >> digit & 1) != 0) {
          digits[digit] |= taken[vc];
        }
      }
    }
    Vec past{};
    for (std::size_t vc = kVcs - 1; vc-- > 0;) {
      past |= taken[vc];
      put(group.vc_accept_past[vcs(vc)], (get(group.vc_accept_past[vcs(vc)]) & ~all_taken) | past);
    }
    put(group.requests[output], requests & ~all_taken);
    granted |= all_taken;
    granted_by[output] = all_taken;
  }
  const __mmask16 lanes = nonzero(granted);
  if (lanes == 0) {
    return granted;
  }
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    const Vec elsewhere = granted & ~granted_by[output];
#pragma GCC unroll 32
    for (std::size_t vc = output * kVcs; vc + 1 < (output + 1) * kVcs; ++vc) {
      put(group.vc_accept_past[vc], get(group.vc_accept_past[vc]) & ~elsewhere);
    }
  }
  std::array<Row, 3> digit_rows;
  for (std::size_t digit = 0; digit < digits.size(); ++digit) {
    put(digit_rows[digit], digits[digit]);
  }
  for_each_channel(granted, first_router, [&](std::uint32_t channel) {
    const std::uint32_t router = channel / kStride;
    const Head head = fronts_[channel];
    const auto digit = [&](std::size_t n) {
      return (digit_rows[n].lane[router % kLanes] >> (channel % kStride) & 1u) << n;
    };
    push_head(next_[router * 8 + head.output()] + (digit(0) | digit(1) | digit(2)), head);
    ++band.vc_grants;
  });
  return granted;
}

// Both matches see the state at the start of the cycle; then flits leave.
template <int kVcs, int kRoom>
void LaneMesh<kVcs, kRoom>::act(Band& band, std::size_t number) {
  Group& group = groups_[number];
  const std::size_t first = number * kLanes;
  Vecs<kPorts> won{};
  Vec winners{};
  if (nonzero(get(group.held[0]) & get(group.active)) != 0) {
    winners = allocate_switch(group, won);
  }
  put(back_.at(now_) + first, winners);
  if (nonzero(winners) != 0) {
    leave(band, group, first, winners, won);
  } else {
    put(forward_.at(now_) + first, Vec{});
    put(forward_tail_.at(now_) + first, Vec{});
    put(group.active, get(group.active) | allocate_vcs(band, group, first));
  }
}

template <int kVcs, int kRoom>
[[gnu::always_inline]] inline void LaneMesh<kVcs, kRoom>::leave(Band& band, Group& group,
                                                                std::size_t first, Vec winners,
                                                                const Vecs<kPorts>& won) {
  const Vec ended = winners & get(group.tails[0]);
  // Outputs to which the flits go: at most one through each.
  Vec out{};
  Vec out_tail{};
#pragma GCC unroll 32
  for (std::size_t output = 0; output < kPorts; ++output) {
    Vec mine{};
#pragma GCC unroll 32
    for (std::size_t vc = output * kVcs; vc < (output + 1) * kVcs; ++vc) {
      mine = or_in(meet(get(group.owner[vc]), winners), mine, all(1u << vc));
    }
    out |= mine;
    out_tail = or_in(meet(fields_of(won.items[output]), ended), out_tail, mine);
    if (config_.count_events) {
      put(group.sent[output], get(group.sent[output]) + only(nonzero(won.items[output]), all(1)));
    }
  }
  put(forward_.at(now_) + first, out);
  put(forward_tail_.at(now_) + first, out_tail);
  const Vec granted = allocate_vcs(band, group, first);
  if (nonzero(ended) != 0) {
#pragma GCC unroll 32
    for (Row& owner : group.owner) {
      put(owner, get(owner) & ~ended);
    }
  }
  put(group.active, (get(group.active) | granted) & ~ended);
  band.last_move = now_;
  Vec used = counts_exit_credits_ ? out : out & ~field(kLocal);
#pragma GCC unroll 32
  for (Row& plane : group.credits) {
    const Vec before = get(plane);
    put(plane, before ^ used);
    used &= ~before;
  }
#pragma GCC unroll 32
  for (std::size_t k = 0; k + 1 < kRoom; ++k) {
    put(group.held[k], get(group.held[k]) & (get(group.held[k + 1]) | ~winners));
    put(group.tails[k], (get(group.tails[k]) & ~winners) | (get(group.tails[k + 1]) & winners));
  }
  put(group.held[kRoom - 1], get(group.held[kRoom - 1]) & ~winners);
  put(group.tails[kRoom - 1], get(group.tails[kRoom - 1]) & ~winners);
  const __mmask16 exits = meet(out, all(field(kLocal)));
  if (exits != 0) {
    Leaving& leaving =
        band.leaving[static_cast<std::size_t>(now_ + 1 + kTerminalDelay) % band.leaving.size()];
    leaving.flits += static_cast<std::uint64_t>(__builtin_popcount(exits));
    Row row;
    put(row, out_tail);
    for_each_set(meet(out_tail, all(field(kLocal))), [&](std::uint32_t lane) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(row.lane[lane] >> (kLocal * kVcs)));
      const std::size_t exit = next_[(first + lane) * 8 + MeshRouting::kLocalFrom] + vc;
      leaving.packets.push_back(pop_head(exit).packet());
    });
  }
  begin_heads(group, first, ended & get(group.held[0]));
}

}  // namespace ww::sim::net::lanes

#pragma GCC pop_options
#endif
