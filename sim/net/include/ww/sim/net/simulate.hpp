// A network under a load, as a function: a report with latency, throughput and joules.
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
#include "ww/sim/power/router_area.hpp"

namespace ww::sim::net {

// Every field has a usable default: uniform traffic on a mesh of 4 x 4.
struct Simulation {
  Simulation();

  // classes 0: as many as the load needs. memory_nodes also answer the requests of many_to_few and
  // of traces; empty: the network's own places, else a quarter, on the top and bottom rows.
  NetworkConfig network;
  // Synthetic traffic. core_nodes, memory_delay, max_outstanding (0: ReplayConfig's) and seed are
  // those of a trace, too; memory_nodes are the network's.
  RunConfig run;
  // A .wwt instead of synthetic traffic, to its end; empty: none.
  std::filesystem::path trace;
  ReplayConfig replay;
  // A packet trace (packet_trace.hpp) instead of either, to its end; empty: none. open_loop: at the
  // recorded times, whatever arrives when.
  std::filesystem::path packets;
  bool open_loop{};
  // The router's size is the network's, and so is the clock of a network that has one of its own.
  // Its `crossing` needs a network with links between the sides of an L2 (error unsupported), and
  // its `chip_wires` one with NodeDistances.
  power::EnergyConfig energy;
  // Why the fit of the wires' calibration is flagged as a misfit, where it is and is used all the
  // same: every energy of the report then says so.
  std::string misfit;
};

// The network of a simulation, with as many classes as it needs. Error not_found: its name.
[[nodiscard]] Result<NetworkConfig> network_of(const Simulation& simulation);

struct SimulateReport {
  Simulation simulation;
  RunResult run;
  std::optional<ReplayStats> replay;  // of a trace
  std::string packets_from;           // the device that recorded the packet trace
  bool of_virtual_packets{};
  power::EnergyReport energy;                 // of the measured cycles
  std::vector<power::Comparison> comparison;  // of these events, every estimator
  power::NetworkArea area;                    // DSENT's, whatever the estimator
};

// The contract's keys: avg_packet_latency, avg_network_latency, p99_packet_latency,
// accepted_flits_per_node_cycle, avg_hops, cycles, flit_hops, wall_s, cpu_s, flit_hops_per_cpu_s,
// stable, energy_pj {by component, total; of measured_cycles, which `cycles` holds beside warm-up
// and drain}; also the network, traffic, rate and seed, and avg_packet_latency_interval (95%, from
// batches of the run; synthetic traffic), and area (power::NetworkArea's), and virtual
// (is_virtual()), and toggle_source: "payload" where link transitions were counted, "toggle_rate"
// where assumed. A trace adds requests, l1_hit_rate and `trace` with the counts behind them. With
// wires of a flagged calibration, status "misfit" and its reason, here and beside every estimator's
// energies.
void to_json(nlohmann::json& json, const SimulateReport& report);

// Whether a virtual GPU made something that the figures rest on: the trace, or the calibration that
// wires or crossings are charged by.
[[nodiscard]] bool is_virtual(const SimulateReport& report);

// Errors, by key: invalid_argument, out_of_range, not_found (a setting); parse_error, bad_data
// (the model or the trace); bad_data (a network that is stuck); unsupported (packet_trace: a packet
// between nodes that the chip has no wires between).
[[nodiscard]] Result<SimulateReport> simulate(const Simulation& simulation);

// The energy of the measured cycles over the flits that arrived in them.
[[nodiscard]] double energy_pj_per_flit(const RunResult& run, const power::EnergyReport& energy);

struct CurvePoint {
  double rate{};
  RunResult run;
  power::EnergyReport energy;  // of the measured cycles
};
// Latency against load: one run per rate, ascending, on all cores; the same numbers on any number
// of cores. Ends after the first rate at which the network no longer keeps up. Errors as
// simulate().
[[nodiscard]] Result<std::vector<CurvePoint>> curve(const Simulation& simulation,
                                                    const std::vector<double>& rates);
// 5% to 100% of a flit per node and cycle, finer towards the end, as far as the traffic's bursts
// reach.
[[nodiscard]] std::vector<double> default_curve_rates(const TrafficConfig& traffic);
// {network, virtual, traffic, points: [{rate, latencies, energy_pj, ...}]}, keys as of a report.
[[nodiscard]] nlohmann::json curve_json(const Simulation& simulation,
                                        const std::vector<CurvePoint>& points);

// Share of the measured cycles in which each directed link carried a flit: {width, height, links:
// [{from, to, use}]}, routers as x + y * width.
[[nodiscard]] nlohmann::json heatmap_json(const SimulateReport& report);
// Draws the heat map in characters, rows of routers with their links' use in percent (busier of the
// two directions), top row first.
[[nodiscard]] std::string heatmap_text(const SimulateReport& report);

}  // namespace ww::sim::net
