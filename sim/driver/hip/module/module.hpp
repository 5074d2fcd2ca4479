// Modules: code objects on the device, those that the program carries and those that it loads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hip/module/image.hpp"
#include "hip/session/session.hpp"
#include "tl/expected.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver::hip {

struct Module;

// hipFunction_t.
struct Function {
  Module* module{};
  const binpatch::Kernel* kernel{};
  std::string_view missing;  // unknown_hidden_argument()
};

struct DeviceVariable {
  std::uint64_t address{};
  std::uint64_t size{};
};

// hipModule_t.
struct Module {
  std::unique_ptr<binpatch::CodeObject> object;
  gpu::ProgramId program{};
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, DeviceVariable> managed;  // of a module that the program loaded
};

// Parses and loads device code. Errors: HIP's codes; stderr says why.
[[nodiscard]] tl::expected<std::unique_ptr<Module>, int> load_module(const void* image,
                                                                     std::uint64_t available);
void unload_module(Module& module);

// Modules that the program loaded itself: hipModule_t, or hipLibrary_t. Null for other handles.
[[nodiscard]] Module* module_of(const void* handle);
// Errors: kInvalidValue, those of load_module().
int load_for_program(void** handle, const void* image, std::uint64_t available = kUnknownSize);
// Error kFileNotFound, too.
int load_for_program(void** handle, const char* path);
// Error kInvalidHandle.
int unload_for_program(void* handle);
// Null where the module has no such kernel.
[[nodiscard]] Function* find_function(Module& module, const std::string& name);

// Error kNotFound.
[[nodiscard]] tl::expected<DeviceVariable, int> find_variable(const Module& module,
                                                              const std::string& name);

// The kernel behind a host stub's address, its code loaded; kInvalidDeviceFunction for any other
// address, kNoBinaryForGpu for a program without code for this chip.
[[nodiscard]] tl::expected<Function*, int> function_of_stub(const void* stub);
// The variable behind the host's address of it. Error kInvalidSymbol.
[[nodiscard]] tl::expected<DeviceVariable, int> variable_of_symbol(const void* symbol);
// Whether this is a hipFunction_t that is alive.
[[nodiscard]] bool is_function(const void* handle);

}  // namespace ww::sim::driver::hip
