// VcNetwork's cycle where all links take equally long and each stage of a router takes one. Heads
// alone are written into buffers: behind one it is enough to count.
//
// Each pass goes straight over a list or over the set bits of a mask, and does what it can by
// arithmetic: a branch that nobody can predict costs as much as twenty instructions.
#pragma once

#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

// Flits that come in this cycle.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_lean(Band& band, EventList<Arrival>& arrivals) {
  Channel* const fronts = band.new_fronts.data();
  R* const routers = routers_.data();
  std::size_t begun = 0;
  for (std::uint32_t n = 0; n < arrivals.size(); ++n) {
    fetch_ahead(arrivals, n);
    const Channel at = arrivals[n].at;
    const Flit head = arrivals[n].head;
    const RouterId id = router_of(at);
    R& router = routers[id.number()];
    rings_.push(at, head, head.is_head());
    const typename R::Arrival arrival = router.take_flit(port_vc_of(at));
    mark_busy(id, arrival.first & !arrival.begins);
    fronts[begun] = at;
    begun += arrival.begins ? 1 : 0;
  }
  arrivals.clear();
  for (std::size_t i = 0; i < begun; ++i) {
    if (large_ && i + kAhead < begun) {
      const Channel later = fronts[i + kAhead];
      rings_.fetch_for_read(later, routers[router_of(later).number()].front(port_vc_of(later)));
      __builtin_prefetch(&fronts_[later]);
      const Channel sooner = fronts[i + kAhead / 2];
      const SmallCount place = routers[router_of(sooner).number()].front(port_vc_of(sooner));
      __builtin_prefetch(&store_[rings_.at(sooner, place).packet()]);
    }
    const RouterId id = router_of(fronts[i]);
    begin_front(id, routers[id.number()], port_vc_of(fronts[i]));
  }
}

