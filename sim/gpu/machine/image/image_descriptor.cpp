// Writes image and sampler descriptors as a driver does. Fields: ww/sim/gpu/image.hpp's sources.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <vector>

#include "machine/image/image_fields.hpp"
#include "machine/image/image_format.hpp"
#include "ww/sim/gpu/image.hpp"

namespace ww::sim::gpu {
namespace {

using exec::TexelFormat;

// Instruction sets by their descriptors.
enum class Layouts : std::uint8_t { gfx7, gfx9, gfx10, gfx11 };

bool is_rdna(Layouts layouts) {
  return layouts >= Layouts::gfx10;
}

Result<Layouts> layouts_of(std::string_view gfx_target) {
  if (gfx_target == "gfx701") return Layouts::gfx7;
  if (gfx_target == "gfx1030") return Layouts::gfx10;
  if (gfx_target == "gfx1100") return Layouts::gfx11;
  constexpr std::string_view kGfx9[] = {"gfx900", "gfx906", "gfx908", "gfx90a"};
  if (std::ranges::find(kGfx9, gfx_target) != std::end(kGfx9)) return Layouts::gfx9;
  return fail(ErrorCode::unsupported, fmt::format("no image descriptors for {}", gfx_target));
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

// RDNA's arrays and volumes have no pitch of their own.
bool has_pitch(ImageKind kind, Layouts layouts) {
  return !is_rdna(layouts) || (!is_array(kind) && kind != ImageKind::image_3d);
}

Status check_layout(const ImageLayout& layout, std::uint32_t texel, Layouts layouts) {
  const std::uint64_t most_pitch = layouts == Layouts::gfx9 ? 65536 : 16384;
  const bool buffer = layout.kind == ImageKind::image_1d_buffer;
  WW_TRY(check_size("width", layout.width, buffer ? kMaxImageBufferWidth : kMaxImageWidth));
  WW_TRY(check_size("height", layout.height, is_flat(layout.kind) ? 1 : kMaxImageHeight));
  WW_TRY(
      check_size("depth", layout.depth, layout.kind == ImageKind::image_3d ? kMaxImageDepth : 1));
  WW_TRY(
      check_size("number of layers", layout.layers, is_array(layout.kind) ? kMaxImageLayers : 1));
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
  if (!has_pitch(layout.kind, layouts) &&
      layout.row_pitch != exec::round_up_row(std::uint64_t{layout.width} * texel)) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("arrays and volumes have rows of {} bytes here, not {}",
                    exec::round_up_row(std::uint64_t{layout.width} * texel), layout.row_pitch));
  }
  if (layout.slice_pitch != layout.row_pitch * layout.height) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a slice pitch is row pitch times height, {} bytes, not {}",
                            layout.row_pitch * layout.height, layout.slice_pitch));
  }
  return {};
}

std::uint32_t combined(const TexelFormat& format, Layouts layouts) {
  return exec::combined_format(format, layouts == Layouts::gfx10 ? exec::CombinedFormats::gfx10
                                                                 : exec::CombinedFormats::gfx11);
}

ImageDescriptor buffer_descriptor(const ImageLayout& layout, const TexelFormat& format,
                                  std::uint32_t texel, Layouts layouts) {
  ImageDescriptor words{};
  words[0] = static_cast<std::uint32_t>(layout.address);
  words[1] = static_cast<std::uint32_t>(layout.address >> 32) | texel << 16;  // stride
  words[2] = layout.width;                                                    // records
  if (is_rdna(layouts)) {
    words[3] = combined(format, layouts) << 12 |
               (layouts == Layouts::gfx10 ? exec::kBufferResourceLevel : 0);
  } else {
    words[3] = static_cast<std::uint32_t>(format.number) << 12 |
               static_cast<std::uint32_t>(format.data) << 15;
  }
  return words;
}

