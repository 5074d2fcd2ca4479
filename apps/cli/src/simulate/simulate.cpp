#include "ww/sim/net/simulate.hpp"
#include "ww/report/latency_curves.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "anyway.hpp"
#include "command.hpp"
#include "output.hpp"
#include "simulate/chip_crossbar.hpp"
#include "simulate/energy_text.hpp"
#include "simulate/photonic_options.hpp"
#include "simulate/simulate_options.hpp"
#include "simulate/workload_trace.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::cli {
namespace {

std::string load_text(const SimulateArguments& arguments) {
  if (!arguments.workload.empty()) {
    return fmt::format("workload {} ({}, traced on {})", arguments.workload, arguments.size,
                       arguments.device);
  }
  if (!arguments.trace.empty()) return "trace " + arguments.trace;
  if (!arguments.packets.empty()) {
    return fmt::format("packets {}{}", arguments.packets,
                       arguments.open_loop ? " (open loop)" : "");
  }
  return fmt::format("{} traffic at {:.3g} flits/node/cycle", arguments.traffic,
                     arguments.simulation.run.traffic.rate);
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

// With wires of a flagged calibration every energy says so beside its figure.
void mark_misfit(std::vector<std::vector<std::string>>& rows,
                 const sim::net::SimulateReport& report) {
  if (report.simulation.misfit.empty()) {
    return;
  }
  for (auto& row : rows) {
    row.emplace_back("misfit");
  }
}

// Prints the routers' energy, and the published estimators' range.
void print_routers(const sim::power::RouterCharge& routers) {
  if (routers.pj.high > 0) {
    fmt::print("routers: {}; {} published estimators say {} ({}) to {} ({})\n",
               energy_text(routers.pj.value), routers.estimators, energy_text(routers.pj.low),
               to_string(routers.least), energy_text(routers.pj.high), to_string(routers.most));
  }
}

void print_crossing(const char* what, const sim::power::CrossingCharge& charge) {
  fmt::print("{}: {} flits, {}, {}, {} ({})\n", what, charge.flits,
             interval_text(charge.pj_per_bit.times(kJoulesPerPicojoule), std::nullopt, "J/bit"),
             energy_text(charge.pj), charge.is_virtual ? "virtual" : "measured", charge.source);
}

void print_crossings(const sim::power::EnergyReport& energy) {
  if (energy.l2_crossing) {
    print_crossing("crossings of the L2", *energy.l2_crossing);
  }
  if (energy.die_hops) {
    print_crossing("to the next die of the row", energy.die_hops->row);
    print_crossing("to the next die of the column", energy.die_hops->column);
  }
}

// The wires between compute units and channels, as a calibration has their energy.
void print_chip_wires(const sim::power::EnergyReport& energy) {
  if (!energy.chip_wires) {
    return;
  }
  const sim::power::ChipWiresCharge& charge = *energy.chip_wires;
  const auto row = [](const char* name, const sim::power::PairWireCharge& one) {
    return std::vector<std::string>{name,
                                    std::to_string(one.flits),
                                    fmt::format("{:.2f}", one.mean_mm()),
                                    fmt::format("{:.3f}", one.toggle_rate),
                                    fmt::format("{:.4g}", one.fj_per_bit_mm.value),
                                    energy_text(one.pj)};
  };
  fmt::print("wires between L1 and L2 ({}): {}\n", charge.is_virtual ? "virtual" : "measured",
             charge.source);
  print_table({{"", "FLITS", "MEAN MM", "TOGGLES A BIT", "FJ/BIT/MM", "ENERGY"},
               row("requests", charge.requests),
               row("replies", charge.replies),
               row("all", charge.all)});
}

// The wires of links, as a calibration has their energy.
void print_link_wires(const sim::power::EnergyReport& energy) {
  if (!energy.link_wires) {
    return;
  }
  const sim::power::LinkWiresCharge& charge = *energy.link_wires;
  fmt::print("wires of links ({}): {} fJ/bit/mm at {:.3f} toggles a bit, {}; {}\n",
             charge.is_virtual ? "virtual" : "measured", interval_text(charge.fj_per_bit_mm),
             charge.toggle_rate, energy_text(charge.pj), charge.source);
}

void print_area(const sim::power::NetworkArea& area) {
  const sim::power::RouterArea& router = area.router;
  fmt::print("area of cells and longest path ({}), beside a clock of {:.4g} ps\n", router.source,
             area.clock_ps);
  print_table({{"  routers", fmt::format("{} of {:.4g} mm2", area.routers, router.total_mm2()),
                fmt::format("buffers {:.4g}, crossbar {:.4g}, allocator {:.4g}", router.buffers_mm2,
                            router.crossbar_mm2, router.switch_allocator_mm2),
                fmt::format("{:.4g} ps", router.longest_path_ps)},
               {"  links", fmt::format("{:.4g} mm in all", area.link_mm),
                fmt::format("repeaters {:.4g}, wires above cells {:.4g}", area.repeaters_mm2,
                            area.wiring_mm2),
                fmt::format("{:.4g} ps", area.link_ps)},
               {"  all cells", fmt::format("{:.4g} mm2", area.cells_mm2()), "", ""}});
}

// Parts that the network lacks, and parts that the estimator does not model, are no rows of 0 pJ.
std::vector<std::vector<std::string>> component_rows(const sim::power::EnergyReport& energy) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, pj] : energy.components()) {
    if (pj.to<double>() != 0) {
      rows.push_back({std::string("  ") + name, energy_text(pj.to<double>())});
    }
  }
  for (auto& row : photonic_energy_rows(energy)) rows.push_back(std::move(row));
  rows.push_back({"  total", energy_text(energy.total().to<double>())});
  return rows;
}

