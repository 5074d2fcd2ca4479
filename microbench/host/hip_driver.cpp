// HIP through libamdhip64, found at run time. Declared by hand after AMD's HIP API reference: only
// functions whose signatures did not change between ROCm 4 and 7.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>

#include "host/code_compiler.hpp"
#include "host/module_driver.hpp"
#include "host/shared_library.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/measure/environment.hpp"

namespace ww::microbench {
namespace {

// hipDeviceAttribute_t, whose numbers have been these since ROCm 5. On RDNA HIP counts pairs of
// compute units.
constexpr int kHipMultiprocessorCount = 63;
constexpr int kRenumbered = 50'000'000;

constexpr std::uint32_t kLinkXgmi = 4;  // hsa_amd_link_info_type_t

struct HipApi {
  int (*init)(unsigned){};
  int (*device_count)(int*){};
  int (*set_device)(int){};
  int (*device_name)(char*, int, int){};
  int (*pci_bus)(char*, int, int){};
  int (*driver_version)(int*){};
  int (*attribute)(int*, int, int){};
  int (*total_memory)(std::size_t*, int){};
  int (*can_access_peer)(int*, int, int){};
  int (*enable_peer_access)(int, unsigned){};
  int (*link_type_and_hops)(int, int, std::uint32_t*, std::uint32_t*){};  // null: not there
  int (*properties)(void*, int){};
  int (*allocate)(void**, std::size_t){};
  int (*release)(void*){};
  int (*copy_in)(void*, void*, std::size_t){};
  int (*copy_out)(void*, void*, std::size_t){};
  int (*load)(void**, const void*){};
  int (*unload)(void*){};
  int (*find)(void**, void*, const char*){};
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**){};
  int (*synchronize)(){};
  int (*make_event)(void**){};
  int (*drop_event)(void*){};
  int (*record)(void*, void*){};
  int (*milliseconds)(float*, void*, void*){};
  const char* (*error_name)(int){};
  // An entry that HIP lacks: a library that simulates its GPU says so by having it.
  const char* (*virtual_device)(){};
};

Result<HipApi> resolve_hip() {
  WW_ASSIGN(library, SharedLibrary::open(kHipLibrary));
  HipApi api;
  library.need(api.init, "hipInit");
  library.need(api.device_count, "hipGetDeviceCount");
  library.need(api.set_device, "hipSetDevice");
  library.need(api.device_name, "hipDeviceGetName");
  library.need(api.pci_bus, "hipDeviceGetPCIBusId");
  library.need(api.driver_version, "hipDriverGetVersion");
  library.need(api.attribute, "hipDeviceGetAttribute");
  library.need(api.total_memory, "hipDeviceTotalMem");
  library.need(api.can_access_peer, "hipDeviceCanAccessPeer");
  library.need(api.enable_peer_access, "hipDeviceEnablePeerAccess");
  // ROCm 6 renamed it along with the structure's layout.
  if (!library.find(api.properties, "hipGetDevicePropertiesR0600")) {
    library.need(api.properties, "hipGetDeviceProperties");
  }
  library.need(api.allocate, "hipMalloc");
  library.need(api.release, "hipFree");
  library.need(api.copy_in, "hipMemcpyHtoD");
  library.need(api.copy_out, "hipMemcpyDtoH");
  library.need(api.load, "hipModuleLoadData");
  library.need(api.unload, "hipModuleUnload");
  library.need(api.find, "hipModuleGetFunction");
  library.need(api.launch, "hipModuleLaunchKernel");
  library.need(api.synchronize, "hipDeviceSynchronize");
  library.need(api.make_event, "hipEventCreate");
  library.need(api.drop_event, "hipEventDestroy");
  library.need(api.record, "hipEventRecord");
  library.need(api.milliseconds, "hipEventElapsedTime");
  library.need(api.error_name, "hipGetErrorName");
  WW_TRY(library.complete());
  static_cast<void>(library.find(api.link_type_and_hops, "hipExtGetLinkTypeAndHopCount"));
  static_cast<void>(library.find(api.virtual_device, kVirtualDeviceFunction));
  return api;
}

Result<const HipApi*> load_hip() {
  static const Result<HipApi> api = resolve_hip();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

Status judged(const HipApi& api, int code, const char* call) {
  if (code == 0) return {};
  const char* name = api.error_name(code);
  std::string hint;
  if (code == 100 || code == 101) hint = "; no GPU is visible to HIP";
  if (::access("/dev/kfd", F_OK) == 0 && ::access("/dev/kfd", R_OK | W_OK) != 0) {
    hint = "; /dev/kfd may not be opened: " + measure::how_to_open_devices();
  }
  return fail(ErrorCode::device_error,
              fmt::format("{} failed: {} ({}){}", call, name != nullptr ? name : "?", code, hint));
}

// "gfx90a:sramecc+:xnack-" out of hipDeviceProp_t, whose layout differs between ROCm's versions:
// the only text in it that begins with gfx and a digit.
std::string target_in(std::span<const char> properties) {
  const std::string_view text(properties.data(), properties.size());
  for (auto at = text.find("gfx"); at != std::string_view::npos; at = text.find("gfx", at + 1)) {
    if (at + 3 >= text.size() || std::isdigit(static_cast<unsigned char>(text[at + 3])) == 0) {
      continue;
    }
    return std::string(text.substr(at, text.find('\0', at) - at));
  }
  return {};
}

class HipDriver final : public ModuleDriver {
 public:
  HipDriver(const HipApi& api, int device, HostFacts facts)
      : api_(api), device_(device), facts_(std::move(facts)) {}

  HostFacts facts() const override { return facts_; }
  int make_current() override { return api_.set_device(device_); }

  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    // A program that was compiled beforehand needs no compiler on this machine.
    auto ready = kernels::code_object_for(name, text, facts_.target);
    if (ready) return ready;
    auto compiled = compile_for_amd(facts_.target, text, name);
    if (!compiled && compiled.error().code == ErrorCode::missing_dependency) {
      compiled.error().message += "; it is needed because " + ready.error().message;
    }
    return compiled;
  }
  Result<std::vector<ArgumentSlot>> arguments(std::span<const std::byte> image,
                                              const std::string& kernel) override {
    WW_ASSIGN(object, binpatch::CodeObject::parse(image));
    const binpatch::Kernel* found = object.find_kernel(kernel);
    if (found == nullptr) {
      return fail(ErrorCode::not_found, "the code object has no such kernel", kernel);
    }
    std::vector<ArgumentSlot> slots;
    for (const auto& argument : found->arguments) {
      if (argument.value_kind.starts_with("hidden_")) continue;
      slots.push_back({argument.offset, argument.size});
    }
    return slots;
  }

  int allocate(std::uint64_t& address, std::size_t bytes) override {
    void* pointer = nullptr;
    const int code = api_.allocate(&pointer, bytes);
    address = reinterpret_cast<std::uint64_t>(pointer);
    return code;
  }
  int release(std::uint64_t address) override { return api_.release(pointer_to(address)); }
  int copy_in(std::uint64_t to, std::span<const std::byte> data) override {
    return api_.copy_in(pointer_to(to), const_cast<std::byte*>(data.data()), data.size());
  }
  int copy_out(std::span<std::byte> data, std::uint64_t from) override {
    return api_.copy_out(data.data(), pointer_to(from), data.size());
  }
  int load(Handle& module, std::span<const std::byte> image, std::string&) override {
    return api_.load(&module, image.data());
  }
  int unload(Handle module) override { return api_.unload(module); }
  int find(Handle& function, Handle module, const std::string& kernel) override {
    return api_.find(&function, module, kernel.c_str());
  }
  int launch(Handle function, const ModuleGrid& grid, std::span<std::byte> packed) override {
    return launch_packed(api_.launch, function, grid, packed,
                         reinterpret_cast<void*>(3));  // HIP_LAUNCH_PARAM_END
  }
  int synchronize() override { return api_.synchronize(); }
  int make_event(Handle& event) override { return api_.make_event(&event); }
  int drop_event(Handle event) override { return api_.drop_event(event); }
  int record(Handle event) override { return api_.record(event, nullptr); }
  int milliseconds(float& between, Handle begin, Handle end) override {
    return api_.milliseconds(&between, begin, end);
  }
  std::string error_name(int code) const override {
    const char* name = api_.error_name(code);
    return fmt::format("{} ({})", name != nullptr ? name : "?", code);
  }

 private:
  static void* pointer_to(std::uint64_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): HIP takes addresses as pointers
    return reinterpret_cast<void*>(address);
  }
  const HipApi& api_;
  int device_;
  HostFacts facts_;
};

