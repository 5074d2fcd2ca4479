#include "ww/sim/net/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "flow/flows.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

// Sums over all packets of a cycle, each pair of nodes with its share of them.
struct FlowLoads {
  std::vector<double> channel;     // [channel]: flits a cycle
  std::vector<double> from_input;  // [channel][input]: of them, those from that input
  std::vector<int> delay;          // [channel]: of its link [cycles]
  // [node]: how long a packet keeps it from sending the next one, and the square of that
  // [cycles]; means over its packets.
  std::vector<double> sending;
  std::vector<double> sending_squared;
  double zero_load{};  // mean latency of a packet that is alone
  double hops{};
};

class Estimator {
 public:
  Estimator(const NetworkConfig& network, const TrafficConfig& traffic, const Flows& flows)
      : network_(network),
        traffic_(traffic),
        flows_(flows),
        nodes_(static_cast<NodeId>(node_count(network))),
        ports_(flows.ports()) {
    const auto& router = network.own<VcRouterConfig>();
    const int allocation = router.speculative
                               ? std::max(router.vc_alloc_delay, router.sw_alloc_delay)
                               : router.vc_alloc_delay + router.sw_alloc_delay;
    router_cycles_ = router.routing_delay + allocation + router.st_delay;
    loads_.channel.assign(std::size_t{flows.routers()} * ports_, 0);
    loads_.delay.assign(loads_.channel.size(), 1);
    loads_.from_input.assign(loads_.channel.size() * ports_, 0);
    loads_.sending.assign(nodes_, 0);
    loads_.sending_squared.assign(nodes_, 0);
  }

  LatencyEstimate run() {
    add_flows();
    LatencyEstimate estimate;
    estimate.zero_load_latency = loads_.zero_load;
    estimate.avg_hops = loads_.hops;
    estimate.busiest_vcs = 0;
    double busiest = 0;
    for (std::size_t channel = 0; channel < loads_.channel.size(); ++channel) {
      busiest = std::max(busiest, loads_.channel[channel]);
      estimate.busiest_vcs = std::max(estimate.busiest_vcs, vcs_taken(channel));
    }
    // A node may be slower than its channel, but how much slower is only estimated.
    estimate.full_rate = busiest > 0 ? std::min(1.0, traffic_.rate / busiest) : 1.0;
    estimate.busiest_link = std::max(source_load(), busiest);
    estimate.packet_latency = estimate.zero_load_latency + source_wait() + channel_wait();
    const double load = std::max(estimate.busiest_link, estimate.busiest_vcs);
    estimate.bounded = load <= kBoundedLoad;
    estimate.low = kBelow * estimate.zero_load_latency;
    estimate.high = (kAbove + kAboveByLoad * load) * estimate.packet_latency;
    return estimate;
  }

 private:
  // Adds every pair of nodes; every node sends.
  void add_flows() {
    Path path;
    for (NodeId from = 0; from < nodes_; ++from) {
      if (traffic_.pattern != Pattern::uniform) {
        add(from, permutation_partner(traffic_.pattern, from, network_), 1, path);
        continue;
      }
      for (NodeId to = 0; to < nodes_; ++to) {
        add(from, to, 1.0 / nodes_, path);
      }
    }
    loads_.zero_load /= nodes_;
    loads_.hops /= nodes_;
  }

  // `share` of the sender's packets go there.
  void add(NodeId from, NodeId to, double share, Path& path) {
    flows_.find(from, to, path);
    double alone = path.wire_cycles + traffic_.packet_size;
    double longest_stall = 0;
    double sending = traffic_.packet_size + stall(1);
    int before = 0;  // flits that wait before the step, none of them at the node
    for (const Path::Step& step : path.steps) {
      loads_.channel[step.channel] += share * traffic_.rate;
      loads_.from_input[std::size_t{step.channel} * ports_ + step.input] += share * traffic_.rate;
      loads_.delay[step.channel] = step.delay;
      alone += router_cycles_;
      longest_stall = std::max(longest_stall, stall(step.delay));
      before += network_.own<VcRouterConfig>().vc_buffer;
      sending = std::max(sending, traffic_.packet_size + stall_at_node(step.delay, before));
    }
    loads_.sending[from] += share * sending;
    loads_.sending_squared[from] += share * sending * sending;
    loads_.hops += share * static_cast<double>(path.steps.size());
    loads_.zero_load += share * (alone + longest_stall);
  }

  // A buffer that is shorter than the time until its credits are back stops a packet each time that
  // it is full.
  [[nodiscard]] double stall(int link_delay) const {
    const auto& router = network_.own<VcRouterConfig>();
    const int missing = credit_loop(router, link_delay) - router.vc_buffer;
    const int times = (traffic_.packet_size - 1) / router.vc_buffer;
    return missing > 0 ? static_cast<double>(missing) * times : 0.0;
  }

  // Stall as seen by a node that sends over other routers' buffers, with room for `before` flits
  // before the link: the link is free when only that many are left.
  [[nodiscard]] double stall_at_node(int link_delay, int before) const {
    const auto& router = network_.own<VcRouterConfig>();
    const int missing = credit_loop(router, link_delay) - router.vc_buffer;
    const int crossed = traffic_.packet_size - before;
    if (missing <= 0 || crossed <= 0) {
      return 0;
    }
    const int times = (crossed + router.vc_buffer - 1) / router.vc_buffer;
    return static_cast<double>(missing) * times;
  }

