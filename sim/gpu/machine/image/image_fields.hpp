// The bit fields of image, buffer and sampler descriptors. Sources: AMD Sea Islands ISA, "Vega"
// ISA; AMD's ROCR-Runtime, resource_kv.h, resource_ai.h, resource_nv.h and resource_gfx11.h.
#pragma once

#include <cstdint>

#include "ww/sim/gpu/image.hpp"

namespace ww::sim::gpu::exec {

// TYPE of a resource.
inline constexpr std::uint32_t kResourceBuffer = 0;
inline constexpr std::uint32_t kResource1d = 8;
inline constexpr std::uint32_t kResource2d = 9;
inline constexpr std::uint32_t kResource3d = 10;
inline constexpr std::uint32_t kResource1dArray = 12;
inline constexpr std::uint32_t kResource2dArray = 13;

// TILING_INDEX of gfx7: the entry that its driver makes "linear aligned" (Linux, radeon/cik.c).
inline constexpr std::uint32_t kLinearTilingIndex = 8;
// SW_MODE of gfx9 and later.
inline constexpr std::uint32_t kLinearSwizzleMode = 0;

// BC_SWIZZLE of RDNA: the component that a border's alpha takes the place of, by the field's value.
inline constexpr std::uint8_t kBorderAlpha[] = {3, 1, 0, 0, 3, 2};

// BORDER_COLOR_TYPE of a sampler.
inline constexpr std::uint32_t kTransparentBorder = 0;
inline constexpr std::uint32_t kOpaqueBorder = 1;

// CLAMP_X, _Y, _Z of a sampler.
inline constexpr std::uint32_t kWrap = 0;
inline constexpr std::uint32_t kMirror = 1;
inline constexpr std::uint32_t kClampLastTexel = 2;
inline constexpr std::uint32_t kClampBorder = 6;

inline constexpr std::uint32_t kForceUnnormalized = 1U << 15;

// RESOURCE_LEVEL, which gfx10 wants set in images (word 2) and buffers (word 3).
inline constexpr std::uint32_t kImageResourceLevel = 1U << 31;
inline constexpr std::uint32_t kBufferResourceLevel = 1U << 24;

// Rows lie this many bytes apart where a descriptor has no pitch.
constexpr std::uint64_t round_up_row(std::uint64_t bytes) {
  return (bytes + kImageRowAlignment - 1) / kImageRowAlignment * kImageRowAlignment;
}

}  // namespace ww::sim::gpu::exec
