// The ends of Mesh: packets leave their source queues flit by flit, and arrive.
#pragma once

#include <cstdlib>

#include "network/mesh/mesh.hpp"

namespace ww::sim::net {

// From a node's send to its router's input, and from a router's send to its node: BookSim's
// terminal channels take one cycle, plus one to receive.
inline constexpr int kTerminalDelay = 2;

template <class S, bool kGeneral, bool kPriority>
Status Mesh<S, kGeneral, kPriority>::inject(const Packet& packet) {
  WW_TRY(store_.check(packet, now_));
  for (const NodeId destination : packet.destinations) {
    store_.enqueue(packet, destination);
  }
  reply_buffers_.count(packet);
  mark(node_live_.data(), packet.source);
  mark(node_waiting_.data(), packet.source);
  return {};
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::deliver() {
  WheelSlot& slot = slot_in(0);
  store_.begin_tick();
  deliveries_.clear();
  ejected_flits_ += slot.ejected_flits;
  slot.ejected_flits = 0;
  for (std::uint32_t i = 0; i < slot.ejections.size; ++i) {
    const std::uint32_t index = slot.ejections.items[i];
    const PacketRecord& record = store_[index];
    const Block& from = blocks_[router_of(record.source)];
    const Block& to = blocks_[router_of(record.destination)];
    const int hops = std::abs(static_cast<int>(from.x) - static_cast<int>(to.x)) +
                     std::abs(static_cast<int>(from.y) - static_cast<int>(to.y)) + 1;
    deliveries_.push_back(store_.deliver(index, now_, static_cast<std::uint16_t>(hops)));
  }
  slot.ejections.size = 0;
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::take_injection_credits() {
  EventList& list = slot_in(0).node_credits;
  for (std::uint32_t i = 0; i < list.size; ++i) {
    const std::uint32_t node = list.items[i] >> kNodeShift;
    const std::uint32_t vc = list.items[i] & ((1u << kNodeShift) - 1);
    Small& credits = node_credits_[node * static_cast<std::size_t>(vcs()) + vc];
    ++credits;
    node_credited_[node] |= std::uint32_t{1} << vc;
    if (wait_for_tail_ && static_cast<int>(credits) == config_.vc_buffer) {
      node_free_[node] |= node_tail_sent_[node] & (std::uint32_t{1} << vc);
    }
    bool waiting = false;
    for (int c = 0; c < classes_; ++c) {
      waiting |= store_.front(node, c) != kNoPacket;
    }
    mark(node_live_.data(), node, waiting);
  }
  list.size = 0;
}

// Sends one flit of a node if it can; false when it must wait for a packet or a credit.
template <class S, bool kGeneral, bool kPriority>
bool Mesh<S, kGeneral, kPriority>::inject_from(std::uint32_t node) {
  auto message_class = static_cast<int>(node_last_class_[node]);
  for (int tried = 0; tried < classes_; ++tried) {
    message_class = message_class + 1 == classes_ ? 0 : message_class + 1;
    const std::uint32_t index = store_.front(node, message_class);
    if (index == kNoPacket) {
      continue;
    }
    const std::size_t queue =
        node * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(message_class);
    PacketRecord& record = store_[index];
    const bool first = node_sent_[queue] == 0;
    auto vc = static_cast<int>(node_vc_[queue]);
    if (first) {
      const std::uint32_t usable = node_free_[node] & node_credited_[node] &
                                   class_vcs_[static_cast<std::size_t>(message_class)];
      if (usable == 0) {
        continue;
      }
      vc = first_from(usable, node_last_vc_[queue] + 1);
      node_last_vc_[queue] = static_cast<std::int8_t>(vc);
      node_vc_[queue] = static_cast<Small>(vc);
      node_free_[node] &= ~(std::uint32_t{1} << vc);
      node_tail_sent_[node] &= ~(std::uint32_t{1} << vc);
      record.injected = now_;
    } else if ((node_credited_[node] >> vc & 1u) == 0) {
      continue;
    }
    const bool last = node_sent_[queue] + 1 == record.flits;
    ++node_sent_[queue];
    node_last_class_[node] = static_cast<Small>(message_class);
    send_flit(node, index, vc, first, last);
    if (last) {
      node_sent_[queue] = 0;
      store_.pop(node, message_class);
      node_tail_sent_[node] |= std::uint32_t{1} << vc;
      if (!wait_for_tail_) {
        node_free_[node] |= std::uint32_t{1} << vc;
      }
      bool more = false;
      for (int c = 0; c < classes_; ++c) {
        more |= store_.front(node, c) != kNoPacket;
      }
      node_waiting_[node / 64] &= ~(static_cast<std::uint64_t>(!more) << (node % 64));
      return more;
    }
    return true;
  }
  return false;
}

template <class S, bool kGeneral, bool kPriority>
void Mesh<S, kGeneral, kPriority>::send_flit(std::uint32_t node, std::uint32_t index, int vc,
                                             bool first, bool last) {
  const PacketRecord& record = store_[index];
  const std::uint32_t router = router_of(node);
  const auto port = 4 + static_cast<int>(node - router * nodes_per_router_);
  Block& block = blocks_[router];
  int flags = (first ? kHead : 0) | (last ? kTail : 0) | (record.message_class << kClassShift);
  Flit flit{index, 0, 0, 0, 0};
  if (first) {
    const std::uint32_t to = router_of(record.destination);
    flit.x = blocks_[to].x;
    flit.y = blocks_[to].y;
    flit.port = static_cast<Small>(4 + record.destination - to * nodes_per_router_);
    flags |= flit.x < block.x ? kWest : 0;
  }
  flit.flags = static_cast<Small>(flags);
  Small& credits =
      node_credits_[node * static_cast<std::size_t>(vcs()) + static_cast<std::size_t>(vc)];
  --credits;
  if (credits == 0) {
    node_credited_[node] &= ~(std::uint32_t{1} << vc);
  }
  ++injected_flits_;
  last_move_ = now_;
  node_last_send_[node] = now_;
  const std::uint32_t at = (router << vc_shift_) + static_cast<std::uint32_t>(port * vcs() + vc);
  flit_at(at, write_[at]) = flit;
  ++write_[at];
  injected_out_->add(at);
}

}  // namespace ww::sim::net
