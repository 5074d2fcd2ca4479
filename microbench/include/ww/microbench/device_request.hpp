// Names the device that a command shall use, and lists the devices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

// A command's need of the device that it uses where none is named. A card that lacks one of
// these serves the commands that need the others.
enum class DeviceNeed {
  campaign,      // a campaign can measure it: kernels run, its power is read, its layout is known
  compute,       // kernels run on it and can be tied to a place
  look,          // as much as there is: kernels and power, else one of them, else the card alone
  power,         // its power is read; nothing need compute on it
  counted,       // a vendor's profiler counts a program that runs on it
  virtual_chip,  // the command is about the virtual GPU
};
[[nodiscard]] std::string_view to_string(DeviceNeed need);

// A device as the user names it: "virtual:w9100", "virtual:random", "virtual:path/chip.toml",
// "opencl:<platform>.<device>", "hip:<n>", "cuda:<n>", or empty for choose_device(need).
struct DeviceRequest {
  std::string name;
  std::uint64_t chip_seed{};       // virtual:random
  std::string chip_class{"mild"};  // virtual:random: nested, mild, strong
  bool clock_control{true};        // real GPUs: false never touches the clocks
  bool use_floorplan{true};        // false: campaigns go by measured homes and latencies alone
  DeviceNeed need{DeviceNeed::campaign};  // where no name is given
};

struct DeviceListing {
  std::string name;         // what --device takes
  std::string description;  // "AMD FirePro W9100 (virtual), gfx701, 44 CUs"
  bool is_virtual{};
  bool usable{};
  std::string reason;  // why not usable, and what to do
};
// Lists every device that wirewatt could use, and why others cannot be used. A driver or loader
// that is missing is an entry with its reason.
[[nodiscard]] std::vector<DeviceListing> list_devices();

// The device that an empty name means.
struct DeviceChoice {
  std::string name;    // "hip:0"; "pci:0000:03:00.0" for a card on which nothing here computes
  std::string reason;  // why this one
  // Known of some real devices: the card's address and "gfx90a" or "sm_90".
  std::string pci{}, target{};
};

// The device that a command with this need uses where none is named. It is a real one wherever
// there is a card, and virtual:w9100 only where there is none. Cards of the processor come after
// others. Errors: missing_dependency where there are cards and none serves (it names each and says
// what it lacks); invalid_argument where the environment hides some of several cards, and no sensor
// says which.
[[nodiscard]] Result<DeviceChoice> choose_device(DeviceNeed need);
// A real device of this name: "hip:0", "gpu:1", "pci:0000:03:00.0". Errors:
// missing_dependency (it is not there), unsupported (a virtual one), those of choose_gpu.
[[nodiscard]] Result<DeviceChoice> look_up_device(const std::string& name);
// The device that computes on a card: "gpu:0", "pci:0000:03:00.0". Errors: missing_dependency where
// none does; those of choose_gpu.
[[nodiscard]] Result<DeviceChoice> choose_on_card(const std::string& name);
// As choose_device, for several needs; the machine is looked at once.
[[nodiscard]] std::vector<Result<DeviceChoice>> choose_devices(std::span<const DeviceNeed> needs);

}  // namespace ww::microbench
