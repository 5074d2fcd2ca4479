#include "simulate/simulate_options.hpp"

#include <fmt/format.h>

#include <vector>

#include "anyway.hpp"
#include "card_node.hpp"
#include "option.hpp"
#include "simulate/calibrated_wires.hpp"
#include "simulate/chip_crossbar.hpp"
#include "simulate/photonic_options.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::cli {
namespace {

constexpr const char* kLoad = "Load";
constexpr const char* kMemory = "Requests and traces";
constexpr const char* kEnergy = "Energy";
constexpr const char* kOutput = "Output";

// Adds options of the load: exactly one of synthetic traffic, a trace and a workload.
void add_load(CLI::App& command, SimulateArguments& arguments) {
  sim::net::TrafficConfig& load = arguments.simulation.run.traffic;
  auto* traffic = add_shown(command, kLoad, "--traffic", arguments.traffic,
                            "uniform, transpose, bit_complement, bit_reverse, shuffle, tornado, "
                            "neighbour, hot_spot, many_to_few");
  auto* trace = command
                    .add_option("--trace", arguments.trace,
                                "Memory trace: .wwt of 'run --trace', or Accel-Sim's .traceg[.xz], "
                                ".tracez, kernelslist.g (--line-bytes 128 --coalesce-lanes 32)")
                    ->group(kLoad);
  auto* workload = command
                       .add_option("--workload", arguments.workload,
                                   "Application of 'workloads list', traced for this run")
                       ->group(kLoad);
  auto* packets = command
                      .add_option("--packet-trace", arguments.packets,
                                  "Packets with their times, as 'wirewatt workloads run "
                                  "--packet-trace' writes them, Netrace's binary format, or a "
                                  "table: CYCLE SOURCE DESTINATION FLITS [AFTER GAP]")
                      ->group(kLoad);
  command
      .add_flag("--open-loop", arguments.open_loop,
                "With --packet-trace: packets at the recorded times, whatever arrives when")
      ->needs(packets)
      ->group(kLoad);
  trace->excludes(traffic)->excludes(workload)->excludes(packets);
  workload->excludes(traffic)->excludes(packets);
  packets->excludes(traffic);
  const std::vector<CLI::Option*> synthetic{
      add_shown(command, kLoad, "--rate", load.rate, "Flits per node and cycle"),
      command
          .add_option("--burst-start", load.burst_start,
                      "Chance per cycle that a burst begins (with --burst-stop; default: "
                      "no bursts)")
          ->group(kLoad),
      command
          .add_option("--burst-stop", load.burst_stop,
                      "Chance per cycle that a burst ends (default: no bursts)")
          ->group(kLoad),
      add_shown(command, kLoad, "--hot-fraction", load.hot_fraction,
                "hot_spot: share of its traffic"),
      add_shown(command, kLoad, "--write-fraction", load.write_fraction,
                "many_to_few: share of requests that write"),
      add_shown(command, kLoad, "--read-request-flits", load.read_request_flits,
                "many_to_few: size of a read request [flits]"),
      add_shown(command, kLoad, "--read-reply-flits", load.read_reply_flits,
                "many_to_few: size of a read's reply [flits]"),
      add_shown(command, kLoad, "--write-request-flits", load.write_request_flits,
                "many_to_few: size of a write request [flits]"),
      add_shown(command, kLoad, "--write-reply-flits", load.write_reply_flits,
                "many_to_few: size of a write's reply [flits]")};
  for (CLI::Option* option : synthetic) {
    trace->excludes(option);
    workload->excludes(option);
    packets->excludes(option);
  }
  arguments.of_traffic = {
      add_shown(command, kLoad, "--packet-size", load.packet_size, "Flits a packet (--traffic)"),
      add_shown(command, kLoad, "--warmup", arguments.warmup,
                "Cycles before measuring (--traffic)"),
      add_shown(command, kLoad, "--cycles", arguments.cycles, "Cycles measured (--traffic)")};
  add_shown(command, kLoad, "--seed", load.seed, "Seed of the traffic");
  add_shown(command, kLoad, "--size", arguments.size,
            "With --workload: its inputs, small, medium, paper or suite")
      ->needs(workload);
  add_shown(command, kLoad, "--device", arguments.device,
            "With --workload: the virtual GPU to trace on")
      ->needs(workload);
}

// many_to_few and traces.
void add_memory(CLI::App& command, SimulateArguments& arguments) {
  sim::net::TrafficConfig& load = arguments.simulation.run.traffic;
  sim::net::ReplayConfig& replay = arguments.simulation.replay;
  add_shown(command, kMemory, "--max-outstanding", load.max_outstanding,
            "Requests a core may have under way (0: open loop for many_to_few, 32 for a trace)");
  add_shown(command, kMemory, "--memory-delay", load.memory_delay,
            "Cycles from a request's arrival to its reply");
  command
      .add_option("--core-nodes", load.core_nodes,
                  "Nodes that send requests, as 0,1,4 (default: all without memory)")
      ->delimiter(',')
      ->group(kMemory);
  command
      .add_option("--memory-nodes", arguments.network.config.memory_nodes,
                  "Nodes that answer them (default: a quarter, on the top and bottom rows)")
      ->delimiter(',')
      ->group(kMemory);
  add_shown(command, kMemory, "--coalesce-lanes", replay.coalesce_lanes,
            "Traces: lanes whose addresses are coalesced together");
  add_shown(command, kMemory, "--line-bytes", replay.line_bytes, "Traces: L1 line");
  add_shown(command, kMemory, "--l1-sets", replay.l1_sets, "Traces: sets of a core's L1");
  add_shown(command, kMemory, "--l1-ways", replay.l1_ways, "Traces: ways of a core's L1");
  add_shown(command, kMemory, "--interleave-bytes", replay.interleave_bytes,
            "Traces: bytes in a row at one memory node");
  add_shown(command, kMemory, "--approximable", arguments.approximable,
            "Traces: data of read replies: exact, int32, float32 or uint8");
}

void add_energy(CLI::App& command, SimulateArguments& arguments) {
  sim::power::EnergyConfig& energy = arguments.simulation.energy;
  command
      .add_option("--model", arguments.model,
                  "A calibration: model.json, crossing.json, or its folder")
      ->group(kEnergy);
  add_anyway_option(command, arguments.anyway)->group(kEnergy);
  add_card_node_option(command, arguments.card_node)->group(kEnergy);
  command
      .add_option(
          "--floorplan", arguments.floorplan,
          "With --network crossbar and --model: lengths from this floorplan (a name or a file; "
          "default: the calibration's)")
      ->group(kEnergy);
  add_shown(command, kEnergy, "--estimator", arguments.estimator,
            "Router energies: dsent, dsent-gem5, orion2, mcpat, mcpat-noc");
  add_shown(command, kEnergy, "--node", energy.node_nm,
            "Technology node of routers and wires, as 7 or 7nm")
      ->transform(kNanometres);
  add_shown(command, kEnergy, "--clock", arguments.clock_hz, "Clock of the routers [Hz]");
  add_shown(command, kEnergy, "--link-mm", arguments.link_mm, "Length of a link");
  add_shown(command, kEnergy, "--toggle-rate", energy.toggle_rate,
            "Transitions per link bit and flit, where they are not counted");
}

void add_output(CLI::App& command, SimulateArguments& arguments) {
  auto* curve =
      command.add_flag("--curve", arguments.curve, "Sweep the rate: latency against load");
  as_svg_file(command.add_option("--plot", arguments.plot, "Write the curves as one picture (SVG)"))
      ->needs(curve)
      ->group(kOutput);
  auto* heatmap = command.add_flag("--heatmap", arguments.heatmap, "Draw how busy each link was");
  auto* compare = command.add_flag("--estimators", arguments.compare,
                                   "What every estimator says, side by side (always in --json)");
  for (CLI::Option* option : {command.get_option("--trace"), command.get_option("--workload"),
                              command.get_option("--packet-trace"), heatmap, compare}) {
    curve->excludes(option);
  }
  for (CLI::Option* option : {curve, heatmap, compare}) option->group(kOutput);
  command.add_flag("--json", arguments.json, "Machine-readable output on stdout")->group(kOutput);
}

}  // namespace