// The packets that were sent and their latencies; packets that never arrived have no latency.
std::vector<std::vector<std::string>> traffic_rows(const sim::net::RunResult& run) {
  const std::string accepted =
      fmt::format("{:.4f} flits/node/cycle", run.accepted_flits_per_node_cycle);
  if (run.flit_hops == 0) {
    return {{"packet latency", "unavailable: no packet was sent in the measured cycles"},
            {"accepted", accepted}};
  }
  return {{"packet latency", fmt::format("{:.2f} cycles (p99 {:.0f})", run.avg_packet_latency,
                                         run.p99_packet_latency)},
          {"network latency", fmt::format("{:.2f} cycles", run.avg_network_latency)},
          {"accepted", accepted},
          {"hops", fmt::format("{:.3f} routers", run.avg_hops)},
          {"speed",
           fmt::format("{:.3g} million flit-hops a CPU second", 1e-6 * run.flit_hops_per_cpu_s())}};
}

void print_report(const SimulateArguments& arguments, const sim::net::SimulateReport& report) {
  const auto& run = report.run;
  fmt::print("{} with {}{}\n", report.simulation.network.network, load_text(arguments),
             run.stable ? "" : ": UNSTABLE, the network does not keep up");
  if (sim::net::is_virtual(report)) {
    fmt::print("with data of a virtual GPU: not a measurement\n");
  }
  std::vector<std::vector<std::string>> rows = traffic_rows(run);
  for (auto& row : photonic_event_rows(run.window.photonic)) rows.push_back(std::move(row));
  if (!arguments.packets.empty()) {
    rows.push_back({"cycles", std::to_string(run.cycles.value())});
    rows.push_back({"packets", std::to_string(run.packets)});
  }
  if (report.replay) {
    for (auto& row : replay_rows(report)) rows.push_back(std::move(row));
  }
  auto figures = figure_rows(report.energy.figures);
  mark_misfit(figures, report);
  for (auto& row : figures) rows.push_back(std::move(row));
  print_table(rows);
  fmt::print(
      "energy of the measured cycles, estimator {}, link transitions {}; ranges are over the "
      "published estimators{}\n",
      arguments.estimator,
      run.window.toggles_counted
          ? "counted on the payload"
          : fmt::format("assumed ({:.3g} a bit)", report.simulation.energy.toggle_rate),
      arguments.calibration ? " and the calibration's 95% interval" : "");
  rows = component_rows(report.energy);
  mark_misfit(rows, report);
  print_table(rows);
  print_misfit(report.simulation.misfit);
  print_routers(report.energy.router_charge);
  print_crossings(report.energy);
  print_chip_wires(report.energy);
  print_link_wires(report.energy);
  print_area(report.area);
}

