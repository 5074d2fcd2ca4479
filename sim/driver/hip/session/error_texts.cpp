// Names and texts of HIP's error codes; the names are those of hip_runtime_api.h.
#include <algorithm>
#include <array>

#include "hip/session/session.hpp"

namespace ww::sim::driver::hip {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

constexpr std::array kErrorTexts{
    ErrorText{0, "hipSuccess", "no error"},
    ErrorText{1, "hipErrorInvalidValue", "invalid argument"},
    ErrorText{2, "hipErrorOutOfMemory", "out of memory"},
    ErrorText{3, "hipErrorNotInitialized", "initialization error"},
    ErrorText{4, "hipErrorDeinitialized", "driver shutting down"},
    ErrorText{5, "hipErrorProfilerDisabled",
              "profiler disabled while using external profiling tool"},
    ErrorText{6, "hipErrorProfilerNotInitialized", "profiler is not initialized"},
    ErrorText{7, "hipErrorProfilerAlreadyStarted", "profiler already started"},
    ErrorText{8, "hipErrorProfilerAlreadyStopped", "profiler already stopped"},
    ErrorText{9, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    ErrorText{12, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    ErrorText{13, "hipErrorInvalidSymbol", "invalid device symbol"},
    ErrorText{17, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    ErrorText{21, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    ErrorText{35, "hipErrorInsufficientDriver",
              "driver version is insufficient for runtime version"},
    ErrorText{52, "hipErrorMissingConfiguration", "__global__ function call is not configured"},
    ErrorText{53, "hipErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
    ErrorText{98, "hipErrorInvalidDeviceFunction", "invalid device function"},
    ErrorText{100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    ErrorText{101, "hipErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{200, "hipErrorInvalidImage", "device kernel image is invalid"},
    ErrorText{201, "hipErrorInvalidContext", "invalid device context"},
    ErrorText{202, "hipErrorContextAlreadyCurrent", "context is already current context"},
    ErrorText{205, "hipErrorMapFailed", "mapping of buffer object failed"},
    ErrorText{206, "hipErrorUnmapFailed", "unmapping of buffer object failed"},
    ErrorText{207, "hipErrorArrayIsMapped", "array is mapped"},
    ErrorText{208, "hipErrorAlreadyMapped", "resource already mapped"},
    ErrorText{209, "hipErrorNoBinaryForGpu",
              "no kernel image is available for execution on the device"},
    ErrorText{210, "hipErrorAlreadyAcquired", "resource already acquired"},
    ErrorText{211, "hipErrorNotMapped", "resource not mapped"},
    ErrorText{212, "hipErrorNotMappedAsArray", "resource not mapped as array"},
    ErrorText{213, "hipErrorNotMappedAsPointer", "resource not mapped as pointer"},
    ErrorText{214, "hipErrorECCNotCorrectable", "uncorrectable ECC error encountered"},
    ErrorText{215, "hipErrorUnsupportedLimit", "limit is not supported on this architecture"},
    ErrorText{216, "hipErrorContextAlreadyInUse",
              "exclusive-thread device already in use by a different thread"},
    ErrorText{217, "hipErrorPeerAccessUnsupported",
              "peer access is not supported between these two devices"},
    ErrorText{218, "hipErrorInvalidKernelFile", "invalid kernel file"},
    ErrorText{219, "hipErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"},
    ErrorText{300, "hipErrorInvalidSource", "device kernel image is invalid"},
    ErrorText{301, "hipErrorFileNotFound", "file not found"},
    ErrorText{302, "hipErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
    ErrorText{303, "hipErrorSharedObjectInitFailed", "shared object initialization failed"},
    ErrorText{304, "hipErrorOperatingSystem",
              "OS call failed or operation not supported on this OS"},
    ErrorText{400, "hipErrorInvalidHandle", "invalid resource handle"},
    ErrorText{401, "hipErrorIllegalState",
              "the operation cannot be performed in the present state"},
    ErrorText{500, "hipErrorNotFound", "named symbol not found"},
    ErrorText{600, "hipErrorNotReady", "device not ready"},
    ErrorText{700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    ErrorText{701, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
    ErrorText{702, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    ErrorText{704, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    ErrorText{705, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    ErrorText{708, "hipErrorSetOnActiveProcess",
              "cannot set while device is active in this process"},
    ErrorText{709, "hipErrorContextIsDestroyed", "context is destroyed"},
    ErrorText{710, "hipErrorAssert", "device-side assert triggered"},
    ErrorText{712, "hipErrorHostMemoryAlreadyRegistered",
              "part or all of the requested memory range is already mapped"},
    ErrorText{713, "hipErrorHostMemoryNotRegistered",
              "pointer does not correspond to a registered memory region"},
    ErrorText{719, "hipErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{720, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    ErrorText{801, "hipErrorNotSupported", "operation not supported"},
    ErrorText{900, "hipErrorStreamCaptureUnsupported",
              "operation not permitted when stream is capturing"},
    ErrorText{901, "hipErrorStreamCaptureInvalidated",
              "operation failed due to a previous error during capture"},
    ErrorText{902, "hipErrorStreamCaptureMerge",
              "operation would result in a merge of separate capture sequences"},
    ErrorText{903, "hipErrorStreamCaptureUnmatched",
              "capture was not ended in the same stream as it began"},
    ErrorText{904, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    ErrorText{905, "hipErrorStreamCaptureIsolation",
              "dependency created on uncaptured work in another stream"},
    ErrorText{906, "hipErrorStreamCaptureImplicit",
              "operation would make the legacy stream depend on a capturing blocking stream"},
    ErrorText{907, "hipErrorCapturedEvent",
              "operation not permitted on an event last recorded in a capturing stream"},
    ErrorText{908, "hipErrorStreamCaptureWrongThread",
              "attempt to terminate a thread-local capture sequence from another thread"},
    ErrorText{910, "hipErrorGraphExecUpdateFailure",
              "the graph update was not performed because it included changes which violated "
              "constraints specific to instantiated graph update"},
    ErrorText{999, "hipErrorUnknown", "unknown error"},
    ErrorText{1052, "hipErrorRuntimeMemory", "runtime memory call returned error"},
    ErrorText{1053, "hipErrorRuntimeOther", "runtime call other than memory returned error"},
};

// Null where HIP has no such code.
const ErrorText* find_text(int code) {
  const auto found = std::ranges::find(kErrorTexts, code, &ErrorText::code);
  return found == kErrorTexts.end() ? nullptr : &*found;
}

const ErrorText& error_text(int code) {
  static constexpr ErrorText kUnlisted{kUnknown, "hipErrorUnknown", "unrecognized error code"};
  const ErrorText* found = find_text(code);
  return found == nullptr ? kUnlisted : *found;
}

int give_text(int code, const char** text, const char* ErrorText::*which) {
  const ErrorText* found = find_text(code);
  if (text == nullptr || found == nullptr) return finish(kInvalidValue);
  *text = found->*which;
  return kSuccess;
}

}  // namespace

WW_HIP_EXPORT const char* hipGetErrorName(int code) {
  return error_text(code).name;
}
WW_HIP_EXPORT const char* hipGetErrorString(int code) {
  return error_text(code).text;
}
WW_HIP_EXPORT int hipDrvGetErrorName(int code, const char** text) {
  return give_text(code, text, &ErrorText::name);
}
WW_HIP_EXPORT int hipDrvGetErrorString(int code, const char** text) {
  return give_text(code, text, &ErrorText::text);
}
// A failed device shows in every thread, and stays.
WW_HIP_EXPORT int hipGetLastError() {
  const int code = std::exchange(last_error(), int{kSuccess});
  return code != kSuccess ? code : device_error().load();
}
WW_HIP_EXPORT int hipExtGetLastError() {
  return hipGetLastError();
}
WW_HIP_EXPORT int hipPeekAtLastError() {
  return last_error() != kSuccess ? last_error() : device_error().load();
}

}  // namespace ww::sim::driver::hip
