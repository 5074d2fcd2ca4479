#include "ww/kernels/patterns.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace ww::kernels {
namespace {

constexpr std::size_t line = 64;

std::vector<std::byte> filled(Pattern pattern, std::uint64_t seed = 7) {
  std::vector<std::byte> data(512 * 1024);
  fill(data, pattern, seed);
  return data;
}

// Share of bits that are one.
double bit_density(const std::vector<std::byte>& data) {
  double ones = 0;
  for (const std::byte piece : data) ones += std::popcount(std::to_integer<unsigned>(piece));
  return ones / (8.0 * static_cast<double>(data.size()));
}

TEST(Patterns, HaveTheTogglesThatTheirNamesPromise) {
  EXPECT_EQ(toggle_rate(filled(Pattern::zeros), line), 0.0);
  EXPECT_EQ(toggle_rate(filled(Pattern::ones), line), 0.0);
  EXPECT_EQ(toggle_rate(filled(Pattern::aa), line), 0.0);
  // 4 M bits: three standard deviations of the mean are below 0.001.
  EXPECT_NEAR(toggle_rate(filled(Pattern::half_random), line), 0.25, 0.001);
  EXPECT_NEAR(toggle_rate(filled(Pattern::random), line), 0.50, 0.001);
}

TEST(Patterns, DensitiesThatAddToOneToggleAlike) {
  EXPECT_NEAR(toggle_rate(filled(Pattern::density_25), line), 0.375, 0.001);
  EXPECT_NEAR(toggle_rate(filled(Pattern::density_75), line), 0.375, 0.001);
  EXPECT_NEAR(bit_density(filled(Pattern::density_25)), 0.25, 0.001);
  EXPECT_NEAR(bit_density(filled(Pattern::density_75)), 0.75, 0.001);
}

TEST(Patterns, PairsDifferInTheirNeighboursAlone) {
  for (const Pattern pattern : {Pattern::pairs_equal, Pattern::pairs_opposite}) {
    const auto data = filled(pattern);
    EXPECT_NEAR(toggle_rate(data, line), 0.5, 0.002);
    EXPECT_NEAR(bit_density(data), 0.5, 0.001);
    for (const std::byte b : data) {
      const auto bits = std::to_integer<unsigned>(b);
      const unsigned differ = (bits ^ bits >> 1) & 0x55u;
      ASSERT_EQ(differ, pattern == Pattern::pairs_equal ? 0u : 0x55u);
    }
  }
}

TEST(Patterns, UniformLinesToggleWholeLinesHalfOfTheTimeOnEveryChannel) {
  const auto data = filled(Pattern::uniform_lines);
  EXPECT_DOUBLE_EQ(bit_density(data), 0.5);
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], data[i / line * line]);
  // 256 B of every 4 KiB are one channel's: four lines in a row.
  for (std::size_t channel = 0; channel < 16; ++channel) {
    int toggles = 0;
    int pairs = 0;
    for (std::size_t at = channel * 256; at + 256 <= data.size(); at += 4096) {
      for (std::size_t i = 1; i < 4; ++i) {
        toggles += data[at + i * line] != data[at + (i - 1) * line] ? 1 : 0;
        ++pairs;
      }
    }
    EXPECT_EQ(2 * toggles, pairs) << "channel " << channel;
  }
}

TEST(Patterns, HaveTheDensityThatTheirNamesPromise) {
  EXPECT_EQ(bit_density(filled(Pattern::zeros)), 0.0);
  EXPECT_EQ(bit_density(filled(Pattern::ones)), 1.0);
  EXPECT_EQ(bit_density(filled(Pattern::aa)), 0.5);
  EXPECT_NEAR(bit_density(filled(Pattern::half_random)), 0.25, 0.001);
  EXPECT_NEAR(bit_density(filled(Pattern::random)), 0.50, 0.001);
}

TEST(Patterns, RandomLinesAreIndependentAtAnyDistance) {
  const auto data = filled(Pattern::random);
  for (const std::size_t apart : {line, 4 * line, 16 * line, 64 * line}) {
    EXPECT_NEAR(toggle_rate(data, apart), 0.5, 0.001) << apart;
  }
}

TEST(Patterns, TheSameSeedGivesTheSameBytes) {
  EXPECT_EQ(filled(Pattern::random, 3), filled(Pattern::random, 3));
  EXPECT_NE(filled(Pattern::random, 3), filled(Pattern::random, 4));
}

TEST(Patterns, FillBuffersThatAreNotWholeWords) {
  std::vector<std::byte> data(13, std::byte{0x55});
  fill(data, Pattern::half_random, 1);
  for (const std::byte b : data) EXPECT_EQ(b & std::byte{0xCC}, std::byte{0});
}

TEST(Patterns, NamesRoundTrip) {
  for (const Pattern pattern : all_patterns) {
    EXPECT_EQ(pattern_from_string(to_string(pattern)).value(), pattern);
  }
  EXPECT_EQ(pattern_from_string("noise").error().code, ErrorCode::invalid_argument);
}

TEST(ToggleRate, OfOnePieceIsZero) {
  EXPECT_EQ(toggle_rate(std::vector<std::byte>(line), line), 0.0);
  EXPECT_EQ(toggle_rate({}, line), 0.0);
}

}  // namespace
}  // namespace ww::kernels
