#include "machine/image/image_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "machine/isa/half_float.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::uint32_t kOne = 0x3F80'0000;  // 1.0f

struct FormatShape {
  std::uint8_t bytes{};
  std::array<std::uint8_t, 4> bits{};  // of x, y, z, w, from the lowest bit on
};

constexpr FormatShape format_shape(DataFormat format) {
  switch (format) {
    case DataFormat::f8: return {1, {8}};
    case DataFormat::f16: return {2, {16}};
    case DataFormat::f8_8: return {2, {8, 8}};
    case DataFormat::f32: return {4, {32}};
    case DataFormat::f16_16: return {4, {16, 16}};
    case DataFormat::f2_10_10_10: return {4, {10, 10, 10, 2}};
    case DataFormat::f8_8_8_8: return {4, {8, 8, 8, 8}};
    case DataFormat::f32_32: return {8, {32, 32}};
    case DataFormat::f16_16_16_16: return {8, {16, 16, 16, 16}};
    case DataFormat::f32_32_32_32: return {16, {32, 32, 32, 32}};
    case DataFormat::f5_6_5: return {2, {5, 6, 5}};
    case DataFormat::f1_5_5_5: return {2, {5, 5, 5, 1}};
  }
  return {};
}

std::uint32_t float_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

std::int32_t sign_extended(std::uint32_t value, unsigned bits) {
  const unsigned shift = 32 - bits;
  return static_cast<std::int32_t>(value << shift) >> shift;
}

// A colour's byte as light, in parts of the most. Source: IEC 61966-2-1; the hardware's rounding is
// not documented.
float linear_of_srgb(std::uint32_t byte) {
  const double colour = byte / 255.0;
  return static_cast<float>(colour <= 0.04045 ? colour / 12.92
                                              : std::pow((colour + 0.055) / 1.055, 2.4));
}

// OpenCL 1.2, 8.3.1.1: c / (2^bits - 1), and max(-1, c / (2^(bits-1) - 1)), correctly rounded.
std::uint32_t widened(std::uint32_t value, unsigned bits, NumberFormat number) {
  switch (number) {
    case NumberFormat::unorm:
      return float_bits(static_cast<float>(value) / static_cast<float>((1U << bits) - 1));
    case NumberFormat::snorm:
      return float_bits(std::max(-1.0F, static_cast<float>(sign_extended(value, bits)) /
                                            static_cast<float>((1U << (bits - 1)) - 1)));
    case NumberFormat::sint: return static_cast<std::uint32_t>(sign_extended(value, bits));
    case NumberFormat::uint: return value;
    case NumberFormat::floating: return bits == 16 ? float_bits(half_value(value)) : value;
    case NumberFormat::srgb: return float_bits(linear_of_srgb(value));
  }
  return 0;
}

// OpenCL 1.2, 8.3.1.1 (nearest even), 8.3.2 (nearest even for halves) and 8.3.4 (saturated).
std::uint32_t narrowed(std::uint32_t channel, unsigned bits, NumberFormat number) {
  const std::uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
  switch (number) {
    case NumberFormat::unorm: {
      const auto value = static_cast<double>(std::bit_cast<float>(channel)) * mask;
      // The comparison's order makes 0 of what is not a number.
      return value > 0 ? static_cast<std::uint32_t>(std::nearbyint(std::min<double>(value, mask)))
                       : 0U;
    }
    case NumberFormat::snorm: {
      const double most = mask >> 1;
      const double value = static_cast<double>(std::bit_cast<float>(channel)) * most;
      if (std::isnan(value)) return 0;
      return static_cast<std::uint32_t>(
                 static_cast<std::int32_t>(std::nearbyint(std::clamp(value, -most, most)))) &
             mask;
    }
    case NumberFormat::uint: return std::min(channel, mask);
    case NumberFormat::sint: {
      const auto most = static_cast<std::int32_t>(mask >> 1);
      return static_cast<std::uint32_t>(
                 std::clamp(static_cast<std::int32_t>(channel), -most - 1, most)) &
             mask;
    }
    case NumberFormat::floating: return bits == 16 ? float_as_half(channel) : channel;
    case NumberFormat::srgb: break;  // is not written
  }
  return 0;
}

std::uint32_t one(NumberFormat number) {
  return number == NumberFormat::uint || number == NumberFormat::sint ? 1U : kOne;
}

