// The options of `wirewatt simulate`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ww/sim/net/simulate.hpp"

namespace ww::cli {

struct SimulateArguments {
  sim::net::SimulateRequest request;
  std::string model;
  bool anyway{};
  std::string trace;
  std::string workload;
  std::string size{"small"};
  std::string device{"virtual:w9100"};
  std::string budget_scope{"all-rings"};
  bool curve{};
  std::string plot;
  bool heatmap{};
  bool compare{};
  bool json{};
  // Options that mean nothing to a trace or a workload: its packets are as large as what they
  // carry, and it runs to its end.
  std::vector<CLI::Option*> of_traffic;
};

// `arguments` must live as long as `command`.
void add_simulate_options(CLI::App& command, SimulateArguments& arguments);

// The network itself and its routers, for other commands too. `request` must live as long as
// `command`.
void add_network_options(CLI::App& command, sim::net::SimulateRequest& request);

}  // namespace ww::cli
