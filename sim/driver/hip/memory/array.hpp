// Arrays: images in device memory that a program names by a hipArray_t, copies to and from, and
// lets kernels read through textures and surfaces. Their texels lie as ww/sim/gpu/image.hpp says.
// Needs the lock.
#pragma once

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

// Null for what is not an array that is alive.
[[nodiscard]] const Array* find_array(const void* handle);

// Whether the chip has image instructions. Where not, what needs them fails with kNotSupported.
[[nodiscard]] bool has_images();

// Elements of 1, 2 or 4 channels, with reads of integers as they are or, normalised, as floats up
// to
// 1. Integers of 32 bits and floats have no such reads. Error kInvalidValue: not a format of HIP.
[[nodiscard]] tl::expected<gpu::ImageFormat, int> element_format(int format, unsigned channels,
                                                                 bool normalized);
[[nodiscard]] tl::expected<gpu::ImageFormat, int> element_format(
    const ChannelDescriptor& descriptor, bool normalized);

// An element in the words of HIP's driver calls, and in those of its other calls.
struct ElementName {
  int format;
  unsigned channels;
};
// Error kInvalidValue: not a format of HIP.
[[nodiscard]] tl::expected<ElementName, int> element_name(const ChannelDescriptor& descriptor);
// `format` and `channels` are known to be right.
[[nodiscard]] ChannelDescriptor channel_descriptor(int format, unsigned channels);

// All rows of the array, slice after slice, as pitched memory: `width` is a row's bytes and
// `height` counts the rows of one slice.
[[nodiscard]] PitchedPointer memory_of(const Array& array);
[[nodiscard]] std::size_t slices_of(const Array& array);

// Turns the copy into one between pitched memory, in bytes. An array on either side makes the
// widths of the extent and of the array's position count elements. Error kInvalidValue: no array, a
// box that leaves it, both or neither of an array and memory on a side, elements of two sizes.
[[nodiscard]] tl::expected<Memcpy3dParameters, int> without_arrays(const Memcpy3dParameters& box);

}  // namespace ww::sim::driver::hip
