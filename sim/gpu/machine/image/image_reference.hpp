// Images as OpenCL 1.2 describes them, written down from its text for the tests alone: nothing here
// knows of descriptors, fields or fixed-point positions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ww/sim/gpu/image.hpp"

namespace ww::sim::gpu::test {

using Colour = std::array<double, 4>;  // integers too

inline bool is_integer(ChannelType type) {
  return type >= ChannelType::signed_int8 && type <= ChannelType::unsigned_int32;
}

// Bits of a channel; packed types by their name.
inline int channel_bits(ChannelType type) {
  switch (type) {
    case ChannelType::snorm_int8:
    case ChannelType::unorm_int8:
    case ChannelType::signed_int8:
    case ChannelType::unsigned_int8: return 8;
    case ChannelType::signed_int32:
    case ChannelType::unsigned_int32:
    case ChannelType::single_float: return 32;
    default: return 16;
  }
}

// Returns which of r, g, b, a each channel in memory is.
inline std::vector<int> channels_in_memory(ChannelOrder order) {
  switch (order) {
    case ChannelOrder::r:
    case ChannelOrder::intensity:
    case ChannelOrder::luminance: return {0};
    case ChannelOrder::a: return {3};
    case ChannelOrder::rg: return {0, 1};
    case ChannelOrder::ra: return {0, 3};
    case ChannelOrder::rgb: return {0, 1, 2};
    case ChannelOrder::rgba:
    case ChannelOrder::srgba: return {0, 1, 2, 3};
    case ChannelOrder::bgra: return {2, 1, 0, 3};
    case ChannelOrder::argb: return {3, 0, 1, 2};
  }
  return {};
}

inline double half_to_double(std::uint32_t half) {
  const double sign = (half & 0x8000U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(half >> 10 & 31U);
  const double fraction = (half & 1023U) / 1024.0;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -14);
  return sign * std::ldexp(1 + fraction, exponent - 15);
}

// 8.3.1 to 8.3.4, one channel.
inline double channel_value(std::uint32_t raw, ChannelType type, int bits) {
  const double all = std::pow(2.0, bits) - 1;
  const double half_range = std::pow(2.0, bits - 1);
  const double with_sign = raw >= half_range ? raw - std::pow(2.0, bits) : raw;
  switch (type) {
    case ChannelType::unorm_int8:
    case ChannelType::unorm_int16:
    case ChannelType::unorm_short_555:
    case ChannelType::unorm_short_565:
    case ChannelType::unorm_int_101010: return static_cast<float>(raw / all);
    case ChannelType::snorm_int8:
    case ChannelType::snorm_int16:
      return std::max(-1.0F, static_cast<float>(with_sign / (half_range - 1)));
    case ChannelType::signed_int8:
    case ChannelType::signed_int16:
    case ChannelType::signed_int32: return with_sign;
    case ChannelType::half_float: return half_to_double(raw);
    case ChannelType::single_float: {
      float value = 0;
      std::memcpy(&value, &raw, 4);
      return value;
    }
    default: return raw;
  }
}

// Shifts and widths of a packed type's red, green and blue.
inline std::array<std::array<int, 2>, 3> packed_places(ChannelType type) {
  if (type == ChannelType::unorm_short_565) return {{{11, 5}, {5, 6}, {0, 5}}};
  if (type == ChannelType::unorm_short_555) return {{{10, 5}, {5, 5}, {0, 5}}};
  return {{{20, 10}, {10, 10}, {0, 10}}};
}

inline Colour reference_read(ImageFormat format, const std::byte* texel) {
  Colour colour{0, 0, 0, 1};
  if (format.order == ChannelOrder::rgb) {
    std::uint32_t word = 0;
    std::memcpy(&word, texel, format.type == ChannelType::unorm_int_101010 ? 4 : 2);
    const auto places = packed_places(format.type);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [shift, bits] = places[i];
      colour[i] = channel_value(word >> shift & ((1U << bits) - 1), format.type, bits);
    }
    return colour;
  }
  const int bits = channel_bits(format.type);
  for (const int channel : channels_in_memory(format.order)) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, texel, static_cast<std::size_t>(bits / 8));
    texel += bits / 8;
    colour[static_cast<std::size_t>(channel)] = channel_value(raw, format.type, bits);
  }
  // 5.3.1.1: one value for three colours, or for all.
  if (format.order == ChannelOrder::luminance) colour = {colour[0], colour[0], colour[0], 1};
  if (format.order == ChannelOrder::intensity)
    colour = {colour[0], colour[0], colour[0], colour[0]};
  return colour;
}

