// A libamdhip64 for tests, over the virtual GPU: what HIP's runtime does with a code object and
// packed arguments really happens, on one gfx701 device. Errors stick from a fault on until
// hipSetDevice, as a lost context does until the process ends.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace {

using namespace ww;

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int out_of_memory = 2;
constexpr int invalid_device = 101;
constexpr int invalid_image = 200;
constexpr int not_found = 500;
constexpr int illegal_address = 700;
constexpr unsigned most_work_items = 256;

struct Module {
  binpatch::CodeObject object;
  sim::gpu::ProgramId program{};
};
struct Function {
  Module* module{};
  const binpatch::Kernel* kernel{};
};
struct Event {
  std::int64_t time_ns{};
};

struct Runtime {
  std::unique_ptr<sim::gpu::VirtualGpu> gpu;
  std::map<void*, std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  int lost{};
};

Runtime* runtime() {
  static Runtime* instance = [] {
    auto made = std::make_unique<Runtime>();
    auto chip = sim::gpu::Chip::load({});
    sim::gpu::Options options;
    options.threads = 1;
    if (chip) {
      if (auto gpu = sim::gpu::VirtualGpu::create(*chip, options)) made->gpu = std::move(*gpu);
    }
    return made.release();  // the driver lives as long as the process
  }();
  return instance;
}

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// A code object names no size: its section headers end it, as the ELF header says.
std::span<const std::byte> image_of(const void* data) {
  std::uint64_t headers = 0;
  std::uint16_t size = 0;
  std::uint16_t count = 0;
  const auto* bytes = static_cast<const std::byte*>(data);
  std::memcpy(&headers, bytes + 40, 8);
  std::memcpy(&size, bytes + 58, 2);
  std::memcpy(&count, bytes + 60, 2);
  return {bytes, headers + std::uint64_t{size} * count};
}

}  // namespace

extern "C" {

int hipInit(unsigned) {
  return runtime()->gpu ? success : 100;
}
int hipGetDeviceCount(int* count) {
  *count = 1;
  return success;
}
int hipSetDevice(int device) {
  runtime()->lost = 0;
  return device == 0 ? success : invalid_device;
}
int hipDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "AMD FirePro W9100 (stub over the virtual GPU)",
               static_cast<std::size_t>(size));
  return success;
}
int hipDeviceGetPCIBusId(char* name, int size, int) {
  std::strncpy(name, "0000:03:00.0", static_cast<std::size_t>(size));
  return success;
}
int hipDriverGetVersion(int* version) {
  *version = 50221153;
  return success;
}
// As ROCm 6 lays it out: the architecture's name begins at byte 1160.
int hipGetDevicePropertiesR0600(void* properties, int device) {
  if (device != 0) return invalid_device;
  auto* bytes = static_cast<char*>(properties);
  std::memset(bytes, 0, 1472);
  std::strcpy(bytes, "AMD FirePro gfxless");
  std::strcpy(bytes + 1160, "gfx701");
  return success;
}
int hipMalloc(void** pointer, std::size_t bytes) {
  if (runtime()->lost != 0) return runtime()->lost;
  const auto made = runtime()->gpu->allocate(bytes);
  if (!made) return out_of_memory;
  *pointer = reinterpret_cast<void*>(*made);
  return success;
}
int hipFree(void* pointer) {
  return runtime()->gpu->release(address(pointer)) ? success : invalid_value;
}
int hipMemcpyHtoD(void* to, void* from, std::size_t bytes) {
  if (runtime()->lost != 0) return runtime()->lost;
  return runtime()->gpu->write(address(to), {static_cast<const std::byte*>(from), bytes})
             ? success
             : invalid_value;
}
int hipMemcpyDtoH(void* to, void* from, std::size_t bytes) {
  if (runtime()->lost != 0) return runtime()->lost;
  return runtime()->gpu->read(address(from), {static_cast<std::byte*>(to), bytes}) ? success
                                                                                   : invalid_value;
}
int hipModuleLoadData(void** module, const void* image) {
  if (runtime()->lost != 0) return runtime()->lost;
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return invalid_image;
  auto object = binpatch::CodeObject::parse(image_of(image));
  if (!object) return invalid_image;
  const auto program = runtime()->gpu->load(*object);
  if (!program) return invalid_image;
  auto made = std::make_unique<Module>(Module{std::move(*object), *program});
  *module = made.get();
  runtime()->modules.emplace(*module, std::move(made));
  return success;
}
int hipModuleUnload(void* module) {
  const auto found = runtime()->modules.find(module);
  if (found == runtime()->modules.end()) return invalid_value;
  runtime()->gpu->unload(found->second->program);
  std::erase_if(runtime()->functions,
                [module](const auto& function) { return function->module == module; });
  runtime()->modules.erase(found);
  return success;
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  const auto found = runtime()->modules.find(module);
  if (found == runtime()->modules.end()) return invalid_value;
  const auto* kernel = found->second->object.find_kernel(name);
  if (kernel == nullptr) return not_found;
  auto made = std::make_unique<Function>(Function{found->second.get(), kernel});
  *function = made.get();
  runtime()->functions.push_back(std::move(made));
  return success;
}
int hipModuleLaunchKernel(void* handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void*, void** params,
                          void** extra) {
  if (runtime()->lost != 0) return runtime()->lost;
  if (params != nullptr || extra == nullptr || extra[0] != reinterpret_cast<void*>(1) ||
      extra[2] != reinterpret_cast<void*>(2) || extra[4] != reinterpret_cast<void*>(3)) {
    return invalid_value;
  }
  const auto* function = static_cast<Function*>(handle);
  const auto& kernel = *function->kernel;
  const std::size_t size = *static_cast<std::size_t*>(extra[3]);
  if (bx * by * bz > most_work_items || size > kernel.kernarg_segment_size) return invalid_value;
  // Hidden arguments of code object version 4 are zero for a launch without an offset.
  std::vector<std::byte> kernarg(kernel.kernarg_segment_size);
  std::memcpy(kernarg.data(), extra[1], size);
  const sim::gpu::Grid grid{3, {gx * bx, gy * by, gz * bz}, {bx, by, bz}};
  const auto done =
      runtime()->gpu->launch(function->module->program, kernel.name, grid, kernarg, shared);
  if (done) return success;
  if (done.error().code == ErrorCode::out_of_range) return invalid_value;
  runtime()->lost = illegal_address;  // seen when the queue is waited for
  return success;
}
int hipDeviceSynchronize() {
  return runtime()->lost;
}
int hipEventCreate(void** event) {
  *event = new Event;
  return success;
}
int hipEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
int hipEventRecord(void* event, void*) {
  static_cast<Event*>(event)->time_ns = runtime()->gpu->now_ns();
  return success;
}
int hipEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds =
      static_cast<float>(static_cast<Event*>(end)->time_ns - static_cast<Event*>(begin)->time_ns) *
      1e-6f;
  return success;
}
const char* hipGetErrorName(int code) {
  switch (code) {
    case success: return "hipSuccess";
    case invalid_value: return "hipErrorInvalidValue";
    case out_of_memory: return "hipErrorOutOfMemory";
    case invalid_device: return "hipErrorInvalidDevice";
    case invalid_image: return "hipErrorInvalidImage";
    case not_found: return "hipErrorNotFound";
    case illegal_address: return "hipErrorIllegalAddress";
    default: return "hipErrorUnknown";
  }
}

}  // extern "C"
