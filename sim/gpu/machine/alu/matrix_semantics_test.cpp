// Matrix and dot products as real code, against the host's arithmetic. Where an
// element lies is said once more here, lane by lane, as AMD's manual does for each instruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <random>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::matrix_semantics_test {
namespace {

using test::TestGpu;

std::string target() {
  return binpatch::to_string(test::read_kernels().target());
}
bool is_gfx942() {
  return target() == "gfx942";
}
bool has_matrices() {
  return is_gfx942() || target() == "gfx90a";
}

// Position of a lane's element of an operand: row or column, column of A, block.
struct Element {
  unsigned i{}, k{}, block{};
};
// Row, column and block of a lane's element `index` of the result.
struct Result {
  unsigned i{}, j{}, block{};
};
using ElementOf = std::function<Element(unsigned lane, unsigned index)>;
using ResultOf = std::function<Result(unsigned lane, unsigned index)>;

struct Product {
  unsigned rows{}, depth{}, blocks{};
  ElementOf element;
  ResultOf result;
  // The block of A that this block takes, and the lane whose B this lane has.
  std::function<unsigned(unsigned)> a_block = [](unsigned block) { return block; };
  std::function<unsigned(unsigned)> b_lane = [](unsigned lane) { return lane; };
};

// Small whole numbers: sums are exact in any order.
template <class T>
std::vector<T> small_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (auto& value : values) value = static_cast<T>(static_cast<int>(random() % 17) - 8);
  return values;
}

template <class T, class Stored, class Out>
void expect_product(const std::string& kernel, const Product& product,
                    const std::function<Stored(T)>& store) {
  TestGpu test;
  const unsigned per_lane = product.rows * product.depth * product.blocks / 64;
  const unsigned results = product.rows * product.rows * product.blocks / 64;
  const auto a = small_numbers<T>(64UL * per_lane, 1);
  const auto b = small_numbers<T>(64UL * per_lane, 2);
  const auto c = small_numbers<Out>(64UL * results, 3);
  std::vector<Stored> stored_a;
  std::vector<Stored> stored_b;
  std::ranges::transform(a, std::back_inserter(stored_a), store);
  std::ranges::transform(b, std::back_inserter(stored_b), store);
  const auto out = test.buffer(c);
  test.launch(kernel, 64, 64, test.buffer(stored_a), test.buffer(stored_b), out);
  const auto got = test.read<Out>(out, c.size());

  const auto at = [&](unsigned block, unsigned i, unsigned k) {
    return (std::size_t{block} * product.rows + i) * product.depth + k;
  };
  std::vector<T> rows(a.size());
  std::vector<T> columns(b.size());
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned n = 0; n < per_lane; ++n) {
      const Element e = product.element(lane, n);
      rows[at(e.block, e.i, e.k)] = a[lane * per_lane + n];
      columns[at(e.block, e.i, e.k)] = b[product.b_lane(lane) * per_lane + n];
    }
  }
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned n = 0; n < results; ++n) {
      const Result r = product.result(lane, n);
      Out expected = c[lane * results + n];
      for (unsigned k = 0; k < product.depth; ++k) {
        expected += static_cast<Out>(rows[at(product.a_block(r.block), r.i, k)]) *
                    static_cast<Out>(columns[at(r.block, r.j, k)]);
      }
      EXPECT_EQ(got[lane * results + n], expected) << kernel << " lane " << lane << ", " << n;
    }
  }
}

void expect_floats(const std::string& kernel, const Product& product) {
  expect_product<float, float, float>(kernel, product, [](float x) { return x; });
}

// A 32-row result: rows 0-3 of each eight in the lower lanes, 4-7 in the upper ones.
Result tall(unsigned lane, unsigned index) {
  return {8 * (index % 16 / 4) + 4 * (lane / 32) + index % 4, lane % 32, index / 16};
}
Result middle(unsigned lane, unsigned index) {
  return {4 * (lane / 16) + index % 4, lane % 16, index / 4};
}
Result small(unsigned lane, unsigned index) {
  return {index, lane % 4, lane / 4};
}
Element by_block(unsigned rows, unsigned lane) {
  return {lane % rows, 0, lane / rows};
}
Element by_depth(unsigned rows, unsigned per_lane, unsigned lane, unsigned index) {
  return {lane % rows, per_lane * (lane / rows) + index, 0};
}