// All values of a byte, which would each be a division.
template <NumberFormat kNumber>
const std::array<std::uint32_t, 256>& widened_bytes() {
  static const auto table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = widened(i, 8, kNumber);
    return values;
  }();
  return table;
}

Channels select(const TexelFormat& format, const Channels& components) {
  constexpr std::array<std::uint8_t, 4> kInOrder{kSelectX, kSelectX + 1, kSelectX + 2,
                                                 kSelectX + 3};
  if (format.select == kInOrder) return components;
  Channels channels{};
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::uint8_t source = format.select[i];
    if (source >= kSelectX) {
      channels[i] = components[source - kSelectX];
    } else if (source == kSelectOne) {
      channels[i] = one(format.number);
    }
  }
  return channels;
}

}  // namespace

std::uint32_t float_as_half(std::uint32_t bits) {
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
  constexpr std::uint32_t kInfinite = 0x7F80'0000U;
  constexpr std::uint32_t kTooLarge = 0x477F'F000U;  // halfway from the greatest half to 2^16
  constexpr std::uint32_t kNormal = 0x3880'0000U;    // 2^-14
  if (magnitude > kInfinite) return sign | 0x7E00U;
  if (magnitude >= kTooLarge) return sign | 0x7C00U;
  if (magnitude < kNormal) {
    return sign | static_cast<std::uint32_t>(
                      std::nearbyint(std::bit_cast<float>(magnitude) * 16777216.0F));
  }
  return sign | (((magnitude + 0xFFFU + (magnitude >> 13 & 1U)) >> 13) - (112U << 10));
}

std::uint32_t half_as_float(std::uint32_t half) {
  return float_bits(half_value(half));
}

std::uint32_t texel_bytes(std::uint32_t data, std::uint32_t number) {
  const FormatShape shape = format_shape(static_cast<DataFormat>(data));
  const unsigned bits = shape.bits[0];
  switch (static_cast<NumberFormat>(number)) {
    case NumberFormat::unorm: return bits < 32 ? shape.bytes : 0U;
    case NumberFormat::snorm: return bits == 8 || bits == 16 ? shape.bytes : 0U;
    case NumberFormat::uint:
    case NumberFormat::sint: return bits >= 8 && bits != 10 ? shape.bytes : 0U;
    case NumberFormat::floating: return bits >= 16 ? shape.bytes : 0U;
    case NumberFormat::srgb:
      return static_cast<DataFormat>(data) == DataFormat::f8_8_8_8 ? shape.bytes : 0U;
  }
  return 0;
}

namespace {

struct CombinedFormat {
  DataFormat data;
  NumberFormat number;
  std::uint8_t gfx10, gfx11;
};

// Up to 127 as LLVM assembles a buffer's format (BUF_FMT_...); the others, which only images have,
// as AMD's ROCR-Runtime has them (resource_nv.h, resource_gfx11.h).
constexpr CombinedFormat kCombined[] = {
    {DataFormat::f8, NumberFormat::unorm, 1, 1},
    {DataFormat::f8, NumberFormat::snorm, 2, 2},
    {DataFormat::f8, NumberFormat::uint, 5, 5},
    {DataFormat::f8, NumberFormat::sint, 6, 6},
    {DataFormat::f16, NumberFormat::unorm, 7, 7},
    {DataFormat::f16, NumberFormat::snorm, 8, 8},
    {DataFormat::f16, NumberFormat::uint, 11, 11},
    {DataFormat::f16, NumberFormat::sint, 12, 12},
    {DataFormat::f16, NumberFormat::floating, 13, 13},
    {DataFormat::f8_8, NumberFormat::unorm, 14, 14},
    {DataFormat::f8_8, NumberFormat::snorm, 15, 15},
    {DataFormat::f8_8, NumberFormat::uint, 18, 18},
    {DataFormat::f8_8, NumberFormat::sint, 19, 19},
    {DataFormat::f32, NumberFormat::uint, 20, 20},
    {DataFormat::f32, NumberFormat::sint, 21, 21},
    {DataFormat::f32, NumberFormat::floating, 22, 22},
    {DataFormat::f16_16, NumberFormat::unorm, 23, 23},
    {DataFormat::f16_16, NumberFormat::snorm, 24, 24},
    {DataFormat::f16_16, NumberFormat::uint, 27, 27},
    {DataFormat::f16_16, NumberFormat::sint, 28, 28},
    {DataFormat::f16_16, NumberFormat::floating, 29, 29},
    {DataFormat::f2_10_10_10, NumberFormat::unorm, 50, 36},
    {DataFormat::f8_8_8_8, NumberFormat::unorm, 56, 42},
    {DataFormat::f8_8_8_8, NumberFormat::snorm, 57, 43},
    {DataFormat::f8_8_8_8, NumberFormat::uint, 60, 46},
    {DataFormat::f8_8_8_8, NumberFormat::sint, 61, 47},
    {DataFormat::f32_32, NumberFormat::uint, 62, 48},
    {DataFormat::f32_32, NumberFormat::sint, 63, 49},
    {DataFormat::f32_32, NumberFormat::floating, 64, 50},
    {DataFormat::f16_16_16_16, NumberFormat::unorm, 65, 51},
    {DataFormat::f16_16_16_16, NumberFormat::snorm, 66, 52},
    {DataFormat::f16_16_16_16, NumberFormat::uint, 69, 55},
    {DataFormat::f16_16_16_16, NumberFormat::sint, 70, 56},
    {DataFormat::f16_16_16_16, NumberFormat::floating, 71, 57},
    {DataFormat::f32_32_32_32, NumberFormat::uint, 75, 61},
    {DataFormat::f32_32_32_32, NumberFormat::sint, 76, 62},
    {DataFormat::f32_32_32_32, NumberFormat::floating, 77, 63},
    {DataFormat::f8_8_8_8, NumberFormat::srgb, 130, 130},
    {DataFormat::f5_6_5, NumberFormat::unorm, 133, 133},
    {DataFormat::f1_5_5_5, NumberFormat::unorm, 134, 134},
};

std::uint32_t number_of(const CombinedFormat& format, CombinedFormats numbers) {
  return numbers == CombinedFormats::gfx10 ? format.gfx10 : format.gfx11;
}

}  // namespace

