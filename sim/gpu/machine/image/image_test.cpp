// Texels, descriptors and positions without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "machine/image/image_fields.hpp"
#include "machine/image/image_reference.hpp"
#include "machine/image/image_resource.hpp"
#include "machine/image/image_sample.hpp"

namespace ww::sim::gpu {
namespace {

using exec::Isa;
using test::Colour;

constexpr ImageFormat kRgbaBytes{ChannelOrder::rgba, ChannelType::unorm_int8};

Colour colour_of(ImageFormat format, const std::array<std::uint32_t, 4>& words) {
  Colour colour{};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!test::is_integer(format.type)) {
      colour[i] = std::bit_cast<float>(words[i]);
    } else if (format.type >= ChannelType::unsigned_int8) {
      colour[i] = words[i];
    } else {
      colour[i] = std::bit_cast<std::int32_t>(words[i]);
    }
  }
  return colour;
}

bool same(const Colour& a, const Colour& b) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

TEST(ImageFormats, AreThoseThatOpenClDemands) {
  std::set<std::pair<int, int>> formats;
  for (const ImageFormat format : image_formats()) {
    EXPECT_TRUE(
        formats.emplace(static_cast<int>(format.order), static_cast<int>(format.type)).second);
    EXPECT_TRUE(supported(ImageKind::image_2d, format));
  }
  // OpenCL 1.2, 5.3.2.1, table 5.8.
  using enum ChannelType;
  for (const ChannelType type :
       {unorm_int8, unorm_int16, signed_int8, signed_int16, signed_int32, unsigned_int8,
        unsigned_int16, unsigned_int32, half_float, single_float}) {
    EXPECT_TRUE(supported(ImageKind::image_3d, {ChannelOrder::rgba, type}));
    EXPECT_TRUE(supported(ImageKind::image_1d_buffer, {ChannelOrder::rgba, type}));
  }
  EXPECT_TRUE(supported(ImageKind::image_2d, {ChannelOrder::bgra, unorm_int8}));
  EXPECT_FALSE(supported(ImageKind::image_1d_buffer, {ChannelOrder::rgb, unorm_short_565}));
  EXPECT_FALSE(supported(ImageKind::image_2d, {ChannelOrder::rgba, unorm_short_565}));
  EXPECT_FALSE(supported(ImageKind::image_2d, {ChannelOrder::bgra, half_float}));
  EXPECT_FALSE(supported(ImageKind::image_2d, {ChannelOrder::intensity, unsigned_int8}));
  EXPECT_FALSE(supported(ImageKind::image_2d, {static_cast<ChannelOrder>(2), unorm_int8}));
  EXPECT_EQ(bytes_per_texel({ChannelOrder::rgba, single_float}), 16U);
  EXPECT_EQ(bytes_per_texel({ChannelOrder::rgb, unorm_short_555}), 2U);
  EXPECT_EQ(bytes_per_texel({ChannelOrder::rgb, half_float}), 0U);
}

// All values of a 16-bit word in every place, for every format.
TEST(Texels, ReadAsOpenClSays) {
  for (const ImageFormat format : image_formats()) {
    const std::uint32_t size = bytes_per_texel(format);
    for (std::uint32_t word = 0; word < 0x10000; ++word) {
      std::array<std::byte, 16> texel{};
      for (std::size_t i = 0; i < 8; ++i) {
        const std::uint32_t part = (word * (2 * static_cast<std::uint32_t>(i) + 1)) & 0xFFFFU;
        texel[2 * i] = static_cast<std::byte>(part);
        texel[2 * i + 1] = static_cast<std::byte>(part >> 8);
      }
      const Colour got = colour_of(format, read_texel(format, std::span(texel).first(size)));
      ASSERT_TRUE(same(got, test::reference_read(format, texel.data())))
          << "order " << static_cast<int>(format.order) << " type " << static_cast<int>(format.type)
          << " word " << word << ": " << got[0] << " " << got[1] << " " << got[2] << " " << got[3];
    }
  }
}

