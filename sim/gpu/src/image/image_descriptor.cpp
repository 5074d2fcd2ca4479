// What a driver writes for images and samplers. Field positions: ww/sim/gpu/image.hpp's sources.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <vector>

#include "image/image_fields.hpp"
#include "image/image_format.hpp"
#include "ww/sim/gpu/image.hpp"

namespace ww::sim::gpu {
namespace {

using exec::TexelFormat;

constexpr std::uint64_t round_up_row(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

bool is_array(ImageKind kind) {
  return kind == ImageKind::image_1d_array || kind == ImageKind::image_2d_array;
}

bool is_flat(ImageKind kind) {
  return kind == ImageKind::image_1d || kind == ImageKind::image_1d_array ||
         kind == ImageKind::image_1d_buffer;
}

std::uint32_t resource_type(ImageKind kind) {
  switch (kind) {
    case ImageKind::image_1d: return exec::kResource1d;
    case ImageKind::image_1d_array: return exec::kResource1dArray;
    case ImageKind::image_2d: return exec::kResource2d;
    case ImageKind::image_2d_array: return exec::kResource2dArray;
    case ImageKind::image_3d: return exec::kResource3d;
    case ImageKind::image_1d_buffer: break;
  }
  return exec::kResourceBuffer;
}

Status check_size(const char* what, std::uint64_t value, std::uint64_t most) {
  if (value != 0 && value <= most) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("an image's {} is 1 to {} here, not {}", what, most, value));
}

Status check_layout(const ImageLayout& layout, std::uint32_t texel, std::uint64_t most_pitch) {
  const bool buffer = layout.kind == ImageKind::image_1d_buffer;
  WW_TRY(check_size("width", layout.width, buffer ? kMostImageBufferWidth : kMostImageWidth));
  WW_TRY(check_size("height", layout.height, is_flat(layout.kind) ? 1 : kMostImageHeight));
  WW_TRY(
      check_size("depth", layout.depth, layout.kind == ImageKind::image_3d ? kMostImageDepth : 1));
  WW_TRY(
      check_size("number of layers", layout.layers, is_array(layout.kind) ? kMostImageLayers : 1));
  const std::uint64_t alignment = buffer ? std::max(texel, 4U) : kImageAlignment;
  if (layout.address % alignment != 0 || layout.address >> 48 != 0) {
    return fail(ErrorCode::out_of_range,
                fmt::format("an image's address is a multiple of {} below 2^48, not {:#x}",
                            alignment, layout.address));
  }
  if (buffer) return {};
  if (layout.row_pitch % kImageRowAlignment != 0 ||
      layout.row_pitch < std::uint64_t{layout.width} * texel ||
      layout.row_pitch > most_pitch * texel) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a row pitch is a multiple of {} bytes, at least the row's {} and at "
                            "most {} texels, not {}",
                            kImageRowAlignment, std::uint64_t{layout.width} * texel, most_pitch,
                            layout.row_pitch));
  }
  if (layout.slice_pitch != layout.row_pitch * layout.height) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a slice pitch is row pitch times height, {} bytes, not {}",
                            layout.row_pitch * layout.height, layout.slice_pitch));
  }
  return {};
}

ImageDescriptor buffer_descriptor(const ImageLayout& layout, const TexelFormat& format,
                                  std::uint32_t texel) {
  ImageDescriptor words{};
  words[0] = static_cast<std::uint32_t>(layout.address);
  words[1] = static_cast<std::uint32_t>(layout.address >> 32) | texel << 16;  // stride
  words[2] = layout.width;                                                    // records
  words[3] = static_cast<std::uint32_t>(format.number) << 12 |
             static_cast<std::uint32_t>(format.data) << 15;
  return words;
}

ImageDescriptor texture_descriptor(const ImageLayout& layout, const TexelFormat& format,
                                   std::uint32_t texel, bool gfx7) {
  ImageDescriptor words{};
  const std::uint64_t address = layout.address / kImageAlignment;
  words[0] = static_cast<std::uint32_t>(address);
  words[1] = static_cast<std::uint32_t>(address >> 32) |
             static_cast<std::uint32_t>(format.data) << 20 |
             static_cast<std::uint32_t>(format.number) << 26;
  words[2] = (layout.width - 1) | (layout.height - 1) << 14;
  words[3] = (gfx7 ? exec::kLinearTilingIndex : exec::kLinearSwizzleMode) << 20 |
             resource_type(layout.kind) << 28;
  words[4] = (std::max(layout.depth, layout.layers) - 1) |
             static_cast<std::uint32_t>(layout.row_pitch / texel - 1) << 13;
  if (gfx7) words[5] = (layout.layers - 1) << 13;  // last_array
  return words;
}

}  // namespace