std::uint32_t combined_format(const TexelFormat& format, CombinedFormats numbers) {
  const auto* const found = std::ranges::find_if(kCombined, [&format](const CombinedFormat& entry) {
    return entry.data == format.data && entry.number == format.number;
  });
  return found == std::end(kCombined) ? 0 : number_of(*found, numbers);
}

TexelFormat split_format(std::uint32_t combined, CombinedFormats numbers) {
  const auto* const found = std::ranges::find_if(kCombined, [&](const CombinedFormat& entry) {
    return number_of(entry, numbers) == combined;
  });
  return found == std::end(kCombined) ? TexelFormat{} : TexelFormat{found->data, found->number, {}};
}

TexelFormat texel_format(ImageFormat format) {
  static constexpr std::uint8_t kX = kSelectX, kY = kX + 1, kZ = kX + 2, kW = kX + 3;
  static constexpr std::uint8_t k0 = kSelectZero, k1 = kSelectOne;
  TexelFormat result;
  unsigned components = 1;
  bool bytes_only = false;
  bool fractions_only = false;
  switch (format.order) {
    case ChannelOrder::a: result.select = {k0, k0, k0, kX}; break;
    case ChannelOrder::r: result.select = {kX, k0, k0, k1}; break;
    case ChannelOrder::intensity:
      result.select = {kX, kX, kX, kX};
      fractions_only = true;
      break;
    case ChannelOrder::luminance:
      result.select = {kX, kX, kX, k1};
      fractions_only = true;
      break;
    case ChannelOrder::rg:
      result.select = {kX, kY, k0, k1};
      components = 2;
      break;
    case ChannelOrder::ra:
      result.select = {kX, k0, k0, kY};
      components = 2;
      break;
    case ChannelOrder::rgb:
      result.select = {kZ, kY, kX, k1};
      components = 3;
      break;
    case ChannelOrder::rgba:
      result.select = {kX, kY, kZ, kW};
      components = 4;
      break;
    case ChannelOrder::srgba:
      if (format.type != ChannelType::unorm_int8) return {};
      return {DataFormat::f8_8_8_8, NumberFormat::srgb, {kX, kY, kZ, kW}};
    case ChannelOrder::bgra:
      result.select = {kZ, kY, kX, kW};
      components = 4;
      bytes_only = true;
      break;
    case ChannelOrder::argb:
      result.select = {kY, kZ, kW, kX};
      components = 4;
      bytes_only = true;
      break;
    default: return {};
  }
  if (components == 3) {
    result.number = NumberFormat::unorm;
    switch (format.type) {
      case ChannelType::unorm_short_555: result.data = DataFormat::f1_5_5_5; return result;
      case ChannelType::unorm_short_565: result.data = DataFormat::f5_6_5; return result;
      case ChannelType::unorm_int_101010: result.data = DataFormat::f2_10_10_10; return result;
      default: return {};
    }
  }
  unsigned bits = 8;
  switch (format.type) {
    case ChannelType::unorm_int16: bits = 16; [[fallthrough]];
    case ChannelType::unorm_int8: result.number = NumberFormat::unorm; break;
    case ChannelType::snorm_int16: bits = 16; [[fallthrough]];
    case ChannelType::snorm_int8: result.number = NumberFormat::snorm; break;
    case ChannelType::signed_int8: result.number = NumberFormat::sint; break;
    case ChannelType::signed_int16: bits = 16, result.number = NumberFormat::sint; break;
    case ChannelType::signed_int32: bits = 32, result.number = NumberFormat::sint; break;
    case ChannelType::unsigned_int8: result.number = NumberFormat::uint; break;
    case ChannelType::unsigned_int16: bits = 16, result.number = NumberFormat::uint; break;
    case ChannelType::unsigned_int32: bits = 32, result.number = NumberFormat::uint; break;
    case ChannelType::half_float: bits = 16, result.number = NumberFormat::floating; break;
    case ChannelType::single_float: bits = 32, result.number = NumberFormat::floating; break;
    default: return {};
  }
  const bool integers = result.number == NumberFormat::uint || result.number == NumberFormat::sint;
  if ((bytes_only && bits != 8) || (fractions_only && integers)) return {};
  static constexpr DataFormat kOf[3][3] = {
      {DataFormat::f8, DataFormat::f16, DataFormat::f32},
      {DataFormat::f8_8, DataFormat::f16_16, DataFormat::f32_32},
      {DataFormat::f8_8_8_8, DataFormat::f16_16_16_16, DataFormat::f32_32_32_32}};
  result.data = kOf[components / 2][bits / 16];
  return result;
}

