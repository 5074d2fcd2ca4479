// VcNetwork's cycle at routers where nothing is to be arbitrated: those whose packets share neither
// inputs nor outputs. There a head gets its VC in the cycle in which it comes and the switch in the
// next, and each flit behind it leaves in the cycle after it came. All that is decided when a flit
// comes, so that a hop is one event instead of three.
//
// Who asks for the same input or output makes the router arbitrate, from this cycle's VCs and the
// next cycle's switch on, until it is empty: vc_network_lean.hpp has these. What leaves in this
// cycle was decided in the one before, and stays so.
#pragma once

#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

// Flits that come in this cycle. Whether a router must arbitrate is known when all that come to it
// have been seen; mostly that is one.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::take_alone(Band& band, WheelSlot& slot) {
  EventList<Arrival>& arrivals = slot.arrivals;
  TimeWheel& wheel = *band.own;
  band.flits_out = &wheel.at(now_ + 1 + flit_delay_);
  band.ejections_out = &wheel.at(now_ + 2 + kTerminalDelay);
  begin_moves(band);
  std::size_t begun = 0;
  const std::uint64_t twice = slot.revisited;
  slot.visited = slot.revisited = 0;
  const std::uint32_t count = arrivals.size();
  for (std::uint32_t n = 0; n < count; ++n) {
    fetch_ahead(arrivals, n);
    const Arrival& arrival = arrivals[n];
    const RouterId id = router_of(arrival.at);
    R& router = routers_[id];
    const std::uint64_t not_simple = twice | arbitrates_[id.number() / 64];
    if ((not_simple >> (id.number() % 64) & 1u) == 0 && pass_simple(band, id, router, arrival)) {
      continue;
    }
    if (arbitrates(id)) {
      take_to_arbitrate(band, arrival, begun);
      continue;
    }
    const bool several = (twice >> (id.number() % 64) & 1u) != 0;
    const LoneFlit flit = look_ahead(id, router, arrival, several);
    if (several) {
      lone_.push_back(flit);
    } else if (arbitrates(id)) {
      take_to_arbitrate(band, arrival, begun);
    } else {
      pass_alone(band, id, router, flit);
    }
  }
  arrivals.clear();
  if (twice != 0) {
    pass_together(band, begun);
  }
  for (std::size_t i = 0; i < begun; ++i) {
    const Channel at = band.new_fronts[i];
    const RouterId id = router_of(at);
    begin_front(id, routers_[id], port_vc_of(at));
  }
}

// What was decided in the cycle before leaves now.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::begin_moves(Band& band) {
  band.last_move = moves_ahead_ ? now_ : band.last_move;
  moves_ahead_ = false;
}

