// Records of the packets inside a network, and the source queues that hold them until they leave.
// Shared by all networks. Slots are reused; memory grows with the packets inside, never with time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

inline constexpr std::uint32_t kNoPacket = ~std::uint32_t{0};

// Thousands wait, and each cycle touches others: one of the host's lines each.
struct alignas(64) PacketRecord {
  std::uint64_t tag{};
  std::int64_t created{};
  std::int64_t injected{-1};  // cycle in which the head left the source queue
  std::byte* bytes{};         // of its payload; the store keeps them
  std::uint32_t size{};       // of its payload
  NodeId source{};
  NodeId destination{};
  std::uint32_t next{kNoPacket};  // in its source queue, or in the free list
  std::uint32_t payload{kNoPacket};
  std::uint32_t hops{};  // summed over flits, where routes differ
  std::uint16_t flits{};
  std::uint16_t arrived_flits{};
  std::uint8_t message_class{};
  PacketKind kind{};
};
static_assert(sizeof(PacketRecord) == 64);

// Deliveries of the last tick. The length changes without a branch, which nobody could predict.
class Deliveries {
 public:
  void reserve(std::size_t count) { items_.resize(std::max(count, items_.size())); }
  void clear() { size_ = 0; }
  // The caller writes all of it.
  [[nodiscard]] Delivery& add() {
    if (size_ == items_.size()) {
      items_.resize(2 * size_ + 1);
    }
    return items_[size_++];
  }
  void push_back(const Delivery& delivery) { add() = delivery; }
  operator std::span<const Delivery>() const { return {items_.data(), size_}; }

 private:
  std::vector<Delivery> items_;
  std::size_t size_{};
};

class PacketStore {
 public:
  PacketStore(int nodes, int classes)
      : nodes_(static_cast<std::uint32_t>(nodes)),
        classes_(static_cast<std::uint32_t>(classes)),
        queues_(std::size_t{nodes_} * classes_) {}

  // Checks a packet against the network's size. Errors name the key.
  [[nodiscard]] Status check(const Packet& packet, std::int64_t now) const {
    const bool plain = packet.source < nodes_ && packet.destinations.size() == 1 &&
                       packet.destinations.front() < nodes_ && packet.flits != 0 &&
                       packet.message_class < classes_ &&
                       packet.created.value() <= static_cast<std::uint64_t>(now);
    return plain ? Status{} : check_each(packet, now);
  }

  // Queues one copy for one destination; returns its record's index.
  std::uint32_t enqueue(const Packet& packet, NodeId destination) {
    const std::uint32_t index = take_in(packet, destination);
    Queue& queue = queues_[number(packet.source, packet.message_class)];
    (queue.head == kNoPacket ? queue.head : records_[queue.tail].next) = index;
    queue.tail = index;
    ++queue.length;
    return index;
  }
  // Takes in a packet that leaves its source at once.
  std::uint32_t take_in(const Packet& packet, NodeId destination);

  [[nodiscard]] PacketRecord& operator[](std::uint32_t index) { return records_[index]; }
  [[nodiscard]] const PacketRecord& operator[](std::uint32_t index) const {
    return records_[index];
  }

  // Front of a source queue, or kNoPacket.
  [[nodiscard]] std::uint32_t front(std::uint32_t node, int message_class) const {
    return queue(node, message_class).head;
  }
  struct Queue {  // of packets at their source
    std::uint32_t head{kNoPacket};
    std::uint32_t tail{kNoPacket};
    std::uint32_t length{};
  };
  // `number`: node * classes + class.
  [[nodiscard]] Queue& queue_at(std::uint32_t number) { return queues_[number]; }
  // Takes the front off its queue; the record stays until deliver().
  void pop(std::uint32_t node, int message_class) { pop(queues_[number(node, message_class)]); }
  void pop(Queue& queue) {
    queue.head = records_[queue.head].next;
    if (queue.head != kNoPacket) {
      __builtin_prefetch(&records_[queue.head], 1);  // it is next to leave
    }
    --queue.length;
  }
  // Packets in a source queue.
  [[nodiscard]] std::uint32_t length(std::uint32_t node, int message_class) const {
    return queue(node, message_class).length;
  }