TEST(Semantics, MultipliesMatricesOfFloats) {
  if (!has_matrices()) GTEST_SKIP() << target() << " has no matrix unit";
  const auto blocks = [](unsigned rows) {
    return [rows](unsigned lane, unsigned) { return by_block(rows, lane); };
  };
  const auto depths = [](unsigned rows) {
    return [rows](unsigned lane, unsigned index) { return by_depth(rows, 1, lane, index); };
  };
  expect_floats("matrix_32x32x1", {32, 1, 2, blocks(32), tall});
  expect_floats("matrix_16x16x1", {16, 1, 4, blocks(16), middle});
  expect_floats("matrix_4x4x1", {4, 1, 16, blocks(4), small});
  expect_floats("matrix_32x32x2", {32, 2, 1, depths(32), tall});
  expect_floats("matrix_16x16x4", {16, 4, 1, depths(16), middle});
  Product broadcast{4, 1, 16, blocks(4), small};
  broadcast.a_block = [](unsigned block) { return block / 4 * 4 + 1; };
  expect_floats("matrix_broadcast", broadcast);
  Product rotated{4, 1, 16, blocks(4), small};
  rotated.b_lane = [](unsigned lane) { return (lane + 16) % 64; };
  expect_floats("matrix_rotated", rotated);
}

TEST(Semantics, MultipliesMatricesOfHalvesBytesAndDoubles) {
  if (!has_matrices()) GTEST_SKIP() << target() << " has no matrix unit";
  const Product wide{16, 16, 1, [](unsigned l, unsigned n) { return by_depth(16, 4, l, n); },
                     middle};
  // Whole numbers up to 8 in a half: a float's exponent and digits, moved.
  expect_product<float, std::uint16_t, float>("matrix_halves", wide, [](float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (x == 0) return std::uint16_t{0};
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | ((bits >> 23 & 255U) - 112U) << 10 |
                                      (bits >> 13 & 0x3FFU));
  });
  expect_product<float, std::uint16_t, float>("matrix_brains", wide, [](float x) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
  });
  const std::function<std::int8_t(int)> byte = [](int x) { return static_cast<std::int8_t>(x); };
  if (is_gfx942()) {  // twice as deep
    expect_product<int, std::int8_t, int>(
        "matrix_more_bytes",
        {16, 32, 1, [](unsigned l, unsigned n) { return by_depth(16, 8, l, n); }, middle}, byte);
    expect_product<int, std::int8_t, int>(
        "matrix_tall_bytes",
        {32, 16, 1, [](unsigned l, unsigned n) { return by_depth(32, 8, l, n); }, tall}, byte);
  } else {
    expect_product<int, std::int8_t, int>("matrix_bytes", wide, byte);
  }
  const auto same = [](double x) { return x; };
  expect_product<double, double, double>(
      "matrix_doubles",
      {16, 4, 1, [](unsigned l, unsigned n) { return by_depth(16, 1, l, n); },
       [](unsigned lane, unsigned index) {
         return Result{4 * index + lane / 16, lane % 16, 0};
       }},
      same);
  expect_product<double, double, double>("matrix_small_doubles",
                                         {4, 4, 4,
                                          [](unsigned lane, unsigned) {
                                            return Element{lane % 4, lane / 16, lane / 4 % 4};
                                          },
                                          [](unsigned lane, unsigned) {
                                            return Result{lane / 16, lane % 4, lane / 4 % 4};
                                          }},
                                         same);
}

