// Compiled kernels on images, against images as OpenCL describes them (image_reference.hpp).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "machine/image/image_reference.hpp"
#include "machine/testing/test_gpu.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::image_kernels_test {
namespace {

using test::Colour;
using test::ImageGpu;
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
  const auto object = test::read_images();
  for (const auto& kernel : object.kernels()) {
    if (kernel.name == name) return true;
  }
  return false;
}

TEST(SemanticsOfImages, LoadsEveryFormatOfEveryKind) {
  ImageGpu test;
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

// Positions in texels that are no closer to a texel's edge than the hardware resolves; with `steps`
// such as it resolves exactly.
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
  ImageGpu test;
  if (!has_sampler(kShapes[0])) GTEST_SKIP() << "the compiler makes no samples of this code";
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
  ImageGpu test;
  const Shape& shape = kShapes[3];
  if (!has_sampler(shape)) GTEST_SKIP() << "the compiler makes no samples of this code";
  for (const ImageFormat format : image_formats()) {
    expect_samples(test, shape, format, {false, Addressing::clamp, Filter::nearest}, false);
    if (!test::is_integer(format.type)) {
      expect_samples(test, shape, format, {true, Addressing::clamp, Filter::linear}, false);
    }
  }
}

// Where a sampler takes whole numbers they are the texels' numbers, not their edges.
TEST(SemanticsOfImages, SamplesAtWholeNumbers) {
  ImageGpu test;
  if (!has_sampler(kShapes[0])) GTEST_SKIP() << "the compiler makes no samples of this code";
  const ImageFormat format{ChannelOrder::rgba, ChannelType::unsigned_int16};
  for (const Shape& shape : kShapes) {
    if (!has_sampler(shape)) continue;
    for (const Addressing addressing :
         {Addressing::none, Addressing::clamp_to_edge, Addressing::clamp}) {
      Image image = make_image(test, shape, format, 4);
      image.reference.bytes = image.bytes.data();
      Random random(6);
      const int beyond = addressing == Addressing::none ? 0 : 3;
      std::vector<std::array<std::int32_t, 4>> at(kItems);
      std::vector<std::array<float, 4>> as_floats(kItems);
      for (std::size_t i = 0; i < kItems; ++i) {
        for (std::size_t n = 0; n < 3; ++n) {
          const auto size = static_cast<int>(shape.size[n]);
          at[i][n] =
              static_cast<int>(random.next() % static_cast<unsigned>(size + 2 * beyond)) - beyond;
        }
        if (shape.array) {
          at[i][static_cast<std::size_t>(shape.dimensions)] =
              static_cast<int>(random.next() % (shape.layers + 4)) - 2;
        }
        for (std::size_t n = 0; n < 4; ++n) as_floats[i][n] = static_cast<float>(at[i][n]);
      }
      const auto out = test.buffer(kItems * 16);
      test.launch(std::string("sample_whole_") + shape.name, kItems, 64, image.descriptor,
                  make_sampler(test, {false, addressing, Filter::nearest}), test.buffer(at), out);
      const auto got = test.read<std::uint32_t>(out, kItems * 4);
      for (std::size_t i = 0; i < kItems; ++i) {
        ASSERT_EQ(
            colour_of(format, &got[4 * i]),
            reference_sample(image.reference, as_floats[i], false, addressing, Filter::nearest))
            << shape.name << " addressing " << static_cast<int>(addressing) << " item " << i;
      }
    }
  }
}

// The compiler turns sampler literals into descriptors by itself.
// Whether the position is outside, where unnormalized coordinates name the nearest texel.
bool is_outside(const Shape& shape, const std::array<float, 4>& at) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.dimensions); ++i) {
    if (!(at[i] >= 0 && at[i] < static_cast<float>(shape.size[i]))) return true;
  }
  return false;
}

