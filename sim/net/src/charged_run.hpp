// One run of synthetic traffic with its joules, as every mode of a simulation has them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ww/sim/net/simulate.hpp"

namespace ww::sim::net {

struct ChargedRun {
  RunResult run;
  power::EnergyReport energy;  // of the measured cycles
};
// Errors as simulate().
[[nodiscard]] Result<ChargedRun> run_charged(const Simulation& simulation);

// Adds measured_cycles, energy_pj, energy_pj_per_flit and energy_figures; with the reason of a
// `misfit`, the mark that figures of a flagged calibration carry.
void add_energy(nlohmann::json& json, const RunResult& run, const power::EnergyReport& energy,
                const std::string& misfit);

}  // namespace ww::sim::net
