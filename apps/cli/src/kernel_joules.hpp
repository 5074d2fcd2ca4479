// Joules of each kernel, as the commands that find them show them.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/measure/counter_file.hpp"
#include "ww/session/kernel_energy.hpp"

namespace ww::cli {

// How a power register responds: --window or --lag and what goes with them. The options are the
// same in every command.
struct ResponseOptions {
  double window_ms{}, lag_ms{};
  double response_percent{5};
  double delay_ms{}, delay_error_ms{5};
  double quantum_w{};
  double gain_percent{5};

  [[nodiscard]] bool given() const { return window_ms > 0 || lag_ms > 0; }
  // Returns the sensor. With neither window nor lag the register cannot be used.
  [[nodiscard]] session::KernelSensor sensor() const;
};
void add_response_options(CLI::App& command, ResponseOptions& options);

// Rows of a table with its heading: kernel, launches, joules, status. None without kernels.
[[nodiscard]] std::vector<std::vector<std::string>> kernel_joules_rows(
    const session::KernelEnergies& energies);
// Keys "sensed" (a row for each kernel), "sensed_by" (the sensor's column) and
// "sensed_covariance_j2". Nothing without kernels.
void put_kernel_joules(nlohmann::json& json, const session::KernelEnergies& energies);

}  // namespace ww::cli
