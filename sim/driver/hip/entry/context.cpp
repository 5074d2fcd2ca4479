// Contexts, as programs of the driver API ask for them. A device has one, its primary context,
// which every call that makes one gets; to be current is to be the thread's device. What AMD's
// library refuses of contexts is refused here, too (refused.cpp).
#include <map>
#include <vector>

#include "hip/session/session.hpp"
#include "hip/session/types.hpp"

namespace ww::sim::driver::hip {
namespace {

// hipCtx_t points to one.
struct Context {
  int device{};
};

// Contexts by device.
std::map<int, Context>& contexts() {
  static auto& made = *new std::map<int, Context>;
  return made;
}

Context* context_of(int ordinal) {
  return &contexts().try_emplace(ordinal, Context{ordinal}).first->second;
}

// Null for what is none.
const Context* find_context(const void* handle) {
  for (const auto& [ordinal, context] : contexts()) {
    if (&context == handle) return &context;
  }
  return nullptr;
}

// Returns the contexts that the calling thread has pushed, as devices.
std::vector<int>& pushed() {
  thread_local std::vector<int> stack;
  return stack;
}

int primary_context(void** context, int ordinal) {
  if (!is_ordinal(ordinal)) return kInvalidDevice;
  if (context == nullptr) return kInvalidValue;
  *context = context_of(ordinal);
  return kSuccess;
}

}  // namespace

WW_HIP_EXPORT int hipCtxCreate(void** context, unsigned, int ordinal) {
  return guarded([&]() -> int {
    if (context == nullptr || !is_ordinal(ordinal)) return kInvalidValue;
    *context = context_of(ordinal);
    chosen_device() = ordinal;
    pushed().push_back(ordinal);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxDestroy(void* handle) {
  return guarded([&]() -> int {
    const Context* context = find_context(handle);
    if (context == nullptr) return kInvalidValue;
    if (!pushed().empty() && pushed().back() == context->device) pushed().pop_back();
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxGetCurrent(void** context) {
  return guarded([&]() -> int {
    if (context == nullptr) return kInvalidValue;
    *context = context_of(chosen_device());
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxSetCurrent(void* handle) {
  return guarded([&]() -> int {
    const Context* context = find_context(handle);
    if (handle != nullptr && context == nullptr) return kInvalidContext;
    if (!pushed().empty()) pushed().pop_back();
    if (context == nullptr) return kSuccess;
    chosen_device() = context->device;
    pushed().push_back(context->device);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxPushCurrent(void* handle) {
  return guarded([&]() -> int {
    const Context* context = find_context(handle);
    if (context == nullptr) return kInvalidContext;
    chosen_device() = context->device;
    pushed().push_back(context->device);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxPopCurrent(void** context) {
  return guarded([&]() -> int {
    if (pushed().empty()) return kInvalidContext;
    if (context != nullptr) *context = context_of(pushed().back());
    pushed().pop_back();
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxGetDevice(int* ordinal) {
  return guarded([&]() -> int {
    if (ordinal == nullptr) return kInvalidValue;
    *ordinal = chosen_device();
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipCtxGetSharedMemConfig(int* config) {
  return guarded([&]() -> int {
    if (config == nullptr) return kInvalidValue;
    *config = kBanksOfFourBytes;
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipDevicePrimaryCtxRetain(void** context, int ordinal) {
  return guarded([&] { return primary_context(context, ordinal); });
}
WW_HIP_EXPORT int hipDevicePrimaryCtxRelease(int ordinal) {
  return guarded([&]() -> int { return is_ordinal(ordinal) ? kSuccess : kInvalidDevice; });
}
WW_HIP_EXPORT int hipDevicePrimaryCtxReset(int ordinal) {
  return guarded([&]() -> int { return is_ordinal(ordinal) ? kSuccess : kInvalidDevice; });
}
WW_HIP_EXPORT int hipDevicePrimaryCtxSetFlags(int ordinal, unsigned) {
  return guarded(
      [&]() -> int { return is_ordinal(ordinal) ? kContextAlreadyInUse : kInvalidDevice; });
}
WW_HIP_EXPORT int hipDevicePrimaryCtxGetState(int ordinal, unsigned* flags, int* active) {
  return guarded([&]() -> int {
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    if (flags != nullptr) *flags = 0;
    if (active != nullptr) *active = 1;  // the call itself uses the device
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
