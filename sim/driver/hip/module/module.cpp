#include "hip/module/module.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "common/code/compiler_errors.hpp"
#include "common/launch/launch.hpp"
#include "hip/memory/memory_table.hpp"
#include "hip/module/image.hpp"
#include "hip/session/device_pointer.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::sim::driver::hip {
namespace {

// Modules that the program loaded, by their handles.
std::map<const void*, std::unique_ptr<Module>>& loaded_modules() {
  static auto& modules = *new std::map<const void*, std::unique_ptr<Module>>;
  return modules;
}

std::set<const void*>& functions() {
  static auto& set = *new std::set<const void*>;
  return set;
}

// Functions of modules that are gone: a handle must never come to stand for another kernel, so
// their addresses are not used again.
std::vector<std::unique_ptr<Function>>& retired_functions() {
  static auto& retired = *new std::vector<std::unique_ptr<Function>>;
  return retired;
}

// A managed variable of device code is a pointer to it, and its first bytes have its name and this.
constexpr std::string_view kManagedSuffix = ".managed";

// Gives the module's managed variables memory that the host sees, too. The program's own are those
// that it registers (registry.cpp). Errors: those of allocate_memory(), kInvalidImage.
int make_managed(Module& module) {
  for (const binpatch::Variable& initial : module.object->variables()) {
    if (!initial.name.ends_with(kManagedSuffix)) continue;
    const std::string name = initial.name.substr(0, initial.name.size() - kManagedSuffix.size());
    const auto first = find_variable(module, initial.name);
    const auto pointer = find_variable(module, name);
    if (!first || !pointer || pointer->size != sizeof(std::uint64_t)) return kInvalidImage;
    const auto memory =
        allocate_memory(initial.size, MemoryKind::managed_variable, kMemAttachGlobal);
    if (!memory) return memory.error();
    module.managed[name] = {*memory, initial.size};
    std::vector<std::byte> bytes(initial.size);
    if (!device().read(first->address, bytes) || !device().write(*memory, bytes) ||
        !device().write(pointer->address, std::as_bytes(std::span(&*memory, 1)))) {
      return kInvalidImage;
    }
  }
  return kSuccess;
}

}  // namespace

tl::expected<std::unique_ptr<Module>, int> load_module(const void* image, std::uint64_t available) {
  const std::string& target = device().chip().architecture().gfx_target;
  const auto refused = [](const Error& error, int code) {
    print_line("HIP: " + error.text());
    return tl::unexpected<int>(code);
  };
  auto code = code_for(image, available, target);
  if (!code) {
    const bool other = code.error().code == ErrorCode::not_found;
    return refused(code.error(), other ? kNoBinaryForGpu : kInvalidImage);
  }
  auto object = binpatch::CodeObject::parse(*code);
  if (!object) return refused(object.error(), kInvalidImage);
  auto module = std::make_unique<Module>();
  module->object = std::make_unique<binpatch::CodeObject>(std::move(*object));
  const auto program = device().load(*module->object);
  if (!program) {
    const ErrorCode why = program.error().code;
    return refused(program.error(), why == ErrorCode::unsupported    ? kNoBinaryForGpu
                                    : why == ErrorCode::out_of_range ? kOutOfMemory
                                                                     : kInvalidImage);
  }
  module->program = *program;
  return module;
}

void unload_module(Module& module) {
  for (auto& [name, function] : module.functions) {
    functions().erase(function.get());
    *function = {};
    retired_functions().push_back(std::move(function));
  }
  module.functions.clear();
  for (const auto& [name, variable] : module.managed) {
    static_cast<void>(free_memory(variable.address));
  }
  device().unload(module.program);
}

Function* find_function(Module& module, const std::string& name) {
  const auto known = module.functions.find(name);
  if (known != module.functions.end()) return known->second.get();
  const binpatch::Kernel* kernel = module.object->find_kernel(name);
  if (kernel == nullptr) return nullptr;
  warn_of_errors(*module.object, *kernel, false);
  auto& function = module.functions[name];
  function = std::make_unique<Function>(
      Function{&module, kernel, unknown_hidden_argument(kernel->arguments)});
  functions().insert(function.get());
  return function.get();
}

bool is_function(const void* handle) {
  return functions().contains(handle);
}

tl::expected<DeviceVariable, int> find_variable(const Module& module, const std::string& name) {
  if (const auto managed = module.managed.find(name); managed != module.managed.end()) {
    return managed->second;
  }
  const auto& variables = module.object->variables();
  const auto found = std::ranges::find(variables, name, &binpatch::Variable::name);
  if (found == variables.end()) return tl::unexpected<int>(kNotFound);
  const auto address = device().device_address(module.program, found->address);
  if (!address) return tl::unexpected<int>(kNotFound);
  return DeviceVariable{*address, found->size};
}

