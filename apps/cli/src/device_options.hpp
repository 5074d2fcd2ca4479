// Options that say which virtual chip is meant.
#pragma once

#include <CLI/CLI.hpp>

#include "ww/microbench/device_request.hpp"

namespace ww::cli {

// --chip-seed and --chip-class of virtual:random.
void add_random_chip_options(CLI::App& command, microbench::DeviceRequest& device);

}  // namespace ww::cli
