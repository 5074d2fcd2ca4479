// The wires of a calibration as a simulated network pays for them.
#pragma once

#include <string>

#include "simulate/simulate_options.hpp"
#include "ww/model/wire_model.hpp"
#include "ww/sim/power/chip_wires.hpp"

namespace ww::cli {

// As `estimate` has the energy of a segment: of the calibration, for data of a known toggle rate,
// with what the whole way may cost beside the millimetres of the contrast. At the card's own node.
[[nodiscard]] sim::power::ChipWires wires_of(const model::WireModel& model, std::string source);

// Has the links of a network cost what the calibration of --model found, scaled from the card's
// node to that of the routers. Errors: those of model::load_wire_model(), node_of_card() and
// sim::power::wire_scale(); bad_data where the model has no millimetres.
[[nodiscard]] Status charge_links(const SimulateArguments& arguments,
                                  sim::net::Simulation& simulation);

}  // namespace ww::cli