// Returns empty where HIP does not say.
std::string pci_bus_of(const HipApi& api, int device) {
  std::array<char, 256> text{};
  return api.pci_bus(text.data(), 255, device) == 0 ? text.data() : "";
}

// Kernels of `device` reach memory of `peer` from now on. Makes `device` current.
Status open_way(const HipApi& api, int device, int peer) {
  int can = 0;
  WW_TRY(judged(api, api.can_access_peer(&can, device, peer), "hipDeviceCanAccessPeer"));
  if (can == 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("HIP says that device {} does not reach the memory of device {}, the "
                            "other die of its package (hipDeviceCanAccessPeer); the kernel's log "
                            "says why, and amdgpu's parameter use_xgmi_p2p=0 forbids it",
                            device, peer));
  }
  WW_TRY(judged(api, api.set_device(device), "hipSetDevice"));
  const int code = api.enable_peer_access(peer, 0);
  if (code == module_error::peer_access_already_enabled) return {};
  return judged(api, code, "hipDeviceEnablePeerAccess");
}

// Memory of the other die may be reached by way of the host, too. Releases that do not say are
// believed.
Status check_link(const HipApi& api, int device, int peer) {
  if (api.link_type_and_hops == nullptr) return {};
  std::uint32_t type = 0;
  std::uint32_t hops = 0;
  if (api.link_type_and_hops(device, peer, &type, &hops) != 0) return {};
  if (type == kLinkXgmi) return {};
  return fail(
      ErrorCode::unsupported,
      fmt::format("HIP reaches device {} from device {} by a link of type {} and not by xGMI "
                  "({}), so that it is not the links between the dies that would be "
                  "measured; 'rocm-smi --showtopo' shows the links",
                  peer, device, type, kLinkXgmi));
}

}  // namespace

