// A calibrated chip's own network: a crossbar between its compute units and the channels of its L2,
// with lengths of its floorplan and the energy per bit and millimetre that was fitted.
#pragma once

#include "simulate/simulate_options.hpp"

namespace ww::cli {

// Whether the options ask for it: a crossbar, and a calibration of wires.
[[nodiscard]] bool wants_chip_crossbar(const SimulateArguments& arguments);

// Sets the nodes, their distances and the energy of the wires. Compute units come first, in the
// order in which work-groups are handed out: engines in turn. Channels follow, in address order.
// Errors: invalid_argument (an option that sets the size of the network, traffic between compute
// units), those of Calibration::link_constants() and model::crossbar_lengths().
[[nodiscard]] Status lay_out_chip_crossbar(const SimulateArguments& arguments,
                                           sim::net::Simulation& simulation);

}  // namespace ww::cli
