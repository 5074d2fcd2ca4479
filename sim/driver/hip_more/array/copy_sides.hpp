// Copies that name the kind of memory on each side, as the driver API's do.
#pragma once

#include <optional>

#include "hip/session/session.hpp"
#include "hip/session/types.hpp"

namespace ww::sim::driver::hip {

enum class SideKind { host, device, array };

// HIP 6 numbers the kinds of memory anew. hipMemoryTypeUnified is memory with one address. Nothing
// for numbers that are none.
[[nodiscard]] inline std::optional<SideKind> side_kind(int memory_type) {
  const bool old = hip_major() < 6;
  switch (memory_type) {
    case 0: return SideKind::host;  // from 6 on: unregistered
    case 1: return old ? SideKind::device : SideKind::host;
    case 2: return old ? SideKind::array : SideKind::device;
    case 3: return SideKind::device;  // unified; from 6 on managed
    case 4: return old ? std::optional(SideKind::device) : std::nullopt;
    case 10: return old ? std::nullopt : std::optional(SideKind::array);
    case 11: return old ? std::nullopt : std::optional(SideKind::device);
    default: return std::nullopt;
  }
}

// Returns hipMemcpy's name of the direction.
[[nodiscard]] inline MemcpyKind kind_between(SideKind from, SideKind to) {
  if (from == SideKind::host) return to == SideKind::host ? kHostToHost : kHostToDevice;
  return to == SideKind::host ? kDeviceToHost : kDeviceToDevice;
}

}  // namespace ww::sim::driver::hip
