#include "kernel_joules.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "option.hpp"
#include "output.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::cli {

using nlohmann::json;

session::KernelSensor ResponseOptions::sensor() const {
  session::KernelSensor known;
  known.gain_tolerance_95 = gain_percent / 100;
  if (!(lag_ms > 0) && !(window_ms > 0)) return known;
  auto response = measure::register_response(
      lag_ms > 0 ? measure::ResponseKind::lag : measure::ResponseKind::window,
      1e-3 * std::max(lag_ms, window_ms), response_percent / 100);
  response.delay_s = 1e-3 * delay_ms;
  response.delay_error_s = 1e-3 * delay_error_ms;
  response.quantum_w = quantum_w;
  response.gain_tolerance_95 = gain_percent / 100;
  known.response = response;
  return known;
}

void add_response_options(CLI::App& command, ResponseOptions& options) {
  auto* window = command
                     .add_option("--window", options.window_ms,
                                 "Window of a reading [ms], from doctor (no default)")
                     ->check(kAboveZero);
  command
      .add_option("--lag", options.lag_ms, "Time constant of a lagging sensor [ms] (no default)")
      ->check(kAboveZero)
      ->excludes(window);
  command
      .add_option("--response-error", options.response_percent,
                  "95% half-width of window or lag [%]")
      ->check(CLI::Range(0.0, 90.0))
      ->capture_default_str();
  command.add_option("--delay", options.delay_ms, "Delay of the readings [ms]")
      ->capture_default_str();
  command
      .add_option("--delay-error", options.delay_error_ms,
                  "95% half-width of the delay, with the clocks' alignment [ms]")
      ->check(kAtLeastZero)
      ->capture_default_str();
  command.add_option("--whole-watts", options.quantum_w, "Step of the readings [W]")
      ->check(kAtLeastZero)
      ->capture_default_str();
  command
      .add_option("--gain-error", options.gain_percent,
                  "95% half-width of the sensor's gain in the joules of kernels [%]")
      ->check(kAtLeastZero)
      ->capture_default_str();
}

std::vector<std::vector<std::string>> kernel_joules_rows(const session::KernelEnergies& energies) {
  std::vector<std::vector<std::string>> rows;
  const auto labels = kernel_labels(energies.kernels, &session::KernelEnergy::kernel);
  for (std::size_t k = 0; k < energies.kernels.size(); ++k) {
    const auto& kernel = energies.kernels[k];
    rows.push_back({labels[k], std::to_string(kernel.launches),
                    interval_text(kernel.energy_j, std::nullopt, "J"),
                    kernel.reason.empty() ? std::string(to_string(kernel.status))
                                          : "unresolved: " + kernel.reason});
  }
  if (!rows.empty()) rows.insert(rows.begin(), {"KERNEL", "LAUNCHES", "ENERGY (95%)", "STATUS"});
  return rows;
}

void put_kernel_joules(json& out, const session::KernelEnergies& energies) {
  if (energies.kernels.empty()) return;
  json rows = json::array();
  for (const auto& kernel : energies.kernels) {
    const auto& energy = kernel.energy_j;
    rows.push_back(
        {{"kernel", kernel.kernel},
         {"launches", kernel.launches},
         {"status", to_string(kernel.status)},
         {"reason", kernel.reason},
         {"energy_j",
          energy ? json{{"value", energy->value}, {"low", energy->low}, {"high", energy->high}}
                 : json()},
         {"launches_wanted", kernel.launches_wanted ? json(*kernel.launches_wanted) : json()}});
  }
  out["sensed"] = std::move(rows);
  out["sensed_by"] = energies.source;
  out["sensed_covariance_j2"] = energies.covariance;
}

}  // namespace ww::cli
