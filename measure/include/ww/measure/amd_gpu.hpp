// AMD GPUs as the kernel's files describe them, and their sensors (files, ROCm SMI).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/clock_control.hpp"
#include "ww/measure/pci_address.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

struct AmdGpu {
  PciAddress pci;
  std::string name;         // "Instinct MI210", or the PCI ids where the driver has no name
  std::string folder;       // /sys/class/drm/card0/device, links resolved
  std::string hwmon;        // its hwmon folder; empty where there is none
  std::string render;       // "renderD128"; empty where there is none
  std::string device_id{};  // of PCI: "0x740f"
};

// Lists the amdgpu cards under SYSFS/class/drm, by PCI address. SYSFS is "/sys" except in tests.
// Cards of other vendors are left out.
[[nodiscard]] std::vector<AmdGpu> list_amd_gpus(const std::string& sysfs);

// Opens hwmon and gpu_metrics as a source. Error not_found if neither has power or energy; the
// message names the files that were tried.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_amd_sysfs(const AmdGpu& gpu);

// Checks whether librocm_smi64 can be used for the GPU. The library ends the process on device
// trees that it does not expect, so every function that will be needed is first called in a child.
// Errors: missing_dependency that names the package, unsupported (the library runs and does not
// list the GPU), device_error (it crashed, hung or could not start; the reason is its own).
[[nodiscard]] Status probe_rocm_smi(const AmdGpu& gpu);
// Loads librocm_smi64 into this process. Call it only after a successful probe_rocm_smi(), whose
// errors it shares.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_rocm_smi(const AmdGpu& gpu);

// Opens the control of the core clock by the driver's files (power_dpm_force_performance_level
// "manual", then pp_dpm_sclk). `guardian` restores the clock if this process cannot. Errors:
// unsupported (no such files, or somebody has fixed the clocks by hand), permission_denied with the
// remedy.
[[nodiscard]] Result<std::unique_ptr<ClockControl>> open_amd_clock_control(
    const AmdGpu& gpu, std::unique_ptr<ClockGuardian> guardian);

}  // namespace ww::measure
