// The power of the photonic networks on the command line, and what they did, in words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ww/sim/power/accounting.hpp"

namespace ww::cli {

// Both must live as long as `command`. `budget_scope` is a text for budget_scope_from_string.
void add_photonic_power_options(CLI::App& command, sim::power::PhotonicPowerConfig& power,
                                std::string& budget_scope);

// Rows for print_table; none where there is no light.
[[nodiscard]] std::vector<std::vector<std::string>> photonic_event_rows(
    const sim::power::PhotonicEvents& events);
[[nodiscard]] std::vector<std::vector<std::string>> photonic_energy_rows(
    const sim::power::EnergyReport& energy);

}  // namespace ww::cli
