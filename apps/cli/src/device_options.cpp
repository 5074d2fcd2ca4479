#include "device_options.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "ww/core/device_name.hpp"
#include "ww/runner/chip_architecture.hpp"

namespace ww::cli {
namespace {

const auto& command_needs() {
  using enum microbench::DeviceNeed;
  static constexpr std::array kNeeds{
      CommandNeed{"devices", {}},  // lists them all
      CommandNeed{"doctor", look},
      CommandNeed{"selftest", look},
      CommandNeed{"calibrate", campaign},
      CommandNeed{"ladder", compute},
      CommandNeed{"meter", power},
      CommandNeed{"top", power},
      CommandNeed{"topology", compute},
      CommandNeed{"estimate", counted},
      CommandNeed{"counters", {}},  // is given an architecture
      CommandNeed{"exercise", {}},  // must be given a device
      CommandNeed{"run", virtual_chip},
      CommandNeed{"toggles", virtual_chip},
      CommandNeed{"segments", virtual_chip},
      CommandNeed{"attribute", virtual_chip},
      CommandNeed{"workloads run", virtual_chip},
      CommandNeed{"reproduce", virtual_chip},
      CommandNeed{"simulate", virtual_chip},
      CommandNeed{"score", {}},  // runs on the campaign's own chip
      CommandNeed{"sweep", {}},  // each point says its own
      // Files alone.
      CommandNeed{"fit", {}},
      CommandNeed{"project", {}},
      CommandNeed{"launches", {}},
      CommandNeed{"report", {}},
      CommandNeed{"export", {}},
      CommandNeed{"patch", {}},
      CommandNeed{"disasm", {}},
      CommandNeed{"trace", {}},
      CommandNeed{"workloads", {}},
      CommandNeed{"completion", {}},
      CommandNeed{"manual", {}},
  };
  return kNeeds;
}

}  // namespace

const CommandNeed* find_command_need(std::string_view command) {
  // A command below another is like the one above where it has no row of its own.
  for (std::string_view name = command; !name.empty();
       name = name.substr(0, name.find(' ') == std::string_view::npos ? 0 : name.rfind(' '))) {
    const auto& needs = command_needs();
    const auto* found = std::ranges::find(needs, name, &CommandNeed::command);
    if (found != needs.end()) return found;
  }
  return nullptr;
}

microbench::DeviceNeed need_of(std::string_view command) {
  const CommandNeed* row = find_command_need(command);
  assert(row != nullptr && row->need);
  return *row->need;
}

void add_random_chip_options(CLI::App& command, microbench::DeviceRequest& device) {
  command.add_option("--chip-seed", device.chip_seed, "virtual:random: which chip")
      ->capture_default_str();
  command
      .add_option("--chip-class", device.chip_class,
                  "virtual:random: how far the chip departs from the model that is fitted")
      ->check(CLI::IsMember({"nested", "mild", "strong"}))
      ->capture_default_str();
}

Result<bool> has_no_card() {
  WW_ASSIGN(choice, microbench::choose_device(microbench::DeviceNeed::power));
  return DeviceName(choice.name).is_virtual();
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
