#include "ww/sim/net/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "charged_run.hpp"
#include "ww/core/device_name.hpp"
#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/net/packet_trace.hpp"
#include "ww/sim/net/placement.hpp"
#include "ww/sim/net/statistics.hpp"

namespace ww::sim::net {
namespace {

bool is_trace(const Simulation& simulation) {
  return !simulation.trace.empty();
}

bool has_packets(const Simulation& simulation) {
  return !simulation.packets.empty();
}

// The nodes, times and seed of requests are the same whether traffic or a trace makes them.
ReplayConfig replay_of(const Simulation& simulation) {
  const TrafficConfig& traffic = simulation.run.traffic;
  ReplayConfig config = simulation.replay;
  config.core_nodes = traffic.core_nodes;
  config.memory_nodes = simulation.network.memory_nodes;
  config.memory_delay = traffic.memory_delay;
  config.seed = traffic.seed;
  if (traffic.max_outstanding != 0) {
    config.max_outstanding = traffic.max_outstanding;
  }
  return config;
}

RunConfig run_of(const Simulation& simulation) {
  RunConfig config = simulation.run;
  config.traffic.memory_nodes = simulation.network.memory_nodes;
  return config;
}

Result<power::EnergyConfig> energy_of(const Simulation& simulation, const NetworkConfig& network) {
  WW_ASSIGN(kind, network_kind(network.network));
  power::EnergyConfig config = simulation.energy;
  config.router = energy_config(network).router;
  if (kind->clock_hz != nullptr) {
    config.clock = Hertz(kind->clock_hz(network));
  }
  return config;
}

// Checks that every packet has a way with a length on a chip's own wires: a trace of another
// network may go from one compute unit to another, which would cost nothing.
Status check_ways(const PacketTrace& trace, const NetworkConfig& config) {
  const std::vector<std::uint32_t>& um = config.own<NodeDistances>().um;
  const auto nodes = static_cast<std::size_t>(node_count(config));
  for (std::size_t i = 0; i < trace.packets.size(); ++i) {
    const TracedPacket& packet = trace.packets[i];
    for (const NodeId destination : packet.destinations) {
      if (packet.source >= nodes || destination >= nodes) continue;  // the replay refuses these
      if (um[packet.source * nodes + destination] > 0) continue;
      return fail(ErrorCode::unsupported,
                  fmt::format("packet {} goes from node {} to node {}, between which the chip's "
                              "crossbar has no wires: its packets go between compute units and "
                              "channels of the L2",
                              i, packet.source, destination),
                  "packet_trace");
    }
  }
  return {};
}

// A network and what its events cost.
struct ChargedNetwork {
  NetworkConfig config;
  std::unique_ptr<Network> network;
  power::EnergyConfig energy;
};

// Whatever is wrong is refused before the network runs, not after.
Result<ChargedNetwork> charged_network(const Simulation& simulation) {
  WW_ASSIGN(config, network_of(simulation));
  WW_ASSIGN(network, make_network(config));
  WW_ASSIGN(energy_config, energy_of(simulation, config));
  WW_TRY(power::account(power::NetworkEvents{}, energy_config));
  if (energy_config.crossing && network->events().sized_links.l2_crossings == 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has no crossing between the sides of an L2, so a calibration of "
                            "crossings says nothing about it: use crossbar-partitioned, or a "
                            "--topology FILE with links of class \"l2-crossing\"",
                            config.network),
                "model");
  }
  if (energy_config.die_hops) {
    const power::NetworkEvents events = network->events();
    if (events.row_hops.links + events.column_hops.links == 0) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{} has no links to a next die, so a calibration of a package's dies "
                              "says nothing about it: use chiplet-mesh with a chiplet_side below "
                              "the mesh's",
                              config.network),
                  "model");
    }
  }
  if (energy_config.chip_wires && config.own<NodeDistances>().um.empty()) {
    return fail(ErrorCode::unsupported,
                "a chip's wires are charged by their lengths, and this network has no distances "
                "between its nodes",
                "node_distances");
  }
  return ChargedNetwork{std::move(config), std::move(network), std::move(energy_config)};
}

}  // namespace

Result<ChargedRun> run_charged(const Simulation& simulation) {
  WW_ASSIGN(charged, charged_network(simulation));
  WW_ASSIGN(result, run(*charged.network, run_of(simulation)));
  WW_ASSIGN(energy, power::account(result.window, charged.energy));
  return ChargedRun{std::move(result), std::move(energy)};
}

Simulation::Simulation() {
  network.classes = 0;
}

