// Calibrations of what it costs to cross: between the sides of an L2 (crossing.json), or from die
// to die of a package (model.json of the method "chiplet"). They are in pJ per bit, without a
// millimetre, so they price crossings and leave wires to the estimator.
#pragma once

#include <filesystem>

#include "ww/sim/net/simulate.hpp"

namespace ww::cli {

[[nodiscard]] bool is_calibration_of_crossings(const std::filesystem::path& model);

// Has the network's crossings charged at the calibration's energy. Errors: those of
// model::load_crossing_model() and model::load_chiplet_model(); unsupported, with the reason, where
// a package's calibration did not identify a hop.
[[nodiscard]] Status charge_crossings(const std::filesystem::path& model,
                                      sim::net::Simulation& simulation);

}  // namespace ww::cli
