#include "impl/mesh.hpp"

#include <cstring>

#include "impl/mesh_allocate.hpp"
#include "impl/mesh_inspect.hpp"
#include "impl/networks.hpp"

namespace ww::sim::net {

// From a node's send to its router's input, and from a router's send to its node: BookSim's
// terminal channels take one cycle, plus one to receive.
constexpr int kTerminalDelay = 2;

template <class Mask, bool kGeneral, bool kPriority>
Mesh<Mask, kGeneral, kPriority>::Mesh(const NetworkConfig& config)
    : config_(config),
      state_(config),
      store_(state_.nodes, state_.classes),
      slot_mask_(static_cast<std::size_t>(state_.slots - 1)),
      adaptive_(config.network == "mesh-adaptive"),
      count_use_(config.count_events),
      flit_delay_(config.st_delay + 1 + config.link_delay),
      credit_delay_(1 + config.link_delay + config.credit_delay),
      port_mask_(static_cast<Mask>(bit<Mask>(config.vcs) - 1)),
      node_words_((state_.nodes + 63) / 64),
      flit_bytes_(static_cast<std::size_t>(config.flit_bits) / 8) {
  const auto nodes = static_cast<std::size_t>(state_.nodes);
  const auto classes = static_cast<std::size_t>(state_.classes);
  const auto slots = static_cast<std::size_t>(state_.slots);
  const std::uint32_t all_vcs = (std::uint32_t{1} << state_.vcs) - 1;
  node_credits_.assign(nodes * static_cast<std::size_t>(state_.vcs),
                       static_cast<std::uint8_t>(config.vc_buffer));
  node_free_.assign(nodes, all_vcs);
  node_tail_sent_.resize(nodes);
  node_credited_.assign(nodes, all_vcs);
  node_last_vc_.assign(nodes * classes, -1);
  node_last_class_.resize(nodes);
  node_sent_.resize(nodes * classes);
  node_vc_.resize(nodes * classes);
  node_live_.resize(static_cast<std::size_t>(node_words_));
  node_wake_.resize(slots * static_cast<std::size_t>(node_words_));
  node_credit_vc_.resize(slots * nodes);
  ejections_.resize(slots);
  for (auto& tails : ejections_) {
    tails.reserve(nodes);
  }
  ejected_bodies_.resize(slots);
  deliveries_.reserve(nodes);
  if (kGeneral) {
    held_vc_grants_.resize(static_cast<std::size_t>(state_.routers * state_.row.per_vc));
    held_winners_.resize(static_cast<std::size_t>(state_.routers * state_.ports));
  }
  if (config.count_toggles) {
    const auto links = static_cast<std::size_t>(state_.routers * state_.ports);
    last_word_.resize(links * flit_bytes_);
    link_toggles_.resize(links);
    next_flit_.resize(links * static_cast<std::size_t>(state_.vcs));
    word_scratch_.resize(flit_bytes_);
  }
}

template <class Mask, bool kGeneral, bool kPriority>
Status Mesh<Mask, kGeneral, kPriority>::inject(const Packet& packet) {
  WW_TRY(store_.check(packet, now_));
  for (const NodeId destination : packet.destinations) {
    store_.enqueue(packet, destination);
  }
  node_live_[packet.source / 64] |= std::uint64_t{1} << (packet.source % 64);
  return {};
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::tick() {
  const std::size_t slot = slot_in(0);
  store_.begin_tick();
  deliveries_.clear();
  ejected_flits_ += ejected_bodies_[slot];
  ejected_bodies_[slot] = 0;
  if (!ejections_[slot].empty()) {
    for (const std::uint32_t index : ejections_[slot]) {
      const PacketRecord& record = store_[index];
      const auto per = static_cast<std::uint32_t>(state_.nodes_per_router);
      const std::uint32_t from = record.source / per;
      const std::uint32_t to = record.destination / per;
      const int hops = std::abs(state_.router_x[from] - state_.router_x[to]) +
                       std::abs(state_.router_y[from] - state_.router_y[to]) + 1;
      deliveries_.push_back(store_.deliver(index, now_, static_cast<std::uint16_t>(hops)));
    }
    ejected_flits_ += ejections_[slot].size();
    ejections_[slot].clear();
  }
  take_injection_credits();
  for (std::size_t word = 0; word < node_live_.size(); ++word) {
    for (std::uint64_t left = node_live_[word]; left != 0; left &= left - 1) {
      const auto node =
          static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest(left));
      if (!inject_from(node)) {
        node_live_[word] &= ~(left & (~left + 1));
      }
    }
  }
  std::uint64_t* wake = &state_.wake[slot * static_cast<std::size_t>(state_.words)];
  for (std::size_t word = 0; word < static_cast<std::size_t>(state_.words); ++word) {
    std::uint64_t left = wake[word] | state_.busy[word];
    wake[word] = 0;
    for (; left != 0; left &= left - 1) {
      step(static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest(left)));
    }
  }
  ++now_;
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::take_injection_credits() {
  const std::size_t slot = slot_in(0);
  std::uint64_t* wake = &node_wake_[slot * static_cast<std::size_t>(node_words_)];
  for (std::size_t word = 0; word < static_cast<std::size_t>(node_words_); ++word) {
    for (std::uint64_t left = wake[word]; left != 0; left &= left - 1) {
      const auto node =
          static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest(left));
      const int vc = node_credit_vc_[slot * static_cast<std::size_t>(state_.nodes) + node];
      const std::uint8_t credits = ++node_credits_[state_.at(node, state_.vcs, vc)];
      node_credited_[node] |= std::uint32_t{1} << vc;
      if (config_.wait_for_tail_credit && credits == config_.vc_buffer) {
        node_free_[node] |= node_tail_sent_[node] & (std::uint32_t{1} << vc);
      }
      for (int c = 0; c < state_.classes; ++c) {
        if (store_.front(node, c) != kNoPacket) {
          node_live_[word] |= std::uint64_t{1} << (node % 64);
        }
      }
    }
    wake[word] = 0;
  }
}

