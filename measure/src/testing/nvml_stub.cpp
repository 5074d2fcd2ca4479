// A libnvidia-ml.so.1 for tests. $WW_NVML_STUB names a folder:
//   config  "key value" lines, see Config
//   load    exists while the GPU is loaded
//   calls   what was set, a line each
#include <dlfcn.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "../../sensor/nvml/nvml_api.hpp"
#include "simulated_power.hpp"

namespace {

using ww::measure::NvmlDevice;
using ww::measure::NvmlFieldValue;
using ww::measure::NvmlPci;
using ww::measure::NvmlProcess;
using ww::measure::NvmlUtilization;
using ww::measure::testing::SensorShape;
using ww::measure::testing::SteppedPower;
namespace nvml = ww::measure::nvml;

std::string folder() {
  const char* set = std::getenv("WW_NVML_STUB");
  return set == nullptr ? "." : set;
}

// Numbers of `config`; results are NVML's codes.
class Config {
 public:
  Config() {
    std::ifstream file(folder() + "/config");
    std::string key;
    double value = 0;
    while (file >> key >> value) values_[key] = value;
  }
  [[nodiscard]] double number(const std::string& key, double otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : found->second;
  }
  [[nodiscard]] int code(const std::string& key, int otherwise) const {
    return static_cast<int>(number(key, otherwise));
  }

 private:
  std::map<std::string, double> values_;
};

const Config& config() {
  static const Config read;
  return read;
}

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The power as it was up to now: a change of load is seen at the next call.
class Gpu {
 public:
  Gpu() : power_(config().number("idle_w", 60)), began_s_(now_s()) {}
  double shown(const SensorShape& shape) {
    const std::lock_guard lock(mutex_);
    look();
    return ww::measure::testing::shown_power(power_, shape, now_s());
  }
  double joules(double period_s) {
    const std::lock_guard lock(mutex_);
    look();
    const double until = std::floor(now_s() / period_s) * period_s;
    return power_.energy(began_s_ - 100, until);
  }

