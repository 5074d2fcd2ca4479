// Entry points by name, for programs that look them up while they run.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "hip/session/session.hpp"
#include "hip/session/types.hpp"

namespace ww::sim::driver::hip {
namespace {

// hipDriverProcAddressQueryResult and hipDriverEntryPointQueryResult.
constexpr int kFound = 0;
constexpr int kNoSuchName = 1;
constexpr int kHip6 = 600;  // major * 100 + minor

// Opens this library, whatever else the process has loaded.
void* this_library() {
  Dl_info about{};
  if (dladdr(&kHip6, &about) == 0) return nullptr;
  return dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// Two calls have other types from HIP 6 on, and then another name.
std::string name_in(int version, const std::string& name) {
  const bool renamed = name == "hipGetDeviceProperties" || name == "hipChooseDevice";
  return renamed && version >= kHip6 ? name + "R0600" : name;
}

int find_entry(const char* name, void** function, int version, int* status) {
  if (name == nullptr || *name == '\0' || function == nullptr) return finish(kInvalidValue);
  static void* const library = this_library();
  const bool of_hip = std::strncmp(name, "hip", 3) == 0;
  *function =
      of_hip && library != nullptr ? dlsym(library, name_in(version, name).c_str()) : nullptr;
  if (status != nullptr) *status = *function != nullptr ? kFound : kNoSuchName;
  return *function != nullptr ? int{kSuccess} : finish(kInvalidValue);
}

}  // namespace

WW_HIP_EXPORT int hipGetProcAddress(const char* name, void** function, int version, std::uint64_t,
                                    int* status) {
  return find_entry(name, function, version, status);
}
WW_HIP_EXPORT int hipGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                         int* status) {
  return find_entry(name, function, hip_major() * 100, status);
}

}  // namespace ww::sim::driver::hip
