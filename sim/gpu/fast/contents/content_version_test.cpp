#include "fast/contents/content_version.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <unordered_set>

namespace ww::sim::gpu::exec {
namespace {

using Words = std::array<std::uint64_t, ContentVersion::kLine / 8>;

std::uint64_t number_of(const Words& line, std::uint64_t address = 0x1000) {
  return ContentVersion::sum(address, reinterpret_cast<const std::byte*>(line.data()), 1);
}

const Words kLines[] = {{}, {1, 2, 3, 4, 5, 6, 7, 8}, {~0ULL, ~0ULL, ~0ULL, ~0ULL}};

// Numbers drawn at random differ in 32 of their 64 bits on average. One pair of 10^10 differs in
// fewer than 8 or in more than 56.
TEST(ContentVersion, ChangesInManyBitsWithEachBitOfALine) {
  for (const Words& line : kLines) {
    for (std::size_t bit = 0; bit < 64 * line.size(); ++bit) {
      Words other = line;
      other[bit / 64] ^= 1ULL << bit % 64;
      const int changed = std::popcount(number_of(line) ^ number_of(other));
      EXPECT_GE(changed, 8) << "bit " << bit;
      EXPECT_LE(changed, 56) << "bit " << bit;
    }
  }
}

TEST(ContentVersion, TellsPlacesOfTheSameWordApart) {
  std::unordered_set<std::uint64_t> numbers;
  std::size_t count = 0;
  for (std::uint64_t word = 1; word < 100; ++word) {
    for (std::size_t place = 0; place < Words{}.size(); ++place) {
      Words line{};
      line[place] = word;
      for (std::uint64_t address = 0; address < 640; address += 64) {
        numbers.insert(number_of(line, address));
        ++count;
      }
    }
  }
  EXPECT_EQ(numbers.size(), count);
}

TEST(ContentVersion, TellsExchangedWordsApart) {
  const Words line = {11, 22, 33, 44, 55, 66, 77, 88};
  for (std::size_t a = 0; a < line.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      Words other = line;
      std::swap(other[a], other[b]);
      EXPECT_NE(number_of(line), number_of(other)) << a << " and " << b;
    }
  }
}

TEST(ContentVersion, TellsExchangedLinesApart) {
  EXPECT_NE(number_of(kLines[0], 0) + number_of(kLines[1], 64),
            number_of(kLines[1], 0) + number_of(kLines[0], 64));
}

TEST(ContentVersion, ReturnsWithTheContents) {
  const auto* zeros = reinterpret_cast<const std::byte*>(kLines[0].data());
  const auto* ones = reinterpret_cast<const std::byte*>(kLines[2].data());
  ContentVersion version;
  const std::uint64_t before = version.value();
  version.replace(64, zeros, ones);
  EXPECT_NE(version.value(), before);
  version.replace(64, ones, zeros);
  EXPECT_EQ(version.value(), before);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
