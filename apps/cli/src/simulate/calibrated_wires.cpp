#include "simulate/calibrated_wires.hpp"

#include <fmt/format.h>

#include <utility>

#include "anyway.hpp"
#include "card_node.hpp"
#include "ww/sim/power/wire_energy.hpp"

namespace ww::cli {

sim::power::ChipWires wires_of(const model::WireModel& model, std::string source) {
  const auto figure = [&](double toggle_rate) {
    const model::Interval fj =
        model::product(model.of_data(model::data_at_rate(toggle_rate)), model.whole_way);
    return sim::power::CrossingFigure{fj.value, fj.low, fj.high};
  };
  return {figure(model::random_toggle_rate), figure(0), std::move(source), model.is_virtual};
}

Status charge_links(const SimulateArguments& arguments, sim::net::Simulation& simulation) {
  WW_ASSIGN(model, model::load_wire_model(arguments.model, flagged_model(arguments.anyway)));
  WW_TRY(model::require_millimetres(model, "a network"));
  WW_ASSIGN(card_nm, node_of_card(arguments.card_node, model.device, card_target(model)));
  const double node_nm = simulation.energy.node_nm;
  WW_ASSIGN(scale, sim::power::wire_scale(card_nm, node_nm));
  sim::power::ChipWires wires =
      wires_of(model, fmt::format("{}, {:g} nm, scaled to {:g} nm (Villa et al., SC'14, table II)",
                                  model.source, *card_nm, node_nm));
  for (sim::power::CrossingFigure* figure : {&wires.random_fj, &wires.zero_fj}) {
    *figure = {figure->value * scale, figure->low * scale, figure->high * scale};
  }
  simulation.energy.wire = std::move(wires);
  return {};
}

}  // namespace ww::cli
