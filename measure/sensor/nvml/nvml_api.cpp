#include "nvml_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <type_traits>

namespace ww::measure {
namespace {

constexpr const char* kLibraryName = "libnvidia-ml.so.1";

Result<NvmlApi> resolve_nvml() {
  void* library = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("NVML is not here ({}); it comes with NVIDIA's driver: install the "
                            "package libnvidia-ml1 (Debian: nvidia-driver, section non-free)",
                            dlerror()));
  }
  NvmlApi api;
  const char* missing = nullptr;
  const auto resolve = [&](auto& pointer, bool needed, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, name));
      if (pointer != nullptr) return;
    }
    if (needed) missing = *names.begin();
  };
  resolve(api.init, true, {"nvmlInit_v2", "nvmlInit"});
  resolve(api.shutdown, true, {"nvmlShutdown"});
  resolve(api.error_string, true, {"nvmlErrorString"});
  resolve(api.driver_version, true, {"nvmlSystemGetDriverVersion"});
  resolve(api.count, true, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  resolve(api.by_index, true, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  resolve(api.by_pci, true, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  resolve(api.name, true, {"nvmlDeviceGetName"});
  resolve(api.pci_info, true, {"nvmlDeviceGetPciInfo_v3"});
  resolve(api.field_values, false, {"nvmlDeviceGetFieldValues"});
  resolve(api.power_usage, true, {"nvmlDeviceGetPowerUsage"});
  resolve(api.total_energy, false, {"nvmlDeviceGetTotalEnergyConsumption"});
  // NVML's header calls the first one deprecated in favour of the second.
  resolve(api.temperature, false, {"nvmlDeviceGetTemperature"});
  resolve(api.temperature_v, false, {"nvmlDeviceGetTemperatureV"});
  resolve(api.clock, true, {"nvmlDeviceGetClockInfo"});
  resolve(api.throttle_reasons, false,
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  resolve(api.memory_clocks, false, {"nvmlDeviceGetSupportedMemoryClocks"});
  resolve(api.graphics_clocks, false, {"nvmlDeviceGetSupportedGraphicsClocks"});
  resolve(api.lock_clocks, false, {"nvmlDeviceSetGpuLockedClocks"});
  resolve(api.reset_clocks, false, {"nvmlDeviceResetGpuLockedClocks"});
  resolve(api.mig_mode, false, {"nvmlDeviceGetMigMode"});
  resolve(api.ecc_mode, false, {"nvmlDeviceGetEccMode"});
  resolve(api.persistence, false, {"nvmlDeviceGetPersistenceMode"});
  resolve(api.utilization, false, {"nvmlDeviceGetUtilizationRates"});
  // Their entries agree; those of the first version are shorter.
  resolve(api.processes, false,
          {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  resolve(api.max_clock, false, {"nvmlDeviceGetMaxClockInfo"});
  resolve(api.bus_width, false, {"nvmlDeviceGetMemoryBusWidth"});
  resolve(api.gpm_query_support, false, {"nvmlGpmQueryDeviceSupport"});
  resolve(api.gpm_sample_alloc, false, {"nvmlGpmSampleAlloc"});
  resolve(api.gpm_sample_free, false, {"nvmlGpmSampleFree"});
  resolve(api.gpm_sample_get, false, {"nvmlGpmSampleGet"});
  resolve(api.gpm_metrics_get, false, {"nvmlGpmMetricsGet"});
  if (missing != nullptr) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("{} has no {}: the driver is too old", kLibraryName, missing));
  }
  if (const int code = api.init(); code != nvml::success) {
    return fail(ErrorCode::device_error,
                fmt::format("NVML does not start: {}; is NVIDIA's kernel driver loaded, and of the "
                            "library's version (nvidia-smi)?",
                            nvml_error(api, code)));
  }
  return api;
}

}  // namespace

Result<const NvmlApi*> load_nvml() {
  static const Result<NvmlApi> api = resolve_nvml();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

std::string nvml_error(const NvmlApi& api, int code) {
  const char* text = api.error_string(code);
  return fmt::format("{} ({})", text == nullptr ? "error" : text, code);
}

Status nvml_reset_locked_clocks(const std::string& pci) {
  WW_ASSIGN(api, load_nvml());
  // Once more: this may be a fork of the process that started it.
  if (const int code = api->init(); code != nvml::success) {
    return fail(ErrorCode::device_error, nvml_error(*api, code), pci);
  }
  NvmlDevice device = nullptr;
  if (const int code = api->by_pci(pci.c_str(), &device); code != nvml::success) {
    return fail(ErrorCode::device_error, nvml_error(*api, code), pci);
  }
  if (api->reset_clocks == nullptr) {
    return fail(ErrorCode::unsupported, "this driver cannot reset locked clocks", pci);
  }
  if (const int code = api->reset_clocks(device); code != nvml::success) {
    return fail(
        code == nvml::kNoPermission ? ErrorCode::permission_denied : ErrorCode::device_error,
        "cannot reset locked clocks: " + nvml_error(*api, code), pci);
  }
  return {};
}

}  // namespace ww::measure