 private:
  // The board's power in chip time, where a stub of the card runs (microbench/test_support).
  void look_at_chip() {
    using Step = int (*)(std::size_t, std::int64_t*, double*);
    static const auto step =
        reinterpret_cast<Step>(dlsym(RTLD_DEFAULT, "ww_chip_clock_power_step"));
    std::int64_t time_ns = 0;
    double watts = 0;
    while (step != nullptr && step(steps_seen_, &time_ns, &watts) != 0) {
      power_.step(static_cast<double>(time_ns) * 1e-9, watts);
      ++steps_seen_;
    }
  }
  void look() {
    look_at_chip();
    struct stat info {};
    const bool loaded = stat((folder() + "/load").c_str(), &info) == 0;
    if (loaded == loaded_) return;
    loaded_ = loaded;
    power_.step(now_s(), loaded ? config().number("load_w", 130) : config().number("idle_w", 60));
  }
  std::mutex mutex_;
  SteppedPower power_;
  double began_s_;
  bool loaded_{};
  std::size_t steps_seen_{};
};

Gpu& gpu() {
  static Gpu one;
  return one;
}

SensorShape instant_shape() {
  return {.period_s = config().number("period_s", 0.1),
          .window_s = config().number("window_s", 0.025),
          .noise_w = config().number("noise_w", 0.2),
          .quantum_w = 0.001,
          .phase_s = 0.0173};
}

SensorShape average_shape() {
  SensorShape shape = instant_shape();
  shape.window_s = config().number("average_window_s", 1.0);
  return shape;
}

unsigned milliwatts(const SensorShape& shape) {
  return static_cast<unsigned>(std::lround(gpu().shown(shape) * 1e3));
}

unsigned long long millijoules() {
  if (config().number("frozen_energy", 0) != 0) return 4'000'000;
  return static_cast<unsigned long long>(gpu().joules(config().number("energy_period_s", 0.1)) *
                                         1e3);
}

void log(const std::string& line) {
  std::ofstream(folder() + "/calls", std::ios::app) << line << '\n';
}

void copy(char* out, unsigned length, const std::string& text) {
  std::snprintf(out, length, "%s", text.c_str());
}

constexpr unsigned bus = 0xc1;
int device_marker;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return config().code("init", nvml::success);
}
int nvmlShutdown() {
  return nvml::success;
}
const char* nvmlErrorString(int code) {
  switch (code) {
    case nvml::success: return "Success";
    case nvml::not_supported: return "Not Supported";
    case nvml::no_permission: return "Insufficient Permissions";
    case 9: return "Driver Not Loaded";
    default: return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  copy(version, length, "535.54.03");
  return nvml::success;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(config().number("count", 1));
  return nvml::success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (index > 0) return 2;
  *device = reinterpret_cast<NvmlDevice>(&device_marker);
  return nvml::success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, NvmlDevice* device) {
  if (std::strcmp(pci, "0000:c1:00.0") != 0) return 6;
  return nvmlDeviceGetHandleByIndex_v2(0, device);
}
int nvmlDeviceGetName(NvmlDevice, char* name, unsigned length) {
  copy(name, length, "NVIDIA Stub 100");
  return nvml::success;
}
int nvmlDeviceGetPciInfo_v3(NvmlDevice, NvmlPci* pci) {
  *pci = {};
  pci->bus = bus;
  return nvml::success;
}
int nvmlDeviceGetFieldValues(NvmlDevice, int count, NvmlFieldValue* values) {
  for (int i = 0; i < count; ++i) {
    NvmlFieldValue& field = values[i];
    field.value_type = 1;
    switch (field.field) {
      case nvml::field_power_instant:
        field.result = config().code("instant", nvml::success);
        field.value.as_unsigned = milliwatts(instant_shape());
        break;
      case nvml::field_power_average:
        field.result = config().code("average", nvml::success);
        field.value.as_unsigned = milliwatts(average_shape());
        break;
      case nvml::field_total_energy:
        field.result = config().code("energy", nvml::success);
        field.value_type = 3;
        field.value.as_unsigned_long_long = millijoules();
        break;
      case nvml::field_memory_temperature:
        field.result = config().code("memory_temperature", nvml::not_supported);
        field.value.as_unsigned = 50;
        break;
      default: field.result = nvml::not_supported;
    }
  }
  return nvml::success;
}
int nvmlDeviceGetPowerUsage(NvmlDevice, unsigned* power) {
  *power = milliwatts(average_shape());
  return config().code("usage", nvml::success);
}
int nvmlDeviceGetTotalEnergyConsumption(NvmlDevice, unsigned long long* energy) {
  *energy = millijoules();
  return config().code("energy", nvml::success);
}
int nvmlDeviceGetTemperature(NvmlDevice, unsigned, unsigned* celsius) {
  *celsius = 47;
  return nvml::success;
}
int nvmlDeviceGetClockInfo(NvmlDevice, unsigned type, unsigned* mhz) {
  *mhz = type == nvml::clock_memory ? 2619 : 1755;
  return nvml::success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice, unsigned long long* reasons) {
  *reasons = static_cast<unsigned long long>(config().number("throttle", 1));
  return nvml::success;
}
int nvmlDeviceGetSupportedMemoryClocks(NvmlDevice, unsigned* count, unsigned* mhz) {
  *count = 1;
  mhz[0] = 2619;
  return nvml::success;
}
int nvmlDeviceGetSupportedGraphicsClocks(NvmlDevice, unsigned, unsigned* count, unsigned* mhz) {
  *count = 0;
  for (unsigned clock = 1980; clock >= 345; clock -= 15) mhz[(*count)++] = clock;
  return nvml::success;
}
int nvmlDeviceSetGpuLockedClocks(NvmlDevice, unsigned low, unsigned high) {
  if (const int code = config().code("lock", nvml::success); code != nvml::success) return code;
  log("lock " + std::to_string(low) + " " + std::to_string(high));
  return nvml::success;
}
int nvmlDeviceResetGpuLockedClocks(NvmlDevice) {
  log("reset");
  return nvml::success;
}
int nvmlDeviceGetMigMode(NvmlDevice, unsigned* now, unsigned* pending) {
  *now = *pending = static_cast<unsigned>(config().number("mig", 0));
  return nvml::success;
}
int nvmlDeviceGetEccMode(NvmlDevice, unsigned* now, unsigned* pending) {
  *now = *pending = 1;
  return nvml::success;
}
int nvmlDeviceGetPersistenceMode(NvmlDevice, unsigned* mode) {
  *mode = 1;
  return nvml::success;
}
int nvmlDeviceGetUtilizationRates(NvmlDevice, NvmlUtilization* use) {
  *use = {static_cast<unsigned>(config().number("busy", 0)), 0};
  return nvml::success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice, unsigned* count, NvmlProcess* processes) {
  *count = static_cast<unsigned>(config().number("processes", 0));
  for (unsigned i = 0; i < *count; ++i) processes[i] = {4000 + i, 1 << 20, 0, 0};
  return nvml::success;
}

}  // extern "C"