// Whether the only flit that comes to a router in this cycle finds it empty, or goes on right
// behind its head, and has been passed on. Mostly that is so at light loads.
template <class Rules, bool kGeneral, class Routing>
inline bool VcNetwork<Rules, kGeneral, Routing>::pass_simple(Band& band, RouterId id, R& router,
                                                             const Arrival& arrival) {
  using Mask = typename S::Mask;
  const PortVc input_vc = port_vc_of(arrival.at);
  const Mask mine = mask_of_bit<Mask>(input_vc.number());
  Departures& leaving = departures_[id];
  PortVc output_vc;
  Arrival behind = arrival;
  bool tail = arrival.head.is_tail();
  if (arrival.head.is_head()) {
    if (leaving.cycle == now_ || router.owning_vcs() != 0) {
      return false;
    }
    const Hop hop = routing_.route(rules_, id, router, input_vc, arrival.head);
    output_vc = router.choose_of_all(rules_, input_vc, hop.output, hop.group);
    if (router.credits(output_vc) == 0) {
      return false;
    }
    router.grant_alone(rules_, input_vc, hop.output, output_vc);
    ++band.vc_grants;
    behind.at = router.forward(hop.output, rules_.vc_of(output_vc, hop.output));
    if (!tail) {
      begin_behind_head(arrival, behind.at);
      router.take_vc(rules_, {input_vc, output_vc, GroupId{}});
    }
  } else {
    output_vc = router.output_vc(input_vc);
    if (leaving.cycle != now_ || (leaving.inputs & mine) == 0 || router.credits(output_vc) == 0) {
      return false;
    }
    Front& front = fronts_[arrival.at];
    tail = --front.left == 0;
    if (tail) {
      router.release_alone(rules_, input_vc);
    }
    behind = Arrival{front.next, front.head};
  }
  leaving.cycle = now_ + 1;
  leaving.inputs = mine;
  leaving.tails = only_if(tail, mask_of_bit<Mask>(output_vc.number()));
  pass_on(band, id, router, input_vc, output_vc, behind, tail);
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
  const Departures& leaving = departures_[id];
  const bool leaves_now = leaving.cycle == now_ && leaving.inputs_have(input_vc);
  if (!arrival.head.is_head()) {
    const PortVc output_vc = router.output_vc(input_vc);
    if (!leaves_now || router.credits(output_vc) == 0) {
      begin_arbitration(id);
    }
    return LoneFlit{arrival, output_vc};
  }
  const Hop hop = routing_.route(rules_, id, router, input_vc, arrival.head);
  const std::uint32_t tails = rules_.vcs_of(leaving.tails, hop.output);
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

// As take_lean() does it.
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
  const Departures& leaving = departures_[id];
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
    leave_alone(band, id, router, input_vc, output_vc, Arrival{front.next, front.head}, tail);
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
  leave_alone(band, id, router, input_vc, output_vc, Arrival{next, flit}, flit.is_tail());
}

// A flit that has just come leaves in the next cycle.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::leave_alone(Band& band, RouterId id, R& router,
                                                             PortVc input_vc, PortVc output_vc,
                                                             const Arrival& behind, bool tail) {
  using Mask = typename S::Mask;
  Departures& leaving = departures_[id];
  const bool others = leaving.cycle == now_ + 1;
  leaving.inputs = only_if(others, leaving.inputs) | mask_of_bit<Mask>(input_vc.number());
  leaving.tails =
      only_if(others, leaving.tails) | only_if(tail, mask_of_bit<Mask>(output_vc.number()));
  leaving.cycle = now_ + 1;
  pass_on(band, id, router, input_vc, output_vc, behind, tail);
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::pass_on(Band& band, RouterId id, R& router,
                                                         PortVc input_vc, PortVc output_vc,
                                                         const Arrival& behind, bool tail) {
  const PortId input = rules_.port_of(input_vc);
  const PortId output = rules_.port_of(output_vc);
  const std::uint32_t local = as_number(routing_.is_exit(id, output));
  moves_ahead_ = true;
  if (config_.count_events) {
    router.count_flit(output);
  }
  router.spend_credits(output_vc, exit_credits_ | (1 - local));
  add_arrival(*band.flits_out, behind, 1 - local);
  if (counts_exit_credits_) {
    band.own->at(now_ + 1 + kExitLoop + router_config_.credit_delay)
        .credits.add(CreditTo(channel(id, output_vc).number()), local);
  }
  band.ejections_out->ejected_flits += local;
  band.ejections_out->ejections.add(behind.head.packet(), tail ? local : 0);

  give_back_early(id, router, input, rules_.vc_of(input_vc, input));
}

// Of credits it matters alone whether there are any. So this one may count at once, if others last
// until it comes; at most one is spent in each cycle.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::give_back_early(RouterId id, const R& router,
                                                                 PortId input, VcId vc) {
  const Upstream& upstream = upstream_[port_number(id, input)];
  SmallCount& credits = upstream.credits[vc.number()];
  if (credits > upstream.early_from) {
    ++credits;
  } else {
    return_credit(routing_.is_entry(id, input), router.back(input, vc));
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::return_credit(bool entry, CreditTo back) {
  WheelSlot& slot = bands_.front().own->at(now_ + 1 + (entry ? kTerminalDelay : credit_delay_));
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
  const Departures& leaving = departures_[id];
  const bool leaves = leaving.cycle == now_;
  const typename S::Mask barred = only_if(leaves, leaving.inputs) & router.owning_vcs();
  const typename S::Mask withheld = only_if(leaves, leaving.tails);
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