// LLVM 15's device library gives RDNA's literals an opaque black border, whatever the image.
TEST(SemanticsOfImages, SamplesThroughLiteralsAsThroughArguments) {
  ImageGpu test;
  const bool opaque_border = isa_of(test).starts_with("gfx1");
  if (!has_kernel("sample_literal_0")) GTEST_SKIP() << "the compiler makes no samples of this code";
  constexpr SamplerCase kLiterals[] = {{false, Addressing::clamp, Filter::nearest},
                                       {false, Addressing::clamp_to_edge, Filter::linear},
                                       {true, Addressing::repeat, Filter::nearest},
                                       {true, Addressing::mirrored_repeat, Filter::linear}};
  const Shape& shape = kShapes[3];
  const Image image = make_image(test, shape, {ChannelOrder::bgra, ChannelType::unorm_int8}, 8);
  for (std::size_t n = 0; n < std::size(kLiterals); ++n) {
    const auto where = positions(shape, kLiterals[n], 21, false);
    const auto at = test.buffer(where);
    const auto literal = test.buffer(kItems * 16);
    const auto argument = test.buffer(kItems * 16);
    test.launch("sample_literal_" + std::to_string(n), kItems, 64, image.descriptor, at, literal);
    test.launch("sample_2d", kItems, 64, image.descriptor, make_sampler(test, kLiterals[n]), at,
                argument);
    auto expected = test.read<float>(argument, kItems * 4);
    std::size_t outside = 0;
    for (std::size_t i = 0;
         opaque_border && kLiterals[n].addressing == Addressing::clamp && i < kItems; ++i) {
      if (!is_outside(shape, where[i])) continue;
      expected[4 * i + 3] = 1;
      ++outside;
    }
    EXPECT_EQ(test.read<float>(literal, kItems * 4), expected) << n;
    EXPECT_EQ(outside != 0, opaque_border && n == 0);
  }
}

// Channels to write: within the format's range, beyond it, between its steps, and no numbers.
std::array<std::uint32_t, 4> channels_to_write(ImageFormat format, Random& random) {
  std::array<std::uint32_t, 4> words{};
  for (std::uint32_t& word : words) {
    if (test::is_integer(format.type)) {
      word = random.next() >> random.next() % 32;
      if (random.next() % 2 == 0) word = ~word;
      continue;
    }
    float value = static_cast<float>(random.unit() * 3 - 1.5);
    switch (random.next() % 16) {
      case 0: value = NAN; break;
      case 1: value = INFINITY; break;
      case 2: value = -INFINITY; break;
      case 3: value = 1e-6F * value; break;
      case 4: value = 7e4F * value; break;
      case 5: value = (static_cast<float>(random.next() % 256) + 0.5F) / 255.0F; break;
      default: break;
    }
    word = std::bit_cast<std::uint32_t>(value);
  }
  return words;
}