Result<sim::net::Simulation> simulation_of(const SimulateArguments& arguments) {
  sim::net::Simulation simulation = arguments.simulation;
  WW_ASSIGN(network, network_config(arguments.network));
  simulation.network = std::move(network);
  WW_ASSIGN(pattern, sim::net::pattern_from_string(arguments.traffic));
  simulation.run.traffic.pattern = pattern;
  simulation.run.warmup = Cycles{arguments.warmup};
  simulation.run.cycles = Cycles{arguments.cycles};
  WW_ASSIGN(type, sim::net::word_type_from_string(arguments.approximable));
  simulation.replay.approximable = {type, arguments.network.approx_threshold.value_or(10) / 100, 0};
  WW_ASSIGN(estimator, sim::power::estimator_from_string(arguments.estimator));
  simulation.energy.estimator = estimator;
  simulation.energy.clock = Hertz(arguments.clock_hz);
  simulation.energy.link_length = Millimetre(arguments.link_mm);
  WW_ASSIGN(scope, sim::power::budget_scope_from_string(arguments.budget_scope));
  simulation.energy.photonic.scope = scope;
  simulation.packets = arguments.packets;
  simulation.open_loop = arguments.open_loop;
  if (wants_chip_crossbar(arguments)) {
    WW_TRY(lay_out_chip_crossbar(arguments, simulation));
  } else if (arguments.calibration) {
    WW_TRY(charge_links(arguments, simulation));
  }
  return simulation;
}

