// A memory node: an L2 slice with its banks, a memory channel, and the output buffer for replies.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "machine/compute_unit/line_update.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "machine/timing/annotations.hpp"
#include "machine/timing/clocks.hpp"
#include "machine/timing/directory.hpp"
#include "machine/timing/dram.hpp"
#include "machine/timing/fill_table.hpp"
#include "machine/timing/flight.hpp"

namespace ww::sim::gpu::timing {

// State that all memory nodes share.
struct MemorySide {
  const TimingConfig& config;
  exec::DeviceMemory& memory;
  ActivityObserver& observer;
  exec::L2Tags& l2;
  Flights& flights;
  net::Network& network;
  Annotations& annotations;
  const std::vector<net::NodeId>& core_nodes;
  TimingStats& stats;
  exec::MemoryCounters& counters;
  std::uint32_t lines_per_block{};  // that one channel holds in a row
  std::uint32_t channels{};
  ClockRatio network_to_dram;
  std::int64_t observer_cycle{};  // of the launch, now; core cycles
  bool changed{};                 // device memory got other contents
  Directory* directory{};         // null: the L1s are not coherent
  bool slices_invalidate{};       // the network joins no cores with each other
  std::size_t finished{};         // flights without a reply that were served
};

// Bits of a tag that name the kind of a packet between caches; the rest is a flight or a line.
inline constexpr std::uint64_t kRecall = std::uint64_t{1} << 61;      // flight: give the line back
inline constexpr std::uint64_t kRecalled = std::uint64_t{1} << 62;    // flight: here it is
inline constexpr std::uint64_t kInvalidate = std::uint64_t{1} << 63;  // line: it is no longer valid

// Bytes of a flit of a direction: its own width, or the network's.
inline std::size_t flit_bytes(const TimingConfig& config, int own_bits) {
  return static_cast<std::size_t>(own_bits > 0 ? own_bits : config.network.flit_bits) / 8;
}

// A packet's header: the address below, the kind in the last byte.
inline void write_header(std::byte* header, std::size_t bytes, std::uint64_t address,
                         net::PacketKind kind) {
  if (bytes == sizeof address) {  // the usual size
    address = (address & ((std::uint64_t{1} << 56) - 1)) | static_cast<std::uint64_t>(kind) << 56;
    std::memcpy(header, &address, sizeof address);
    return;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    header[i] = static_cast<std::byte>(i < 7 ? address >> (8 * i) & 0xFF : 0);
  }
  header[bytes - 1] = static_cast<std::byte>(kind);
}

// Sends a packet between caches: a header, and the line if asked. `tag` as above.
Status send_coherence(MemorySide& side, net::NodeId from, net::NodeId to,
                      std::uint8_t message_class, std::uint32_t line, std::uint64_t tag,
                      bool with_line, PacketCount& count);
// Notifies the others that have the flight's line that it is no longer valid: one packet to many.
Status invalidate_others(MemorySide& side, net::NodeId from, std::uint8_t message_class,
                         const Flight& flight);

class MemoryNode {
 public:
  MemoryNode(MemorySide& side, net::NodeId node, std::uint16_t channel, std::size_t cores);

  // `clean`: what is under way is lost, after a launch that failed.
  void begin_launch(bool clean);
  // A request has arrived. Those of one core are served in the order in which they were sent,
  // however the network delivers them.
  void arrived(std::uint32_t flight, std::int64_t now);
  // The line of this flight has come back from its owner.
  void recalled(std::uint32_t flight);
  // Simulates cycle `now`; whether anything happened. Error: what the network refuses.
  Result<bool> step(std::int64_t now);
  // Earliest cycle after `now` at which this node does something by itself.
  [[nodiscard]] std::int64_t next_event(std::int64_t now) const;
  [[nodiscard]] bool idle() const { return inside_ == 0 && dram_.empty(); }
  // Replies in the output buffer.
  [[nodiscard]] std::uint32_t buffered() const {
    return side_.network.source_queue(node_, reply_class_);
  }
  // Whether a reply waited in the last step because the output buffer was full.
  [[nodiscard]] bool output_full() const { return output_full_; }
  [[nodiscard]] const ChannelActivity& activity() const { return activity_; }
  [[nodiscard]] const Dram& dram() const { return dram_; }
  [[nodiscard]] net::NodeId node() const { return node_; }

 private:
  struct Timed {
    std::int64_t cycle{};
    std::uint32_t index{};
  };
  // Payload of the reply to a vector load (TimingConfig::reply_data).
  enum class ReplyData : std::uint8_t { line, each, first };
  struct Early {
    std::uint32_t core{};
    std::uint32_t flight{};
  };
  void take_from_memory(std::int64_t now);
  void enter(std::uint32_t flight);
  bool serve(std::int64_t now);
  void read(Flight& flight, std::uint32_t index, std::int64_t now);
  [[nodiscard]] std::uint8_t first_datum(const Flight& flight) const;
  void write(Flight& flight, std::uint32_t index, std::int64_t now);
  void note_others(Flight& flight, bool keeps);
  void atomic(Flight& flight, std::uint32_t index, std::int64_t now);
  // Where a line of the flight is in the L2 or comes into it; counts what the reply waits for.
  void look_up(const exec::L2Tags::Access& access, std::uint32_t line, std::uint32_t index);
  // The reply follows, now or with the last fill.
  void reply_to(std::uint32_t index, std::int64_t now);
  // Commands that a request may need in the memory's queue.
  [[nodiscard]] bool memory_has_room() const {
    return dram_.has_room(2 * side_.config.line_bytes / static_cast<int>(exec::kLineBytes));
  }
  // Counts a hit or a miss, and sends the line that made room to memory.
  void account(const exec::L2Tags::Access& access);
  [[nodiscard]] const Annotation* annotation_of(const Flight& flight) const;
  Status send(std::uint32_t index);
  void write_back(Flight& flight, std::uint32_t index);
  [[nodiscard]] std::uint32_t local_line(std::uint32_t line) const;
  [[nodiscard]] std::size_t bank_of(std::uint32_t line) const {
    return local_line(line) % bank_free_.size();
  }

  MemorySide& side_;
  net::NodeId node_;
  std::uint16_t channel_;
  std::uint8_t reply_class_;
  std::size_t flit_bytes_;
  std::vector<std::byte> payload_;  // of the reply that is sent
  ReplyData reply_data_;
  Dram dram_;
  std::vector<std::uint32_t> expected_;  // sequence number of each core's next request
  std::vector<Early> early_;
  Fifo<Timed> delayed_;  // on the last of their way, request_cycles long
  Fifo<std::uint32_t> input_;
  std::vector<std::int64_t> bank_free_;
  Fifo<Timed> pipeline_;  // replies that come out of the L2
  Fifo<Timed> returns_;   // fills that come back from memory
  FillTable fills_;       // lines on their way from memory
  std::vector<std::pair<std::uint32_t, std::uint32_t>> recalls_;  // to be sent: owner, flight
  Fifo<std::uint32_t> replies_;  // wait for room in the output buffer
  std::size_t inside_{};         // requests that were not answered yet
  bool output_full_{};
  ChannelActivity activity_;
};

}  // namespace ww::sim::gpu::timing
