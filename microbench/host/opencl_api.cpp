#include "host/opencl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ww::microbench {
namespace {

constexpr const char* kLibraryName = "libOpenCL.so.1";

Result<OpenClApi> load() {
  void* library = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("the OpenCL loader cannot be loaded ({}); install the package "
                            "ocl-icd-libopencl1 (apt-get install ocl-icd-libopencl1)",
                            dlerror()));
  }
  OpenClApi api;
  const char* missing = nullptr;
  const auto resolve = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, name));
    if (pointer == nullptr) missing = name;
  };
#define WW_OPENCL_RESOLVE(name) resolve(api.name, #name);
  WW_OPENCL_FUNCTIONS(WW_OPENCL_RESOLVE)
#undef WW_OPENCL_RESOLVE
  if (missing != nullptr) {
    return fail(
        ErrorCode::missing_dependency,
        fmt::format("{} has no {}; install the package ocl-icd-libopencl1", kLibraryName, missing));
  }
  return api;
}

}  // namespace

Result<const OpenClApi*> load_opencl() {
  static const Result<OpenClApi> api = load();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

std::string opencl_error_name(cl_int code) {
  const auto name = [code]() -> const char* {
    switch (code) {
      case CL_DEVICE_NOT_FOUND: return "CL_DEVICE_NOT_FOUND";
      case CL_DEVICE_NOT_AVAILABLE: return "CL_DEVICE_NOT_AVAILABLE";
      case CL_COMPILER_NOT_AVAILABLE: return "CL_COMPILER_NOT_AVAILABLE";
      case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
      case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
      case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
      case CL_BUILD_PROGRAM_FAILURE: return "CL_BUILD_PROGRAM_FAILURE";
      case CL_INVALID_VALUE: return "CL_INVALID_VALUE";
      case CL_INVALID_BINARY: return "CL_INVALID_BINARY";
      case CL_INVALID_BUILD_OPTIONS: return "CL_INVALID_BUILD_OPTIONS";
      case CL_INVALID_PROGRAM_EXECUTABLE: return "CL_INVALID_PROGRAM_EXECUTABLE";
      case CL_INVALID_KERNEL_NAME: return "CL_INVALID_KERNEL_NAME";
      case CL_INVALID_KERNEL_ARGS: return "CL_INVALID_KERNEL_ARGS";
      case CL_INVALID_ARG_INDEX: return "CL_INVALID_ARG_INDEX";
      case CL_INVALID_ARG_SIZE: return "CL_INVALID_ARG_SIZE";
      case CL_INVALID_WORK_GROUP_SIZE: return "CL_INVALID_WORK_GROUP_SIZE";
      case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
      default: return "error";
    }
  }();
  return fmt::format("{} ({})", name, code);
}

}  // namespace ww::microbench
