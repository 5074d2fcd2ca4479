// The elements of arrays, in the words of HIP's calls and in those of the virtual GPU.
#pragma once

#include "hip/memory/array_table.hpp"
#include "hip/session/session.hpp"
#include "hip/session/texture_types.hpp"
#include "tl/expected.hpp"
#include "ww/sim/gpu/image.hpp"

namespace ww::sim::driver::hip {

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

}  // namespace ww::sim::driver::hip