// Writing a texel that was read gives the same bits, but for the two names of snorm's -1, the bits
// that no channel has and the many that are no number.
TEST(Texels, AreWrittenAsTheyWereRead) {
  for (const ImageFormat format : image_formats()) {
    const std::uint32_t size = bytes_per_texel(format);
    for (std::uint32_t word = 0; word < 0x10000; ++word) {
      std::array<std::byte, 16> texel{};
      for (std::size_t i = 0; i < 16; i += 2) {
        texel[i] = static_cast<std::byte>(word);
        texel[i + 1] = static_cast<std::byte>(word >> 8);
      }
      const auto read = read_texel(format, std::span(texel).first(size));
      std::array<std::byte, 16> written{};
      write_texel(format, read, std::span(written).first(size));
      const Colour first = test::reference_read(format, texel.data());
      ASSERT_TRUE(same(test::reference_read(format, written.data()), first))
          << "order " << static_cast<int>(format.order) << " type " << static_cast<int>(format.type)
          << " word " << word;
    }
  }
}

std::uint32_t written_word(ImageFormat format, float value) {
  std::array<std::byte, 16> texel{};
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  write_texel(format, {bits, bits, bits, bits}, texel);
  std::uint32_t word = 0;
  std::memcpy(&word, texel.data(), 4);
  return word;
}

TEST(Texels, AreRoundedToTheNearestEvenAndBounded) {
  const ImageFormat unorm{ChannelOrder::r, ChannelType::unorm_int8};
  EXPECT_EQ(written_word(unorm, 0.5F), 128U);  // 127.5
  EXPECT_EQ(written_word(unorm, 1.5F / 255), 2U);
  EXPECT_EQ(written_word(unorm, -1.0F), 0U);
  EXPECT_EQ(written_word(unorm, 7.0F), 255U);
  EXPECT_EQ(written_word(unorm, NAN), 0U);
  EXPECT_EQ(written_word(unorm, INFINITY), 255U);
  const ImageFormat snorm{ChannelOrder::r, ChannelType::snorm_int8};
  EXPECT_EQ(written_word(snorm, -1.0F), 0x81U);
  EXPECT_EQ(written_word(snorm, -5.0F), 0x81U);
  EXPECT_EQ(written_word(snorm, 0.5F), 64U);  // 63.5
  EXPECT_EQ(written_word(snorm, -0.5F), 0xC0U);
  EXPECT_EQ(written_word(snorm, NAN), 0U);
  const ImageFormat half{ChannelOrder::r, ChannelType::half_float};
  EXPECT_EQ(written_word(half, 1.0F), 0x3C00U);
  EXPECT_EQ(written_word(half, 1.0F + 0x1p-11F), 0x3C00U);
  EXPECT_EQ(written_word(half, 1.0F + 0x3p-11F), 0x3C02U);
  EXPECT_EQ(written_word(half, 65504.0F), 0x7BFFU);
  EXPECT_EQ(written_word(half, 65519.996F), 0x7BFFU);
  EXPECT_EQ(written_word(half, 65520.0F), 0x7C00U);
  EXPECT_EQ(written_word(half, -0x1p-24F), 0x8001U);
  EXPECT_EQ(written_word(half, 0x1p-25F), 0U);
  EXPECT_EQ(written_word(half, 0x1.8p-24F), 2U);
  EXPECT_EQ(written_word(half, 0x1.ffcp-15F), 0x03FFU + 1U);
  EXPECT_EQ(written_word({ChannelOrder::rgb, ChannelType::unorm_short_565}, 1.0F), 0xFFFFU);
  EXPECT_EQ(written_word({ChannelOrder::rgb, ChannelType::unorm_short_555}, 1.0F), 0x7FFFU);
  EXPECT_EQ(written_word({ChannelOrder::rgb, ChannelType::unorm_int_101010}, 1.0F), 0x3FFFFFFFU);
}

TEST(Texels, OfIntegersSaturate) {
  const auto written = [](ChannelType type, std::uint32_t value) {
    std::array<std::byte, 4> texel{};
    const ImageFormat format{ChannelOrder::r, type};
    write_texel(format, {value, 0, 0, 0}, texel);
    std::uint32_t word = 0;
    std::memcpy(&word, texel.data(), bytes_per_texel(format));
    return word;
  };
  EXPECT_EQ(written(ChannelType::unsigned_int8, 256), 255U);
  EXPECT_EQ(written(ChannelType::unsigned_int16, 0x12345), 0xFFFFU);
  EXPECT_EQ(written(ChannelType::unsigned_int32, 0xFFFFFFFF), 0xFFFFFFFFU);
  EXPECT_EQ(written(ChannelType::signed_int8, 200), 127U);
  EXPECT_EQ(written(ChannelType::signed_int8, static_cast<std::uint32_t>(-200)), 0x80U);
  EXPECT_EQ(written(ChannelType::signed_int16, static_cast<std::uint32_t>(-40000)), 0x8000U);
  EXPECT_EQ(written(ChannelType::signed_int32, 0x80000000U), 0x80000000U);
}

