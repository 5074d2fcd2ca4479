// ROCm SMI as a backend of AMD's GPUs.
#include "sensor/backends.hpp"

namespace ww::measure {

std::optional<SensorBackend> rocm_smi_backend(const TelemetryGpu& gpu,
                                              const TelemetryOptions& options) {
  if (!gpu.amd) {
    return std::nullopt;
  }
  // The library reads /sys alone: under another tree it would answer for other cards.
  const Status usable =
      sysfs_of(options) == "/sys"
          ? probe_rocm_smi(*gpu.amd)
          : fail(ErrorCode::unsupported, "this backend cannot read another device tree");
  return sensor_backend("ROCm SMI", usable, [card = *gpu.amd] { return open_rocm_smi(card); });
}

}  // namespace ww::measure
