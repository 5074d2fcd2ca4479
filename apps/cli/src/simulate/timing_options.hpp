// The options of commands that run programs in timing mode: the virtual GPU in a network's time.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "simulate/network_options.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/sim/driver_settings.hpp"

namespace ww::cli {

struct TimingArguments {
  TimingArguments();
  CLI::App* command{};
  std::string mode{"functional"};
  NetworkOptions network;
  std::vector<std::uint32_t> core_nodes;
  std::string settings;  // TOML file
  std::string report;
  std::string packet_trace;  // file of every packet
  std::string power_samples;
  std::vector<std::string> approximations;

  [[nodiscard]] bool timing() const { return mode == "timing"; }
};

// `arguments` must live as long as `command`.
void add_timing_options(CLI::App& command, TimingArguments& arguments);

// Sets this process's environment and `settings`, which are still to be told, so that the virtual
// GPU, here or in programs that this one starts, runs as asked. Errors: invalid_argument (an option
// of timing mode without --mode timing), those of the settings, by key; unsupported (a device that
// is not virtual).
Status enter_mode(const TimingArguments& arguments, const microbench::DeviceRequest& device,
                  sim::DriverSettings& settings);

}  // namespace ww::cli
