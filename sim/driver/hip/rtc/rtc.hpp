// Declares what hiprtc's calls on programs and on linkers share. Values are those of hiprtc.h of
// HIP 6.2, of which HIP 5.2 has the first ones.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/compile/compiler.hpp"
#include "hip/session/session.hpp"

namespace ww::sim::driver::hip {

enum RtcCode : int {
  kRtcSuccess = 0,
  kRtcOutOfMemory = 1,
  kRtcProgramCreationFailure = 2,
  kRtcInvalidInput = 3,
  kRtcInvalidProgram = 4,
  kRtcInvalidOption = 5,
  kRtcCompilation = 6,
  kRtcBuiltinOperationFailure = 7,
  kRtcNoNameExpressionsAfterCompilation = 8,
  kRtcNoLoweredNamesBeforeCompilation = 9,
  kRtcNameExpressionNotValid = 10,
  kRtcInternalError = 11,
  kRtcLinking = 100,
};

// Runs a call's body under the lock. No exception leaves the library.
template <class Body>
int rtc_call(Body&& body) noexcept {
  try {
    Entry entry;
    return body();
  } catch (...) {
    return kRtcOutOfMemory;
  }
}

// The programs or the linkers that there are, by the handles that the program has.
template <class Object>
std::unordered_map<const void*, std::unique_ptr<Object>>& rtc_objects() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Object>>;
  return all;
}
// Runs a call's body with the object of the handle; `unknown` where there is none.
template <class Object, class Body>
int with_rtc_object(const void* handle, RtcCode unknown, Body&& body) noexcept {
  return rtc_call([&]() -> int {
    const auto found = rtc_objects<Object>().find(handle);
    return found == rtc_objects<Object>().end() ? int{unknown} : body(*found->second);
  });
}

// The target of the program's device, as compilers name it ("gfx90a"); empty where there is none.
[[nodiscard]] std::string device_target();
// A request's name of a target ("gfx90a:xnack-").
[[nodiscard]] std::string isa_of(const std::string& target);
// Reports failures that are not the program's fault on stderr, too, because many programs never
// print a log.
[[nodiscard]] CompileAnswer run_compiler(const CompileRequest& request);
// Bitcodes of the operation compile_hip to a code object.
[[nodiscard]] CompileRequest link_request(const std::string& target,
                                          std::vector<std::string> bitcodes);

}  // namespace ww::sim::driver::hip
