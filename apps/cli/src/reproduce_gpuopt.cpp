// Runs of the GPUOPT study: traces replayed on networks.
#include "reproduce_gpuopt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <thread>

#include "workload_trace.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using sim::net::NodeId;
using sim::net::SimulateRequest;

constexpr int kSmsPerCluster = 8;
// Every other station of the serpentine, on every network alike: a checkerboard.
constexpr NodeId kLlcRouters[] = {1, 3, 4, 6, 9, 11, 12, 14};
constexpr const char* kDevice = "virtual:w9100";

bool is_llc(NodeId router) {
  return std::find(std::begin(kLlcRouters), std::end(kLlcRouters), router) != std::end(kLlcRouters);
}

// Table 2: 64 SMs in 8 tiles, 8 LLC tiles with a bank and a controller each, a 4x4 grid, 128 B
// lines, an L1 of 32 KB and 4 ways; 16 nm. A trace carries lanes; 32 of them are a warp.
SimulateRequest system_of(int sms_per_cluster) {
  const auto emesh = sim::net::gpuopt_emesh();
  SimulateRequest request;
  request.k = 4;
  request.concentration = kSmsPerCluster;
  request.flit_bits = emesh.flit_bits;
  request.speculative = emesh.speculative;
  request.coalesce_lanes = 32;
  request.line_bytes = 128;
  request.l1_sets = 64;
  request.l1_ways = 4;
  request.max_outstanding = 64;
  request.node_nm = 16;
  request.clock_hz = 1.4e9;
  request.link_mm = 6.12;  // the pitch of 16 tiles on 600 mm2
  for (NodeId router = 0; router < 16; ++router) {
    if (is_llc(router)) {
      request.memory_nodes.push_back(router * kSmsPerCluster);
      continue;
    }
    for (int sm = 0; sm < sms_per_cluster; ++sm) {
      request.core_nodes.push_back(router * kSmsPerCluster + static_cast<NodeId>(sm));
    }
  }
  return request;
}

GpuoptVariant light(std::string name, std::string text, const char* network) {
  GpuoptVariant variant{std::move(name), std::move(text), system_of(kSmsPerCluster)};
  variant.request.network = network;
  variant.request.link_mm = 3.06;  // within a cluster: half a pitch
  return variant;
}

GpuoptVariant mesh(std::string name, std::string text, const char* network = "mesh") {
  GpuoptVariant variant{std::move(name), std::move(text), system_of(kSmsPerCluster)};
  variant.request.network = network;
  return variant;
}

void add_electrical(std::vector<GpuoptVariant>& all) {
  all.push_back(mesh("emesh", "EMESH, a 256-bit flit a core cycle"));
  all.push_back(mesh("emesh-10g", "EMESH, 256 wires at 10 Gb/s: 7 flits a core cycle"));
  all.back().request.flit_bits *= 7;
  all.push_back(mesh("emesh-2x", "EMESH, twice the links"));
  all.back().request.flit_bits *= 2;
  all.push_back(mesh("emesh-4x", "EMESH, four times the links"));
  all.back().request.flit_bits *= 4;
  all.push_back(mesh("emesh-slow", "EMESH, replies 20 cycles later"));
  all.back().request.memory_delay += 20;
  all.push_back(mesh("adaptive", "adaptive routing (DyXY)", "mesh-adaptive"));
  all.push_back(mesh("bufferless", "bufferless (BLESS)", "mesh-bufferless"));
  all.back().request.deflection = "bless";
  all.push_back(mesh("priority", "through traffic first", "mesh-priority"));
  for (const int sms : {1, 2, 4}) {
    all.push_back(mesh(fmt::format("sms-{}", 8 * sms), fmt::format("EMESH, {} SMs", 8 * sms)));
    all.back().request.core_nodes = system_of(sms).core_nodes;
  }
}

