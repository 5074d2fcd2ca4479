#include "device_options.hpp"

namespace ww::cli {

void add_random_chip_options(CLI::App& command, microbench::DeviceRequest& device) {
  command.add_option("--chip-seed", device.chip_seed, "virtual:random: which chip")
      ->capture_default_str();
  command
      .add_option("--chip-class", device.chip_class,
                  "virtual:random: how far the chip departs from the model that is fitted")
      ->check(CLI::IsMember({"nested", "mild", "strong"}))
      ->capture_default_str();
}

}  // namespace ww::cli
