// The runs of the GPUOPT study: programs in timing mode, each in a process of its own, kept in a
// folder so that what is there is not run again.
#include "gpuopt/gpuopt.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "reproduction/kept_runs.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/process.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/runner/job_pool.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/net/memory_link.hpp"

namespace ww::study::gpuopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kChip = "gpuopt";  // of `virtual:gpuopt`

struct Planned {
  std::string application;
  const GpuoptVariant* variant;
  fs::path folder;  // of this run: report.json, log
};

// HBM2 behind a controller as one bus: 64 bytes in a cycle of 1.4 GHz are 717 GB/s for all eight, a
// P100's 720. Banks and delays in nanoseconds are those of GPGPU-Sim's configuration of a QV100
// (850 MHz: RCD, RP and CL 12, RAS 28, RC 40, WR 10); channels that work side by side leave no
// tRRD.
sim::gpu::DramConfig hbm2() {
  sim::gpu::DramConfig dram;
  dram.clock_hz = 1.4e9;
  dram.banks = 64;
  dram.burst = 1;
  dram.rrd = 1;
  dram.rcd = dram.rp = dram.cl = 20;
  dram.ras = 46;
  dram.rc = 66;
  dram.wl = 4;
  dram.cdlr = 5;
  dram.wr = 17;
  dram.rtp = 5;
  // The optical link to the memory carries more than that; it adds its flight, both ways.
  if (const auto link = sim::net::MemoryLink::create({})) {
    dram.return_cycles +=
        static_cast<int>(std::ceil(2 * 1.4 / 5 * static_cast<double>(link->flight())));
  }
  return dram;
}

Result<std::string> settings_of(const GpuoptVariant& variant) {
  WW_ASSIGN(platform, gpuopt_platform(kChip, variant));
  return sim::gpu::to_toml(platform.timing);
}

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

Result<GpuoptRun> read_run(const fs::path& file) {
  WW_ASSIGN(text, read_file(file.string()));
  const json report = json::parse(text, nullptr, false);
  if (!report.is_object() || !report.contains("total")) {
    return fail(ErrorCode::parse_error, "no total in the report", file.string());
  }
  const json& total = report["total"];
  const json energy = total.value("network_energy_pj", json::object());
  const json light = total.value("light", json::object());
  const json l1 = total.value("l1", json::object());
  GpuoptRun run;
  run.cycles = number(total, "cycles");
  run.network_pj = number(energy, "total");
  run.laser_pj = number(energy, "laser");
  run.wait_cycles = number(light, "avg_wait_cycles");
  run.lit_units = number(light, "mean_lit_units");
  run.busy_stations = number(light, "busy_stations");
  run.messages = number(light, "messages");
  run.c_messages = number(light, "c_messages");
  if (run.messages > 0) run.failed_attempts = number(light, "failed_attempts") / run.messages;
  run.epochs_by_lit = light.value("epochs_by_lit_units", std::vector<double>());
  run.epochs_by_held = light.value("epochs_by_held_units", std::vector<double>());
  run.l1_accesses = number(l1, "accesses");
  run.reply_latency = number(total, "avg_reply_latency");
  run.load = number(total, "accepted_flits_per_node_cycle");
  run.cpu_s = number(total, "cpu_s");
  const json packets = total.value("packets", json::object());
  for (const auto& [kind, count] : packets.items()) {
    run.flits += number(count, "flits");
    run.packets += number(count, "packets");
    if (kind == "invalidation" || kind == "recall") {
      run.coherence_packets += number(count, "packets");
    }
    if (kind.ends_with("request")) run.requests += number(count, "packets");
    if (kind.ends_with("reply")) run.reply_flits += number(count, "flits");
  }
  if (!(run.cycles > 0)) {
    return fail(ErrorCode::bad_data, "the program launched no kernel", file.string());
  }
  return run;
}

}  // namespace

Result<GpuoptPlatform> gpuopt_platform(const std::string& chip, const GpuoptVariant& variant) {
  microbench::DeviceRequest device;
  device.name = virtual_device_name(chip);
  WW_ASSIGN(sheet, runner::chip_architecture(device));
  sim::gpu::TimingConfig config = sim::gpu::default_timing(sheet);
  config.network = variant.system.network;
  config.network.count_toggles = true;
  config.core_nodes = variant.system.core_nodes;
  config.l2_cycles += variant.l2_cycles_more;
  config.cus_in_use = variant.cus_in_use;
  config.request_cycles = variant.request_cycles;
  config.request_flit_bits = variant.request_flit_bits;
  config.reply_flit_bits = variant.reply_flit_bits;
  config.line_bytes = variant.line_bytes;
  config.l1_policy = variant.line_bytes == 64 ? variant.l1_policy : "launch";
  config.dram = hbm2();
  config.node_nm = variant.system.node_nm;
  config.link_mm = variant.system.link_mm;
  WW_TRY(sim::gpu::validate(config));
  return GpuoptPlatform{std::move(sheet), std::move(config)};
}

