// A libcuda for tests: it executes the PTX that it is given (ptx_machine.hpp) on one device of
// eight SMs whose L2 has two sides. Errors stick from a fault on until the context is retained
// anew.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
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
  std::uint64_t instructions{};
};

struct Driver {
  PtxMemory memory;
  std::map<void*, std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::uint64_t instructions{};
  double atomic_joules{};
  double slept_s{};
  int lost{};
};
Driver& driver() {
  static auto* instance = new Driver;  // as the process
  return *instance;
}

// Slow, so that tests need not execute for long.
constexpr double seconds_per_instruction = 4e-7;

}  // namespace

extern "C" {

stub_cuda::State ww_stub_cuda_state() {
  const double seconds =
      static_cast<double>(driver().instructions) * seconds_per_instruction + driver().slept_s;
  return {seconds, stub_cuda::idle_w * seconds + driver().atomic_joules};
}
void ww_stub_cuda_sleep(double seconds) {
  driver().slept_s += seconds;
}

int cuInit(unsigned) {
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
  return driver().memory.release(address) ? success : invalid_value;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  std::byte* at = driver().memory.at(to, bytes);
  if (at == nullptr) return invalid_value;
  std::memcpy(at, from, bytes);
  return success;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  if (driver().lost != 0) return driver().lost;
  const std::byte* at = driver().memory.at(from, bytes);
  if (at == nullptr) return invalid_value;
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
  launch.atomic = [](unsigned sm, std::uint64_t address, std::uint32_t operand) {
    const bool far = stub_cuda::side_of_sm(sm) != stub_cuda::side_of_line(address);
    driver().atomic_joules += 32 * stub_cuda::joules_per_bit;
    if (far) {
      driver().atomic_joules += 32 * stub_cuda::joules_per_crossing_bit +
                                std::popcount(operand) * stub_cuda::joules_per_crossing_one;
    }
    return far ? 430u : 200u;
  };
  const auto* bytes = static_cast<const std::byte*>(extra[1]);
  launch.arguments.assign(bytes, bytes + *static_cast<std::size_t*>(extra[3]));
  std::string problem;
  if (!static_cast<Function*>(function)->kernel.run(launch, driver().memory, problem,
                                                    driver().instructions)) {
    std::fprintf(stderr, "stub libcuda: %s\n", problem.c_str());
    driver().lost = illegal_address;  // seen when the queue is waited for
  }
  return success;
}
int cuCtxSynchronize() {
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
  static_cast<Event*>(event)->instructions = driver().instructions;
  return success;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(static_cast<Event*>(end)->instructions -
                                     static_cast<Event*>(begin)->instructions) *
                  static_cast<float>(seconds_per_instruction * 1e3);
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