Status refuse_unread_options(const SimulateArguments& arguments) {
  const auto given = [&](const char* name) {
    return arguments.command->get_option(name)->count() > 0;
  };
  // The choice of --topology and the like is known once the options are a network.
  std::vector<std::string> networks;
  for (const std::string& name : CLI::detail::split(arguments.network.config.network, ',')) {
    NetworkOptions one = arguments.network;
    one.config.network = name.substr(0, name.find(':'));
    WW_ASSIGN(network, network_config(one));
    WW_ASSIGN(kind, sim::net::network_kind(network.network));
    if (kind->clock_hz != nullptr && given("--clock")) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} has clocks of its own, which set that of its routers: --core-mhz",
                              kind->name),
                  "--clock");
    }
    networks.emplace_back(kind->name);
  }
  WW_TRY(refuse_keys_of_others(*arguments.command, networks));
  const bool is_traced = !arguments.trace.empty() || !arguments.workload.empty();
  if (is_traced && given("--approx-threshold") && arguments.approximable == "exact") {
    return fail(ErrorCode::invalid_argument,
                "needs --approximable: without it all data of a trace are exact",
                "--approx-threshold");
  }
  return {};
}

void add_simulate_options(CLI::App& command, SimulateArguments& arguments) {
  arguments.command = &command;
  add_load(command, arguments);
  add_memory(command, arguments);
  add_network_options(command, arguments.network,
                      "with --curve several, as mesh,mesh-adaptive:rca");
  add_energy(command, arguments);
  for (const char* name : {"--trace", "--packet-trace", "--model", "--floorplan", "--topology"}) {
    as_input_file(command.get_option(name));
  }
  for (const char* name :
       {"--k", "--height", "--concentration", "--core-nodes", "--memory-nodes"}) {
    arguments.of_size.push_back(command.get_option(name));
  }
  add_photonic_power_options(command, arguments.simulation.energy.photonic, arguments.budget_scope);
  add_output(command, arguments);
  add_statistics_options(command, arguments.statistics);
  command.footer(
      "What drives the network: --traffic (default), --trace, --workload or --packet-trace.\n"
      "Examples:\n"
      "  wirewatt simulate --network mesh --traffic uniform --k 4 --rate 0.3 --precision 1\n"
      "  wirewatt simulate --network mesh,mesh-adaptive:rca --traffic transpose --curve --plot "
      "curve.svg\n"
      "  wirewatt simulate --network mesh --workload dct --model model.json --heatmap\n"
      "  wirewatt simulate --network dapper --flit-bits 64 --workload dct --approximable float32\n"
      "  wirewatt simulate --network mesh --trace out.wwt --k 8 --memory-nodes 0,7,56,63\n"
      "  wirewatt simulate --network dapper --flit-bits 64 --packet-trace dct.packets --open-loop\n"
      "  wirewatt simulate --network ps-gpuopt --traffic many_to_few --flit-bits 256 --rate 0.1");
}

}  // namespace ww::cli