Result<NetworkConfig> network_of(const Simulation& simulation) {
  WW_ASSIGN(kind, network_kind(simulation.network.network));
  WW_ASSIGN(config, with_size(*kind, simulation.network));
  const bool answers = is_trace(simulation) || has_packets(simulation) ||
                       simulation.run.traffic.pattern == Pattern::many_to_few;
  if (kind->classes != 0) {
    config.classes = kind->classes;
  } else if (config.classes == 0) {
    config.classes = answers ? 2 : 1;
  }
  config.count_toggles = is_trace(simulation) || has_packets(simulation);
  config.expected_load = answers ? 0 : simulation.run.traffic.rate;
  // A packet trace names the nodes of its packets, and not which of them have memory.
  if (answers && !has_packets(simulation) && config.memory_nodes.empty() &&
      kind->memory_nodes == nullptr) {
    WW_TRY(validate(config));
    WW_ASSIGN(placement, place(config, simulation.run.traffic.core_nodes, {}));
    config.memory_nodes = std::move(placement.memory);
  }
  return config;
}

power::EnergyConfig energy_config(const NetworkConfig& network) {
  const NetworkKind* kind = find_network(network.network);
  power::EnergyConfig config;
  if (kind != nullptr && kind->router != nullptr) {
    config.router = kind->router(network);
  } else {
    // A router without buffers keeps flits in its pipeline registers only. However many nodes it
    // has, they share a port.
    constexpr int kPorts = 5;
    config.router = {network.flit_bits, kPorts, 1, 0};
  }
  return config;
}

Result<SimulateReport> simulate(const Simulation& simulation) {
  WW_ASSIGN(charged, charged_network(simulation));
  const auto& [config, network, energy_config] = charged;
  SimulateReport report;
  report.simulation = simulation;
  if (is_trace(simulation)) {
    WW_ASSIGN(reader, trace::Reader::open(simulation.trace));
    WW_ASSIGN(replayed, replay(*network, reader, replay_of(simulation)));
    report.run = std::move(replayed.run);
    report.replay = std::move(replayed.stats);
  } else if (has_packets(simulation)) {
    WW_ASSIGN(packets, read_packets(simulation.packets));
    if (energy_config.chip_wires) WW_TRY(check_ways(packets, config));
    report.packets_from = packets.producer;
    report.of_virtual_packets = packets.is_virtual();
    WW_ASSIGN(result, replay_packets(*network, packets, simulation.open_loop));
    report.run = std::move(result);
  } else {
    WW_ASSIGN(result, run(*network, run_of(simulation)));
    report.run = std::move(result);
  }
  WW_ASSIGN(energy, power::account(report.run.window, energy_config));
  report.energy = std::move(energy);
  report.comparison = power::compare_estimators(report.run.window, energy_config);
  WW_ASSIGN(area, power::network_area(report.run.window, energy_config));
  report.area = std::move(area);
  return report;
}

namespace {

void mark_misfit(nlohmann::json& figures, const std::string& reason) {
  if (reason.empty()) return;
  figures["status"] = "misfit";
  figures["reason"] = reason;
}

nlohmann::json replay_json(const Simulation& simulation, const ReplayStats& stats) {
  return {{"file", simulation.trace.string()},
          {"producer", stats.producer},
          {"virtual", DeviceName(stats.producer).is_virtual()},
          {"launches", stats.launches},
          {"wave_accesses", stats.wave_accesses},
          {"lane_accesses", stats.lane_accesses},
          {"l1_accesses", stats.l1_accesses},
          {"l1_loads", stats.l1_loads},
          {"l1_hits", stats.l1_hits},
          {"l1_hits_under_way", stats.l1_joined},
          {"read_requests", stats.read_requests},
          {"write_requests", stats.write_requests},
          {"atomic_requests", stats.atomic_requests},
          {"avg_round_trip", stats.avg_round_trip},
          {"known_payload_bytes", stats.known_bytes},
          {"random_payload_bytes", stats.random_bytes}};
}

}  // namespace

double energy_pj_per_flit(const RunResult& run, const power::EnergyReport& energy) {
  const auto ejected = static_cast<double>(std::max<std::uint64_t>(run.window.ejected_flits, 1));
  return energy.total().to<double>() / ejected;
}

void add_energy(nlohmann::json& json, const RunResult& run, const power::EnergyReport& energy,
                const std::string& misfit) {
  json["measured_cycles"] = run.window.cycles;
  json["energy_pj"] = energy;
  json["energy_pj_per_flit"] = energy_pj_per_flit(run, energy);
  json["energy_figures"] = energy.figures;
  mark_misfit(json["energy_pj"], misfit);
  mark_misfit(json["energy_figures"], misfit);
}

