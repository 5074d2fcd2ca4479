#include "ww/sim/net/simulate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "output.hpp"
#include "workload_trace.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/sim/net/curve_plot.hpp"

namespace ww::cli {
namespace {

struct SimulateArguments {
  sim::net::SimulateRequest request;
  std::string model;
  std::string trace;
  std::string workload;
  std::string size{"small"};
  std::string device{"virtual:w9100"};
  bool curve{};
  std::string plot;
  bool heatmap{};
  bool json{};
};

std::string load_text(const SimulateArguments& arguments) {
  if (!arguments.workload.empty()) {
    return fmt::format("workload {} ({}, traced on {})", arguments.workload, arguments.size,
                       arguments.device);
  }
  if (!arguments.trace.empty()) return "trace " + arguments.trace;
  return fmt::format("{} traffic at {:.3g} flits/node/cycle", arguments.request.traffic,
                     arguments.request.rate);
}

std::vector<std::vector<std::string>> replay_rows(const sim::net::SimulateReport& report) {
  const auto& stats = *report.replay;
  return {
      {"cycles", std::to_string(report.run.cycles.value())},
      {"requests", fmt::format("{} ({} reads, {} writes, {} atomics)", stats.requests(),
                               stats.read_requests, stats.write_requests, stats.atomic_requests)},
      {"L1 hit rate",
       fmt::format("{:.2f}% of {} loads", 100 * stats.l1_hit_rate(), stats.l1_loads)},
      {"round trip", fmt::format("{:.2f} cycles", stats.avg_round_trip)}};
}

void print_report(const SimulateArguments& arguments, const sim::net::SimulateReport& report) {
  const auto& run = report.run;
  fmt::print("{} with {}{}\n", report.request.network, load_text(arguments),
             run.stable ? "" : ": UNSTABLE, the network does not keep up");
  std::vector<std::vector<std::string>> rows{
      {"packet latency",
       fmt::format("{:.2f} cycles (p99 {:.0f})", run.avg_packet_latency, run.p99_packet_latency)},
      {"network latency", fmt::format("{:.2f} cycles", run.avg_network_latency)},
      {"accepted", fmt::format("{:.4f} flits/node/cycle", run.accepted_flits_per_node_cycle)},
      {"hops", fmt::format("{:.3f} routers", run.avg_hops)},
      {"speed",
       fmt::format("{:.3g} million flit-hops a CPU second",
                   run.cpu_s > 0 ? static_cast<double>(run.flit_hops) / run.cpu_s * 1e-6 : 0.0)}};
  if (report.replay) {
    for (auto& row : replay_rows(report)) rows.push_back(std::move(row));
  }
  print_table(rows);
  const nlohmann::json json = report;
  fmt::print("energy of the measured cycles, estimator {}, link transitions {}\n",
             report.request.estimator,
             run.window.toggles_counted
                 ? "counted on the payload"
                 : fmt::format("assumed ({:.3g} a bit)", report.request.toggle_rate));
  rows.clear();
  for (const auto& [part, energy] : json.at("energy_pj").items()) {
    if (energy.is_number())
      rows.push_back({"  " + part, fmt::format("{:.4g} pJ", energy.get<double>())});
  }
  print_table(rows);
}

int run_curve(const SimulateArguments& arguments) {
  const auto points = sim::net::curve(arguments.request, sim::net::default_curve_rates());
  if (!points) return report_error(points.error());
  const std::vector<sim::net::NamedCurve> curves{{arguments.request.network, *points}};
  if (!arguments.plot.empty()) {
    const auto title =
        fmt::format("{} traffic, {}x{}", arguments.request.traffic, arguments.request.k,
                    arguments.request.height != 0 ? arguments.request.height : arguments.request.k);
    if (const auto status =
            write_file_atomically(arguments.plot, sim::net::curves_svg(title, curves));
        !status) {
      return report_error(status.error());
    }
  }
  if (arguments.json) {
    print_json(sim::net::curve_json(arguments.request, *points));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"RATE", "ACCEPTED", "LATENCY", ""}};
  for (const auto& point : *points) {
    rows.push_back({fmt::format("{:.3f}", point.rate),
                    fmt::format("{:.4f}", point.run.accepted_flits_per_node_cycle),
                    fmt::format("{:.2f}", point.run.avg_packet_latency),
                    point.run.stable ? "" : "unstable"});
  }
  print_table(rows);
  fmt::print("{}", sim::net::curves_text(curves));
  return 0;
}

int run(SimulateArguments& arguments) {
  if (arguments.curve) return run_curve(arguments);
  std::optional<WorkloadTrace> traced;
  arguments.request.trace = arguments.trace;
  if (!arguments.workload.empty()) {
    auto made = trace_workload(arguments.workload, arguments.size, arguments.device);
    if (!made) return report_error(made.error());
    traced.emplace(std::move(*made));
    arguments.request.trace = traced->path();
  }
  const auto report = sim::net::simulate(arguments.request);
  if (!report) return report_error(report.error());
  if (arguments.json) {
    nlohmann::json json = *report;
    if (traced) {
      json["traffic"] = "workload";
      json["workload"] = arguments.workload;
      json["size"] = arguments.size;
      json["device"] = arguments.device;
      json["trace"].erase("file");
    }
    if (arguments.heatmap) json["heatmap"] = sim::net::heatmap_json(*report);
    print_json(json);
    return 0;
  }
  print_report(arguments, *report);
  if (arguments.heatmap) fmt::print("{}", sim::net::heatmap_text(*report));
  return 0;
}

// What drives the network: exactly one of synthetic traffic, a trace and a workload.
void add_load_options(CLI::App& command, SimulateArguments& arguments) {
  auto& request = arguments.request;
  auto* traffic =
      command
          .add_option("--traffic", request.traffic,
                      "uniform, transpose, bit_complement, bit_reverse, shuffle, tornado, "
                      "neighbour, hot_spot, many_to_few")
          ->capture_default_str();
  auto* trace = command.add_option("--trace", arguments.trace,
                                   "Memory trace (.wwt), as 'wirewatt run --trace' writes it");
  auto* workload = command.add_option("--workload", arguments.workload,
                                      "Application of 'workloads list', traced for this run");
  trace->excludes(traffic)->excludes(workload);
  workload->excludes(traffic);
  const std::vector<CLI::Option*> synthetic{
      command.add_option("--rate", request.rate, "Flits per node and cycle")->capture_default_str(),
      command.add_option("--packet-size", request.packet_size, "Flits a packet")
          ->capture_default_str(),
      command.add_option("--warmup", request.warmup, "Cycles before measuring")
          ->capture_default_str(),
      command.add_option("--cycles", request.cycles, "Cycles measured")->capture_default_str(),
      command.add_option("--burst-start", request.burst_start,
                         "Chance per cycle that a burst begins (with --burst-stop)"),
      command.add_option("--burst-stop", request.burst_stop, "Chance per cycle that a burst ends"),
      command.add_option("--hot-fraction", request.hot_fraction, "hot_spot: share of its traffic")
          ->capture_default_str(),
      command
          .add_option("--write-fraction", request.write_fraction,
                      "many_to_few: share of requests that write")
          ->capture_default_str()};
  for (CLI::Option* option : synthetic) {
    trace->excludes(option);
    workload->excludes(option);
  }
  command.add_option("--size", arguments.size, "With --workload: small, medium or paper")
      ->capture_default_str()
      ->needs(workload);
  command.add_option("--device", arguments.device, "With --workload: the virtual GPU to trace on")
      ->capture_default_str()
      ->needs(workload);
  command
      .add_option("--max-outstanding", request.max_outstanding,
                  "Requests a core may have under way (0: open loop for many_to_few, 32 for a "
                  "trace)")
      ->capture_default_str();
  command
      .add_option("--memory-delay", request.memory_delay,
                  "Cycles from a request's arrival to its reply (many_to_few, traces)")
      ->capture_default_str();
  command
      .add_option("--core-nodes", request.core_nodes,
                  "Nodes that send requests, as 0,1,4 (default: all without memory)")
      ->delimiter(',');
  command
      .add_option("--memory-nodes", request.memory_nodes,
                  "Nodes that answer them (default: a quarter, on the top and bottom rows)")
      ->delimiter(',');
  command
      .add_option("--coalesce-lanes", request.coalesce_lanes,
                  "Traces: lanes whose addresses are coalesced together")
      ->capture_default_str();
  command.add_option("--line-bytes", request.line_bytes, "Traces: L1 line")->capture_default_str();
  command.add_option("--l1-sets", request.l1_sets, "Traces: sets of a core's L1")
      ->capture_default_str();
  command.add_option("--l1-ways", request.l1_ways, "Traces: ways of a core's L1")
      ->capture_default_str();
  command
      .add_option("--interleave-bytes", request.interleave_bytes,
                  "Traces: bytes in a row at one memory node")
      ->capture_default_str();
}

}  // namespace

