#include "hip/session.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <set>

namespace ww::sim::icd::hip {
namespace {

// What the virtual GPU has to know of programs of HIP, once it has power.
void prepare_device() {
  if (device().host_at_device_addresses()) device().host_may_write();
}

}  // namespace

int& last_error() {
  thread_local int error = kSuccess;
  return error;
}

int& chosen_device() {
  thread_local int ordinal = 0;
  return ordinal;
}

std::atomic<int>& device_error() {
  static std::atomic<int> error{kSuccess};
  return error;
}

int power_on() {
  if (Runtime::get().gpu() == nullptr) return kNoDevice;
  static const pid_t owner = [] {
    prepare_device();
    return getpid();
  }();
  if (getpid() == owner) return kSuccess;
  // The threads and the device stayed with the parent.
  static bool said = false;
  if (!std::exchange(said, true)) {
    complain(
        "HIP: a child process cannot use the device that its parent opened; start HIP after "
        "fork, or start a program");
  }
  return kNotInitialized;
}

int hip_major() {
  // The loader knows the library by every name that programs asked for.
  static const int major = [] {
    for (const int candidate : {7, 6, 5}) {
      const std::string name = "libamdhip64.so." + std::to_string(candidate);
      if (void* found = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD); found != nullptr) {
        dlclose(found);
        return candidate;
      }
    }
    return 5;
  }();
  return major;
}

int refuse_form(const std::string& call) {
  static auto& said = *new std::set<std::string>;
  if (said.insert(call).second) {
    complain("HIP: " + call + " is not supported on the virtual GPU");
  }
  return kNotSupported;
}

int refuse_entry(const char* name) {
  try {
    Entry entry;
    return finish(refuse_form(name));
  } catch (...) {
    return finish(kOutOfMemory);
  }
}

}  // namespace ww::sim::icd::hip
