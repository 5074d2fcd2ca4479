// The sending side of the nodes: packets leave their source queues flit by flit.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "packet_store.hpp"
#include "vc_router/ids.hpp"
#include "vc_router/rules.hpp"
#include "ww/sim/net/draws.hpp"

namespace ww::sim::net {

class Sources {
 public:
  static constexpr int kVcBits = 5;  // of a NodeVc

  Sources(std::uint32_t nodes, int classes, const VcRouterConfig& config)
      : classes_(static_cast<std::uint32_t>(classes)),
        vcs_(static_cast<std::uint32_t>(config.vcs)),
        buffer_(static_cast<std::uint32_t>(config.vc_buffer)),
        wait_for_tail_(config.wait_for_tail_credit),
        credits_(std::size_t{nodes} * vcs_, SmallCount(config.vc_buffer)),
        nodes_(nodes),
        queues_(std::size_t{nodes} * classes_),
        live_((nodes + 63) / 64) {
    for (Node& node : nodes_) {
      node.free = node.credited = vcs_between(0, config.vcs);
    }
    for (int c = 0; c < classes; ++c) {
      class_vcs_.push_back(vcs_of_class(config.vcs, classes, c));
    }
  }

  [[nodiscard]] static NodeVc node_vc(NodeId node, VcId vc) {
    return NodeVc(node << kVcBits | vc.number());
  }

  // Lets a front packet draw one of its class's VCs in each cycle from now on, and enter if that
  // one is free. `draws` must live as long as it is used.
  void draw_vcs_from(Draws& draws) { draws_ = &draws; }

  void wake(NodeId node, bool if_so = true) {
    live_[node / 64] |= static_cast<std::uint64_t>(if_so) << (node % 64);
  }
  [[nodiscard]] bool is_idle() const {
    for (const std::uint64_t word : live_) {
      if (word != 0) {
        return false;
      }
    }
    return true;
  }

  // `waiting`: as in step().
  void take_credit(NodeVc channel, const std::vector<std::uint64_t>& waiting) {
    const NodeId id = channel.number() >> kVcBits;
    const std::uint32_t vc = channel.number() & ((1u << kVcBits) - 1);
    Node& node = nodes_[id];
    const std::uint32_t credits = ++credits_[id * vcs_ + vc];
    node.credited |= std::uint32_t{1} << vc;
    if (wait_for_tail_ && credits == buffer_) {
      node.free |= node.tail_sent & (std::uint32_t{1} << vc);
    }
    live_[id / 64] |= waiting[id / 64] & std::uint64_t{1} << (id % 64);
  }

  // Whether the only packet of a node, of the only class, can leave it in this cycle, with any VC
  // as it will be when this cycle's credits have come.
  [[nodiscard]] bool can_enter(NodeId node, std::int64_t now) const {
    return (nodes_[node].free & nodes_[node].credited) == class_vcs_.front() && !sent(node, now);
  }
  // Lets the packet, which is of one flit, enter.
  [[nodiscard]] VcId enter(NodeId id, std::int64_t now) {
    Node& node = nodes_[id];
    Queue& queue = queues_[id];
    const VcId vc(first_from(class_vcs_.front(), static_cast<int>(VcId(queue.next_vc).number())));
    queue.vc = vc;
    queue.next_vc = VcId(vc.number() + 1);
    SmallCount& credits = credits_[id * vcs_ + vc.number()];
    --credits;
    const std::uint32_t mine = std::uint32_t{1} << vc.number();
    node.credited &= ~only_if(credits == 0, mine);
    node.tail_sent |= mine;
    node.last_send = now;
    return vc;
  }
  // Whether a flit of the node has left in a cycle.
  [[nodiscard]] bool sent(NodeId node, std::int64_t cycle) const {
    return nodes_[node].last_send == cycle;
  }

  // The credits of a node's VC.
  [[nodiscard]] SmallCount& credits(NodeVc channel) {
    const std::uint32_t vc = channel.number() & ((1u << kVcBits) - 1);
    return credits_[(channel.number() >> kVcBits) * vcs_ + vc];
  }

  // Every node of words `first` to `last` - 1 of the masks sends a flit that can: send(node,
  // packet, its record, vc, is head, is tail). `waiting` are the nodes with packets; those whose
  // queues have run empty leave it. acts(word) is a mask over 64 nodes: the others have no edge of
  // their clock in this cycle. Only with kMayDraw are VCs drawn.
  template <bool kMayDraw, class Acts, class Send>
  void step(std::size_t first, std::size_t last, std::int64_t now, PacketStore& store,
            std::vector<std::uint64_t>& waiting, const Acts& acts, const Send& send) {
    if (!kMayDraw && classes_ == 1) {
      step_all<kMayDraw, true>(first, last, now, store, waiting, acts, send);
    } else {
      step_all<kMayDraw, false>(first, last, now, store, waiting, acts, send);
    }
  }

  // Since when the front packets of a node have waited, at the longest; `now` if none waits.
  [[nodiscard]] std::int64_t waiting_since(NodeId node, std::int64_t now,
                                           const PacketStore& store) const {
    std::int64_t since = now;
    for (std::uint32_t c = 0; c < classes_; ++c) {
      const std::uint32_t front = store.front(node, static_cast<int>(c));
      if (front != kNoPacket) {
        since = std::min(since, std::max(store[front].created, nodes_[node].last_send));
      }
    }
    return since;
  }

