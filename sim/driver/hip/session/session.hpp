// Declares what every HIP call needs: the driver's lock, the virtual GPU, the thread's chosen
// device, and its last error. Modules and the devices' errors are the process's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "common/runtime/runtime.hpp"
#include "hip/session/types.hpp"

#define WW_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace ww::sim::driver::hip {

// hipGetLastError's: of the calling thread.
[[nodiscard]] int& last_error();

// An error of the device itself (a fault inside a kernel): every later call that waits for the
// device or uses it fails with it until hipDeviceReset.
[[nodiscard]] std::atomic<int>& device_error();

// The virtual GPU, or the reason why a call cannot have it: kNoDevice without a chip,
// kNotInitialized in a child of the process that powered it on. Needs the lock.
[[nodiscard]] int power_on();
[[nodiscard]] inline gpu::VirtualGpu& device() {
  return Runtime::get().powered_gpu();
}

// hipSetDevice's: of the calling thread. A package may be several devices.
[[nodiscard]] int& chosen_device();
[[nodiscard]] inline bool is_ordinal(int ordinal) {
  return ordinal >= 0 && ordinal < device().chip().architecture().devices;
}

// Whether the chip has image instructions. Where not, what needs them fails with kNotSupported.
[[nodiscard]] bool has_images();

// hipLimitStackSize [bytes]: what kernels with a dynamic call stack get at least. Needs the lock.
[[nodiscard]] std::uint32_t stack_limit();
void set_stack_limit(std::uint32_t bytes);

// The HIP version that the program was linked against: 5, 6 or 7.
[[nodiscard]] int hip_major();

// Notes a failure for hipGetLastError. Work that is still under way is none.
inline int finish(int code) {
  if (code != kSuccess && code != kNotReady) last_error() = code;
  return code;
}

// Runs a call's body, int() or int(Entry&), under the lock, with a device. No exception leaves the
// library.
template <class Body>
int guarded(Body&& body) noexcept {
  int code = kOutOfMemory;
  try {
    Entry entry;
    code = power_on();
    if (code == kSuccess) {
      device().select_device(chosen_device());
      if constexpr (std::is_invocable_v<Body, Entry&>) {
        code = body(entry);
      } else {
        code = body();
      }
    }
  } catch (...) {
    code = kOutOfMemory;
  }
  return finish(code);
}

// Runs calls that wait for the device or use its memory: they report its errors.
template <class Body>
int guarded_work(Body&& body) noexcept {
  return guarded([&](Entry& entry) -> int {
    const int failed = device_error();
    if (failed != kSuccess) return failed;
    if constexpr (std::is_invocable_v<Body, Entry&>) {
      return body(entry);
    } else {
      return body();
    }
  });
}

// Says once on stderr that an entry point is missing; the code for it.
int refuse_entry(const char* name);
// Refuses a call that exists, but not in this form
// ("hipMemcpy3D with arrays"). Needs the lock.
int refuse_form(const std::string& call);

// Lets hipDeviceReset forget memory, kernels' own heap, arrays, streams and events of a device;
// modules' device copies, which are all devices'. Need the lock.
void reset_arrays(int ordinal);
void reset_registered(int ordinal);
void reset_memory(int ordinal);
void reset_heap(int ordinal);
void reset_streams(int ordinal);
void reset_events(int ordinal);
void reset_modules();
// Registers what rooms that `hip` does not include let it forget before. Repeating it is harmless.
using ForgetDevice = void (*)(int ordinal);
void forget_at_reset(ForgetDevice forget);
void forget_of_other_rooms(int ordinal);

}  // namespace ww::sim::driver::hip
