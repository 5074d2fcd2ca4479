// Names the device that a command shall use, and lists the devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

// A device as the user names it: "virtual:w9100", "virtual:random", "virtual:path/chip.toml",
// "opencl:<platform>.<device>", "hip:<n>", "cuda:<n>", or empty for default_device().
struct DeviceRequest {
  std::string name;
  std::uint64_t chip_seed{};       // virtual:random
  std::string chip_class{"mild"};  // virtual:random: nested, mild, strong
  bool clock_control{true};        // real GPUs: false never touches the clocks
  bool use_floorplan{true};        // false: campaigns go by measured homes and latencies alone
};

struct DeviceListing {
  std::string name;         // what --device takes
  std::string description;  // "AMD FirePro W9100 (virtual), gfx701, 44 CUs"
  bool is_virtual{};
  bool usable{};
  std::string reason;  // why not usable, and what to do
};
// Lists every device that wirewatt could use, and why others cannot be used. Error
// missing_dependency if the OpenCL loader itself is absent (the message names the package).
[[nodiscard]] Result<std::vector<DeviceListing>> list_devices();

// The device that an empty name means: the first real GPU that a campaign can use; without any GPU
// virtual:w9100. Error missing_dependency where there are GPUs and none is usable: it names each
// and says what it lacks. The virtual GPU never takes the place of a real one unasked.
[[nodiscard]] Result<std::string> default_device();

// The device that a look at the machine begins with: the default, else the first GPU that computes
// and whose power can be read; empty where there is none.
[[nodiscard]] std::string device_to_examine();

}  // namespace ww::microbench
