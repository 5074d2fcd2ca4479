// NVML as a backend of NVIDIA's GPUs.
#include "sensor/backends.hpp"

namespace ww::measure {

std::optional<SensorBackend> nvml_backend(const TelemetryGpu& gpu, const TelemetryOptions&) {
  if (!gpu.nvidia) {
    return std::nullopt;
  }
  // The child that listed the GPU has tried its power.
  const std::string& reason = gpu.nvidia->no_power;
  const Status usable = reason.empty() ? Status{} : fail(ErrorCode::unsupported, reason);
  return sensor_backend("NVML", usable, [at = gpu.pci] { return open_nvml(at); });
}

}  // namespace ww::measure
