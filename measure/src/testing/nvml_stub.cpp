// A libnvidia-ml.so.1 for tests. $WW_NVML_STUB names a folder:
//   config  "key value" lines (stub_config.hpp); results are NVML's codes, 3 is "not supported"
//   load    exists while the GPU is loaded
//   calls   what was set, a line each
//   counted where "count_calls" is 1: the function's name at each call that asks a GPU something
#include <dlfcn.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "../../sensor/nvml/nvml_api.hpp"
#include "board_step.hpp"
#include "simulated_power.hpp"
#include "stub_config.hpp"

namespace {

using ww::measure::NvmlDevice;
using ww::measure::NvmlFieldValue;
using ww::measure::NvmlGpmMetric;
using ww::measure::NvmlGpmMetrics;
using ww::measure::NvmlGpmSample;
using ww::measure::NvmlGpmSupport;
using ww::measure::NvmlPci;
using ww::measure::NvmlProcess;
using ww::measure::NvmlUtilization;
using ww::measure::testing::BoardStep;
using ww::measure::testing::SensorShape;
using ww::measure::testing::SteppedPower;
using ww::measure::testing::stub_config;
using ww::measure::testing::stub_folder;
namespace nvml = ww::measure::nvml;

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Traffic that a board has moved since it began, by GPM's numbers of metrics: at the rate "gpm_ID"
// (percent, or MiB a second) while it is loaded, and nothing else.
struct Moved {
  double at_s{};
  double loaded_s{};
};

// A board, and its power as it was up to now: a change of load is seen at the next call.
class Gpu {
 public:
  explicit Gpu(unsigned bus)
      : bus_(bus), power_(stub_config().number("idle_w", 60)), began_s_(now_s()) {}
  [[nodiscard]] unsigned bus() const { return bus_; }
  double shown(const SensorShape& shape) {
    const std::lock_guard lock(mutex_);
    look();
    const double watts = ww::measure::testing::shown_power(power_, shape, now_s());
    return stub_config().number("gain", 1) * watts + stub_config().number("offset_w", 0);
  }
  double joules(double period_s) {
    const std::lock_guard lock(mutex_);
    look();
    const double until = std::floor(now_s() / period_s) * period_s;
    return stub_config().number("gain", 1) * power_.energy(began_s_ - 100, until);
  }
  // How long it was loaded until one moment, for a board whose load is on or off.
  Moved moved() {
    const std::lock_guard lock(mutex_);
    look();
    const double idle_w = stub_config().number("idle_w", 60);
    const double load_w = stub_config().number("load_w", 130);
    const double now = now_s();
    const double joules = power_.energy(began_s_, now);
    return {now, (joules - idle_w * (now - began_s_)) / (load_w - idle_w)};
  }
  // Returns the card that runs; nothing where none does.
  std::optional<BoardStep> board() {
    const std::lock_guard lock(mutex_);
    look();
    return board_;
  }

