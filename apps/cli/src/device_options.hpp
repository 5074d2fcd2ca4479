// Options that say which virtual chip is meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "ww/microbench/device_request.hpp"

namespace ww::cli {

// --chip-seed and --chip-class of virtual:random.
void add_random_chip_options(CLI::App& command, microbench::DeviceRequest& device);

// Returns the device on which a program runs beside a calibration of `calibrated`: the one that is
// asked for, else the virtual chip of that name, else as asked. Chips drawn from a seed are not
// found by their name.
[[nodiscard]] microbench::DeviceRequest device_beside_model(const microbench::DeviceRequest& asked,
                                                            const std::string& calibrated);

}  // namespace ww::cli
