#include "simulate/simulate_options.hpp"

#include <vector>

#include "anyway.hpp"
#include "option.hpp"
#include "simulate/photonic_options.hpp"

namespace ww::cli {
namespace {

using sim::net::SimulateRequest;

constexpr const char* kLoad = "Load";
constexpr const char* kMemory = "Requests and traces";
constexpr const char* kNetwork = "Network";
constexpr const char* kRouter = "Routers";
constexpr const char* kApproximation = "dapper and approx-noc";
constexpr const char* kEnergy = "Energy";
constexpr const char* kOutput = "Output";

// Of counts: the library would wrap them round.
std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? text + " is below 0" : std::string();
}

// What drives the network: exactly one of synthetic traffic, a trace and a workload.
void add_load(CLI::App& command, SimulateArguments& arguments) {
  SimulateRequest& request = arguments.request;
  auto* traffic = add_shown(command, kLoad, "--traffic", request.traffic,
                            "uniform, transpose, bit_complement, bit_reverse, shuffle, tornado, "
                            "neighbour, hot_spot, many_to_few");
  auto* trace =
      command
          .add_option(
              "--trace", arguments.trace,
              "Memory trace: .wwt, as 'wirewatt run --trace' writes it, or Accel-Sim's .traceg "
              "or kernelslist.g (lines of NVIDIA's: --line-bytes 128 "
              "--coalesce-lanes 32)")
          ->group(kLoad);
  auto* workload = command
                       .add_option("--workload", arguments.workload,
                                   "Application of 'workloads list', traced for this run")
                       ->group(kLoad);
  trace->excludes(traffic)->excludes(workload);
  workload->excludes(traffic);
  const std::vector<CLI::Option*> synthetic{
      add_shown(command, kLoad, "--rate", request.rate, "Flits per node and cycle"),
      command
          .add_option("--burst-start", request.burst_start,
                      "Chance per cycle that a burst begins (with --burst-stop; default: "
                      "no bursts)")
          ->group(kLoad),
      command
          .add_option("--burst-stop", request.burst_stop,
                      "Chance per cycle that a burst ends (default: no bursts)")
          ->group(kLoad),
      add_shown(command, kLoad, "--hot-fraction", request.hot_fraction,
                "hot_spot: share of its traffic"),
      add_shown(command, kLoad, "--write-fraction", request.write_fraction,
                "many_to_few: share of requests that write"),
      add_shown(command, kLoad, "--read-request-flits", request.read_request_flits, "many_to_few"),
      add_shown(command, kLoad, "--read-reply-flits", request.read_reply_flits, "many_to_few"),
      add_shown(command, kLoad, "--write-request-flits", request.write_request_flits,
                "many_to_few"),
      add_shown(command, kLoad, "--write-reply-flits", request.write_reply_flits, "many_to_few")};
  for (CLI::Option* option : synthetic) {
    trace->excludes(option);
    workload->excludes(option);
  }
  arguments.of_traffic = {
      add_shown(command, kLoad, "--packet-size", request.packet_size, "Flits a packet (--traffic)"),
      add_shown(command, kLoad, "--warmup", request.warmup, "Cycles before measuring (--traffic)")
          ->check(not_negative),
      add_shown(command, kLoad, "--cycles", request.cycles, "Cycles measured (--traffic)")
          ->check(not_negative)};
  add_shown(command, kLoad, "--seed", request.seed, "Seed of the traffic")->check(not_negative);
  add_shown(command, kLoad, "--size", arguments.size, "With --workload: small, medium or paper")
      ->needs(workload);
  add_shown(command, kLoad, "--device", arguments.device,
            "With --workload: the virtual GPU to trace on")
      ->needs(workload);
}

// many_to_few and traces.
void add_memory(CLI::App& command, SimulateRequest& request) {
  add_shown(command, kMemory, "--max-outstanding", request.max_outstanding,
            "Requests a core may have under way (0: open loop for many_to_few, 32 for a trace)");
  add_shown(command, kMemory, "--memory-delay", request.memory_delay,
            "Cycles from a request's arrival to its reply");
  command
      .add_option("--core-nodes", request.core_nodes,
                  "Nodes that send requests, as 0,1,4 (default: all without memory)")
      ->delimiter(',')
      ->group(kMemory);
  command
      .add_option("--memory-nodes", request.memory_nodes,
                  "Nodes that answer them (default: a quarter, on the top and bottom rows)")
      ->delimiter(',')
      ->group(kMemory);
  add_shown(command, kMemory, "--coalesce-lanes", request.coalesce_lanes,
            "Traces: lanes whose addresses are coalesced together");
  add_shown(command, kMemory, "--line-bytes", request.line_bytes, "Traces: L1 line");
  add_shown(command, kMemory, "--l1-sets", request.l1_sets, "Traces: sets of a core's L1");
  add_shown(command, kMemory, "--l1-ways", request.l1_ways, "Traces: ways of a core's L1");
  add_shown(command, kMemory, "--interleave-bytes", request.interleave_bytes,
            "Traces: bytes in a row at one memory node");
  add_shown(command, kMemory, "--approximable", request.approximable,
            "Traces: data of read replies: exact, int32, float32 or uint8");
}

void add_network(CLI::App& command, SimulateRequest& request) {
  add_shown(
      command, kNetwork, "--network", request.network,
      "ideal, mesh, mesh-adaptive, mesh-bufferless, mesh-priority, dapper, approx-noc, prior-opt, "
      "gpuopt or ps-gpuopt; with --curve several, as mesh,mesh-adaptive:rca");
  add_shown(command, kNetwork, "--k", request.k, "Routers a row");
  add_shown(command, kNetwork, "--height", request.height, "Routers a column (0: as --k)");
  add_shown(command, kNetwork, "--concentration", request.concentration, "Nodes a router");
  add_shown(command, kNetwork, "--classes", request.classes,
            "Message classes, each with VCs of its own (0: as many as the load needs)");
  command.add_flag("--planes", request.planes, "A network for each class instead")->group(kNetwork);
  add_shown(command, kNetwork, "--flit-bits", request.flit_bits, "Width of a flit");
  add_shown(command, kNetwork, "--adaptive", request.adaptive,
            "mesh-adaptive: dyxy (congestion here) or rca (and further along)");
  add_shown(command, kNetwork, "--deflection", request.deflection,
            "mesh-bufferless: chipper or bless");
  add_shown(command, kNetwork, "--reassembly-buffers", request.reassembly_buffers,
            "mesh-bufferless: packets a node puts together at a time");
}

// dapper and approx-noc.
void add_approximation(CLI::App& command, SimulateRequest& request) {
  sim::net::OverlayConfig& overlay = request.overlay;
  sim::net::CompressionConfig& codes = request.compression;
  command
      .add_option("--approx-threshold", request.approx_threshold,
                  "Relative error that an approximable word may get, in percent (default: what the "
                  "program says, or 10)")
      ->group(kApproximation);
  add_shown(command, kApproximation, "--check-depth", overlay.check_depth,
            "dapper: packets that may leave as one");
  add_shown(command, kApproximation, "--alpha", overlay.alpha, "dapper: weight of the reply rate");
  add_shown(command, kApproximation, "--gamma", overlay.gamma, "dapper: weight of the buffers");
  add_shown(command, kApproximation, "--period", overlay.period,
            "dapper: cycles in which each controller has its window once (K)");
  add_shown(command, kApproximation, "--epoch", overlay.epoch,
            "dapper: cycles between new windows");
  add_shown(command, kApproximation, "--min-window", overlay.min_window,
            "dapper: cycles that a controller gets at least");
  command
      .add_flag("--literal-approximator", overlay.literal_approximator,
                "dapper: algorithm 1 as printed")
      ->group(kApproximation);
  command
      .add_flag("--literal-selection", overlay.literal_selection, "dapper: algorithm 3 as printed")
      ->group(kApproximation);
  add_shown(command, kApproximation, "--scheme", codes.scheme,
            "approx-noc: di (dictionaries) or fp (frequent patterns)");
  command
      .add_flag("--exact-range", codes.exact_range,
                "approx-noc: error range by a product, not by a right shift")
      ->group(kApproximation);
  command
      .add_flag("--bytes-as-words", codes.bytes_as_words, "approx-noc: four pixels as one integer")
      ->group(kApproximation);
}

void add_router(CLI::App& command, SimulateRequest& request) {
  add_shown(command, kRouter, "--vcs", request.vcs, "Virtual channels a port");
  add_shown(command, kRouter, "--vc-buffer", request.vc_buffer, "Flits a virtual channel holds");
  add_shown(command, kRouter, "--allocator", request.allocator, "islip or separable_input_first");
  command
      .add_option("--sw-allocator", request.sw_allocator,
                  "The switch's, where it is not the channels'")
      ->group(kRouter);
  add_shown(command, kRouter, "--routing-delay", request.routing_delay, "Cycles (0 looks ahead)");
  add_shown(command, kRouter, "--vc-alloc-delay", request.vc_alloc_delay, "Cycles");
  add_shown(command, kRouter, "--sw-alloc-delay", request.sw_alloc_delay, "Cycles");
  add_shown(command, kRouter, "--st-delay", request.st_delay, "Cycles of switch traversal");
  add_shown(command, kRouter, "--credit-delay", request.credit_delay, "Cycles to take a credit in");
  add_shown(command, kRouter, "--link-delay", request.link_delay, "Cycles");
  add_shown(command, kRouter, "--router-delay", request.router_delay,
            "Cycles in a router of mesh-bufferless or ideal");
  command.add_flag("--speculative", request.speculative, "Switch before the channel is sure")
      ->group(kRouter);
  command
      .add_flag("--wait-for-tail-credit", request.wait_for_tail_credit,
                "A channel is free once its last flit has left downstream")
      ->group(kRouter);
}

void add_energy(CLI::App& command, SimulateArguments& arguments) {
  SimulateRequest& request = arguments.request;
  command
      .add_option("--model", arguments.model,
                  "model.json or its folder: wires as fitted on a device")
      ->group(kEnergy);
  add_anyway_option(command, arguments.anyway)->group(kEnergy);
  add_shown(command, kEnergy, "--estimator", request.estimator,
            "Router energies: dsent, dsent-gem5, orion2, mcpat, mcpat-noc");
  add_shown(command, kEnergy, "--node-nm", request.node_nm, "Technology node of the routers");
  add_shown(command, kEnergy, "--clock-hz", request.clock_hz, "Clock of the routers");
  add_shown(command, kEnergy, "--link-mm", request.link_mm, "Length of a link");
  add_shown(command, kEnergy, "--toggle-rate", request.toggle_rate,
            "Transitions per link bit and flit, where they are not counted");
}

void add_output(CLI::App& command, SimulateArguments& arguments) {
  auto* curve =
      command.add_flag("--curve", arguments.curve, "Sweep the rate: latency against load");
  command.add_option("--plot", arguments.plot, "Write the curves as one picture (SVG)")
      ->needs(curve)
      ->group(kOutput);
  auto* heatmap = command.add_flag("--heatmap", arguments.heatmap, "Draw how busy each link was");
  auto* compare = command.add_flag("--compare", arguments.compare,
                                   "What every estimator says, side by side (always in --json)");
  for (CLI::Option* option :
       {command.get_option("--trace"), command.get_option("--workload"), heatmap, compare}) {
    curve->excludes(option);
  }
  for (CLI::Option* option : {curve, heatmap, compare}) option->group(kOutput);
  command.add_flag("--json", arguments.json, "Machine-readable output on stdout")->group(kOutput);
}

}  // namespace