// All matches see the state at the start of the cycle; then heads move on, then flits.
template <class Rules, bool kGeneral, class Routing>
template <bool kBanded>
void VcNetwork<Rules, kGeneral, Routing>::step_lean(Band& band) {
  std::size_t won = 0;
  SwitchWinner* const winners = band.winners.data();
  R* const routers = routers_.data();
  for (std::size_t word = band.first; word < band.last; ++word) {
    for_each_bit<std::size_t>(std::exchange(busy_[word], 0), [&](std::size_t i) {
      const RouterId id(word * 64 + i);
      R& router = routers[id.number()];
      router.template allocate_switch<false>(rules_, router.bidders(), open_outputs(id),
                                             [&](Winner winner) {
                                               winners[won++] = SwitchWinner{id, winner};
                                             });
    });
  }
  for (std::size_t word = band.first; word < band.last; ++word) {
    for_each_bit<std::size_t>(wants_vcs_[word], [&](std::size_t i) {
      const RouterId id(word * 64 + i);
      R& router = routers[id.number()];
      router.allocate_vcs(rules_, [&](typename R::VcGrant grant) {
        take_vc(band, router, grant);
        const PortVc output_vc = grant.output_vc;
        const PortId output = rules_.port_of(output_vc);
        fronts_[channel(id, grant.input_vc)].next =
            router.forward(output, rules_.vc_of(output_vc, output));
      });
      if (router.awaits_routes()) {
        for_each_bit<PortVc>(router.take_awaiting(),
                             [&](PortVc input_vc) { route_front(id, router, input_vc); });
      }
      wants_vcs_[word] &= ~(static_cast<std::uint64_t>(!router.wants_vcs()) << i);
      mark_busy(id, router.bidders() != 0);
    });
  }
  if (!began_arbitration_.empty()) {
    end_first_arbitrations();
  }
  if (won != 0) {
    band.last_move = now_;
    address_departures(band, now_);
  }
  for (std::size_t i = 0; i < won; ++i) {
    const SwitchWinner& winner = winners[i];
    if (large_ && i + kAhead < won) {
      const SwitchWinner& later = winners[i + kAhead];
      __builtin_prefetch(&fronts_[channel(later.router, later.winner.input_vc)]);
    }
    R& router = routers[winner.router.number()];
    leave<kBanded>(band, winner.router, router, winner.winner);
    mark_busy(winner.router, router.bidders() != 0);
  }
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::address_departures(Band& band,
                                                                    std::int64_t cycle) {
  TimeWheel& wheel = *band.own;
  band.flits_out = &wheel.at(cycle + flit_delay_);
  band.credits_out = {&wheel.at(cycle + credit_delay_).credits,
                      &wheel.at(cycle + kTerminalDelay).node_credits};
  band.exit_credits_out = &wheel.at(cycle + kExitLoop + router_config_.credit_delay).credits;
  band.ejections_out = &wheel.at(cycle + 1 + kTerminalDelay);
}

// A head has come to the front of its VC.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::begin_front(RouterId id, R& router,
                                                             PortVc input_vc) {
  wants_vcs_[id.number() / 64] |= std::uint64_t{1} << (id.number() % 64);
  if (lookahead_) {
    route_front(id, router, input_vc);
  } else {
    router.await_route(input_vc);
  }
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::route_front(RouterId id, R& router,
                                                             PortVc input_vc) {
  const Channel at = channel(id, input_vc);
  const Flit& head = rings_.at(at, router.front(input_vc));
  router.pass_front(input_vc);
  fronts_[at].head = head;
  fronts_[at].left = store_[head.packet()].flits;
  const Hop hop = routing_.route(rules_, id, router, input_vc, head);
  router.request_vc(rules_, input_vc, hop.output, hop.group);
}

// A flit that has won the switch leaves: forward, its credit back, and its VC to the next packet.
template <class Rules, bool kGeneral, class Routing>
template <bool kBanded>
inline void VcNetwork<Rules, kGeneral, Routing>::leave(Band& band, RouterId id, R& router,
                                                       Winner winner) {
  const PortVc input_vc = winner.input_vc;
  const PortId input = rules_.port_of(input_vc);
  const PortId output = winner.output;
  const bool local = routing_.is_exit(id, output);
  const bool entry = routing_.is_entry(id, input);
  Front& front = fronts_[channel(id, input_vc)];
  const std::uint32_t packet = front.head.packet();
  const Channel next = front.next;
  const PortVc output_vc = router.output_vc(input_vc);
  if (config_.count_toggles && !local) {
    toggles_.count(store_, packet, front.head.is_head(), port_number(id, output),
                   std::size_t{id.number()} * rules_.all_vcs() + output_vc.number());
  }
  if (config_.count_events) {
    router.count_flit(output);
  }
  const bool tail = --front.left == 0;
  const typename R::Departure left = router.depart(
      rules_, winner, tail, 1u - static_cast<std::uint32_t>(local & !counts_exit_credits_));
  const CreditTo back = router.back(input, rules_.vc_of(input_vc, input));
  WheelSlot* arrivals = band.flits_out;
  EventList<CreditTo>* credits = band.credits_out[entry ? 1 : 0];
  if constexpr (kBanded) {
    const std::size_t ahead = local ? band.number : band_of(next);
    const std::size_t behind = entry ? band.number : band_of(Channel(back.number()));
    if (ahead != band.number) {
      arrivals = &band.to[ahead]->at(now_ + flit_delay_);
    }
    if (behind != band.number) {
      credits = &band.to[behind]->at(now_ + credit_delay_).credits;
    }
  }
  add_arrival(*arrivals, Arrival{next, front.head}, local ? 0 : 1);
  front.head.end_head();
  credits->add(back);
  if (counts_exit_credits_) {
    band.exit_credits_out->add(CreditTo(channel(id, output_vc).number()), local);
  }
  band.ejections_out->ejections.flits += local ? 1 : 0;
  band.ejections_out->ejections.add(Arrival{next, front.head}, local & tail);
  if (left.more) {
    begin_front(id, router, input_vc);
  }
  if (skips_arbitration_ && router.is_empty()) {
    arbitrates_[id.number() / 64] &= ~(std::uint64_t{1} << (id.number() % 64));
    --arbitrating_;
  }
}

}  // namespace ww::sim::net
