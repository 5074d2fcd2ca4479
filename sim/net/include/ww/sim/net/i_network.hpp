// The interface of every network: packets enter at a node and leave at another, and time advances
// in whole cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"
#include "ww/sim/net/config.hpp"
#include "ww/sim/net/draws.hpp"
#include "ww/sim/power/events.hpp"

namespace ww::sim::net {

using NodeId = std::uint32_t;

enum class PacketKind : std::uint8_t {
  data,
  read_request,
  read_reply,
  write_request,
  write_reply,
  atomic_request,
  atomic_reply,
  coherence,  // between caches: a line recalled or written back, a copy invalidated
};

[[nodiscard]] constexpr bool is_reply(PacketKind kind) {
  return kind == PacketKind::read_reply || kind == PacketKind::write_reply ||
         kind == PacketKind::atomic_reply;
}

// Whether and how the words of a payload may be changed on their way. The program declares it for
// the buffer that the words come from (annotated variables: Dapper, section III.B).
enum class WordType : std::uint8_t {
  exact,    // not to be changed
  int32,    // two's complement
  float32,  // only the mantissa may change
  uint8,    // pixels
};
// "exact", "int32", ... Error invalid_argument, by key approximable.
[[nodiscard]] Result<WordType> word_type_from_string(std::string_view text);

struct Approximable {
  WordType type{WordType::exact};
  double threshold{};  // largest relative error of a word, as a fraction; 0: not to be changed
  // Index of the payload's first byte of data (whatever its type). The bytes before it are the
  // packet's own header, which neither changes nor is compressed.
  std::uint16_t first_byte{};
};

// A packet to send. Spans need to live only during inject().
struct Packet {
  NodeId source{};
  std::span<const NodeId> destinations;  // one, or many: each gets its own copy
  std::uint16_t flits{1};                // head and tail included
  std::uint8_t message_class{};          // < NetworkConfig::classes
  PacketKind kind{PacketKind::data};
  std::uint64_t tag{};                 // the caller's, given back on delivery
  Cycles created{};                    // latency counts from here; at most now()
  std::span<const std::byte> payload;  // optional; delivered, and its real bit transitions counted
  Approximable approximable{};         // exact networks ignore it
};

// The packets of the cycles from now() to `end` - 1 where they are known before these: of one size
// and tag, of class 0, each to one destination and without payload.
struct Plan {
  struct Entry {
    std::uint64_t created{};
    NodeId source{};
    NodeId destination{};
  };
  Cycles end{};
  std::span<const Entry> packets;  // by cycle of creation; those of one cycle in inject()'s order
  std::uint16_t flits{1};
  std::uint64_t tag{};
};

// A packet whose last flit left the network in the last tick.
struct Delivery {
  NodeId source{};
  NodeId destination{};
  std::uint16_t flits{};
  std::uint16_t hops{};  // routers passed by the head (mean over flits where they part)
  std::uint8_t message_class{};
  PacketKind kind{PacketKind::data};
  std::uint64_t tag{};
  Cycles created{};
  Cycles injected{};  // head left the source queue
  Cycles arrived{};
  std::span<const std::byte> payload;  // valid until the next tick; as it arrived
};

// Use of one directed link since the network was built.
struct LinkUse {
  std::uint32_t from_router{};
  std::uint32_t to_router{};
  std::uint64_t flits{};
  std::uint64_t toggles{};  // 0 unless toggles are counted
};

// A finding of the runtime detector.
struct Stuck {
  enum class Kind {
    deadlock,    // nothing moves, for good
    livelock,    // something moves without arriving
    starvation,  // a node has not been let in; expected above saturation where traffic under way
                 // has priority
  };
  Kind kind{};
  std::string text;
};

// Contract:
// - deterministic: the same calls give the same answers, whatever the machine;
// - source queues are unbounded: inject() never fails for lack of room;
// - tick() simulates the cycle now() and then advances now() by one; it allocates nothing, except
//   for the packets' own records and payloads;
// - one caller at a time; independent networks may live on different threads. A mesh may share its
//   tick() among threads of its own (key `threads`).
class Network {
 public:
  virtual ~Network() = default;

  [[nodiscard]] virtual const NetworkConfig& config() const = 0;
  [[nodiscard]] virtual Cycles now() const = 0;

  // Queues a packet at its source. Errors, by key: out_of_range (source, destinations,
  // message_class), invalid_argument (flits 0, created after now()).
  virtual Status inject(const Packet& packet) = 0;

  virtual void tick() = 0;

  // inject() and tick() for every cycle before the plan's end, in one call. Appends what is
  // delivered in these cycles, by cycle; deliveries() is empty afterwards. A network that can do
  // parts of several cycles together gains from it. Errors: those of inject(). Precondition: the
  // end lies after now(), and no packet is created before now() or at the end.
  virtual Status advance(const Plan& plan, std::vector<Delivery>& delivered);

  // Sets where the routers draw from, if they draw their ways at all. Without this call a network
  // has numbers of its own, the same in every run.
  virtual void draw_from(const std::shared_ptr<Draws>& /*draws*/) {}

  // Packets delivered by the last tick, in a fixed order.
  [[nodiscard]] virtual std::span<const Delivery> deliveries() const = 0;

  // The next cycle (>= now()) in which anything can happen without further injection; empty when
  // the network is idle for good.
  [[nodiscard]] virtual std::optional<Cycles> next_event() const = 0;

  // Jumps over cycles in which nothing happens. Afterwards now() == cycle, unless an event lies
  // before it; that event is then the next to be simulated.
  virtual void skip_to(Cycles cycle) = 0;

  // Nodes, 64 to a word, that have flits which have not left their source queue.
  [[nodiscard]] virtual std::span<const std::uint64_t> waiting_sources() const = 0;

  // Number of packets of a node (< nodes) and class that have not completely left the node. A
  // caller with a bounded output buffer uses it to know how full the buffer is.
  [[nodiscard]] virtual std::uint32_t source_queue(NodeId node,
                                                   std::uint8_t message_class) const = 0;

  // Packets queued or under way (copies counted one by one).
  [[nodiscard]] virtual std::uint64_t packets_inside() const = 0;

  // Events since the network was built, for energy. Toggles are filled in if they are counted.
  [[nodiscard]] virtual power::NetworkEvents events() const = 0;
  [[nodiscard]] virtual std::vector<LinkUse> link_use() const = 0;

  // Checks that flits and credits are conserved. Error bad_data says what is lost. Slow; for tests.
  [[nodiscard]] virtual Status check_conservation() const = 0;

  // The runtime detector. It reports what has not moved (deadlock) or not arrived (livelock,
  // starvation) for longer than `patience` cycles. Empty if there is nothing to report.
  [[nodiscard]] virtual std::optional<Stuck> stuck(Cycles patience) const = 0;
};

}  // namespace ww::sim::net