// The sum of products of parts of two words, signed or not.
std::int64_t dot(std::uint32_t a, std::uint32_t b, unsigned bits, bool a_signed, bool b_signed) {
  std::int64_t sum = 0;
  const std::int64_t range = std::int64_t{1} << bits;
  for (unsigned at = 0; at < 32; at += bits) {
    std::int64_t x = static_cast<std::int64_t>(a >> at) % range;
    std::int64_t y = static_cast<std::int64_t>(b >> at) % range;
    if (a_signed && x >= range / 2) x -= range;
    if (b_signed && y >= range / 2) y -= range;
    sum += x * y;
  }
  return sum;
}

constexpr std::uint32_t kCount = 256;

// Pairs of words, some of whose parts are the least or greatest there are.
struct Words {
  std::vector<std::uint32_t> a, b;
};
Words draw_words() {
  std::mt19937 random(7);
  Words words{std::vector<std::uint32_t>(kCount), std::vector<std::uint32_t>(kCount)};
  for (std::size_t i = 0; i < kCount; ++i) {
    words.a[i] = i % 5 == 0   ? 0x80808080U
                 : i % 7 == 0 ? 0x7FFF7FFFU
                              : static_cast<std::uint32_t>(random());
    words.b[i] = i % 3 == 0   ? 0x80008000U
                 : i % 4 == 0 ? 0xFFFFFFFFU
                              : static_cast<std::uint32_t>(random());
  }
  return words;
}

TEST(Semantics, AddsDotProductsOfParts) {
  if (!has_matrices() && target() != "gfx1030") GTEST_SKIP() << target() << " has no dot products";
  TestGpu test;
  const auto& [a, b] = draw_words();
  const auto out = test.buffer(kCount * 48);
  test.launch("dots", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<std::uint32_t>(out, kCount * 12);
  constexpr unsigned kBits[] = {16, 8, 4};
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 12; ++k) {
      const bool is_signed = k % 4 < 2;
      const std::uint32_t c = a[i] ^ b[i];
      const std::int64_t sum =
          dot(a[i], b[i], kBits[k / 4], is_signed, is_signed) +
          (is_signed ? std::int64_t{static_cast<std::int32_t>(c)} : std::int64_t{c});
      const std::int64_t saturated = is_signed ? std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX)
                                               : std::clamp<std::int64_t>(sum, 0, UINT32_MAX);
      const auto expected = static_cast<std::uint32_t>(k % 2 == 0 ? sum : saturated);
      EXPECT_EQ(got[12 * i + k], expected) << std::hex << a[i] << " " << b[i] << ", " << k;
    }
  }
}

TEST(Semantics, AddsDotProductsWithConstants) {
  if (!has_matrices() && target() != "gfx1030") GTEST_SKIP() << target() << " has no dot products";
  TestGpu test;
  // The words are halves 1.5 and 3, -2 and 0.25, 0 and 100.
  const std::vector<std::uint32_t> halves{0x42003E00U, 0x3400C000U, 0x56400000U};
  constexpr float kFirst[] = {1.5F, -2, 0};
  constexpr float kSecond[] = {3, 0.25F, 100};
  std::vector<std::uint32_t> a(64, 0xFFFF8000U);
  std::copy(halves.begin(), halves.end(), a.begin());
  const auto out = test.buffer(a.size() * 20);
  test.launch("dots_with_constants", 64, 64, test.buffer(a), out);
  const auto got = test.read<std::uint32_t>(out, a.size() * 5);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint32_t low = a[i] & 0xFFFFU;
    const std::uint32_t high = a[i] >> 16;
    EXPECT_EQ(got[5 * i], low + high + 3) << i;
    EXPECT_EQ(got[5 * i + 1], 5 * low + a[i]) << i;
    const auto sum = static_cast<std::int16_t>(low) + static_cast<std::int16_t>(high);
    EXPECT_EQ(got[5 * i + 2], a[i] - static_cast<std::uint32_t>(sum)) << i;
    if (i >= halves.size()) continue;
    const float total = kFirst[i] + kSecond[i] + 2;
    EXPECT_EQ(std::bit_cast<float>(got[5 * i + 3]), total) << i;
    EXPECT_EQ(std::bit_cast<float>(got[5 * i + 4]), total + kFirst[i] / 2) << i;
  }
}

