// What libwirewatt_vgpu.so exports to the loader; linked into the library only.
#include "api.hpp"

namespace api = ww::sim::icd::api;

extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries,
                                                       cl_platform_id* platforms,
                                                       cl_uint* num_platforms) {
  return api::clGetPlatformIDs(num_entries, platforms, num_platforms);
}

CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* func_name) {
  return api::clGetExtensionFunctionAddress(func_name);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                  cl_platform_info param_name,
                                                  size_t param_value_size, void* param_value,
                                                  size_t* param_value_size_ret) {
  return api::clGetPlatformInfo(platform, param_name, param_value_size, param_value,
                                param_value_size_ret);
}
}
