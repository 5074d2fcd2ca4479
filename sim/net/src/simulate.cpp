#include "ww/sim/net/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "ww/core/device_name.hpp"
#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {
namespace {

int height_of(const SimulateRequest& request) {
  return request.height > 0 ? request.height : request.k;
}

bool is_trace(const SimulateRequest& request) {
  return !request.trace.empty();
}

std::vector<NodeId> memory_nodes_of(const SimulateRequest& request) {
  return request.network == "dapper" && request.memory_nodes.empty()
             ? memory_node_in_each_row(request.k, height_of(request))
             : request.memory_nodes;
}

constexpr std::array kWordTypes{std::pair{std::string_view("exact"), WordType::exact},
                                std::pair{std::string_view("int32"), WordType::int32},
                                std::pair{std::string_view("float32"), WordType::float32},
                                std::pair{std::string_view("uint8"), WordType::uint8}};

// What only dapper and approx-noc know.
Status add_approximation(const SimulateRequest& request, NetworkConfig& config) {
  if (std::none_of(kWordTypes.begin(), kWordTypes.end(),
                   [&](const auto& type) { return type.first == request.approximable; })) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("approximable '{}' is unknown; exact, int32, float32 or uint8",
                            request.approximable),
                "approximable");
  }
  if (request.approx_threshold) {
    config.error_threshold = *request.approx_threshold / 100;
  }
  config.overlay = request.overlay;
  config.compression = request.compression;
  config.memory_nodes = memory_nodes_of(request);
  if (config.network == "dapper") {
    config.classes = 2;
  }
  return {};
}

}  // namespace

Result<NetworkConfig> network_config(const SimulateRequest& request, int needed_classes) {
  WW_ASSIGN(allocator, allocator_from_string(request.allocator));
  if (request.k < 1 || request.k > 256 || request.k * height_of(request) < 2) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("k = {} does not make a mesh: 1 to 256 routers a side, and at least two",
                    request.k),
        "k");
  }
  NetworkConfig config;
  config.network = request.network;
  config.width = request.k;
  config.height = height_of(request);
  config.concentration = request.concentration;
  config.classes = request.classes > 0 ? request.classes : needed_classes;
  config.flit_bits = request.flit_bits;
  config.vcs = request.vcs;
  config.vc_buffer = request.vc_buffer;
  config.routing_delay = request.routing_delay;
  config.vc_allocator = allocator;
  config.sw_allocator = allocator;
  if (!request.sw_allocator.empty()) {
    WW_ASSIGN(sw_allocator, allocator_from_string(request.sw_allocator));
    config.sw_allocator = sw_allocator;
  }
  config.planes = request.planes;
  config.speculative = request.speculative;
  config.wait_for_tail_credit = request.wait_for_tail_credit;
  config.vc_alloc_delay = request.vc_alloc_delay;
  config.sw_alloc_delay = request.sw_alloc_delay;
  config.st_delay = request.st_delay;
  config.credit_delay = request.credit_delay;
  config.link_delay = request.link_delay;
  config.router_delay = request.router_delay;
  config.deflection = request.deflection;
  config.adaptive = request.adaptive;
  config.reassembly_buffers = request.reassembly_buffers;
  WW_TRY(add_approximation(request, config));
  config.photonic = request.photonic;
  return config;
}

power::EnergyConfig energy_config(const NetworkConfig& network) {
  power::EnergyConfig config;
  config.router.flit_bits = network.flit_bits;
  config.router.ports = 4 + network.concentration;
  config.router.vcs = network.vcs;
  // A bufferless router keeps flits in its pipeline registers only.
  config.router.vc_buffer = network.network == "mesh-bufferless" ? 0 : network.vc_buffer;
  return config;
}

