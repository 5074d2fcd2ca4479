// The network that a measured GPU has, beside those that a paper compares with: savings are often
// quoted against a mesh, which no GPU has. The chip is a calibrated virtual W9100, whose own
// network is a crossbar with the lengths of its floorplan and the energy that the calibration
// found. Its figures are virtual.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reproduction/reproduction.hpp"
#include "ww/core/result.hpp"

namespace ww::study {

// Energy of a random bit per millimetre [fJ], as the calibration found it, with its 95% interval.
struct WirePrice {
  double value{};
  double low{};
  double high{};
};

// One application replayed on one network.
struct OwnNetworkRun {
  double cycles{};
  // Energy of the network [pJ], and of it the wires that the calibration prices, with what they are
  // at the ends of its 95% interval. Every network pays the same for a transition: wires are not
  // priced here as `simulate` does, which also charges bits that do not change.
  double total_pj{};
  double wires_pj{};
  double wires_low_pj{};
  double wires_high_pj{};
};

// A network of a paper, with the options of `simulate` that make it the paper's.
struct PaperNetwork {
  std::string name;
  std::string text;  // for reports
  std::vector<std::string> options{};
  // The paper's claim relative to its own mesh, in the units of the rows; null: none.
  nlohmann::json claim_energy = nullptr;
  nlohmann::json claim_time = nullptr;
};

struct OwnNetworkStudy {
  std::vector<std::string> applications;
  std::vector<PaperNetwork> networks;
  // Options of `simulate` for the routers of the paper's own mesh. The mesh and the crossbar have
  // these routers.
  std::vector<std::string> routers;
  // The mesh: rows and columns of routers, and those that have the channels of the L2, as many
  // each. Compute units lie at the others.
  int rows{};
  int columns{};
  int nodes_of_router{1};
  std::vector<int> channel_routers;
  std::map<std::string, std::map<std::string, OwnNetworkRun>> runs;  // [application][network]
};

inline constexpr const char* kPlainMesh = "mesh";
inline constexpr const char* kOwnCrossbar = "crossbar";

// Reads a report of `simulate --json`, with the calibration's price of wires. Error bad_data if it
// has no cycles or no energy.
[[nodiscard]] Result<OwnNetworkRun> own_network_run(const nlohmann::json& report,
                                                    const WirePrice& price);

// Replays each application of `study` on the paper's networks, a mesh of the chip's nodes and the
// chip's own crossbar, and fills in the rest of it. `model` is the model.json of the W9100's
// calibration. done(name, runs finished, runs in all) is called after each run.
// Errors: those of the model and its floorplan, of the runs, cancelled.
[[nodiscard]] Status run_own_network(
    OwnNetworkStudy& study, const std::string& model, const std::string& size,
    const std::function<void(const std::string&, double, double)>& done);

// Adds for each of the paper's networks energy and time over those of the mesh and of the crossbar;
// and the crossbar's over the mesh's.
void add_own_network_rows(Reproduction& out, const OwnNetworkStudy& study);

}  // namespace ww::study
