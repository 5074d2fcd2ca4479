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
void VcNetwork<Rules, kGeneral, Routing>::take_alone(Band& band, EventList<Channel>& arrivals) {
  if (!early_.empty()) {
    band.last_move = now_;
    early_.clear();
  }
  if (arrivals.size() == 0) {
    return;
  }
  address_departures(band, now_ + 1);
  std::size_t begun = 0;
  std::uint64_t seen = 0;  // routers, modulo 64
  std::uint64_t twice = 0;
  for (std::uint32_t n = 0; n < arrivals.size(); ++n) {
    const std::uint64_t mine = std::uint64_t{1} << (router_of(arrivals[n]).number() % 64);
    twice |= seen & mine;
    seen |= mine;
  }
  lone_.clear();
  for (std::uint32_t n = 0; n < arrivals.size(); ++n) {
    fetch_ahead(arrivals, n);
    const Channel at = arrivals[n];
    const RouterId id = router_of(at);
    if (arbitrates(id)) {
      take_to_arbitrate(band, at, begun);
      continue;
    }
    const bool several = (twice >> (id.number() % 64) & 1u) != 0;
    const LoneFlit flit = look_ahead(id, routers_[id], at, several);
    if (several) {
      lone_.push_back(flit);
    } else {
      pass_or_arbitrate(band, flit, begun);
    }
  }
  arrivals.clear();
  for (const LoneFlit& flit : lone_) {
    pass_or_arbitrate(band, flit, begun);
  }
  for (std::size_t i = 0; i < begun; ++i) {
    const Channel at = band.new_fronts[i];
    const RouterId id = router_of(at);
    begin_front(id, routers_[id], port_vc_of(at));
  }
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

// Whether a flit shares anything, lacks a credit, or has lost touch with the flit before it.
template <class Rules, bool kGeneral, class Routing>
inline auto VcNetwork<Rules, kGeneral, Routing>::look_ahead(RouterId id, R& router, Channel at,
                                                            bool several) -> LoneFlit {
  const PortVc input_vc = port_vc_of(at);
  if (router.owns_vc(input_vc)) {
    if (fronts_[at].last_out != now_ || router.credits(router.output_vc(input_vc)) == 0) {
      begin_arbitration(id);
    }
    return LoneFlit{.at = at, .hop = {}, .vcs = 0, .is_head = false};
  }
  const Flit& head = rings_.at(at, router.front(input_vc));
  const Hop hop = routing_.route(rules_, id, router, input_vc, head);
  const LastTail& tail = tails_[port_number(id, hop.output)];
  std::uint32_t vcs = router.free_for(rules_, hop.output, hop.group);
  if (tail.cycle == now_) {
    vcs &= ~(std::uint32_t{1} << rules_.vc_of(tail.vc, hop.output).number());
  }
  if ((several && claim(id, hop.output)) || vcs == 0 ||
      router.would_share(rules_, input_vc, hop.output) ||
      !router.has_all_credits(rules_, hop.output) || fronts_[at].last_out == now_) {
    begin_arbitration(id);
  }
  return LoneFlit{.at = at, .hop = hop, .vcs = vcs, .is_head = true};
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::pass_or_arbitrate(Band& band, const LoneFlit& flit,
                                                                   std::size_t& begun) {
  if (arbitrates(router_of(flit.at))) {
    take_to_arbitrate(band, flit.at, begun);
  } else if (flit.is_head) {
    pass_head(band, flit);
  } else {
    pass_body(band, flit.at);
  }
}

// As take_lean() does it.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_to_arbitrate(Band& band, Channel at,
                                                            std::size_t& begun) {
  const RouterId id = router_of(at);
  const typename R::Arrival arrival = routers_[id].take_flit(port_vc_of(at));
  mark_busy(id, arrival.first & !arrival.begins);
  if (!arrival.begins) {
    return;
  }
  if (fronts_[at].last_out == now_) {
    late_fronts_.push_back(at);
  } else {
    band.new_fronts[begun++] = at;
  }
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::pass_head(Band& band, const LoneFlit& lone) {
  const RouterId id = router_of(lone.at);
  R& router = routers_[id];
  const PortVc input_vc = port_vc_of(lone.at);
  const PortId output = lone.hop.output;
  const Flit head = rings_.at(lone.at, router.front(input_vc));
  router.pass_front(input_vc);
  const typename R::VcGrant grant =
      router.grant_alone(rules_, input_vc, output, lone.hop.group, lone.vcs);
  const PortVc output_vc = grant.output_vc;
  const Channel next = router.forward(output, rules_.vc_of(output_vc, output));
  ++band.vc_grants;
  if (!head.is_tail()) {
    Front& front = fronts_[lone.at];
    front.head = head;
    front.next = next;
    front.left = static_cast<std::uint16_t>(store_[head.packet()].flits - 1);
    front.first = false;
    router.take_vc(rules_, grant);
  }
  rings_.push(next, head);
  leave_alone(band, lone.at, output_vc, next, head.packet(), head.is_tail());
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::pass_body(Band& band, Channel at) {
  const PortVc input_vc = port_vc_of(at);
  R& router = routers_[router_of(at)];
  Front& front = fronts_[at];
  const bool tail = --front.left == 0;
  const PortVc output_vc = router.output_vc(input_vc);
  if (tail) {
    router.release_alone(rules_, input_vc);
  }
  leave_alone(band, at, output_vc, front.next, front.head.packet(), tail);
}

// A flit that has just come leaves in the next cycle.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::leave_alone(Band& band, Channel at,
                                                             PortVc output_vc, Channel next,
                                                             std::uint32_t packet, bool tail) {
  const RouterId id = router_of(at);
  R& router = routers_[id];
  const PortVc input_vc = port_vc_of(at);
  const PortId input = rules_.port_of(input_vc);
  const PortId output = rules_.port_of(output_vc);
  const bool local = routing_.is_exit(id, output);
  fronts_[at].last_out = now_ + 1;
  if (tail) {
    tails_[port_number(id, output)] = {now_ + 1, output_vc};
  }
  if (config_.count_events) {
    router.count_flit(output);
  }
  early_.push_back(port_number(id, output));
  router.spend_credits(output_vc, 1u - static_cast<std::uint32_t>(local & !counts_exit_credits_));
  band.flits_out->add(next, !local);
  band.credits_out[routing_.is_entry(id, input) ? 1 : 0]->add(
      router.back(input, rules_.vc_of(input_vc, input)));
  if (counts_exit_credits_) {
    band.exit_credits_out->add(CreditTo(channel(id, output_vc).number()), local);
  }
  band.ejections_out->ejected_flits += local ? 1 : 0;
  band.ejections_out->ejections.add(packet, local & tail);
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
  typename S::Mask barred{};
  for_each_bit<PortVc>(router.owning_vcs(), [&](PortVc input_vc) {
    barred |= only_if(fronts_[channel(id, input_vc)].last_out == now_,
                      mask_of_bit<typename S::Mask>(input_vc.number()));
  });
  typename S::Mask withheld{};
  for (std::uint32_t output = 0; output < rules_.ports(); ++output) {
    const LastTail& tail = tails_[port_number(id, PortId(output))];
    if (tail.cycle == now_) {
      withheld |= mask_of_bit<typename S::Mask>(tail.vc.number());
    }
  }
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
