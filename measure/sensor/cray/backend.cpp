// The node's own meters on machines of HPE Cray as a backend of any vendor's cards.
#include "sensor/backends.hpp"
#include "sensor/cray/cards.hpp"
#include "sensor/cray/cray_counters.hpp"

namespace ww::measure {

std::optional<SensorBackend> cray_backend(const TelemetryGpu& gpu,
                                          const TelemetryOptions& options) {
  const std::string folder = cray_folder(sysfs_of(options));
  const auto accelerator = cray_accelerator_of(gpu, folder, sysfs_of(options));
  if (!accelerator && accelerator.error().code == ErrorCode::not_found) return std::nullopt;
  const Status usable = accelerator ? Status{} : Status(tl::unexpected(accelerator.error()));
  const std::size_t index = accelerator.value_or(0);
  return sensor_backend("Cray pm_counters", usable,
                        [folder, index] { return open_cray_accelerator(folder, index); });
}

}  // namespace ww::measure