// Sends one flit of a node if it can; false when it must wait for a packet or a credit.
template <class Mask, bool kGeneral, bool kPriority>
bool Mesh<Mask, kGeneral, kPriority>::inject_from(std::uint32_t node) {
  int message_class = node_last_class_[node];
  for (int tried = 0; tried < state_.classes; ++tried) {
    message_class = message_class + 1 == state_.classes ? 0 : message_class + 1;
    const std::uint32_t index = store_.front(node, message_class);
    if (index == kNoPacket) {
      continue;
    }
    const std::size_t queue = state_.at(node, state_.classes, message_class);
    PacketRecord& record = store_[index];
    const bool first = node_sent_[queue] == 0;
    int vc = node_vc_[queue];
    if (first) {
      const std::uint32_t usable = node_free_[node] & node_credited_[node] &
                                   state_.class_vcs[static_cast<std::size_t>(message_class)];
      if (usable == 0) {
        continue;
      }
      vc = first_from(usable, node_last_vc_[queue] + 1);
      node_last_vc_[queue] = static_cast<std::int8_t>(vc);
      node_vc_[queue] = static_cast<std::uint8_t>(vc);
      node_free_[node] &= ~(std::uint32_t{1} << vc);
      node_tail_sent_[node] &= ~(std::uint32_t{1} << vc);
      record.injected = now_;
    } else if ((node_credited_[node] >> vc & 1u) == 0) {
      continue;
    }
    const bool last = node_sent_[queue] + 1 == record.flits;
    const auto per = static_cast<std::uint32_t>(state_.nodes_per_router);
    const std::uint32_t router = node / per;
    const int port = 4 + static_cast<int>(node % per);
    Flit flit{index, 0, 0, 0,
              static_cast<std::uint8_t>((first ? kHead : 0) | (last ? kTail : 0) |
                                        (message_class << kClassShift))};
    if (first) {
      const std::uint32_t to = record.destination / per;
      flit.x = state_.router_x[to];
      flit.y = state_.router_y[to];
      flit.port = static_cast<std::uint8_t>(4 + record.destination % per);
      if (flit.x < state_.router_x[router]) {
        flit.flags |= kWest;
      }
    }
    if (--node_credits_[state_.at(node, state_.vcs, vc)] == 0) {
      node_credited_[node] &= ~(std::uint32_t{1} << vc);
    }
    node_last_class_[node] = static_cast<std::uint8_t>(message_class);
    ++node_sent_[queue];
    if (last) {
      node_sent_[queue] = 0;
      store_.pop(node, message_class);
      node_tail_sent_[node] |= std::uint32_t{1} << vc;
      if (!config_.wait_for_tail_credit) {
        node_free_[node] |= std::uint32_t{1} << vc;
      }
    }
    ++injected_flits_;
    last_move_ = now_;
    std::uint8_t* row = state_.row_of(router);
    const int input_vc = port * state_.vcs + vc;
    const std::uint8_t position = row[state_.row.write + input_vc]++;
    state_.flits[state_.at(router, state_.row.per_vc, input_vc) *
                     static_cast<std::size_t>(state_.ring) +
                 (position & static_cast<std::uint8_t>(state_.ring - 1))] = flit;
    const std::size_t slot = slot_in(kTerminalDelay);
    const std::size_t event = slot * static_cast<std::size_t>(state_.routers) + router;
    state_.events[event] |= std::uint32_t{1} << port;
    state_.arrival_vc[event * static_cast<std::size_t>(state_.ports) +
                      static_cast<std::size_t>(port)] = static_cast<std::uint8_t>(vc);
    state_.wake[slot * static_cast<std::size_t>(state_.words) + router / 64] |= std::uint64_t{1}
                                                                                << (router % 64);
    return true;
  }
  return false;
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::step(std::uint32_t router) {
  RouterHead<Mask>& head = state_.head[router];
  std::uint8_t* row = state_.row_of(router);
  std::uint32_t& events =
      state_.events[slot_in(0) * static_cast<std::size_t>(state_.routers) + router];
  if (events != 0) {
    take_events(router, head, row, events);
    events = 0;
  }
  bool busy = false;
  if constexpr (kGeneral) {
    step_general(router, head, row);
    busy = (head.active & head.nonempty) != 0 || head.want_vc != 0 || head.routing != 0 ||
           head.routing_runs || head.vc_runs || head.switch_runs;
  } else {
    // All matches see the state at the start of the cycle; then heads move on, then flits.
    std::array<Winner, kMaxPorts> winners;
    const int winner_count = allocate_switch(router, head, row, winners.data());
    if (head.want_vc != 0) {
      std::array<VcGrant, 128> grants;
      const int granted = allocate_vcs(router, head, row, grants.data());
      for (int i = 0; i < granted; ++i) {
        take_vc(router, head, row, grants[static_cast<std::size_t>(i)]);
      }
    }
    for (; head.routing != 0; head.routing &= head.routing - 1) {
      route(router, head, row, lowest(head.routing));
    }
    for (int i = 0; i < winner_count; ++i) {
      traverse(router, head, row, winners[static_cast<std::size_t>(i)]);
    }
    busy = (head.want_switch | head.want_vc) != 0 || head.routing != 0;
  }
  const std::uint64_t mine = std::uint64_t{1} << (router % 64);
  std::uint64_t& word = state_.busy[router / 64];
  word = busy ? word | mine : word & ~mine;
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::step_general(std::uint32_t router, RouterHead<Mask>& head,
                                                   std::uint8_t* row) {
  Winner* winners = &held_winners_[state_.at(router, state_.ports, 0)];
  VcGrant* grants = &held_vc_grants_[state_.at(router, state_.row.per_vc, 0)];
  const bool switch_waits =
      (head.active & head.nonempty) != 0 || (config_.speculative && head.want_vc != 0);
  if (!head.routing_runs && head.routing != 0) {
    head.routing_runs = true;
    head.being_routed = head.routing;
    head.routing = 0;
    head.routing_due = now_ + config_.routing_delay - 1;
  }
  if (!head.switch_runs && switch_waits) {
    head.switch_runs = true;
    head.switch_grants = static_cast<std::uint8_t>(allocate_switch(router, head, row, winners));
    head.switch_due = now_ + config_.sw_alloc_delay - 1;
  }
  if (!head.vc_runs && head.want_vc != 0) {
    head.vc_runs = true;
    head.vc_grants = static_cast<std::uint8_t>(allocate_vcs(router, head, row, grants));
    head.vc_due = now_ + config_.vc_alloc_delay - 1;
  }
  if (head.vc_runs && now_ >= head.vc_due) {
    head.vc_runs = false;
    for (int i = 0; i < head.vc_grants; ++i) {
      take_vc(router, head, row, grants[i]);
    }
  }
  if (head.routing_runs && now_ >= head.routing_due) {
    head.routing_runs = false;
    for (; head.being_routed != 0; head.being_routed &= head.being_routed - 1) {
      route(router, head, row, lowest(head.being_routed));
    }
  }
  if (head.switch_runs && now_ >= head.switch_due) {
    head.switch_runs = false;
    for (int i = 0; i < head.switch_grants; ++i) {
      const Winner winner = winners[i];
      if (winner.speculative) {
        // A guess counts only if this cycle brought a VC with a credit.
        const int output_vc = row[state_.row.output + winner.input_vc];
        if ((head.active & bit<Mask>(winner.input_vc)) == 0 ||
            state_.port_of[static_cast<std::size_t>(output_vc)] != winner.output ||
            row[state_.row.credits + output_vc] == 0) {
          continue;
        }
      }
      traverse(router, head, row, winner);
    }
  }
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::take_events(std::uint32_t router, RouterHead<Mask>& head,
                                                  std::uint8_t* row, std::uint32_t events) {
  const std::size_t first = (slot_in(0) * static_cast<std::size_t>(state_.routers) + router) *
                            static_cast<std::size_t>(state_.ports);
  for (std::uint32_t left = events & 0xFFFFu; left != 0; left &= left - 1) {
    const int port = lowest(left);
    const int input_vc =
        port * state_.vcs + state_.arrival_vc[first + static_cast<std::size_t>(port)];
    ++row[state_.row.count + input_vc];
    const Mask mine = bit<Mask>(input_vc);
    if ((head.nonempty & mine) != 0) {
      continue;
    }
    head.nonempty |= mine;
    if ((head.active & mine) == 0) {
      begin_head(router, head, row, input_vc);
      continue;
    }
    const int output_vc = row[state_.row.output + input_vc];
    if (row[state_.row.credits + output_vc] != 0) {
      const int output = state_.port_of[static_cast<std::size_t>(output_vc)];
      state_.switch_requests[state_.at(router, state_.ports, output)] |= mine;
      head.want_switch = static_cast<std::uint16_t>(head.want_switch | 1u << output);
    }
  }
  for (std::uint32_t left = events >> 16; left != 0; left &= left - 1) {
    const int output = lowest(left);
    const int vc = state_.credit_vc[first + static_cast<std::size_t>(output)];
    const int output_vc = output * state_.vcs + vc;
    const std::uint8_t credits = ++row[state_.row.credits + output_vc];
    if (adaptive_) {
      --state_.used[state_.at(router, state_.ports, output)];
    }
    if (credits == 1) {
      const std::uint8_t owner = row[state_.row.owner + output_vc];
      if (owner != kNobody && (head.nonempty >> owner & 1u) != 0) {
        state_.switch_requests[state_.at(router, state_.ports, output)] |= bit<Mask>(owner);
        head.want_switch = static_cast<std::uint16_t>(head.want_switch | 1u << output);
      }
    }
    if (config_.wait_for_tail_credit && credits == config_.vc_buffer) {
      const std::size_t port = state_.at(router, state_.ports, output);
      state_.free_vcs[port] |= state_.tail_sent[port] & (std::uint32_t{1} << vc);
    }
  }
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::begin_head(std::uint32_t router, RouterHead<Mask>& head,
                                                 std::uint8_t* row, int input_vc) {
  if (config_.routing_delay == 0) {
    route(router, head, row, input_vc);
  } else {
    head.routing |= bit<Mask>(input_vc);
  }
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::route(std::uint32_t router, RouterHead<Mask>& head,
                                            std::uint8_t* row, int input_vc) {
  const std::uint8_t position = row[state_.row.read + input_vc];
  const Flit& flit = state_.flits[state_.at(router, state_.row.per_vc, input_vc) *
                                      static_cast<std::size_t>(state_.ring) +
                                  (position & static_cast<std::uint8_t>(state_.ring - 1))];
  const int x = state_.router_x[router];
  const int y = state_.router_y[router];
  int group = flit.flags >> kClassShift;
  int output = flit.port;
  if (!adaptive_) {
    if (flit.x != x) {
      output = flit.x > x ? 0 : 1;
    } else if (flit.y != y) {
      output = flit.y > y ? 2 : 3;
    }
  } else {
    const int along_x = flit.x > x ? 0 : 1;
    const int along_y = flit.y > y ? 2 : 3;
    if (flit.x != x && flit.y != y) {
      const std::uint32_t used_x = state_.used[state_.at(router, state_.ports, along_x)];
      const std::uint32_t used_y = state_.used[state_.at(router, state_.ports, along_y)];
      output = used_y < used_x ? along_y : along_x;
    } else if (flit.x != x) {
      output = along_x;
    } else if (flit.y != y) {
      output = along_y;
    }
    const bool on_y = output == 2 || output == 3;
    group = 2 * group + (on_y && (flit.flags & kWest) != 0 ? 1 : 0);
  }
  state_.vc_requests[state_.at(router, state_.ports * state_.groups,
                               output * state_.groups + group)] |= bit<Mask>(input_vc);
  head.want_vc = static_cast<std::uint16_t>(head.want_vc | 1u << output);
}

template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::take_vc(std::uint32_t router, RouterHead<Mask>& head,
                                              std::uint8_t* row, VcGrant grant) {
  const int output = state_.port_of[grant.output_vc];
  const Mask mine = bit<Mask>(grant.input_vc);
  const std::size_t first = state_.at(router, state_.ports * state_.groups, output * state_.groups);
  Mask& requests = state_.vc_requests[first + grant.group];
  requests &= ~mine;
  if (requests == 0) {
    Mask others = 0;
    for (int group = 0; group < state_.groups; ++group) {
      others |= state_.vc_requests[first + static_cast<std::size_t>(group)];
    }
    if (others == 0) {
      head.want_vc = static_cast<std::uint16_t>(head.want_vc & ~(1u << output));
    }
  }
  const std::size_t port = state_.at(router, state_.ports, output);
  const std::uint32_t vc = std::uint32_t{1} << (grant.output_vc - output * state_.vcs);
  state_.free_vcs[port] &= ~vc;
  state_.tail_sent[port] &= ~vc;
  row[state_.row.owner + grant.output_vc] = grant.input_vc;
  row[state_.row.output + grant.input_vc] = grant.output_vc;
  head.active |= mine;
  if (row[state_.row.credits + grant.output_vc] != 0) {
    state_.switch_requests[port] |= mine;
    head.want_switch = static_cast<std::uint16_t>(head.want_switch | 1u << output);
  }
  ++vc_grants_;
}

template <class Mask, bool kGeneral, bool kPriority>
int Mesh<Mask, kGeneral, kPriority>::send_delay(std::uint32_t router, RouterHead<Mask>& head,
                                                int output) {
  if constexpr (!kGeneral) {
    return 1;
  } else {
    // The crossbar takes what has won by its next start; outputs then send one flit a cycle.
    if (head.crossbar_start <= now_) {
      head.crossbar_start = std::max(now_ + 1, head.crossbar_start + config_.st_delay);
    }
    std::int64_t& last = state_.last_send[state_.at(router, state_.ports, output)];
    last = std::max(head.crossbar_start + config_.st_delay - 1, last + 1);
    return static_cast<int>(last - now_);
  }
}

// A flit that has won the switch leaves: forward, its credit back, and its VC to the next flit.
template <class Mask, bool kGeneral, bool kPriority>
void Mesh<Mask, kGeneral, kPriority>::traverse(std::uint32_t router, RouterHead<Mask>& head,
                                               std::uint8_t* row, Winner winner) {
  const RowLayout& at = state_.row;
  const int input_vc = winner.input_vc;
  const int input = state_.port_of[static_cast<std::size_t>(input_vc)];
  const int output = winner.output;
  const int output_vc = row[at.output + input_vc];
  const int vc = output_vc - output * state_.vcs;
  const auto ring_mask = static_cast<std::uint8_t>(state_.ring - 1);
  const std::size_t port = state_.at(router, state_.ports, output);
  const Flit flit =
      state_.flits[state_.at(router, at.per_vc, input_vc) * static_cast<std::size_t>(state_.ring) +
                   (row[at.read + input_vc]++ & ring_mask)];
  const std::uint8_t left = --row[at.count + input_vc];
  const std::uint8_t credits = --row[at.credits + output_vc];
  if (count_use_) {
    ++state_.port_use[port];
  }
  if (adaptive_) {
    ++state_.used[port];
  }
  last_move_ = now_;

  const int sent_after = send_delay(router, head, output);
  const auto routers = static_cast<std::size_t>(state_.routers);
  const auto ports = static_cast<std::size_t>(state_.ports);
  const auto words = static_cast<std::size_t>(state_.words);
  if (output < 4) {
    if (config_.count_toggles) {
      count_toggles(router, output, output_vc, flit);
    }
    const std::uint32_t next = state_.neighbour[router * 4 + static_cast<std::uint32_t>(output)];
    const int next_port = output ^ 1;
    const int next_vc = next_port * state_.vcs + vc;
    std::uint8_t* next_row = state_.row_of(next);
    state_.flits[state_.at(next, at.per_vc, next_vc) * static_cast<std::size_t>(state_.ring) +
                 (next_row[at.write + next_vc]++ & ring_mask)] = flit;
    const std::size_t slot = slot_in(sent_after + config_.link_delay + 1);
    const std::size_t event = slot * routers + next;
    state_.events[event] |= std::uint32_t{1} << next_port;
    state_.arrival_vc[event * ports + static_cast<std::size_t>(next_port)] =
        static_cast<std::uint8_t>(vc);
    state_.wake[slot * words + next / 64] |= std::uint64_t{1} << (next % 64);
  } else {
    const std::size_t slot = slot_in(sent_after + kTerminalDelay);
    if ((flit.flags & kTail) != 0) {
      ejections_[slot].push_back(flit.packet);
    } else {
      ++ejected_bodies_[slot];
    }
    const std::size_t back = slot_in(sent_after + 2 * kTerminalDelay + config_.credit_delay);
    const std::size_t event = back * routers + router;
    state_.events[event] |= std::uint32_t{1} << (16 + output);
    state_.credit_vc[event * ports + static_cast<std::size_t>(output)] =
        static_cast<std::uint8_t>(vc);
    state_.wake[back * words + router / 64] |= std::uint64_t{1} << (router % 64);
  }

  const int from_vc = input_vc - input * state_.vcs;
  if (input < 4) {
    const std::uint32_t previous = state_.neighbour[router * 4 + static_cast<std::uint32_t>(input)];
    const int their_port = input ^ 1;
    const std::size_t slot = slot_in(credit_delay_);
    const std::size_t event = slot * routers + previous;
    state_.events[event] |= std::uint32_t{1} << (16 + their_port);
    state_.credit_vc[event * ports + static_cast<std::size_t>(their_port)] =
        static_cast<std::uint8_t>(from_vc);
    state_.wake[slot * words + previous / 64] |= std::uint64_t{1} << (previous % 64);
  } else {
    const std::uint32_t node = router * static_cast<std::uint32_t>(state_.nodes_per_router) +
                               static_cast<std::uint32_t>(input - 4);
    const std::size_t slot = slot_in(kTerminalDelay);
    node_credit_vc_[slot * static_cast<std::size_t>(state_.nodes) + node] =
        static_cast<std::uint8_t>(from_vc);
    node_wake_[slot * static_cast<std::size_t>(node_words_) + node / 64] |= std::uint64_t{1}
                                                                            << (node % 64);
  }

  const Mask mine = bit<Mask>(input_vc);
  const bool tail = (flit.flags & kTail) != 0;
  if (tail) {
    const std::uint32_t released = std::uint32_t{1} << vc;
    row[at.owner + output_vc] = kNobody;
    head.active &= ~mine;
    state_.tail_sent[port] |= released;
    if (!config_.wait_for_tail_credit) {
      state_.free_vcs[port] |= released;
    }
  }
  if (tail || left == 0 || credits == 0) {
    Mask& requests = state_.switch_requests[port];
    requests &= ~mine;
    if (requests == 0) {
      head.want_switch = static_cast<std::uint16_t>(head.want_switch & ~(1u << output));
    }
  }
  if (left == 0) {
    head.nonempty &= ~mine;
  } else if (tail) {
    begin_head(router, head, row, input_vc);
  }
}

namespace {

template <class Mask>
std::unique_ptr<Network> make(const NetworkConfig& config) {
  if (config.network == "mesh-priority") {
    return std::make_unique<Mesh<Mask, true, true>>(config);
  }
  const bool general = config.routing_delay > 1 || config.vc_alloc_delay > 1 ||
                       config.sw_alloc_delay > 1 || config.st_delay > 1 || config.speculative;
  if (general) {
    return std::make_unique<Mesh<Mask, true, false>>(config);
  }
  return std::make_unique<Mesh<Mask, false, false>>(config);
}

}  // namespace

std::unique_ptr<Network> make_mesh(const NetworkConfig& config) {
  const int input_vcs = (4 + config.concentration) * config.vcs;
  return input_vcs <= 64 ? make<Mask64>(config) : make<Mask128>(config);
}

}  // namespace ww::sim::net
