#include "ww/sim/power/photonic_power.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace ww::sim::power {
namespace {

Status not_negative(std::string_view key, double value) {
  if (!(value >= 0)) {
    return fail(ErrorCode::out_of_range, fmt::format("{} = {} is below 0", key, value),
                std::string(key));
  }
  return {};
}

}  // namespace

std::array<std::pair<const char*, Picojoule>, 4> PhotonicEnergy::components() const {
  return {
      {{"laser", laser}, {"tuning", tuning}, {"modulators", modulators}, {"detectors", detectors}}};
}

void add_to_json(nlohmann::json& json, const PhotonicEnergy& energy) {
  for (const auto& [name, value] : energy.components()) {
    json[name] = value.to<double>();
  }
  nlohmann::json terms = nlohmann::json::object();
  for (const auto& [name, value] : energy.budget.terms()) {
    terms[std::string(name) + "_db"] = value;
  }
  json["photonic"] = {{"link_budget", std::move(terms)},
                      {"loss_db", energy.budget.total_db()},
                      {"wavelength_uw", energy.budget.wavelength_uw()},
                      {"unit_w", energy.unit.to<double>()}};
}

Result<PhotonicEnergy> photonic_energy(const PhotonicEvents& events,
                                       const PhotonicPowerConfig& config) {
  const PhotonicStructure& structure = events.structure;
  if (!(config.laser_efficiency > 0 && config.laser_efficiency <= 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("laser_efficiency = {} is outside 0 to 1", config.laser_efficiency),
                "laser_efficiency");
  }
  WW_TRY(not_negative("tuning_uw_per_ring", config.tuning_uw_per_ring));
  WW_TRY(not_negative("modulator_fj_per_bit", config.modulator_fj_per_bit));
  WW_TRY(not_negative("detector_fj_per_bit", config.detector_fj_per_bit));
  if (structure.data_units == 0 || !(structure.core_hz > 0)) {
    return fail(ErrorCode::out_of_range, "a photonic network needs at least one laser",
                "photonic.data_units");
  }
  OpticalPath path = path_of(structure, config.scope);
  path.splitters = config.splitters.value_or(path.splitters);
  path.off_rings = config.off_rings.value_or(path.off_rings);
  path.crossings = config.crossings.value_or(path.crossings);
  WW_ASSIGN(budget, link_budget(config.losses, path, config.receiver_uw, config.crosstalk,
                                static_cast<int>(structure.waveguide_wavelengths)));
  PhotonicEnergy energy;
  energy.budget = budget;
  energy.unit =
      Watt(structure.unit_wavelengths * budget.wavelength_uw() * 1e-6 / config.laser_efficiency);
  const double seconds = static_cast<double>(events.core_cycles) / structure.core_hz;
  const double lit_seconds = static_cast<double>(events.lit_unit_cycles) / structure.core_hz +
                             seconds * structure.overhead_units;
  energy.laser = Picojoule(energy.unit.to<double>() * lit_seconds * 1e12);
  energy.tuning = Picojoule(structure.rings * config.tuning_uw_per_ring * 1e-6 * seconds * 1e12);
  energy.modulators =
      Picojoule(static_cast<double>(events.modulated_bits) * config.modulator_fj_per_bit * 1e-3);
  energy.detectors =
      Picojoule(static_cast<double>(events.detected_bits) * config.detector_fj_per_bit * 1e-3);
  return energy;
}

}  // namespace ww::sim::power
