#include "simulate/chip_crossbar.hpp"

#include <fmt/format.h>

#include "floorplan_option.hpp"
#include "simulate/calibrated_wires.hpp"
#include "ww/model/crossbar_lengths.hpp"
#include "ww/model/wire_model.hpp"
#include "ww/sim/net/crossbar_distances.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/power/router_area.hpp"

namespace ww::cli {
namespace {

Result<model::CrossbarLengths> lengths_of(const SimulateArguments& arguments) {
  if (arguments.floorplan.empty()) {
    return model::crossbar_lengths(std::filesystem::path(arguments.model));
  }
  WW_ASSIGN(floorplan, named_floorplan(arguments.floorplan));
  return model::crossbar_lengths(floorplan);
}

}  // namespace

bool wants_chip_crossbar(const SimulateArguments& arguments) {
  const sim::net::NetworkKind* kind = sim::net::find_network(arguments.network.config.network);
  return kind != nullptr && kind->one_switch && arguments.calibration &&
         arguments.calibration->wires() != nullptr;
}

Status lay_out_chip_crossbar(const SimulateArguments& arguments, sim::net::Simulation& simulation) {
  const model::WireModel& model = *arguments.calibration->wires();
  WW_ASSIGN(lengths, lengths_of(arguments));
  const auto units = lengths.units_in_turn();
  const auto channels = static_cast<std::uint32_t>(units.front().size());
  for (const CLI::Option* option : arguments.of_size) {
    if (option->count() > 0) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("leave it out: a crossbar with --model has the nodes of the chip, {} compute "
                      "units and {} channels of the L2",
                      units.size(), channels),
          option->get_name());
    }
  }
  if (arguments.trace.empty() && arguments.workload.empty() && arguments.packets.empty() &&
      simulation.run.traffic.pattern != sim::net::Pattern::many_to_few) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} traffic also goes from one compute unit to another, between which "
                            "the chip's crossbar has no wires; use many_to_few, a trace or a "
                            "workload",
                            arguments.traffic),
                "--traffic");
  }
  const auto first_channel = static_cast<std::uint32_t>(units.size());
  sim::net::NetworkConfig& network = simulation.network;
  network.width = static_cast<int>(first_channel + channels);
  network.height = 1;
  network.concentration = 1;
  WW_ASSIGN(wire, sim::power::wire_area(simulation.energy.node_nm));
  network.own<sim::net::NodeDistances>() =
      sim::net::crossbar_distances(units, wire.ps_per_mm, simulation.energy.clock);
  for (std::uint32_t unit = 0; unit < first_channel; ++unit) {
    simulation.run.traffic.core_nodes.push_back(unit);
  }
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    network.memory_nodes.push_back(first_channel + channel);
  }
  WW_ASSIGN(chip_wires,
            wires_of(*arguments.calibration,
                     fmt::format("{}, at its own node and {:.4g} V; lengths: {}", model.source,
                                 model.reference_voltage_v, lengths.source)));
  simulation.energy.chip_wires = std::move(chip_wires);
  return {};
}

}  // namespace ww::cli