// Prints every estimator's energies of the same events, side by side [pJ]; a part that none of them
// models, or that the network lacks, is no row.
void print_comparison(const sim::net::SimulateReport& report) {
  std::vector<std::vector<std::string>> rows{{"ESTIMATOR, pJ"}};
  for (const auto& [name, energy] : report.energy.components()) rows.push_back({name});
  rows.push_back({"total"});
  std::vector<bool> is_modelled(rows.size(), false);
  is_modelled.front() = is_modelled.back() = true;
  std::vector<std::string> unavailable;
  for (const auto& one : report.comparison) {
    const std::string name(sim::power::to_string(one.estimator));
    if (!one.report) {
      unavailable.push_back(fmt::format("{}: {}", name, one.report.error().message));
      continue;
    }
    rows[0].push_back(name);
    std::size_t row = 1;
    for (const auto& [part, energy] : one.report->components()) {
      const bool is_none = energy.to<double>() == 0;
      if (!is_none) is_modelled[row] = true;
      rows[row++].push_back(is_none ? "-" : fmt::format("{:.4g}", energy.to<double>()));
    }
    rows[row].push_back(fmt::format("{:.4g}", one.report->total().to<double>()));
  }
  for (std::size_t row = rows.size(); row-- > 0;) {
    if (!is_modelled[row]) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(row));
  }
  mark_misfit(rows, report);
  print_table(rows);
  for (const auto& line : unavailable) fmt::print("{}\n", line);
}

std::vector<std::string> names_of_networks(const SimulateArguments& arguments) {
  return CLI::detail::split(arguments.network.config.network, ',');
}

// "mesh-adaptive:rca" is a network and its variant.
Result<std::vector<sim::net::Simulation>> simulations_of(const SimulateArguments& arguments) {
  std::vector<sim::net::Simulation> simulations;
  for (const std::string& name : names_of_networks(arguments)) {
    SimulateArguments one = arguments;
    const auto colon = name.find(':');
    one.network.config.network = name.substr(0, colon);
    WW_ASSIGN(kind, sim::net::network_kind(one.network.config.network));
    if (colon != std::string::npos) {
      if (kind->variant_key.empty()) {
        return fail(ErrorCode::invalid_argument, fmt::format("{} has no variants", kind->name),
                    name);
      }
      WW_TRY(sim::net::set_key(one.network.config, kind->variant_key, name.substr(colon + 1)));
    }
    WW_ASSIGN(simulation, simulation_of(one));
    simulations.push_back(std::move(simulation));
  }
  return simulations;
}

// Names what all curves of a picture share: the number of nodes, if equal, packets and traffic.
Result<std::string> curve_title(const std::vector<sim::net::Simulation>& simulations,
                                const std::string& traffic) {
  std::set<int> nodes;
  for (const sim::net::Simulation& simulation : simulations) {
    WW_ASSIGN(network, sim::net::network_of(simulation));
    nodes.insert(node_count(network));
  }
  const std::string size =
      nodes.size() == 1 ? fmt::format("{} nodes, ", *nodes.begin()) : std::string();
  return fmt::format("{}{}-flit packets, {} traffic", size,
                     simulations.front().run.traffic.packet_size, traffic);
}

