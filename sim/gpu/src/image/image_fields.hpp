// The bit fields of image, buffer and sampler descriptors. Sources: AMD Sea Islands ISA, "Vega"
// ISA; AMD's ROCR-Runtime, resource_kv.h and resource_ai.h.
#pragma once

#include <cstdint>

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
// SW_MODE of gfx9.
inline constexpr std::uint32_t kLinearSwizzleMode = 0;

// CLAMP_X, _Y, _Z of a sampler.
inline constexpr std::uint32_t kWrap = 0;
inline constexpr std::uint32_t kMirror = 1;
inline constexpr std::uint32_t kClampLastTexel = 2;
inline constexpr std::uint32_t kClampBorder = 6;

inline constexpr std::uint32_t kForceUnnormalized = 1U << 15;

}  // namespace ww::sim::gpu::exec