TEST(SemanticsOfImages, StoresEveryFormatOfEveryKindAndNothingOutside) {
  ImageGpu test;
  for (const Shape& shape : kShapes) {
    for (const ImageFormat format : image_formats()) {
      if (!supported(shape.kind, format)) continue;
      const Image image = make_image(test, shape, format, 11);
      const std::size_t texel = bytes_per_texel(format);
      std::vector<std::byte> expected = image.bytes;
      Random random(13);
      std::vector<std::array<std::int32_t, 4>> at(kItems);
      std::vector<std::array<std::uint32_t, 4>> values(kItems);
      std::vector<bool> written(expected.size());
      for (std::size_t i = 0; i < kItems; ++i) {
        // No texel twice: which of two stores is last is nobody's promise.
        std::size_t place = 0;
        bool outside = false;
        do {
          std::array<std::size_t, 4> n{};
          for (std::size_t axis = 0; axis < 3; ++axis) {
            n[axis] = random.next() % shape.size[axis];
          }
          outside =
              i % 7 == 3 || i >= 2 * std::size_t{shape.size[0]} * shape.size[1] * shape.layers / 3;
          if (outside) n[0] = shape.size[0] + random.next() % 9;
          const std::size_t layer = random.next() % shape.layers;
          if (shape.array) n[static_cast<std::size_t>(shape.dimensions)] = layer;
          for (std::size_t axis = 0; axis < 4; ++axis) {
            at[i][axis] = static_cast<std::int32_t>(n[axis]);
          }
          if (outside && i % 2 == 0) at[i][0] = -1;
          const std::size_t slice = shape.array ? layer : shape.dimensions == 3 ? n[2] : 0;
          place = slice * image.layout.slice_pitch +
                  (shape.dimensions > 1 ? n[1] : 0) * image.layout.row_pitch + n[0] * texel;
        } while (!outside && written[place]);
        values[i] = channels_to_write(format, random);
        if (outside) continue;
        written[place] = true;
        write_texel(format, values[i], std::span(expected).subspan(place, texel));
      }
      test.launch(std::string("store_") + shape.name, kItems, 64, image.descriptor, test.buffer(at),
                  test.buffer(values));
      ASSERT_EQ(test.read<std::byte>(image.layout.address, expected.size()), expected)
          << shape.name << " order " << static_cast<int>(format.order) << " type "
          << static_cast<int>(format.type);
    }
  }
}

TEST(SemanticsOfImages, LoadsOutsideGiveTheBordersColour) {
  ImageGpu test;
  for (const Shape& shape : kShapes) {
    for (const ChannelOrder order : {ChannelOrder::rgba, ChannelOrder::r}) {
      const ImageFormat format{order, ChannelType::single_float};
      const Image image = make_image(test, shape, format, 2);
      std::vector<std::array<std::int32_t, 4>> at(64);
      for (std::size_t i = 0; i < at.size(); ++i) {
        const std::size_t axis = i % static_cast<std::size_t>(shape.dimensions);
        const auto size = static_cast<std::int32_t>(shape.size[axis]);
        const std::int32_t beyond[] = {-1, size, std::numeric_limits<std::int32_t>::max(),
                                       std::numeric_limits<std::int32_t>::min()};
        at[i][axis] = beyond[i / 3 % 4];
      }
      const auto out = test.buffer(64 * 16);
      test.launch(std::string("load_") + shape.name, 64, 64, image.descriptor, test.buffer(at),
                  out);
      const auto got = test.read<std::uint32_t>(out, 64 * 4);
      for (std::size_t i = 0; i < 64; ++i) {
        ASSERT_EQ(colour_of(format, &got[4 * i]), test::reference_border(order))
            << shape.name << " item " << i;
      }
    }
  }
}

// OpenCL leaves open what these read, but not that the program goes on.
TEST(SemanticsOfImages, SampleAtNoNumberReadsSomeTexel) {
  ImageGpu test;
  if (!has_sampler(kShapes[3])) GTEST_SKIP() << "the compiler makes no samples of this code";
  const Image image =
      make_image(test, kShapes[3], {ChannelOrder::rgba, ChannelType::unorm_int8}, 2);
  std::vector<std::array<float, 4>> at(64);
  const float odd[] = {NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 1e-40F};
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = {odd[i % 6], odd[i / 6 % 6], 0, 0};
  for (const SamplerCase& c : sampler_cases()) {
    const auto out = test.buffer(64 * 16);
    test.launch("sample_2d", 64, 64, image.descriptor, make_sampler(test, c), test.buffer(at), out);
    for (const float value : test.read<float>(out, 64 * 4)) {
      EXPECT_TRUE(value >= 0 && value <= 1) << value;
    }
  }
}

