// Texels as the hardware's format fields describe them: how the bits of memory become channels, and
// back. Codes: AMD Sea Islands and "Vega" ISA, "buffer and image data formats".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ww/sim/gpu/image.hpp"

namespace ww::sim::gpu::exec {

// DATA_FORMAT. Components are named from the highest bits: 5_6_5 has x in its lowest five.
enum class DataFormat : std::uint8_t {
  f8 = 1,
  f16 = 2,
  f8_8 = 3,
  f32 = 4,
  f16_16 = 5,
  f2_10_10_10 = 9,
  f8_8_8_8 = 10,
  f32_32 = 11,
  f16_16_16_16 = 12,
  f32_32_32_32 = 14,
  f5_6_5 = 16,
  f1_5_5_5 = 17,
};

// NUM_FORMAT.
enum class NumberFormat : std::uint8_t {
  unorm = 0,
  snorm = 1,
  uint = 4,
  sint = 5,
  floating = 7,
  srgb = 9,
};

// DST_SEL: what a channel of the instruction is.
inline constexpr std::uint8_t kSelectZero = 0;
inline constexpr std::uint8_t kSelectOne = 1;
inline constexpr std::uint8_t kSelectX = 4;  // then y, z, w

using Channels = std::array<std::uint32_t, 4>;  // bits of floats or integers

struct TexelFormat {
  DataFormat data{};
  NumberFormat number{};
  std::array<std::uint8_t, 4> select{};
  friend bool operator==(const TexelFormat&, const TexelFormat&) = default;
};

// Bytes of a texel; 0 for a combination that no image has here.
[[nodiscard]] std::uint32_t texel_bytes(std::uint32_t data, std::uint32_t number);

// RDNA has one number for data and number format, in which gfx10 and gfx11 differ.
enum class CombinedFormats : std::uint8_t { gfx10, gfx11 };
// 0 for a combination that no image has here.
[[nodiscard]] std::uint32_t combined_format(const TexelFormat& format, CombinedFormats numbers);
// Inverts combined_format(), without selects; data 0 where no image has the number.
[[nodiscard]] TexelFormat split_format(std::uint32_t combined, CombinedFormats numbers);

// Null-like (data 0) where no image has the format.
[[nodiscard]] TexelFormat texel_format(ImageFormat format);

// Reads a texel's bytes as an instruction sees them. `texel` has texel_bytes.
[[nodiscard]] Channels unpack_texel(const TexelFormat& format, const std::byte* texel);
// Returns what it sees where there is no texel: components are 0, and so the border's colour.
[[nodiscard]] Channels border_channels(const TexelFormat& format);
// Returns an opaque border's channels, whose component `alpha` is 1.
[[nodiscard]] Channels opaque_border_channels(const TexelFormat& format, std::size_t alpha);
// Bytes of a texel that an instruction writes. A component that no channel has is 0.
void pack_texel(const TexelFormat& format, const Channels& channels, std::byte* texel);

// The bits of a float's nearest half, ties to even, and of a half as a float.
[[nodiscard]] std::uint32_t float_as_half(std::uint32_t bits);
[[nodiscard]] std::uint32_t half_as_float(std::uint32_t half);

}  // namespace ww::sim::gpu::exec