ImageLayout layout_of(ImageKind kind, std::array<std::uint32_t, 3> size, std::uint32_t layers) {
  ImageLayout layout{.kind = kind,
                     .format = kRgbaBytes,
                     .width = size[0],
                     .height = size[1],
                     .depth = size[2],
                     .layers = layers};
  layout.row_pitch = image_row_pitch(kind, layout.format, size[0]);
  layout.slice_pitch = layout.row_pitch * size[1];
  layout.address = 0x1234'5678'9000;
  return layout;
}

TEST(Descriptors, SayWhatTheyWereMadeOf) {
  struct Case {
    const char* target;
    Isa isa;
  };
  for (const auto& [target, isa] :
       {Case{"gfx701", Isa::gfx7}, Case{"gfx900", Isa::gfx900}, Case{"gfx90a", Isa::gfx90a},
        Case{"gfx1030", Isa::gfx1030}, Case{"gfx1100", Isa::gfx1100}}) {
    for (const ImageLayout& layout : {layout_of(ImageKind::image_1d, {16384, 1, 1}, 1),
                                      layout_of(ImageKind::image_1d_array, {7, 1, 1}, 8192),
                                      layout_of(ImageKind::image_2d, {16384, 16384, 1}, 1),
                                      layout_of(ImageKind::image_2d_array, {65, 3, 1}, 1),
                                      layout_of(ImageKind::image_3d, {64, 9, 8192}, 1)}) {
      for (const ImageFormat format : image_formats()) {
        ImageLayout each = layout;
        each.format = format;
        each.row_pitch = image_row_pitch(each.kind, format, each.width);
        each.slice_pitch = each.row_pitch * each.height;
        const auto words = image_descriptor(each, target);
        ASSERT_TRUE(words) << words.error().text();
        const auto image = exec::read_resource(words->data(), isa);
        ASSERT_TRUE(image) << image.error().text();
        EXPECT_EQ(image->base, each.address);
        EXPECT_EQ(image->size, (std::array{each.width, each.height, each.depth}));
        EXPECT_EQ(image->layers, each.layers);
        EXPECT_EQ(image->row_bytes, each.row_pitch);
        EXPECT_EQ(image->slice_bytes, each.slice_pitch);
        EXPECT_EQ(image->format, exec::texel_format(format));
        EXPECT_EQ(image->texel_bytes, bytes_per_texel(format));
        EXPECT_EQ((*words)[8], static_cast<std::uint32_t>(format.type));
        EXPECT_EQ((*words)[9], static_cast<std::uint32_t>(format.order));
        EXPECT_EQ((*words)[10], each.width);
      }
    }
  }
}

TEST(Texels, OfColoursBecomeLight) {
  constexpr ImageFormat kColours{ChannelOrder::srgba, ChannelType::unorm_int8};
  EXPECT_EQ(bytes_per_texel(kColours), 4U);
  const std::array<std::byte, 4> texel{std::byte{0}, std::byte{10}, std::byte{188}, std::byte{51}};
  const auto channels = read_texel(kColours, texel);
  EXPECT_EQ(std::bit_cast<float>(channels[0]), 0.0F);
  EXPECT_NEAR(std::bit_cast<float>(channels[1]), 10 / 255.0 / 12.92, 1e-9);  // below the power
  EXPECT_NEAR(std::bit_cast<float>(channels[2]), 0.502886, 1e-6);
  EXPECT_EQ(std::bit_cast<float>(channels[3]), 0.2F);  // alpha is none
  EXPECT_EQ(bytes_per_texel({ChannelOrder::srgba, ChannelType::unorm_int16}), 0U);
  EXPECT_TRUE(supported(ImageKind::image_2d, kColours));
  EXPECT_FALSE(supported(ImageKind::image_1d_buffer, kColours));
  EXPECT_EQ(std::ranges::find(image_formats(), kColours), image_formats().end());
}