Channels unpack_texel(const TexelFormat& format, const std::byte* texel) {
  const FormatShape shape = format_shape(format.data);
  Channels words{};
  std::memcpy(words.data(), texel, shape.bytes);
  if (shape.bits[0] == 32) return select(format, words);  // as they are
  Channels components{};
  const bool fractions_of_bytes = shape.bits[0] == 8 && (format.number == NumberFormat::unorm ||
                                                         format.number == NumberFormat::snorm);
  if (fractions_of_bytes) {
    const auto& table = format.number == NumberFormat::unorm ? widened_bytes<NumberFormat::unorm>()
                                                             : widened_bytes<NumberFormat::snorm>();
    for (std::size_t i = 0; i < shape.bytes; ++i) components[i] = table[words[0] >> 8 * i & 0xFFU];
    return select(format, components);
  }
  if (format.number == NumberFormat::srgb) {
    const auto& colours = widened_bytes<NumberFormat::srgb>();
    for (std::size_t i = 0; i < 3; ++i) components[i] = colours[words[0] >> 8 * i & 0xFFU];
    components[3] = widened_bytes<NumberFormat::unorm>()[words[0] >> 24];
    return select(format, components);
  }
  unsigned at = 0;
  for (std::size_t i = 0; i < components.size() && shape.bits[i] != 0; ++i) {
    const unsigned bits = shape.bits[i];
    const std::uint32_t word = words[at / 32] >> at % 32;
    components[i] = widened(word & ((1U << bits) - 1), bits, format.number);
    at += bits;
  }
  return select(format, components);
}

Channels border_channels(const TexelFormat& format) {
  return select(format, {});
}

Channels opaque_border_channels(const TexelFormat& format, std::size_t alpha) {
  Channels components{};
  components[alpha] = one(format.number);
  return select(format, components);
}

void pack_texel(const TexelFormat& format, const Channels& channels, std::byte* texel) {
  const FormatShape shape = format_shape(format.data);
  Channels words{};
  unsigned at = 0;
  for (std::size_t i = 0; i < channels.size() && shape.bits[i] != 0; ++i) {
    const unsigned bits = shape.bits[i];
    const auto* const from = std::find(format.select.begin(), format.select.end(),
                                       static_cast<std::uint8_t>(kSelectX + i));
    if (from != format.select.end()) {
      const auto channel = static_cast<std::size_t>(from - format.select.begin());
      words[at / 32] |= narrowed(channels[channel], bits, format.number) << at % 32;
    }
    at += bits;
  }
  std::memcpy(texel, words.data(), shape.bytes);
}

}  // namespace ww::sim::gpu::exec
