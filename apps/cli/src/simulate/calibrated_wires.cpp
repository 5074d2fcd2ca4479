#include "simulate/calibrated_wires.hpp"

#include <fmt/format.h>

#include <utility>

#include "card_node.hpp"
#include "ww/sim/power/wire_energy.hpp"

namespace ww::cli {
namespace {

// Reads the constants; puts the file into an error that names nothing else.
Result<calibration::LinkConstants> constants_of(const SimulateArguments& arguments) {
  auto links = arguments.calibration->link_constants();
  if (!links && links.error().context.empty()) links.error().context = arguments.model;
  return links;
}

}  // namespace

Result<sim::power::ChipWires> wires_of(const calibration::Calibration& calibration,
                                       std::string source) {
  WW_ASSIGN(links, calibration.link_constants());
  const auto& bit = *links.fj_per_mm;
  return sim::power::ChipWires{bit.random, *bit.zero, std::move(source),
                               calibration.provenance().is_virtual};
}

Status charge_links(const SimulateArguments& arguments, sim::net::Simulation& simulation) {
  WW_ASSIGN(links, constants_of(arguments));
  const calibration::Provenance& of = arguments.calibration->provenance();
  if (links.pj_per_hop) {
    simulation.energy.die_hops = sim::power::DieHopEnergy{
        links.pj_per_hop->row, links.pj_per_hop->column, of.source, of.is_virtual};
  }
  if (const auto& bit = links.pj_per_crossing) {
    simulation.energy.crossing =
        sim::power::CrossingEnergy{bit->random, bit->zero, of.source, of.is_virtual};
  }
  if (!links.fj_per_mm) return {};
  WW_ASSIGN(card_nm, node_of_card(arguments.card_node, of.device, of.target));
  const double node_nm = simulation.energy.node_nm;
  WW_ASSIGN(scale, sim::power::wire_scale(card_nm, node_nm));
  WW_ASSIGN(wires,
            wires_of(*arguments.calibration,
                     fmt::format("{}, {:g} nm, scaled to {:g} nm (Villa et al., SC'14, table II)",
                                 of.source, *card_nm, node_nm)));
  for (Interval* one : {&wires.random_fj, &wires.zero_fj}) {
    *one = one->times(scale);
  }
  simulation.energy.wire = std::move(wires);
  return {};
}

}  // namespace ww::cli
