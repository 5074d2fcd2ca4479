// Finds the texels of a sample, and the share of each. Source: OpenCL 1.2, section 8.2, with what
// the hardware does to positions: eight bits of a texel's fraction (subTexelPrecisionBits of AMD's
// Vulkan drivers), so that a coordinate that a division left just below a texel's edge is on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/image/image_resource.hpp"

namespace ww::sim::gpu::exec {

// One axis of a sample: two neighbouring texels, or one where `fraction` is not used.
struct AxisTaps {
  std::array<std::uint32_t, 2> texel{};
  std::array<bool, 2> inside{};  // else the border
  std::uint32_t fraction{};      // of the second, in 1/256
};

// `position`: in texels (unnormalised) or in images. What is not a number reads as 0.
[[nodiscard]] AxisTaps axis_taps(float position, std::uint32_t size, std::uint32_t clamp,
                                 bool unnormalized, bool linear);

// The layer of an array that a coordinate names: to the nearest even, and one that exists.
[[nodiscard]] std::uint32_t nearest_layer(float coordinate, std::uint32_t layers);

}  // namespace ww::sim::gpu::exec
