// AMD GPUs as the kernel's files describe them, and their sensors (files, AMD SMI, ROCm SMI).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  std::string kfd_id{};  // its number in the driver's lists of what computes; empty where unknown
  std::string target{};  // "gfx90a"; empty where the driver does not list it among what computes
  // Graphics of a processor, whose table of metrics (gpu_metrics v2 and v3) is the whole socket's.
  bool integrated{};
  // The device that wakes the card when it is opened, "/dev/dri/renderD128"; empty where there is
  // none.
  std::string render_device{};
  // How the package is divided ("SPX" is not divided, "CPX" by dies); empty where it cannot be. The
  // sensors are those of the whole package.
  std::string compute_partition{};
  // The other die of a package of two, which is a PCI device of its own (MI250).
  struct OtherDie {
    PciAddress pci;
    std::string folder;
    std::string hwmon;
    bool holds_sensor{};  // power and energy of both dies are read there
  };
  std::optional<OtherDie> other_die{};
  // Why this die, which has no power sensor, has no other die either; empty where that is no
  // question.
  std::string no_other_die{};
  // MI300A: the folder in which the CPU side of the same package (driver amd_hsmp) has its table,
  // ".../amd_hsmp/socket1"; empty where there is none.
  std::string hsmp{};
};

// Lists the amdgpu cards under SYSFS/class/drm, by PCI address. SYSFS is "/sys" except in tests.
// Cards of other vendors are left out, and so are partitions, which have no sensors: they belong to
// the card at function 0. Dies of one package are paired by the topology that the driver publishes.
[[nodiscard]] std::vector<AmdGpu> list_amd_gpus(const std::string& sysfs);

// "gfx90a" of 90010, as the driver's lists of what computes number it; empty for 0.
[[nodiscard]] std::string gfx_target(std::uint64_t version);

// MI250 and MI250X: one package of two dies, each a PCI device of its own.
[[nodiscard]] bool is_die_of_two(const AmdGpu& gpu);

// A package with CPU dies beside the GPU's.
[[nodiscard]] bool is_mi300a(const AmdGpu& gpu);

// Why the card's energy counter cannot be used as counts of 2^-16 J; empty where it can. The unit
// is documented for Instinct parts from MI100 on. On Radeon cards the same field counts something
// else or stands still.
[[nodiscard]] std::string amd_energy_doubt(const AmdGpu& gpu);

// Lists what else the power of the card's sensor contains, as fields of a source (kPackageField):
// the other die, other partitions, the cores of a processor. `integrated`: its table says so, too.
[[nodiscard]] std::vector<FieldState> package_fields(const AmdGpu& gpu, bool integrated = false);

// Wakes a card that sleeps (runtime power management) by opening its render device, and waits up to
// three seconds until it is awake. A card that is awake is left alone. Error device_error names the
// state that the card stays in, and the remedy.
[[nodiscard]] Status wake_amd_gpu(const AmdGpu& gpu);

// Whether nothing runs on the other die of the package, whose power is in every reading of this
// one's sensor. Error device_error names that die and how busy it is.
[[nodiscard]] Status other_die_idles(const AmdGpu& gpu);

// Opens hwmon, gpu_metrics and pm_metrics as a source; a sleeping card is woken first. Errors:
// not_found if no file has power or energy (the message names the files that were tried),
// permission_denied, device_error (the card does not wake), unsupported (the sensor is another
// die's, and which one is not known).
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_amd_sysfs(const AmdGpu& gpu);

// Checks in a child whether libamd_smi can be used for the GPU. Errors: missing_dependency that
// names the package, unsupported (a release whose structures are not known, or the library does not
// list the GPU), device_error (it crashed, hung or could not start).
[[nodiscard]] Status probe_amd_smi(const AmdGpu& gpu);
// Loads libamd_smi into this process. Call it only after a successful probe_amd_smi(), whose errors
// it shares.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_amd_smi(const AmdGpu& gpu);

// Checks whether librocm_smi64 can be used for the GPU. The library ends the process on device
// trees that it does not expect, so every function that will be needed is first called in a child.
// Errors: missing_dependency that names the package, unsupported (the library runs and does not
// list the GPU), device_error (it crashed, hung or could not start; the reason is its own).
[[nodiscard]] Status probe_rocm_smi(const AmdGpu& gpu);
// Loads librocm_smi64 into this process. Call it only after a successful probe_rocm_smi(), whose
// errors it shares.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_rocm_smi(const AmdGpu& gpu);

// Opens the control of the core clock by the driver's files (power_dpm_force_performance_level
// "manual", then pp_dpm_sclk; on RDNA the levels profile_min_sclk and profile_peak). `guardian`
// restores the clock if this process cannot. Errors: unsupported (no such files, or somebody has
// fixed the clocks by hand), permission_denied with the remedy.
[[nodiscard]] Result<std::unique_ptr<ClockControl>> open_amd_clock_control(
    const AmdGpu& gpu, std::unique_ptr<ClockGuardian> guardian);

}  // namespace ww::measure