int run_curve(const SimulateArguments& arguments, const std::string& misfit) {
  std::vector<report::NamedCurve> curves;
  auto json = nlohmann::json::array();
  const auto names = names_of_networks(arguments);
  auto simulations = simulations_of(arguments);
  if (!simulations) return report_error(simulations.error());
  for (auto& simulation : *simulations) simulation.misfit = misfit;
  Progress progress("simulating", "curves");
  double done = 0;
  for (const auto& simulation : *simulations) {
    auto points =
        sim::net::curve(simulation, sim::net::default_curve_rates(simulation.run.traffic));
    if (!points) {
      progress.finish();
      return report_error(points.error());
    }
    json.push_back(sim::net::curve_json(simulation, *points));
    curves.push_back({names[curves.size()], std::move(*points)});
    json.back()["network"] = curves.back().name;
    progress.update(++done, static_cast<double>(names.size()), curves.back().name);
  }
  progress.finish();
  if (!arguments.plot.empty()) {
    const auto title = curve_title(*simulations, arguments.traffic);
    if (!title) return report_error(title.error());
    if (const auto status =
            write_file_atomically(arguments.plot, report::curves_svg(*title, curves));
        !status) {
      return report_error(status.error());
    }
  }
  if (arguments.json) {
    print_json(curves.size() == 1 ? json.front() : nlohmann::json{{"curves", json}});
    return 0;
  }
  for (const auto& curve : curves) {
    if (curves.size() > 1) fmt::print("{}\n", curve.name);
    std::vector<std::vector<std::string>> rows{
        {"RATE", "ACCEPTED", "LATENCY", "ENERGY", "POWER", "A FLIT", "WIRES", ""}};
    for (const auto& point : curve.points) {
      rows.push_back({fmt::format("{:.3f}", point.rate),
                      fmt::format("{:.4f}", point.run.accepted_flits_per_node_cycle),
                      fmt::format("{:.2f}", point.run.avg_packet_latency),
                      prefixed(point.energy.figures.energy), prefixed(point.energy.figures.power),
                      prefixed(point.energy.figures.per_flit),
                      prefixed(point.energy.figures.wire_share),
                      point.run.stable ? "" : "unstable"});
    }
    print_table(rows);
  }
  fmt::print("{}", report::curves_text(curves));
  print_misfit(misfit);
  return 0;
}

// Writes the trace of a workload, or of another program's trace file, to a file of its own. Absent
// where the options name neither.
Result<std::optional<WorkloadTrace>> trace_of(const SimulateArguments& arguments) {
  if (!arguments.workload.empty()) {
    WW_ASSIGN(made, trace_workload(arguments.workload, arguments.size, arguments.device));
    return std::optional(std::move(made));
  }
  if (is_accelsim(arguments.trace)) {
    WW_ASSIGN(made, import_trace(arguments.trace));
    return std::optional(std::move(made));
  }
  return std::optional<WorkloadTrace>();
}

nlohmann::json report_json(const SimulateArguments& arguments,
                           const sim::net::SimulateReport& report, bool traced) {
  nlohmann::json json = report;
  if (traced && arguments.workload.empty()) {
    json["trace"]["file"] = arguments.trace;
  } else if (traced) {
    json["traffic"] = "workload";
    json["workload"] = arguments.workload;
    json["size"] = arguments.size;
    json["device"] = arguments.device;
    json["trace"].erase("file");
  }
  if (arguments.heatmap) json["heatmap"] = sim::net::heatmap_json(report);
  return json;
}

// Simulates with the number of cycles done on the bar. A trace runs to its end, which is not known.
Result<sim::net::SimulateReport> simulate_with_progress(sim::net::Simulation simulation,
                                                        const std::string& name) {
  Progress progress("simulating", "cycles");
  simulation.run.on_progress = [&](Cycles done, Cycles total) {
    progress.update(static_cast<double>(done.value()), static_cast<double>(total.value()), name);
  };
  auto report = sim::net::simulate(simulation);
  progress.finish();
  return report;
}

// Several networks under the same load, side by side.
int run_networks(const SimulateArguments& arguments, const std::string& misfit) {
  auto simulations = simulations_of(arguments);
  if (!simulations) return report_error(simulations.error());
  const auto traced = trace_of(arguments);
  if (!traced) return report_error(traced.error());
  const auto names = names_of_networks(arguments);
  auto json = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{
      {"NETWORK", "LATENCY", "P99", "ACCEPTED", "HOPS", "ENERGY", "POWER", "A BIT", "WIRES", ""}};
  bool is_virtual = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    sim::net::Simulation& simulation = (*simulations)[i];
    simulation.misfit = misfit;
    simulation.trace = *traced ? (*traced)->path() : std::filesystem::path(arguments.trace);
    const auto report = simulate_with_progress(simulation, names[i]);
    if (!report) return report_error(report.error());
    json.push_back(report_json(arguments, *report, traced->has_value()));
    json.back()["network"] = names[i];
    is_virtual = is_virtual || sim::net::is_virtual(*report);
    const auto& run = report->run;
    const auto& figures = report->energy.figures;
    rows.push_back({names[i], fmt::format("{:.2f}", run.avg_packet_latency),
                    fmt::format("{:.0f}", run.p99_packet_latency),
                    fmt::format("{:.4f}", run.accepted_flits_per_node_cycle),
                    fmt::format("{:.2f}", run.avg_hops), prefixed(figures.energy),
                    prefixed(figures.power), prefixed(figures.per_bit),
                    prefixed(figures.wire_share), run.stable ? "" : "UNSTABLE"});
  }
  if (arguments.json) {
    print_json({{"networks", json}});
    return 0;
  }
  fmt::print("{}; latencies in cycles, loads in flits/node/cycle\n", load_text(arguments));
  if (is_virtual) fmt::print("with data of a virtual GPU: not a measurement\n");
  print_table(rows);
  print_misfit(misfit);
  return 0;
}

