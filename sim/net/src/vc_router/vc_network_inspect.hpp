// VcNetwork's construction, and looking into it from outside: next event, event counts,
// conservation, the deadlock detector.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "vc_router/stuck.hpp"
#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

// The longest time from winning a switch to an event that it causes. With a crossbar of several
// cycles a flit waits for a batch, its traversal, and the flits of its batch before it.
[[nodiscard]] inline int longest_delay(const VcRouterConfig& router, int link_delay,
                                       const Pace& pace) {
  const int sent = router.st_delay == 1 ? 1 : 3 * router.st_delay;
  return pace.longest(sent + 2 + router.credit_delay, 2 * link_delay);
}
[[nodiscard]] inline int longest_link(const Wiring& wiring) {
  int longest = 1;
  for (const Wiring::Link& link : wiring.links) {
    longest = std::max(longest, link.delay);
  }
  for (const Wiring::Terminal& terminal : wiring.terminals) {
    longest = std::max(longest, terminal.delay);
  }
  return longest;
}

inline void add_pitched(power::PitchedWireEvents& events, std::uint64_t milli_pitches,
                        std::uint64_t bits, std::uint64_t flits, std::uint64_t toggles) {
  events.wire_milli_pitches += milli_pitches * bits;
  events.flit_milli_pitches += milli_pitches * flits;
  events.toggle_milli_pitches += milli_pitches * toggles;
}

inline constexpr std::uint64_t kOwnDraws = 1;  // the seed without draw_from()

