// The platform and its devices: what clinfo shows.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/runtime/device_language.hpp"
#include "common/runtime/runtime.hpp"
#include "opencl/memory/image.hpp"
#include "opencl/memory/memory.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"
#include "opencl/object/objects.hpp"
#include "ww/core/cl_approximable.h"

namespace ww::sim::driver {
namespace {

// A list of extensions is a promise: each of these the emulator and the compiler keep.
constexpr const char* kDeviceExtensions =
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
    "cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_int64_base_atomics "
    "cl_khr_int64_extended_atomics " WW_CL_APPROXIMABLE_EXTENSION;
constexpr const char* kPlatformExtensions =
    "cl_khr_icd cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
    "cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_int64_base_atomics "
    "cl_khr_int64_extended_atomics cl_khr_3d_image_writes " WW_CL_APPROXIMABLE_EXTENSION;

// Queries whose answer needs more than a line, or comes from the chip.
constexpr cl_ulong kMaxConstantBytes = 64 * 1024;

cl_int architecture_info(const gpu::Architecture& arch, cl_device_info name, const InfoSink& sink) {
  switch (name) {
    case CL_DEVICE_NAME:
      return sink.text("wirewatt virtual " + arch.name + " (" + arch.gfx_target + ")");
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return sink.value(static_cast<cl_uint>(arch.compute_units_of_device()));
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: {
      const double clock_hz = arch.dvfs.empty() ? 0.0 : arch.dvfs.back().clock_hz;
      return sink.value(static_cast<cl_uint>(clock_hz / 1e6));
    }
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return sink.value(static_cast<cl_ulong>(arch.memory_bytes_of_device()));
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return sink.value(static_cast<cl_ulong>(max_allocation()));
    // Constants lie in device memory, where there is room for more; but programs fill as much as
    // this says, and other devices say no more than some MiB.
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: return sink.value(kMaxConstantBytes);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: return sink.value(static_cast<cl_ulong>(arch.l1_bytes));
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
      return sink.value(static_cast<cl_uint>(arch.line_bytes));
    case CL_DEVICE_LOCAL_MEM_SIZE: return sink.value(static_cast<cl_ulong>(arch.lds_bytes_per_cu));
    case CL_DEVICE_IMAGE_SUPPORT: return sink.flag(device_language(arch.gfx_target).images);
    case CL_DEVICE_EXTENSIONS: {
      const DeviceLanguage language = device_language(arch.gfx_target);
      return sink.text(std::string(kDeviceExtensions) +
                       (language.images ? " cl_khr_3d_image_writes" : "") +
                       (language.halves ? " cl_khr_fp16" : ""));
    }
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
      return sink.value<cl_uint>(device_language(arch.gfx_target).halves ? 1 : 0);
    case CL_DEVICE_HALF_FP_CONFIG:
      return sink.value<cl_device_fp_config>(device_language(arch.gfx_target).halves
                                                 ? CL_FP_DENORM | CL_FP_INF_NAN |
                                                       CL_FP_ROUND_TO_NEAREST | CL_FP_FMA
                                                 : 0);
    case CL_DEVICE_SINGLE_FP_CONFIG:
      return sink.value<cl_device_fp_config>(
          (device_language(arch.gfx_target).denormals ? CL_FP_DENORM : 0) | CL_FP_INF_NAN |
          CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA |
          CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
    default: return CL_INVALID_VALUE;
  }
}

cl_int fixed_info(cl_device_info name, const InfoSink& sink) {
  switch (name) {
    case CL_DEVICE_TYPE: return sink.value<cl_device_type>(CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_VENDOR: return sink.text("wirewatt");
    case CL_DEVICE_VENDOR_ID: return sink.value<cl_uint>(0x5757);
    case CL_DEVICE_VERSION: return sink.text("OpenCL 1.2 wirewatt");
    case CL_DRIVER_VERSION: return sink.text(WW_VERSION);
    case CL_DEVICE_PROFILE: return sink.text("FULL_PROFILE");
    case CL_DEVICE_OPENCL_C_VERSION: return sink.text("OpenCL C 1.2 ");
    case CL_DEVICE_BUILT_IN_KERNELS: return sink.text("");
    case CL_DEVICE_PLATFORM: return sink.value(the_platform());
    case CL_DEVICE_REFERENCE_COUNT: return sink.value<cl_uint>(1);
    case CL_DEVICE_PARENT_DEVICE: return sink.value<cl_device_id>(nullptr);

    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return sink.value<cl_uint>(3);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
      const std::array<std::size_t, 3> sizes{kMaxWorkGroupSize, kMaxWorkGroupSize,
                                             kMaxWorkGroupSize};
      return sink.array(std::span<const std::size_t>(sizes));
    }
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return sink.value(kMaxWorkGroupSize);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR: return sink.value<cl_uint>(4);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT: return sink.value<cl_uint>(2);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE: return sink.value<cl_uint>(1);

    case CL_DEVICE_DOUBLE_FP_CONFIG:
      return sink.value<cl_device_fp_config>(CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                             CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA);
    case CL_DEVICE_ADDRESS_BITS: return sink.value<cl_uint>(64);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return sink.value<cl_uint>(1024);
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE: return sink.value<cl_uint>(128);
    case CL_DEVICE_MAX_PARAMETER_SIZE: return sink.value<std::size_t>(4096);
    case CL_DEVICE_MAX_CONSTANT_ARGS: return sink.value<cl_uint>(64);
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
      return sink.value<cl_device_mem_cache_type>(CL_READ_WRITE_CACHE);
    case CL_DEVICE_LOCAL_MEM_TYPE: return sink.value<cl_device_local_mem_type>(CL_LOCAL);
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return sink.flag(false);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return sink.value<std::size_t>(1);
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC: return sink.flag(true);
    case CL_DEVICE_PRINTF_BUFFER_SIZE: return sink.value<std::size_t>(1024 * 1024);
    case CL_DEVICE_EXECUTION_CAPABILITIES:
      return sink.value<cl_device_exec_capabilities>(CL_EXEC_KERNEL);
    case CL_DEVICE_QUEUE_PROPERTIES:
      return sink.value<cl_command_queue_properties>(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                     CL_QUEUE_PROFILING_ENABLE);

    // No number of kernels' arguments is too large; these limits are AMD's.
    case CL_DEVICE_MAX_READ_IMAGE_ARGS: return sink.value<cl_uint>(128);
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS: return sink.value<cl_uint>(64);
    case CL_DEVICE_MAX_SAMPLERS: return sink.value<cl_uint>(16);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT: return sink.value(kMaxImageSide);
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH: return sink.value(kMaxImageDepth);
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE: return sink.value(kMaxImageLayers);
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE: return sink.value(kMaxImageBuffer);

    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES: return sink.value<cl_uint>(0);
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE: return sink.value<cl_device_partition_property>(0);
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN: return sink.value<cl_device_affinity_domain>(0);
    default: return CL_INVALID_VALUE;
  }
}

}  // namespace

cl_platform_id the_platform() {
  static auto& platform = *new _cl_platform_id;
  return &platform;
}

namespace {

std::vector<std::unique_ptr<_cl_device_id>>& devices_of_platform() {
  static auto& devices = *new std::vector<std::unique_ptr<_cl_device_id>>;
  return devices;
}

}  // namespace

cl_device_id device_of(int ordinal) {
  auto& devices = devices_of_platform();
  while (devices.size() <= static_cast<std::size_t>(ordinal)) {
    devices.push_back(std::make_unique<_cl_device_id>(static_cast<int>(devices.size())));
  }
  return devices[static_cast<std::size_t>(ordinal)].get();
}

bool is_device(cl_device_id device) {
  const auto& devices = devices_of_platform();
  return std::ranges::find(devices, device, &std::unique_ptr<_cl_device_id>::get) != devices.end();
}

namespace api {

cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id* platforms,
                                    cl_uint* platform_count) {
  if ((platforms == nullptr && platform_count == nullptr) || (platforms != nullptr && count == 0)) {
    return CL_INVALID_VALUE;
  }
  if (platforms != nullptr) platforms[0] = the_platform();
  if (platform_count != nullptr) *platform_count = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name,
                                     std::size_t size, void* value, std::size_t* size_ret) {
  if (platform != nullptr && platform != the_platform()) return CL_INVALID_PLATFORM;
  const InfoSink sink(size, value, size_ret);
  switch (name) {
    case CL_PLATFORM_PROFILE: return sink.text("FULL_PROFILE");
    case CL_PLATFORM_VERSION: return sink.text("OpenCL 1.2 wirewatt");
    case CL_PLATFORM_NAME: return sink.text("wirewatt virtual GPU");
    case CL_PLATFORM_VENDOR: return sink.text("wirewatt");
    case CL_PLATFORM_EXTENSIONS: return sink.text(kPlatformExtensions);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return sink.text("WW");
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count,
                                  cl_device_id* devices, cl_uint* device_count) {
  return guarded([&](Entry&) -> cl_int {
    if (platform != nullptr && platform != the_platform()) return CL_INVALID_PLATFORM;
    constexpr cl_device_type kKnown = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
                                      CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                      CL_DEVICE_TYPE_CUSTOM;
    if (type != CL_DEVICE_TYPE_ALL && (type == 0 || (type & ~kKnown) != 0)) {
      return CL_INVALID_DEVICE_TYPE;
    }
    if ((devices == nullptr && device_count == nullptr) || (devices != nullptr && count == 0)) {
      return CL_INVALID_VALUE;
    }
    const bool wanted =
        type == CL_DEVICE_TYPE_ALL || (type & (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_GPU)) != 0;
    if (!wanted || Runtime::get().gpu() == nullptr) {
      if (device_count != nullptr) *device_count = 0;
      return CL_DEVICE_NOT_FOUND;
    }
    const auto all =
        static_cast<cl_uint>(Runtime::get().powered_gpu().chip().architecture().devices);
    // The default device is one.
    const cl_uint found = type == CL_DEVICE_TYPE_DEFAULT ? 1 : all;
    for (cl_uint i = 0; devices != nullptr && i < std::min(count, found); ++i) {
      devices[i] = device_of(static_cast<int>(i));
    }
    if (device_count != nullptr) *device_count = found;
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size,
                                   void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!is_device(device)) return CL_INVALID_DEVICE;
    auto* gpu = Runtime::get().gpu();
    if (gpu == nullptr) return CL_INVALID_DEVICE;
    const InfoSink sink(size, value, size_ret);
    const cl_int fixed = fixed_info(name, sink);
    if (fixed == CL_SUCCESS) return fixed;
    return architecture_info(gpu->chip().architecture(), name, sink);
  });
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property*,
                                      cl_uint, cl_device_id*, cl_uint*) {
  // The device reports no partition type, so every requested one is invalid.
  return guarded([&](Entry&) { return is_device(device) ? CL_INVALID_VALUE : CL_INVALID_DEVICE; });
}

cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  return guarded([&](Entry&) { return is_device(device) ? CL_SUCCESS : CL_INVALID_DEVICE; });
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
  return guarded([&](Entry&) { return is_device(device) ? CL_SUCCESS : CL_INVALID_DEVICE; });
}

}  // namespace api
}  // namespace ww::sim::driver
