// Runs a packet trace on a network.
#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "run_record.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/sim/net/packet_trace.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint64_t kLongestStandstill = 20000;  // cycles that count as a deadlock
constexpr std::uint64_t kLookPeriod = 4096;

class PacketReplay {
 public:
  PacketReplay(Network& network, const PacketTrace& trace, bool open_loop)
      : network_(network),
        trace_(trace),
        flit_bytes_(static_cast<std::size_t>(network.config().flit_bits) / 8),
        resize_(trace.flit_bits != network.config().flit_bits),
        record_(network),
        awaited_(open_loop ? 0 : trace.packets.size()) {
    for (std::uint64_t number = 0; number < trace.packets.size(); ++number) {
      const TracedPacket& packet = trace.packets[number];
      if (packet.after.empty() || open_loop) {
        ready_.push({record_.first_cycle() + packet.cycle, number});
        continue;
      }
      awaited_[number] = packet.after.size();
      for (const std::uint64_t cause : packet.after) {
        const NodeId where =
            trace.rule == WaitRule::gap ? packet.source : trace.packets[cause].destinations[0];
        waiting_[{cause, where}].push_back(number);
      }
    }
  }

  Result<RunResult> run() {
    std::uint64_t next_look = record_.first_cycle() + kLookPeriod;
    while (!ready_.empty() || network_.packets_inside() > 0) {
      const std::uint64_t now = network_.now().value();
      bool injected = false;
      for (; !ready_.empty() && ready_.top().cycle <= now; injected = true) {
        const Ready next = ready_.top();
        ready_.pop();
        WW_TRY(send(next));
      }
      if (!injected && skip()) continue;
      network_.tick();
      for (const Delivery& delivery : network_.deliveries()) arrive(delivery);
      if (network_.now().value() >= next_look) {
        next_look = network_.now().value() + kLookPeriod;
        WW_TRY(look());
      }
    }
    return record_.finish_whole(std::ranges::any_of(
        trace_.packets, [](const TracedPacket& packet) { return !packet.payload.empty(); }));
  }

 private:
  struct Ready {
    std::uint64_t cycle{};
    std::uint64_t number{};
    // The one that a queue of the greatest gives first is the earliest.
    bool operator<(const Ready& other) const {
      return cycle != other.cycle ? cycle > other.cycle : number > other.number;
    }
  };
  struct ArrivalAt {
    std::uint64_t packet{};
    NodeId node{};
    bool operator==(const ArrivalAt&) const = default;
  };
  struct Hash {
    std::size_t operator()(const ArrivalAt& key) const {
      return std::hash<std::uint64_t>{}(key.packet * 0x9E3779B97F4A7C15ULL ^ key.node);
    }
  };

  Status send(const Ready& ready) {
    const TracedPacket& traced = trace_.packets[ready.number];
    Packet packet;
    packet.source = traced.source;
    packet.destinations = traced.destinations;
    packet.flits = traced.flits;
    const std::size_t bytes = traced.payload.empty() ? traced.bytes : traced.payload.size();
    if (resize_ && bytes > 0) {
      packet.flits = static_cast<std::uint16_t>((bytes + flit_bytes_ - 1) / flit_bytes_);
    }
    packet.message_class = traced.message_class;
    packet.kind = traced.kind;
    packet.tag = ready.number;
    packet.created = Cycles{ready.cycle};
    packet.payload = traced.payload;
    packet.approximable = traced.approximable;
    return network_.inject(packet);
  }

  void arrive(const Delivery& delivery) {
    record_.add(delivery);
    const auto found = waiting_.find({delivery.tag, delivery.destination});
    if (found == waiting_.end()) return;
    for (const std::uint64_t number : found->second) {
      if (--awaited_[number] > 0) continue;
      const TracedPacket& packet = trace_.packets[number];
      const std::uint64_t now = network_.now().value();
      ready_.push({trace_.rule == WaitRule::gap
                       ? now + packet.gap
                       : std::max(now, record_.first_cycle() + packet.cycle),
                   number});
    }
    waiting_.erase(found);
  }

  // Over cycles in which nothing happens.
  bool skip() {
    std::optional<Cycles> next = network_.next_event();
    if (!ready_.empty()) {
      const Cycles due{ready_.top().cycle};
      next = next ? std::min(*next, due) : due;
    }
    const Cycles now = network_.now();
    if (next && *next > now) network_.skip_to(*next);
    return network_.now() > now;
  }

  Status look() {
    if (interrupted()) {
      return fail(ErrorCode::cancelled, "interrupted", network_.config().network);
    }
    const auto why = network_.stuck(Cycles{kLongestStandstill});
    if (why && why->kind != Stuck::Kind::starvation) {
      return fail(ErrorCode::bad_data, why->text, network_.config().network);
    }
    return {};
  }

  Network& network_;
  const PacketTrace& trace_;
  const std::size_t flit_bytes_;
  const bool resize_;
  RunRecord record_;
  std::vector<std::size_t> awaited_;  // [packet]: arrivals that it still waits for
  std::priority_queue<Ready> ready_;
  std::unordered_map<ArrivalAt, std::vector<std::uint64_t>, Hash> waiting_;
};

}  // namespace

Result<RunResult> replay_packets(Network& network, const PacketTrace& trace, bool open_loop) {
  const auto nodes = static_cast<NodeId>(node_count(network.config()));
  for (std::uint64_t number = 0; number < trace.packets.size(); ++number) {
    const TracedPacket& packet = trace.packets[number];
    const NodeId most = std::max(packet.source, *std::ranges::max_element(packet.destinations));
    if (most >= nodes || packet.message_class >= network.config().classes) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("packet {} of the trace has node {} and class {}; {} has {} nodes "
                              "and {} classes",
                              number, most, packet.message_class, network.config().network, nodes,
                              network.config().classes),
                  "--packet-trace");
    }
    for (const std::uint64_t cause : packet.after) {
      const bool comes =
          cause < number && (trace.rule == WaitRule::cycle ||
                             std::ranges::find(trace.packets[cause].destinations, packet.source) !=
                                 trace.packets[cause].destinations.end());
      if (open_loop || comes) continue;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("packet {} of the trace waits for packet {}, which never comes to "
                              "its source {}",
                              number, cause, packet.source),
                  "--packet-trace");
    }
  }
  return PacketReplay(network, trace, open_loop).run();
}

}  // namespace ww::sim::net