TEST(Descriptors, ThatDoNotFitAreRefusedByName) {
  const auto message = [](const ImageLayout& layout, const char* target = "gfx701") {
    const auto words = image_descriptor(layout, target);
    return words ? std::string() : words.error().message;
  };
  const ImageLayout good = layout_of(ImageKind::image_2d, {19, 11, 1}, 1);
  EXPECT_EQ(message(good), "");
  EXPECT_NE(message(good, "gfx942").find("gfx942"), std::string::npos);
  ImageLayout wide = layout_of(ImageKind::image_3d, {19, 11, 2}, 1);
  wide.row_pitch += kImageRowAlignment;
  wide.slice_pitch = wide.row_pitch * wide.height;
  EXPECT_EQ(message(wide), "");
  EXPECT_NE(message(wide, "gfx1030").find("rows of 256 bytes"), std::string::npos);
  const auto changed = [&](auto change) {
    ImageLayout layout = good;
    change(layout);
    return message(layout);
  };
  using Layout = ImageLayout&;
  EXPECT_NE(changed([](Layout l) { l.width = 0; }).find("width is 1 to 16384"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.height = 16385; }).find("height is"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.depth = 2; }).find("depth is 1 to 1"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.layers = 2; }).find("layers is 1 to 1"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.address += 128; }).find("multiple of 256"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.address = 1ULL << 48; }).find("2^48"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.row_pitch += 64; }).find("row pitch"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.row_pitch = 0; }).find("row pitch"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.row_pitch = 4 * 16384 + 256; }).find("16384 texels"),
            std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.slice_pitch += 256; }).find("slice pitch"), std::string::npos);
  EXPECT_NE(changed([](Layout l) { l.format.type = ChannelType::unorm_short_555; }).find("order 8"),
            std::string::npos);
}

TEST(Descriptors, ThatNoImageHasAreNamed) {
  const auto words = *image_descriptor(layout_of(ImageKind::image_2d, {19, 11, 1}, 1), "gfx900");
  const auto message = [&](std::size_t word, std::uint32_t bits) {
    ImageDescriptor other = words;
    other[word] ^= bits;
    const auto image = exec::read_resource(other.data(), Isa::gfx900);
    return image ? std::string() : image.error().message;
  };
  EXPECT_EQ(message(0, 0), "");
  EXPECT_NE(message(3, 2U << 28).find("type 11"), std::string::npos);
  EXPECT_NE(message(1, 7U << 20).find("data format 13"), std::string::npos);
  EXPECT_NE(message(1, 8U << 26).find("number format 8"), std::string::npos);
  EXPECT_NE(message(3, 4U << 20).find("tiling mode 4"), std::string::npos);
  EXPECT_NE(message(3, 1U << 12).find("levels of detail"), std::string::npos);
  EXPECT_NE(message(6, 1U << 21).find("compressed"), std::string::npos);
  // RDNA has one number for both parts of a format.
  const auto rdna = *image_descriptor(layout_of(ImageKind::image_2d, {19, 11, 1}, 1), "gfx1100");
  const auto rgba_bytes_of_gfx10 = exec::read_resource(rdna.data(), Isa::gfx1030);
  ASSERT_FALSE(rgba_bytes_of_gfx10);
  EXPECT_NE(rgba_bytes_of_gfx10.error().message.find("format 42"), std::string::npos);
  // gfx7 counts its tiling modes otherwise.
  EXPECT_FALSE(exec::read_resource(words.data(), Isa::gfx7));
}

TEST(Samplers, SayWhatTheyWereMadeOf) {
  for (const bool normalized : {false, true}) {
    for (const Filter filter : {Filter::nearest, Filter::linear}) {
      const auto read = [&](Addressing addressing) {
        return *exec::read_sampler(sampler_descriptor(normalized, addressing, filter).data(),
                                   Isa::gfx900);
      };
      EXPECT_EQ(read(Addressing::none).clamp[0], exec::kClampBorder);
      EXPECT_EQ(read(Addressing::clamp).clamp[1], exec::kClampBorder);
      EXPECT_EQ(read(Addressing::clamp_to_edge).clamp[2], exec::kClampLastTexel);
      EXPECT_EQ(read(Addressing::repeat).clamp[0], exec::kWrap);
      const auto mirrored = read(Addressing::mirrored_repeat);
      EXPECT_EQ(mirrored.clamp[2], exec::kMirror);
      EXPECT_EQ(mirrored.unnormalized, !normalized);
      EXPECT_EQ(mirrored.linear, filter == Filter::linear);
      EXPECT_EQ(mirrored.linear_between_slices, filter == Filter::linear);
    }
  }
  // Words that LLVM 15's device library makes of literals (image_kernels_test.cpp compiles some).
  EXPECT_EQ(sampler_descriptor(false, Addressing::clamp, Filter::nearest),
            (SamplerDescriptor{0x1000B1B6, 0x00FFF000, 0, 0}));
  EXPECT_EQ(sampler_descriptor(true, Addressing::mirrored_repeat, Filter::linear),
            (SamplerDescriptor{0x10003049, 0x00FFF000, 0x00500000, 0}));
}

