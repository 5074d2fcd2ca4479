// Compiled kernels on images, against images as OpenCL describes them (image_reference.hpp).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>

#include "exec/image_reference.hpp"
#include "exec/test_gpu.hpp"

namespace ww::sim::gpu {
namespace {

using test::Colour;
using test::ReferenceImage;
using test::TestGpu;

constexpr std::uint32_t kItems = 256;

struct Shape {
  ImageKind kind;
  const char* name;
  int dimensions;
  bool array;
  std::array<std::uint32_t, 3> size;
  std::uint32_t layers;
};

constexpr Shape kShapes[] = {
    {ImageKind::image_1d, "1d", 1, false, {37, 1, 1}, 1},
    {ImageKind::image_1d_array, "1d_array", 1, true, {37, 1, 1}, 5},
    {ImageKind::image_1d_buffer, "1d_buffer", 1, false, {300, 1, 1}, 1},
    {ImageKind::image_2d, "2d", 2, false, {19, 11, 1}, 1},
    {ImageKind::image_2d_array, "2d_array", 2, true, {19, 11, 1}, 3},
    {ImageKind::image_3d, "3d", 3, false, {13, 7, 5}, 1},
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  double unit() { return next() / 4294967296.0; }

 private:
  std::uint64_t state_;
};

// Bytes of a texel that are no NaN where they are floats.
void fill_texel(ImageFormat format, Random& random, std::byte* texel) {
  const std::uint32_t size = bytes_per_texel(format);
  for (std::uint32_t i = 0; i < size; ++i) texel[i] = static_cast<std::byte>(random.next());
  if (format.type == ChannelType::single_float) {
    for (std::uint32_t i = 0; i < size; i += 4) {
      const auto value = static_cast<float>(random.unit() * 8 - 4);
      std::memcpy(texel + i, &value, 4);
    }
  }
  if (format.type == ChannelType::half_float) {
    for (std::uint32_t i = 1; i < size; i += 2) texel[i] &= std::byte{0xBF};
  }
}

struct Image {
  ImageLayout layout;
  std::vector<std::byte> bytes;
  std::uint64_t descriptor{};
  ReferenceImage reference;
};

std::string isa_of(TestGpu& test) {
  return test.gpu().chip().architecture().gfx_target;
}

Image make_image(TestGpu& test, const Shape& shape, ImageFormat format, std::uint64_t seed) {
  Image image;
  ImageLayout& layout = image.layout;
  layout = {.kind = shape.kind,
            .format = format,
            .width = shape.size[0],
            .height = shape.size[1],
            .depth = shape.size[2],
            .layers = shape.layers};
  layout.row_pitch = image_row_pitch(shape.kind, format, layout.width);
  layout.slice_pitch = layout.row_pitch * layout.height;
  image.bytes.resize(image_bytes(layout));
  Random random(seed);
  for (std::uint64_t row = 0; row < image.bytes.size(); row += layout.row_pitch) {
    for (std::uint32_t x = 0; x < layout.width; ++x) {
      fill_texel(format, random, image.bytes.data() + row + x * bytes_per_texel(format));
    }
  }
  layout.address = test.buffer(image.bytes);
  const auto words = image_descriptor(layout, isa_of(test));
  if (!words) throw std::runtime_error(words.error().text());
  image.descriptor = test.buffer(std::vector<std::uint32_t>(words->begin(), words->end()));
  image.reference = {.format = format,
                     .dimensions = shape.dimensions,
                     .array = shape.array,
                     .size = {static_cast<int>(shape.size[0]), static_cast<int>(shape.size[1]),
                              static_cast<int>(shape.size[2])},
                     .layers = static_cast<int>(shape.layers),
                     .row_pitch = layout.row_pitch,
                     .slice_pitch = layout.slice_pitch};
  return image;
}

Colour colour_of(ImageFormat format, const std::uint32_t* words) {
  Colour colour{};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!test::is_integer(format.type)) {
      colour[i] = std::bit_cast<float>(words[i]);
    } else if (format.type >= ChannelType::unsigned_int8) {
      colour[i] = words[i];
    } else {
      colour[i] = static_cast<std::int32_t>(words[i]);
    }
  }
  return colour;
}

bool has_kernel(const std::string& name) {
  const auto object = test::read_kernels();
  for (const auto& kernel : object.kernels()) {
    if (kernel.name == name) return true;
  }
  return false;
}

TEST(SemanticsOfImages, LoadsEveryFormatOfEveryKind) {
  TestGpu test;
  for (const Shape& shape : kShapes) {
    for (const ImageFormat format : image_formats()) {
      if (!supported(shape.kind, format)) continue;
      Image image = make_image(test, shape, format, 5);
      image.reference.bytes = image.bytes.data();
      Random random(9);
      std::vector<std::array<std::int32_t, 4>> at(kItems);
      for (auto& p : at) {
        const auto within = [&](std::uint32_t size) {
          return static_cast<std::int32_t>(random.next() % size);
        };
        for (std::size_t i = 0; i < 3; ++i) p[i] = within(shape.size[i]);
        if (shape.array) p[static_cast<std::size_t>(shape.dimensions)] = within(shape.layers);
      }
      const auto out = test.buffer(kItems * 16);
      test.launch(std::string("load_") + shape.name, kItems, 64, image.descriptor, test.buffer(at),
                  out);
      const auto got = test.read<std::uint32_t>(out, kItems * 4);
      for (std::size_t i = 0; i < kItems; ++i) {
        const auto& p = at[i];
        const Colour expected = image.reference.texel(
            {p[0], shape.dimensions > 1 ? p[1] : 0, shape.dimensions > 2 ? p[2] : 0},
            shape.array ? p[static_cast<std::size_t>(shape.dimensions)] : 0);
        ASSERT_EQ(colour_of(format, &got[4 * i]), expected)
            << shape.name << " order " << static_cast<int>(format.order) << " type "
            << static_cast<int>(format.type) << " item " << i;
      }
    }
  }
}

