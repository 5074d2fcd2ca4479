// ROCm SMI as a backend of AMD's GPUs.
#include "sensor/backends.hpp"

namespace ww::measure {

std::optional<SensorBackend> rocm_smi_backend(const TelemetryGpu& gpu,
                                              const TelemetryOptions& options) {
  if (!gpu.amd) {
    return std::nullopt;
  }
  // The library reads /sys alone: under another tree it would answer for other cards.
  const auto usable_here = [&]() -> Status {
    if (sysfs_of(options) != "/sys") {
      return fail(ErrorCode::unsupported, "this backend cannot read another device tree");
    }
    if (gpu.amd->other_die && gpu.amd->other_die->holds_sensor) {
      return fail(ErrorCode::unsupported,
                  "the other die of the package (" + to_string(gpu.amd->other_die->pci) +
                      ") holds the sensor, and this library does not read it for this one");
    }
    return probe_rocm_smi(*gpu.amd);
  };
  const Status usable = usable_here();
  return sensor_backend("ROCm SMI", usable, [card = *gpu.amd] { return open_rocm_smi(card); });
}

}  // namespace ww::measure
