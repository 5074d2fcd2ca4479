#include "device_options.hpp"

#include "ww/core/device_name.hpp"
#include "ww/runner/chip_architecture.hpp"

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

microbench::DeviceRequest device_beside_model(const microbench::DeviceRequest& asked,
                                              const std::string& calibrated) {
  const DeviceName name(calibrated);
  if (!asked.name.empty() || !name.is_virtual() || name.is_random_chip()) return asked;
  microbench::DeviceRequest device = asked;
  device.name = calibrated;
  return runner::chip_architecture(device) ? device : asked;
}

}  // namespace ww::cli
