#include "dapper/output_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ww::study::dapper {
namespace {

TEST(OutputErrorMeasure, IsTheMeanRelativeDifference) {
  const std::vector<double> exact{1, -2, 4, 10};
  const std::vector<double> inexact{1.1, -2, 3, 10};
  const auto error = output_error(exact, inexact);
  ASSERT_TRUE(error);
  EXPECT_NEAR(error->mean, (0.1 + 0.25) / 4, 1e-12);
  EXPECT_EQ(error->changed, 2U);
  EXPECT_NEAR(error->normalised, 1.1 / 17, 1e-12);
}

TEST(OutputErrorMeasure, LeavesChangedZerosOutAndCountsThem) {
  const auto error = output_error(std::vector<double>{0, 0, 2}, std::vector<double>{0, 5, 1});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->zeros_changed, 1U);
  EXPECT_NEAR(error->mean, 0.5 / 2, 1e-12);
}

TEST(OutputErrorMeasure, RefusesOutputsOfDifferentSizes) {
  EXPECT_FALSE(output_error(std::vector<double>{1}, std::vector<double>{1, 2}));
  EXPECT_FALSE(output_error({}, {}));
}

TEST(OutputErrorMeasure, DecodesDxt1Blocks) {
  // White and black, the four palette entries in the first four pixels.
  const auto colours = dxt1_colours(std::vector<double>{0x0000FFFF, 0b11100100});
  ASSERT_EQ(colours.size(), 48U);
  EXPECT_EQ(colours[0], 255);
  EXPECT_EQ(colours[3], 0);
  EXPECT_NEAR(colours[6], 170, 1e-9);
  EXPECT_NEAR(colours[9], 85, 1e-9);
}

Picture ramp() {
  Picture picture{16, 16, {}};
  for (int i = 0; i < 256; ++i) picture.grey.push_back(i);
  return picture;
}

TEST(Pictures, EqualOnesAreEqual) {
  EXPECT_TRUE(std::isinf(psnr_db(ramp(), ramp())));
  EXPECT_DOUBLE_EQ(ssim(ramp(), ramp()), 1);
}

TEST(Pictures, AnOffsetOfOneIs48Decibels) {
  Picture other = ramp();
  for (double& grey : other.grey) grey += 1;
  EXPECT_NEAR(psnr_db(ramp(), other), 20 * std::log10(255.0), 1e-9);
  EXPECT_LT(ssim(ramp(), other), 1);
  EXPECT_GT(ssim(ramp(), other), 0.99);
}

TEST(Pictures, TheInverseOfAFlatBlocksTransformIsFlat) {
  std::vector<double> coefficients(64);
  coefficients[0] = 8 * 100;  // the mean times 8
  for (const double grey : inverse_dct8(coefficients, 8).grey) EXPECT_NEAR(grey, 100, 1e-9);
}

// The bytes of a 1x1 picture, checked against Python's zlib and zlib.crc32.
TEST(Pictures, ArePortableNetworkGraphics) {
  const auto bytes = png({1, 1, {255}});
  ASSERT_EQ(bytes.size(), 8U + 25 + 12 + 2 + 5 + 2 + 4 + 12);
  EXPECT_EQ(bytes[1], std::byte{'P'});
  EXPECT_EQ(bytes[29], std::byte{0x3A});  // CRC of the header: 3A 7E 9B 55
  EXPECT_EQ(bytes[32], std::byte{0x55});
}

}  // namespace
}  // namespace ww::study::dapper
