#include "simulate/timing_options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "option.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::cli {
namespace {

constexpr const char* kTiming = "Timing mode";

bool given(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

// Reads the command line's settings, which win over those of the file.
Result<sim::gpu::TimingRequest> request_of(const TimingArguments& arguments) {
  sim::gpu::TimingRequest request;
  if (!arguments.settings.empty()) {
    WW_ASSIGN(text, read_file(arguments.settings));
    request.settings = std::move(text);
    request.origin = arguments.settings;
  }
  WW_ASSIGN(keys, given_keys(*arguments.command, arguments.network));
  request.keys = std::move(keys);
  std::erase_if(request.keys, [](const auto& key) { return key.first == "network"; });
  if (given(*arguments.command, "--network")) {
    request.network = arguments.network.config.network;
  }
  if (given(*arguments.command, "--core-nodes")) {
    request.keys.emplace_back("core_nodes",
                              fmt::format("{}", fmt::join(arguments.core_nodes, ",")));
  }
  if (!arguments.packet_trace.empty()) {
    request.keys.emplace_back("packet_trace", std::filesystem::absolute(arguments.packet_trace));
  }
  return request;
}

Status refuse_without_mode(const TimingArguments& arguments) {
  for (const CLI::Option* option : arguments.command->get_options()) {
    if (option->count() == 0 || option->get_name() == "--mode") continue;
    if (option->get_group() != kTiming && !is_network_option(*option)) continue;
    return fail(ErrorCode::invalid_argument, "needs --mode timing", option->get_name());
  }
  return {};
}

}  // namespace

TimingArguments::TimingArguments() {
  network.config.classes = 2;
}

void add_timing_options(CLI::App& command, TimingArguments& arguments) {
  arguments.command = &command;
  command
      .add_option("--mode", arguments.mode,
                  "functional: as fast as possible; timing: in the time of a network, whose "
                  "delivered data the loads get")
      ->check(CLI::IsMember({"functional", "timing"}))
      ->capture_default_str();
  as_input_file(
      command.add_option("--timing", arguments.settings,
                         "Settings of the system (TOML, docs/timing.md); options go before it"))
      ->group(kTiming);
  command
      .add_option("--memory-nodes", arguments.network.config.memory_nodes,
                  "Nodes of the L2 slices and memory controllers, as 1,7,8,14 (default: one a row)")
      ->delimiter(',')
      ->group(kTiming);
  command
      .add_option("--core-nodes", arguments.core_nodes,
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
  as_output_file(
      command.add_option("--timing-report", arguments.report, "Report of the launches (JSON)"))
      ->group(kTiming);
  as_output_file(
      command.add_option("--packet-trace", arguments.packet_trace,
                         "Every packet of the network with its time, for simulate --packet-trace"))
      ->group(kTiming);
  as_output_file(command.add_option(
                     "--power-samples", arguments.power_samples,
                     "What the device's power sensor reads, the network's share included (CSV)"))
      ->group(kTiming);
  add_network_options(command, arguments.network, "with --mode timing");
  as_input_file(command.get_option("--topology"));
}

Status enter_mode(const TimingArguments& arguments, const microbench::DeviceRequest& device,
                  sim::DriverSettings& settings) {
  if (!arguments.timing()) return refuse_without_mode(arguments);
  if (!DeviceName(device.name).is_virtual()) {
    return fail(ErrorCode::unsupported,
                "only virtual devices have a timing mode; give --device virtual:dapper",
                device.name);
  }
  WW_ASSIGN(architecture, runner::chip_architecture(device));
  WW_ASSIGN(wanted, request_of(arguments));
  WW_TRY(sim::gpu::make_timing(architecture, wanted));  // what is wrong is refused here
  ::setenv("WIREWATT_MODE", "timing", 1);
  if (wanted.network.empty()) {
    ::unsetenv("WIREWATT_NETWORK");
  } else {
    ::setenv("WIREWATT_NETWORK", wanted.network.c_str(), 1);
  }
  if (!arguments.power_samples.empty()) {
    ::setenv("WIREWATT_SAMPLES", arguments.power_samples.c_str(), 1);
  }
  // The driver reads the same file and the same keys: it gets their names, not the results.
  settings.timing =
      arguments.settings.empty() ? "" : std::filesystem::absolute(arguments.settings).string();
  settings.timing_keys.clear();
  for (const auto& [key, value] : wanted.keys) settings.timing_keys.push_back(key + "=" + value);
  settings.approx_threshold.reset();
  if (!arguments.approximations.empty()) settings.approx = arguments.approximations;
  if (!arguments.report.empty()) settings.timing_report = arguments.report;
  return {};
}

}  // namespace ww::cli
