// ROCm SMI as a backend of AMD's GPUs.
#include "sensor/backends.hpp"
#include "sensor/smi_probe.hpp"

namespace ww::measure {

std::optional<SensorBackend> rocm_smi_backend(const TelemetryGpu& gpu,
                                              const TelemetryOptions& options) {
  if (!gpu.amd) {
    return std::nullopt;
  }
  const auto usable_here = [&]() -> Status {
    WW_TRY(smi_concerns(*gpu.amd, options));
    return probe_rocm_smi(*gpu.amd);
  };
  const Status usable = usable_here();
  return sensor_backend("ROCm SMI", usable, [card = *gpu.amd] { return open_rocm_smi(card); });
}

}  // namespace ww::measure
