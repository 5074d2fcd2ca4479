#include "simulate/photonic_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "option.hpp"

namespace ww::cli {
namespace {

constexpr const char* kLight = kLightGroup;
constexpr const char* kLaser = kLaserGroup;
constexpr const char* kLightPower = "Power of light";

// What a key of PhotonicConfig says on the command line.
struct Described {
  std::string_view key;
  const char* group;
  const char* help;
};

constexpr Described kKeys[] = {
    {"llc_stations", kLight,
     "Stations of LLC banks, as 1,3,4 (default: the memory nodes', else every other one along the "
     "serpentine)"},
    {"station_queue", kLight, "Messages a station holds"},
    {"cluster_delay", kLight, "Core cycles from a node to its station, and back (assumed)"},
    {"core_mhz", kLight, "Clock of the network's cycles"},
    {"optical_mhz", kLight, "Clock of the light"},
    {"double_data_rate", kLight, "Bits on both edges: 0 or 1"},
    {"nc_wavelengths", kLight, "Of an MWSR link (NC_network)"},
    {"c_wavelengths", kLight, "Of an SWMR link (C_network)"},
    {"prior_wavelengths", kLight, "Of each link of prior-opt (assumed: as many)"},
    {"waveguide_wavelengths", kLight, "Of a waveguide"},
    {"comb_wavelengths", kLight, "That the comb makes"},
    {"reservation_cycles", kLight, "Optical cycles in which SWMR tells its readers (assumed)"},
    {"die_mm2", kLight, "Square die under the serpentine"},
    {"waveguide_ps_per_mm", kLight, "Delay"},
    {"bends_per_pitch", kLight, "Quarter turns from station to station (assumed)"},
    {"power_units", kLight, "Power waveguides, tokens and lasers"},
    {"max_grab", kLight, "Power tokens a station may hold"},
    {"hold_messages", kLight, "Messages sent before a data token is given back (assumed)"},
    {"grab_cycles", kLight, "Optical cycles from token to first bit (assumed)"},
    {"backoff_loops", kLight, "First pause in turns of the token waveguide (assumed)"},
    {"backoff_doublings", kLight,
     "Failures before a station listens until it has its token (assumed)"},
    {"token_order", kLight, "What a station takes first: power (fig. 11) or data"},
    {"overhead_units", kLaser, "Units of power for tokens and predictions, lit always"},
    {"laser_epoch", kLaser, "Core cycles"},
    {"prediction_lead", kLaser, "Core cycles before an epoch's end in which predictions are made"},
    {"halt_before", kLaser, "Core cycles without traffic, at its end"},
    {"halt_after", kLaser, "And at the beginning of the next"},
    {"unit_cap", kLaser, "The most that v and w can be"},
    {"floor_units", kLaser, "Data units lit whatever is predicted"},
    {"table_start", kLaser, "What entries of the power table begin with (assumed)"},
    {"table_counts", kLaser, "P of equation (3): units lit, or held (assumed)"},
    {"wait_counts", kLaser, "W: waits of messages summed, or of the station (assumed)"},
    {"predictor", kLaser, "hybrid, flex, restr, or perfect (a bound)"},
    {"predictor_alpha", kLaser, "Of both predictors"},
    {"predictor_beta", kLaser, "Of Flex_Pred"},
    {"rt", kLaser, "Threshold of messages"},
    {"wt", kLaser, "Threshold of waiting, core cycles"},
    {"flex_literal", kLaser, "Flex_Pred as printed, true of idle stations too"},
};

const Described& described(std::string_view key) {
  const auto found = std::ranges::find(kKeys, key, &Described::key);
  assert(found != std::end(kKeys) && "a key of PhotonicConfig has no line in kKeys");
  return *found;
}

}  // namespace

void add_photonic_options(CLI::App& command, sim::net::PhotonicConfig& keys) {
  sim::net::for_each_photonic_key(keys, [&command](std::string_view key, auto& field) {
    const Described& line = described(key);
    std::string name = "--" + std::string(key);
    std::ranges::replace(name, '_', '-');
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::vector<std::uint32_t>>) {
      command.add_option(name, field, line.help)->delimiter(',')->group(line.group);
    } else if (key == "flex_literal") {
      if constexpr (std::is_same_v<Field, bool>) {
        command.add_flag(name, field, line.help)->group(line.group);
      }
    } else {
      add_shown(command, line.group, name, field, line.help);
    }
  });
}

void add_photonic_power_options(CLI::App& command, sim::power::PhotonicPowerConfig& power,
                                std::string& budget_scope) {
  sim::power::OpticalLosses& losses = power.losses;
  add_shown(command, kLightPower, "--link-budget", budget_scope,
            "What light passes: worked (least), power-path, all-rings");
  command.add_option("--splitters", power.splitters, "In a row; else as --link-budget says")
      ->group(kLightPower);
  command
      .add_option("--off-rings", power.off_rings,
                  "Off-resonance rings passed; else as --link-budget says")
      ->group(kLightPower);
  command.add_option("--crossings", power.crossings, "Waveguides crossed (default: none)")
      ->group(kLightPower);
  add_shown(command, kLightPower, "--coupler-db", losses.coupler_db, "Loss");
  add_shown(command, kLightPower, "--waveguide-db-per-cm", losses.waveguide_db_per_cm, "Loss");
  add_shown(command, kLightPower, "--bend-db", losses.bend_db, "Loss of a quarter turn");
  add_shown(command, kLightPower, "--splitter-db", losses.splitter_db, "Loss");
  add_shown(command, kLightPower, "--crossing-db", losses.crossing_db, "Loss");
  add_shown(command, kLightPower, "--off-ring-db", losses.off_ring_db, "Loss of a ring passed by");
  add_shown(command, kLightPower, "--modulator-db", losses.modulator_db, "Loss");
  add_shown(command, kLightPower, "--drop-db", losses.drop_db, "Loss");
  add_shown(command, kLightPower, "--detector-db", losses.detector_db, "Loss");
  add_shown(command, kLightPower, "--ring-quality", power.crosstalk.quality,
            "Quality factor, for crosstalk (assumed)");
  add_shown(command, kLightPower, "--receiver-uw", power.receiver_uw,
            "Light that a detector needs");
  add_shown(command, kLightPower, "--laser-efficiency", power.laser_efficiency,
            "Light over wall-plug power (DSENT's)");
  add_shown(command, kLightPower, "--tuning-uw-per-ring", power.tuning_uw_per_ring,
            "Heaters (DSENT's)");
  add_shown(command, kLightPower, "--modulator-fj-per-bit", power.modulator_fj_per_bit, "Energy");
  add_shown(command, kLightPower, "--detector-fj-per-bit", power.detector_fj_per_bit, "Energy");
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