// The greatest distance between two channels of these formats' test texels.
double range_of(ChannelType type) {
  switch (type) {
    case ChannelType::single_float: return 8;
    case ChannelType::half_float: return 4;
    case ChannelType::snorm_int8:
    case ChannelType::snorm_int16: return 2;
    default: return 1;
  }
}

struct SamplerCase {
  bool normalized;
  Addressing addressing;
  Filter filter;
};

std::vector<SamplerCase> sampler_cases() {
  std::vector<SamplerCase> cases;
  for (const Filter filter : {Filter::nearest, Filter::linear}) {
    for (const bool normalized : {false, true}) {
      for (const Addressing addressing :
           {Addressing::none, Addressing::clamp_to_edge, Addressing::clamp}) {
        cases.push_back({normalized, addressing, filter});
      }
    }
    cases.push_back({true, Addressing::repeat, filter});
    cases.push_back({true, Addressing::mirrored_repeat, filter});
  }
  return cases;
}

std::uint64_t make_sampler(TestGpu& test, const SamplerCase& c) {
  const auto words = sampler_descriptor(c.normalized, c.addressing, c.filter);
  return test.buffer(std::vector<std::uint32_t>(words.begin(), words.end()));
}

// Positions in texels that are no closer to a texel's edge than the hardware can tell; with `steps`
// such as it can tell exactly.
std::vector<std::array<float, 4>> positions(const Shape& shape, const SamplerCase& c,
                                            std::uint64_t seed, bool steps) {
  Random random(seed);
  std::vector<std::array<float, 4>> at(kItems);
  for (auto& p : at) {
    for (int i = 0; i < shape.dimensions; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const double size = shape.size[n];
      const bool wraps =
          c.addressing == Addressing::repeat || c.addressing == Addressing::mirrored_repeat;
      const double beyond = c.addressing == Addressing::none ? -1 : wraps ? 2 * size : 2;
      const double whole = std::floor(random.unit() * (size + 2 * beyond) - beyond);
      const double part =
          steps ? std::floor(random.unit() * 256) / 256 : 0.02 + random.unit() * 0.96;
      p[n] = static_cast<float>(c.normalized ? (whole + part) / size : whole + part);
    }
    if (shape.array) {
      p[static_cast<std::size_t>(shape.dimensions)] =
          static_cast<float>(random.unit() * (shape.layers + 2) - 1);
    }
  }
  return at;
}

void expect_samples(TestGpu& test, const Shape& shape, ImageFormat format, const SamplerCase& c,
                    bool steps) {
  Image image = make_image(test, shape, format, 3);
  image.reference.bytes = image.bytes.data();
  const auto at = positions(shape, c, 17, steps);
  const auto out = test.buffer(kItems * 16);
  test.launch(std::string("sample_") + shape.name, kItems, 64, image.descriptor,
              make_sampler(test, c), test.buffer(at), out);
  const auto got = test.read<std::uint32_t>(out, kItems * 4);
  // A weight is rounded to 1/256: half of that on each axis.
  const double tolerance = c.filter == Filter::nearest
                               ? 0
                               : range_of(format.type) * (steps ? 1e-6 : shape.dimensions / 500.0);
  for (std::size_t i = 0; i < kItems; ++i) {
    const Colour expected =
        reference_sample(image.reference, at[i], c.normalized, c.addressing, c.filter);
    const Colour colour = colour_of(format, &got[4 * i]);
    for (std::size_t channel = 0; channel < 4; ++channel) {
      ASSERT_NEAR(colour[channel], expected[channel], tolerance)
          << shape.name << " order " << static_cast<int>(format.order) << " type "
          << static_cast<int>(format.type) << " normalized " << c.normalized << " addressing "
          << static_cast<int>(c.addressing) << " filter " << static_cast<int>(c.filter) << " item "
          << i << " channel " << channel << " at " << at[i][0] << " " << at[i][1] << " "
          << at[i][2];
    }
  }
}

bool has_sampler(const Shape& shape) {
  return has_kernel(std::string("sample_") + shape.name);
}

TEST(SemanticsOfImages, SamplesEveryKindInEveryMode) {
  TestGpu test;
  for (const Shape& shape : kShapes) {
    if (!has_sampler(shape)) continue;
    for (const SamplerCase& c : sampler_cases()) {
      expect_samples(test, shape, {ChannelOrder::rgba, ChannelType::single_float}, c, false);
      expect_samples(test, shape, {ChannelOrder::r, ChannelType::unorm_int8}, c, false);
      if (!c.normalized) {
        expect_samples(test, shape, {ChannelOrder::rg, ChannelType::single_float}, c, true);
      }
    }
  }
}

TEST(SemanticsOfImages, SamplesEveryFormat) {
  TestGpu test;
  const Shape& shape = kShapes[3];
  if (!has_sampler(shape)) GTEST_SKIP() << "the compiler makes no samples of this code";
  for (const ImageFormat format : image_formats()) {
    expect_samples(test, shape, format, {false, Addressing::clamp, Filter::nearest}, false);
    if (!test::is_integer(format.type)) {
      expect_samples(test, shape, format, {true, Addressing::clamp, Filter::linear}, false);
    }
  }
}

}  // namespace
}  // namespace ww::sim::gpu
