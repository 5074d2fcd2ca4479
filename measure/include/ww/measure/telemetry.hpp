// Every GPU of this machine that has a sensor, and by which backend it can be read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/nvidia_gpu.hpp"
#include "ww/measure/polled_sensor.hpp"

namespace ww::measure {

using OpenPowerSource = std::function<Result<std::unique_ptr<PowerSource>>()>;

// One backend by which a GPU's sensor can be read.
struct SensorBackend {
  std::string name;  // "ROCm SMI", "amdgpu files", "NVML"
  bool usable{};
  std::string reason;  // why not
  // Opens the source; called only if usable. Errors: those of the backend.
  OpenPowerSource open{};
};
// `usable` says whether, and the error why not.
[[nodiscard]] SensorBackend sensor_backend(std::string name, const Status& usable,
                                           OpenPowerSource open);

struct TelemetryGpu {
  PciAddress pci;
  std::string name;
  std::vector<SensorBackend> backends;  // best first; the first usable one is taken
  std::optional<AmdGpu> amd;
  std::optional<NvidiaGpu> nvidia;
};

struct Telemetry {
  std::vector<TelemetryGpu> gpus;
  std::string no_amd;     // why there are none of AMD's; empty where there are
  std::string no_nvidia;  // why there are none of NVIDIA's
};

struct TelemetryOptions {
  std::string sysfs;  // empty: $WIREWATT_SYSFS, else /sys
  bool clock_control{true};
  // Try every backend. Otherwise those behind the first usable one are left alone: vendor libraries
  // start children, take seconds on some machines, and are not needed then.
  bool all_backends{};
  // Joules of the whole package are wanted, whatever runs on its other die. Otherwise a sensor that
  // measures both dies is refused while the other one works.
  bool whole_package{};
  SamplerOptions sampler{};
};

// How a backend tries itself on a GPU: nothing where it does not concern that GPU. The backends are
// listed in measure/sensor/CMakeLists.txt; their GPU has no backends yet.
using TrySensorBackend = std::optional<SensorBackend> (*)(const TelemetryGpu& gpu,
                                                          const TelemetryOptions& options);

// The tree that the options stand for.
[[nodiscard]] std::string sysfs_of(const TelemetryOptions& options);

// Finds the GPUs and the backends by which they can be read; vendor libraries are tried in child
// processes.
[[nodiscard]] Telemetry find_telemetry(const TelemetryOptions& options = {});
// Tries the backends of a GPU anew, as the options say.
void try_backends(TelemetryGpu& gpu, const TelemetryOptions& options);

// Opens the first usable backend that works. Errors: unsupported or permission_denied with the
// reason of each backend.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_source(const TelemetryGpu& gpu);

// Starts the sensor of a GPU beside a program that must not notice (beside_a_program), and leaves
// its clocks alone. The meters of an HPE Cray node are among its rails (cray_counters.hpp). Errors:
// those of open_sensor.
[[nodiscard]] Result<std::unique_ptr<PolledSensor>> open_sensor_beside_a_program(
    const TelemetryGpu& gpu, std::int64_t interval_ns);

// Starts the sensor of a GPU on such a source. Errors: those of open_source, of other_die_idles()
// and of the sampler.
[[nodiscard]] Result<std::unique_ptr<PolledSensor>> open_sensor(const TelemetryGpu& gpu,
                                                                const TelemetryOptions& options);

}  // namespace ww::measure
