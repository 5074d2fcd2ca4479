// AMD's OpenCL on a faked card, for tests: an OpenCL driver that is the virtual GPU's under the
// names that ROCm's driver has for the platform and its device, with the card's PCI place
// (cl_amd_device_topology). The card is the one at 0000:03:00.0 of a tree of kernel files. Programs
// find it where OCL_ICD_VENDORS names this library; WIREWATT_CHIP chooses the chip, as ever.
//
// With chip_clock.cpp before the C library and WW_STUB_OPENCL_TREE naming a tree of kernel files
// (fake_amd_tree.hpp), the program lives in the chip's time, and the chip's sensor is what those
// files show.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl_icd.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "card_files.hpp"
#include "host/shared_library.hpp"

namespace {

using namespace ww;

constexpr cl_device_info kTopologyAmd = 0x4037;  // CL_DEVICE_TOPOLOGY_AMD
constexpr const char* kPlatformName = "AMD Accelerated Parallel Processing";
constexpr const char* kVendor = "Advanced Micro Devices, Inc.";
constexpr const char* kDriverVersion = "3590.0 (HSA1.1,LC)";

// The virtual GPU's driver, by its own entry points.
struct Driver {
  decltype(&clIcdGetPlatformIDsKHR) platforms{};
  decltype(&clGetExtensionFunctionAddress) function{};
  ww_vgpu_get_abi_fn abi{};
  cl_icd_dispatch own{};  // what its objects' calls were before this file's took their place
};

// The chip behind the driver, as a card's files need it.
class DriversChip {
 public:
  explicit DriversChip(const ww_vgpu_abi* abi) : abi_(abi) {}
  [[nodiscard]] std::int64_t now_ns() const { return abi_->now_ns(); }
  void idle_until(std::int64_t time_ns) const { abi_->sleep_until_ns(time_ns); }
  [[nodiscard]] std::uint64_t samples_since(std::uint64_t first,
                                            std::span<ww_vgpu_sample> out) const {
    return abi_->samples_since(first, out.data(), out.size());
  }
  [[nodiscard]] std::uint64_t rails_since(std::uint64_t first,
                                          std::span<ww_vgpu_rail_sample> out) const {
    return abi_->rails_since(first, out.data(), out.size());
  }
  [[nodiscard]] std::vector<std::string> rail_names() const {
    std::vector<std::string> names;
    for (std::uint32_t rail = 0; rail < abi_->rail_count(); ++rail) {
      names.emplace_back(abi_->rail_name(rail));
    }
    return names;
  }
  [[nodiscard]] std::string target() const { return abi_->chip_info()->target; }

 private:
  const ww_vgpu_abi* abi_;
};
using TheCard = microbench::testing::ProcessCard<DriversChip>;

Driver& driver() {
  static auto& one = *new Driver;  // drivers live as long as the process
  return one;
}

// Writes what a clGet*Info gives of a text or a value.
cl_int give(const void* data, std::size_t bytes, std::size_t size, void* value,
            std::size_t* needed) {
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, data, bytes);
  if (needed != nullptr) *needed = bytes;
  return CL_SUCCESS;
}
cl_int give(const std::string& text, std::size_t size, void* value, std::size_t* needed) {
  return give(text.c_str(), text.size() + 1, size, value, needed);
}

cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info name, std::size_t size,
                                 void* value, std::size_t* needed) {
  if (name == CL_PLATFORM_NAME) return give(kPlatformName, size, value, needed);
  if (name == CL_PLATFORM_VENDOR) return give(kVendor, size, value, needed);
  return driver().own.clGetPlatformInfo(platform, name, size, value, needed);
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info name, std::size_t size,
                               void* value, std::size_t* needed) {
  switch (name) {
    case CL_DEVICE_NAME:
      return give(DriversChip(driver().abi(WW_VGPU_ABI_VERSION)).target(), size, value, needed);
    case CL_DEVICE_VENDOR: return give(kVendor, size, value, needed);
    case CL_DRIVER_VERSION: return give(kDriverVersion, size, value, needed);
    case kTopologyAmd: {
      const struct {
        cl_uint type{1};  // CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD
        unsigned char unused[17]{};
        unsigned char bus{3}, device{}, function{};
      } place;
      static_assert(sizeof place == 24);
      return give(&place, sizeof place, size, value, needed);
    }
    default: return driver().own.clGetDeviceInfo(device, name, size, value, needed);
  }
}

