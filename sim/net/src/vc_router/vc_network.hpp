// A network of input-queued virtual-channel routers (wormhole, credits), in BookSim 2's timing:
// routing (0 cycles when it looks ahead), VC allocation, switch allocation, switch traversal, link.
//
// Semantics kept from BookSim 2's iq_router (Jiang et al., ISPASS 2013):
// - an input VC whose front is a head asks for every free VC of its class at its output; the VC
//   allocator matches inputs x VCs against outputs x VCs;
// - an active input VC with a flit and a credit asks for the switch; per input and output the VC at
//   or after a pointer asks, and the pointer moves past the VC that wins;
// - a credit goes back when the flit wins the switch, and counts credit_delay after it arrives;
// - an output VC is free again once its tail has won the switch, or with wait_for_tail_credit once
//   the buffer behind it is empty;
// - a stage of n > 1 cycles is not pipelined: it serves whoever waits when the last batch ended.
//
// Four parts do the work, and the network carries flits and credits between them: Router (one
// each), Stages (one each, where a stage takes several cycles), Sources (the nodes), and the
// routing, which belongs to the topology:
//   Place place_of(node); phase_of(source, destination)   what a head carries
//   Hop route(here, router, input VC, flit)                the next output, and which VCs there
//   is_entry(router, input), is_exit(router, output)       ports of nodes
//   hops(source, destination)                              routers passed
//   end_cycle(rules, routers), idle(cycles, ...)           for routing that watches the load
// A mesh may be cut into bands of routers, each with the nodes at them and a thread of its own. All
// events of a cycle come from earlier ones, so bands need not wait for each other within it. Each
// pair of bands has its own time wheel, which one of them writes and the other reads later.
// With its kEqualLinks all links take link_delay cycles, and nodes are a cycle away. Others say
// is_adaptive() as well: heads that get no VC are then routed anew in every cycle. They also say
// draws(): heads then draw their way where they enter, or draws_under_way() at every router, with
// draw(draws, next router, head, load), in the order in which BookSim's routers would. A head that
// ends_detour() is addressed to its destination from there on, in phase_behind_detour().
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "vc_router/departures.hpp"
#include "vc_router/events.hpp"
#include "vc_router/flit.hpp"
#include "vc_router/link_toggles.hpp"
#include "vc_router/pace.hpp"
#include "vc_router/pair_wires.hpp"
#include "vc_router/router.hpp"
#include "vc_router/serve_order.hpp"
#include "vc_router/sources.hpp"
#include "vc_router/stages.hpp"
#include "vc_router/team.hpp"
#include "vc_router/wiring.hpp"

namespace ww::sim::net {

struct Hop {
  PortId output;
  GroupId group;
};

// kGeneral adds stages of several cycles and speculation. Rules: RouterRules of a shape.
template <class Rules, bool kGeneral, class Routing>
class VcNetwork final : public ClockedNetwork {
 public:
  using S = typename Rules::S;

  // `threads`: the most bands. A network is compiled for many shapes;
  // half of that time would go into the members that run once, if
  // they were not marked as cold, which GCC compiles for size.
  [[gnu::cold]] VcNetwork(const NetworkConfig& config, Wiring wiring, Rules rules, Routing routing,
                          int threads = 1);
  [[gnu::cold]] ~VcNetwork() override = default;