void add_optical(std::vector<GpuoptVariant>& all) {
  all.push_back(light("prior-opt", "Prior_Opt", "prior-opt"));
  all.push_back(light("gpuopt", "GPUOPT", "gpuopt"));
  all.push_back(light("ps", "PS_GPUOPT", "ps-gpuopt"));
  const auto ps = [&](const char* name, const char* text, auto change) {
    all.push_back(light(name, text, "ps-gpuopt"));
    change(all.back().request.photonic);
  };
  ps("flex", "PS_GPUOPT, Flex_Pred everywhere", [](auto& keys) { keys.predictor = "flex"; });
  ps("restr", "PS_GPUOPT, Restr_Pred everywhere", [](auto& keys) { keys.predictor = "restr"; });
  ps("alpha-1", "PS_GPUOPT, alpha 1, beta 0.5", [](auto& keys) {
    keys.alpha = 1;
    keys.beta = 0.5;
  });
  ps("literal", "PS_GPUOPT, Flex_Pred as printed", [](auto& keys) { keys.flex_literal = true; });
  ps("perfect", "a perfect predictor", [](auto& keys) { keys.predictor = "perfect"; });
}

// Around the paper's choices: stations cannot change with 64 SMs in 8 tiles, the rest can.
void add_design_space(std::vector<GpuoptVariant>& all) {
  const auto ps = [&](std::string name, std::string text, auto change) {
    all.push_back(light(std::move(name), std::move(text), "ps-gpuopt"));
    change(all.back().request.photonic);
  };
  for (const int epoch : {250, 500, 2000, 4000}) {
    ps(fmt::format("epoch-{}", epoch), fmt::format("epochs of {}", epoch),
       [&](auto& keys) { keys.epoch = epoch; });
  }
  for (const int wavelengths : {64, 256}) {
    ps(fmt::format("nc-{}", wavelengths), fmt::format("{} wavelengths", wavelengths),
       [&](auto& keys) { keys.nc_wavelengths = wavelengths; });
  }
  for (const int hold : {1, 16}) {
    ps(fmt::format("hold-{}", hold), fmt::format("{} message(s) a grab", hold),
       [&](auto& keys) { keys.hold_messages = hold; });
  }
  for (const int rt : {32, 512}) {
    ps(fmt::format("rt-{}", rt), fmt::format("RT {}", rt), [&](auto& keys) { keys.rt = rt; });
  }
}

GpuoptRun run_of(const sim::net::SimulateReport& report) {
  const auto& window = report.run.window;
  const auto& stats = *report.replay;
  GpuoptRun run;
  run.cycles = static_cast<double>(report.run.cycles.value());
  run.network_pj = report.energy.total().to<double>();
  run.wait_cycles = window.photonic.wait_cycles_per_message();
  run.lit_units = window.photonic.mean_lit_units();
  run.busy_stations = window.photonic.mean_busy_stations();
  run.messages = static_cast<double>(window.photonic.messages);
  run.c_messages = static_cast<double>(window.photonic.c_messages);
  run.overhead_units = window.photonic.structure.overhead_units;
  if (report.energy.photonic) {
    run.laser_pj = report.energy.photonic->laser.to<double>();
    run.unit_w = report.energy.photonic->unit.to<double>();
  }
  run.reads = static_cast<double>(stats.read_requests);
  run.writes = static_cast<double>(stats.write_requests);
  run.atomics = static_cast<double>(stats.atomic_requests);
  run.l1_accesses = static_cast<double>(stats.l1_accesses);
  run.flits = static_cast<double>(window.injected_flits);
  // A reply carries a line behind its header; those of writes are a header, and those of atomics,
  // whose results differ in size, are counted as one flit, which is too little.
  const double line_flits =
      std::ceil((sim::net::ReplayConfig{}.header_bytes + report.request.line_bytes) * 8.0 /
                report.request.flit_bits);
  run.reply_flits = run.reads * line_flits + run.writes + run.atomics;
  run.packets_per_cpu_s =
      report.run.cpu_s > 0 ? 2 * static_cast<double>(stats.requests()) / report.run.cpu_s : 0;
  return run;
}

struct Field {
  const char* name;
  double GpuoptRun::*value;
};
constexpr Field kFields[] = {{"cycles", &GpuoptRun::cycles},
                             {"network_pj", &GpuoptRun::network_pj},
                             {"laser_pj", &GpuoptRun::laser_pj},
                             {"wait_cycles", &GpuoptRun::wait_cycles},
                             {"lit_units", &GpuoptRun::lit_units},
                             {"busy_stations", &GpuoptRun::busy_stations},
                             {"unit_w", &GpuoptRun::unit_w},
                             {"overhead_units", &GpuoptRun::overhead_units},
                             {"messages", &GpuoptRun::messages},
                             {"c_messages", &GpuoptRun::c_messages},
                             {"reads", &GpuoptRun::reads},
                             {"writes", &GpuoptRun::writes},
                             {"atomics", &GpuoptRun::atomics},
                             {"l1_accesses", &GpuoptRun::l1_accesses},
                             {"flits", &GpuoptRun::flits},
                             {"reply_flits", &GpuoptRun::reply_flits},
                             {"packets_per_cpu_s", &GpuoptRun::packets_per_cpu_s}};