TEST(Samplers, ThatOpenClHasNoUseForAreNamed) {
  SamplerDescriptor words = sampler_descriptor(true, Addressing::clamp, Filter::nearest);
  words[0] ^= 1U << 3;
  EXPECT_NE(exec::read_sampler(words.data(), Isa::gfx900).error().message.find("clamps as 7"),
            std::string::npos);
  words = sampler_descriptor(true, Addressing::clamp, Filter::nearest);
  words[3] = 3U << 30;
  EXPECT_NE(
      exec::read_sampler(words.data(), Isa::gfx900).error().message.find("border colour of type 3"),
      std::string::npos);
  // RDNA's literals ask for an opaque border.
  words[3] = 1U << 30;
  EXPECT_NE(exec::read_sampler(words.data(), Isa::gfx900).error().message.find("colour of type 1"),
            std::string::npos);
  EXPECT_TRUE(exec::read_sampler(words.data(), Isa::gfx1100)->opaque_border);
}

TEST(Samplers, LeadTheAlphaOfAnOpaqueBorderToTheImagesAlpha) {
  using enum ChannelOrder;
  constexpr float kOne = 1;
  for (const ChannelOrder order : {a, r, rg, rgba, bgra, argb, luminance}) {
    ImageLayout layout = layout_of(ImageKind::image_2d, {4, 4, 1}, 1);
    layout.format = {order, ChannelType::unorm_int8};
    const auto words = image_descriptor(layout, "gfx1030");
    ASSERT_TRUE(words) << words.error().text();
    const auto image = exec::read_resource(words->data(), Isa::gfx1030);
    ASSERT_TRUE(image) << image.error().text();
    EXPECT_EQ(exec::opaque_border_channels(image->format, image->border_alpha),
              (exec::Channels{0, 0, 0, std::bit_cast<std::uint32_t>(kOne)}))
        << static_cast<int>(order);
  }
}

// The device library makes floor(u * w) / w of a nearest sample, by the reciprocal. The product may
// lie just below the texel's edge, and still means the texel that begins there.
TEST(Positions, JustBelowATexelsEdgeAreOnIt) {
  for (const std::uint32_t size : {1U, 3U, 10U, 255U, 1000U, 12289U, 16381U, 16383U, 16384U}) {
    const float reciprocal = 1.0F / static_cast<float>(size);
    for (std::uint32_t texel = 0; texel < size; ++texel) {
      const float u = static_cast<float>(texel) * reciprocal;
      for (const std::uint32_t clamp : {exec::kWrap, exec::kMirror, exec::kClampLastTexel}) {
        EXPECT_EQ(exec::axis_taps(u, size, clamp, false, false).texel[0], texel) << size;
      }
    }
  }
}

TEST(Positions, WrapAndMirror) {
  const auto texel = [](float u, std::uint32_t clamp) {
    return exec::axis_taps(u, 4, clamp, false, false).texel[0];
  };
  EXPECT_EQ(texel(-0.1F, exec::kWrap), 3U);
  EXPECT_EQ(texel(1.0F, exec::kWrap), 0U);
  EXPECT_EQ(texel(-2.6F, exec::kWrap), 1U);
  EXPECT_EQ(texel(-0.1F, exec::kMirror), 0U);
  EXPECT_EQ(texel(1.1F, exec::kMirror), 3U);
  EXPECT_EQ(texel(2.1F, exec::kMirror), 0U);
  const auto edge = exec::axis_taps(0.0F, 4, exec::kWrap, false, true);
  EXPECT_EQ(edge.texel, (std::array<std::uint32_t, 2>{3, 0}));
  EXPECT_EQ(edge.fraction, 128U);
  const auto border = exec::axis_taps(-0.25F, 4, exec::kClampBorder, true, true);
  EXPECT_EQ(border.inside, (std::array{false, true}));
  EXPECT_EQ(border.fraction, 64U);
}

TEST(Positions, OfLayersAreRoundedToOneThatExists) {
  EXPECT_EQ(exec::nearest_layer(0.5F, 9), 0U);
  EXPECT_EQ(exec::nearest_layer(1.5F, 9), 2U);
  EXPECT_EQ(exec::nearest_layer(-3.0F, 9), 0U);
  EXPECT_EQ(exec::nearest_layer(1e30F, 9), 8U);
  EXPECT_EQ(exec::nearest_layer(NAN, 9), 0U);
}

}  // namespace
}  // namespace ww::sim::gpu