ImageDescriptor texture_descriptor(const ImageLayout& layout, const TexelFormat& format,
                                   std::uint32_t texel, Layouts layouts) {
  const bool gfx7 = layouts == Layouts::gfx7;
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

// BC_SWIZZLE, which leads a border's alpha to the component that the channels take theirs from: as
// AMD's ROCR-Runtime chooses it (image_manager_nv.cpp).
std::uint32_t border_order(const TexelFormat& format) {
  constexpr std::uint8_t kY = exec::kSelectX + 1;
  constexpr std::uint32_t kXyzw = 0, kXwyz = 1, kWzyx = 2, kWxyz = 3, kZyxw = 4, kYxwz = 5;
  const auto& [red, green, blue, alpha] = format.select;
  constexpr auto kX = exec::kSelectX;
  if (alpha == kX) {
    if (blue == kY) return kWzyx;
    return red == kX && green == kX && blue == kX ? kXyzw : kWxyz;
  }
  if (red == kX) {
    const bool grey = green == kX && blue == kX && alpha == kX + 3;
    return green == kY || grey ? kXyzw : kXwyz;
  }
  if (green == kX) return kYxwz;
  return blue == kX ? kZyxw : kXyzw;
}

ImageDescriptor rdna_descriptor(const ImageLayout& layout, const TexelFormat& format,
                                std::uint32_t texel, Layouts layouts) {
  ImageDescriptor words{};
  const std::uint64_t address = layout.address / kImageAlignment;
  words[0] = static_cast<std::uint32_t>(address);
  words[1] = static_cast<std::uint32_t>(address >> 32) | combined(format, layouts) << 20 |
             (layout.width - 1) << 30;
  words[2] = (layout.width - 1) >> 2 | (layout.height - 1) << 14 |
             (layouts == Layouts::gfx10 ? exec::kImageResourceLevel : 0);
  words[3] = exec::kLinearSwizzleMode << 20 | border_order(format) << 25 |
             resource_type(layout.kind) << 28;
  words[4] = has_pitch(layout.kind, layouts)
                 ? static_cast<std::uint32_t>(layout.row_pitch / texel - 1)
                 : std::max(layout.depth, layout.layers) - 1;
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
  static const std::vector<ImageFormat>& formats = *[] {
    auto* const all = new std::vector<ImageFormat>;
    for (const ChannelOrder order : kOrders) {
      for (const ChannelType type : kTypes) {
        if (bytes_per_texel({order, type}) != 0) all->push_back({order, type});
      }
    }
    return all;
  }();
  return formats;
}

bool supported(ImageKind kind, ImageFormat format) {
  return bytes_per_texel(format) != 0 &&
         (kind != ImageKind::image_1d_buffer ||
          (format.type != ChannelType::unorm_short_555 &&
           format.type != ChannelType::unorm_short_565 && format.order != ChannelOrder::srgba));
}

std::uint32_t bytes_per_texel(ImageFormat format) {
  const TexelFormat texel = exec::texel_format(format);
  return exec::texel_bytes(static_cast<std::uint32_t>(texel.data),
                           static_cast<std::uint32_t>(texel.number));
}

std::uint64_t image_row_pitch(ImageKind kind, ImageFormat format, std::uint32_t width) {
  const std::uint64_t row = std::uint64_t{width} * bytes_per_texel(format);
  return kind == ImageKind::image_1d_buffer ? row : exec::round_up_row(row);
}

std::uint64_t image_bytes(const ImageLayout& layout) {
  return layout.row_pitch * layout.height * std::max(layout.depth, layout.layers);
}

Result<ImageDescriptor> image_descriptor(const ImageLayout& layout, std::string_view gfx_target) {
  WW_ASSIGN(layouts, layouts_of(gfx_target));
  if (!supported(layout.kind, layout.format)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("no image of this kind has channel order {} with channel type {}",
                    static_cast<int>(layout.format.order), static_cast<int>(layout.format.type)));
  }
  const TexelFormat format = exec::texel_format(layout.format);
  const std::uint32_t texel = bytes_per_texel(layout.format);
  WW_TRY(check_layout(layout, texel, layouts));
  ImageDescriptor words = layout.kind == ImageKind::image_1d_buffer
                              ? buffer_descriptor(layout, format, texel, layouts)
                          : is_rdna(layouts) ? rdna_descriptor(layout, format, texel, layouts)
                                             : texture_descriptor(layout, format, texel, layouts);
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
