#include "simulate/timing_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "simulate/photonic_options.hpp"
#include "simulate/simulate_options.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/sim/gpu/data_sheet.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::cli {
namespace {

constexpr const char* kTiming = "Timing mode";

// Whether the command line gives a key of the network.
bool given(const CLI::App& command, std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  const auto has = [&command](const std::string& name) {
    const CLI::Option* option = command.get_option_no_throw("--" + name);
    return option != nullptr && option->count() > 0;
  };
  if (key == "width" || key == "height") return has("k") || has("height");
  if (key == "error-threshold") return has("approx-threshold");
  if (key == "vc-allocator") return has("allocator");
  if (key == "sw-allocator") return has("allocator") || has("sw-allocator");
  return has(key);
}

// Where the command line says something, it wins.
Status apply(const TimingArguments& arguments, sim::net::NetworkConfig& config) {
  WW_ASSIGN(asked, sim::net::network_config(arguments.network, 2));
  // Keys come in the same order from both.
  std::vector<void*> targets;
  sim::net::for_each_key(config, [&](const char*, auto& field) { targets.push_back(&field); });
  std::size_t next = 0;
  sim::net::for_each_key(asked, [&](const char* key, auto& field) {
    auto& target = *static_cast<std::remove_reference_t<decltype(field)>*>(targets[next++]);
    if (given(*arguments.command, key)) target = field;
  });
  return {};
}

Result<sim::gpu::ChipRequest> chip_of(const microbench::DeviceRequest& device) {
  const DeviceName name(device.name);
  if (!name.is_virtual()) {
    return fail(ErrorCode::unsupported,
                "timing mode is a virtual device's; --device virtual:dapper", device.name);
  }
  sim::gpu::ChipRequest request;
  request.chip = name.chip();
  request.seed = device.chip_seed;
  WW_ASSIGN(chip_class, sim::gpu::chip_class_from_string(device.chip_class));
  request.chip_class = chip_class;
  return request;
}

Status refuse_without_mode(const TimingArguments& arguments) {
  for (const CLI::Option* option : arguments.command->get_options()) {
    const std::string& group = option->get_group();
    if (option->count() == 0 || option->get_name() == "--mode") continue;
    if (group != kTiming && group != "Network" && group != "Routers" &&
        group != "dapper and approx-noc" && group != kLightGroup && group != kLaserGroup) {
      continue;
    }
    return fail(ErrorCode::invalid_argument, "means something with --mode timing only",
                option->get_name());
  }
  return {};
}

}  // namespace

TimingArguments::TimingArguments() {
  const sim::net::NetworkConfig baseline = sim::net::dapper_baseline();
  network.vcs = baseline.vcs;
  network.vc_buffer = baseline.vc_buffer;
  network.routing_delay = baseline.routing_delay;
  network.classes = 2;
}

void add_timing_options(CLI::App& command, TimingArguments& arguments) {
  arguments.command = &command;
  command
      .add_option("--mode", arguments.mode,
                  "functional: as fast as can be; timing: in the time of a network, and loads get "
                  "what it delivers")
      ->check(CLI::IsMember({"functional", "timing"}))
      ->capture_default_str();
  command
      .add_option("--timing", arguments.settings,
                  "Settings of the system (TOML, docs/timing.md); options go before it")
      ->group(kTiming);
  command
      .add_option("--memory-nodes", arguments.network.memory_nodes,
                  "Nodes of the L2 slices and memory controllers, as 1,7,8,14 (default: one a row)")
      ->delimiter(',')
      ->group(kTiming);
  command
      .add_option("--core-nodes", arguments.network.core_nodes,
                  "Nodes of the compute units (default: the others)")
      ->delimiter(',')
      ->group(kTiming);
  command
      .add_option("--approx", arguments.approximations,
                  "Approximable buffers of a program that declares none: KERNEL.ARGUMENT:TYPE or "
                  "#N:TYPE (its N-th buffer), types int32, float32, uint8")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kTiming);
  command.add_option("--timing-report", arguments.report, "Report of the launches (JSON)")
      ->group(kTiming);
  command
      .add_option("--power-samples", arguments.power_samples,
                  "What the device's power sensor reads, the network's share included (CSV)")
      ->group(kTiming);
  add_network_options(command, arguments.network);
}

Status enter_mode(const TimingArguments& arguments, const microbench::DeviceRequest& device) {
  if (!arguments.timing()) return refuse_without_mode(arguments);
  WW_ASSIGN(request, chip_of(device));
  WW_ASSIGN(sheet, sim::gpu::data_sheet(request));
  sim::gpu::TimingRequest wanted;
  if (!arguments.settings.empty()) {
    WW_ASSIGN(text, read_file(arguments.settings));
    wanted.settings = std::move(text);
    wanted.origin = arguments.settings;
  }
  if (given(*arguments.command, "network")) wanted.network = arguments.network.network;
  WW_ASSIGN(made, sim::gpu::make_timing(sheet, wanted));
  sim::gpu::TimingConfig config = *made;
  WW_TRY(apply(arguments, config.network));
  if (given(*arguments.command, "core_nodes")) config.core_nodes = arguments.network.core_nodes;
  WW_TRY(sim::gpu::validate(config));
  // The settings' text says it all.
  ::unsetenv("WIREWATT_NETWORK");
  ::unsetenv("WIREWATT_APPROX_THRESHOLD");
  ::setenv("WIREWATT_MODE", "timing", 1);
  ::setenv("WIREWATT_TIMING", sim::gpu::to_toml(config).c_str(), 1);
  if (!arguments.approximations.empty()) {
    ::setenv("WIREWATT_APPROX", fmt::format("{}", fmt::join(arguments.approximations, ",")).c_str(),
             1);
  }
  if (!arguments.power_samples.empty()) {
    ::setenv("WIREWATT_SAMPLES", arguments.power_samples.c_str(), 1);
  }
  if (!arguments.report.empty()) {
    ::setenv("WIREWATT_TIMING_REPORT", arguments.report.c_str(), 1);
  }
  return {};
}

}  // namespace ww::cli
