// The files of the amdgpu driver as a backend.
#include "sensor/backends.hpp"

namespace ww::measure {

std::optional<SensorBackend> sysfs_backend(const TelemetryGpu& gpu, const TelemetryOptions&) {
  if (!gpu.amd) {
    return std::nullopt;
  }
  const auto opened = open_amd_sysfs(*gpu.amd);
  const Status usable = opened ? Status{} : Status(tl::unexpected(opened.error()));
  return sensor_backend("amdgpu files", usable, [card = *gpu.amd] { return open_amd_sysfs(card); });
}

}  // namespace ww::measure
