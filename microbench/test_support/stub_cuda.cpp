// A libcuda for tests: it executes the PTX that it is given (ptx_machine.hpp) on one device of
// eight SMs whose L2 has two sides. Errors show when the queue is waited for, and stick until the
// context is retained anew.
//
// With chip_clock.cpp before the C library and WW_STUB_CUDA_CHIP set, the program lives in the
// chip's time and the board's power goes to the clock's trace, where the stub of NVML reads it.
//
// A launch that is like one before (same kernel, grid and arguments, no stores, no clock, no old
// value of an atomic, and what it read unchanged) is not executed again: it takes as long, draws as
// much, and adds the same counts. Lines that it updates by XOR keep what the first one left, as
// nobody reads them.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ptx_machine.hpp"
#include "stub_cuda.hpp"

namespace {

using namespace ww::microbench::testing;

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int out_of_memory = 2;
constexpr int invalid_device = 101;
constexpr int invalid_ptx = 218;
constexpr int not_found = 500;
constexpr int illegal_address = 700;
constexpr std::size_t memory_bytes = std::size_t{1} << 30;

struct Module {
  std::string ptx;
};
struct Function {
  PtxKernel kernel;
};
struct Event {
  double seconds{};
};
struct LaunchCost {
  double seconds{};
  double joules{};  // over idle
  PtxWork work;
};
using LaunchKey = std::tuple<void*, std::array<unsigned, 6>, std::vector<std::byte>>;

struct Driver {
  PtxMemory memory;
  std::map<void*, std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  double busy_s{};     // of all launches
  double over_idle{};  // energy of all launches [J]
  double slept_s{};
  int lost{};
  std::map<LaunchKey, LaunchCost> known;
  bool in_chip_time{};
  std::int64_t busy_until_ns{};
};
Driver& driver() {
  static auto* instance = new Driver;  // as the process
  return *instance;
}

// Slow, so that tests need not execute for long; in chip time faster by chip_speed.
constexpr double seconds_per_tick = 1e-7;

template <class Function>
Function chip_clock(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// How the energy of ones differs from that of the card that tests expect: -1 makes random bits
// cheaper than zeros, as on no real card, so that a control fails.
double share_of_ones() {
  static const char* set = std::getenv("WW_STUB_CUDA_ONES");
  return set != nullptr ? std::atof(set) : 1.0;
}

void attach_chip_clock() {
  const auto attach = chip_clock<std::int64_t (*)(void (*)(std::int64_t))>("ww_chip_clock_attach");
  if (driver().in_chip_time || attach == nullptr || std::getenv("WW_STUB_CUDA_CHIP") == nullptr) {
    return;
  }
  driver().busy_until_ns = attach([](std::int64_t) {});
  driver().in_chip_time = true;
}

// The launch on the board: power from when the one before is done.
void queue_in_chip_time(const LaunchCost& cost) {
  static const auto now = chip_clock<std::int64_t (*)()>("ww_chip_clock_now");
  static const auto power = chip_clock<void (*)(std::int64_t, double)>("ww_chip_clock_power");
  const std::int64_t begin = std::max(now(), driver().busy_until_ns);
  driver().busy_until_ns = begin + std::llround(cost.seconds * 1e9);
  power(begin, stub_cuda::idle_w + cost.joules / cost.seconds);
  power(driver().busy_until_ns, stub_cuda::idle_w);
}

void wait_in_chip_time() {
  static const auto advance = chip_clock<void (*)(std::int64_t)>("ww_chip_clock_advance");
  if (driver().in_chip_time) advance(driver().busy_until_ns);
}

// What was read has changed: launches have to be executed again.
void forget_launches(std::uint64_t address) {
  const std::uint64_t block = driver().memory.block_of(address);
  std::erase_if(driver().known, [block](const auto& entry) {
    return block == 0 || entry.second.work.loaded.contains(block);
  });
}

// Executes a launch. False at a fault.
bool execute(const PtxKernel& kernel, PtxLaunch& launch, LaunchCost& cost) {
  const double scale = driver().in_chip_time ? 1 / stub_cuda::chip_speed : 1.0;
  launch.atomic = [&cost](unsigned sm, std::uint64_t address, std::uint32_t operand, bool awaited) {
    const bool far = stub_cuda::side_of_sm(sm) != stub_cuda::side_of_line(address);
    const int ones = std::popcount(operand);
    cost.joules +=
        32 * stub_cuda::joules_per_bit + ones * share_of_ones() * stub_cuda::joules_per_one;
    if (far) {
      cost.joules +=
          32 * stub_cuda::joules_per_crossing_bit + ones * stub_cuda::joules_per_crossing_one;
    }
    if (!awaited) return far ? stub_cuda::far_reduction_ticks : stub_cuda::near_reduction_ticks;
    // No two ways through a chip are alike: up to 15 ticks more, fixed for the SM and the line.
    const auto smear = static_cast<unsigned>((address / 128 * 7 + sm * 5) % 16);
    return (far ? stub_cuda::far_ticks : stub_cuda::near_ticks) + smear;
  };
  std::string problem;
  const bool good = kernel.run(launch, driver().memory, problem, cost.work);
  if (!good) std::fprintf(stderr, "stub libcuda: %s\n", problem.c_str());
  cost.seconds = static_cast<double>(cost.work.ticks) * seconds_per_tick * scale;
  cost.joules += static_cast<double>(cost.work.instructions) * stub_cuda::joules_per_instruction;
  cost.joules = cost.joules * scale + stub_cuda::active_w * cost.seconds;
  return good;
}

}  // namespace

extern "C" {

stub_cuda::State ww_stub_cuda_state() {
  const double seconds = driver().busy_s + driver().slept_s;
  return {seconds, stub_cuda::idle_w * seconds + driver().over_idle};
}
void ww_stub_cuda_sleep(double seconds) {
  driver().slept_s += seconds;
}

int cuInit(unsigned) {
  attach_chip_clock();
  return success;
}
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return success;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return index == 0 ? success : invalid_device;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Stub with eight SMs", static_cast<std::size_t>(size));
  return success;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 16: *value = static_cast<int>(stub_cuda::sms); return success;  // MULTIPROCESSOR_COUNT
    case 38: *value = 4 << 20; return success;                           // L2_CACHE_SIZE
    case 75: {
      const char* set = std::getenv("WW_STUB_CUDA_MAJOR");  // of the compute capability
      *value = set != nullptr ? std::atoi(set) : 9;
      return success;
    }
    case 76: *value = 0; return success;
    default: return invalid_value;
  }
}
int cuDeviceGetPCIBusId(char* name, int size, int) {
  const char* set = std::getenv("WW_STUB_CUDA_PCI");  // to stand at a stub sensor's address
  std::strncpy(name, set != nullptr ? set : "0000:19:00.0", static_cast<std::size_t>(size));
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  driver().lost = 0;
  *context = &driver();
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return success;
}
int cuCtxSetCurrent(void*) {
  return success;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  if (bytes > memory_bytes) return out_of_memory;
  *address = driver().memory.allocate(bytes);
  return success;
}
int cuMemFree_v2(std::uint64_t address) {
  driver().known.clear();
  return driver().memory.release(address) ? success : invalid_value;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  std::byte* at = driver().memory.at(to, bytes);
  if (at == nullptr) return invalid_value;
  wait_in_chip_time();
  forget_launches(to);
  std::memcpy(at, from, bytes);
  return success;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  const std::byte* at = driver().memory.at(from, bytes);
  if (at == nullptr) return invalid_value;
  wait_in_chip_time();
  std::memcpy(to, at, bytes);
  return success;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  if (driver().lost != 0) return driver().lost;
  const std::string ptx = static_cast<const char*>(image);
  std::string complaint;
  if (ptx.find(".version") == std::string::npos) complaint = "line 1: no .version";
  if (ptx.find("WW_") != std::string::npos) complaint = "a name that stands for no value";
  if (!complaint.empty()) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == 5) std::strcpy(static_cast<char*>(values[i]), complaint.c_str());
    }
    return invalid_ptx;
  }
  auto made = std::make_unique<Module>(Module{ptx});
  *module = made.get();
  driver().modules.emplace(*module, std::move(made));
  return success;
}
int cuModuleUnload(void* module) {
  return driver().modules.erase(module) == 1 ? success : invalid_value;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const auto found = driver().modules.find(module);
  if (found == driver().modules.end()) return invalid_value;
  auto made = std::make_unique<Function>();
  std::string problem;
  if (!PtxKernel::parse(found->second->ptx, name, made->kernel, problem)) {
    std::fprintf(stderr, "stub libcuda: %s\n", problem.c_str());
    return not_found;
  }
  *function = made.get();
  driver().functions.push_back(std::move(made));
  return success;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned, void*, void** params, void** extra) {
  if (driver().lost != 0) return driver().lost;
  if (params != nullptr || extra == nullptr || extra[0] != reinterpret_cast<void*>(1) ||
      extra[2] != reinterpret_cast<void*>(2) || extra[4] != nullptr) {
    return invalid_value;
  }
  if (bx * by * bz > 1024 || gy > 65535 || gz > 65535) return invalid_value;
  PtxLaunch launch;
  launch.groups = {gx, gy, gz};
  launch.local = {bx, by, bz};
  launch.sms = stub_cuda::sms;
  const auto* bytes = static_cast<const std::byte*>(extra[1]);
  launch.arguments.assign(bytes, bytes + *static_cast<std::size_t*>(extra[3]));
  const PtxKernel& kernel = static_cast<Function*>(function)->kernel;
  const LaunchKey key{function, {gx, gy, gz, bx, by, bz}, launch.arguments};
  LaunchCost cost;
  if (const auto known = driver().known.find(key); known != driver().known.end()) {
    cost = known->second;
    for (const auto& [address, sum] : cost.work.added) {
      std::uint32_t value = 0;
      std::byte* at = driver().memory.at(address, sizeof value);
      if (at == nullptr) continue;
      std::memcpy(&value, at, sizeof value);
      value += sum;
      std::memcpy(at, &value, sizeof value);
    }
  } else if (!execute(kernel, launch, cost)) {
    driver().lost = illegal_address;  // seen when the queue is waited for
  } else if (cost.work.stored) {
    driver().known.clear();
  } else if (!kernel.reads_clock() && !cost.work.depends) {
    driver().known.emplace(key, cost);
  }
  driver().busy_s += cost.seconds;
  driver().over_idle += cost.joules;
  if (driver().in_chip_time && cost.seconds > 0) queue_in_chip_time(cost);
  return success;
}
int cuCtxSynchronize() {
  wait_in_chip_time();
  return driver().lost;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return success;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
int cuEventRecord(void* event, void*) {
  static_cast<Event*>(event)->seconds = driver().busy_s;
  return success;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(
      1e3 * (static_cast<Event*>(end)->seconds - static_cast<Event*>(begin)->seconds));
  return success;
}
int cuGetErrorName(int code, const char** name) {
  switch (code) {
    case invalid_value: *name = "CUDA_ERROR_INVALID_VALUE"; return success;
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return success;
    case invalid_device: *name = "CUDA_ERROR_INVALID_DEVICE"; return success;
    case invalid_ptx: *name = "CUDA_ERROR_INVALID_PTX"; return success;
    case not_found: *name = "CUDA_ERROR_NOT_FOUND"; return success;
    case illegal_address: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return success;
    default: *name = nullptr; return invalid_value;
  }
}

}  // extern "C"
