#include "machine/image/image_resource.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "machine/image/image_fields.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1U << count) - 1);
}

tl::unexpected<Error> unsupported(std::string what) {
  return fail(ErrorCode::unsupported, std::move(what));
}

// Adds the selects of channels, which every descriptor has in its word 3.
TypedBuffer with_selects(TypedBuffer format, std::uint32_t selects) {
  for (unsigned i = 0; i < 4; ++i) {
    format.format.select[i] = static_cast<std::uint8_t>(bits(selects, 3 * i, 3));
  }
  return format;
}

Result<TypedBuffer> read_format(std::uint32_t data, std::uint32_t number, std::uint32_t selects) {
  TypedBuffer result;
  result.texel_bytes = texel_bytes(data, number);
  if (result.texel_bytes == 0) {
    return unsupported(fmt::format(
        "the virtual GPU has no images of data format {} and number format {}", data, number));
  }
  result.format.data = static_cast<DataFormat>(data);
  result.format.number = static_cast<NumberFormat>(number);
  return with_selects(result, selects);
}

Result<TypedBuffer> read_combined(std::uint32_t combined, Isa isa, std::uint32_t selects) {
  TypedBuffer result;
  result.format =
      split_format(combined, isa == Isa::gfx1030 ? CombinedFormats::gfx10 : CombinedFormats::gfx11);
  if (result.format.data == DataFormat{}) {
    return unsupported(fmt::format("the virtual GPU has no images of format {}", combined));
  }
  result.texel_bytes = texel_bytes(static_cast<std::uint32_t>(result.format.data),
                                   static_cast<std::uint32_t>(result.format.number));
  return with_selects(result, selects);
}

// Reads format, sizes and pitch as gfx7 and gfx9 have them. The depth is known already.
Status read_shape(const std::uint32_t* words, bool gfx7, ImageResource& image) {
  WW_ASSIGN(texel, read_format(bits(words[1], 20, 6), bits(words[1], 26, 4), words[3]));
  image.format = texel.format;
  image.texel_bytes = texel.texel_bytes;
  image.size[0] = bits(words[2], 0, 14) + 1;
  const std::uint32_t pitch = bits(words[4], 13, gfx7 ? 14 : 16) + 1;
  image.row_bytes = std::uint64_t{pitch} * image.texel_bytes;
  return {};
}

// Reads format, sizes and pitch of RDNA. Only an image of one slice has a pitch of its own.
Status read_rdna_shape(const std::uint32_t* words, Isa isa, ImageResource& image) {
  WW_ASSIGN(texel, read_combined(bits(words[1], 20, isa == Isa::gfx1030 ? 9 : 8), isa, words[3]));
  image.format = texel.format;
  image.texel_bytes = texel.texel_bytes;
  image.size[0] = (bits(words[1], 30, 2) | bits(words[2], 0, 12) << 2) + 1;
  const std::uint32_t border = bits(words[3], 25, 3);
  if (border >= std::size(kBorderAlpha)) {
    return unsupported(fmt::format("the virtual GPU has no border of order {}", border));
  }
  image.border_alpha = kBorderAlpha[border];
  const bool has_pitch = !image.array && image.dimensions < 3;
  image.row_bytes = has_pitch ? (std::uint64_t{bits(words[4], 0, 14)} + 1) * image.texel_bytes
                              : round_up_row(std::uint64_t{image.size[0]} * image.texel_bytes);
  return {};
}

}  // namespace

Result<ImageResource> read_resource(const std::uint32_t* words, Isa isa) {
  const bool gfx7 = isa == Isa::gfx7;
  ImageResource image;
  switch (const std::uint32_t type = bits(words[3], 28, 4)) {
    case kResource1d: image.dimensions = 1; break;
    case kResource2d: image.dimensions = 2; break;
    case kResource3d: image.dimensions = 3; break;
    case kResource1dArray: image.dimensions = 1, image.array = true; break;
    case kResource2dArray: image.dimensions = 2, image.array = true; break;
    default:
      return unsupported(fmt::format(
          "an image instruction on a descriptor of type {}, which is no image of OpenCL", type));
  }
  WW_TRY(is_rdna(isa) ? read_rdna_shape(words, isa, image) : read_shape(words, gfx7, image));
  const std::uint32_t tiling = bits(words[3], 20, 5);
  if (tiling != (gfx7 ? kLinearTilingIndex : kLinearSwizzleMode)) {
    return unsupported(fmt::format("the virtual GPU has no images of tiling mode {}", tiling));
  }
  if (bits(words[3], 12, 4) != 0 || bits(words[6], 21, 1) != 0) {
    return unsupported("the virtual GPU has no levels of detail and no compressed images");
  }
  if (image.dimensions > 1) image.size[1] = bits(words[2], 14, 14) + 1;
  const std::uint32_t depth = bits(words[4], 0, 13) + 1;
  if (image.dimensions == 3) image.size[2] = depth;
  image.slice_bytes = image.row_bytes * image.size[1];
  image.base = (words[0] | std::uint64_t{bits(words[1], 0, 8)} << 32) * kImageAlignment;
  if (image.array) {
    const std::uint32_t first = is_rdna(isa) ? bits(words[4], 16, 13) : bits(words[5], 0, 13);
    const std::uint32_t last = gfx7 ? bits(words[5], 13, 13) : depth - 1;
    image.base += first * image.slice_bytes;
    image.layers = std::max(first, last) - first + 1;
  }
  return image;
}

Result<ImageSampler> read_sampler(const std::uint32_t* words, Isa isa) {
  constexpr std::uint32_t kBilinear = 1;
  constexpr std::uint32_t kZFollows = 0, kZLinear = 2;  // "none" is as x and y
  ImageSampler sampler;
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint32_t clamp = bits(words[0], 3 * i, 3);
    if (clamp != kWrap && clamp != kMirror && clamp != kClampLastTexel && clamp != kClampBorder) {
      return unsupported(fmt::format("the virtual GPU has no sampler that clamps as {}", clamp));
    }
    sampler.clamp[i] = clamp;
  }
  if (const std::uint32_t border = bits(words[3], 30, 2); border != kTransparentBorder) {
    sampler.opaque_border = is_rdna(isa) && border == kOpaqueBorder;
    if (!sampler.opaque_border)
      return unsupported(fmt::format("the virtual GPU has no border colour of type {}", border));
  }
  sampler.unnormalized = (words[0] & kForceUnnormalized) != 0;
  sampler.linear = (bits(words[2], 20, 2) & kBilinear) != 0;
  const std::uint32_t z = bits(words[2], 24, 2);
  sampler.linear_between_slices = z == kZLinear || (z == kZFollows && sampler.linear);
  return sampler;
}

Result<TypedBuffer> read_typed_buffer(const std::uint32_t* words, Isa isa) {
  if (is_rdna(isa)) {
    return read_combined(bits(words[3], 12, isa == Isa::gfx1030 ? 7 : 6), isa, words[3]);
  }
  return read_format(bits(words[3], 15, 4), bits(words[3], 12, 3), words[3]);
}

}  // namespace ww::sim::gpu::exec
