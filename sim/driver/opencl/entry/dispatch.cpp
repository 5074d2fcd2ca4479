// The dispatch table: every slot filled, because the loader calls through them unchecked.
#include <cstring>
#include <tuple>
#include <type_traits>

#include "common/runtime/vgpu_abi.hpp"
#include "opencl/memory/memory.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/object.hpp"
#include "opencl/object/objects.hpp"
#include "ww/core/cl_approximable.h"

namespace ww::sim::driver {
namespace {

// An entry point of the given type that refuses: sets errcode_ret where that is its last
// parameter, and gives CL_INVALID_OPERATION or null.
template <class Function>
struct Refuse;

template <class Result, class... Arguments>
struct Refuse<Result(CL_API_CALL*)(Arguments...)> {
  static Result CL_API_CALL call([[maybe_unused]] Arguments... arguments) {
    if constexpr (std::is_void_v<Result>) {
      return;
    } else if constexpr (std::is_same_v<Result, cl_int>) {
      return CL_INVALID_OPERATION;
    } else {
      auto last = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
      if constexpr (std::is_same_v<decltype(last), cl_int*>) {
        if (last != nullptr) *last = CL_INVALID_OPERATION;
      }
      return Result{};
    }
  }
};

// Slots of unknown type: nobody on this platform can pass arguments that matter.
cl_int CL_API_CALL refuse_foreign() {
  return CL_INVALID_OPERATION;
}

cl_icd_dispatch make_table() {
  cl_icd_dispatch table{};
#define WW_ICD_FILL(name) table.name = &api::name;
#define WW_ICD_FILL_REFUSED(name) table.name = &Refuse<decltype(table.name)>::call;
#define WW_ICD_FILL_FOREIGN(name) \
  table.name = reinterpret_cast<decltype(table.name)>(&refuse_foreign);
  WW_ICD_IMPLEMENTED(WW_ICD_FILL)
  WW_ICD_REFUSED(WW_ICD_FILL_REFUSED)
  WW_ICD_FOREIGN(WW_ICD_FILL_FOREIGN)
#undef WW_ICD_FILL
#undef WW_ICD_FILL_REFUSED
#undef WW_ICD_FILL_FOREIGN
  return table;
}

cl_int CL_API_CALL icd_get_platform_ids(cl_uint count, cl_platform_id* platforms,
                                        cl_uint* platform_count) {
  return api::clGetPlatformIDs(count, platforms, platform_count);
}

}  // namespace

const cl_icd_dispatch& dispatch_table() {
  static const cl_icd_dispatch table = make_table();
  return table;
}

namespace api {

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (name == nullptr) return nullptr;
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) {
    return reinterpret_cast<void*>(&icd_get_platform_ids);
  }
  if (std::strcmp(name, WW_VGPU_GET_ABI_SYMBOL) == 0) {
    return reinterpret_cast<void*>(&get_abi);
  }
  if (std::strcmp(name, WW_CL_SET_APPROXIMABLE) == 0) {
    return reinterpret_cast<void*>(&set_approximable);
  }
  return nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                           const char* name) {
  return platform == the_platform() ? clGetExtensionFunctionAddress(name) : nullptr;
}

}  // namespace api
}  // namespace ww::sim::driver
