// NVIDIA's management library, found at run time. Its header is not in Debian: what is used of it
// is declared here after NVIDIA's NVML API reference (docs.nvidia.com/deploy/nvml-api).
#pragma once

#include <string>

#include "ww/core/result.hpp"

namespace ww::measure {

struct NvmlDeviceOpaque;
using NvmlDevice = NvmlDeviceOpaque*;

struct NvmlPci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

union NvmlValue {
  double as_double;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  long long as_signed_long_long;
  int as_signed;
  unsigned short as_unsigned_short;
};

struct NvmlFieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp_us;
  long long latency_us;
  unsigned value_type;
  int result;
  NvmlValue value;
};
static_assert(sizeof(NvmlFieldValue) == 40);

struct NvmlUtilization {
  unsigned gpu, memory;
};

struct NvmlProcess {
  unsigned process;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

// GPM, the driver's performance monitoring.
using NvmlGpmSample = void*;

struct NvmlGpmSupport {
  unsigned version{1};
  unsigned is_supported{};
};

struct NvmlGpmMetric {
  unsigned id{};
  int result{};
  double value{};
  char* names[3]{};
};
static_assert(sizeof(NvmlGpmMetric) == 40);

// NVIDIA's array has grown from release to release. Drivers fill as many as are asked for.
struct NvmlGpmMetrics {
  unsigned version{1};
  unsigned count{};
  NvmlGpmSample earlier{}, later{};
  NvmlGpmMetric metrics[512];
};

// nvmlTemperature_v1_t: its version is its size, and 1 above that.
struct NvmlTemperature {
  unsigned version{sizeof(unsigned) * 3 | 1U << 24};
  unsigned sensor{};  // 0: the GPU's
  int celsius{};
};
static_assert(sizeof(NvmlTemperature) == 12);

namespace nvml {
inline constexpr int success = 0;
inline constexpr int not_supported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kInsufficientSize = 7;
inline constexpr unsigned kFieldTotalEnergy = 83;
inline constexpr unsigned kFieldMemoryTemperature = 82;
inline constexpr unsigned kFieldPowerAverage = 185;
inline constexpr unsigned kFieldPowerInstant = 186;
// Scope of a field of power: the GPU, or the module that it shares with a processor.
inline constexpr unsigned kScopeGpu = 0;
inline constexpr unsigned kScopeModule = 1;
inline constexpr unsigned kClockGraphics = 0;
inline constexpr unsigned kClockMemory = 2;
inline constexpr unsigned kGpmMemoryShare = 10;  // percent of the highest rate
inline constexpr unsigned kGpmPcieSent = 20;     // MiB a second, as all that follow
inline constexpr unsigned kGpmPcieReceived = 21;
inline constexpr unsigned kGpmNvlinkReceived = 60;
inline constexpr unsigned kGpmNvlinkSent = 61;
}  // namespace nvml

// Optional entry points are null in drivers that lack them.
struct NvmlApi {
  int (*init)(){};
  int (*shutdown)(){};
  const char* (*error_string)(int){};
  int (*driver_version)(char*, unsigned){};
  int (*count)(unsigned*){};
  int (*by_index)(unsigned, NvmlDevice*){};
  int (*by_pci)(const char*, NvmlDevice*){};
  int (*name)(NvmlDevice, char*, unsigned){};
  int (*pci_info)(NvmlDevice, NvmlPci*){};
  int (*field_values)(NvmlDevice, int, NvmlFieldValue*){};               // optional
  int (*power_usage)(NvmlDevice, unsigned*){};                           // mW
  int (*total_energy)(NvmlDevice, unsigned long long*){};                // mJ; optional
  int (*temperature)(NvmlDevice, unsigned, unsigned*){};                 // C; optional
  int (*temperature_v)(NvmlDevice, NvmlTemperature*){};                  // optional
  int (*clock)(NvmlDevice, unsigned, unsigned*){};                       // MHz
  int (*throttle_reasons)(NvmlDevice, unsigned long long*){};            // optional
  int (*memory_clocks)(NvmlDevice, unsigned*, unsigned*){};              // optional
  int (*graphics_clocks)(NvmlDevice, unsigned, unsigned*, unsigned*){};  // optional
  int (*lock_clocks)(NvmlDevice, unsigned, unsigned){};                  // optional
  int (*reset_clocks)(NvmlDevice){};                                     // optional
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*){};                   // optional
  int (*ecc_mode)(NvmlDevice, unsigned*, unsigned*){};                   // optional
  int (*persistence)(NvmlDevice, unsigned*){};                           // optional
  int (*utilization)(NvmlDevice, NvmlUtilization*){};                    // optional
  int (*processes)(NvmlDevice, unsigned*, NvmlProcess*){};               // optional
  int (*max_clock)(NvmlDevice, unsigned, unsigned*){};                   // MHz; optional
  int (*bus_width)(NvmlDevice, unsigned*){};                             // bits; optional
  int (*gpm_query_support)(NvmlDevice, NvmlGpmSupport*){};               // optional, as those below
  int (*gpm_sample_alloc)(NvmlGpmSample*){};
  int (*gpm_sample_free)(NvmlGpmSample){};
  int (*gpm_sample_get)(NvmlDevice, NvmlGpmSample){};
  int (*gpm_metrics_get)(NvmlGpmMetrics*){};
};

// Loads libnvidia-ml.so.1 and starts it, once in a process. Errors: missing_dependency that names
// the package, device_error (its driver is not loaded, versions differ).
[[nodiscard]] Result<const NvmlApi*> load_nvml();
// "Not Supported (3)".
[[nodiscard]] std::string nvml_error(const NvmlApi& api, int code);
// Resets the clocks of the GPU by PCI address. Errors of load_nvml, device_error.
[[nodiscard]] Status nvml_reset_locked_clocks(const std::string& pci);

}  // namespace ww::measure