  // Share of a channel's VCs that packets hold: each as long as it takes to pass a router and to
  // send.
  [[nodiscard]] double vcs_taken(std::size_t channel) const {
    return loads_.channel[channel] / traffic_.packet_size * vc_held(channel) / vcs_of_packet();
  }
  // VCs of a port that a packet may take.
  [[nodiscard]] double vcs_of_packet() const {
    const auto& router = network_.own<VcRouterConfig>();
    return static_cast<double>(router.vcs) / network_.classes / flows_.layers();
  }
  [[nodiscard]] double vc_held(std::size_t channel) const {
    const auto& router = network_.own<VcRouterConfig>();
    const int link_delay = loads_.delay[channel];
    // While packets follow each other, a VC sends a buffer full in the time that a credit takes.
    const double refill = static_cast<double>(traffic_.packet_size) *
                          credit_loop(router, link_delay) / router.vc_buffer;
    return std::max(router_cycles_ + traffic_.packet_size + stall(link_delay), refill);
  }
  // Mean wait of a head for one of c VCs, each held for the same time: M/D/c by Sakasegawa's
  // approximation (Annals of the Institute of Statistical Mathematics 29, 1977).
  [[nodiscard]] double vc_wait(std::size_t channel) const {
    const double taken = std::min(vcs_taken(channel), kMaxLoad);
    const double vcs = vcs_of_packet();
    return vc_held(channel) / 2 * std::pow(taken, std::sqrt(2 * (vcs + 1)) - 1) /
           (vcs * (1 - taken));
  }

  // A node sends one packet at a time, however many VCs there are.
  [[nodiscard]] double packet_rate() const { return traffic_.rate / traffic_.packet_size; }
  // Load of the node that sends for the greatest share of the time.
  [[nodiscard]] double source_load() const {
    return packet_rate() * *std::max_element(loads_.sending.begin(), loads_.sending.end());
  }
  // Mean over nodes of what their packets wait behind each other (Pollaczek and Khinchine, for
  // packets that begin with a cycle).
  [[nodiscard]] double source_wait() const {
    double sum = 0;
    for (NodeId node = 0; node < nodes_; ++node) {
      const double load = std::min(packet_rate() * loads_.sending[node], kMaxLoad);
      const double spread = loads_.sending_squared[node] - loads_.sending[node];
      sum += packet_rate() * spread / (2 * (1 - load));
    }
    return sum / nodes_;
  }

  // Mean over packets of what they wait at all their channels, for the link or for a VC. Packets of
  // one input come one after the other and wait before it.
  [[nodiscard]] double channel_wait() const {
    double sum = 0;  // flits that wait
    for (std::size_t channel = 0; channel < loads_.channel.size(); ++channel) {
      const double load = loads_.channel[channel];
      if (load == 0) {
        continue;
      }
      double own = 0;
      for (std::uint32_t input = 0; input < ports_; ++input) {
        const double part = loads_.from_input[channel * ports_ + input];
        own += part * part;
      }
      const double full = std::min(load, kMaxLoad);
      const double for_link = load * traffic_.packet_size / (2 * (1 - full));
      const double others = 1 - own / (load * load);
      sum += load * others * std::max(for_link, vc_wait(channel));
    }
    return traffic_.rate > 0 ? sum / (nodes_ * traffic_.rate) : 0.0;
  }

  static constexpr double kMaxLoad = 0.999;
  // Found with other configurations than those that test them.
  static constexpr double kBoundedLoad = 0.45;
  static constexpr double kBelow = 0.95;
  static constexpr double kAbove = 1.2;
  static constexpr double kAboveByLoad = 0.8;

  const NetworkConfig& network_;
  const TrafficConfig& traffic_;
  const Flows& flows_;
  NodeId nodes_;
  std::uint32_t ports_;
  int router_cycles_{};
  FlowLoads loads_;
};

}  // namespace

void to_json(nlohmann::json& json, const LatencyEstimate& estimate) {
  json = {{"avg_packet_latency", estimate.packet_latency},
          {"low", estimate.low},
          {"high", estimate.high},
          {"bounded", estimate.bounded},
          {"zero_load_latency", estimate.zero_load_latency},
          {"avg_hops", estimate.avg_hops},
          {"busiest_link", estimate.busiest_link},
          {"busiest_vcs", estimate.busiest_vcs},
          {"full_rate", estimate.full_rate}};
}

Result<LatencyEstimate> estimate_latency(const NetworkConfig& wanted,
                                         const TrafficConfig& traffic) {
  WW_ASSIGN(kind, network_kind(wanted.network));
  if (kind->flows == nullptr) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has no way that is fixed beforehand, so it can only be simulated",
                            kind->name),
                "network");
  }
  if (traffic.pattern == Pattern::hot_spot || traffic.pattern == Pattern::many_to_few ||
      traffic.burst_start > 0) {
    return fail(ErrorCode::unsupported,
                "only uniform traffic and permutations without bursts can be estimated", "traffic");
  }
  WW_ASSIGN(network, with_size(*kind, wanted));
  network.classes = std::max(network.classes, 1);
  WW_TRY(validate(*kind, network));
  WW_TRY(validate(traffic, network));
  const auto flows = kind->flows(network);
  if (flows == nullptr) {
    return fail(ErrorCode::unsupported,
                "adaptive routes, clock domains and narrow links can only be simulated",
                "topology");
  }
  return Estimator(network, traffic, *flows).run();
}

}  // namespace ww::sim::net
