// Runs a packet trace on a network.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <queue>
#include <unordered_map>

#include "cpu_time.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/sim/net/latency_histogram.hpp"
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
        first_(network.now().value()),
        awaited_(open_loop ? 0 : trace.packets.size()) {
    for (std::uint64_t number = 0; number < trace.packets.size(); ++number) {
      const TracedPacket& packet = trace.packets[number];
      if (packet.after.empty() || open_loop) {
        ready_.push({first_ + packet.cycle, number});
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
    const auto wall_start = std::chrono::steady_clock::now();
    const double cpu_start = thread_cpu_seconds();
    const power::NetworkEvents before = network_.events();
    const std::vector<LinkUse> links_before = network_.link_use();
    std::uint64_t next_look = first_ + kLookPeriod;
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
    RunResult result = finish(before, links_before);
    result.cpu_s = thread_cpu_seconds() - cpu_start;
    result.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
    return result;
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
    latencies_.add(delivery.arrived.value() - delivery.created.value());
    network_latency_ += delivery.arrived.value() - delivery.injected.value();
    hops_ += delivery.hops;
    const auto found = waiting_.find({delivery.tag, delivery.destination});
    if (found == waiting_.end()) return;
    for (const std::uint64_t number : found->second) {
      if (--awaited_[number] > 0) continue;
      const TracedPacket& packet = trace_.packets[number];
      const std::uint64_t now = network_.now().value();
      ready_.push(
          {trace_.rule == WaitRule::gap ? now + packet.gap : std::max(now, first_ + packet.cycle),
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

  RunResult finish(const power::NetworkEvents& before, const std::vector<LinkUse>& links_before) {
    RunResult result;
    const double count = static_cast<double>(std::max<std::uint64_t>(latencies_.count(), 1));
    result.avg_packet_latency = latencies_.mean();
    result.p99_packet_latency = latencies_.quantile(0.99);
    result.max_packet_latency = latencies_.max();
    result.avg_network_latency = static_cast<double>(network_latency_) / count;
    result.avg_hops = static_cast<double>(hops_) / count;
    result.packets = latencies_.count();
    result.cycles = Cycles{network_.now().value() - first_};
    result.window = network_.events() - before;
    result.window.toggles_counted &= std::ranges::any_of(
        trace_.packets, [](const TracedPacket& packet) { return !packet.payload.empty(); });
    result.flit_hops = power::flit_hops(result.window);
    const double node_cycles =
        static_cast<double>(std::max<std::uint64_t>(result.cycles.value(), 1)) *
        node_count(network_.config());
    result.accepted_flits_per_node_cycle =
        static_cast<double>(result.window.ejected_flits) / node_cycles;
    result.offered_flits_per_node_cycle =
        static_cast<double>(result.window.injected_flits) / node_cycles;
    result.stable = true;  // it has come to its end
    result.links = network_.link_use();
    for (std::size_t i = 0; i < result.links.size(); ++i) {
      result.links[i].flits -= links_before[i].flits;
      result.links[i].toggles -= links_before[i].toggles;
    }
    return result;
  }

  Network& network_;
  const PacketTrace& trace_;
  const std::size_t flit_bytes_;
  const bool resize_;
  const std::uint64_t first_;
  std::vector<std::size_t> awaited_;  // [packet]: arrivals that it still waits for
  std::priority_queue<Ready> ready_;
  std::unordered_map<ArrivalAt, std::vector<std::uint64_t>, Hash> waiting_;
  LatencyHistogram latencies_;
  std::uint64_t network_latency_{};
  std::uint64_t hops_{};
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
