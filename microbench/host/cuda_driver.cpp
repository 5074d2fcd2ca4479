// CUDA's driver API through libcuda, found at run time. Declared by hand after NVIDIA's CUDA Driver
// API reference (the ABI of the _v2 entry points has not changed since CUDA 3.2).
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "host/module_driver.hpp"
#include "host/ptx_signature.hpp"
#include "host/shared_library.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

constexpr const char* kCudaRemedy =
    "install NVIDIA's driver (package nvidia-driver, or libcuda1 of Debian's non-free; in a "
    "container, start it with the driver mounted)";

// CUdevice_attribute and CUjit_option.
constexpr int kCudaMultiprocessorCount = 16;
constexpr int kL2CacheSize = 38;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;

constexpr int kMinMajor = 7;  // the kernels' PTX is of sm_70

constexpr int kJitErrorLogBuffer = 5;
constexpr int kJitErrorLogBufferBytes = 6;

struct CudaApi {
  int (*init)(unsigned){};
  int (*driver_version)(int*){};
  int (*device_count)(int*){};
  int (*device)(int*, int){};
  int (*device_name)(char*, int, int){};
  int (*attribute)(int*, int, int){};
  int (*total_memory)(std::size_t*, int){};
  int (*pci_bus)(char*, int, int){};
  int (*retain_context)(void**, int){};
  int (*release_context)(int){};
  int (*set_context)(void*){};
  int (*allocate)(std::uint64_t*, std::size_t){};
  int (*release)(std::uint64_t){};
  int (*copy_in)(std::uint64_t, const void*, std::size_t){};
  int (*copy_out)(void*, std::uint64_t, std::size_t){};
  int (*load)(void**, const void*, unsigned, int*, void**){};
  int (*unload)(void*){};
  int (*find)(void**, void*, const char*){};
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**){};
  int (*synchronize)(){};
  int (*make_event)(void**, unsigned){};
  int (*drop_event)(void*){};
  int (*record)(void*, void*){};
  int (*milliseconds)(float*, void*, void*){};
  int (*error_name)(int, const char**){};
};

Result<CudaApi> resolve_cuda() {
  WW_ASSIGN(library, SharedLibrary::open({"libcuda.so.1", "libcuda.so"}, "NVIDIA's CUDA driver",
                                         kCudaRemedy));
  CudaApi api;
  library.need(api.init, "cuInit");
  library.need(api.driver_version, "cuDriverGetVersion");
  library.need(api.device_count, "cuDeviceGetCount");
  library.need(api.device, "cuDeviceGet");
  library.need(api.device_name, "cuDeviceGetName");
  library.need(api.attribute, "cuDeviceGetAttribute");
  library.need(api.total_memory, "cuDeviceTotalMem_v2");
  library.need(api.pci_bus, "cuDeviceGetPCIBusId");
  library.need(api.retain_context, "cuDevicePrimaryCtxRetain");
  if (!library.find(api.release_context, "cuDevicePrimaryCtxRelease_v2")) {
    library.need(api.release_context, "cuDevicePrimaryCtxRelease");
  }
  library.need(api.set_context, "cuCtxSetCurrent");
  library.need(api.allocate, "cuMemAlloc_v2");
  library.need(api.release, "cuMemFree_v2");
  library.need(api.copy_in, "cuMemcpyHtoD_v2");
  library.need(api.copy_out, "cuMemcpyDtoH_v2");
  library.need(api.load, "cuModuleLoadDataEx");
  library.need(api.unload, "cuModuleUnload");
  library.need(api.find, "cuModuleGetFunction");
  library.need(api.launch, "cuLaunchKernel");
  library.need(api.synchronize, "cuCtxSynchronize");
  library.need(api.make_event, "cuEventCreate");
  library.need(api.drop_event, "cuEventDestroy_v2");
  library.need(api.record, "cuEventRecord");
  library.need(api.milliseconds, "cuEventElapsedTime");
  library.need(api.error_name, "cuGetErrorName");
  WW_TRY(library.complete());
  return api;
}