bool is_virtual(const SimulateReport& report) {
  const power::EnergyConfig& charged = report.simulation.energy;
  return report.of_virtual_packets ||
         (report.replay && DeviceName(report.replay->producer).is_virtual()) ||
         (charged.wire && charged.wire->is_virtual) ||
         (charged.chip_wires && charged.chip_wires->is_virtual) ||
         (charged.crossing && charged.crossing->is_virtual) ||
         (charged.die_hops && charged.die_hops->is_virtual);
}

void to_json(nlohmann::json& json, const SimulateReport& report) {
  const RunResult& run = report.run;
  json = {{"network", report.simulation.network.network},
          {"seed", report.simulation.run.traffic.seed},
          {"virtual", is_virtual(report)},
          {"avg_packet_latency", run.avg_packet_latency},
          {"avg_network_latency", run.avg_network_latency},
          {"p99_packet_latency", run.p99_packet_latency},
          {"max_packet_latency", run.max_packet_latency},
          {"accepted_flits_per_node_cycle", run.accepted_flits_per_node_cycle},
          {"offered_flits_per_node_cycle", run.offered_flits_per_node_cycle},
          {"avg_hops", run.avg_hops},
          {"packets", run.packets},
          {"undelivered_packets", run.undelivered},
          {"resent_flits", run.window.resent_flits},
          {"cycles", run.cycles.value()},
          {"flit_hops", run.flit_hops},
          {"wall_s", run.wall_s},
          {"cpu_s", run.cpu_s},
          {"flit_hops_per_cpu_s", run.flit_hops_per_cpu_s()},
          {"stable", run.stable},
          {"toggle_source", run.window.toggles_counted ? "payload" : "toggle_rate"}};
  add_energy(json, run, report.energy, report.simulation.misfit);
  if (!run.batch_latency.empty()) {
    json["avg_packet_latency_interval"] = batch_interval(run.batch_latency);
  }
  power::add_json(json, run.window);
  mark_misfit(json, report.simulation.misfit);
  if (report.replay) {
    json["traffic"] = "trace";
    json["requests"] = report.replay->requests();
    json["l1_hit_rate"] = report.replay->l1_hit_rate();
    json["trace"] = replay_json(report.simulation, *report.replay);
  } else if (has_packets(report.simulation)) {
    json["traffic"] = "packets";
    json["packet_trace"] = {{"file", report.simulation.packets.string()},
                            {"open_loop", report.simulation.open_loop},
                            {"producer", report.packets_from},
                            {"virtual", report.of_virtual_packets}};
  } else {
    json["traffic"] = to_string(report.simulation.run.traffic.pattern);
    json["rate"] = report.simulation.run.traffic.rate;
  }
  nlohmann::json others = nlohmann::json::object();
  for (const power::Comparison& one : report.comparison) {
    const std::string name(power::to_string(one.estimator));
    if (one.report) {
      others[name] = *one.report;
      mark_misfit(others[name], report.simulation.misfit);
    } else {
      others[name] = {{"status", "unavailable"}, {"reason", one.report.error().message}};
    }
  }
  json["estimators_pj"] = others;
  json["area"] = report.area;
}

std::vector<double> default_curve_rates(const TrafficConfig& traffic) {
  std::vector<double> rates;
  for (int percent = 5; percent < 40; percent += 5) {
    rates.push_back(percent / 100.0);
  }
  for (int percent = 40; percent <= 100; percent += 2) {
    rates.push_back(percent / 100.0);
  }
  const double most = most_rate(traffic);
  std::erase_if(rates, [most](double rate) { return rate > most; });
  if (rates.empty()) {
    rates.push_back(most);
  }
  return rates;
}