TEST(SemanticsOfImages, AnswersQueries) {
  // CL/cl.h: channel orders from 0x10b0 on, types from 0x10d0 on.
  struct Code {
    ImageFormat format;
    int order, type;
  };
  constexpr Code kCodes[] = {
      {{ChannelOrder::r, ChannelType::snorm_int8}, 0x10B0, 0x10D0},
      {{ChannelOrder::a, ChannelType::snorm_int16}, 0x10B1, 0x10D1},
      {{ChannelOrder::rg, ChannelType::unorm_int8}, 0x10B2, 0x10D2},
      {{ChannelOrder::ra, ChannelType::unorm_int16}, 0x10B3, 0x10D3},
      {{ChannelOrder::rgb, ChannelType::unorm_short_565}, 0x10B4, 0x10D4},
      {{ChannelOrder::rgb, ChannelType::unorm_short_555}, 0x10B4, 0x10D5},
      {{ChannelOrder::rgb, ChannelType::unorm_int_101010}, 0x10B4, 0x10D6},
      {{ChannelOrder::rgba, ChannelType::signed_int8}, 0x10B5, 0x10D7},
      {{ChannelOrder::bgra, ChannelType::unsigned_int8}, 0x10B6, 0x10DA},
      {{ChannelOrder::argb, ChannelType::signed_int8}, 0x10B7, 0x10D7},
      {{ChannelOrder::rgba, ChannelType::signed_int16}, 0x10B5, 0x10D8},
      {{ChannelOrder::rgba, ChannelType::signed_int32}, 0x10B5, 0x10D9},
      {{ChannelOrder::rgba, ChannelType::unsigned_int16}, 0x10B5, 0x10DB},
      {{ChannelOrder::rgba, ChannelType::unsigned_int32}, 0x10B5, 0x10DC},
      {{ChannelOrder::intensity, ChannelType::half_float}, 0x10B8, 0x10DD},
      {{ChannelOrder::luminance, ChannelType::single_float}, 0x10B9, 0x10DE},
  };
  ImageGpu test;
  for (const Shape& shape : kShapes) {
    for (const auto& [format, order, type] : kCodes) {
      if (!supported(shape.kind, format)) continue;
      const Image image = make_image(test, shape, format, 1);
      const auto out = test.buffer(24);
      test.launch(std::string("query_") + shape.name, 1, 1, image.descriptor, out);
      const std::vector<int> expected = {static_cast<int>(shape.size[0]),
                                         static_cast<int>(shape.size[1]),
                                         static_cast<int>(shape.size[2]),
                                         static_cast<int>(shape.layers),
                                         order,
                                         type};
      EXPECT_EQ(test.read<int>(out, 6), expected) << shape.name;
    }
  }
}

TEST(SemanticsOfImages, WritesTheRegistersOfTheChannelsThatAreUsed) {
  ImageGpu test;
  if (!has_kernel("sample_part")) GTEST_SKIP() << "the compiler makes no samples of this code";
  const Shape& shape = kShapes[3];
  const SamplerCase c{true, Addressing::clamp, Filter::linear};
  const Image image = make_image(test, shape, {ChannelOrder::argb, ChannelType::snorm_int8}, 31);
  auto at = positions(shape, c, 5, false);
  const auto sampler = make_sampler(test, c);
  const auto part = test.buffer(kItems * 12);
  test.launch("sample_part", kItems, 64, image.descriptor, sampler, test.buffer(at), part);
  const auto whole = test.buffer(kItems * 16);
  const auto sample = [&] {
    test.launch("sample_2d", kItems, 64, image.descriptor, sampler, test.buffer(at), whole);
    return test.read<float>(whole, kItems * 4);
  };
  const auto straight = sample();
  for (auto& p : at) std::swap(p[0], p[1]);
  const auto swapped = sample();
  const auto got = test.read<float>(part, kItems * 3);
  for (std::size_t i = 0; i < kItems; ++i) {
    EXPECT_EQ(got[3 * i], straight[4 * i + 1]);
    const std::byte* texel = image.bytes.data() + i / 4 % 4 * image.layout.row_pitch + i % 4 * 4;
    EXPECT_EQ(got[3 * i + 1], test::reference_read(image.layout.format, texel)[3]);
    EXPECT_EQ(got[3 * i + 2], swapped[4 * i] + swapped[4 * i + 2]);
  }
}

