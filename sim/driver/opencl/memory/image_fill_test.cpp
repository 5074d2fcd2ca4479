#include "image_fixture.hpp"

#include <cmath>
#include <cstring>
#include <map>

namespace ww::sim::driver::image_fill_test {
namespace {

// Computes a colour's elements, by arithmetic of the test's own.

// Nearest even, as the conversion functions _sat_rte do.
double to_steps(double value, double most, double least) {
  return std::isnan(value) ? 0 : std::nearbyint(std::clamp(value * most, least, most));
}

double half_value(unsigned bits) {
  const unsigned exponent = bits >> 10 & 31;
  const double mantissa = bits & 1023;
  const double size = exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                      : exponent == 0
                          ? std::ldexp(mantissa, -24)
                          : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// The half that is nearest, even where two are: found by trying all.
unsigned nearest_half(float value) {
  if (std::isnan(value)) return 0x7e00;
  unsigned best = 0;
  for (unsigned bits = 0; bits <= 0x7c00; ++bits) {
    // Infinity takes the place of 65536 in rounding.
    const auto at = [](unsigned h) { return h == 0x7c00 ? 65536.0 : half_value(h); };
    const double size = std::min(65536.0, static_cast<double>(std::fabs(value)));
    const double distance = std::fabs(at(bits) - size);
    const double so_far = std::fabs(at(best) - size);
    if (distance < so_far || (distance == so_far && bits % 2 == 0)) best = bits;
  }
  return best | (std::signbit(value) ? 0x8000U : 0U);
}

struct Colour {
  float real[4];
  cl_int whole[4];
};

const std::vector<unsigned>& components(cl_channel_order order) {
  static const std::map<cl_channel_order, std::vector<unsigned>> all{{CL_R, {0}},
                                                                     {CL_A, {3}},
                                                                     {CL_INTENSITY, {0}},
                                                                     {CL_LUMINANCE, {0}},
                                                                     {CL_RG, {0, 1}},
                                                                     {CL_RA, {0, 3}},
                                                                     {CL_RGB, {0, 1, 2}},
                                                                     {CL_RGBA, {0, 1, 2, 3}},
                                                                     {CL_BGRA, {2, 1, 0, 3}},
                                                                     {CL_ARGB, {3, 0, 1, 2}}};
  return all.at(order);
}

Bytes element(const cl_image_format& format, const Colour& colour) {
  Bytes bytes;
  const auto put = [&](auto value) {
    unsigned char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  };
  const auto steps = [&](unsigned c, double most, double least) {
    return static_cast<std::int64_t>(to_steps(colour.real[c], most, least));
  };
  const cl_channel_type type = format.image_channel_data_type;
  switch (type) {
    case CL_UNORM_SHORT_565:
      put(static_cast<cl_ushort>(steps(0, 31, 0) << 11 | steps(1, 63, 0) << 5 | steps(2, 31, 0)));
      return bytes;
    case CL_UNORM_SHORT_555:
      put(static_cast<cl_ushort>(steps(0, 31, 0) << 10 | steps(1, 31, 0) << 5 | steps(2, 31, 0)));
      return bytes;
    case CL_UNORM_INT_101010:
      put(static_cast<cl_uint>(steps(0, 1023, 0) << 20 | steps(1, 1023, 0) << 10 |
                               steps(2, 1023, 0)));
      return bytes;
    default: break;
  }
  for (const unsigned c : components(format.image_channel_order)) {
    const std::int64_t whole = colour.whole[c];
    const std::int64_t natural = static_cast<cl_uint>(colour.whole[c]);
    const auto within = [](std::int64_t value, std::int64_t least, std::int64_t most) {
      return std::clamp(value, least, most);
    };
    switch (type) {
      case CL_UNORM_INT8: put(static_cast<cl_uchar>(steps(c, 255, 0))); break;
      case CL_UNORM_INT16: put(static_cast<cl_ushort>(steps(c, 65535, 0))); break;
      case CL_SNORM_INT8: put(static_cast<cl_char>(steps(c, 127, -127))); break;
      case CL_SNORM_INT16: put(static_cast<cl_short>(steps(c, 32767, -32767))); break;
      case CL_SIGNED_INT8: put(static_cast<cl_char>(within(whole, -128, 127))); break;
      case CL_SIGNED_INT16: put(static_cast<cl_short>(within(whole, -32768, 32767))); break;
      case CL_SIGNED_INT32: put(colour.whole[c]); break;
      case CL_UNSIGNED_INT8: put(static_cast<cl_uchar>(within(natural, 0, 255))); break;
      case CL_UNSIGNED_INT16: put(static_cast<cl_ushort>(within(natural, 0, 65535))); break;
      case CL_UNSIGNED_INT32: put(colour.whole[c]); break;
      case CL_HALF_FLOAT: put(static_cast<cl_half>(nearest_half(colour.real[c]))); break;
      default: put(colour.real[c]);
    }
  }
  return bytes;
}

bool takes_integers(cl_channel_type type) {
  return type >= CL_SIGNED_INT8 && type <= CL_UNSIGNED_INT32;
}

TEST_F(ImageTest, FillsBecomeElementsOfEveryFormat) {
  const Colour colours[] = {
      {{0, 0.25F, 0.5F, 1}, {0, 1, 127, 255}},
      {{0.1F, 0.7F, 0.00196F, 0.99999F}, {-1, 128, -129, 256}},
      {{-0.3F, 1.5F, -2, 70000}, {INT32_MAX, INT32_MIN, 65536, -32769}},
      {{0.501961F, 1.0F / 3, 6e-5F, 65519}, {3, 200, 40000, 32768}},
  };
  const Kind& kind = kKinds[3];
  const auto formats = supported_formats(kind.type);
  ASSERT_FALSE(formats.empty());
  for (const cl_image_format& format : formats) {
    cl_mem made = image(kind, format);
    for (const Colour& colour : colours) {
      SCOPED_TRACE(::testing::Message() << std::hex << format.image_channel_order << ' '
                                        << format.image_channel_data_type << ' ' << colour.real[0]);
      const Bytes one = element(format, colour);
      ASSERT_EQ(info<std::size_t>(made, CL_IMAGE_ELEMENT_SIZE), one.size());
      Picture want{kind.sides, one.size()};
      write(made, {}, kind.sides, want.bytes);
      const auto [origin, region] = inner_part(kind.sides);
      const bool integers = takes_integers(format.image_channel_data_type);
      ASSERT_EQ(cl.clEnqueueFillImage(queue, made,
                                      integers ? static_cast<const void*>(colour.whole)
                                               : static_cast<const void*>(colour.real),
                                      origin.data(), region.data(), 0, nullptr, nullptr),
                CL_SUCCESS);
      Bytes many;
      for (std::size_t i = 0; i < volume_of(region); ++i) {
        many.insert(many.end(), one.begin(), one.end());
      }
      want.put(origin, region, many);
      EXPECT_EQ(read(made, {}, kind.sides, one.size()), want.bytes);
    }
    release(made);
  }
}

}  // namespace
}  // namespace ww::sim::driver::image_fill_test
