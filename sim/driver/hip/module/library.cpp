// Libraries and their kernels, HIP 7's names for modules and their functions. A hipKernel_t is the
// hipFunction_t of the same kernel, so that calls take either.
#include <algorithm>
#include <string>

#include "hip/module/module.hpp"
#include "hip/session/device_pointer.hpp"

namespace ww::sim::driver::hip {
namespace {

// Options for a compiler, which code objects do not need; AMD's library takes none either.
template <class Image>
int load_library(void** library, Image image, unsigned jit_options) {
  return guarded([&]() -> int {
    if (jit_options != 0) return kInvalidValue;
    return load_for_program(library, image);
  });
}

// Runs int(Module&).
template <class Body>
int of_library(const void* handle, Body&& body) {
  return guarded([&]() -> int {
    Module* library = module_of(handle);
    return library == nullptr ? kInvalidHandle : body(*library);
  });
}

// Runs int(const Function&).
template <class Body>
int of_kernel(const void* handle, Body&& body) {
  return guarded([&]() -> int {
    return is_function(handle) ? body(*static_cast<const Function*>(handle)) : kInvalidHandle;
  });
}

}  // namespace

WW_HIP_EXPORT int hipLibraryLoadData(void** library, const void* image, const int*, void**,
                                     unsigned jit_options, const int*, void**, unsigned) {
  return load_library(library, image, jit_options);
}
WW_HIP_EXPORT int hipLibraryLoadFromFile(void** library, const char* path, const int*, void**,
                                         unsigned jit_options, const int*, void**, unsigned) {
  return load_library(library, path, jit_options);
}
WW_HIP_EXPORT int hipLibraryUnload(void* library) {
  return guarded([&] { return unload_for_program(library); });
}
WW_HIP_EXPORT int hipLibraryGetKernel(void** kernel, void* library, const char* name) {
  return of_library(library, [&](Module& module) -> int {
    if (kernel == nullptr || name == nullptr) return kInvalidValue;
    *kernel = find_function(module, name);
    return *kernel == nullptr ? kNotFound : kSuccess;
  });
}
WW_HIP_EXPORT int hipLibraryGetKernelCount(unsigned* count, void* library) {
  return of_library(library, [&](const Module& module) -> int {
    if (count == nullptr) return kInvalidValue;
    *count = static_cast<unsigned>(module.object->kernels().size());
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipLibraryEnumerateKernels(void** kernels, unsigned most, void* library) {
  return of_library(library, [&](Module& module) -> int {
    if (kernels == nullptr || most == 0) return kInvalidValue;
    const auto& all = module.object->kernels();
    for (std::size_t i = 0; i < std::min<std::size_t>(most, all.size()); ++i) {
      kernels[i] = find_function(module, all[i].name);
    }
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipLibraryGetGlobal(void** address, std::size_t* bytes, void* library,
                                      const char* name) {
  return of_library(library, [&](const Module& module) -> int {
    if (name == nullptr || (address == nullptr && bytes == nullptr)) return kInvalidValue;
    const auto found = find_variable(module, name);
    if (!found) return found.error();
    if (address != nullptr) *address = device_pointer(found->address);
    if (bytes != nullptr) *bytes = found->size;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipKernelGetFunction(void** function, void* kernel) {
  return of_kernel(kernel, [&](const Function&) -> int {
    if (function == nullptr) return kInvalidValue;
    *function = kernel;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipKernelGetLibrary(void** library, void* kernel) {
  return of_kernel(kernel, [&](const Function& function) -> int {
    if (library == nullptr) return kInvalidValue;
    *library = function.module;
    return module_of(*library) == nullptr ? kNotFound : kSuccess;
  });
}
WW_HIP_EXPORT int hipKernelGetName(const char** name, void* kernel) {
  return of_kernel(kernel, [&](const Function& function) -> int {
    if (name == nullptr) return kInvalidValue;
    *name = function.kernel->name.c_str();
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
