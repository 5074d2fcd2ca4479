// `wirewatt simulate` as a function: from flags to a report with latency, throughput and joules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/config.hpp"
#include "ww/sim/net/replay.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/power/accounting.hpp"

namespace ww::sim::net {

// One field per flag; texts as on the command line. Every field has a usable default.
struct SimulateRequest {
  std::string network{"mesh"};     // --network
  std::string traffic{"uniform"};  // --traffic
  double rate{0.1};                // --rate, flits per node and cycle
  int k{4};                        // --k: width and height in routers
  int height{0};                   // --height, where the mesh is not square; 0: k
  int vcs{4};                      // --vcs
  int vc_buffer{8};                // --vc-buffer, flits per virtual channel
  int packet_size{1};              // --packet-size, flits
  int routing_delay{0};            // --routing-delay, cycles; 0 looks ahead
  std::string allocator{"islip"};  // --allocator, of VCs and of the switch
  std::uint64_t warmup{10000};     // --warmup, cycles
  std::uint64_t cycles{20000};     // --cycles, measured
  std::uint64_t seed{1};           // --seed
  std::filesystem::path model;     // --model: wires as fitted; empty: the estimator's wires
  // Why the model's fit is flagged as a misfit, where it is and is used all the same: every energy
  // of the report then says so.
  std::string misfit;

  int concentration{1};
  int classes{0};  // 0: as many as the traffic needs
  int flit_bits{128};
  bool planes{false};  // --planes: a network for each class
  bool speculative{false};
  bool wait_for_tail_credit{false};
  std::string sw_allocator;  // --sw-allocator: another than the VCs'; empty: the same
  int vc_alloc_delay{NetworkConfig{}.vc_alloc_delay};
  int sw_alloc_delay{NetworkConfig{}.sw_alloc_delay};
  int st_delay{NetworkConfig{}.st_delay};
  int credit_delay{NetworkConfig{}.credit_delay};
  int link_delay{NetworkConfig{}.link_delay};
  int router_delay{NetworkConfig{}.router_delay};              // of mesh-bufferless and ideal
  std::string deflection{"chipper"};                           // of mesh-bufferless
  int reassembly_buffers{NetworkConfig{}.reassembly_buffers};  // packets a node puts together
  std::string adaptive{"dyxy"};  // of mesh-adaptive: --adaptive, dyxy or rca
  int max_outstanding{0};        // 0: open loop (many_to_few), ReplayConfig's (a trace)
  double write_fraction{0};      // of many_to_few: the share of requests that write
  int read_request_flits{1};     // of many_to_few, as the next three
  int read_reply_flits{5};
  int write_request_flits{5};
  int write_reply_flits{1};
  double hot_fraction{0.2};  // of hot_spot: the share that goes to the middle node
  double burst_start{0};     // per cycle; 0, 0: no bursts
  double burst_stop{0};
  std::vector<NodeId> core_nodes;    // --core-nodes, of many_to_few and traces; empty: the others
  std::vector<NodeId> memory_nodes;  // --memory-nodes; empty: a quarter, top and bottom rows

  PhotonicConfig photonic;                    // of prior-opt, gpuopt and ps-gpuopt
  power::PhotonicPowerConfig photonic_power;  // of the same

  // --trace: a .wwt instead of synthetic traffic; rate, packet_size, warmup and cycles then say
  // nothing. Fields as in ReplayConfig.
  std::filesystem::path trace;
  int coalesce_lanes{ReplayConfig{}.coalesce_lanes};
  int line_bytes{ReplayConfig{}.line_bytes};
  int l1_sets{ReplayConfig{}.l1_sets};
  int l1_ways{ReplayConfig{}.l1_ways};
  int interleave_bytes{ReplayConfig{}.interleave_bytes};
  int memory_delay{ReplayConfig{}.memory_delay};  // of many_to_few too

  // dapper and approx-noc; fields as in OverlayConfig and CompressionConfig. dapper always has two
  // classes, and its memory nodes are one a row where none are named.
  std::string approximable{"exact"};       // --approximable: type of the data in a trace's replies
  std::optional<double> approx_threshold;  // --approx-threshold, percent
  OverlayConfig overlay;
  CompressionConfig compression;

  std::string estimator{"dsent"};  // router energies
  double node_nm{22};
  double clock_hz{1e9};  // of networks of light: photonic.core_mhz
  double link_mm{1.0};
  double toggle_rate{0.5};  // transitions per bit of a link per flit; 0.5 is random data
};

// The network that the flags describe; `needed_classes` where they leave the classes open. Errors,
// by key: invalid_argument (an allocator's name), out_of_range (a side of the mesh).
[[nodiscard]] Result<NetworkConfig> network_config(const SimulateRequest& request,
                                                   int needed_classes);

struct SimulateReport {
  SimulateRequest request;
  RunResult run;
  std::optional<ReplayStats> replay;          // of a trace
  power::EnergyReport energy;                 // of the measured cycles
  std::vector<power::Comparison> comparison;  // the same events, every estimator
};

// The contract's keys: avg_packet_latency, avg_network_latency, p99_packet_latency,
// accepted_flits_per_node_cycle, avg_hops, cycles, flit_hops, wall_s, cpu_s, flit_hops_per_cpu_s,
// stable, energy_pj {by component, total}; also the request's network, traffic, rate and seed, and
// toggle_source: "payload" where link transitions were counted, "toggle_rate" where assumed. A
// trace adds requests, l1_hit_rate and `trace` with the counts behind them. With wires of a flagged
// calibration, status "misfit" and its reason, here and beside every estimator's energies.
void to_json(nlohmann::json& json, const SimulateReport& report);

// Errors, by key: invalid_argument, out_of_range, not_found (a flag's value); parse_error, bad_data
// (the model or the trace); bad_data (a network that is stuck).
[[nodiscard]] Result<SimulateReport> simulate(const SimulateRequest& request);

struct CurvePoint {
  double rate{};
  RunResult run;
};
// Latency against load: one run per rate, ascending, on all cores; the same numbers on any number
// of cores. Ends after the first rate at which the network no longer keeps up. Errors as
// simulate().
[[nodiscard]] Result<std::vector<CurvePoint>> curve(const SimulateRequest& request,
                                                    const std::vector<double>& rates);
// 5% to 100% of a flit per node and cycle, finer towards the end.
[[nodiscard]] std::vector<double> default_curve_rates();
[[nodiscard]] nlohmann::json curve_json(const SimulateRequest& request,
                                        const std::vector<CurvePoint>& points);

// Share of the measured cycles in which each directed link carried a flit: {width, height, links:
// [{from, to, use}]}, routers as x + y * width.
[[nodiscard]] nlohmann::json heatmap_json(const SimulateReport& report);
// The same drawn in characters, rows of routers with their links' use in percent (busier of the
// two directions), top row first.
[[nodiscard]] std::string heatmap_text(const SimulateReport& report);

}  // namespace ww::sim::net
