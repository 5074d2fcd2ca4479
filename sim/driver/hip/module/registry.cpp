// Serves the calls that the compiler puts before every HIP program's main: they register the
// program's device code, and each kernel and variable by its address on the host. Nothing is loaded
// before the program uses it.
#include <fmt/format.h>

#include <cstring>
#include <list>
#include <optional>
#include <unordered_map>

#include "hip/memory/memory_table.hpp"
#include "hip/module/image.hpp"
#include "hip/module/module.hpp"
#include "hip/session/device_pointer.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x48495046;  // "HIPF"

// __CudaFatBinaryWrapper of clang.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* binary;
  void* unused;
};

struct ManagedVariable {
  std::string name;
  std::uint64_t address{};  // of host and device
};

struct FatBinary {
  const void* image{};
  std::unique_ptr<Module> module;
  std::optional<int> failure;  // why it cannot be loaded
  std::vector<ManagedVariable> managed;
};

struct RegisteredKernel {
  FatBinary* binary{};
  std::string name;
  Function* function{};  // once loaded
};

struct RegisteredVariable {
  FatBinary* binary{};
  std::string name;
};

struct Registry {
  std::list<FatBinary> binaries;  // their addresses are handles
  std::unordered_map<const void*, RegisteredKernel> kernels;
  std::unordered_map<const void*, RegisteredVariable> variables;
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

FatBinary* binary_of(void** handle) {
  for (FatBinary& binary : registry().binaries) {
    if (static_cast<void*>(&binary) == static_cast<void*>(handle)) return &binary;
  }
  return nullptr;
}

int ensure_loaded(FatBinary& binary) {
  if (binary.failure) return *binary.failure;
  if (binary.module) return kSuccess;
  auto loaded = load_module(binary.image, kUnknownSize);
  if (!loaded) {
    binary.failure = loaded.error();
    return loaded.error();
  }
  binary.module = std::move(*loaded);
  for (const ManagedVariable& managed : binary.managed) {
    // The device's variable of this name is a pointer to the memory.
    const auto place = find_variable(*binary.module, managed.name);
    if (!place) continue;
    if (!device().write(place->address, std::as_bytes(std::span(&managed.address, 1)))) {
      return kInvalidSymbol;
    }
  }
  return kSuccess;
}

// Registration runs before main: no exception may leave it, and nobody looks at errors.
template <class Body>
void registering(Body&& body) noexcept {
  try {
    Entry entry;
    body();
  } catch (...) {
    print_line("HIP: no memory to register the program's device code");
  }
}

void register_managed(FatBinary& binary, void** pointer, const void* initial, const char* name,
                      std::size_t bytes) {
  if (power_on() != kSuccess) return;
  const auto address = allocate_memory(bytes, MemoryKind::managed_variable, kMemAttachGlobal);
  if (!address) {
    print_line(fmt::format("HIP: no room for the managed variable '{}' of {} bytes", name, bytes));
    return;
  }
  *pointer = device_pointer(*address);
  if (initial != nullptr) std::memcpy(*pointer, initial, bytes);
  binary.managed.push_back({name, *address});
}

}  // namespace

tl::expected<Function*, int> function_of_stub(const void* stub) {
  const auto found = registry().kernels.find(stub);
  if (found == registry().kernels.end()) return tl::unexpected<int>(kInvalidDeviceFunction);
  RegisteredKernel& kernel = found->second;
  if (const int code = ensure_loaded(*kernel.binary); code != kSuccess) {
    return tl::unexpected<int>(code);
  }
  if (kernel.function == nullptr) {
    kernel.function = find_function(*kernel.binary->module, kernel.name);
    if (kernel.function == nullptr) {
      print_line("HIP: the device code has no kernel '" + kernel.name + "'");
      return tl::unexpected<int>(kInvalidDeviceFunction);
    }
  }
  return kernel.function;
}

tl::expected<DeviceVariable, int> variable_of_symbol(const void* symbol) {
  const auto found = registry().variables.find(symbol);
  if (found == registry().variables.end()) return tl::unexpected<int>(kInvalidSymbol);
  const RegisteredVariable& variable = found->second;
  if (const int code = ensure_loaded(*variable.binary); code != kSuccess) {
    return tl::unexpected<int>(code);
  }
  auto place = find_variable(*variable.binary->module, variable.name);
  if (!place) return tl::unexpected<int>(kInvalidSymbol);
  return *place;
}

void reset_modules() {
  for (FatBinary& binary : registry().binaries) {
    if (binary.module) unload_module(*binary.module);
    binary.module.reset();
  }
  for (auto& [stub, kernel] : registry().kernels) kernel.function = nullptr;
}

// NOLINTBEGIN(bugprone-reserved-identifier): the names are HIP's
WW_HIP_EXPORT void** __hipRegisterFatBinary(const void* data) {
  void** handle = nullptr;
  registering([&] {
    Wrapper wrapper{};
    std::memcpy(&wrapper, data, sizeof wrapper);
    FatBinary& binary = registry().binaries.emplace_back();
    if (wrapper.magic != kWrapperMagic || wrapper.binary == nullptr) {
      print_line("HIP: the program registers device code of an unknown form");
      binary.failure = kInvalidImage;
    }
    binary.image = wrapper.binary;
    handle = reinterpret_cast<void**>(&binary);
  });
  return handle;
}

WW_HIP_EXPORT void __hipRegisterFunction(void** handle, const void* stub, char*,
                                         const char* device_name, unsigned, void*, void*, void*,
                                         void*, int*) {
  registering([&] {
    if (FatBinary* binary = binary_of(handle); binary != nullptr) {
      registry().kernels[stub] = {binary, device_name, nullptr};
    }
  });
}

WW_HIP_EXPORT void __hipRegisterVar(void** handle, void* host, char*, char* device_name, int,
                                    std::size_t, int, int) {
  registering([&] {
    if (FatBinary* binary = binary_of(handle); binary != nullptr) {
      registry().variables[host] = {binary, device_name};
    }
  });
}

WW_HIP_EXPORT void __hipRegisterManagedVar(void** handle, void** pointer, void* initial,
                                           const char* name, std::size_t bytes, unsigned) {
  registering([&] {
    if (FatBinary* binary = binary_of(handle); binary != nullptr) {
      register_managed(*binary, pointer, initial, name, bytes);
    }
  });
}

// A texture by reference is a variable whose contents the binding calls write.
WW_HIP_EXPORT void __hipRegisterTexture(void** handle, void* host, char*, char* device_name, int,
                                        int, int) {
  registering([&] {
    if (FatBinary* binary = binary_of(handle); binary != nullptr) {
      registry().variables[host] = {binary, device_name};
    }
  });
}
// HIP has no call that binds a surface by reference.
WW_HIP_EXPORT void __hipRegisterSurface(void**, void*, char*, char*, int, int) {}

WW_HIP_EXPORT void __hipUnregisterFatBinary(void** handle) {
  registering([&] {
    FatBinary* binary = binary_of(handle);
    if (binary == nullptr) return;
    std::erase_if(registry().kernels, [&](const auto& k) { return k.second.binary == binary; });
    std::erase_if(registry().variables, [&](const auto& v) { return v.second.binary == binary; });
    if (binary->module) unload_module(*binary->module);
    registry().binaries.remove_if([&](const FatBinary& each) { return &each == binary; });
  });
}
// NOLINTEND(bugprone-reserved-identifier)

}  // namespace ww::sim::driver::hip
