// VcNetwork's cycle at routers where nothing is to be arbitrated: those whose packets share neither
// inputs nor outputs. There a head gets its VC in the cycle in which it comes and the switch in the
// next, and each flit behind it leaves in the cycle after it came. All that is decided when a flit
// comes, so that a hop is one event instead of three.
//
// Who asks for the same input or output makes the router arbitrate, from this cycle's VCs and the
// next cycle's switch on, until it is empty: vc_network_lean.hpp has these. What leaves in this
// cycle was decided in the one before, and stays so.
#pragma once

#include <cstring>
#include <span>

#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

// A packet of one flit, whose node has nothing else to send and all VCs to choose from, leaves it
// in the very cycle of its injection. So its queue is not needed.
template <class Rules, bool kGeneral, class Routing>
inline bool VcNetwork<Rules, kGeneral, Routing>::enters_at_once(const Packet& packet) const {
  return skips_arbitration_ && packet.flits == 1 && packet.destinations.size() == 1 &&
         config_.classes == 1 && store_.front(packet.source, 0) == kNoPacket &&
         sources_.can_enter(packet.source, now_);
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::enter(Band& band, const Packet& packet) {
  const std::uint32_t index = store_.take_in(packet, packet.destinations.front());
  PacketRecord& record = store_[index];
  record.injected = now_;
  band.injected_out = &band.own->at(now_ + kTerminalDelay);
  send(band, packet.source, index, record, sources_.enter(packet.source, now_), true, true);
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::tick_alone(Band& band) {
  store_.begin_tick();
  deliveries_.clear();
  step_alone(band);
}

// A cycle in which mostly little happens: what does not, costs a look each.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::step_alone(Band& band) {
  WheelSlot& slot = band.own->at(now_);
  send_alone(band);
  if (slot.arrivals.size() != 0) {
    take_in_turn(band, slot);
  }
  if (slot.credits.size() != 0) {
    take_credits(slot.credits);
  }
  if (arbitrating_ != 0) {
    step_lean<false>(band);
  }
  // Last, so that the caller's look at what was delivered is easy to predict.
  if (slot.ejections.flits != 0) {
    deliver_in_order(slot, now_);
  }
  ++now_;
}

template <class Rules, bool kGeneral, class Routing>
Status VcNetwork<Rules, kGeneral, Routing>::advance_in_turn(const Plan& plan) {
  Band& band = bands_.front();
  Entering packets(*this, plan);
  store_.begin_tick();
  deliveries_.clear();
  while (now_ < static_cast<std::int64_t>(plan.end.value())) {
    while (packets.comes_before(now_ + 1)) {
      WW_TRY(packets.put_in_next());
    }
    step_alone(band);
  }
  return {};
}

// An action of a router takes kTogether cycles to reach a node, unless the router arbitrated in the
// cycle before: its departures were decided a cycle ahead. So the nodes may do kTogether cycles
// before the routers do them. Packets of one flit gain from it.
template <class Rules, bool kGeneral, class Routing>
Status VcNetwork<Rules, kGeneral, Routing>::advance_together(const Plan& plan) {
  Band& band = bands_.front();
  const auto end = static_cast<std::int64_t>(plan.end.value());
  Entering packets(*this, plan);
  store_.begin_tick();
  deliveries_.clear();
  while (now_ < end) {
    const std::int64_t begin = now_;
    const std::int64_t until = std::min(end, begin + (arbitrating_ == 0 ? kTogether : 1));
    if (is_quiet(begin, until)) {
      // Mostly all packets enter at once, so that nodes have nothing else to do.
      while (sources_.is_idle() && packets.comes_before(until)) {
        now_ = packets.created();
        WW_TRY(packets.put_in_next());
      }
      now_ = sources_.is_idle() ? until : now_;
    }
    for (; now_ < until; ++now_) {
      while (packets.comes_before(now_ + 1)) {
        WW_TRY(packets.put_in_next());
      }
      send_alone(band);
    }
    for (std::int64_t cycle = begin; cycle < until; ++cycle) {
      deliver_alone(cycle);
    }
    now_ = begin;
    step_together(band, until);
  }
  return {};
}

// Whether no node has anything to send or to take.
template <class Rules, bool kGeneral, class Routing>
inline bool VcNetwork<Rules, kGeneral, Routing>::is_quiet(std::int64_t begin,
                                                          std::int64_t until) const {
  bool quiet = sources_.is_idle();
  for (std::int64_t cycle = begin; cycle < until; ++cycle) {
    quiet &= bands_.front().own->at(cycle).node_credits.size() == 0;
  }
  return quiet;
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::send_alone(Band& band) {
  WheelSlot& slot = band.own->at(now_);
  if (slot.node_credits.size() != 0) {
    take_node_credits(slot);
  }
  if (!sources_.is_idle()) {
    send_from_nodes(band);
  }
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::deliver_alone(std::int64_t cycle) {
  WheelSlot& slot = bands_.front().own->at(cycle);
  if (slot.ejections.flits != 0) {
    deliver_in_order(slot, cycle);
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::deliver_in_order(WheelSlot& slot, std::int64_t cycle) {
  if (slot.ejections.size() > 1) {
    sort_ejections(slot);
  }
  deliver_of(slot, cycle);
}

// The routers' part of the cycles from now() to `until` - 1, with packets of one flit.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::step_together(Band& band, std::int64_t until) {
  // The flit of the cycle that comes next.
  std::uint32_t first = until - now_ == kTogether ? take_together(band) : 0;
  for (; now_ < until; ++now_) {
    WheelSlot& slot = band.own->at(now_);
    if (slot.arrivals.size() != 0) {
      take_alone<true>(band, slot, std::exchange(first, 0));
    }
    if (slot.credits.size() != 0) {
      take_credits(slot.credits);
    }
    if (arbitrating_ != 0) {
      step_lean<false>(band);
    }
  }
}

// Passes on the flits that come in the next kTogether cycles, up to the first that finds more than
// an empty router. Returns its number within its cycle, which is now() then. Flits of different
// cycles are as independent of each other as those of one. So one loop takes them all: where it
// ends is guessed once and not in each cycle.
template <class Rules, bool kGeneral, class Routing>
inline std::uint32_t VcNetwork<Rules, kGeneral, Routing>::take_together(Band& band) {
  std::array<Passing, kTogether> cycles;
  std::array<std::uint32_t, kTogether + 1> begins{};  // [cycle]: the number of its first flit
  TimeWheel& wheel = *band.own;
  for (std::size_t i = 0; i < kTogether; ++i) {
    cycles[i] = passing_in(now_ + static_cast<std::int64_t>(i));
    const WheelSlot& slot = wheel.at(cycles[i].now);
    const std::span<const Arrival> arrivals = slot.arrivals.items();
    if (arrivals.size() > kFewArrivals || slot.credits.size() != 0) {
      return 0;
    }
    // Bytes beyond the last arrival are scrap, and the next cycle's go over them.
    std::memcpy(&together_[begins[i]], arrivals.data(), kFewArrivals * sizeof(Arrival));
    begins[i + 1] = begins[i] + static_cast<std::uint32_t>(arrivals.size());
  }
  const std::uint32_t count = begins[kTogether];
  std::uint32_t n = 0;
  std::size_t cycle = 0;
  for (; n < count; ++n) {
    cycle = 0;
    for (std::size_t i = 1; i < kTogether; ++i) {
      cycle += n >= begins[i] ? 1 : 0;
    }
    if (!pass_simple<true>(band, cycles[cycle], places(), together_[n])) {
      break;
    }
  }
  cycle = n == count ? kTogether : cycle;
  for (std::size_t i = 0; i < cycle; ++i) {
    wheel.at(cycles[i].now).arrivals.clear_all();
  }
  now_ += static_cast<std::int64_t>(cycle);
  return n - begins[cycle];
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::sort_ejections(WheelSlot& slot) {
  std::ranges::sort(slot.ejections.items(), {},
                    [this](const Arrival& tail) { return store_[tail.head.packet()].destination; });
}

template <class Rules, bool kGeneral, class Routing>
inline auto VcNetwork<Rules, kGeneral, Routing>::passing_in(std::int64_t cycle) -> Passing {
  TimeWheel& wheel = *bands_.front().own;
  return {cycle,
          wheel.at(cycle).arrivals.revisited,
          {&wheel.at(cycle + 1 + flit_delay_).arrivals,
           &wheel.at(cycle + 2 + kTerminalDelay).ejections}};
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_in_turn(Band& band, WheelSlot& slot) {
  take_alone<false>(band, slot, 0);
}

// Flits that come in this cycle. Whether a router must arbitrate is known when all that come to it
// have been seen; mostly that is one, and it finds the router empty or goes on behind its head.
// That case has a loop of its own which fits into the registers.
template <class Rules, bool kGeneral, class Routing>
template <bool kApart>
inline void VcNetwork<Rules, kGeneral, Routing>::take_alone(Band& band, WheelSlot& slot,
                                                            std::uint32_t first) {
  FlitEvents& arrivals = slot.arrivals;
  const Passing passing = passing_in(now_);
  const Places kept = places();
  std::size_t begun = 0;
  const std::span<const Arrival> all = arrivals.items();
  for (std::uint32_t n = first; n < all.size(); ++n) {
    fetch_ahead(arrivals, n);
    const Arrival& arrival = all[n];
    if (!pass_simple<kApart>(band, passing, kept, arrival)) {
      take_otherwise(band, arrival, passing.is_one_of_several(router_of(arrival.at)), begun);
    }
  }
  arrivals.clear_all();
  if (passing.twice != 0) {
    pass_together(band, begun);
  }
  for (std::size_t i = 0; i < begun; ++i) {
    const Channel at = band.new_fronts[i];
    const RouterId id = router_of(at);
    begin_front(id, routers_[id], port_vc_of(at));
  }
}

// A flit that shares its router with others, or finds it arbitrating.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_otherwise(Band& band, const Arrival& arrival,
                                                         bool several, std::size_t& begun) {
  const RouterId id = router_of(arrival.at);
  R& router = routers_[id];
  if (arbitrates(id)) {
    take_to_arbitrate(band, arrival, begun);
    return;
  }
  const LoneFlit flit = look_ahead(id, router, arrival, several);
  if (several) {
    lone_.push_back(flit);
  } else if (arbitrates(id)) {
    take_to_arbitrate(band, arrival, begun);
  } else {
    pass_alone(band, id, router, flit);
  }
}

// Whether the only flit that comes to a router in this cycle finds it empty, or goes on right
// behind its head, and has been passed on. A router that arbitrates is not empty, and nothing that
// was decided in the cycle before leaves it.
template <class Rules, bool kGeneral, class Routing>
template <bool kApart>
inline bool VcNetwork<Rules, kGeneral, Routing>::pass_simple(Band& band, const Passing& passing,
                                                             const Places& places,
                                                             const Arrival& arrival) {
  const RouterId id = router_of(arrival.at);
  if (passing.is_one_of_several(id)) {
    return false;
  }
  const PortVc input_vc = port_vc_of(arrival.at);
  R& router = places.routers[id.number()];
  Departures& leaving = places.departures[id.number()];
  if (!arrival.head.is_head()) {
    const PortVc output_vc = router.output_vc(input_vc);
    if (leaving.cycle != passing.now || !leaving.is_only(input_vc) ||
        router.credits(output_vc) == 0) {
      return false;
    }
    Front& front = fronts_[arrival.at];
    const bool tail = --front.left == 0;
    if (tail) {
      router.release_alone(rules_, input_vc);
    }
    leaving.begin(passing.now + 1, input_vc, output_vc, tail);
    pass_on<kApart>(passing, places, id, router, input_vc, output_vc, front.next, front.head, tail);
    return true;
  }
  if (!router.is_empty()) {
    return false;
  }
  const Hop hop = routing_.route(rules_, id, router, input_vc, arrival.head);
  const PortVc output_vc = router.choose_of_all(rules_, input_vc, hop.output, hop.group);
  if ((leaving.cycle == passing.now && leaving.hinder(input_vc, output_vc)) ||
      router.credits(output_vc) == 0) {
    return false;
  }
  router.grant_alone(rules_, input_vc, hop.output, output_vc);
  ++band.vc_grants;
  const Channel next = router.forward(hop.output, rules_.vc_of(output_vc, hop.output));
  const bool tail = arrival.head.is_tail();
  if (kApart && tail) {
    leaving.begin(passing.now + 1, input_vc, output_vc, true);
    pass_on<kApart>(passing, places, id, router, input_vc, output_vc, next, arrival.head, true);
    return true;
  }
  if (!tail) {
    begin_behind_head(arrival, next);
    router.take_vc(rules_, {input_vc, output_vc, GroupId{}});
  }
  leaving.begin(passing.now + 1, input_vc, output_vc, tail);
  pass_on<kApart>(passing, places, id, router, input_vc, output_vc, next, arrival.head, tail);
  return true;
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::begin_behind_head(const Arrival& arrival,
                                                                   Channel next) {
  Front& front = fronts_[arrival.at];
  front.head = arrival.head;
  front.head.end_head();
  front.next = next;
  front.left = static_cast<std::uint16_t>(store_[arrival.head.packet()].flits - 1);
}

// Flits of routers to which several come.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::pass_together(Band& band, std::size_t& begun) {
  for (const LoneFlit& flit : lone_) {
    const RouterId id = router_of(flit.arrival.at);
    if (arbitrates(id)) {
      take_to_arbitrate(band, flit.arrival, begun);
    } else {
      pass_alone(band, id, routers_[id], flit);
    }
  }
  lone_.clear();
}

// Whether a head of this cycle wants the same output.
template <class Rules, bool kGeneral, class Routing>
bool VcNetwork<Rules, kGeneral, Routing>::claim(RouterId id, PortId output) {
  Claim& claim = claims_[id];
  const auto mine = static_cast<typename S::Ports>(typename S::Ports{1} << output.number());
  const bool is_claimed = claim.cycle == now_ && (claim.outputs & mine) != 0;
  claim.outputs = claim.cycle == now_ ? claim.outputs | mine : mine;
  claim.cycle = now_;
  return is_claimed;
}

// Makes the router arbitrate if a flit shares anything, lacks a credit, or has lost touch with the
// flit before it.
template <class Rules, bool kGeneral, class Routing>
inline auto VcNetwork<Rules, kGeneral, Routing>::look_ahead(RouterId id, R& router,
                                                            const Arrival& arrival, bool several)
    -> LoneFlit {
  const PortVc input_vc = port_vc_of(arrival.at);
  const Departures& leaving = departures_[id.number()];
  const bool leaves_now = leaving.cycle == now_ && leaving.inputs_have(input_vc);
  if (!arrival.head.is_head()) {
    const PortVc output_vc = router.output_vc(input_vc);
    if (!leaves_now || router.credits(output_vc) == 0) {
      begin_arbitration(id);
    }
    return LoneFlit{arrival, output_vc};
  }
  const Hop hop = routing_.route(rules_, id, router, input_vc, arrival.head);
  const std::uint32_t tails = rules_.vcs_of(leaving.tails(), hop.output);
  const std::uint32_t vcs =
      router.free_for(rules_, hop.output, hop.group) & ~only_if(leaving.cycle == now_, tails);
  if ((several && claim(id, hop.output)) || vcs == 0 || leaves_now ||
      router.would_share(rules_, input_vc, hop.output)) {
    begin_arbitration(id);
    return LoneFlit{arrival, PortVc{}};
  }
  const PortVc output_vc = router.choose_alone(rules_, input_vc, hop.output, vcs);
  if (router.credits(output_vc) == 0) {
    begin_arbitration(id);
  }
  return LoneFlit{arrival, output_vc};
}

// Takes arrivals as take_lean() does.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_to_arbitrate(Band& band, const Arrival& arrival,
                                                            std::size_t& begun) {
  const Channel at = arrival.at;
  const RouterId id = router_of(at);
  rings_.push(at, arrival.head, arrival.head.is_head());
  const typename R::Arrival came = routers_[id].take_flit(port_vc_of(at));
  mark_busy(id, came.first & !came.begins);
  if (!came.begins) {
    return;
  }
  const Departures& leaving = departures_[id.number()];
  if (leaving.cycle == now_ && leaving.inputs_have(port_vc_of(at))) {
    late_fronts_.push_back(at);
  } else {
    band.new_fronts[begun++] = at;
  }
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::pass_alone(Band& band, RouterId id, R& router,
                                                            const LoneFlit& lone) {
  const Channel at = lone.arrival.at;
  const PortVc input_vc = port_vc_of(at);
  const PortVc output_vc = lone.output_vc;
  Flit flit = lone.arrival.head;
  if (!flit.is_head()) {
    Front& front = fronts_[at];
    const bool tail = --front.left == 0;
    if (tail) {
      router.release_alone(rules_, input_vc);
    }
    leave_alone(id, router, input_vc, output_vc, Arrival{front.next, front.head}, tail);
    return;
  }
  const PortId output = rules_.port_of(output_vc);
  router.grant_alone(rules_, input_vc, output, output_vc);
  const Channel next = router.forward(output, rules_.vc_of(output_vc, output));
  ++band.vc_grants;
  if (!flit.is_tail()) {
    begin_behind_head(lone.arrival, next);
    router.take_vc(rules_, {input_vc, output_vc, GroupId{}});
  }
  leave_alone(id, router, input_vc, output_vc, Arrival{next, flit}, flit.is_tail());
}

// A flit that has just come leaves in the next cycle.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::leave_alone(RouterId id, R& router,
                                                             PortVc input_vc, PortVc output_vc,
                                                             const Arrival& behind, bool tail) {
  Departures& leaving = departures_[id.number()];
  if (leaving.cycle == now_ + 1) {
    leaving.add(input_vc, output_vc, tail);
  } else {
    leaving.begin(now_ + 1, input_vc, output_vc, tail);
  }
  pass_on<false>(passing_in(now_), places(), id, router, input_vc, output_vc, behind.at,
                 behind.head, tail);
}

template <class Rules, bool kGeneral, class Routing>
template <bool kApart>
inline void VcNetwork<Rules, kGeneral, Routing>::pass_on(const Passing& passing,
                                                         const Places& places, RouterId id,
                                                         R& router, PortVc input_vc,
                                                         PortVc output_vc, Channel next,
                                                         const Flit& flit, bool tail) {
  const PortId input = rules_.port_of(input_vc);
  const PortId output = rules_.port_of(output_vc);
  const std::uint32_t local = as_number(routing_.is_exit(id, output));
  last_ahead_ = passing.now + 1;
  router.count_flit(output);
  router.spend_credits(output_vc, places.exit_credits | (1 - local));
  if constexpr (kApart) {
    // To a router or a node: no branch could predict which.
    passing.out[local]->come(next, flit, visit_of(next), (1 - local) | as_number(tail));
  } else {
    // Visits both, so that the flit behind need not wait until it is known where.
    passing.out[0]->visit(visit_of(next, 1 - local));
    passing.out[0]->add_whole(next, flit, 1 - local);
    passing.out[1]->flits += local;
    passing.out[1]->add_whole(next, flit, local & as_number(tail));
  }
  if (places.exit_credits != 0) {
    bands_.front()
        .own->at(passing.now + 1 + kExitLoop + router_config_.credit_delay)
        .credits.add(CreditTo(channel(id, output_vc).number()), local);
  }
  give_back_early(places.upstream[port_number(id, input)], passing.now, id, router, input,
                  rules_.vc_of(input_vc, input));
}

// A flit that leaves needs to know only whether there are credits. So this one may count at once,
// if others last until it comes: at most one is spent and one comes back in each cycle.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::give_back_early(const Upstream& upstream,
                                                                 std::int64_t now, RouterId id,
                                                                 const R& router, PortId input,
                                                                 VcId vc) {
  SmallCount& credits = upstream.credits[vc.number()];
  if (credits > upstream.early_from) {
    ++credits;
  } else {
    return_credit(credits, now, routing_.is_entry(id, input), router.back(input, vc));
  }
}

// Where nothing is arbitrated upstream, what leaves there in this cycle has spent its credit
// already, and one fewer has to last.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::return_credit(SmallCount& credits, std::int64_t now,
                                                        bool entry, CreditTo back) {
  if (!entry && credits == static_cast<std::uint32_t>(credit_delay_) &&
      !arbitrates(router_of(Channel(back.number())))) {
    ++credits;
    return;
  }
  WheelSlot& slot = bands_.front().own->at(now + 1 + (entry ? kTerminalDelay : credit_delay_));
  (entry ? slot.node_credits : slot.credits).add(back);
}

// Out of the way of the loops: it is rare where routers mostly have nothing to arbitrate.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::begin_arbitration(RouterId id) {
  if (arbitrates(id)) {
    return;
  }
  arbitrates_[id.number() / 64] |= std::uint64_t{1} << (id.number() % 64);
  ++arbitrating_;
  R& router = routers_[id];
  const Departures& leaving = departures_[id.number()];
  const bool leaves = leaving.cycle == now_;
  const typename S::Mask barred = only_if(leaves, leaving.inputs()) & router.owning_vcs();
  const typename S::Mask withheld = only_if(leaves, leaving.tails());
  router.begin_arbitration(barred, withheld);
  began_arbitration_.push_back({id, withheld});
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::end_first_arbitrations() {
  for (const FirstArbitration& began : began_arbitration_) {
    R& router = routers_[began.router];
    router.end_first_arbitration(began.withheld);
    mark_busy(began.router, router.bidders() != 0);
  }
  for (const Channel at : late_fronts_) {
    const RouterId id = router_of(at);
    begin_front(id, routers_[id], port_vc_of(at));
  }
  late_fronts_.clear();
  began_arbitration_.clear();
}

}  // namespace ww::sim::net
