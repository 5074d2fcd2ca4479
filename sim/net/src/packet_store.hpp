// Records of the packets inside a network, and the source queues that hold them until they leave.
// Shared by all networks. Slots are reused; memory grows with the packets inside, never with time.
#pragma once

#include <cstddef>
#include <cstdint>
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

class PacketStore {
 public:
  PacketStore(int nodes, int classes)
      : classes_(classes),
        heads_(static_cast<std::size_t>(nodes * classes), kNoPacket),
        tails_(static_cast<std::size_t>(nodes * classes), kNoPacket),
        lengths_(static_cast<std::size_t>(nodes * classes)) {}

  // Checks a packet against the network's size. Errors name the key.
  [[nodiscard]] Status check(const Packet& packet, std::int64_t now) const;

  // Queues one copy for one destination; returns its record's index.
  std::uint32_t enqueue(const Packet& packet, NodeId destination);

  [[nodiscard]] PacketRecord& operator[](std::uint32_t index) { return records_[index]; }
  [[nodiscard]] const PacketRecord& operator[](std::uint32_t index) const {
    return records_[index];
  }

  // Front of a source queue, or kNoPacket.
  [[nodiscard]] std::uint32_t front(std::uint32_t node, int message_class) const {
    return heads_[node * static_cast<std::uint32_t>(classes_) +
                  static_cast<std::uint32_t>(message_class)];
  }
  // Takes the front off its queue; the record stays until release().
  void pop(std::uint32_t node, int message_class) {
    const auto queue =
        node * static_cast<std::uint32_t>(classes_) + static_cast<std::uint32_t>(message_class);
    heads_[queue] = records_[heads_[queue]].next;
    if (heads_[queue] != kNoPacket) {
      __builtin_prefetch(&records_[heads_[queue]], 1);  // it is next to leave
    }
    --lengths_[queue];
  }
  // Packets in a source queue.
  [[nodiscard]] std::uint32_t length(std::uint32_t node, int message_class) const {
    return lengths_[node * static_cast<std::uint32_t>(classes_) +
                    static_cast<std::uint32_t>(message_class)];
  }

  // Fills a delivery and frees the record at the next begin_tick(). `hops` as Delivery::hops.
  [[nodiscard]] Delivery deliver(std::uint32_t index, std::int64_t arrived, std::uint16_t hops);
  // Payloads of the last tick's deliveries die here.
  void begin_tick();

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
  int classes_;
  std::vector<PacketRecord> records_;
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint32_t> tails_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::vector<std::byte>> payloads_;
  std::vector<std::uint32_t> free_payloads_;
  std::vector<std::uint32_t> dying_payloads_;
  std::uint32_t free_{kNoPacket};
  std::uint64_t inside_{};
};

}  // namespace ww::sim::net
