// Copies of boxes that name the kind of memory on each side, as the driver API's do.
#pragma once

#include <cstddef>

#include "hip/stream/work.hpp"
#include "tl/expected.hpp"

namespace ww::sim::driver::hip {

// HIP_MEMCPY3D.
struct BoxSide {
  std::size_t x_bytes;
  std::size_t y;
  std::size_t z;
  std::size_t level;
  int memory_type;
  void* host;
  void* device;
  void* array;
  std::size_t pitch;
  std::size_t height;
};
struct BoxCopy {
  BoxSide from;
  BoxSide to;
  std::size_t width_bytes;
  std::size_t height;
  std::size_t depth;
};
static_assert(sizeof(BoxCopy) == 184);

// Errors kInvalidValue, and those of hipMemcpy3D. Needs the lock.
[[nodiscard]] tl::expected<NodeWork, int> box_work(const BoxCopy& wanted);

}  // namespace ww::sim::driver::hip