// RDNA 3 alone gives each source of the product a sign bit.
TEST(Semantics, AddsDotProductsOfPartsWithSignsOfTheirOwn) {
  if (target() != "gfx1100") GTEST_SKIP() << target() << " has no such products";
  TestGpu test;
  const auto& [a, b] = draw_words();
  const auto out = test.buffer(kCount * 64);
  test.launch("signed_dots", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<std::uint32_t>(out, kCount * 16);
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 16; ++k) {
      const std::int64_t sum = dot(a[i], b[i], k % 4 < 2 ? 8 : 4, (k & 4U) != 0, (k & 8U) != 0) +
                               std::int64_t{static_cast<std::int32_t>(a[i] ^ b[i])};
      const std::int64_t saturated = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      const auto expected = static_cast<std::uint32_t>(k % 2 == 0 ? sum : saturated);
      EXPECT_EQ(got[16 * i + k], expected) << std::hex << a[i] << " " << b[i] << ", " << k;
    }
  }
}

TEST(Semantics, AddsDotProductsOfHalves) {
  if (!has_matrices()) GTEST_SKIP() << target() << " has no matrix unit";
  TestGpu test;
  // 1.5 * 2 + -0.25 * 4 + 10; then a denormal, which MI200 takes for zero.
  const std::vector<std::uint32_t> a{0xB4003E00U, 0x3C000001U};
  const std::vector<std::uint32_t> b{0x44004000U, 0x40006000U};
  std::vector<std::uint32_t> more_a(64);
  std::vector<std::uint32_t> more_b(64);
  std::vector<float> c(64, 10.0F);
  std::copy(a.begin(), a.end(), more_a.begin());
  std::copy(b.begin(), b.end(), more_b.begin());
  const auto out = test.buffer(c);
  test.launch("dots_of_halves", 64, 64, test.buffer(more_a), test.buffer(more_b), out);
  const auto got = test.read<float>(out, 64);
  EXPECT_EQ(got[0], 12.0F);
  EXPECT_EQ(got[1], 12.0F);
  EXPECT_EQ(got[2], 10.0F);
}

// Halves of 2^-24 are denormals: MI200 takes them for zeros, MI300 does not.
TEST(Semantics, KeepsDenormalsOfHalvesWhereTheMatrixUnitDoes) {
  if (!has_matrices()) GTEST_SKIP() << target() << " has no matrix unit";
  TestGpu test;
  const auto a = test.buffer(std::vector<std::uint16_t>(64 * 4, 1));
  const auto b = test.buffer(std::vector<std::uint16_t>(64 * 4, 0x3C00));
  const auto out = test.buffer(std::vector<float>(64 * 4, 0.0F));
  test.launch("matrix_halves", 64, 64, a, b, out);
  for (const float sum : test.read<float>(out, 64 * 4)) {
    EXPECT_EQ(sum, is_gfx942() ? 16 * 0x1p-24F : 0.0F);
  }
}

TEST(Semantics, DoesWhatGfx942Adds) {
  if (!is_gfx942()) GTEST_SKIP() << target() << " has no such products";
  constexpr std::uint32_t kCount = 256;
  TestGpu test;
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> a(kCount);
  std::vector<std::uint64_t> b(kCount);
  std::vector<float> x(2 * kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    a[i] = random() >> i % 60;
    b[i] = random();
    x[2 * i] = static_cast<float>(static_cast<std::int64_t>(random())) * 0x1p-60F;
    x[2 * i + 1] = static_cast<float>(static_cast<std::int64_t>(random())) * 0x1p-61F;
  }
  const auto out = test.buffer(kCount * 16);
  const auto floats = test.buffer(kCount * 8);
  test.launch("added_by_gfx942", kCount, 64, test.buffer(a), test.buffer(b), out, test.buffer(x),
              floats);
  const auto whole = test.read<std::uint64_t>(out, 2UL * kCount);
  const auto y = test.read<float>(floats, 2UL * kCount);
  const auto pi = std::bit_cast<float>(0x40490FDBU);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(whole[2 * i], (a[i] << (a[i] & 7)) + b[i]);
    EXPECT_EQ(whole[2 * i + 1], a[i]);
    EXPECT_EQ(y[2 * i], std::fma(x[2 * i], pi, x[2 * i + 1]));
    EXPECT_EQ(y[2 * i + 1], std::fma(x[2 * i], x[2 * i + 1], pi));
  }
}

