// Exports libwirewatt_vgpu.so's symbols to the loader; linked into the library only.
#include "common/runtime/catalog.hpp"
#include "common/runtime/vgpu_abi.hpp"
#include "opencl/object/api.hpp"

namespace api = ww::sim::driver::api;

#define WW_EXPORT __attribute__((visibility("default")))

extern "C" {

WW_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id* platforms,
                                                    cl_uint* num_platforms) {
  return api::clGetPlatformIDs(num_entries, platforms, num_platforms);
}

WW_EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(const char* func_name) {
  return api::clGetExtensionFunctionAddress(func_name);
}

WW_EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                               size_t param_value_size, void* param_value,
                                               size_t* param_value_size_ret) {
  return api::clGetPlatformInfo(platform, param_name, param_value_size, param_value,
                                param_value_size_ret);
}

WW_EXPORT const ww_vgpu_abi* ww_vgpu_get_abi(uint32_t version) {
  return ww::sim::driver::get_abi(version);
}

WW_EXPORT const ww_vgpu_catalog* ww_vgpu_get_catalog(uint32_t version) {
  return ww::sim::driver::get_catalog(version);
}
}

#undef WW_EXPORT