json to_json(const GpuoptRun& run) {
  return {{"cycles", run.cycles},
          {"network_energy_pj", run.network_pj},
          {"laser_pj", run.laser_pj},
          {"avg_wait_cycles", run.wait_cycles},
          {"mean_lit_units", run.lit_units},
          {"busy_stations", run.busy_stations},
          {"messages", run.messages},
          {"c_messages", run.c_messages},
          {"packets", run.packets},
          {"coherence_packets", run.coherence_packets},
          {"failed_attempts", run.failed_attempts},
          {"epochs_by_lit_units", run.epochs_by_lit},
          {"epochs_by_held_units", run.epochs_by_held},
          {"l1_accesses", run.l1_accesses},
          {"requests", run.requests},
          {"flits", run.flits},
          {"reply_flits", run.reply_flits},
          {"avg_reply_latency", run.reply_latency},
          {"accepted_flits_per_node_cycle", run.load},
          {"cpu_s", run.cpu_s}};
}

Result<GpuoptStudy> run_gpuopt_study(
    const GpuoptOptions& options,
    const std::function<void(const std::string&, double, double)>& done) {
  WW_ASSIGN(self, own_program());
  std::error_code ec;
  const auto variants = gpuopt_variants(options.quick);
  const fs::path runs = fs::path(options.out) / "runs" / options.size;
  KeptRuns kept(options.build);
  std::vector<Planned> plan;
  std::vector<runner::Job> jobs;
  std::vector<std::size_t> job_of;  // [job]: position in the plan
  std::vector<json> what;           // [job]
  for (const GpuoptVariant& variant : variants) {
    const fs::path file = runs / (variant.name + ".toml");
    WW_ASSIGN(settings, settings_of(variant));
    fs::create_directories(runs, ec);
    WW_TRY(write_file_atomically(file, settings));
    for (const std::string& application : gpuopt_applications()) {
      plan.push_back({application, &variant, runs / (application + "-" + variant.name)});
      const Planned& planned = plan.back();
      fs::create_directories(planned.folder, ec);
      if (ec) return fail(ErrorCode::io_error, ec.message(), planned.folder.string());
      const json key{{"settings", settings}, {"application", application}};
      if (kept.has(planned.folder, key)) continue;
      // Removes an earlier program's or setting's files, lest this run, if it fails, seem theirs.
      for (const char* file : {"done.json", "report.json"}) fs::remove(planned.folder / file, ec);
      jobs.push_back(
          {{self.string(), "workloads", "run", application, "--size", options.size, "--device",
            std::string("virtual:") + kChip, "--mode", "timing", "--timing", file.string(),
            "--timing-report", (planned.folder / "report.json").string(), "--json"},
           (planned.folder / "log").string()});
      job_of.push_back(plan.size() - 1);
      what.push_back(key);
    }
  }
  GpuoptStudy study;
  study.quick = options.quick;
  const auto total = static_cast<double>(plan.size());
  double finished = total - static_cast<double>(jobs.size());
  const auto count = [&](const Planned& planned) {
    done(fmt::format("{} on {}", planned.application, planned.variant->name), finished, total);
  };
  Status written;
  WW_TRY(runner::run_jobs(jobs, options.at_once, [&](std::size_t job, int code) {
    const Planned& planned = plan[job_of[job]];
    ++finished;
    if (code != 0) {
      study.failures[planned.application] = fmt::format("on {}: ended with {}; {} says why",
                                                        planned.variant->name, code, jobs[job].log);
      log::warn("{} {}", planned.application, study.failures[planned.application]);
    } else {
      written = kept.keep(planned.folder, what[job]);
      count(planned);
    }
    return written.has_value();
  }));
  WW_TRY(written);
  study.builds = kept.builds();
  for (const Planned& planned : plan) {
    if (!fs::exists(planned.folder / "done.json")) continue;
    WW_ASSIGN(run, read_run(planned.folder / "report.json"));
    study.runs[planned.application][planned.variant->name] = run;
  }
  if (study.runs.empty()) {
    return fail(ErrorCode::device_error, "no application ran; " + study.failures.begin()->second,
                options.out);
  }
  return study;
}

}  // namespace ww::study::gpuopt