  // Adds a delivery and frees the record at the next begin_tick(). `hops` as Delivery::hops.
  void deliver(std::uint32_t index, std::int64_t arrived, std::uint16_t hops,
               Deliveries& deliveries);
  // Payloads of the last tick's deliveries die here.
  void begin_tick() {
    if (!dying_payloads_.empty()) {
      free_dying_payloads();
    }
  }

  // Bytes of a packet's payload, which may be changed; empty without one.
  [[nodiscard]] std::span<std::byte> payload(std::uint32_t index) {
    return {records_[index].bytes, records_[index].size};
  }

  // 8 x bytes_per_flit bits of flit `index` of a packet, zero past the end of the payload.
  void copy_flit(const PacketRecord& record, int index, std::size_t bytes_per_flit,
                 std::byte* out) const;

  // Puts flit `index` of a packet on wires that still have another's bits. Returns how many change.
  std::uint64_t drive(const PacketRecord& record, int index, std::span<std::byte> wires) const;

  [[nodiscard]] std::uint64_t inside() const { return inside_; }

 private:
  [[nodiscard]] std::size_t number(std::uint32_t node, int message_class) const {
    return node * classes_ + static_cast<std::uint32_t>(message_class);
  }
  [[nodiscard]] const Queue& queue(std::uint32_t node, int message_class) const {
    return queues_[number(node, message_class)];
  }
  void copy_payload(PacketRecord& record, std::span<const std::byte> payload);
  void free_dying_payloads();
  [[nodiscard]] Status check_each(const Packet& packet, std::int64_t now) const;

  std::uint32_t nodes_;
  std::uint32_t classes_;
  std::vector<PacketRecord> records_;
  std::vector<Queue> queues_;  // [node][class]
  std::vector<std::vector<std::byte>> payloads_;
  std::vector<std::uint32_t> free_payloads_;
  std::vector<std::uint32_t> dying_payloads_;
  std::uint32_t free_{kNoPacket};
  std::uint64_t inside_{};
};

inline std::uint32_t PacketStore::take_in(const Packet& packet, NodeId destination) {
  std::uint32_t index = free_;
  if (index == kNoPacket) {
    index = static_cast<std::uint32_t>(records_.size());
    records_.emplace_back();
  } else {
    free_ = records_[index].next;
  }
  PacketRecord& record = records_[index];
  record = PacketRecord{};
  record.tag = packet.tag;
  record.created = static_cast<std::int64_t>(packet.created.value());
  record.source = packet.source;
  record.destination = destination;
  record.flits = packet.flits;
  record.message_class = packet.message_class;
  record.kind = packet.kind;
  if (!packet.payload.empty()) {
    copy_payload(record, packet.payload);
  }
  ++inside_;
  return index;
}

inline void PacketStore::deliver(std::uint32_t index, std::int64_t arrived, std::uint16_t hops,
                                 Deliveries& deliveries) {
  PacketRecord& record = records_[index];
  Delivery& delivery = deliveries.add();
  delivery.source = record.source;
  delivery.destination = record.destination;
  delivery.flits = record.flits;
  delivery.hops = hops;
  delivery.message_class = record.message_class;
  delivery.kind = record.kind;
  delivery.tag = record.tag;
  delivery.created = Cycles{static_cast<std::uint64_t>(record.created)};
  delivery.injected = Cycles{static_cast<std::uint64_t>(record.injected)};
  delivery.arrived = Cycles{static_cast<std::uint64_t>(arrived)};
  delivery.payload = {record.bytes, record.size};
  if (record.payload != kNoPacket) {
    dying_payloads_.push_back(record.payload);
  }
  record.next = free_;
  free_ = index;
  --inside_;
}

}  // namespace ww::sim::net