Result<int> hip_device_count() {
  WW_ASSIGN(api, load_hip());
  WW_TRY(judged(*api, api->init(0), "hipInit"));
  int count = 0;
  WW_TRY(judged(*api, api->device_count(&count), "hipGetDeviceCount"));
  return count;
}

Result<std::unique_ptr<ModuleDriver>> open_hip(int device) {
  WW_ASSIGN(count, hip_device_count());
  if (device < 0 || device >= count) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("no HIP device {}; there are {}", device, count));
  }
  WW_ASSIGN(api, load_hip());
  WW_TRY(judged(*api, api->set_device(device), "hipSetDevice"));
  HostFacts facts;
  facts.api = "hip";
  std::array<char, 256> text{};
  WW_TRY(judged(*api, api->device_name(text.data(), 255, device), "hipDeviceGetName"));
  facts.device = text.data();
  facts.is_virtual = api->virtual_device != nullptr;
  facts.pci_bus = pci_bus_of(*api, device);
  int version = 0;
  if (api->driver_version(&version) == 0) facts.driver = fmt::format("HIP {}", version);
  // Larger than any version's structure.
  std::vector<char> properties(std::size_t{16} << 10);
  WW_TRY(judged(*api, api->properties(properties.data(), device), "hipGetDeviceProperties"));
  facts.target = target_in(properties);
  if (facts.target.empty()) {
    return fail(ErrorCode::unsupported, "HIP does not name the device's architecture",
                facts.device);
  }
  if (version >= kRenumbered && facts.target.starts_with("gfx9")) {
    static_cast<void>(api->attribute(&facts.compute_units, kHipMultiprocessorCount, device));
  }
  std::size_t memory = 0;
  if (api->total_memory(&memory, device) == 0) {
    facts.memory_bytes = static_cast<std::int64_t>(memory);
  }
  return std::make_unique<HipDriver>(*api, device, std::move(facts));
}

Result<HostFacts> hip_facts(int device) {
  WW_ASSIGN(driver, open_hip(device));
  return driver->facts();
}

std::string hidden_die(const std::string& other_pci, const std::vector<std::string>& shown) {
  return fmt::format(
      "the other die of the package, at {}, is not among HIP's devices ({}); HIP_VISIBLE_DEVICES, "
      "ROCR_VISIBLE_DEVICES, the batch system or the container may hide it",
      other_pci, fmt::join(shown, ", "));
}

Result<ModuleParts> open_hip_pair(int device, const std::string& other_pci) {
  WW_ASSIGN(count, hip_device_count());
  WW_ASSIGN(api, load_hip());
  std::optional<int> other;
  std::vector<std::string> shown;
  for (int one = 0; one < count; ++one) {
    const std::string pci = pci_bus_of(*api, one);
    if (pci == other_pci && one != device) other = one;
    shown.push_back(fmt::format("hip:{} at {}", one, pci));
  }
  if (!other) {
    return fail(ErrorCode::unsupported, hidden_die(other_pci, shown),
                fmt::format("hip:{}", device));
  }
  ModuleParts parts;
  for (const int one : {device, *other}) {
    WW_ASSIGN(driver, open_hip(one));
    parts.push_back(std::move(driver));
  }
  WW_TRY(check_link(*api, device, *other));
  WW_TRY(open_way(*api, *other, device));
  WW_TRY(open_way(*api, device, *other));
  return parts;
}

}  // namespace ww::microbench
