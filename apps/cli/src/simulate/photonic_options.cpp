#include "simulate/photonic_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "option.hpp"

namespace ww::cli {
namespace {

constexpr const char* kLightPower = "Power of light";

}  // namespace

void add_photonic_power_options(CLI::App& command, sim::power::PhotonicPowerConfig& power,
                                std::string& budget_scope) {
  sim::power::OpticalLosses& losses = power.losses;
  add_shown(command, kLightPower, "--link-budget", budget_scope,
            "Path that the link budget assumes: worked (least), power-path, all-rings");
  command
      .add_option("--splitters", power.splitters,
                  "Splitters in a row (default: as --link-budget says)")
      ->group(kLightPower);
  command
      .add_option("--off-rings", power.off_rings,
                  "Off-resonance rings that the light passes (default: as --link-budget says)")
      ->group(kLightPower);
  command
      .add_option("--crossings", power.crossings,
                  "Waveguides that the light crosses (default: none)")
      ->group(kLightPower);
  add_shown(command, kLightPower, "--coupler-db", losses.coupler_db, "Coupler loss [dB]");
  add_shown(command, kLightPower, "--waveguide-db-per-cm", losses.waveguide_db_per_cm,
            "Waveguide loss [dB/cm]");
  add_shown(command, kLightPower, "--bend-db", losses.bend_db, "Loss of a quarter turn [dB]");
  add_shown(command, kLightPower, "--splitter-db", losses.splitter_db, "Splitter loss [dB]");
  add_shown(command, kLightPower, "--crossing-db", losses.crossing_db,
            "Loss of a waveguide crossing [dB]");
  add_shown(command, kLightPower, "--off-ring-db", losses.off_ring_db,
            "Loss of passing an off-resonance ring [dB]");
  add_shown(command, kLightPower, "--modulator-db", losses.modulator_db, "Modulator loss [dB]");
  add_shown(command, kLightPower, "--drop-db", losses.drop_db,
            "Drop loss of the receiving ring [dB]");
  add_shown(command, kLightPower, "--detector-db", losses.detector_db, "Photodetector loss [dB]");
  add_shown(command, kLightPower, "--ring-quality", power.crosstalk.quality,
            "Quality factor of the rings, for crosstalk (assumed)");
  add_shown(command, kLightPower, "--receiver-uw", power.receiver_uw,
            "Optical power that a detector needs [uW]");
  add_shown(command, kLightPower, "--laser-efficiency", power.laser_efficiency,
            "Optical power over wall-plug power (from DSENT)");
  add_shown(command, kLightPower, "--tuning-uw-per-ring", power.tuning_uw_per_ring,
            "Heater power of a ring [uW] (from DSENT)");
  add_shown(command, kLightPower, "--modulator-fj-per-bit", power.modulator_fj_per_bit,
            "Energy of a modulator [fJ/bit]");
  add_shown(command, kLightPower, "--detector-fj-per-bit", power.detector_fj_per_bit,
            "Energy of a receiver [fJ/bit]");
}

std::vector<std::vector<std::string>> photonic_event_rows(
    const sim::power::PhotonicEvents& events) {
  if (!events.present) return {};
  return {
      {"wait in station", fmt::format("{:.2f} cycles", events.wait_cycles_per_message())},
      {"lasers for data",
       fmt::format("{:.2f} of {} lit, {:.1f}% of it used", events.mean_lit_units(),
                   events.structure.data_units, 100 * events.use_of_light())},
      {"tokens", fmt::format("{:.2f} messages a grab, {:.3f} failed attempts a message",
                             events.messages_per_grab(), events.failed_attempts_per_message())}};
}

std::vector<std::vector<std::string>> photonic_energy_rows(const sim::power::EnergyReport& energy) {
  if (!energy.photonic) return {};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : energy.photonic->components()) {
    rows.push_back({std::string("  ") + name, fmt::format("{:.4g} pJ", value.to<double>())});
  }
  const auto& budget = energy.photonic->budget;
  rows.push_back({"  link budget", fmt::format("{:.2f} dB, {:.4g} uW a wavelength, {:.4g} W a unit",
                                               budget.total_db(), budget.wavelength_uw(),
                                               energy.photonic->unit.to<double>())});
  return rows;
}

}  // namespace ww::cli