std::span<const ImageFormat> image_formats() {
  using enum ChannelOrder;
  using enum ChannelType;
  static constexpr ChannelOrder kOrders[] = {r,    rg,   ra, rgb,       rgba,
                                             bgra, argb, a,  intensity, luminance};
  static constexpr ChannelType kTypes[] = {
      snorm_int8,      snorm_int16,      unorm_int8,     unorm_int16,  unorm_short_555,
      unorm_short_565, unorm_int_101010, signed_int8,    signed_int16, signed_int32,
      unsigned_int8,   unsigned_int16,   unsigned_int32, half_float,   single_float};
  static const std::vector<ImageFormat> formats = [] {
    std::vector<ImageFormat> all;
    for (const ChannelOrder order : kOrders) {
      for (const ChannelType type : kTypes) {
        if (bytes_per_texel({order, type}) != 0) all.push_back({order, type});
      }
    }
    return all;
  }();
  return formats;
}

bool supported(ImageKind kind, ImageFormat format) {
  return bytes_per_texel(format) != 0 &&
         (kind != ImageKind::image_1d_buffer || (format.type != ChannelType::unorm_short_555 &&
                                                 format.type != ChannelType::unorm_short_565));
}

std::uint32_t bytes_per_texel(ImageFormat format) {
  const TexelFormat texel = exec::texel_format(format);
  return exec::texel_bytes(static_cast<std::uint32_t>(texel.data),
                           static_cast<std::uint32_t>(texel.number));
}

std::uint64_t image_row_pitch(ImageKind kind, ImageFormat format, std::uint32_t width) {
  const std::uint64_t row = std::uint64_t{width} * bytes_per_texel(format);
  return kind == ImageKind::image_1d_buffer ? row : round_up_row(row, kImageRowAlignment);
}

std::uint64_t image_bytes(const ImageLayout& layout) {
  return layout.row_pitch * layout.height * std::max(layout.depth, layout.layers);
}

Result<ImageDescriptor> image_descriptor(const ImageLayout& layout, std::string_view gfx_target) {
  const bool gfx7 = gfx_target == "gfx701";
  constexpr std::string_view kGfx9[] = {"gfx900", "gfx906", "gfx908", "gfx90a"};
  if (!gfx7 && std::ranges::find(kGfx9, gfx_target) == std::end(kGfx9)) {
    return fail(ErrorCode::unsupported, fmt::format("no image descriptors for {}", gfx_target));
  }
  if (!supported(layout.kind, layout.format)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("no image of this kind has channel order {} with channel type {}",
                    static_cast<int>(layout.format.order), static_cast<int>(layout.format.type)));
  }
  const TexelFormat format = exec::texel_format(layout.format);
  const std::uint32_t texel = bytes_per_texel(layout.format);
  WW_TRY(check_layout(layout, texel, gfx7 ? 16384 : 65536));
  ImageDescriptor words = layout.kind == ImageKind::image_1d_buffer
                              ? buffer_descriptor(layout, format, texel)
                              : texture_descriptor(layout, format, texel, gfx7);
  for (std::size_t i = 0; i < format.select.size(); ++i)
    words[3] |= std::uint32_t{format.select[i]} << 3 * i;
  words[8] = static_cast<std::uint32_t>(layout.format.type);
  words[9] = static_cast<std::uint32_t>(layout.format.order);
  words[10] = layout.width;
  return words;
}

SamplerDescriptor sampler_descriptor(bool normalized, Addressing addressing, Filter filter) {
  std::uint32_t clamp = exec::kClampBorder;
  switch (addressing) {
    case Addressing::none:
    case Addressing::clamp: break;
    case Addressing::clamp_to_edge: clamp = exec::kClampLastTexel; break;
    case Addressing::repeat: clamp = exec::kWrap; break;
    case Addressing::mirrored_repeat: clamp = exec::kMirror; break;
  }
  const std::uint32_t linear = filter == Filter::linear ? 1 : 0;
  // Beside what is named: no depth comparison ("never"), no wrapping of cubes, all levels of
  // detail.
  return {
      clamp * 0b001'001'001U | 3U << 12 | (normalized ? 0U : exec::kForceUnnormalized) | 1U << 28,
      0x00FF'F000U, linear << 20 | linear << 22, 0};
}

void write_texel(ImageFormat format, const std::array<std::uint32_t, 4>& channels,
                 std::span<std::byte> texel) {
  assert(texel.size() >= bytes_per_texel(format));
  exec::pack_texel(exec::texel_format(format), channels, texel.data());
}

std::array<std::uint32_t, 4> read_texel(ImageFormat format, std::span<const std::byte> texel) {
  assert(texel.size() >= bytes_per_texel(format));
  return exec::unpack_texel(exec::texel_format(format), texel.data());
}

}  // namespace ww::sim::gpu
