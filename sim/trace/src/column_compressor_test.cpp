#include "column_compressor.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <bit>
#include <random>
#include <string>

namespace ww::sim::trace {
namespace {

constexpr std::size_t kBytes = std::size_t{256} << 10;

std::string compressed(ColumnCompressor& compressor, const std::string& column) {
  std::string packed(ColumnCompressor::bound(column.size()), '\0');
  const std::size_t size = compressor.compress(column, packed.data(), packed.size());
  EXPECT_EQ(ZSTD_isError(size), 0U) << ZSTD_getErrorName(size);
  packed.resize(size);
  std::string back(column.size(), '\0');
  EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), packed.data(), packed.size()), column.size());
  EXPECT_EQ(back, column);
  return packed;
}

// The exponents of floats that are even between 0 and 1: half of them one value, a quarter another.
std::string exponents(std::size_t bytes) {
  std::mt19937_64 random(3);
  std::string column(bytes, '\0');
  for (char& byte : column) byte = static_cast<char>(std::countl_zero(random() | 1));
  return column;
}

TEST(ColumnCompressor, FindsFewValuesThatDoNotRepeat) {
  ColumnCompressor compressor;
  const std::string column = exponents(kBytes);
  // Two bits of information a byte; a search for repetitions gives 2.3 bits.
  EXPECT_LT(compressed(compressor, column).size(), kBytes * 2.1 / 8);
}

TEST(ColumnCompressor, FindsRepetitions) {
  ColumnCompressor compressor;
  const std::string once = exponents(1000);
  std::string column;
  while (column.size() < kBytes) column += once;
  EXPECT_LT(compressed(compressor, column).size(), kBytes / 100);
}

TEST(ColumnCompressor, GivesTheSameBytesWhateverCameBefore) {
  ColumnCompressor fresh;
  ColumnCompressor used;
  std::mt19937_64 random(5);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64} << 10, kBytes}) {
    std::string column(bytes, '\0');
    for (char& byte : column) byte = static_cast<char>(random());
    const std::string first = compressed(fresh, column);
    compressed(used, exponents(kBytes));
    EXPECT_EQ(compressed(used, column), first) << bytes;
    EXPECT_EQ(compressed(used, exponents(kBytes)), compressed(fresh, exponents(kBytes)));
  }
}

}  // namespace
}  // namespace ww::sim::trace