Result<const CudaApi*> load_cuda() {
  static const Result<CudaApi> api = resolve_cuda();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

std::string name_of(const CudaApi& api, int code) {
  const char* name = nullptr;
  if (api.error_name(code, &name) != 0 || name == nullptr) name = "?";
  return fmt::format("{} ({})", name, code);
}

Status judged(const CudaApi& api, int code, const char* call) {
  if (code == 0) return {};
  std::string hint;
  if (code == 100) hint = "; the driver is there, but no GPU is visible (CUDA_VISIBLE_DEVICES?)";
  if (code == 803 || code == 804) hint = "; library and kernel module are of different versions";
  return fail(ErrorCode::device_error,
              fmt::format("{} failed: {}{}", call, name_of(api, code), hint));
}

class CudaDriver final : public ModuleDriver {
 public:
  CudaDriver(const CudaApi& api, int device, void* context, HostFacts facts)
      : api_(api), device_(device), context_(context), facts_(std::move(facts)) {}
  ~CudaDriver() override { api_.release_context(device_); }

  HostFacts facts() const override { return facts_; }
  int make_current() override { return api_.set_context(context_); }

  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    WW_ASSIGN(ptx, kernels::ptx_for(name, text));
    const auto bytes = std::as_bytes(std::span(ptx));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  Result<std::vector<ArgumentSlot>> arguments(std::span<const std::byte> image,
                                              const std::string& kernel) override {
    return ptx_arguments(
        std::string_view(reinterpret_cast<const char*>(image.data()), image.size()), kernel);
  }

  int allocate(std::uint64_t& address, std::size_t bytes) override {
    return api_.allocate(&address, bytes);
  }
  int release(std::uint64_t address) override { return api_.release(address); }
  int copy_in(std::uint64_t to, std::span<const std::byte> data) override {
    return api_.copy_in(to, data.data(), data.size());
  }
  int copy_out(std::span<std::byte> data, std::uint64_t from) override {
    return api_.copy_out(data.data(), from, data.size());
  }
  int load(Handle& module, std::span<const std::byte> image, std::string& log) override {
    std::string text(reinterpret_cast<const char*>(image.data()), image.size());
    std::string errors(std::size_t{16} << 10, '\0');
    std::array<int, 2> options{kJitErrorLogBuffer, kJitErrorLogBufferBytes};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the API takes sizes as pointers
    std::array<void*, 2> values{errors.data(), reinterpret_cast<void*>(errors.size() - 1)};
    const int code = api_.load(&module, text.c_str(), 2, options.data(), values.data());
    log = errors.c_str();
    return code;
  }
  int unload(Handle module) override { return api_.unload(module); }
  int find(Handle& function, Handle module, const std::string& kernel) override {
    return api_.find(&function, module, kernel.c_str());
  }
  int launch(Handle function, const ModuleGrid& grid, std::span<std::byte> packed) override {
    return launch_packed(api_.launch, function, grid, packed, nullptr);  // CU_LAUNCH_PARAM_END
  }
  int synchronize() override { return api_.synchronize(); }
  int make_event(Handle& event) override { return api_.make_event(&event, 0); }
  int drop_event(Handle event) override { return api_.drop_event(event); }
  int record(Handle event) override { return api_.record(event, nullptr); }
  int milliseconds(float& between, Handle begin, Handle end) override {
    return api_.milliseconds(&between, begin, end);
  }
  std::string error_name(int code) const override { return name_of(api_, code); }

 private:
  const CudaApi& api_;
  int device_;
  void* context_;
  HostFacts facts_;
};

// A device as its attributes describe it. A context would take 0.3 to 0.5 GB of its memory, and is
// refused where another process has the device for itself.
struct CudaSight {
  int device{};  // the driver's handle
  HostFacts facts;
};

Result<CudaSight> see_cuda(const CudaApi& api, int index) {
  WW_ASSIGN(count, cuda_device_count());
  if (index < 0 || index >= count) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("no CUDA device {}; there are {}", index, count));
  }
  CudaSight seen;
  HostFacts& facts = seen.facts;
  const int& device = seen.device;
  WW_TRY(judged(api, api.device(&seen.device, index), "cuDeviceGet"));
  facts.api = "cuda";
  std::array<char, 256> text{};
  WW_TRY(judged(api, api.device_name(text.data(), 255, device), "cuDeviceGetName"));
  facts.device = text.data();
  text = {};
  if (api.pci_bus(text.data(), 255, device) == 0) facts.pci_bus = text.data();
  int version = 0;
  if (api.driver_version(&version) == 0) {
    facts.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  }
  int major = 0;
  int minor = 0;
  WW_TRY(
      judged(api, api.attribute(&major, kComputeCapabilityMajor, device), "cuDeviceGetAttribute"));
  WW_TRY(
      judged(api, api.attribute(&minor, kComputeCapabilityMinor, device), "cuDeviceGetAttribute"));
  facts.target = fmt::format("sm_{}{}", major, minor);
  if (major < kMinMajor) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} is {}; wirewatt needs sm_70 (Volta) or later, because near and far "
                            "are measured at common rates, and the wait that sets them (nanosleep) "
                            "does not exist before sm_70",
                            facts.device, facts.target));
  }
  int l2_bytes = 0;
  if (api.attribute(&l2_bytes, kL2CacheSize, device) == 0) facts.l2_bytes = l2_bytes;
  static_cast<void>(api.attribute(&facts.compute_units, kCudaMultiprocessorCount, device));
  std::size_t memory = 0;
  if (api.total_memory(&memory, device) == 0) {
    facts.memory_bytes = static_cast<std::int64_t>(memory);
  }
  return seen;
}

}  // namespace

Result<int> cuda_device_count() {
  WW_ASSIGN(api, load_cuda());
  WW_TRY(judged(*api, api->init(0), "cuInit"));
  int count = 0;
  WW_TRY(judged(*api, api->device_count(&count), "cuDeviceGetCount"));
  return count;
}

Result<HostFacts> cuda_facts(int index) {
  WW_ASSIGN(api, load_cuda());
  WW_ASSIGN(seen, see_cuda(*api, index));
  return std::move(seen.facts);
}

Result<std::unique_ptr<ModuleDriver>> open_cuda(int index) {
  WW_ASSIGN(api, load_cuda());
  WW_ASSIGN(seen, see_cuda(*api, index));
  void* context = nullptr;
  WW_TRY(judged(*api, api->retain_context(&context, seen.device), "cuDevicePrimaryCtxRetain"));
  if (auto status = judged(*api, api->set_context(context), "cuCtxSetCurrent"); !status) {
    api->release_context(seen.device);
    return tl::unexpected(status.error());
  }
  return std::make_unique<CudaDriver>(*api, seen.device, context, std::move(seen.facts));
}

}  // namespace ww::microbench