 private:
  struct Node {
    std::uint32_t free{};       // VCs not held by a packet
    std::uint32_t tail_sent{};  // VCs whose last packet has left
    std::uint32_t credited{};   // VCs with a credit
    std::uint32_t last_class{};
    std::int64_t last_send{-1};
  };
  struct Queue {           // of a node and class
    std::uint16_t sent{};  // flits of the front packet
    Packed<VcId> vc;       // of the front packet
    Packed<VcId> next_vc;  // where the next packet begins to look for one
  };

  [[nodiscard]] bool has_packets(NodeId node, const PacketStore& store) const {
    bool any = false;
    for (std::uint32_t c = 0; c < classes_; ++c) {
      any |= store.front(node, static_cast<int>(c)) != kNoPacket;
    }
    return any;
  }

  template <bool kMayDraw, bool kOneClass, class Acts, class Send>
  [[gnu::always_inline]] void step_all(std::size_t first, std::size_t last, std::int64_t now,
                                       PacketStore& store, std::vector<std::uint64_t>& waiting,
                                       const Acts& acts, const Send& send) {
    for (std::size_t word = first; word < last; ++word) {
      for (std::uint64_t left = live_[word] & acts(word); left != 0; left = without_lowest(left)) {
        const NodeId node = static_cast<NodeId>(word * 64) + static_cast<NodeId>(lowest(left));
        const bool more = send_from<kMayDraw, kOneClass>(node, now, store, waiting, send);
        live_[word] &= ~(more ? 0 : left & (~left + 1));
      }
    }
  }

  // Sends a flit of the node; false when it must wait for a packet or a credit.
  template <bool kMayDraw, bool kOneClass, class Send>
  [[gnu::always_inline]] bool send_from(NodeId id, std::int64_t now, PacketStore& store,
                                        std::vector<std::uint64_t>& waiting, const Send& send) {
    Node& node = nodes_[id];
    if (kOneClass && node.last_send == now) {
      return true;  // one has entered already
    }
    const std::uint32_t classes = kOneClass ? 1 : classes_;
    std::uint32_t message_class = kOneClass ? 0 : node.last_class;
    bool draws_again = false;
    for (std::uint32_t tried = 0; tried < classes; ++tried) {
      message_class = message_class + 1 >= classes ? 0 : message_class + 1;
      PacketStore::Queue& packets = store.queue_at(id * classes + message_class);
      const std::uint32_t index = packets.head;
      if (index == kNoPacket) {
        continue;
      }
      Queue& queue = queues_[id * classes + message_class];
      PacketRecord& record = store[index];
      const bool first = queue.sent == 0;
      VcId vc = queue.vc;
      if (first) {
        std::uint32_t wanted = class_vcs_[message_class];
        const bool draws = kMayDraw && draws_ != nullptr;
        if (draws) {
          const auto count = static_cast<std::uint32_t>(std::popcount(wanted));
          wanted = std::uint32_t{1}
                   << (static_cast<std::uint32_t>(lowest(wanted)) + draws_->below(count));
        }
        const std::uint32_t usable = node.free & node.credited & wanted;
        if (usable == 0) {
          draws_again |= draws;
          continue;
        }
        vc = VcId(first_from(usable, static_cast<int>(VcId(queue.next_vc).number())));
        queue.next_vc = VcId(vc.number() + 1);
        queue.vc = vc;
        const std::uint32_t taken = std::uint32_t{1} << vc.number();
        node.free &= ~taken;
        node.tail_sent &= ~taken;
        record.injected = now;
      } else if ((node.credited >> vc.number() & 1u) == 0) {
        continue;
      }
      const bool last = queue.sent + 1 == record.flits;
      ++queue.sent;
      node.last_class = message_class;
      SmallCount& credits = credits_[id * vcs_ + vc.number()];
      --credits;
      const std::uint32_t mine = std::uint32_t{1} << vc.number();
      node.credited &= ~only_if(credits == 0, mine);
      node.last_send = now;
      send(id, index, record, vc, first, last);
      if (last) {
        queue.sent = 0;
        store.pop(packets);
        node.tail_sent |= mine;
        if (!wait_for_tail_) {
          node.free |= mine;
        }
        const bool more = kOneClass ? packets.head != kNoPacket : has_packets(id, store);
        waiting[id / 64] &= ~(static_cast<std::uint64_t>(!more) << (id % 64));
        return more;
      }
      return true;
    }
    return draws_again;
  }

  const std::uint32_t classes_;
  const std::uint32_t vcs_;
  const std::uint32_t buffer_;
  const bool wait_for_tail_;
  Draws* draws_{};
  std::vector<SmallCount> credits_;  // [node][VC]
  std::vector<Node> nodes_;
  std::vector<Queue> queues_;             // [node][class]
  std::vector<std::uint32_t> class_vcs_;  // [class]: mask over VCs
  std::vector<std::uint64_t> live_;       // mask over nodes that may send
};

}  // namespace ww::sim::net
