// Halves: 16-bit floats as registers and texels hold them.
#pragma once

#include <bit>
#include <cstdint>

namespace ww::sim::gpu::exec {

// The value of a half float.
[[nodiscard]] inline float half_value(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = half >> 10 & 31U;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * (1.0F / 16777216.0F);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + 112U) << 23 | fraction << 13);
}

// Rounds the floats of 64 lanes to the nearest half, in place.
void to_halves(std::uint32_t* words);

// The sums of two pairs of half floats.
[[nodiscard]] std::uint32_t add_halves(std::uint32_t a, std::uint32_t b);

}  // namespace ww::sim::gpu::exec
