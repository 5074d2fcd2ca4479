// Latency and throughput of a network without simulating it: a first pass that takes 10 us for a
// 4x4 mesh and a millisecond for a table of 64 routers.
//
// Flows of packets are followed over their routes, which gives the load of every channel and the
// latency of a packet that is alone. Waiting is added channel by channel: a packet waits for those
// of other inputs that want the same output, as in a queue with fixed service (M/D/1, of which a
// share 1 - sum(load_i^2)/load^2 is work of others; Dally and Towles 2004, ch. 23), and in its
// source queue for those before it (Geo/D/1).
//
// The bounds are what 500 random configurations of the cycle-level engine respect (estimate_test);
// docs/networks.md has the distribution of the error.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ww/core/result.hpp"
#include "ww/sim/net/config.hpp"
#include "ww/sim/net/traffic.hpp"

namespace ww::sim::net {

struct LatencyEstimate {
  double zero_load_latency{};  // mean of packets that are alone [cycles]: exact
  double packet_latency{};     // mean, creation to arrival of the tail [cycles]
  // The engine's mean lies within where `bounded`, which is where busiest_link and busiest_vcs are
  // at most 0.45: from 0.95 zero_load_latency to (1.2 + 0.8 of the greater of both) packet_latency.
  // Elsewhere only `low` holds.
  double low{};
  double high{};
  bool bounded{};
  double avg_hops{};      // routers; exact
  double busiest_link{};  // load of the busiest channel, or of a node that sends [flits a cycle]
  double busiest_vcs{};   // share of the VCs of a channel that packets hold, where it is greatest
  // Offered rate [flits a node and cycle] at which the busiest channel is full: none carries more.
  double full_rate{};
};
// {avg_packet_latency, low, high, bounded, zero_load_latency, avg_hops, busiest_link,
// busiest_vcs, full_rate}.
void to_json(nlohmann::json& json, const LatencyEstimate& estimate);

// Errors: unsupported where ways are not fixed beforehand (adaptive, bufferless, light, ...), or
// traffic is neither uniform nor a permutation, or comes in bursts; what validate() of network and
// traffic says.
[[nodiscard]] Result<LatencyEstimate> estimate_latency(const NetworkConfig& network,
                                                       const TrafficConfig& traffic);

}  // namespace ww::sim::net
