// GPUOPT (Bashir and Sarangi): its ten applications on its networks, and its figures beside ours.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "own_network/own_network.hpp"
#include "reproduction/reproduction.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/net/i_network.hpp"
#include "ww/sim/net/photonic_config.hpp"

namespace ww::study::gpuopt {

// Result of one application on one network.
struct GpuoptRun {
  double cycles{};         // of the cores
  double network_pj{};     // lasers included
  double laser_pj{};       // 0: electrical
  double wait_cycles{};    // a message, in its station
  double lit_units{};      // data units, over time
  double busy_stations{};  // over time: what an ideal scheme would light
  double messages{}, c_messages{};
  double packets{}, coherence_packets{};  // of all kinds; invalidations and recalls
  double l1_accesses{}, requests{};       // lines asked for, and packets that ask the L2
  double flits{}, reply_flits{};          // of all packets, of those from L2 to L1
  double reply_latency{};                 // of packets
  double load{};                          // flits a node and cycle
  double failed_attempts{};               // for a token, a message
  std::vector<double> epochs_by_lit;      // epochs by the number of lit units
  std::vector<double> epochs_by_held;     // and by the number that stations held
  double cpu_s{};
};

struct GpuoptOptions {
  std::string out;
  std::string size;
  bool quick{};  // the variants of --quick alone
  unsigned at_once{2};
  std::string build;  // of this program
};

struct GpuoptStudy {
  bool quick{};  // then rows of what was left out on purpose are left out, too
  // [application][variant]; what is not there was not run
  std::map<std::string, std::map<std::string, GpuoptRun>> runs;
  std::map<std::string, std::string> failures;  // [application]
  std::set<std::string> builds;                 // of this program, that made the runs
};

// The ten applications of the paper, in its order.
[[nodiscard]] std::vector<std::string> gpuopt_applications();

// The network of a variant and where its nodes lie.
struct GpuoptSystem {
  sim::net::NetworkConfig network;
  std::vector<sim::net::NodeId> core_nodes;
  double node_nm{16};
  double link_mm{6.12};  // the pitch of 16 tiles on 600 mm2
};

// A network of the study, and what of timing mode it changes.
struct GpuoptVariant {
  std::string name;
  std::string text;  // for reports
  GpuoptSystem system;
  int l2_cycles_more{};
  int cus_in_use{};                            // as in TimingConfig: SMs of a cluster; 0: all
  int request_cycles{};                        // as in TimingConfig
  int request_flit_bits{}, reply_flit_bits{};  // as in TimingConfig
  int line_bytes{64};                          // as in TimingConfig
  // L1 policy. The paper's L1s are coherent; lines of 128 bytes are simulated without.
  std::string l1_policy{"coherent"};
  std::string against{"gpuopt"};  // of a reading of PS_GPUOPT: GPUOPT by the same reading
  bool quick{};                   // among the runs of --quick
};
// GPUOPT's system (table 2) with each network; `quick` has those of the paper's headlines alone.
[[nodiscard]] std::vector<GpuoptVariant> gpuopt_variants(bool quick);

// The chip and the system around it in which a variant runs.
struct GpuoptPlatform {
  sim::gpu::Architecture chip;
  sim::gpu::TimingConfig timing;
};
// Errors: those of chip_architecture(); those of validate(), which name the key.
[[nodiscard]] Result<GpuoptPlatform> gpuopt_platform(const std::string& chip,
                                                     const GpuoptVariant& variant);

// Runs every application on every network on virtual:gpuopt, in processes of their own; results
// stay under out/runs and are used again. `done(name, finished, of)` is called after each. Errors:
// those that concern all runs; an application that fails is in `failures`.
[[nodiscard]] Result<GpuoptStudy> run_gpuopt_study(
    const GpuoptOptions& options,
    const std::function<void(const std::string&, double, double)>& done);

// Tables 2 and 3: each entry is read from the platform of EMESH.
void add_gpuopt_platform(Reproduction& out, const GpuoptPlatform& platform);
void add_gpuopt_rows(Reproduction& out, const GpuoptStudy& study);
// The paper's headlines, from rows that are there already.
void add_gpuopt_summary(Reproduction& out);
// The paper's networks as `simulate` replays its applications on them.
[[nodiscard]] OwnNetworkStudy own_network_study();
// Lists where the paper contradicts itself.
[[nodiscard]] std::vector<std::string> gpuopt_inconsistencies();
[[nodiscard]] nlohmann::json to_json(const GpuoptRun& run);

}  // namespace ww::study::gpuopt