void add_simulate(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("simulate", "Simulate an on-chip network: latency, throughput and joules");
  auto arguments = std::make_shared<SimulateArguments>();
  auto& request = arguments->request;
  command
      ->add_option("--network", request.network,
                   "ideal, mesh, mesh-adaptive, mesh-bufferless or mesh-priority")
      ->capture_default_str();
  add_load_options(*command, *arguments);
  command->add_option("--k", request.k, "Routers a row")->capture_default_str();
  command->add_option("--height", request.height, "Routers a column (0: as --k)")
      ->capture_default_str();
  command->add_option("--concentration", request.concentration, "Nodes a router")
      ->capture_default_str();
  command->add_option("--vcs", request.vcs, "Virtual channels a port")->capture_default_str();
  command->add_option("--vc-buffer", request.vc_buffer, "Flits a virtual channel holds")
      ->capture_default_str();
  command->add_option("--routing-delay", request.routing_delay, "Cycles (0 looks ahead)")
      ->capture_default_str();
  command->add_option("--allocator", request.allocator, "islip or separable_input_first")
      ->capture_default_str();
  command->add_option("--seed", request.seed, "Seed of the traffic")->capture_default_str();
  command
      ->add_option("--adaptive", request.adaptive,
                   "mesh-adaptive: dyxy (congestion here) or rca (and further along)")
      ->capture_default_str();
  command->add_option("--deflection", request.deflection, "mesh-bufferless: chipper or bless")
      ->capture_default_str();
  command
      ->add_option("--reassembly-buffers", request.reassembly_buffers,
                   "mesh-bufferless: packets a node puts together at a time")
      ->capture_default_str();
  command->add_option("--flit-bits", request.flit_bits, "Width of a flit")->capture_default_str();
  command->add_option("--model", arguments->model, "model.json: wires as fitted on a device");
  command
      ->add_option("--estimator", request.estimator,
                   "Router energies: dsent, dsent-gem5, orion2, mcpat, mcpat-noc")
      ->capture_default_str();
  command->add_option("--node-nm", request.node_nm, "Technology node of the routers")
      ->capture_default_str();
  command->add_option("--toggle-rate", request.toggle_rate, "Transitions per link bit and flit")
      ->capture_default_str();
  command->add_option("--clock-hz", request.clock_hz, "Clock of the routers")
      ->capture_default_str();
  command->add_option("--link-mm", request.link_mm, "Length of a link")->capture_default_str();
  command->add_flag("--speculative", request.speculative, "Switch before the channel is sure");
  auto* curve =
      command->add_flag("--curve", arguments->curve, "Sweep the rate: latency against load");
  command->add_option("--plot", arguments->plot, "Write the curve as a picture (SVG)")
      ->needs(curve);
  for (const char* name : {"--trace", "--workload"}) {
    curve->excludes(command->get_option(name));
  }
  command->add_flag("--heatmap", arguments->heatmap, "Draw how busy each link was");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "What drives the network: --traffic (default), --trace or --workload.\n"
      "Examples:\n"
      "  wirewatt simulate --network mesh --traffic uniform --k 4 --rate 0.3\n"
      "  wirewatt simulate --network mesh-adaptive --traffic transpose --curve --plot curve.svg\n"
      "  wirewatt simulate --network mesh --workload dct --model model.json --heatmap\n"
      "  wirewatt simulate --network mesh --trace out.wwt --k 8 --memory-nodes 0,7,56,63");
  command->callback([arguments, &outcome] {
    arguments->request.model = arguments->model;
    outcome.exit_code = run(*arguments);
  });
}

}  // namespace ww::cli