namespace {

Result<NetworkConfig> network_of(const SimulateRequest& request, Pattern pattern) {
  const bool answers = pattern == Pattern::many_to_few || is_trace(request);
  WW_ASSIGN(config, network_config(request, answers ? 2 : 1));
  config.count_toggles = is_trace(request);
  return config;
}

Result<RunConfig> run_of(const SimulateRequest& request) {
  WW_ASSIGN(pattern, pattern_from_string(request.traffic));
  RunConfig config;
  config.traffic.pattern = pattern;
  config.traffic.rate = request.rate;
  config.traffic.packet_size = request.packet_size;
  config.traffic.seed = request.seed;
  config.traffic.max_outstanding = request.max_outstanding;
  config.traffic.write_fraction = request.write_fraction;
  config.traffic.read_request_flits = request.read_request_flits;
  config.traffic.read_reply_flits = request.read_reply_flits;
  config.traffic.write_request_flits = request.write_request_flits;
  config.traffic.write_reply_flits = request.write_reply_flits;
  config.traffic.memory_delay = request.memory_delay;
  config.traffic.core_nodes = request.core_nodes;
  config.traffic.memory_nodes = memory_nodes_of(request);
  config.traffic.hot_fraction = request.hot_fraction;
  config.traffic.burst_start = request.burst_start;
  config.traffic.burst_stop = request.burst_stop;
  config.warmup = Cycles{request.warmup};
  config.cycles = Cycles{request.cycles};
  return config;
}

ReplayConfig replay_of(const SimulateRequest& request) {
  ReplayConfig config;
  config.coalesce_lanes = request.coalesce_lanes;
  config.line_bytes = request.line_bytes;
  config.l1_sets = request.l1_sets;
  config.l1_ways = request.l1_ways;
  config.interleave_bytes = request.interleave_bytes;
  config.core_nodes = request.core_nodes;
  config.memory_nodes = memory_nodes_of(request);
  config.memory_delay = request.memory_delay;
  config.seed = request.seed;
  config.approximable.threshold = request.approx_threshold.value_or(10) / 100;
  for (const auto& [name, type] : kWordTypes) {
    if (request.approximable == name) config.approximable.type = type;
  }
  if (request.max_outstanding != 0) {
    config.max_outstanding = request.max_outstanding;
  }
  return config;
}

Result<power::EnergyConfig> energy_of(const SimulateRequest& request) {
  WW_ASSIGN(estimator, power::estimator_from_string(request.estimator));
  WW_ASSIGN(network, network_config(request, 1));
  power::EnergyConfig config = energy_config(network);
  config.estimator = estimator;
  config.node_nm = request.node_nm;
  config.clock =
      Hertz(is_photonic(request.network) ? request.photonic.core_mhz * 1e6 : request.clock_hz);
  config.photonic = request.photonic_power;
  config.link_length = Millimetre(request.link_mm);
  config.toggle_rate = request.toggle_rate;
  if (!request.model.empty()) {
    WW_ASSIGN(wire, power::wire_from_model_file(request.model, request.node_nm));
    config.wire = wire;
  }
  return config;
}

Result<RunResult> run_network(const SimulateRequest& request) {
  WW_ASSIGN(run_config, run_of(request));
  WW_ASSIGN(config, network_of(request, run_config.traffic.pattern));
  WW_ASSIGN(network, make_network(config));
  return run(*network, run_config);
}

}  // namespace

Result<SimulateReport> simulate(const SimulateRequest& request) {
  // Whatever is wrong is refused before the network runs, not after.
  WW_ASSIGN(run_config, run_of(request));
  WW_ASSIGN(config, network_of(request, run_config.traffic.pattern));
  WW_ASSIGN(network, make_network(config));
  WW_ASSIGN(energy_config, energy_of(request));
  WW_TRY(power::account(power::NetworkEvents{}, energy_config));
  SimulateReport report;
  report.request = request;
  if (is_trace(request)) {
    WW_ASSIGN(reader, trace::Reader::open(request.trace));
    WW_ASSIGN(replayed, replay(*network, reader, replay_of(request)));
    report.run = std::move(replayed.run);
    report.replay = std::move(replayed.stats);
  } else {
    WW_ASSIGN(result, run(*network, run_config));
    report.run = std::move(result);
  }
  WW_ASSIGN(energy, power::account(report.run.window, energy_config));
  report.energy = std::move(energy);
  report.comparison = power::compare_estimators(report.run.window, energy_config);
  return report;
}

