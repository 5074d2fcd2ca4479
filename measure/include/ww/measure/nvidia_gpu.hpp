// NVIDIA GPUs through NVML.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/clock_control.hpp"
#include "ww/measure/pci_address.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

// A GPU as NVML describes it. A field is absent if the device does not report it.
struct NvidiaGpu {
  PciAddress pci;
  std::string name;
  std::string driver;  // "535.54.03"
  std::optional<bool> mig;
  std::optional<bool> ecc;
  std::optional<bool> persistence;
  std::optional<unsigned> busy_percent;
  std::optional<std::vector<unsigned>> processes;  // that compute on it, other than this one
  std::string no_power{};  // why NVML cannot read its power; empty where it can
};

// Errors: missing_dependency, device_error.
[[nodiscard]] Result<std::vector<NvidiaGpu>> list_nvidia_gpus();

// Percent of the last period in which kernels ran on this GPU, and nothing of any other one. Absent
// where the driver does not report it.
[[nodiscard]] std::optional<unsigned> nvidia_busy_percent(const PciAddress& pci);

// Power fields 186 (instant) and 185 (average), or the older power reading; total energy (from mJ);
// temperatures, clocks, throttle reasons. A field that the device does not support or that this
// user may not read has a state and is no error. Errors: not_found (no such GPU; neither power nor
// energy), those of list_nvidia_gpus().
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_nvml(const PciAddress& pci);

// Locks the core clock to one of up to five of the supported ones. Errors: unsupported,
// permission_denied.
[[nodiscard]] Result<std::unique_ptr<ClockControl>> open_nvml_clock_control(
    const PciAddress& pci, std::unique_ptr<ClockGuardian> guardian);

// "software power cap, hardware thermal slowdown"; empty for idle and for clocks locked by us.
[[nodiscard]] std::string nvml_throttle_text(std::uint64_t bits);

}  // namespace ww::measure
