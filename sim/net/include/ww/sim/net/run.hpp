// A measured run: it warms up, measures and drains, and reports whether the network kept up.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"
#include "ww/sim/net/traffic.hpp"

namespace ww::sim::net {

struct RunConfig {
  TrafficConfig traffic;
  Cycles warmup{10000};
  Cycles cycles{20000};  // measured: packets created in these cycles are followed to their end
  // Is called every few thousand cycles with those that were simulated and those until the end of
  // the measurement; null: nobody watches.
  std::function<void(Cycles done, Cycles total)> on_progress;
};

// Results of a run. Latencies [cycles] are over packets that were created in the measured cycles
// and delivered. Traffic continues while they drain, for at most 10 x (warmup + cycles) more.
struct RunResult {
  double avg_packet_latency{};   // creation to arrival of the tail
  double avg_network_latency{};  // head leaves the source queue to arrival of the tail
  double p99_packet_latency{};
  double max_packet_latency{};
  // Mean packet latencies of equal parts of the measured cycles, by when packets were created;
  // parts without a packet are left out. statistics.hpp makes an interval of them.
  std::vector<double> batch_latency;
  double avg_hops{};                       // routers per packet
  double offered_flits_per_node_cycle{};   // in the measured cycles
  double accepted_flits_per_node_cycle{};  // in the measured cycles
  std::uint64_t packets{};                 // measured and delivered
  std::uint64_t undelivered{};             // measured and still inside when the drain was given up
  Cycles cycles{};                         // simulated in all
  std::uint64_t flit_hops{};               // in all; every router counts, bypass routers too
  double wall_s{};
  double cpu_s{};               // of the calling thread
  bool stable{};                // the backlog did not grow and all measured packets arrived
  power::NetworkEvents window;  // events of the measured cycles
  std::vector<LinkUse> links;   // use in the measured cycles

  // Speed of the simulation; 0 where the run took no processor time that could be measured.
  [[nodiscard]] double flit_hops_per_cpu_s() const {
    return cpu_s > 0 ? static_cast<double>(flit_hops) / cpu_s : 0.0;
  }
};

// Errors: those of validate(traffic, network); bad_data when the network is stuck (deadlock);
// cancelled (Ctrl-C).
[[nodiscard]] Result<RunResult> run(Network& network, const RunConfig& config);

}  // namespace ww::sim::net
