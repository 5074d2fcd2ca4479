#include "simulate/crossings.hpp"

#include <fmt/format.h>

#include "ww/model/chiplet_use.hpp"
#include "ww/model/crossing_use.hpp"

namespace ww::cli {
namespace {

sim::power::CrossingFigure figure(const model::Interval& pj) {
  return {pj.value, pj.low, pj.high};
}

Result<sim::power::CrossingEnergy> crossing_energy(const std::filesystem::path& path) {
  WW_ASSIGN(model, model::load_crossing_model(path));
  sim::power::CrossingEnergy energy{figure(model.random_pj), std::nullopt, model.source,
                                    model.is_virtual};
  if (model.zero_pj) energy.zero_pj = figure(*model.zero_pj);
  return energy;
}

Result<sim::power::CrossingFigure> hop_figure(const model::ChipletModel& model,
                                              model::HopClass which,
                                              const std::filesystem::path& path) {
  const auto index = static_cast<std::size_t>(which);
  const model::ChipletModel::Energy& energy = model.classes[index];
  if (!energy.pj) {
    return fail(ErrorCode::unsupported,
                fmt::format("the calibration has no energy of {}: {}", model::kHopClasses[index],
                            energy.why_not),
                path.string());
  }
  return figure(*energy.pj);
}

Result<sim::power::DieHopEnergy> die_hop_energy(const std::filesystem::path& path) {
  WW_ASSIGN(model, model::load_chiplet_model(path));
  WW_ASSIGN(row, hop_figure(model, model::HopClass::row_hop, path));
  WW_ASSIGN(column, hop_figure(model, model::HopClass::column_hop, path));
  return sim::power::DieHopEnergy{row, column, model.source, model.is_virtual};
}

}  // namespace

bool is_calibration_of_crossings(const std::filesystem::path& model) {
  return model::is_crossing_model(model) || model::is_chiplet_model(model);
}

Status charge_crossings(const std::filesystem::path& model, sim::net::Simulation& simulation) {
  if (model::is_chiplet_model(model)) {
    WW_ASSIGN(energy, die_hop_energy(model));
    simulation.energy.die_hops = std::move(energy);
  } else {
    WW_ASSIGN(energy, crossing_energy(model));
    simulation.energy.crossing = std::move(energy);
  }
  return {};
}

}  // namespace ww::cli
