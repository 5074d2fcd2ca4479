// A compiler library of version 3 for tests: the one that is installed, behind the numbers that
// version 3 gives the actions. It is linked to the installed library, whose other entries are found
// through it.
#include <amd_comgr.h>
#include <dlfcn.h>

extern "C" {

void amd_comgr_get_version(size_t* major, size_t* minor) {
  *major = 3;
  *minor = 0;
}

amd_comgr_status_t amd_comgr_do_action(amd_comgr_action_kind_t kind, amd_comgr_action_info_t info,
                                       amd_comgr_data_set_t input, amd_comgr_data_set_t result) {
  static const auto installed =
      reinterpret_cast<decltype(&amd_comgr_do_action)>(dlsym(RTLD_NEXT, "amd_comgr_do_action"));
  switch (static_cast<int>(kind)) {
    case 1: kind = AMD_COMGR_ACTION_ADD_PRECOMPILED_HEADERS; break;
    case 3: kind = AMD_COMGR_ACTION_LINK_BC_TO_BC; break;
    case 4: kind = AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE; break;
    case 7: kind = AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE; break;
    case 12: kind = AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC; break;
    default: return AMD_COMGR_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return installed(kind, info, input, result);
}

}  // extern "C"