// Both halves read their sources before either writes.
TEST(Semantics, ExecutesTwoInstructionsInOne) {
  const auto object = test::read_kernels();
  const auto& kernels = object.kernels();
  if (std::ranges::none_of(kernels, [](const auto& k) { return k.name == "dual_instructions"; })) {
    GTEST_SKIP() << target() << " has no instructions of two";
  }
  constexpr std::uint32_t kItems = 256;
  TestGpu test;
  std::mt19937 random(7);
  std::vector<float> a(kItems);
  std::vector<float> b(kItems);
  for (std::size_t i = 0; i < kItems; ++i) {
    a[i] = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-20F;
    b[i] = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-24F;
  }
  const auto out = test.buffer(kItems * 16);
  test.launch("dual_instructions", kItems, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<std::uint32_t>(out, 4UL * kItems);
  const auto pi = std::bit_cast<float>(0x40490FDBU);
  for (std::size_t i = 0; i < kItems; ++i) {
    const auto x = std::bit_cast<std::uint32_t>(a[i]);
    const auto y = std::bit_cast<std::uint32_t>(b[i]);
    EXPECT_EQ(got[4 * i], y);
    EXPECT_EQ(got[4 * i + 1], x);
    EXPECT_EQ(got[4 * i + 2], std::bit_cast<std::uint32_t>(std::fma(b[i], a[i], pi)));
    EXPECT_EQ(got[4 * i + 3], x + y);
  }
}

// A device of one die.
TEST(Semantics, ReadsTheNumberOfTheDie) {
  if (!is_gfx942()) GTEST_SKIP() << target() << " has no such products";
  TestGpu test;
  const auto out = test.buffer(std::vector<std::uint32_t>(64, 77));
  test.launch("die_of", 64, 64, out);
  for (const std::uint32_t die : test.read<std::uint32_t>(out, 64)) EXPECT_EQ(die, 0U);
}

TEST(Semantics, KeepsPrivateDataThatCrossesDwords) {
  constexpr std::uint32_t kItems = 256;
  TestGpu test;
  std::vector<std::int32_t> in(kItems);
  for (std::size_t i = 0; i < kItems; ++i) in[i] = static_cast<std::int32_t>(i * 77773) - 5000000;
  const auto out = test.buffer(kItems * 8);
  test.launch("private_records", kItems, 64, test.buffer(in), out);
  const auto got = test.read<std::int64_t>(out, kItems);
  for (int i = 0; i < static_cast<int>(kItems); ++i) {
    std::int64_t total = 0;
    for (int j = 0; j < 6; ++j) {
      const int r = (i + j) % 6;
      total = total * 3 + 2 * j + 2 * i + r + in[static_cast<std::size_t>(i)] * r + (i + r) +
              static_cast<std::int16_t>(r - i);
    }
    EXPECT_EQ(got[static_cast<std::size_t>(i)], total) << i;
  }
}

TEST(Launch, RecursionEndsWithTheBytesThatThereAre) {
  TestGpu test;
  const auto result =
      test.try_launch("recursion", Grid{1, {64, 1, 1}, {64, 1, 1}}, test.buffer(1024));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text().find("private memory is exhausted"), std::string::npos)
      << result.error().text();
  ASSERT_FALSE(test.gpu().findings().empty());
  EXPECT_EQ(test.gpu().findings()[0].kind, FindingKind::private_out_of_bounds);
}

}  // namespace
}  // namespace ww::sim::gpu::matrix_semantics_test
