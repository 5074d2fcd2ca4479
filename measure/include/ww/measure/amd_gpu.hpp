// AMD GPUs: what the kernel's files say of them, and their sensors (files, ROCm SMI).
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

// The amdgpu cards under SYSFS/class/drm, by PCI address; SYSFS is "/sys" but in tests. Cards of
// other vendors are left out.
[[nodiscard]] std::vector<AmdGpu> list_amd_gpus(const std::string& sysfs);

// hwmon and gpu_metrics. Errors: not_found where neither tells power nor energy; the message says
// which files were looked at.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_amd_sysfs(const AmdGpu& gpu);

// Whether librocm_smi64 can be used for the GPU. It ends the process on trees it does not expect,
// so all that will be called is called in a child first. Errors: missing_dependency that names the
// package, unsupported (it runs and does not list the GPU), device_error (it crashed, hung or could
// not start; the reason is its own).
[[nodiscard]] Status probe_rocm_smi(const AmdGpu& gpu);
// Loads it into this process; after a good probe only. Errors as the probe's.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_rocm_smi(const AmdGpu& gpu);

// Fixes the core clock by the driver's files (power_dpm_force_performance_level "manual", then
// pp_dpm_sclk). `guardian` gives it back where this process cannot. Errors: unsupported (no such
// files, or clocks are fixed by hand already), permission_denied with the remedy.
[[nodiscard]] Result<std::unique_ptr<ClockControl>> open_amd_clock_control(
    const AmdGpu& gpu, std::unique_ptr<ClockGuardian> guardian);

}  // namespace ww::measure