Module* module_of(const void* handle) {
  const auto found = loaded_modules().find(handle);
  return found == loaded_modules().end() ? nullptr : found->second.get();
}

int load_for_program(void** handle, const void* image, std::uint64_t available) {
  if (handle == nullptr || image == nullptr) return kInvalidValue;
  auto loaded = load_module(image, available);
  if (!loaded) return loaded.error();
  if (const int bad = make_managed(**loaded); bad != kSuccess) {
    unload_module(**loaded);
    return bad;
  }
  *handle = loaded->get();
  loaded_modules().emplace(*handle, std::move(*loaded));
  return kSuccess;
}

int load_for_program(void** handle, const char* path) {
  if (handle == nullptr || path == nullptr || *path == '\0') return kInvalidValue;
  const auto text = read_file(path);
  if (!text) return kFileNotFound;
  return load_for_program(handle, text->data(), text->size());
}

int unload_for_program(void* handle) {
  if (handle == nullptr) return kInvalidHandle;
  Module* module = module_of(handle);
  if (module == nullptr) return kNotFound;
  unload_module(*module);
  loaded_modules().erase(handle);
  return kSuccess;
}

WW_HIP_EXPORT int hipModuleLoadData(void** module, const void* image) {
  return guarded([&] { return load_for_program(module, image); });
}
WW_HIP_EXPORT int hipModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return guarded([&] { return load_for_program(module, image); });
}
WW_HIP_EXPORT int hipModuleLoadFatBinary(void** module, const void* image) {
  return guarded([&] { return load_for_program(module, image); });
}
WW_HIP_EXPORT int hipModuleLoad(void** module, const char* path) {
  return guarded([&] { return load_for_program(module, path); });
}
WW_HIP_EXPORT int hipModuleUnload(void* handle) {
  return guarded([&] { return unload_for_program(handle); });
}
WW_HIP_EXPORT int hipModuleGetFunctionCount(unsigned* count, void* handle) {
  return guarded([&]() -> int {
    if (count == nullptr) return kInvalidValue;
    const Module* module = module_of(handle);
    if (module == nullptr) return kInvalidHandle;
    *count = static_cast<unsigned>(module->object->kernels().size());
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipModuleGetFunction(void** function, void* handle, const char* name) {
  return guarded([&]() -> int {
    if (function == nullptr || name == nullptr) return kInvalidValue;
    Module* module = module_of(handle);
    if (module == nullptr) return kInvalidHandle;
    *function = find_function(*module, name);
    return *function == nullptr ? kNotFound : kSuccess;
  });
}
WW_HIP_EXPORT int hipModuleGetGlobal(void** address, std::size_t* bytes, void* handle,
                                     const char* name) {
  return guarded([&]() -> int {
    if (name == nullptr || *name == '\0') return kInvalidValue;
    if (address == nullptr && bytes == nullptr) return kInvalidValue;
    const Module* module = module_of(handle);
    if (module == nullptr) return kInvalidHandle;
    const auto found = find_variable(*module, name);
    if (!found) return found.error();
    if (address != nullptr) *address = device_pointer(found->address);
    if (bytes != nullptr) *bytes = found->size;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGetFuncBySymbol(void** function, const void* stub) {
  return guarded([&]() -> int {
    if (function == nullptr) return kInvalidValue;
    const auto found = function_of_stub(stub);
    if (!found) return found.error();
    *function = *found;
    return kSuccess;
  });
}
WW_HIP_EXPORT const char* hipKernelNameRefByPtr(const void* stub, void*) {
  const char* name = nullptr;
  static_cast<void>(guarded([&]() -> int {
    const auto found = function_of_stub(stub);
    if (!found) return found.error();
    name = (*found)->kernel->name.c_str();
    return kSuccess;
  }));
  return name;
}
// The numbers are those of ROCm's tracer, which is not there.
WW_HIP_EXPORT const char* hipApiName(std::uint32_t) {
  return "unknown";
}
WW_HIP_EXPORT const char* hipKernelNameRef(const void* function) {
  const char* name = nullptr;
  static_cast<void>(guarded([&]() -> int {
    if (!is_function(function)) return kInvalidHandle;
    name = static_cast<const Function*>(function)->kernel->name.c_str();
    return kSuccess;
  }));
  return name;
}

}  // namespace ww::sim::driver::hip
