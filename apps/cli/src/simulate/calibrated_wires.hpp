// Prices the links of a simulated network by a calibration.
#pragma once

#include <string>

#include "simulate/simulate_options.hpp"
#include "ww/calibration/calibration.hpp"
#include "ww/sim/power/chip_wires.hpp"

namespace ww::cli {

// Energy per bit and millimetre at the card's own node. Errors: those of
// Calibration::link_constants().
[[nodiscard]] Result<sim::power::ChipWires> wires_of(const calibration::Calibration& calibration,
                                                     std::string source);

// Has the links of a network cost what the calibration found: wires scaled from the card's node to
// that of the routers, the crossings between the sides of an L2, or the ways to the next die. What
// is crossed leaves other wires to the estimator. Errors: those of
// Calibration::link_constants(), node_of_card() and sim::power::wire_scale().
[[nodiscard]] Status charge_links(const SimulateArguments& arguments,
                                  sim::net::Simulation& simulation);

}  // namespace ww::cli
