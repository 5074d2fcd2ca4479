// Images and samplers as the device sees them: descriptors in device memory.
//
// A kernel argument that is an image or a sampler is an 8-byte device pointer to a descriptor,
// which the kernel loads into scalar registers. The descriptor alone determines what an image
// instruction does; the virtual GPU has no other information about an image.
//
// Sources: AMD Sea Islands ISA and "Vega" ISA, "image resource descriptor (T#)", "buffer resource
// descriptor (V#)", "sampler descriptor (S#)"; AMD's ROCR-Runtime (resource_kv.h, resource_ai.h,
// image_lut_kv.cpp) for formats, channel selects and dwords 8 to 10; the sampler literals that LLVM
// 15's compiler makes; for RDNA, resource_nv.h and resource_gfx11.h.
//
// Images lie linearly: texel (x, y, z or layer) at address + x * bytes per texel + y * row pitch +
// z * row pitch * height. Descriptors have no slice pitch of their own.
//
// Threading: all functions are pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::sim::gpu {

enum class ImageKind : std::uint8_t {
  image_1d,
  image_1d_array,
  image_1d_buffer,
  image_2d,
  image_2d_array,
  image_3d,
};

// Channel orders as dword 9 of a descriptor encodes them. get_image_channel_order translates them
// back.
enum class ChannelOrder : std::uint8_t {
  a = 0,
  r = 1,
  rg = 3,
  ra = 5,
  rgb = 6,
  rgba = 8,
  bgra = 9,
  argb = 10,
  srgba = 14,  // of unorm_int8, and only to be read
  intensity = 16,
  luminance = 17,
};

// Channel types as dword 8 of a descriptor encodes them.
enum class ChannelType : std::uint8_t {
  snorm_int8 = 0,
  snorm_int16 = 1,
  unorm_int8 = 2,
  unorm_int16 = 3,
  unorm_short_555 = 5,
  unorm_short_565 = 6,
  unorm_int_101010 = 7,
  signed_int8 = 8,
  signed_int16 = 9,
  signed_int32 = 10,
  unsigned_int8 = 11,
  unsigned_int16 = 12,
  unsigned_int32 = 13,
  half_float = 14,
  single_float = 15,
};

struct ImageFormat {
  ChannelOrder order{};
  ChannelType type{};
  friend bool operator==(const ImageFormat&, const ImageFormat&) = default;
};

// All formats that some kind of image can have for reading and writing. sRGB, which is only read,
// is none of them.
[[nodiscard]] std::span<const ImageFormat> image_formats();
// Buffers (image_1d_buffer) have no 555, no 565 and no sRGB.
[[nodiscard]] bool supported(ImageKind kind, ImageFormat format);
// 1 to 16; 0 where no kind of image has the format.
[[nodiscard]] std::uint32_t bytes_per_texel(ImageFormat format);

// Limits of the descriptors' fields [texels, layers].
inline constexpr std::uint32_t kMaxImageWidth = 16384;
inline constexpr std::uint32_t kMaxImageHeight = 16384;
inline constexpr std::uint32_t kMaxImageDepth = 8192;
inline constexpr std::uint32_t kMaxImageLayers = 8192;
inline constexpr std::uint32_t kMaxImageBufferWidth = 1U << 27;

// Alignment of an image's first byte. The address of an image_1d_buffer is only a multiple of its
// texel, and of 4 if the texel is smaller.
inline constexpr std::uint64_t kImageAlignment = 256;
// Alignment of an image's rows [bytes], except for image_1d_buffer, which has one row of any
// length.
inline constexpr std::uint64_t kImageRowAlignment = 256;

// The distance between the rows of an image of this width [bytes].
[[nodiscard]] std::uint64_t image_row_pitch(ImageKind kind, ImageFormat format,
                                            std::uint32_t width);

struct ImageLayout {
  ImageKind kind{ImageKind::image_2d};
  ImageFormat format{};
  std::uint32_t width{1};   // texels
  std::uint32_t height{1};  // texels; 1 for 1D kinds
  std::uint32_t depth{1};   // texels; 1 but for image_3d
  std::uint32_t layers{1};  // 1 but for arrays
  // Between rows, and between the layers of a 1D array [bytes]; a multiple of kImageRowAlignment
  // that the descriptor's field can hold: at most 65536 texels on gfx9, and 16384 elsewhere.
  // Rows of RDNA's arrays and volumes have image_row_pitch.
  // image_1d_buffer: width texels.
  std::uint64_t row_pitch{};
  // Between layers or slices [bytes]: row_pitch * height, always.
  std::uint64_t slice_pitch{};
  std::uint64_t address{};  // device
};

// Bytes from the first texel's to the end of the last row.
[[nodiscard]] std::uint64_t image_bytes(const ImageLayout& layout);

// A T# (8 dwords; image_1d_buffer: a V# of 4 dwords and zeros), then what the device library reads
// for get_image_channel_data_type (dword 8) and get_image_channel_order (dword 9), and the width in
// texels (dword 10), which it reads where the T# has none or to normalise coordinates. As it lies
// in memory: 48 bytes.
using ImageDescriptor = std::array<std::uint32_t, 12>;
// An S#. As it lies in memory: 16 bytes.
using SamplerDescriptor = std::array<std::uint32_t, 4>;

// Makes the descriptor for a chip of this instruction set ("gfx701", "gfx900", "gfx90a",
// "gfx1030", "gfx1100"). Errors:
// unsupported (format, target), out_of_range (a size, a pitch or an address that does not fit,
// named).
Result<ImageDescriptor> image_descriptor(const ImageLayout& layout, std::string_view gfx_target);

enum class Addressing : std::uint8_t {
  none,  // coordinates are never outside; reads the border's colour where they are
  clamp_to_edge,
  clamp,  // to the border's colour
  repeat,
  mirrored_repeat,
};
enum class Filter : std::uint8_t { nearest, linear };

// Makes the descriptor of a sampler, with the same bits as the compiler's for a sampler literal.
[[nodiscard]] SamplerDescriptor sampler_descriptor(bool normalized, Addressing addressing,
                                                   Filter filter);

// Writes and reads one texel as image instructions do (OpenCL 1.2, 8.3); clEnqueueFillImage needs
// it. `channels`: r, g, b, a as the bits of floats (normalised and floating types), or as signed or
// unsigned integers. `texel` has bytes_per_texel(format) bytes, which is more than none.
void write_texel(ImageFormat format, const std::array<std::uint32_t, 4>& channels,
                 std::span<std::byte> texel);
[[nodiscard]] std::array<std::uint32_t, 4> read_texel(ImageFormat format,
                                                      std::span<const std::byte> texel);

}  // namespace ww::sim::gpu
