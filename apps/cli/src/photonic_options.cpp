#include "photonic_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::cli {
namespace {

constexpr const char* kLight = "Light (prior-opt, gpuopt, ps-gpuopt)";
constexpr const char* kLaser = "Laser control (ps-gpuopt)";
constexpr const char* kLightPower = "Power of light";

template <class T>
CLI::Option* add(CLI::App& command, const char* group, const char* name, T& value,
                 const char* help) {
  return command.add_option(name, value, help)->group(group)->capture_default_str();
}

void add_light(CLI::App& command, sim::net::PhotonicConfig& keys) {
  command
      .add_option("--llc-stations", keys.llc_stations,
                  "Stations of LLC banks, as 1,3,4 (default: the memory nodes', else every other "
                  "one along the serpentine)")
      ->delimiter(',')
      ->group(kLight);
  add(command, kLight, "--station-queue", keys.station_queue, "Messages a station holds");
  add(command, kLight, "--cluster-delay", keys.cluster_delay,
      "Core cycles from a node to its station, and back (assumed)");
  add(command, kLight, "--core-mhz", keys.core_mhz, "Clock of the network's cycles");
  add(command, kLight, "--optical-mhz", keys.optical_mhz, "Clock of the light");
  add(command, kLight, "--double-data-rate", keys.double_data_rate, "Bits on both edges: 0 or 1");
  add(command, kLight, "--nc-wavelengths", keys.nc_wavelengths, "Of an MWSR link (NC_network)");
  add(command, kLight, "--c-wavelengths", keys.c_wavelengths, "Of an SWMR link (C_network)");
  add(command, kLight, "--prior-wavelengths", keys.prior_wavelengths,
      "Of each link of prior-opt (assumed: as many)");
  add(command, kLight, "--waveguide-wavelengths", keys.waveguide_wavelengths, "Of a waveguide");
  add(command, kLight, "--comb-wavelengths", keys.comb_wavelengths, "That the comb makes");
  add(command, kLight, "--reservation-cycles", keys.reservation_cycles,
      "Optical cycles in which SWMR tells its readers (assumed)");
  add(command, kLight, "--die-mm2", keys.die_mm2, "Square die under the serpentine");
  add(command, kLight, "--waveguide-ps-per-mm", keys.waveguide_ps_per_mm, "Delay");
  add(command, kLight, "--bends-per-pitch", keys.bends_per_pitch,
      "Quarter turns from station to station (assumed)");
  add(command, kLight, "--power-units", keys.power_units, "Power waveguides, tokens and lasers");
  add(command, kLight, "--max-grab", keys.max_grab, "Power tokens a station may hold");
  add(command, kLight, "--hold-messages", keys.hold_messages,
      "Messages sent before a data token is given back (assumed)");
  add(command, kLight, "--grab-cycles", keys.grab_cycles,
      "Optical cycles from token to first bit (assumed)");
  add(command, kLight, "--backoff-loops", keys.backoff_loops,
      "First pause in turns of the token waveguide (assumed)");
  add(command, kLight, "--backoff-doublings", keys.backoff_doublings,
      "Failures before a station listens until it has its token (assumed)");
}

void add_laser(CLI::App& command, sim::net::PhotonicConfig& keys) {
  add(command, kLaser, "--overhead-units", keys.overhead_units,
      "Units of power for tokens and predictions, lit always");
  add(command, kLaser, "--laser-epoch", keys.epoch, "Core cycles");
  add(command, kLaser, "--prediction-lead", keys.prediction_lead,
      "Core cycles before an epoch's end in which predictions are made");
  add(command, kLaser, "--halt-before", keys.halt_before,
      "Core cycles without traffic, at its end");
  add(command, kLaser, "--halt-after", keys.halt_after, "And at the beginning of the next");
  add(command, kLaser, "--unit-cap", keys.unit_cap, "The most that v and w can be");
  add(command, kLaser, "--floor-units", keys.floor_units, "Data units lit whatever is predicted");
  add(command, kLaser, "--predictor", keys.predictor, "hybrid, flex, restr, or perfect (a bound)");
  add(command, kLaser, "--predictor-alpha", keys.alpha, "Of both predictors");
  add(command, kLaser, "--predictor-beta", keys.beta, "Of Flex_Pred");
  add(command, kLaser, "--rt", keys.rt, "Threshold of messages");
  add(command, kLaser, "--wt", keys.wt, "Threshold of waiting, core cycles");
  command
      .add_flag("--flex-literal", keys.flex_literal,
                "Flex_Pred as printed, true of idle stations too")
      ->group(kLaser);
}

void add_power(CLI::App& command, sim::power::PhotonicPowerConfig& power,
               std::string& budget_scope) {
  sim::power::OpticalLosses& losses = power.losses;
  add(command, kLightPower, "--link-budget", budget_scope,
      "What light passes: worked (least), power-path, all-rings");
  command.add_option("--splitters", power.splitters, "In a row; else as --link-budget says")
      ->group(kLightPower);
  command
      .add_option("--off-rings", power.off_rings,
                  "Off-resonance rings passed; else as --link-budget says")
      ->group(kLightPower);
  command.add_option("--crossings", power.crossings, "Waveguides crossed (default: none)")
      ->group(kLightPower);
  add(command, kLightPower, "--coupler-db", losses.coupler_db, "Loss");
  add(command, kLightPower, "--waveguide-db-per-cm", losses.waveguide_db_per_cm, "Loss");
  add(command, kLightPower, "--bend-db", losses.bend_db, "Loss of a quarter turn");
  add(command, kLightPower, "--splitter-db", losses.splitter_db, "Loss");
  add(command, kLightPower, "--crossing-db", losses.crossing_db, "Loss");
  add(command, kLightPower, "--off-ring-db", losses.off_ring_db, "Loss of a ring passed by");
  add(command, kLightPower, "--modulator-db", losses.modulator_db, "Loss");
  add(command, kLightPower, "--drop-db", losses.drop_db, "Loss");
  add(command, kLightPower, "--detector-db", losses.detector_db, "Loss");
  add(command, kLightPower, "--ring-quality", power.crosstalk.quality,
      "Quality factor, for crosstalk (assumed)");
  add(command, kLightPower, "--receiver-uw", power.receiver_uw, "Light that a detector needs");
  add(command, kLightPower, "--laser-efficiency", power.laser_efficiency,
      "Light over wall-plug power (DSENT's)");
  add(command, kLightPower, "--tuning-uw-per-ring", power.tuning_uw_per_ring, "Heaters (DSENT's)");
  add(command, kLightPower, "--modulator-fj-per-bit", power.modulator_fj_per_bit, "Energy");
  add(command, kLightPower, "--detector-fj-per-bit", power.detector_fj_per_bit, "Energy");
}

}  // namespace

void add_photonic_options(CLI::App& command, sim::net::PhotonicConfig& keys,
                          sim::power::PhotonicPowerConfig& power, std::string& budget_scope) {
  add_light(command, keys);
  add_laser(command, keys);
  add_power(command, power, budget_scope);
}

std::vector<std::vector<std::string>> photonic_event_rows(
    const sim::power::PhotonicEvents& events) {
  if (!events.present) return {};
  const auto per = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(std::max<std::uint64_t>(b, 1));
  };
  return {
      {"wait in station", fmt::format("{:.2f} cycles", events.wait_cycles_per_message())},
      {"lasers for data",
       fmt::format("{:.2f} of {} lit, {:.1f}% of it used", events.mean_lit_units(),
                   events.structure.data_units, 100 * events.use_of_light())},
      {"tokens", fmt::format("{:.2f} messages a grab, {:.3f} failed attempts a message",
                             per(events.messages, std::max(events.data_grabs, std::uint64_t{1})),
                             per(events.failed_attempts, events.messages))}};
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
