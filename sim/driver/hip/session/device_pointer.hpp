#pragma once

#include <cstdint>

namespace ww::sim::driver::hip {

// A place on the device as programs hold it.
[[nodiscard]] inline void* device_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): HIP's own form
}

[[nodiscard]] inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace ww::sim::driver::hip