Result<std::vector<CurvePoint>> curve(const Simulation& simulation,
                                      const std::vector<double>& rates) {
  std::vector<double> ascending = rates;
  std::sort(ascending.begin(), ascending.end());
  const std::size_t workers =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, ascending.size() + 1);
  std::vector<CurvePoint> points;
  // A batch of rates at a time, so that little is simulated beyond saturation.
  for (std::size_t begin = 0; begin < ascending.size(); begin += workers) {
    const std::size_t end = std::min(begin + workers, ascending.size());
    std::vector<Result<ChargedRun>> results(end - begin, fail(ErrorCode::cancelled, "not run"));
    std::vector<std::thread> threads;
    for (std::size_t i = begin; i < end; ++i) {
      threads.emplace_back([&, i] {
        Simulation one = simulation;
        one.run.traffic.rate = ascending[i];
        results[i - begin] = run_charged(one);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (std::size_t i = begin; i < end; ++i) {
      auto& result = results[i - begin];
      if (!result) {
        return tl::unexpected<Error>(std::move(result).error());
      }
      points.push_back(CurvePoint{ascending[i], std::move(result->run), std::move(result->energy)});
      if (!points.back().run.stable) {
        return points;
      }
    }
  }
  return points;
}

nlohmann::json curve_json(const Simulation& simulation, const std::vector<CurvePoint>& points) {
  SimulateReport charged;
  charged.simulation = simulation;
  nlohmann::json json = {{"network", simulation.network.network},
                         {"virtual", is_virtual(charged)},
                         {"traffic", to_string(simulation.run.traffic.pattern)}};
  mark_misfit(json, simulation.misfit);
  json["points"] = nlohmann::json::array();
  for (const CurvePoint& point : points) {
    json["points"].push_back(
        {{"rate", point.rate},
         {"avg_packet_latency", point.run.avg_packet_latency},
         {"avg_network_latency", point.run.avg_network_latency},
         {"p99_packet_latency", point.run.p99_packet_latency},
         {"accepted_flits_per_node_cycle", point.run.accepted_flits_per_node_cycle},
         {"stable", point.run.stable}});
    add_energy(json["points"].back(), point.run, point.energy, simulation.misfit);
  }
  return json;
}

nlohmann::json heatmap_json(const SimulateReport& report) {
  const auto cycles = static_cast<double>(std::max<std::uint64_t>(report.run.window.cycles, 1));
  nlohmann::json json = {{"width", report.simulation.network.width},
                         {"height", report.simulation.network.height}};
  json["links"] = nlohmann::json::array();
  for (const LinkUse& link : report.run.links) {
    json["links"].push_back({{"from", link.from_router},
                             {"to", link.to_router},
                             {"use", static_cast<double>(link.flits) / cycles}});
  }
  return json;
}

namespace {

// The busiest links, where they make no picture of rows and columns.
std::string busiest_links_text(const SimulateReport& report) {
  constexpr std::size_t kShown = 16;
  const auto cycles = static_cast<double>(std::max<std::uint64_t>(report.run.window.cycles, 1));
  std::vector<LinkUse> links = report.run.links;
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.flits > b.flits; });
  std::string text = fmt::format("busiest of {} links, in percent of the cycles:\n", links.size());
  links.resize(std::min(links.size(), kShown));
  for (const LinkUse& link : links) {
    text += fmt::format("  {:4} -> {:4} {:5.1f}\n", link.from_router, link.to_router,
                        100.0 * static_cast<double>(link.flits) / cycles);
  }
  return text;
}

bool is_grid(const SimulateReport& report, std::uint32_t width, std::uint32_t height) {
  return std::all_of(report.run.links.begin(), report.run.links.end(), [&](const LinkUse& link) {
    const std::uint32_t low = std::min(link.from_router, link.to_router);
    const std::uint32_t high = std::max(link.from_router, link.to_router);
    const bool along_x = high == low + 1 && low % width + 1 < width;
    return high < width * height && (along_x || high == low + width);
  });
}

}  // namespace

std::string heatmap_text(const SimulateReport& report) {
  const auto width = static_cast<std::uint32_t>(report.simulation.network.width);
  const auto height = static_cast<std::uint32_t>(report.simulation.network.height);
  if (!is_grid(report, width, height)) {
    return busiest_links_text(report);
  }
  const auto cycles = static_cast<double>(std::max<std::uint64_t>(report.run.window.cycles, 1));
  // [router]: busier direction of the link to the next router along x, and along y
  std::vector<double> along_x(width * height);
  std::vector<double> along_y(width * height);
  for (const LinkUse& link : report.run.links) {
    const std::uint32_t low = std::min(link.from_router, link.to_router);
    const bool horizontal = std::max(link.from_router, link.to_router) == low + 1 && width > 1;
    double& use = (horizontal ? along_x : along_y)[low];
    use = std::max(use, 100.0 * static_cast<double>(link.flits) / cycles);
  }
  std::string text;
  for (std::uint32_t row = height; row-- > 0;) {
    for (std::uint32_t x = 0; x < width; ++x) {
      text += "o";
      if (x + 1 < width) {
        text += fmt::format("-{:3.0f}-", along_x[row * width + x]);
      }
    }
    text += "\n";
    if (row > 0) {
      for (std::uint32_t x = 0; x < width; ++x) {
        text += fmt::format("{:<6.0f}", along_y[(row - 1) * width + x]);
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace ww::sim::net