template <class Rules, bool kGeneral, class Routing>
VcNetwork<Rules, kGeneral, Routing>::VcNetwork(const NetworkConfig& config, Wiring wiring,
                                               Rules rules, Routing routing, int threads)
    : ClockedNetwork(config),
      wiring_(std::move(wiring)),
      rules_(std::move(rules)),
      routing_(std::move(routing)),
      router_config_(rules_.config()),
      large_(wiring_.routers * sizeof(R) > std::size_t{1} << 18),
      lookahead_(router_config_.routing_delay == 0),
      counts_exit_credits_(router_config_.wait_for_tail_credit ||
                           router_config_.vc_buffer <= kExitLoop + router_config_.credit_delay),
      flit_delay_(router_config_.st_delay + 1 + config.link_delay),
      credit_delay_(1 + config.link_delay + router_config_.credit_delay),
      routers_(wiring_.routers),
      stages_(kGeneral ? wiring_.routers : 0),
      // One router more: the rings behind local ports, written but never read.
      rings_(static_cast<std::size_t>(wiring_.routers + 1) << vc_shift(), router_config_.vc_buffer),
      fronts_(kCanCut ? static_cast<std::size_t>(wiring_.routers) << vc_shift() : 0),
      pace_(Routing::kEqualLinks ? Pace() : Pace(wiring_, config.flit_bits)),
      sources_(static_cast<std::uint32_t>(wiring_.terminals.size()), config.classes,
               router_config_),
      busy_((wiring_.routers + 63) / 64),
      wants_vcs_(busy_.size()),
      reply_buffers_(config),
      toggles_(config.count_toggles ? std::size_t{wiring_.routers} * rules_.ports() : 0,
               config.count_toggles ? std::size_t{wiring_.routers} * rules_.all_vcs() : 0,
               config.flit_bits),
      pair_wires_(wiring_.terminals, config.own<NodeDistances>(), config.flit_bits) {
  // Flits that left in several cycles may arrive in one, where wires differ.
  const int wires = pair_wires_.most_cycles();
  const std::size_t most_ejections =
      wiring_.terminals.size() * (static_cast<std::size_t>(wires) + 1);
  deliveries_.reserve(most_ejections);
  connect();
  draw_from(native_draws(kOwnDraws));
  if constexpr (!Routing::kEqualLinks && !kGeneral) {
    if (routing_.draws_under_way()) {
      serve_order_ = std::make_unique<ServeOrder>(wiring_.routers, rules_.all_vcs());
    }
  }
  // Routers that do not arbitrate decide a cycle ahead.
  const int longest = longest_delay(router_config_, longest_link(wiring_), pace_) + wires + 1;
  cut_into_bands(threads, longest, most_ejections);
  if constexpr (kCanCut) {
    skips_arbitration_ = bands_.size() == 1 && lookahead_ && !routing_.is_adaptive() &&
                         !router_config_.wait_for_tail_credit && !config.count_toggles &&
                         wiring_.terminals.size() == wiring_.routers;
  }
  if (skips_arbitration_) {
    const std::size_t ports = std::size_t{wiring_.routers} * rules_.ports();
    departures_.resize(wiring_.routers);
    find_upstreams();
    claims_ = IdVector<RouterId, Claim>(wiring_.routers);
    arbitrates_.resize(busy_.size());
    lone_.reserve(ports);
    late_fronts_.reserve(ports);
    began_arbitration_.reserve(wiring_.routers);
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::find_upstreams() {
  upstream_.resize(std::size_t{wiring_.routers} * rules_.ports());
  for (const Wiring::Link& link : wiring_.links) {
    upstream_[port_number(link.to, link.input)] = {
        &routers_[link.from].credits_of(rules_.vc_at(link.output, VcId{})),
        static_cast<std::uint32_t>(credit_delay_)};
  }
  for (NodeId node = 0; node < wiring_.terminals.size(); ++node) {
    const Wiring::Terminal& at = wiring_.terminals[node];
    upstream_[port_number(at.from, at.input)] = {&sources_.credits(Sources::node_vc(node, VcId{})),
                                                 kTerminalDelay - 1};
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::draw_from(const std::shared_ptr<Draws>& draws) {
  if constexpr (!Routing::kEqualLinks) {
    draws_ = draws;
    if (routing_.draws_entry_vcs()) {
      sources_.draw_vcs_from(*draws_);
    }
  }
}

// Bands of whole words of the masks over routers and nodes, so that no two threads write to one.
template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::cut_into_bands(int threads, int longest,
                                                         std::size_t most_ejections) {
  const std::size_t words = busy_.size();
  const std::size_t nodes_of_router = wiring_.terminals.size() / wiring_.routers;
  const std::size_t most = kCanCut ? words : 1;
  const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(threads), 1, most);
  band_of_.resize(words);
  for (std::size_t number = 0; number < count; ++number) {
    Band& band = bands_.emplace_back();
    band.number = number;
    band.first = words * number / count;
    band.last = words * (number + 1) / count;
    band.first_nodes = nodes_of_router * band.first;
    band.last_nodes = number + 1 == count ? waiting_.size() : nodes_of_router * band.last;
    band.winners.resize(64 * (band.last - band.first) * wiring_.ports);
    band.new_fronts.resize(kCanCut ? band.winners.size() + 1 : 0);
    std::fill(band_of_.begin() + static_cast<std::ptrdiff_t>(band.first),
              band_of_.begin() + static_cast<std::ptrdiff_t>(band.last),
              static_cast<std::uint8_t>(number));
  }
  wheels_.reserve(count * count);
  for (Band& from : bands_) {
    for (std::size_t to = 0; to < count; ++to) {
      from.to.push_back(&wheels_.emplace_back(longest, from.winners.size(), most_ejections));
    }
    from.own = from.to[from.number];
  }
  if (count > 1) {
    team_ = std::make_unique<Team>(count, [this](std::size_t band) { step(bands_[band]); });
  }
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::connect() {
  for (R& router : routers_) {
    router.clear(router_config_);
  }
  if (!Routing::kEqualLinks) {
    output_delays_.resize(std::size_t{wiring_.routers} * rules_.ports(), 1);
    input_delays_ = output_delays_;
    output_to_.resize(output_delays_.size());
    input_from_.resize(output_delays_.size());
  }
  const auto set_output = [this](RouterId router, PortId port, int delay, RouterId to) {
    if (!Routing::kEqualLinks) {
      output_delays_[port_number(router, port)] = delay;
      output_to_[port_number(router, port)] = to;
    }
  };
  const auto set_input = [this](RouterId router, PortId port, int delay, RouterId from) {
    if (!Routing::kEqualLinks) {
      input_delays_[port_number(router, port)] = delay;
      input_from_[port_number(router, port)] = from;
    }
  };
  for (const Wiring::Link& link : wiring_.links) {
    const Channel input = channel(link.to, rules_.vc_at(link.input, VcId{}));
    const Channel output = channel(link.from, rules_.vc_at(link.output, VcId{}));
    routers_[link.from].connect_output(link.output, input);
    routers_[link.to].connect_input(link.input, CreditTo(output.number()));
    set_output(link.from, link.output, link.delay, link.to);
    set_input(link.to, link.input, link.delay, link.from);
  }
  for (NodeId node = 0; node < wiring_.terminals.size(); ++node) {
    const Wiring::Terminal at = wiring_.terminals[node];
    entry_.push_back(channel(at.from, rules_.vc_at(at.input, VcId{})));
    exits_.push_back({routing_.place_of(node), at.output});
    routers_[at.to].connect_output(at.output, channel(RouterId(wiring_.routers), PortVc{}));
    routers_[at.from].connect_input(at.input, CreditTo(Sources::node_vc(node, VcId{}).number()));
    set_output(at.to, at.output, at.delay, at.to);
    set_input(at.from, at.input, at.delay, at.from);
  }
}

template <class Rules, bool kGeneral, class Routing>
Status VcNetwork<Rules, kGeneral, Routing>::inject(const Packet& packet) {
  WW_TRY(store_.check(packet, now_));
  put_in(packet);
  return {};
}

template <class Rules, bool kGeneral, class Routing>
inline void VcNetwork<Rules, kGeneral, Routing>::put_in(const Packet& packet) {
  reply_buffers_.count(packet);
  if constexpr (kCanCut) {
    if (enters_at_once(packet)) {
      enter(bands_.front(), packet);
      return;
    }
  }
  for (const NodeId destination : packet.destinations) {
    store_.enqueue(packet, destination);
  }
  sources_.wake(packet.source);
  waiting_[packet.source / 64] |= std::uint64_t{1} << (packet.source % 64);
}

template <class Rules, bool kGeneral, class Routing>
std::optional<Cycles> VcNetwork<Rules, kGeneral, Routing>::next_event() const {
  const auto is_set = [](std::uint64_t word) { return word != 0; };
  const bool moves = now_ != 0 && last_ahead_ == now_;
  const bool enters = bands_.front().last_move == now_;
  // A credit may mark a router that has nothing to arbitrate. The mark stays until another router
  // arbitrates, and means nothing before.
  const bool arbitration = !skips_arbitration_ || arbitrating_ != 0;
  const bool busy = arbitration && std::any_of(busy_.begin(), busy_.end(), is_set);
  if (!sources_.is_idle() || moves || enters || busy ||
      std::any_of(wants_vcs_.begin(), wants_vcs_.end(), is_set)) {
    return now();
  }
  for (std::size_t ahead = 0; ahead < wheels_.front().size(); ++ahead) {
    const std::int64_t cycle = now_ + static_cast<std::int64_t>(ahead);
    if (std::any_of(wheels_.begin(), wheels_.end(),
                    [cycle](const TimeWheel& wheel) { return !wheel.at(cycle).is_empty(); })) {
      return Cycles{static_cast<std::uint64_t>(cycle)};
    }
  }
  return std::nullopt;
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::skip(Cycles to) {
  routing_.idle((to - now()).value(), rules_, routers_);
  ClockedNetwork::skip(to);
}

// Nothing but what leaves in the cycle that comes can arrive so late.
template <class Rules, bool kGeneral, class Routing>
std::uint64_t VcNetwork<Rules, kGeneral, Routing>::ejected_ahead() const {
  return skips_arbitration_ && config_.count_events
             ? bands_.front().own->at(now_ + 1 + kTerminalDelay).ejections.flits
             : 0;
}

template <class Rules, bool kGeneral, class Routing>
std::uint64_t VcNetwork<Rules, kGeneral, Routing>::flits_sent(const Wiring::Link& link) const {
  if (!config_.count_events) {
    return 0;
  }
  std::uint64_t flits = routers_[link.from].flits_sent(link.output);
  if (skips_arbitration_) {
    for (const Arrival& arrival : bands_.front().own->at(now_ + flit_delay_).arrivals.items()) {
      flits -=
          router_of(arrival.at) == link.to && rules_.port_of(port_vc_of(arrival.at)) == link.input
              ? 1
              : 0;
    }
  }
  return flits;
}

template <class Rules, bool kGeneral, class Routing>
power::NetworkEvents VcNetwork<Rules, kGeneral, Routing>::events() const {
  power::NetworkEvents events;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.router_cycles_without_edge = pace_.cycles_without_edge(now_);
  events.routers = wiring_.routers;
  for (const Band& band : bands_) {
    events.injected_flits += band.injected_flits;
    events.vc_grants += band.vc_grants;
  }
  for (NodeId node = 0; node < wiring_.terminals.size(); ++node) {
    events.injected_flits -= sources_.sent(node, now_) ? 1 : 0;  // they will leave in this cycle
  }
  events.ejected_flits = ejected_flits_;
  if (config_.count_events) {
    for (const Wiring::Terminal& terminal : wiring_.terminals) {
      events.crossbar_flits += routers_[terminal.to].flits_sent(terminal.output);
    }
    events.crossbar_flits -= ejected_ahead();
  }
  std::uint64_t link_flits = 0;
  for (const Wiring::Link& link : wiring_.links) {
    const std::uint64_t flits = flits_sent(link);
    link_flits += flits;
    add_link_events(events, link, flits);
  }
  events.crossbar_flits += link_flits;
  events.buffer_reads = events.crossbar_flits;
  events.switch_grants = events.crossbar_flits;
  events.buffer_writes = events.injected_flits + link_flits;
  events.reply_buffer_flits = reply_buffers_.flits();
  events.toggles_counted = config_.count_toggles;
  pair_wires_.add_to(events);
  return events;
}

template <class Rules, bool kGeneral, class Routing>
void VcNetwork<Rules, kGeneral, Routing>::add_link_events(power::NetworkEvents& events,
                                                          const Wiring::Link& link,
                                                          std::uint64_t flits) const {
  const std::uint64_t toggles =
      config_.count_toggles ? toggles_.of(port_number(link.from, link.output)) : 0;
  const auto flit_bits = static_cast<std::uint64_t>(config_.flit_bits);
  const std::uint64_t bits = link.width_bits == 0 ? flit_bits : link.width_bits;
  if (link.pj_per_bit > 0) {
    const double fj = static_cast<double>(flits) * config_.flit_bits * link.pj_per_bit * 1e3;
    events.sized_links.crossing_flits += flits;
    events.sized_links.crossing_fj += static_cast<std::uint64_t>(std::llround(fj));
    if (link.die_hop != Wiring::DieHop::none) {
      power::DieHopEvents& hops =
          link.die_hop == Wiring::DieHop::row ? events.row_hops : events.column_hops;
      ++hops.links;
      hops.flits += flits;
      hops.toggles += toggles;
      hops.fj += static_cast<std::uint64_t>(std::llround(fj));
    }
  } else if (link.length_um != 0) {
    events.sized_links.length_um += link.length_um * bits / flit_bits;
    events.sized_links.flit_um += flits * link.length_um;
    events.sized_links.toggle_um += toggles * link.length_um;
  } else if (link.l2_crossing) {
    ++events.sized_links.l2_crossings;
    events.sized_links.l2_crossing_flits += flits;
    events.sized_links.l2_crossing_toggles += toggles;
    add_pitched(events.l2_crossing_wires, milli_pitches(link.pitches), bits, flits, toggles);
  } else if (link.pitches != 1) {
    add_pitched(events.pitched_wires, milli_pitches(link.pitches), bits, flits, toggles);
  } else {
    ++events.links;
    events.link_flits += flits;
    events.link_toggles += toggles;
    events.sized_links.missing_wires += flit_bits - bits;
  }
}

template <class Rules, bool kGeneral, class Routing>
std::vector<LinkUse> VcNetwork<Rules, kGeneral, Routing>::link_use() const {
  std::vector<LinkUse> uses;
  uses.reserve(wiring_.links.size());
  for (const Wiring::Link& link : wiring_.links) {
    uses.push_back(
        LinkUse{link.from.number(), link.to.number(), flits_sent(link),
                config_.count_toggles ? toggles_.of(port_number(link.from, link.output)) : 0});
  }
  return uses;
}

template <class Rules, bool kGeneral, class Routing>
std::uint32_t VcNetwork<Rules, kGeneral, Routing>::source_queue(NodeId node,
                                                                std::uint8_t message_class) const {
  return store_.length(node, message_class) + (sources_.sent(node, now_) ? 1 : 0);
}

template <class Rules, bool kGeneral, class Routing>
Status VcNetwork<Rules, kGeneral, Routing>::check_conservation() const {
  std::vector<std::uint32_t> returning(std::size_t{wiring_.routers} << vc_shift());
  std::vector<std::uint32_t> coming(returning.size());
  const auto held = [&](RouterId router, PortVc input_vc) {  // under way on the link included
    const Channel at = channel(router, input_vc);
    return kCanCut ? routers_[router].flits(input_vc) + coming[at.number()]
                   : rings_.written(at).since(routers_[router].front(input_vc));
  };
  std::uint64_t leaving = 0;
  for (const TimeWheel& wheel : wheels_) {
    for (const WheelSlot& slot : wheel.slots()) {
      for (std::uint32_t i = 0; i < slot.credits.size(); ++i) {
        ++returning[slot.credits[i].number()];
      }
      for (std::uint32_t i = 0; kCanCut && i < slot.arrivals.size(); ++i) {
        ++coming[slot.arrivals[i].number()];
      }
      leaving += slot.ejections.flits;
    }
  }
  std::uint64_t injected = 0;
  for (const Band& band : bands_) {
    injected += band.injected_flits;
  }
  std::uint64_t inside = 0;
  for (std::uint32_t router = 0; router < wiring_.routers; ++router) {
    for (std::uint32_t vc = 0; vc < rules_.all_vcs(); ++vc) {
      inside += held(RouterId(router), PortVc(vc));
    }
  }
  if (inside + leaving + ejected_flits_ != injected) {
    return fail(ErrorCode::bad_data, fmt::format("{} flits went in, {} came out, {} are inside",
                                                 injected, ejected_flits_, inside + leaving));
  }
  const auto check_output = [&](RouterId router, PortId output, auto behind) -> Status {
    for (std::uint32_t number = 0; number < rules_.vcs(); ++number) {
      const PortVc vc = rules_.vc_at(output, VcId(number));
      const std::uint32_t credits = routers_[router].credits(vc);
      const std::uint32_t back = returning[channel(router, vc).number()];
      const std::uint32_t flits = behind(VcId(number));
      if (credits + back + flits != static_cast<std::uint32_t>(router_config_.vc_buffer)) {
        return fail(ErrorCode::bad_data,
                    fmt::format("router {} output {} VC {}: {} credits, {} returning and {} flits "
                                "do not make {}",
                                router.number(), output.number(), number, credits, back, flits,
                                router_config_.vc_buffer));
      }
    }
    return {};
  };
  for (const Wiring::Link& link : wiring_.links) {
    WW_TRY(check_output(link.from, link.output,
                        [&](VcId vc) { return held(link.to, rules_.vc_at(link.input, vc)); }));
  }
  for (const Wiring::Terminal& terminal : wiring_.terminals) {
    WW_TRY(check_output(terminal.to, terminal.output, [](VcId) { return 0u; }));
  }
  return {};
}

template <class Rules, bool kGeneral, class Routing>
std::optional<Stuck> VcNetwork<Rules, kGeneral, Routing>::stuck(Cycles patience) const {
  // A move decided for this cycle has not happened yet.
  std::int64_t last_move = std::max<std::int64_t>(0, std::min(last_ahead_, now_ - 1));
  for (const Band& band : bands_) {
    last_move = std::max(last_move, band.last_move);
  }
  return find_stuck(sources_, store_, static_cast<NodeId>(wiring_.terminals.size()), now_,
                    last_move, patience);
}

}  // namespace ww::sim::net
