// The arrays that are alive: images in device memory that a program names by a hipArray_t. Copies
// read and write them, and kernels do through textures and surfaces; hip_more/array makes them.
// Their texels lie as ww/sim/gpu/image.hpp says. Needs the lock.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "hip/session/session.hpp"
#include "hip/session/texture_types.hpp"
#include "tl/expected.hpp"
#include "ww/sim/gpu/image.hpp"

namespace ww::sim::driver::hip {

// hipArray_t points to the header.
struct Array {
  ArrayHeader header{};
  gpu::ImageLayout layout;
  unsigned flags{};
  int device{};  // whose memory it is
};

// By the handles that programs have.
[[nodiscard]] std::unordered_map<const void*, std::unique_ptr<Array>>& arrays();
// Null for what is not an array that is alive.
[[nodiscard]] const Array* find_array(const void* handle);

// All rows of the array, slice after slice, as pitched memory: `width` is a row's bytes and
// `height` counts the rows of one slice.
[[nodiscard]] PitchedPointer memory_of(const Array& array);
[[nodiscard]] std::size_t slices_of(const Array& array);

// Describes a copy between pitched memory alone, in bytes. An array on either side makes widths of
// the extent and of the array's position count elements. Errors: kInvalidValue for no array, a box
// that leaves it, both or neither of an array and memory on a side, elements of two sizes.
[[nodiscard]] tl::expected<Memcpy3dParameters, int> without_arrays(const Memcpy3dParameters& box);

}  // namespace ww::sim::driver::hip