std::uint16_t half_of(double value) {
  std::uint16_t best = 0;
  for (std::uint32_t half = 0; half < 0x7C00; ++half) {
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const double distance = std::fabs(test::half_to_double(half | sign) - value);
      const double least = std::fabs(test::half_to_double(best) - value);
      if (distance < least || (distance == least && half % 2 == 0 && best % 2 != 0)) {
        best = static_cast<std::uint16_t>(half | sign);
      }
    }
  }
  return best;
}

TEST(SemanticsOfImages, ReadsAndWritesHalves) {
  if (!has_kernel("halves_2d")) GTEST_SKIP() << "this instruction set has no 16-bit channels";
  ImageGpu test;
  const Shape shape{ImageKind::image_2d, "2d", 2, false, {8, 8, 1}, 1};
  const SamplerCase c{false, Addressing::clamp_to_edge, Filter::nearest};
  const ImageFormat format{ChannelOrder::rgba, ChannelType::unorm_int8};
  const Image image = make_image(test, shape, format, 40);
  const Image copy = make_image(test, shape, {ChannelOrder::rgba, ChannelType::half_float}, 41);
  const auto at = positions(shape, c, 12, false);
  const auto out = test.buffer(64 * 8);
  const auto one = test.buffer(64 * 2);
  test.launch("halves_2d", 64, 64, image.descriptor, copy.descriptor, make_sampler(test, c),
              test.buffer(at), out, one);
  const auto got = test.read<std::uint16_t>(out, 64 * 4);
  const auto single = test.read<std::uint16_t>(one, 64);
  const auto written = test.read<std::byte>(copy.layout.address, copy.bytes.size());
  ReferenceImage reference = image.reference;
  reference.bytes = image.bytes.data();
  for (std::size_t i = 0; i < 64; ++i) {
    const Colour expected =
        reference_sample(reference, at[i], c.normalized, c.addressing, c.filter);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_EQ(got[4 * i + n], half_of(expected[n])) << expected[n];
    }
    EXPECT_EQ(single[i], half_of(reference.texel(
                             {static_cast<int>(i % 4), static_cast<int>(i / 4 % 4), 0}, 0)[2]));
    std::array<std::uint16_t, 4> texel{};
    std::memcpy(texel.data(), written.data() + i / 8 * copy.layout.row_pitch + i % 8 * 8, 8);
    EXPECT_TRUE(std::equal(texel.begin(), texel.end(), got.begin() + static_cast<long>(4 * i)));
  }
  // Copies from one buffer to another.
  const Image buffer = make_image(test, kShapes[2], format, 42);
  const Image other =
      make_image(test, kShapes[2], {ChannelOrder::rgba, ChannelType::half_float}, 43);
  test.launch("halves_1d_buffer", 64, 64, buffer.descriptor, other.descriptor, out);
  const auto halves = test.read<std::uint16_t>(out, 64 * 4);
  EXPECT_EQ(test.read<std::uint16_t>(other.layout.address, 64 * 4), halves);
  for (std::size_t i = 0; i < 64; ++i) {
    const Colour expected = test::reference_read(format, buffer.bytes.data() + 4 * i);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(halves[4 * i + n], half_of(expected[n]));
  }
}

// How many instructions of the kernel have two addresses a register.
std::size_t packed_addresses(const std::string& name) {
  const auto object = test::read_images();
  const auto generation = *binpatch::isa::generation_of(object.target());
  std::size_t count = 0;
  for (const auto& kernel : object.kernels()) {
    if (kernel.name != name) continue;
    auto code = object.code(kernel);
    while (code.size() >= 4) {
      const auto decoded = binpatch::isa::decode(generation, code);
      if (decoded && decoded->modifiers.a16) ++count;
      code = code.subspan(decoded ? decoded->size_bytes : 4);
    }
  }
  return count;
}