namespace {

nlohmann::json replay_json(const SimulateRequest& request, const ReplayStats& stats) {
  return {{"file", request.trace.string()},
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

void to_json(nlohmann::json& json, const SimulateReport& report) {
  const RunResult& run = report.run;
  const auto flit_hops = static_cast<double>(run.flit_hops);
  json = {{"network", report.request.network},
          {"seed", report.request.seed},
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
          {"flit_hops_per_cpu_s", run.cpu_s > 0 ? flit_hops / run.cpu_s : 0.0},
          {"stable", run.stable},
          {"toggle_source", run.window.toggles_counted ? "payload" : "toggle_rate"},
          {"energy_pj", report.energy}};
  power::add_json(json, run.window);
  const auto mark = [&](nlohmann::json& figures) {
    if (!report.request.misfit.empty()) {
      figures["status"] = "misfit";
      figures["reason"] = report.request.misfit;
    }
  };
  mark(json);
  mark(json["energy_pj"]);
  if (report.replay) {
    json["traffic"] = "trace";
    json["requests"] = report.replay->requests();
    json["l1_hit_rate"] = report.replay->l1_hit_rate();
    json["trace"] = replay_json(report.request, *report.replay);
  } else {
    json["traffic"] = report.request.traffic;
    json["rate"] = report.request.rate;
  }
  nlohmann::json others = nlohmann::json::object();
  for (const power::Comparison& one : report.comparison) {
    const std::string name(power::to_string(one.estimator));
    if (one.report) {
      others[name] = *one.report;
      mark(others[name]);
    } else {
      others[name] = {{"status", "unavailable"}, {"reason", one.report.error().message}};
    }
  }
  json["estimators_pj"] = others;
  const auto ejected = static_cast<double>(std::max<std::uint64_t>(run.window.ejected_flits, 1));
  json["energy_pj_per_flit"] = report.energy.total().to<double>() / ejected;
}

std::vector<double> default_curve_rates() {
  std::vector<double> rates;
  for (int percent = 5; percent < 40; percent += 5) {
    rates.push_back(percent / 100.0);
  }
  for (int percent = 40; percent <= 100; percent += 2) {
    rates.push_back(percent / 100.0);
  }
  return rates;
}

Result<std::vector<CurvePoint>> curve(const SimulateRequest& request,
                                      const std::vector<double>& rates) {
  std::vector<double> ascending = rates;
  std::sort(ascending.begin(), ascending.end());
  const std::size_t workers =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, ascending.size() + 1);
  std::vector<CurvePoint> points;
  // A batch of rates at a time, so that little is simulated beyond saturation.
  for (std::size_t begin = 0; begin < ascending.size(); begin += workers) {
    const std::size_t end = std::min(begin + workers, ascending.size());
    std::vector<Result<RunResult>> results(end - begin, fail(ErrorCode::cancelled, "not run"));
    std::vector<std::thread> threads;
    for (std::size_t i = begin; i < end; ++i) {
      threads.emplace_back([&, i] {
        SimulateRequest one = request;
        one.rate = ascending[i];
        results[i - begin] = run_network(one);
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
      points.push_back(CurvePoint{ascending[i], std::move(*result)});
      if (!points.back().run.stable) {
        return points;
      }
    }
  }
  return points;
}

nlohmann::json curve_json(const SimulateRequest& request, const std::vector<CurvePoint>& points) {
  nlohmann::json json = {{"network", request.network}, {"traffic", request.traffic}};
  json["points"] = nlohmann::json::array();
  for (const CurvePoint& point : points) {
    json["points"].push_back(
        {{"rate", point.rate},
         {"avg_packet_latency", point.run.avg_packet_latency},
         {"avg_network_latency", point.run.avg_network_latency},
         {"p99_packet_latency", point.run.p99_packet_latency},
         {"accepted_flits_per_node_cycle", point.run.accepted_flits_per_node_cycle},
         {"stable", point.run.stable}});
  }
  return json;
}

nlohmann::json heatmap_json(const SimulateReport& report) {
  const auto cycles = static_cast<double>(std::max<std::uint64_t>(report.run.window.cycles, 1));
  nlohmann::json json = {{"width", report.request.k}, {"height", height_of(report.request)}};
  json["links"] = nlohmann::json::array();
  for (const LinkUse& link : report.run.links) {
    json["links"].push_back({{"from", link.from_router},
                             {"to", link.to_router},
                             {"use", static_cast<double>(link.flits) / cycles}});
  }
  return json;
}

std::string heatmap_text(const SimulateReport& report) {
  const auto width = static_cast<std::uint32_t>(report.request.k);
  const auto height = static_cast<std::uint32_t>(height_of(report.request));
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