// Options that describe one network alone.
Status refuse_with_several_networks(const SimulateArguments& arguments) {
  for (const char* option : {"--heatmap", "--estimators", "--estimate", "--saturation", "--seeds",
                             "--precision", "--skip-beyond"}) {
    if (arguments.command->count(option) > 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} describes one network; --network names {}", option,
                              names_of_networks(arguments).size()),
                  option);
    }
  }
  return {};
}

int run(SimulateArguments& arguments) {
  std::string misfit;
  if (!arguments.model.empty()) {
    auto calibration = calibration::load(arguments.model, admission(arguments.anyway));
    if (!calibration) return report_error(calibration.error());
    misfit = (*calibration)->provenance().misfit;
    arguments.calibration = std::move(*calibration);
  }
  if (!arguments.floorplan.empty() && !wants_chip_crossbar(arguments)) {
    return report_error({ErrorCode::invalid_argument,
                         "--floorplan needs --network crossbar and --model with a calibration of "
                         "wires: other networks have links of --link-mm",
                         "--floorplan"});
  }
  if (!arguments.card_node.empty() &&
      (!arguments.calibration || arguments.calibration->wires() == nullptr ||
       wants_chip_crossbar(arguments))) {
    return report_error({ErrorCode::invalid_argument,
                         "--card-node needs --model with a calibration of wires, and another "
                         "network than a crossbar, whose wires are not scaled",
                         "--card-node"});
  }
  if (const auto status = refuse_unread_options(arguments); !status) {
    return report_error(status.error());
  }
  if (arguments.curve) return run_curve(arguments, misfit);
  for (const CLI::Option* option : arguments.of_traffic) {
    if (option->count() > 0 &&
        !(arguments.trace.empty() && arguments.workload.empty() && arguments.packets.empty())) {
      log::warn("{} says nothing here: a trace's packets carry its requests, to the end",
                option->get_name());
    }
  }
  if (names_of_networks(arguments).size() > 1) {
    if (const auto status = refuse_with_several_networks(arguments); !status) {
      return report_error(status.error());
    }
    return run_networks(arguments, misfit);
  }
  auto simulation = simulation_of(arguments);
  if (!simulation) return report_error(simulation.error());
  simulation->misfit = std::move(misfit);
  if (const auto code = skipped(*simulation, arguments.statistics, arguments.json)) {
    return *code;
  }
  if (wants_statistics(arguments.statistics)) {
    return run_statistics(*simulation, arguments.statistics, arguments.json);
  }
  const auto traced = trace_of(arguments);
  if (!traced) return report_error(traced.error());
  simulation->trace = *traced ? (*traced)->path() : std::filesystem::path(arguments.trace);
  const auto report = simulate_with_progress(*simulation, simulation->network.network);
  if (!report) return report_error(report.error());
  if (arguments.json) {
    print_json(report_json(arguments, *report, traced->has_value()));
    return 0;
  }
  print_report(arguments, *report);
  if (arguments.compare) print_comparison(*report);
  if (arguments.heatmap) fmt::print("{}", sim::net::heatmap_text(*report));
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("simulate", "Simulate an on-chip network: latency, throughput and joules");
  auto arguments = std::make_shared<SimulateArguments>();
  add_simulate_options(*command, *arguments);
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
