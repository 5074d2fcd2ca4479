// Every GPU of this machine that has a sensor, and which way to it works.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/nvidia_gpu.hpp"
#include "ww/measure/polled_sensor.hpp"

namespace ww::measure {

// One way to a GPU's sensor.
struct SensorWay {
  std::string name;  // "ROCm SMI", "amdgpu files", "NVML"
  bool usable{};
  std::string reason;  // why not
};

struct TelemetryGpu {
  PciAddress pci;
  std::string name;
  std::vector<SensorWay> ways;  // best first; the first usable one is taken
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
  SamplerOptions sampler{};
};

// The tree that the options stand for.
[[nodiscard]] std::string sysfs_of(const TelemetryOptions& options);

// Tries every way that there is; vendor libraries are tried in child processes.
[[nodiscard]] Telemetry find_telemetry(const TelemetryOptions& options = {});

// Starts the sensor of a GPU by its first usable way. Errors: unsupported or permission_denied with
// every way's reason, those of the sampler.
[[nodiscard]] Result<std::unique_ptr<PolledSensor>> open_sensor(const TelemetryGpu& gpu,
                                                                const TelemetryOptions& options);

}  // namespace ww::measure
