// Which device a command uses: what it needs where none is named, and which virtual chip is meant.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ww/microbench/device_request.hpp"

namespace ww::cli {

// A command ("workloads run") and what it needs of the device that it uses where none is named.
struct CommandNeed {
  std::string_view command;
  std::optional<microbench::DeviceNeed> need;  // absent: it uses no device of its own choice
};
// Every command has a row; null for a name that is no command.
[[nodiscard]] const CommandNeed* find_command_need(std::string_view command);
// The need of a command that uses a device.
[[nodiscard]] microbench::DeviceNeed need_of(std::string_view command);

// --chip-seed and --chip-class of virtual:random.
void add_random_chip_options(CLI::App& command, microbench::DeviceRequest& device);

// Whether no card is here, for commands that read a sensor: what has none may still compute.
// Errors: those of choose_device where there is a card whose power cannot be read.
[[nodiscard]] Result<bool> has_no_card();

// Returns the device on which a program runs beside a calibration of `calibrated`: the one that is
// asked for, else the virtual chip of that name, else as asked. Chips drawn from a seed are not
// found by their name.
[[nodiscard]] microbench::DeviceRequest device_beside_model(const microbench::DeviceRequest& asked,
                                                            const std::string& calibrated);

}  // namespace ww::cli
