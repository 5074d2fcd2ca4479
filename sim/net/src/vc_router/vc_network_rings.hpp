// VcNetwork's cycle where links differ or stages take several cycles: every flit is written into
// the ring of its next channel when it leaves, and seen when its arrival comes.
#pragma once

#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::draw_ahead(RouterId next, Channel channel) {
  if constexpr (!Routing::kEqualLinks) {
    if (routing_.draws() && lookahead_) {
      const SmallCount last(static_cast<int>(rings_.written(channel) - 1));
      draw_way(next, rings_.at(channel, last));
    }
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::draw_way(RouterId at, Flit& head) {
  routing_.draw(*draws_, at, head, [&](PortId output) {
    const auto room = static_cast<std::uint32_t>(router_config_.vc_buffer);
    std::uint32_t flits = 0;
    for (std::uint32_t vc = 0; vc < rules_.vcs(); ++vc) {
      flits += room - routers_[at].credits(rules_.vc_at(output, VcId(vc)));
    }
    return flits;
  });
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::take_arrivals(EventList<Arrival>& arrivals) {
  for (std::uint32_t n = 0; n < arrivals.size(); ++n) {
    fetch_ahead(arrivals, n);
    const RouterId id = router_of(arrivals[n].at);
    const PortVc input_vc = port_vc_of(arrivals[n].at);
    R& router = routers_[id];
    const typename R::Arrival arrival = router.take_flit(input_vc);
    mark_busy(id, arrival.first);
    if (keeps_order() && arrival.first) {
      serve_order_->arrive(id, input_vc, arrival.begins);
    }
    if (arrival.begins) {
      begin_head(id, router, input_vc);
    }
  }
  arrivals.clear();
}

// All matches see the state at the start of the cycle; then heads move on, then flits.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::step_routers(Band& band) {
  std::size_t won = 0;
  SwitchWinner* const winners = band.winners.data();
  for (std::size_t word = band.first; word < band.last; ++word) {
    for (std::uint64_t left = busy_[word] & routers_with_edge(word); left != 0;
         left = without_lowest(left)) {
      const RouterId id(word * 64 + static_cast<std::size_t>(lowest(left)));
      R& router = routers_[id];
      if constexpr (kGeneral) {
        step_stages(band, id, router);
      } else {
        const std::size_t won_before = won;
        if (keeps_order()) {
          serve_order_->begin_cycle(id);
        }
        router.template allocate_switch<false>(rules_, router.bidders(), open_outputs(id),
                                               [&](Winner winner) {
                                                 winners[won++] = SwitchWinner{id, winner};
                                               });
        router.allocate_vcs(rules_, [&](typename R::VcGrant grant) {
          take_vc(band, router, grant);
          if (keeps_order()) {
            serve_order_->grant(id, grant.input_vc);
          }
        });
        if (keeps_order()) {
          serve_order_->sort(id, std::span(winners + won_before, winners + won));
          serve_order_->end_grants(id);
        }
        if (router.awaits_routes()) {
          for_each_bit<PortVc>(router.take_awaiting(),
                               [&](PortVc input_vc) { route(id, router, input_vc); });
        }
        route_anew(id, router);
        const bool idle = !router.wants_switch_or_vcs();
        busy_[word] &= ~(idle ? left & (~left + 1) : 0);
      }
    }
  }
  for (std::size_t i = 0; i < won; ++i) {
    const SwitchWinner& winner = winners[i];
    if (large_ && i + kAhead < won) {
      const SwitchWinner& later = winners[i + kAhead];
      const R& theirs = routers_[later.router];
      rings_.fetch_for_read(channel(later.router, later.winner.input_vc),
                            theirs.front(later.winner.input_vc));
      rings_.fetch_for_write(theirs.forward(later.winner.output, VcId{}));
    }
    R& router = routers_[winner.router];
    traverse(band, winner.router, router, winner.winner);
    mark_idle(winner.router, router.is_idle());
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::step_stages(Band& band, RouterId id, R& router) {
  const bool busy = stages_[id].step(
      own_time(id), rules_, router, open_outputs(id),
      [&](PortVc input_vc) { route(id, router, input_vc); },
      [&](typename R::VcGrant grant) { take_vc(band, router, grant); },
      [&](Winner winner) { traverse(band, id, router, winner); });
  if (!stages_[id].allocates_vcs()) {
    route_anew(id, router);
  }
  mark_idle(id, !busy);
}

// Heads that got no VC look again which outputs have one, if their ways are adaptive. Who asks for
// a VC that another packet holds might otherwise wait for it in a circle.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::route_anew(RouterId id, R& router) {
  if constexpr (!Routing::kEqualLinks) {
    if (routing_.is_adaptive() && router.wants_vcs()) {
      for_each_bit<PortVc>(router.withdraw_vc_requests(rules_),
                           [&](PortVc input_vc) { route(id, router, input_vc); });
    }
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::begin_head(RouterId id, R& router, PortVc input_vc) {
  if (lookahead_) {
    route(id, router, input_vc);
  } else {
    router.await_route(input_vc);
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::route(RouterId id, R& router, PortVc input_vc) {
  Flit& flit = rings_.at(channel(id, input_vc), router.front(input_vc));
  if constexpr (!Routing::kEqualLinks) {
    const auto has_entered = [&] { return routing_.is_entry(id, rules_.port_of(input_vc)); };
    if (!lookahead_ && routing_.draws() && (routing_.draws_under_way() || has_entered())) {
      draw_way(id, flit);
    }
    const NodeId to = store_[flit.packet()].destination;
    if (routing_.ends_detour(id, to, flit)) {
      flit.address(routing_.place_of(to), flit.port(), routing_.phase_behind_detour());
    }
  }
  const Hop hop = routing_.route(rules_, id, router, input_vc, flit);
  router.request_vc(rules_, input_vc, hop.output, hop.group);
}

// A flit that has won the switch leaves: forward, its credit back, and its VC to the next flit.
template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::traverse(Band& band, RouterId id, R& router,
                                                          Winner winner) {
  const PortVc input_vc = winner.input_vc;
  const PortId input = rules_.port_of(input_vc);
  const PortId output = winner.output;
  const PortVc output_vc = router.output_vc(input_vc);
  const bool local = routing_.is_exit(id, output);
  // The flit's old place is not written again before its credit is back. A copy of it here would
  // make the compiler take it apart and put it together again.
  const Flit& flit = rings_.at(channel(id, input_vc), router.front(input_vc));
  const std::uint32_t packet = flit.packet();
  const bool tail = flit.is_tail();
  const typename R::Departure left = router.depart(rules_, winner, tail);
  router.pass_front(input_vc);
  if (config_.count_events) {
    router.count_flit(output);
  }
  band.last_move = now_;
  if (config_.count_toggles && !local) {
    toggles_.count(store_, packet, flit.is_head(), port_number(id, output),
                   std::size_t{id.number()} * rules_.all_vcs() + output_vc.number(),
                   interval(id, output));
  }
  if constexpr (!Routing::kEqualLinks) {
    pace_.take(id, output, own_time(id));
    store_[packet].hops += routing_.hops_vary() && flit.is_head() ? 1 : 0;
    if (local && pair_wires_.are_counted()) {
      const std::uint64_t changed =
          config_.count_toggles
              ? toggles_.count(store_, packet, flit.is_head(), port_number(id, output),
                               std::size_t{id.number()} * rules_.all_vcs() + output_vc.number())
              : 0;
      pair_wires_.count(store_[packet], changed);
    }
  }

  // Forward: written now, seen when the arrival comes. Behind a local port nothing is read.
  const Channel next = router.forward(output, left.vc);
  rings_.push(next, flit);
  if constexpr (!Routing::kEqualLinks) {
    if (routing_.draws_under_way() && flit.is_head() && !local) {
      draw_ahead(output_to_[port_number(id, output)], next);
    }
    if (keeps_order()) {
      serve_order_->depart(id, input_vc, tail, router.has_flits(input_vc));
    }
  }
  const int waits = kGeneral ? stages_[id].send_delay(own_time(id), output, router_config_.st_delay,
                                                      interval(id, output)) -
                                   1
                             : 0;
  band.own->at(arrival_behind(id, output, waits)).arrivals.add(Arrival{next, flit}, !local);
  const int exit = delay_to_node(id, output);
  const std::int64_t leaves = arrival_at_node(id, now_, waits + 2, exit);
  const int wires = local ? pair_wires_.more_cycles(store_[packet]) : 0;
  WheelSlot& ejections = band.own->at(leaves + wires);
  ejections.ejections.add(Arrival{next, flit}, local & tail);
  ejections.ejections.flits += local ? 1 : 0;
  band.own->at(arrival_at_node(id, leaves, 1, exit, router_config_.credit_delay))
      .credits.add(CreditTo(channel(id, output_vc).number()), local);

  // Back: the room it took is free.
  const CreditTo credit = router.back(input, rules_.vc_of(input_vc, input));
  credits_back(band, id, input).add(credit);
  if (left.more) {
    begin_head(id, router, input_vc);
  }
}

}  // namespace ww::sim::net