fs::path file_of(const GpuoptOptions& options, const std::string& application,
                 const std::string& variant) {
  return fs::path(options.out) / "runs" /
         fmt::format("{}.{}.{}.json", application, variant, options.size);
}

std::optional<GpuoptRun> kept(const fs::path& file) {
  const auto text = read_file(file.string());
  const json found = json::parse(text ? *text : std::string(), nullptr, false);
  GpuoptRun run;
  for (const Field& field : kFields) {
    if (!found.is_object() || !found.contains(field.name) || !found[field.name].is_number()) {
      return std::nullopt;
    }
    run.*field.value = found[field.name].get<double>();
  }
  return run;
}

}  // namespace

json to_json(const GpuoptRun& run) {
  json all = json::object();
  for (const Field& field : kFields) all[field.name] = run.*field.value;
  return all;
}

std::vector<std::string> gpuopt_applications() {
  return {"bp", "bfs", "gs", "hs", "hs3", "hys", "nn", "pf", "srad", "sc"};
}

std::vector<GpuoptVariant> gpuopt_variants(bool quick) {
  std::vector<GpuoptVariant> all;
  add_electrical(all);
  add_optical(all);
  if (!quick) add_design_space(all);
  return all;
}

namespace {

// Every variant of one application that is not kept yet, on two threads.
Status run_application(const GpuoptOptions& options, const std::string& application,
                       const std::vector<GpuoptVariant>& variants, GpuoptStudy& study,
                       const std::function<void(const std::string&)>& done) {
  std::vector<const GpuoptVariant*> missing;
  for (const GpuoptVariant& variant : variants) {
    if (const auto run = kept(file_of(options, application, variant.name))) {
      study.runs[application][variant.name] = *run;
      done(application);
    } else {
      missing.push_back(&variant);
    }
  }
  if (missing.empty()) return {};
  WW_ASSIGN(traced, trace_workload(application, options.size, kDevice));
  const std::string trace = traced.path();
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Status first;
  const auto work = [&] {
    while (true) {
      const std::size_t index = next++;
      if (index >= missing.size()) return;
      const GpuoptVariant& variant = *missing[index];
      SimulateRequest request = variant.request;
      request.trace = trace;
      const auto report = sim::net::simulate(request);
      const std::lock_guard lock(mutex);
      Status written;
      if (report) {
        const GpuoptRun run = run_of(*report);
        study.runs[application][variant.name] = run;
        written = write_file_atomically(file_of(options, application, variant.name),
                                        to_json(run).dump(1) + "\n");
        done(application + " on " + variant.name);
      } else {
        written = fail(report.error().code, report.error().message,
                       variant.name + ": " + report.error().context);
      }
      if (!written) {
        if (first) first = written;
        next = missing.size();
        return;
      }
    }
  };
  std::thread second(work);
  work();
  second.join();
  return first;
}

}  // namespace

Result<GpuoptStudy> run_gpuopt_study(
    const GpuoptOptions& options,
    const std::function<void(const std::string&, double, double)>& done) {
  std::error_code ec;
  fs::create_directories(fs::path(options.out) / "runs", ec);
  if (ec) return fail(ErrorCode::io_error, ec.message(), options.out);
  const auto variants = gpuopt_variants(options.quick);
  GpuoptStudy study;
  study.applications = gpuopt_applications();
  const auto total = static_cast<double>(variants.size() * study.applications.size());
  double so_many = 0;
  for (const std::string& application : study.applications) {
    const Status ran =
        run_application(options, application, variants, study,
                        [&](const std::string& name) { done(name, ++so_many, total); });
    if (!ran) {
      if (ran.error().code == ErrorCode::cancelled) return tl::unexpected<Error>(ran.error());
      spdlog::warn("{}: {}", application, ran.error().text());
      study.failures[application] = ran.error().text();
    }
  }
  if (study.runs.empty()) {
    return fail(ErrorCode::device_error, "no application ran: " + study.failures.begin()->second,
                options.out);
  }
  return study;
}

}  // namespace ww::cli