void add_network_options(CLI::App& command, SimulateRequest& request) {
  add_network(command, request);
  add_router(command, request);
  add_approximation(command, request);
  add_photonic_options(command, request.photonic);
}

void add_simulate_options(CLI::App& command, SimulateArguments& arguments) {
  add_load(command, arguments);
  add_memory(command, arguments.request);
  add_network_options(command, arguments.request);
  add_energy(command, arguments);
  add_photonic_power_options(command, arguments.request.photonic_power, arguments.budget_scope);
  add_output(command, arguments);
  command.footer(
      "What drives the network: --traffic (default), --trace or --workload.\n"
      "Examples:\n"
      "  wirewatt simulate --network mesh --traffic uniform --k 4 --rate 0.3\n"
      "  wirewatt simulate --network mesh,mesh-adaptive:rca --traffic transpose --curve --plot "
      "curve.svg\n"
      "  wirewatt simulate --network mesh --workload dct --model model.json --heatmap\n"
      "  wirewatt simulate --network dapper --flit-bits 64 --workload dct --approximable float32\n"
      "  wirewatt simulate --network mesh --trace out.wwt --k 8 --memory-nodes 0,7,56,63\n"
      "  wirewatt simulate --network ps-gpuopt --traffic many_to_few --flit-bits 256 --rate 0.1");
}

}  // namespace ww::cli
