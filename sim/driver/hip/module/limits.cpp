// Limits kernels' resources: private memory of a call stack, and the heap of malloc.
#include "hip/module/hidden_buffers.hpp"
#include "hip/session/session.hpp"

namespace ww::sim::driver::hip {
namespace {

// hipLimit_t.
constexpr int kStackLimit = 0;
constexpr int kMallocHeapLimit = 2;
constexpr int kLimits = 3;
// A wave's private memory is counted in 13 bits, as units of 1 KiB (COMPUTE_TMPRING_SIZE.WAVESIZE),
// for 64 work-items.
constexpr std::size_t kMaxStackBytes = 8191 * 1024 / 64;

}  // namespace

WW_HIP_EXPORT int hipDeviceGetLimit(std::size_t* value, int limit) {
  return guarded([&]() -> int {
    if (value == nullptr) return kInvalidValue;
    switch (limit) {
      case kStackLimit: *value = stack_limit(); return kSuccess;
      case kMallocHeapLimit: *value = heap_limit(); return kSuccess;
      default: return limit >= kLimits ? kInvalidValue : kUnsupportedLimit;
    }
  });
}
WW_HIP_EXPORT int hipDeviceSetLimit(int limit, std::size_t value) {
  return guarded([&]() -> int {
    switch (limit) {
      case kStackLimit:
        if (value > kMaxStackBytes) return kInvalidValue;
        set_stack_limit(static_cast<std::uint32_t>(value));
        return kSuccess;
      case kMallocHeapLimit:
        if (value >=
            static_cast<std::size_t>(device().chip().architecture().memory_bytes_of_device()))
          return kInvalidValue;
        heap_limit() = value;
        return kSuccess;
      default: return limit >= kLimits ? kInvalidValue : kUnsupportedLimit;
    }
  });
}

}  // namespace ww::sim::driver::hip