// The texels outside: 6.12.14, by channel order.
inline Colour reference_border(ChannelOrder order) {
  const bool opaque = order == ChannelOrder::r || order == ChannelOrder::rg ||
                      order == ChannelOrder::rgb || order == ChannelOrder::luminance;
  return {0, 0, 0, opaque ? 1.0 : 0.0};
}

struct ReferenceImage {
  ImageFormat format{};
  int dimensions{};
  bool array{};
  std::array<int, 3> size{1, 1, 1};
  int layers{1};
  std::size_t row_pitch{}, slice_pitch{};
  const std::byte* bytes{};

  [[nodiscard]] Colour texel(std::array<int, 3> at, int layer) const {
    for (std::size_t i = 0; i < 3; ++i) {
      if (at[i] < 0 || at[i] >= size[i]) return reference_border(format.order);
    }
    // A one-dimensional array's layers are rows.
    const auto slice = static_cast<std::size_t>(array ? layer : at[2]);
    const std::size_t texel_size = bytes_per_texel(format);
    return reference_read(format, bytes + slice * slice_pitch +
                                      static_cast<std::size_t>(at[1]) * row_pitch +
                                      static_cast<std::size_t>(at[0]) * texel_size);
  }
};

// 8.2: one axis. Two texels and the part of the second; of nearest ones the first alone.
struct ReferenceAxis {
  int first{}, second{};
  double part{};
};

inline ReferenceAxis reference_axis(double s, int size, bool normalized, Addressing addressing,
                                    Filter filter) {
  const bool linear = filter == Filter::linear;
  double u = normalized ? s * size : s;
  if (addressing == Addressing::repeat) u = (s - std::floor(s)) * size;
  if (addressing == Addressing::mirrored_repeat) u = std::fabs(s - 2 * std::rint(0.5 * s)) * size;
  ReferenceAxis axis;
  axis.first = static_cast<int>(std::floor(linear ? u - 0.5 : u));
  axis.second = axis.first + 1;
  axis.part = linear ? u - 0.5 - std::floor(u - 0.5) : 0;
  for (int* i : {&axis.first, &axis.second}) {
    switch (addressing) {
      case Addressing::repeat:
        if (*i < 0) *i += size;
        if (*i > size - 1) *i -= size;
        break;
      case Addressing::mirrored_repeat:
      case Addressing::clamp_to_edge: *i = std::clamp(*i, 0, size - 1); break;
      default: break;  // the border's colour, found by texel()
    }
  }
  return axis;
}

inline Colour reference_sample(const ReferenceImage& image, std::array<float, 4> at,
                               bool normalized, Addressing addressing, Filter filter) {
  std::array<ReferenceAxis, 3> axis{};
  for (int i = 0; i < image.dimensions; ++i) {
    const auto n = static_cast<std::size_t>(i);
    axis[n] = reference_axis(at[n], image.size[n], normalized, addressing, filter);
  }
  const int layer =
      image.array
          ? std::clamp(static_cast<int>(std::rint(at[static_cast<std::size_t>(image.dimensions)])),
                       0, image.layers - 1)
          : 0;
  Colour sum{};
  for (int tap = 0; tap < 1 << image.dimensions; ++tap) {
    double weight = 1;
    std::array<int, 3> texel{};
    for (int i = 0; i < image.dimensions; ++i) {
      const ReferenceAxis& a = axis[static_cast<std::size_t>(i)];
      const bool second = (tap >> i & 1) != 0;
      weight *= second ? a.part : 1 - a.part;
      texel[static_cast<std::size_t>(i)] = second ? a.second : a.first;
    }
    if (weight == 0) continue;
    const Colour colour = image.texel(texel, layer);
    for (std::size_t i = 0; i < 4; ++i) sum[i] += weight * colour[i];
  }
  return sum;
}

}  // namespace ww::sim::gpu::test
