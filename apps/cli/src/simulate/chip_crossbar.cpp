#include "simulate/chip_crossbar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "floorplan_option.hpp"
#include "simulate/calibrated_wires.hpp"
#include "ww/model/crossbar_lengths.hpp"
#include "ww/model/wire_model.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/power/router_area.hpp"

namespace ww::cli {
namespace {

// Compute units in the order in which they get work-groups: [node] -> lengths to channels [mm].
std::vector<std::vector<double>> units_in_turn(const model::CrossbarLengths& lengths) {
  std::size_t most = 0;
  for (const auto& engine : lengths.mm) {
    most = std::max(most, engine.size());
  }
  std::vector<std::vector<double>> units;
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (const auto& engine : lengths.mm) {
      if (turn < engine.size()) {
        units.push_back(engine[turn]);
      }
    }
  }
  return units;
}

// Cycles that a flit takes on repeated wires of that length, beyond those that the network takes
// from a node to its switch and from there to a node.
std::uint16_t more_cycles(double mm, double ps_per_mm, Hertz clock) {
  constexpr double kTaken = 2;
  const double cycles = mm * ps_per_mm * 1e-12 * clock.to<double>();
  return static_cast<std::uint16_t>(std::max(std::ceil(cycles) - kTaken, 0.0));
}

// Distances are equal both ways. Compute units have no wires to each other, nor channels.
sim::net::NodeDistances distances_of(const std::vector<std::vector<double>>& units,
                                     double ps_per_mm, Hertz clock) {
  const std::size_t channels = units.front().size();
  const std::size_t nodes = units.size() + channels;
  sim::net::NodeDistances distances;
  distances.um.resize(nodes * nodes);
  distances.more_cycles.resize(nodes * nodes);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const auto um = static_cast<std::uint32_t>(std::lround(1e3 * units[unit][channel]));
      const std::size_t at = units.size() + channel;
      distances.um[unit * nodes + at] = um;
      distances.um[at * nodes + unit] = um;
      const std::uint16_t more = more_cycles(units[unit][channel], ps_per_mm, clock);
      distances.more_cycles[unit * nodes + at] = more;
      distances.more_cycles[at * nodes + unit] = more;
    }
  }
  return distances;
}

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
  const auto units = units_in_turn(lengths);
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
      distances_of(units, wire.ps_per_mm, simulation.energy.clock);
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
