// A vendor's library found at run time, and its entry points by name.
#pragma once

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "ww/core/result.hpp"
#include "ww/core/rocm_library.hpp"

namespace ww::microbench {

// A driver that has a function of this name stands for hardware that is not there; what its devices
// measure is virtual. OpenCL's drivers have it as an extension function.
inline constexpr const char* kVirtualDeviceFunction = "wirewatt_virtual_device";

class SharedLibrary {
 public:
  // The first of the names that loads. Error missing_dependency with the loader's reason and
  // `remedy`. Never unloaded: drivers leave threads and exit handlers behind.
  static Result<SharedLibrary> open(std::initializer_list<const char*> names,
                                    const std::string& what, const std::string& remedy) {
    std::string reason;
    for (const char* name : names) {
      if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
        return SharedLibrary(handle, name, remedy);
      }
      if (const char* said = ::dlerror(); said != nullptr && reason.empty()) reason = said;
    }
    return fail(ErrorCode::missing_dependency,
                what + " cannot be loaded (" + reason + "); " + remedy);
  }
  // One of AMD's, wherever ROCm put it. Error missing_dependency: that of open_rocm_library.
  static Result<SharedLibrary> open(const RocmLibrary& library) {
    WW_ASSIGN(opened, open_rocm_library(library));
    return SharedLibrary(opened.handle, opened.file,
                         "install the package " + std::string(library.packages));
  }
  // Finds a symbol; false where the library lacks it.
  template <class Pointer>
  bool find(Pointer& entry, const char* name) const {
    entry = reinterpret_cast<Pointer>(::dlsym(handle_, name));
    return entry != nullptr;
  }
  // Finds a symbol as find() does; remembers what was missing for missing().
  template <class Pointer>
  void need(Pointer& entry, const char* name) {
    if (!find(entry, name) && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] Status complete() const {
    if (missing_.empty()) return {};
    return fail(ErrorCode::missing_dependency, name_ + " has no " + missing_ + "; " + remedy_);
  }

 private:
  SharedLibrary(void* handle, std::string name, std::string remedy)
      : handle_(handle), name_(std::move(name)), remedy_(std::move(remedy)) {}
  void* handle_;
  std::string name_;
  std::string remedy_;
  std::string missing_;
};

}  // namespace ww::microbench