  Status inject(const Packet& packet) override;
  void tick() override;
  Status advance(const Plan& plan, std::vector<Delivery>& delivered) override;
  [[gnu::cold]] void draw_from(const std::shared_ptr<Draws>& draws) override;
  [[nodiscard]] std::optional<Cycles> next_event() const override;
  [[nodiscard, gnu::cold]] power::NetworkEvents events() const override;
  [[nodiscard, gnu::cold]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override;
  [[nodiscard, gnu::cold]] Status check_conservation() const override;
  [[nodiscard, gnu::cold]] std::optional<Stuck> stuck(Cycles patience) const override;

 private:
  static constexpr bool kCanCut = Routing::kEqualLinks && !kGeneral;  // into bands
  static constexpr std::uint32_t kAhead = 6;  // events fetched ahead of their turn
  // Delay from a node's send to its router's input, and from a router's send to its node: BookSim's
  // terminal channels take one cycle, plus one to receive.
  static constexpr int kTerminalDelay = 2;
  static constexpr int kTogether = kTerminalDelay + 1;      // cycles that need not alternate
  static constexpr std::size_t kFewArrivals = 4;            // in a cycle
  static constexpr int kExitLoop = 1 + 2 * kTerminalDelay;  // of a credit, with its delay more
  using R = Router<S>;
  using Winner = typename R::Winner;

  struct SwitchWinner {
    RouterId router;
    Winner winner;
  };

  // The packet at the front of an input VC. Where links are equal a buffer holds heads alone:
  // behind one it is enough to count.
  struct Front {
    Flit head;             // no head any more once that has left
    Channel next;          // where its flits go, once it has a VC
    std::uint16_t left{};  // flits that have not left
  };

  // A flit at a router that does not arbitrate (vc_network_alone.hpp).
  struct LoneFlit {
    Arrival arrival;
    PortVc output_vc;  // of a head
  };
  using Departures = RouterDepartures<R>;
  struct Upstream {              // of an input
    SmallCount* credits{};       // for its VC 0, at the router or the node that sends to it
    std::uint32_t early_from{};  // more credits than these, and one may count before it comes
  };
  struct Passing {  // of the flits that come in a cycle
    std::int64_t now;
    std::uint64_t twice;             // routers modulo 64 to which several come
    std::array<FlitEvents*, 2> out;  // where they go: to routers, to nodes

    [[nodiscard]] bool is_one_of_several(RouterId id) const {
      return twice != 0 && (twice >> (id.number() % 64) & 1u) != 0;
    }
  };
  class Entering {  // the packets of a plan, one after the other
   public:
    Entering(VcNetwork& network, const Plan& plan) : network_(network), left_(plan.packets) {
      packet_.flits = plan.flits;
      packet_.tag = plan.tag;
    }
    [[nodiscard]] bool comes_before(std::int64_t cycle) const {
      return !left_.empty() && left_.front().created < static_cast<std::uint64_t>(cycle);
    }
    [[nodiscard]] std::int64_t created() const {
      return static_cast<std::int64_t>(left_.front().created);
    }
    Status put_in_next() {
      packet_.source = left_.front().source;
      packet_.destinations = {&left_.front().destination, 1};
      packet_.created = network_.now();
      left_ = left_.subspan(1);
      WW_TRY(network_.store_.check(packet_, network_.now_));
      network_.put_in(packet_);
      return {};
    }

   private:
    VcNetwork& network_;
    std::span<const Plan::Entry> left_;
    Packet packet_;
  };
  struct Places {  // what passing a flit on needs, to be kept in registers
    R* routers;
    Departures* departures;
    const Upstream* upstream;
    std::uint32_t exit_credits;
  };
  struct Claim {  // outputs that heads of this cycle want
    std::int64_t cycle{-1};
    typename S::Ports outputs{};
  };
  struct Exit {  // of a node's packets
    Place place;
    Packed<PortId> port;
  };
  struct FirstArbitration {
    RouterId router;
    typename S::Mask withheld;
  };

  // Routers 64 first to 64 last - 1, the nodes at them, and what their thread alone writes.
  struct alignas(64) Band {
    std::size_t number{};
    std::size_t first{};
    std::size_t last{};
    std::size_t first_nodes{};  // of words of masks over nodes
    std::size_t last_nodes{};
    std::int64_t last_move{-1};
    std::uint64_t injected_flits{0};
    std::uint64_t vc_grants{0};
    std::vector<SwitchWinner> winners;  // of this cycle
    TimeWheel* own{};                   // from this band to itself
    std::vector<TimeWheel*> to;         // [band]: from this band to others
    // where links are equal: input VCs whose head has just come to the front
    std::vector<Channel> new_fronts;
    // set anew for each tick, where links are equal: where the events go that a flit causes
    WheelSlot* injected_out{};
    WheelSlot* flits_out{};                             // to the next router
    std::array<EventList<CreditTo>*, 2> credits_out{};  // to the previous router, to a node
    EventList<CreditTo>* exit_credits_out{};            // from a node back
    WheelSlot* ejections_out{};
  };

  // Channels are numbered router << vc_shift() | VC of the router.
  [[nodiscard]] int vc_shift() const {
    return static_cast<int>(std::bit_width(rules_.all_vcs() - 1));
  }
  [[nodiscard]] std::uint32_t first_number(RouterId router) const {
    return router.number() << vc_shift();
  }
  [[nodiscard]] Channel channel(RouterId router, PortVc vc) const {
    return Channel(first_number(router) + vc.number());
  }
  [[nodiscard]] RouterId router_of(Channel channel) const {
    return RouterId(channel.number() >> vc_shift());
  }
  [[nodiscard]] PortVc port_vc_of(Channel channel) const {
    return PortVc(channel.number() & ((1u << vc_shift()) - 1));
  }
  [[nodiscard]] std::uint32_t port_number(RouterId router, PortId port) const {
    return router.number() * rules_.ports() + port.number();
  }
  // Cycles from the router to the node behind an output.
  [[nodiscard]] int delay_to_node(RouterId router, PortId output) const {
    if constexpr (Routing::kEqualLinks) {
      return kTerminalDelay - 1;
    } else {
      return output_delays_[port_number(router, output)];
    }
  }
  // Where a credit goes that `router` gives back, to a router or a node.
  [[nodiscard]] EventList<CreditTo>& credits_back(Band& band, RouterId router, PortId input) {
    const bool entry = routing_.is_entry(router, input);
    if constexpr (Routing::kEqualLinks) {
      WheelSlot& slot = band.own->at(now_ + (entry ? kTerminalDelay : credit_delay_));
      return entry ? slot.node_credits : slot.credits;
    } else {
      const std::size_t port = port_number(router, input);
      const int wait = entry ? 0 : router_config_.credit_delay;
      WheelSlot& slot = band.own->at(
          pace_.arrival(router, input_from_[port], now_, 1, input_delays_[port], wait));
      return entry ? slot.node_credits : slot.credits;
    }
  }
  // The outputs of a router that can take a flit in this cycle.
  [[nodiscard]] typename S::Ports open_outputs(RouterId router) const {
    if constexpr (Routing::kEqualLinks) {
      return static_cast<typename S::Ports>(~typename S::Ports{0});
    } else {
      return pace_.open<typename S::Ports>(router, now_);
    }
  }
  // Routers, by word of the mask over routers, that have an edge of their clock now.
  [[nodiscard]] std::uint64_t routers_with_edge(std::size_t word) const {
    return Routing::kEqualLinks ? ~std::uint64_t{0} : pace_.routers_with_edge(word);
  }
  [[nodiscard]] std::int64_t own_time(RouterId router) const {
    return Routing::kEqualLinks ? now_ : pace_.own_time(router, now_);
  }
  [[nodiscard]] int interval(RouterId router, PortId output) const {
    return Routing::kEqualLinks ? 1 : pace_.interval(router, output);
  }
  // When a flit that has just won the switch, and waits so long for the crossbar, can be seen
  // behind the link.
  [[nodiscard]] std::int64_t arrival_behind(RouterId router, PortId output, int waits) const {
    if constexpr (Routing::kEqualLinks) {
      return now_ + waits + 2 + config_.link_delay;
    } else {
      const std::size_t port = port_number(router, output);
      return pace_.arrival(router, output_to_[port], now_,
                           waits + 1 + pace_.interval(router, output), output_delays_[port]);
    }
  }
  // Time of arrival between a router and its node, which have one clock.
  [[nodiscard]] std::int64_t arrival_at_node(RouterId router, std::int64_t from, int edges,
                                             int delay, int more = 0) const {
    if constexpr (Routing::kEqualLinks) {
      return from + edges + delay + more;
    } else {
      return pace_.arrival(router, router, from, edges, delay, more);
    }
  }
  [[nodiscard]] bool keeps_order() const {
    return !Routing::kEqualLinks && serve_order_ != nullptr;
  }
  void mark_busy(RouterId router, bool busy = true) {
    busy_[router.number() / 64] |= static_cast<std::uint64_t>(busy) << (router.number() % 64);
  }
  void mark_idle(RouterId router, bool idle) {
    busy_[router.number() / 64] &= ~(static_cast<std::uint64_t>(idle) << (router.number() % 64));
  }

  [[nodiscard]] std::size_t band_of(Channel channel) const {
    return band_of_[router_of(channel).number() / 64];
  }

  void skip(Cycles to) override;
  [[gnu::cold]] void connect();
  [[gnu::cold]] void find_upstreams();
  [[gnu::cold]] void cut_into_bands(int threads, int longest, std::size_t most_ejections);
  [[gnu::cold]] void add_link_events(power::NetworkEvents& events, const Wiring::Link& link,
                                     std::uint64_t flits) const;
  // Adds an arrival where links are equal.
  void add_arrival(WheelSlot& slot, const Arrival& arrival, std::uint32_t exists = 1) const {
    slot.arrivals.visit(visit_of(arrival.at, exists));
    slot.arrivals.add(arrival, exists);
  }
  // Bit of FlitEvents::visit() for the router of a channel, if that exists.
  [[nodiscard]] std::uint64_t visit_of(Channel at, std::uint32_t exists = 1) const {
    return std::uint64_t{exists} << (router_of(at).number() % 64);
  }
  void deliver();
  void step(Band& band);
  void deliver_of(WheelSlot& slot, std::int64_t cycle);
  [[gnu::noinline]] void take_node_credits(WheelSlot& slot);
  [[gnu::noinline]] void send_from_nodes(Band& band);
  [[gnu::always_inline]] void send(Band& band, NodeId node, std::uint32_t packet,
                                   const PacketRecord& record, VcId vc, bool first, bool last);
  template <class Item>
  void fetch_ahead(const EventList<Item>& list, std::uint32_t n) const;
  // A head draws its way at the router that it comes to.
  void draw_way(RouterId at, Flit& head);
  // Draws for the head that was written last into a channel, where routers look ahead.
  void draw_ahead(RouterId next, Channel channel);
  void take_arrivals(EventList<Arrival>& arrivals);
  void take_credits(EventList<CreditTo>& credits);
  void step_routers(Band& band);
  void step_stages(Band& band, RouterId id, R& router);
  void begin_head(RouterId id, R& router, PortVc input_vc);
  void route(RouterId id, R& router, PortVc input_vc);
  void route_anew(RouterId id, R& router);
  [[gnu::always_inline]] void take_vc(Band& band, R& router, typename R::VcGrant grant);
  [[gnu::always_inline]] void traverse(Band& band, RouterId id, R& router, Winner winner);
  // Takes arrivals where links are equal and each stage takes one cycle.
  void take_lean(Band& band, EventList<Arrival>& arrivals);
  template <bool kBanded>
  void step_lean(Band& band);
  [[gnu::always_inline]] void begin_front(RouterId id, R& router, PortVc input_vc);
  [[gnu::always_inline]] void route_front(RouterId id, R& router, PortVc input_vc);
  // Sets where the flits and credits of a cycle go.
  void address_departures(Band& band, std::int64_t cycle);
  template <bool kBanded>
  [[gnu::always_inline]] void leave(Band& band, RouterId id, R& router, Winner winner);
  // Whether a router has anything to arbitrate.
  [[nodiscard]] bool arbitrates(RouterId id) const {
    return (arbitrates_[id.number() / 64] >> (id.number() % 64) & 1u) != 0;
  }
  [[nodiscard]] bool enters_at_once(const Packet& packet) const;
  void enter(Band& band, const Packet& packet);
  // Apart from each other, so that a cycle does not save registers for what does not happen in it.
  void put_in(const Packet& packet);
  [[gnu::noinline]] void tick_alone(Band& band);
  void step_alone(Band& band);
  [[gnu::noinline]] Status advance_in_turn(const Plan& plan);
  [[gnu::noinline, gnu::flatten]] Status advance_together(const Plan& plan);
  [[nodiscard]] bool is_quiet(std::int64_t begin, std::int64_t until) const;
  void send_alone(Band& band);
  void deliver_alone(std::int64_t cycle);
  [[gnu::noinline]] void deliver_in_order(WheelSlot& slot, std::int64_t cycle);
  [[gnu::noinline]] void sort_ejections(WheelSlot& slot);
  [[nodiscard, gnu::always_inline]] std::uint32_t take_together(Band& band);
  [[nodiscard]] Places places() {
    return {routers_.data(), departures_.data(), upstream_.data(), exit_credits_};
  }
  [[gnu::noinline]] void step_together(Band& band, std::int64_t until);
  [[nodiscard, gnu::always_inline]] Passing passing_in(std::int64_t cycle);
  [[gnu::noinline]] void take_in_turn(Band& band, WheelSlot& slot);
  // kApart: packets of one flit, of which none comes right behind another of its packet. The
  // processor need not make it wait for what that one writes.
  template <bool kApart>
  [[gnu::always_inline]] void take_alone(Band& band, WheelSlot& slot, std::uint32_t first);
  [[gnu::always_inline]] LoneFlit look_ahead(RouterId id, R& router, const Arrival& arrival,
                                             bool several);
  [[gnu::noinline]] void pass_together(Band& band, std::size_t& begun);
  [[gnu::noinline]] bool claim(RouterId id, PortId output);
  void take_to_arbitrate(Band& band, const Arrival& arrival, std::size_t& begun);
  [[gnu::always_inline]] void pass_alone(Band& band, RouterId id, R& router, const LoneFlit& lone);
  [[gnu::always_inline]] void leave_alone(RouterId id, R& router, PortVc input_vc, PortVc output_vc,
                                          const Arrival& behind, bool tail);
  template <bool kApart>
  [[gnu::always_inline]] bool pass_simple(Band& band, const Passing& passing, const Places& places,
                                          const Arrival& arrival);
  [[gnu::noinline]] void take_otherwise(Band& band, const Arrival& arrival, bool several,
                                        std::size_t& begun);
  void begin_behind_head(const Arrival& arrival, Channel next);
  template <bool kApart>
  [[gnu::always_inline]] void pass_on(const Passing& passing, const Places& places, RouterId id,
                                      R& router, PortVc input_vc, PortVc output_vc, Channel next,
                                      const Flit& flit, bool tail);
  [[gnu::always_inline]] void give_back_early(const Upstream& upstream, std::int64_t now,
                                              RouterId id, const R& router, PortId input, VcId vc);
  [[gnu::noinline]] void return_credit(SmallCount& credits, std::int64_t now, bool entry,
                                       CreditTo back);
  [[gnu::noinline]] void begin_arbitration(RouterId id);
  [[gnu::noinline]] void end_first_arbitrations();
  // Counts flits that leave in the coming cycle and are counted already: to a node, over a link.
  [[nodiscard]] std::uint64_t ejected_ahead() const;
  [[nodiscard]] std::uint64_t flits_sent(const Wiring::Link& link) const;

  const Wiring wiring_;
  const Rules rules_;
  Routing routing_;
  const VcRouterConfig router_config_;
  const bool large_;  // too large for the nearest caches
  const bool lookahead_;
  // A node's credits need no count where its flits cannot wait for them.
  const bool counts_exit_credits_;
  const int flit_delay_;    // from winning the switch to the next router's input, without waiting
  const int credit_delay_;  // from winning the switch to use of the credit upstream
  const std::uint32_t exit_credits_ = counts_exit_credits_ ? 1 : 0;  // that a flit to a node takes

  std::uint64_t ejected_flits_{0};
  bool skips_arbitration_{};   // where there is nothing to arbitrate
  std::size_t arbitrating_{};  // routers that arbitrate all the same

  IdVector<RouterId, R> routers_;
  IdVector<RouterId, Stages<S>> stages_;  // kGeneral alone
  FlitRings rings_;
  IdVector<Channel, Front> fronts_;  // kCanCut alone
  Pace pace_;                        // where links differ
  std::vector<Band> bands_;
  std::vector<TimeWheel> wheels_;      // [band from][band to]
  std::vector<std::uint8_t> band_of_;  // [router / 64]
  Sources sources_;
  std::vector<Channel> entry_;      // [node]: VC 0 of its router's input
  std::vector<Exit> exits_;         // [node]
  std::vector<int> output_delays_;  // [router][port]; where links differ
  std::vector<int> input_delays_;
  std::vector<RouterId> output_to_;        // [router][port]; where links differ
  std::vector<RouterId> input_from_;       // itself behind the port of a node
  std::vector<std::uint64_t> busy_;        // mask over routers with work left over
  std::vector<std::uint64_t> wants_vcs_;   // busy routers with heads; kCanCut alone
  std::vector<std::uint64_t> arbitrates_;  // mask over routers; if skips_arbitration_
  std::vector<Departures> departures_;     // [router]; if skips_arbitration_
  std::vector<Upstream> upstream_;         // [router][input]; if skips_arbitration_
  std::int64_t last_ahead_{0};             // cycle for which a move was decided before it
  IdVector<RouterId, Claim> claims_;
  std::array<Arrival, kTogether * kFewArrivals> together_;  // flits of several cycles
  std::vector<LoneFlit> lone_;                              // of routers to which several come
  std::vector<Channel> late_fronts_;  // that begin when the tail before them has left
  std::vector<FirstArbitration> began_arbitration_;  // routers, in this cycle
  ReplyBuffers reply_buffers_;
  LinkToggles toggles_;
  PairWires pair_wires_;
  std::shared_ptr<Draws> draws_;
  std::unique_ptr<ServeOrder> serve_order_;  // of networks whose routers draw
  std::unique_ptr<Team> team_;  // of several bands; last, so that its threads end first
};

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::tick() {
  if constexpr (kCanCut) {
    if (skips_arbitration_) {
      tick_alone(bands_.front());
      return;
    }
  }
  if constexpr (!Routing::kEqualLinks) {
    pace_.begin_cycle(now_);
  }
  deliver();
  if (team_ != nullptr) {
    team_->run();
  } else {
    step(bands_.front());
  }
  routing_.end_cycle(rules_, routers_);
  ++now_;
}

template <class Rules, bool kGeneral, class Routing>
Status VcNetwork<Rules, kGeneral, Routing>::advance(const Plan& plan,
                                                    std::vector<Delivery>& delivered) {
  if constexpr (kCanCut) {
    if (skips_arbitration_) {
      WW_TRY(plan.flits == 1 ? advance_together(plan) : advance_in_turn(plan));
      const std::span<const Delivery> all = deliveries_;
      delivered.insert(delivered.end(), all.begin(), all.end());
      deliveries_.clear();
      return {};
    }
  }
  return Network::advance(plan, delivered);
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::step(Band& band) {
  WheelSlot& slot = band.own->at(now_);
  take_node_credits(slot);
  send_from_nodes(band);
  if constexpr (!kCanCut) {
    take_arrivals(slot.arrivals);
    take_credits(slot.credits);
    step_routers(band);
  } else {
    // Heads may look at the credits where they come, so that all flits come before any credit.
    if (team_ == nullptr) {
      take_lean(band, slot.arrivals);
      take_credits(slot.credits);
      step_lean<false>(band);
    } else {
      for (const Band& other : bands_) {
        take_lean(band, other.to[band.number]->at(now_).arrivals);
      }
      for (const Band& other : bands_) {
        take_credits(other.to[band.number]->at(now_).credits);
      }
      step_lean<true>(band);
    }
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_node_credits(WheelSlot& slot) {
  for (std::uint32_t i = 0; i < slot.node_credits.size(); ++i) {
    sources_.take_credit(NodeVc(slot.node_credits[i].number()), waiting_);
  }
  slot.node_credits.clear();
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::send_from_nodes(Band& band) {
  if constexpr (kCanCut) {
    band.injected_out = &band.own->at(now_ + kTerminalDelay);
  }
  const auto acts = [this](std::size_t word) {
    return Routing::kEqualLinks ? ~std::uint64_t{0} : pace_.nodes_with_edge(word);
  };
  sources_.template step<!Routing::kEqualLinks>(
      band.first_nodes, band.last_nodes, now_, store_, waiting_, acts,
      [&](NodeId node, std::uint32_t packet, const PacketRecord& record, VcId vc, bool first,
          bool last) { send(band, node, packet, record, vc, first, last); });
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::deliver() {
  store_.begin_tick();
  deliveries_.clear();
  for (const Band& band : bands_) {
    deliver_of(band.own->at(now_), now_);
  }
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::deliver_of(WheelSlot& slot, std::int64_t cycle) {
  ejected_flits_ += std::exchange(slot.ejections.flits, 0);
  for (std::uint32_t i = 0; i < slot.ejections.size(); ++i) {
    const std::uint32_t index = slot.ejections[i].head.packet();
    const PacketRecord& record = store_[index];
    int hops = 0;
    if constexpr (Routing::kEqualLinks) {
      hops = routing_.hops(record.source, record.destination);
    } else {
      hops = routing_.hops_vary() ? static_cast<int>(record.hops)
                                  : routing_.hops(record.source, record.destination);
    }
    store_.deliver(index, cycle, static_cast<std::uint16_t>(hops), deliveries_);
  }
  slot.ejections.clear();
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::send(Band& band, NodeId node, std::uint32_t packet,
                                                      const PacketRecord& record, VcId vc,
                                                      bool first, bool last) {
  ++band.injected_flits;
  band.last_move = now_;
  const Channel at(entry_[node].number() + vc.number());
  Flit flit;
  if (!kCanCut || first) {
    flit = Flit(packet, ClassId(record.message_class), first, last);
    if (first) {
      const Exit& exit = exits_[record.destination];
      flit.address(exit.place, exit.port, routing_.phase_of(record.source, record.destination));
    }
  }
  if constexpr (kCanCut) {
    add_arrival(*band.injected_out, Arrival{at, flit});
  } else {
    rings_.push(at, flit);
    if (first) {
      draw_ahead(wiring_.terminals[node].from, at);
    }
    const Wiring::Terminal& terminal = wiring_.terminals[node];
    const std::int64_t comes =
        Routing::kEqualLinks ? now_ + kTerminalDelay
                             : pace_.arrival(terminal.from, terminal.from, now_, 1, terminal.delay);
    band.own->at(comes).arrivals.add(Arrival{at, flit});
  }
}

// Large networks do not fit the nearest caches: fetch what a later event touches.
template <class Rules, bool kGeneral, class Routing>
template <class Item>
void VcNetwork<Rules, kGeneral, Routing>::fetch_ahead(const EventList<Item>& list,
                                                      std::uint32_t n) const {
  if (large_ && n + kAhead < list.size()) {
    const char* router =
        reinterpret_cast<const char*>(&routers_[router_of(Channel(list[n + kAhead].number()))]);
    for (std::size_t line = 0; line < sizeof(R); line += 64) {
      __builtin_prefetch(router + line);
    }
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_credits(EventList<CreditTo>& credits) {
  for (std::uint32_t n = 0; n < credits.size(); ++n) {
    fetch_ahead(credits, n);
    const Channel output_vc(credits[n].number());
    const RouterId id = router_of(output_vc);
    mark_busy(id, routers_[id].take_credit(rules_, port_vc_of(output_vc)));
  }
  credits.clear();
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::take_vc(Band& band, R& router,
                                                         typename R::VcGrant grant) {
  router.take_vc(rules_, grant);
  ++band.vc_grants;
}

}  // namespace ww::sim::net

#include "vc_router/vc_network_alone.hpp"
#include "vc_router/vc_network_inspect.hpp"
#include "vc_router/vc_network_lean.hpp"
#include "vc_router/vc_network_rings.hpp"
