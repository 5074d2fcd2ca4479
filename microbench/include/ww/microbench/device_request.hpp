// Which device a command shall use, and which devices there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

// A device as the user names it: "virtual:w9100", "virtual:random", "virtual:path/chip.toml",
// "opencl:<platform>.<device>", "hip:<n>", "cuda:<n>", or empty for the best real GPU, else
// virtual:w9100.
struct DeviceRequest {
  std::string name;
  std::uint64_t chip_seed{};       // virtual:random
  std::string chip_class{"mild"};  // virtual:random: nested, mild, strong
  bool clock_control{true};        // real GPUs: false never touches the clocks
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

// The device that an empty name means: the best real GPU whose power can be read, else
// virtual:w9100.
[[nodiscard]] Result<std::string> default_device();

}  // namespace ww::microbench