// Loads, stores and samples whose coordinates are 16-bit integers or halves.
TEST(SemanticsOfImages, TakesCoordinatesOf16Bits) {
  if (!has_kernel("short_load_2d"))
    GTEST_SKIP() << "the compiler makes none where it does not optimise";
  ImageGpu test;
  const ImageFormat format{ChannelOrder::rgba, ChannelType::single_float};
  const bool packs = isa_of(test) != "gfx701";
  for (const Shape& shape : kShapes) {
    if (shape.kind == ImageKind::image_1d_buffer) continue;
    const std::string name = shape.name;
    EXPECT_EQ(packed_addresses("short_load_" + name), packs ? 1U : 0U);
    EXPECT_EQ(packed_addresses("short_store_" + name), packs ? 1U : 0U);
    EXPECT_EQ(packed_addresses("short_sample_" + name), packs ? 4U : 0U);
    Image image = make_image(test, shape, format, 50);
    image.reference.bytes = image.bytes.data();

    // Each texel once, row by row, then places outside.
    std::vector<std::array<std::uint16_t, 4>> at(kItems);
    std::vector<Colour> expected(kItems);
    std::vector<std::byte> written = image.bytes;
    std::vector<std::array<std::uint32_t, 4>> values(kItems);
    for (std::uint32_t i = 0; i < kItems; ++i) {
      const std::uint32_t x = i % shape.size[0];
      const std::uint32_t y = i / shape.size[0] % shape.size[1];
      const std::uint32_t z = i / shape.size[0] / shape.size[1];
      const std::uint32_t slices = shape.array ? shape.layers : shape.size[2];
      const bool inside = z < slices;
      const std::uint32_t column = inside ? x : i % 2 == 0 ? shape.size[0] : 0xFFFFU;
      const std::uint32_t slice = inside ? z : 0;
      at[i][0] = static_cast<std::uint16_t>(column);
      at[i][1] = static_cast<std::uint16_t>(shape.dimensions > 1 ? y : slice);
      at[i][2] = static_cast<std::uint16_t>(slice);
      expected[i] = image.reference.texel({static_cast<int>(column), static_cast<int>(y),
                                           shape.array ? 0 : static_cast<int>(slice)},
                                          static_cast<int>(slice));
      values[i] = {i, ~i, i << 8, 0x3F800000U};
      if (!inside) continue;
      write_texel(format, values[i],
                  std::span(written).subspan(
                      slice * image.layout.slice_pitch + y * image.layout.row_pitch + x * 16, 16));
    }
    const auto out = test.buffer(kItems * 16);
    test.launch("short_load_" + name, kItems, 64, image.descriptor, test.buffer(at), out);
    const auto got = test.read<std::uint32_t>(out, kItems * 4);
    for (std::size_t i = 0; i < kItems; ++i) {
      ASSERT_EQ(colour_of(format, &got[4 * i]), expected[i]) << name << " item " << i;
    }

    test.launch("short_sample_" + name, 1, 1, image.descriptor, out);
    const auto sampled = test.read<std::uint32_t>(out, 4 * 4);
    const float places[] = {0.5F, 1.25F, 2.75F, -300.0F};
    for (std::size_t i = 0; i < 4; ++i) {
      const float p = places[i];
      const Colour sample = reference_sample(image.reference, {p, p, p, p}, false,
                                             Addressing::clamp_to_edge, Filter::linear);
      const Colour colour = colour_of(format, &sampled[4 * i]);
      for (std::size_t n = 0; n < 4; ++n) {
        ASSERT_NEAR(colour[n], sample[n], 8e-6) << name << " at " << p;
      }
    }

    test.launch("short_store_" + name, kItems, 64, image.descriptor, test.buffer(at),
                test.buffer(values));
    ASSERT_EQ(test.read<std::byte>(image.layout.address, written.size()), written) << name;
  }
}

}  // namespace
}  // namespace ww::sim::gpu::image_kernels_test
