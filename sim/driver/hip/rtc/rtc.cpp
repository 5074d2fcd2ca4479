#include "hip/rtc/rtc.hpp"

#include <utility>

namespace ww::sim::driver::hip {
namespace {

const char* text_of(int code) {
  switch (code) {
    case kRtcSuccess: return "HIPRTC_SUCCESS";
    case kRtcOutOfMemory: return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case kRtcProgramCreationFailure: return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case kRtcInvalidInput: return "HIPRTC_ERROR_INVALID_INPUT";
    case kRtcInvalidProgram: return "HIPRTC_ERROR_INVALID_PROGRAM";
    case kRtcInvalidOption: return "HIPRTC_ERROR_INVALID_OPTION";
    case kRtcCompilation: return "HIPRTC_ERROR_COMPILATION";
    case kRtcBuiltinOperationFailure: return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case kRtcNoNameExpressionsAfterCompilation:
      return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case kRtcNoLoweredNamesBeforeCompilation:
      return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case kRtcNameExpressionNotValid: return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case kRtcInternalError: return "HIPRTC_ERROR_INTERNAL_ERROR";
    case kRtcLinking: return "HIPRTC_ERROR_LINKING";
    default: return "HIPRTC_ERROR_UNKNOWN";
  }
}

}  // namespace

std::string device_target() {
  if (power_on() != kSuccess) return {};
  return device().chip().architecture().gfx_target;
}

std::string isa_of(const std::string& target) {
  return "amdgcn-amd-amdhsa--" + target;
}

CompileAnswer run_compiler(const CompileRequest& request) {
  CompileAnswer answer = Runtime::get().compiler().run(request);
  if (answer.status != CompileStatus::success && answer.status != CompileStatus::failed) {
    print_line(answer.log.substr(0, answer.log.find('\n')));
  }
  return answer;
}

CompileRequest link_request(const std::string& target, std::vector<std::string> bitcodes) {
  CompileRequest request;
  request.operation = CompileOperation::link_hip;
  request.isa = isa_of(target);
  request.bitcodes = std::move(bitcodes);
  return request;
}

WW_HIP_EXPORT const char* hiprtcGetErrorString(int code) {
  return text_of(code);
}
// Returns the version that AMD's library reports, whatever its HIP's version.
WW_HIP_EXPORT int hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return kRtcInvalidInput;
  *major = 9;
  *minor = 0;
  return kRtcSuccess;
}

}  // namespace ww::sim::driver::hip