const char* virtual_device() {
  return "a stub over the virtual GPU";
}

void* CL_API_CALL extension_function(const char* name) {
  if (std::string_view(name) == microbench::kVirtualDeviceFunction) {
    return reinterpret_cast<void*>(&virtual_device);
  }
  return driver().function(name);
}
void* CL_API_CALL platform_extension_function(cl_platform_id, const char* name) {
  return extension_function(name);
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                          const std::size_t* offset, const std::size_t* global,
                          const std::size_t* local, cl_uint waits, const cl_event* wait_list,
                          cl_event* event) {
  TheCard::begin_work();
  return driver().own.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                             waits, wait_list, event);
}
cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                std::size_t offset, std::size_t bytes, const void* data,
                                cl_uint waits, const cl_event* wait_list, cl_event* event) {
  TheCard::begin_work();
  const cl_int status = driver().own.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes,
                                                          data, waits, wait_list, event);
  if (blocking == CL_TRUE) TheCard::wait();
  return status;
}
cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               std::size_t offset, std::size_t bytes, void* data, cl_uint waits,
                               const cl_event* wait_list, cl_event* event) {
  TheCard::begin_work();
  const cl_int status = driver().own.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes,
                                                         data, waits, wait_list, event);
  if (blocking == CL_TRUE) TheCard::wait();
  return status;
}
cl_int CL_API_CALL finish(cl_command_queue queue) {
  const cl_int status = driver().own.clFinish(queue);
  TheCard::wait();
  return status;
}

// The driver's objects all begin with a pointer to one table of calls.
struct PlatformHead {
  cl_icd_dispatch* calls;
};

void take_place(cl_platform_id platform) {
  cl_icd_dispatch& calls = *reinterpret_cast<PlatformHead*>(platform)->calls;
  driver().own = calls;
  calls.clGetPlatformInfo = &platform_info;
  calls.clGetDeviceInfo = &device_info;
  calls.clGetExtensionFunctionAddressForPlatform = &platform_extension_function;
  calls.clEnqueueNDRangeKernel = &launch;
  calls.clEnqueueWriteBuffer = &write_buffer;
  calls.clEnqueueReadBuffer = &read_buffer;
  calls.clFinish = &finish;
}

// Loads the driver and puts this file's calls into its table, once.
bool is_loaded() {
  static const bool loaded = [] {
    void* handle = dlopen(WW_VGPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::fprintf(stderr, "stub of AMD's OpenCL: %s\n", dlerror());
      return false;
    }
    const auto find = [handle](auto& entry, const char* name) {
      entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(handle, name));
    };
    find(driver().platforms, "clIcdGetPlatformIDsKHR");
    find(driver().function, "clGetExtensionFunctionAddress");
    find(driver().abi, WW_VGPU_GET_ABI_SYMBOL);
    cl_platform_id platform = nullptr;
    if (driver().platforms(1, &platform, nullptr) != CL_SUCCESS) return false;
    take_place(platform);
    const ww_vgpu_abi* abi = driver().abi(WW_VGPU_ABI_VERSION);
    if (abi == nullptr) return false;
    static DriversChip& chip = *new DriversChip(abi);  // for as long as the process
    TheCard::attach(chip, std::getenv("WW_STUB_OPENCL_TREE"));
    return true;
  }();
  return loaded;
}

}  // namespace

extern "C" {

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms,
                                          cl_uint* platform_count) {
  if (!is_loaded()) return CL_PLATFORM_NOT_FOUND_KHR;
  return driver().platforms(count, platforms, platform_count);
}
void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::string_view(name) == "clIcdGetPlatformIDsKHR") {
    return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  }
  return is_loaded() ? extension_function(name) : nullptr;
}
cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name,
                                     std::size_t size, void* value, std::size_t* needed) {
  return is_loaded() ? platform_info(platform, name, size, value, needed) : CL_INVALID_PLATFORM;
}
}
