#include "network/mesh/mesh.hpp"

#include "network/mesh/mesh_allocate.hpp"
#include "network/mesh/mesh_build.hpp"
#include "network/mesh/mesh_inject.hpp"
#include "network/mesh/mesh_inspect.hpp"
#include "network/mesh/network.hpp"

namespace ww::sim::net {

// Large meshes do not fit the nearest caches: fetch what a later event touches.
template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::fetch_ahead(const EventList& list, std::uint32_t n) const {
  if (large_ && n + kAhead < list.size) {
    const char* block =
        reinterpret_cast<const char*>(&blocks_[list.items[n + kAhead] >> vc_shift_]);
    for (std::size_t line = 0; line < sizeof(Block); line += 64) {
      __builtin_prefetch(block + line);
    }
  }
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::tick() {
  flits_out_ = &slot_in(flit_delay_).arrivals;
  injected_out_ = &slot_in(kTerminalDelay).arrivals;
  credits_out_ = {&slot_in(credit_delay_).credits, &slot_in(kTerminalDelay).node_credits};
  deliver();
  take_injection_credits();
  for (std::size_t word = 0; word < node_words_; ++word) {
    for (std::uint64_t left = node_live_[word]; left != 0; left &= left - 1) {
      const bool more = inject_from(static_cast<std::uint32_t>(word * 64) +
                                    static_cast<std::uint32_t>(lowest(left)));
      node_live_[word] &= ~(more ? 0 : left & (~left + 1));
    }
  }
  WheelSlot& slot = slot_in(0);
  take_arrivals(slot.arrivals);
  take_credits(slot.credits);
  step_routers();
  if (groups() > 1 && regional_) {
    share_congestion();
  }
  ++now_;
}

// A VC is busy while a packet owns it or flits of it wait behind the link.
template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::share_congestion() {
  std::swap(congestion_, congestion_before_);
  for (std::uint32_t router = 0; router < routers_; ++router) {
    const Block& block = blocks_[router];
    for (std::size_t output = 0; output < 4; ++output) {
      const std::uint32_t next = block.neighbour[output];
      if (next == router) {
        continue;  // the rim
      }
      int busy = 0;
      for (int vc = 0; vc < vcs(); ++vc) {
        const auto v = output * static_cast<std::size_t>(vcs()) + static_cast<std::size_t>(vc);
        busy += static_cast<int>(block.credits[v]) != config_.vc_buffer || block.owner[v] != kNobody
                    ? 1
                    : 0;
      }
      const int here = busy << 8;
      const bool last = blocks_[next].neighbour[output] == next;  // nothing known beyond
      const int beyond = last ? here : static_cast<int>(congestion_before_[next][output]);
      congestion_[router][output] = static_cast<std::uint16_t>((here + beyond) / 2);
    }
  }
}

// All matches see the state at the start of the cycle; then heads move on, then flits.
template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::step_routers() {
  std::size_t won = 0;
  for (std::size_t word = 0; word < words_; ++word) {
    for (std::uint64_t left = busy_[word]; left != 0; left &= left - 1) {
      const auto router =
          static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest(left));
      Block& block = blocks_[router];
      if constexpr (kGeneral) {
        step_general(router, block);
      } else {
        std::array<Winner, static_cast<std::size_t>(S::room_ports)> winners;
        const int count = allocate_switch(block, winners.data());
        for (int i = 0; i < count; ++i) {
          winners_[won++] = SwitchWinner{router, winners[static_cast<std::size_t>(i)]};
        }
        allocate_vcs(block, [&](VcGrant grant) { take_vc(block, grant); });
        for (; block.routing != 0; block.routing &= block.routing - 1) {
          route(router, block, lowest(block.routing));
        }
        const bool idle = (block.want_switch | block.want_vc) == 0;
        busy_[word] &= ~(idle ? left & (~left + 1) : 0);
      }
    }
  }
  for (std::size_t i = 0; i < won; ++i) {
    const SwitchWinner& winner = winners_[i];
    if (large_ && i + kAhead < won) {
      const SwitchWinner& later = winners_[i + kAhead];
      const Block& theirs = blocks_[later.router];
      const auto vc = static_cast<std::size_t>(later.winner.input_vc);
      __builtin_prefetch(
          &flit_at((later.router << vc_shift_) + static_cast<std::uint32_t>(vc), theirs.read[vc]));
      const std::uint32_t to = theirs.forward[static_cast<std::size_t>(later.winner.output)];
      __builtin_prefetch(&write_[to]);
      __builtin_prefetch(&flits_[static_cast<std::size_t>(to) << ring_shift_]);
    }
    Block& block = blocks_[winner.router];
    traverse(winner.router, block, winner.winner);
    const bool idle =
        (block.want_switch | block.want_vc | static_cast<std::uint32_t>(block.routing != 0)) == 0;
    busy_[winner.router / 64] &= ~(static_cast<std::uint64_t>(idle) << (winner.router % 64));
  }
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::step_general(std::uint32_t router, Block& block) {
  Batches<S>& batches = batches_[router];
  Winner* winners = &held_winners_[router * static_cast<std::size_t>(ports())];
  VcGrant* grants = &held_vc_grants_[router * static_cast<std::size_t>(ports() * vcs())];
  const bool switch_waits =
      (block.active & block.nonempty) != 0 || (config_.speculative && block.want_vc != 0);
  if (!batches.routing_runs && block.routing != 0) {
    batches.routing_runs = true;
    batches.being_routed = block.routing;
    block.routing = 0;
    batches.routing_due = now_ + config_.routing_delay - 1;
  }
  if (!batches.switch_runs && switch_waits) {
    batches.switch_runs = true;
    batches.switch_grants = allocate_switch(block, winners);
    batches.switch_due = now_ + config_.sw_alloc_delay - 1;
  }
  if (!batches.vc_runs && block.want_vc != 0) {
    batches.vc_runs = true;
    batches.vc_grants = 0;
    allocate_vcs(block, [&](VcGrant grant) { grants[batches.vc_grants++] = grant; });
    batches.vc_due = now_ + config_.vc_alloc_delay - 1;
  }
  if (batches.vc_runs && now_ >= batches.vc_due) {
    batches.vc_runs = false;
    for (int i = 0; i < batches.vc_grants; ++i) {
      take_vc(block, grants[i]);
    }
  }
  if (batches.routing_runs && now_ >= batches.routing_due) {
    batches.routing_runs = false;
    for (Mask& left = batches.being_routed; left != 0; left &= left - 1) {
      route(router, block, lowest(left));
    }
  }
  if (batches.switch_runs && now_ >= batches.switch_due) {
    batches.switch_runs = false;
    for (int i = 0; i < batches.switch_grants; ++i) {
      const Winner winner = winners[i];
      if (winner.speculative) {
        // A guess counts only if this cycle brought a VC with a credit.
        const auto output_vc =
            static_cast<std::size_t>(block.output[static_cast<std::size_t>(winner.input_vc)]);
        if ((block.active & bit<Mask>(static_cast<int>(winner.input_vc))) == 0 ||
            port_of(static_cast<int>(output_vc)) != static_cast<int>(winner.output) ||
            block.credits[output_vc] == 0) {
          continue;
        }
      }
      traverse(router, block, winner);
    }
  }
  const bool idle = (block.active & block.nonempty) == 0 && block.want_vc == 0 &&
                    block.routing == 0 && !batches.routing_runs && !batches.vc_runs &&
                    !batches.switch_runs;
  busy_[router / 64] &= ~(static_cast<std::uint64_t>(idle) << (router % 64));
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::take_arrivals(EventList& arrivals) {
  const std::uint32_t vc_mask = (1u << vc_shift_) - 1;
  for (std::uint32_t n = 0; n < arrivals.size; ++n) {
    fetch_ahead(arrivals, n);
    const std::uint32_t router = arrivals.items[n] >> vc_shift_;
    const auto input_vc = static_cast<int>(arrivals.items[n] & vc_mask);
    const auto i = static_cast<std::size_t>(input_vc);
    Block& block = blocks_[router];
    const Mask mine = bit<Mask>(input_vc);
    ++block.count[i];
    // First in its VC: a head wants a route, a later flit the switch if there is a credit.
    const bool first = (block.nonempty & mine) == 0;
    const bool active = (block.active & mine) != 0;
    const auto output_vc = static_cast<int>(block.output[i]);
    const bool credited = block.credits[static_cast<std::size_t>(output_vc)] != 0;
    const bool bids = first & active & credited;
    const int output = port_of(output_vc);
    block.nonempty |= mine;
    block.switch_requests[static_cast<std::size_t>(output)] |= only_if(bids, mine);
    block.want_switch |= static_cast<std::uint32_t>(bids) << output;
    mark(busy_.data(), router, first);
    if (first & !active) {
      begin_head(router, block, input_vc);
    }
  }
  arrivals.size = 0;
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::take_credits(EventList& list) {
  const std::uint32_t vc_mask = (1u << vc_shift_) - 1;
  for (std::uint32_t n = 0; n < list.size; ++n) {
    fetch_ahead(list, n);
    const std::uint32_t router = list.items[n] >> vc_shift_;
    const auto output_vc = static_cast<int>(list.items[n] & vc_mask);
    Block& block = blocks_[router];
    const auto credits = static_cast<int>(++block.credits[static_cast<std::size_t>(output_vc)]);
    const int output = port_of(output_vc);
    const auto o = static_cast<std::size_t>(output);
    const Small owner = block.owner[static_cast<std::size_t>(output_vc)];
    constexpr int kBits = static_cast<int>(8 * sizeof(Mask));
    const Mask owner_bit = bit<Mask>(static_cast<int>(owner) & (kBits - 1));
    const Mask woken =
        only_if<Mask>((owner != kNobody) & (credits == 1), owner_bit & block.nonempty);
    block.switch_requests[o] |= woken;
    block.want_switch |= static_cast<std::uint32_t>(woken != 0) << output;
    mark(busy_.data(), router, woken != 0);
    if (adaptive_) {
      --block.used[o];
    }
    if (wait_for_tail_ && credits == config_.vc_buffer) {
      const std::uint32_t vc = std::uint32_t{1} << (output_vc - output * vcs());
      block.free_vcs[o] |= block.tail_sent[o] & vc;
      block.has_free |= static_cast<std::uint32_t>(block.free_vcs[o] != 0) << output;
    }
  }
  list.size = 0;
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::begin_head(std::uint32_t router, Block& block, int input_vc) {
  if (lookahead_) {
    route(router, block, input_vc);
  } else {
    block.routing |= bit<Mask>(input_vc);
  }
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::route(std::uint32_t router, Block& block, int input_vc) {
  const Flit& flit = flit_at((router << vc_shift_) + static_cast<std::uint32_t>(input_vc),
                             block.read[static_cast<std::size_t>(input_vc)]);
  auto output = static_cast<int>(flit.port);
  int group = groups() == 1 ? 0 : static_cast<int>(flit.flags) >> kClassShift;
  if (groups() > 1 && adaptive_) {
    output = adaptive_output(router, block, flit);
    const bool west_on_y =
        (output == 2 || output == 3) && (static_cast<int>(flit.flags) & kWest) != 0;
    group = 2 * group + (west_on_y ? 1 : 0);
  } else {
    const int along_x = 1 - static_cast<int>(flit.x > block.x);
    const int along_y = 3 - static_cast<int>(flit.y > block.y);
    const bool x_done = flit.x == block.x;
    const bool y_done = flit.y == block.y;
    output = only_if(!x_done, along_x) | only_if(x_done & !y_done, along_y) |
             only_if(x_done & y_done, output);
  }
  block.vc_requests[static_cast<std::size_t>(output * groups() + group)] |= bit<Mask>(input_vc);
  block.want_vc |= std::uint32_t{1} << output;
}

// Of two minimal ways, the less congested; x when they are equal. DyXY counts the credits in use at
// the output, RCA the busy VCs there and beyond.
template <class S, bool kGeneral, bool kPriority>
int Mesh<S, kGeneral, kPriority>::adaptive_output(std::uint32_t router, const Block& block,
                                                  const Flit& flit) const {
  const int along_x = flit.x > block.x ? 0 : 1;
  const int along_y = flit.y > block.y ? 2 : 3;
  if (flit.x != block.x && flit.y != block.y) {
    if (regional_) {
      const Congestion& of = congestion_[router];
      return of[static_cast<std::size_t>(along_y)] < of[static_cast<std::size_t>(along_x)]
                 ? along_y
                 : along_x;
    }
    return block.used[static_cast<std::size_t>(along_y)] <
                   block.used[static_cast<std::size_t>(along_x)]
               ? along_y
               : along_x;
  }
  if (flit.x != block.x) {
    return along_x;
  }
  return flit.y != block.y ? along_y : static_cast<int>(flit.port);
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::take_vc(Block& block, VcGrant grant) {
  const auto output_vc = static_cast<int>(grant.output_vc);
  const int output = port_of(output_vc);
  const auto o = static_cast<std::size_t>(output);
  const Mask mine = bit<Mask>(static_cast<int>(grant.input_vc));
  const auto first = static_cast<std::size_t>(output * groups());
  Mask& requests = block.vc_requests[first + static_cast<std::size_t>(grant.group)];
  requests &= ~mine;
  Mask others = requests;
  for (int group = 0; groups() > 1 && group < groups(); ++group) {
    others |= block.vc_requests[first + static_cast<std::size_t>(group)];
  }
  if (others == 0) {
    block.want_vc &= ~(std::uint32_t{1} << output);
  }
  const std::uint32_t vc = std::uint32_t{1} << (output_vc - output * vcs());
  block.free_vcs[o] &= ~vc;
  block.has_free &= ~(static_cast<std::uint32_t>(block.free_vcs[o] == 0) << output);
  block.tail_sent[o] &= ~vc;
  block.owner[static_cast<std::size_t>(output_vc)] = grant.input_vc;
  block.output[static_cast<std::size_t>(grant.input_vc)] = grant.output_vc;
  block.active |= mine;
  if (block.credits[static_cast<std::size_t>(output_vc)] != 0) {
    block.switch_requests[o] |= mine;
    block.want_switch |= std::uint32_t{1} << output;
  }
  ++vc_grants_;
}

// Cycles until a flit that has just won the switch is sent.
template <class S, bool kGeneral, bool kPriority>
int Mesh<S, kGeneral, kPriority>::send_delay(std::uint32_t router, int output) {
  // The crossbar takes what has won by its next start; outputs then send one flit a cycle.
  Batches<S>& batches = batches_[router];
  if (batches.crossbar_start <= now_) {
    batches.crossbar_start = std::max(now_ + 1, batches.crossbar_start + config_.st_delay);
  }
  std::int64_t& last = batches.last_send[static_cast<std::size_t>(output)];
  last = std::max(batches.crossbar_start + config_.st_delay - 1, last + 1);
  return static_cast<int>(last - now_);
}

// A flit that has won the switch leaves: forward, its credit back, and its VC to the next flit.
template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::traverse(std::uint32_t router, Block& block, Winner winner) {
  const auto input_vc = static_cast<int>(winner.input_vc);
  const auto i = static_cast<std::size_t>(input_vc);
  const int input = port_of(input_vc);
  const auto output = static_cast<int>(winner.output);
  const auto o = static_cast<std::size_t>(output);
  const auto output_vc = static_cast<int>(block.output[i]);
  const int vc = output_vc - output * vcs();
  const Flit flit =
      flit_at((router << vc_shift_) + static_cast<std::uint32_t>(input_vc), block.read[i]);
  ++block.read[i];
  const auto left = static_cast<int>(--block.count[i]);
  const auto credits = static_cast<int>(--block.credits[static_cast<std::size_t>(output_vc)]);
  const bool local = output >= 4;
  const bool tail = (static_cast<int>(flit.flags) & kTail) != 0;
  if (config_.count_events) {
    ++block.port_use[o];
  }
  last_move_ = now_;
  if (adaptive_) {
    ++block.used[o];
  }
  if (config_.count_toggles && !local) {
    count_toggles(router, output, output_vc, flit);
  }

  // Forward: written now, seen when the arrival comes. Behind a local port nothing is read.
  const int waits = kGeneral ? send_delay(router, output) - 1 : 0;
  const std::uint32_t next = block.forward[o] + static_cast<std::uint32_t>(vc);
  flit_at(next, write_[next]) = flit;
  ++write_[next];
  (kGeneral ? slot_in(waits + 2 + config_.link_delay).arrivals : *flits_out_).add(next, !local);
  WheelSlot& arrival = slot_in(waits + 1 + kTerminalDelay);
  arrival.ejections.add(flit.packet, local && tail);
  arrival.ejected_flits += local ? 1 : 0;
  slot_in(waits + 1 + 2 * kTerminalDelay + config_.credit_delay)
      .credits.add((router << vc_shift_) + static_cast<std::uint32_t>(output_vc), local);
  // Back: the room it took is free.
  credits_out_[input >= 4 ? 1 : 0]->add(block.back[static_cast<std::size_t>(input)] +
                                        static_cast<std::uint32_t>(input_vc - input * vcs()));

  const Mask mine = bit<Mask>(input_vc);
  const std::uint32_t released = static_cast<std::uint32_t>(tail) << vc;
  Small& owner = block.owner[static_cast<std::size_t>(output_vc)];
  owner = static_cast<Small>(static_cast<int>(owner) | only_if(tail, static_cast<int>(kNobody)));
  block.active &= ~only_if(tail, mine);
  block.tail_sent[o] |= released;
  block.free_vcs[o] |= wait_for_tail_ ? 0 : released;
  block.has_free |= static_cast<std::uint32_t>(block.free_vcs[o] != 0) << output;
  const bool stops = tail | (left == 0) | (credits == 0);
  const Mask requests = block.switch_requests[o] & ~only_if(stops, mine);
  block.switch_requests[o] = requests;
  block.want_switch &= ~(static_cast<std::uint32_t>(requests == 0) << output);
  block.nonempty &= ~only_if(left == 0, mine);
  if (tail && left != 0) {
    begin_head(router, block, input_vc);
  }
}

namespace {

// kGeneral costs a fifth of the speed: only where a stage takes several cycles, or guesses.
bool is_general(const NetworkConfig& config) {
  return config.routing_delay > 1 || config.vc_alloc_delay != 1 || config.sw_alloc_delay != 1 ||
         config.st_delay != 1 || config.speculative;
}

template <class S>
std::unique_ptr<Network> make_sized(const NetworkConfig& config) {
  if (config.network != "mesh-priority" && !is_general(config)) {
    return std::make_unique<Mesh<S, false, false>>(config);
  }
  if (config.network == "mesh-priority") {
    return std::make_unique<Mesh<S, true, true>>(config);
  }
  return std::make_unique<Mesh<S, true, false>>(config);
}

}  // namespace

std::unique_ptr<Network> make_mesh(const NetworkConfig& config) {
  const bool common =
      config.network != "mesh-priority" && config.concentration == 1 && !is_general(config);
  const int groups = config.network == "mesh-adaptive" ? 2 * config.classes : config.classes;
  // Sizes that the compiler knows, for the cases that are run most.
  if (common && groups == 2) {
    switch (config.vcs) {
      case 2: return std::make_unique<Mesh<GroupedShape<2>, false, false>>(config);
      case 4: return std::make_unique<Mesh<GroupedShape<4>, false, false>>(config);
      case 5: return std::make_unique<Mesh<GroupedShape<5>, false, false>>(config);
      case 8: return std::make_unique<Mesh<GroupedShape<8>, false, false>>(config);
      default: break;
    }
  }
  if (common && groups == 1) {
    switch (config.vcs) {
      case 1: return std::make_unique<Mesh<MeshShape<1>, false, false>>(config);
      case 2: return std::make_unique<Mesh<MeshShape<2>, false, false>>(config);
      case 4: return std::make_unique<Mesh<MeshShape<4>, false, false>>(config);
      case 5: return std::make_unique<Mesh<MeshShape<5>, false, false>>(config);
      case 8: return std::make_unique<Mesh<MeshShape<8>, false, false>>(config);
      default: break;
    }
  }
  const int input_vcs = (4 + config.concentration) * config.vcs;
  return input_vcs <= 64 ? make_sized<SmallShape>(config) : make_sized<LargeShape>(config);
}

}  // namespace ww::sim::net
