// The options of `wirewatt simulate`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulate/network_options.hpp"
#include "simulate/statistics_options.hpp"
#include "ww/calibration/calibration.hpp"
#include "ww/sim/net/simulate.hpp"

namespace ww::cli {

struct SimulateArguments {
  const CLI::App* command{};  // whose options these are
  sim::net::Simulation simulation;
  NetworkOptions network;
  std::string traffic{"uniform"};     // a pattern's name
  std::string approximable{"exact"};  // the type of the data in a trace's replies
  std::string estimator{"dsent"};
  std::uint64_t warmup{10000};  // cycles
  std::uint64_t cycles{20000};  // measured
  double clock_hz{1e9};
  double link_mm{1.0};
  std::string model;
  bool anyway{};
  std::shared_ptr<const calibration::Calibration> calibration;  // that of `model`; null without
  std::string card_node;                                        // of the card that was calibrated
  std::string floorplan;
  std::string trace;
  std::string packets;  // a packet trace
  bool open_loop{};
  std::string workload;
  std::string size{"small"};
  std::string device{"virtual:w9100"};
  std::string budget_scope{"all-rings"};
  bool curve{};
  std::string plot;
  bool heatmap{};
  bool compare{};
  bool json{};
  StatisticsOptions statistics;
  // Options that mean nothing to a trace or a workload: its packets are as large as what they
  // carry, and it runs to its end.
  std::vector<CLI::Option*> of_traffic;
  // Options that set how many nodes there are, and which of them are cores and memory.
  std::vector<CLI::Option*> of_size;
};

// `arguments` must live as long as `command`.
void add_simulate_options(CLI::App& command, SimulateArguments& arguments);

// Refuses options that nothing would read: keys of other networks than those chosen, a clock where
// light has one of its own, and a threshold of errors where all data are exact. Error
// invalid_argument, key: the option.
[[nodiscard]] Status refuse_unread_options(const SimulateArguments& arguments);

// The simulation that the options describe, but for the trace. Errors, by key: invalid_argument,
// out_of_range; those of lay_out_chip_crossbar() and charge_links().
[[nodiscard]] Result<sim::net::Simulation> simulation_of(const SimulateArguments& arguments);

}  // namespace ww::cli
