// GPUOPT (Bashir and Sarangi): its ten applications on its networks, and its figures beside ours.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reproduce_rows.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/net/simulate.hpp"

namespace ww::cli {

// What one application did on one network.
struct GpuoptRun {
  double cycles{};
  double network_pj{};  // lasers included
  double laser_pj{};
  double wait_cycles{};    // a message, in its station
  double lit_units{};      // data units, over time
  double busy_stations{};  // over time: what an ideal scheme would light
  double unit_w{};         // of the lasers of a unit
  double overhead_units{};
  double messages{}, c_messages{};
  double reads{}, writes{}, atomics{};  // requests
  double l1_accesses{};
  double flits{};        // of all packets
  double reply_flits{};  // of these, from L2 to L1
  double packets_per_cpu_s{};
};

struct GpuoptOptions {
  std::string out;
  std::string size;
  bool quick{};  // no design space
};

struct GpuoptStudy {
  std::vector<std::string> applications;
  // [application][variant]; a variant that is not there was not run
  std::map<std::string, std::map<std::string, GpuoptRun>> runs;
  std::map<std::string, std::string> failures;  // [application]
};

// The ten applications of the paper, in its order.
[[nodiscard]] std::vector<std::string> gpuopt_applications();

// A network of the study: its name there, and how `wirewatt simulate` builds it.
struct GpuoptVariant {
  std::string name;
  std::string text;  // for reports
  sim::net::SimulateRequest request;
};
// GPUOPT's system (table 2) with each network; `quick` leaves the design space out.
[[nodiscard]] std::vector<GpuoptVariant> gpuopt_variants(bool quick);

// Traces every application once and replays it on every network, two at a time; results stay under
// out/runs and are used again. `done(name, so many, of)` is told after each. Errors: those of
// traces and networks that concern all of them; an application that fails is in `failures`.
[[nodiscard]] Result<GpuoptStudy> run_gpuopt_study(
    const GpuoptOptions& options,
    const std::function<void(const std::string&, double, double)>& done);

void add_gpuopt_rows(Reproduction& out, const GpuoptStudy& study);
// Where the paper contradicts itself.
[[nodiscard]] std::vector<std::string> gpuopt_inconsistencies();
[[nodiscard]] nlohmann::json to_json(const GpuoptRun& run);

}  // namespace ww::cli