 private:
  // The board in chip time, where a stub of the card runs (microbench/test_support).
  void look_at_chip() {
    using Step = int (*)(unsigned, std::size_t, BoardStep*);
    static const auto step =
        reinterpret_cast<Step>(dlsym(RTLD_DEFAULT, "ww_chip_clock_board_step"));
    BoardStep now;
    while (step != nullptr && step(bus_, steps_seen_, &now) != 0) {
      power_.step(static_cast<double>(now.time_ns) * 1e-9, now.watts);
      board_ = now;
      ++steps_seen_;
    }
  }
  void look() {
    look_at_chip();
    struct stat info {};
    const bool loaded = stat((stub_folder() + "/load").c_str(), &info) == 0;
    if (loaded == loaded_) return;
    loaded_ = loaded;
    power_.step(now_s(),
                loaded ? stub_config().number("load_w", 130) : stub_config().number("idle_w", 60));
  }
  unsigned bus_;
  std::mutex mutex_;
  SteppedPower power_;
  double began_s_;
  bool loaded_{};
  std::size_t steps_seen_{};
  std::optional<BoardStep> board_;
};

// Returns the GPU by bus, as NVML counts.
Gpu& gpu(unsigned bus) {
  static Gpu first(ww::measure::testing::kFirstBoardBus);
  static Gpu second(ww::measure::testing::kSecondBoardBus);
  return bus == first.bus() ? first : second;
}
Gpu& gpu(NvmlDevice device) {
  return *reinterpret_cast<Gpu*>(device);
}

SensorShape instant_shape() {
  return {.period_s = stub_config().number("period_s", 0.1),
          .window_s = stub_config().number("window_s", 0.025),
          .lag_tau_s = stub_config().number("lag_s", 0),
          .noise_w = stub_config().number("noise_w", 0.2),
          .quantum_w = 0.001,
          .phase_s = 0.0173};
}

SensorShape average_shape() {
  SensorShape shape = instant_shape();
  shape.window_s = stub_config().number("average_window_s", 1.0);
  return shape;
}

// A call asks the card's own processor, which takes its time.
void spend_call() {
  using Spend = void (*)(std::int64_t);
  static const auto spend = reinterpret_cast<Spend>(dlsym(RTLD_DEFAULT, "ww_chip_clock_spend"));
  const double call_s = stub_config().number("call_s", 0);
  if (spend != nullptr && call_s > 0) spend(std::llround(call_s * 1e9));
}

unsigned milliwatts(NvmlDevice device, const SensorShape& shape) {
  return static_cast<unsigned>(std::lround(gpu(device).shown(shape) * 1e3));
}

unsigned long long millijoules(NvmlDevice device) {
  const double frozen = stub_config().number("frozen_energy", 0);
  if (frozen != 0) return frozen > 0 ? 4'000'000 : 0;
  const double period_s = stub_config().number("energy_period_s", 0.1);
  return static_cast<unsigned long long>(gpu(device).joules(period_s) * 1e3);
}

void log(const std::string& line) {
  std::ofstream(stub_folder() + "/calls", std::ios::app) << line << '\n';
}

void note_call(const char* function) {
  static const bool wanted = stub_config().number("count_calls", 0) != 0;
  if (wanted) std::ofstream(stub_folder() + "/counted", std::ios::app) << function << '\n';
}

void copy(char* out, unsigned length, const std::string& text) {
  std::snprintf(out, length, "%s", text.c_str());
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return stub_config().code("init", nvml::success);
}
int nvmlShutdown() {
  return nvml::success;
}
const char* nvmlErrorString(int code) {
  switch (code) {
    case nvml::success: return "Success";
    case nvml::not_supported: return "Not Supported";
    case nvml::kNoPermission: return "Insufficient Permissions";
    case 9: return "Driver Not Loaded";
    default: return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  copy(version, length, stub_config().number("new_driver", 0) != 0 ? "580.65.06" : "535.54.03");
  return nvml::success;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(stub_config().number("count", 1));
  return nvml::success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  const unsigned count = stub_config().count("count", 1);
  if (index >= count) return 2;
  Gpu& found = gpu(count == 2 && index == 0 ? ww::measure::testing::kSecondBoardBus
                                            : ww::measure::testing::kFirstBoardBus);
  *device = reinterpret_cast<NvmlDevice>(&found);
  return nvml::success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, NvmlDevice* device) {
  for (unsigned index = 0; nvmlDeviceGetHandleByIndex_v2(index, device) == nvml::success; ++index) {
    char own[32];
    std::snprintf(own, sizeof own, "0000:%02x:00.0", gpu(*device).bus());
    if (std::strcmp(pci, own) == 0) return nvml::success;
  }
  return 6;
}
int nvmlDeviceGetName(NvmlDevice, char* name, unsigned length) {
  copy(name, length,
       stub_config().number("grace", 0) != 0 ? "NVIDIA GH200 480GB" : "NVIDIA Stub 100");
  return nvml::success;
}
int nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPci* pci) {
  *pci = {};
  pci->bus = gpu(device).bus();
  return nvml::success;
}
int nvmlDeviceGetFieldValues(NvmlDevice device, int count, NvmlFieldValue* values) {
  note_call("nvmlDeviceGetFieldValues");
  spend_call();
  for (int i = 0; i < count; ++i) {
    NvmlFieldValue& field = values[i];
    field.value_type = 1;
    if (field.scope != nvml::kScopeGpu) {
      // Power of the module that the GPU shares with a processor, which draws the watts in
      // "module_w".
      const double processor_w = stub_config().number("module_w", 0);
      const bool power =
          field.field == nvml::kFieldPowerInstant || field.field == nvml::kFieldPowerAverage;
      field.result = power && processor_w > 0 && field.scope == nvml::kScopeModule
                         ? stub_config().code("instant", nvml::success)
                         : nvml::not_supported;
      field.value.as_unsigned = milliwatts(device, instant_shape()) +
                                static_cast<unsigned>(std::lround(processor_w * 1e3));
      continue;
    }
    switch (field.field) {
      case nvml::kFieldPowerInstant:
        field.result = stub_config().code("instant", nvml::success);
        field.value.as_unsigned = milliwatts(device, instant_shape());
        break;
      case nvml::kFieldPowerAverage:
        field.result = stub_config().code("average", nvml::success);
        field.value.as_unsigned = milliwatts(device, average_shape());
        break;
      case nvml::kFieldTotalEnergy:
        field.result = stub_config().code("energy", nvml::success);
        field.value_type = 3;
        field.value.as_unsigned_long_long = millijoules(device);
        break;
      case nvml::kFieldMemoryTemperature:
        field.result = stub_config().code("memory_temperature", nvml::not_supported);
        field.value.as_unsigned = stub_config().count("memory_celsius", 50);
        break;
      default: field.result = nvml::not_supported;
    }
  }
  return nvml::success;
}
int nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* power) {
  note_call("nvmlDeviceGetPowerUsage");
  spend_call();
  *power = milliwatts(device, average_shape());
  return stub_config().code("usage", nvml::success);
}
int nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device, unsigned long long* energy) {
  note_call("nvmlDeviceGetTotalEnergyConsumption");
  *energy = millijoules(device);
  return stub_config().code("energy", nvml::success);
}
int nvmlDeviceGetTemperature(NvmlDevice device, unsigned, unsigned* celsius) {
  note_call("nvmlDeviceGetTemperature");
  const auto board = gpu(device).board();
  *celsius = board ? static_cast<unsigned>(board->celsius) : 47;
  if (stub_config().number("celsius", 1) == 0) *celsius = 0;
  return stub_config().code("temperature");
}
int nvmlDeviceGetTemperatureV(NvmlDevice, ww::measure::NvmlTemperature* temperature) {
  note_call("nvmlDeviceGetTemperatureV");
  temperature->celsius = 48;
  const bool known = temperature->version == ww::measure::NvmlTemperature{}.version;
  return known ? stub_config().code("temperature_v", nvml::not_supported) : nvml::not_supported;
}
int nvmlDeviceGetClockInfo(NvmlDevice device, unsigned type, unsigned* mhz) {
  note_call("nvmlDeviceGetClockInfo");
  constexpr double kClockStepHz = 15e6;
  const auto board = gpu(device).board();
  *mhz = type == nvml::kClockMemory ? 2619
         : board ? static_cast<unsigned>(std::lround(board->clock_hz / kClockStepHz) * 15)
                 : 1755;
  return stub_config().code("clock");
}
int nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice, unsigned long long* reasons) {
  note_call("nvmlDeviceGetCurrentClocksThrottleReasons");
  *reasons = static_cast<unsigned long long>(stub_config().number("throttle", 1));
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
  if (const int code = stub_config().code("lock", nvml::success); code != nvml::success)
    return code;
  log("lock " + std::to_string(low) + " " + std::to_string(high));
  return nvml::success;
}
int nvmlDeviceResetGpuLockedClocks(NvmlDevice) {
  log("reset");
  return nvml::success;
}
int nvmlDeviceGetMigMode(NvmlDevice, unsigned* now, unsigned* pending) {
  note_call("nvmlDeviceGetMigMode");
  *now = *pending = static_cast<unsigned>(stub_config().number("mig", 0));
  return nvml::success;
}
int nvmlDeviceGetEccMode(NvmlDevice, unsigned* now, unsigned* pending) {
  note_call("nvmlDeviceGetEccMode");
  *now = *pending = 1;
  return nvml::success;
}
int nvmlDeviceGetPersistenceMode(NvmlDevice, unsigned* mode) {
  note_call("nvmlDeviceGetPersistenceMode");
  *mode = 1;
  return nvml::success;
}
int nvmlDeviceGetUtilizationRates(NvmlDevice, NvmlUtilization* use) {
  note_call("nvmlDeviceGetUtilizationRates");
  *use = {static_cast<unsigned>(stub_config().number("busy", 0)), 0};
  return stub_config().code("utilization", nvml::success);
}
int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice, unsigned* count, NvmlProcess* processes) {
  note_call("nvmlDeviceGetComputeRunningProcesses_v3");
  *count = static_cast<unsigned>(stub_config().number("processes", 0));
  for (unsigned i = 0; i < *count; ++i) processes[i] = {4000 + i, 1 << 20, 0, 0};
  return stub_config().code("processes_listed", nvml::success);
}
int nvmlDeviceGetMaxClockInfo(NvmlDevice, unsigned type, unsigned* mhz) {
  *mhz = type == nvml::kClockMemory ? 2619 : 1980;
  return nvml::success;
}
int nvmlDeviceGetMemoryBusWidth(NvmlDevice, unsigned* bits) {
  *bits = 5120;
  return nvml::success;
}
int nvmlGpmQueryDeviceSupport(NvmlDevice, NvmlGpmSupport* support) {
  if (support->version != 1) return 25;
  support->is_supported = stub_config().count("gpm", 0);
  return nvml::success;
}
int nvmlGpmSampleAlloc(NvmlGpmSample* sample) {
  *sample = new Moved;
  return nvml::success;
}
int nvmlGpmSampleFree(NvmlGpmSample sample) {
  delete static_cast<Moved*>(sample);
  return nvml::success;
}
int nvmlGpmSampleGet(NvmlDevice device, NvmlGpmSample sample) {
  note_call("nvmlGpmSampleGet");
  *static_cast<Moved*>(sample) = gpu(device).moved();
  return stub_config().code("gpm_sample");
}
int nvmlGpmMetricsGet(NvmlGpmMetrics* request) {
  if (request->version != 1) return 25;
  const auto& from = *static_cast<const Moved*>(request->earlier);
  const auto& to = *static_cast<const Moved*>(request->later);
  if (to.at_s - from.at_s < 0.1) return 2;
  for (unsigned i = 0; i < request->count; ++i) {
    NvmlGpmMetric& metric = request->metrics[i];
    const double rate = stub_config().number("gpm_" + std::to_string(metric.id), -1);
    metric.result = rate < 0 ? nvml::not_supported : nvml::success;
    const double loaded_s = std::max(0.0, to.loaded_s - from.loaded_s);  // rounding is left
    metric.value = rate * loaded_s / (to.at_s - from.at_s);
  }
  return nvml::success;
}

}  // extern "C"
