// Real machine code for 8- and 16-bit values, indexed registers and lanes that read each other,
// against the host's arithmetic. gfx9 has instructions of its own for all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::narrow_semantics_test {
namespace {

using test::TestGpu;
using S16 = std::int16_t;
using U16 = std::uint16_t;
using U8 = std::uint8_t;
using S8 = std::int8_t;

constexpr std::uint32_t kCount = 512;

template <class T>
std::vector<T> values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> result(count);
  constexpr long kEdges[] = {0, 1, -1, 127, 128, -128, 255, 32767, -32768, 2, 100, -100};
  for (auto& value : result) {
    value = random() % 3 == 0 ? static_cast<T>(kEdges[random() % 12]) : static_cast<T>(random());
  }
  return result;
}

bool has_kernel(const std::string& name) {
  const binpatch::CodeObject object = test::read_kernels();
  for (const auto& kernel : object.kernels()) {
    if (kernel.name == name) return true;
  }
  return false;
}

template <class T>
T saturated(long x) {
  return static_cast<T>(
      std::clamp<long>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

TEST(Semantics, ComputesShortsAsTheHostDoes) {
  TestGpu test;
  const auto a = values<S16>(2 * kCount, 1);
  const auto b = values<S16>(2 * kCount, 2);
  const auto out = test.buffer(kCount * 64);
  test.launch("shorts", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<S16>(out, kCount * 32);
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      const S16 x = a[2 * i + c], y = b[2 * i + c];
      const S16 other_x = a[2 * i + 1], other_y = b[2 * i];
      const auto ux = static_cast<U16>(x), uy = static_cast<U16>(y);
      const int shift = y & 15;
      const int rotated = b[2 * i + 1] & 15;
      const auto turned = static_cast<U16>(a[2 * i + 1]);
      const S16 expected[16] = {
          static_cast<S16>(x + y),
          static_cast<S16>(x - y),
          static_cast<S16>(x * y),
          saturated<S16>(x + y),
          saturated<S16>(x - y),
          static_cast<S16>(saturated<U16>(ux + uy)),
          static_cast<S16>(saturated<U16>(ux - uy)),
          std::max(x, y),
          static_cast<S16>(std::min(ux, uy)),
          static_cast<S16>(x << shift),
          static_cast<S16>(x >> shift),
          static_cast<S16>(ux >> shift),
          static_cast<S16>(x * y + (c == 0 ? other_x : other_y)),
          c == 0 ? (a[2 * i] > b[2 * i + 1] ? a[2 * i + 1] : b[2 * i])
                 : static_cast<S16>(x / static_cast<S16>(y | 1)),
          std::clamp<S16>(x, -100, 1000),
          c == 0 ? static_cast<S16>(x * y >> 16)
                 : static_cast<S16>(turned << rotated | turned >> ((16 - rotated) & 15))};
      for (std::size_t k = 0; k < 16; ++k) {
        ASSERT_EQ(got[32 * i + 2 * k + c], expected[k])
            << "result " << k << ", component " << c << " of " << x << ", " << y;
      }
    }
  }
}

TEST(Semantics, ComputesBytesAsTheHostDoes) {
  TestGpu test;
  const auto a = values<U8>(4 * kCount, 3);
  const auto b = values<S8>(4 * kCount, 4);
  const auto out = test.buffer(kCount * 32);
  test.launch("bytes", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<U8>(out, kCount * 32);
  for (std::size_t i = 0; i < kCount; ++i) {
    const U8* x = &a[4 * i];
    const S8* y = &b[4 * i];
    const U8 mixed[4] = {static_cast<U8>(x[3] - static_cast<U8>(y[0])), x[2],
                         static_cast<U8>(x[1] ^ static_cast<U8>(y[2])), x[0]};
    for (std::size_t c = 0; c < 4; ++c) {
      const auto uy = static_cast<U8>(y[c]);
      const float product = static_cast<float>(x[c]) * 1.5F - static_cast<float>(y[c]);
      const U8 expected[8] = {static_cast<U8>(x[c] + uy),
                              mixed[c],
                              saturated<U8>(x[c] + uy),
                              static_cast<U8>(saturated<S8>(static_cast<S8>(x[c]) - y[c])),
                              saturated<U8>(x[c] * y[c]),
                              static_cast<U8>(saturated<S8>(static_cast<long>(product))),
                              static_cast<U8>(std::max(x[c], uy) - std::min(x[c], uy)),
                              static_cast<U8>((y[c] >> 2) + (x[c] << 3))};
      for (std::size_t k = 0; k < 8; ++k) {
        ASSERT_EQ(int{got[32 * i + 4 * k + c]}, int{expected[k]})
            << "result " << k << ", component " << c << " of " << int{x[c]} << ", " << int{y[c]};
      }
    }
  }
}

// --- halves ---

double half_value(U16 bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

// Rounds to the nearest half, ties to even, a value that is exact or rounded to 53 bits.
double nearest_half(double x) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) > 65504 ? std::copysign(INFINITY, x) : rounded;
}

TEST(Semantics, ComputesHalvesRoundedToNearest) {
  if (!has_kernel("half_floats")) GTEST_SKIP() << "this target has no half-precision arithmetic";
  TestGpu test;
  std::mt19937 random(5);
  const auto halves = [&random] {
    constexpr U16 kEdges[] = {0,      0x8000, 1,      0x3FF,  0x400,  0x7BFF,
                              0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3C00, 0xBC00};
    std::vector<U16> result(2 * kCount);
    for (auto& value : result) {
      value = static_cast<U16>(random());
      if (random() % 3 != 0)
        value = static_cast<U16>((value & 0x83FF) | (10 + random() % 10) << 10);
      if (random() % 12 == 0) value = kEdges[random() % 12];
    }
    return result;
  };
  const auto a = halves();
  const auto b = halves();
  const auto out = test.buffer(kCount * 64);
  test.launch("half_floats", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<U16>(out, kCount * 32);
  for (std::size_t i = 0; i < kCount; ++i) {
    const double x0 = half_value(a[2 * i]), x1 = half_value(a[2 * i + 1]);
    const double y0 = half_value(b[2 * i]), y1 = half_value(b[2 * i + 1]);
    const double x[2] = {x0, x1}, y[2] = {y0, y1};
    for (std::size_t c = 0; c < 2; ++c) {
      const double other = c == 0 ? y1 : x0;
      const auto truncated = [](double v, double limit) {
        return std::isnan(v) ? 0.0 : std::trunc(std::clamp(v, -limit, limit - 1));
      };
      const double expected[16] = {
          nearest_half(x[c] + y[c]),
          nearest_half(x[c] - y[c]),
          nearest_half(x[c] * y[c]),
          nearest_half(std::fma(x[c], y[c], other)),
          c == 0 ? nearest_half(x0 / y0) : nearest_half(std::sqrt(std::fabs(x1))),
          std::fmax(x[c], y[c]),
          std::fmin(-x[c], y[c]),
          c == 0 ? std::floor(x0) : std::nearbyint(x1),
          c == 0 ? nearest_half(truncated(x0, 2147483648.0)) : nearest_half(truncated(y1, 32768)),
          c == 0 ? NAN : nearest_half(static_cast<float>(x1) * 3.0F),
          c == 0 ? (x0 < y0 ? x0 : y1) : (std::isnan(y1) ? x0 : x1),
          c == 0 ? std::fmin(std::fmax(x0, 0.0), 1.0) : nearest_half(std::fabs(y0) * -x1),
          c == 0 ? nearest_half(x0 * 8) : nearest_half(std::trunc(y1) + std::ceil(y0)),
          c == 0 ? nearest_half(std::fma(x0, y0, nearest_half(0.3)))
                 : nearest_half(std::fma(x0, nearest_half(0.7), y0)),
          nearest_half((c == 0 ? x1 : y0) * 2),
          NAN};
      for (std::size_t k = 0; k < 16; ++k) {
        // One float fused or not, and mad, may round once or twice.
        if (k == 15 || (k == 9 && c == 0)) continue;
        if ((k == 8) && (std::isnan(x0) || std::isnan(y1) || std::isinf(x0) || std::isinf(y1) ||
                         std::fabs(y1) >= 32768)) {
          continue;  // out of range: not defined
        }
        if (k == 11 && c == 0 && std::isnan(x0)) continue;  // not defined
        const double value = half_value(got[32 * i + 2 * k + c]);
        const double want = expected[k];
        const std::string what = "result " + std::to_string(k) + ", component " +
                                 std::to_string(c) + " of " + std::to_string(x[c]) + ", " +
                                 std::to_string(y[c]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(value)) << what << " is " << value;
        } else if (k == 4) {  // OpenCL allows one unit in the last place
          const double unit =
              std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1e-8 : want) - 10, -24));
          ASSERT_TRUE(value == want || std::fabs(value - want) <= unit) << what << ": " << value;
        } else {
          ASSERT_EQ(value, want) << what;
        }
      }
    }
  }
}

TEST(Semantics, IndexesRegistersByLane) {
  TestGpu test;
  std::mt19937 random(6);
  std::vector<std::uint32_t> in(8 * kCount);
  for (auto& value : in) value = static_cast<std::uint32_t>(random());
  const auto out = test.buffer(kCount * 4);
  constexpr std::uint32_t kAt = 5;
  test.launch("indexed_registers", kCount, 64, test.buffer(in), out, kAt);
  const auto got = test.read<std::uint32_t>(out, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    std::uint32_t table[16];
    std::uint64_t wide[16];
    for (std::size_t k = 0; k < 8; ++k) {
      table[k] = in[8 * i + k];
      table[8 + k] = in[8 * i + k] * 3 + 1;
    }
    for (std::size_t k = 0; k < 16; ++k) wide[k] = std::uint64_t{table[k]} << 3;
    const std::uint32_t first = table[0], second = table[1];
    for (std::uint32_t k = 0; k < 8; ++k) {
      const std::uint32_t value = table[(kAt + k * 3) & 15] * 3 + k;
      table[(kAt * k) & 15] += value;
      table[(first + k * 5) & 15] +=
          static_cast<std::uint32_t>(wide[(second + k) & 15] >> 2) + value;
    }
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < 16; ++k) {
      sum = sum * 31 + table[k];
    }
    ASSERT_EQ(got[i], sum) << i;
  }
}

TEST(Semantics, MovesValuesByIndexBesideScalarInstructions) {
  TestGpu test;
  std::vector<std::uint32_t> in(kCount);
  for (std::size_t i = 0; i < kCount; ++i) in[i] = static_cast<std::uint32_t>(7 * i);
  for (const std::uint32_t at : {2U, 3U}) {
    const auto out = test.buffer(kCount * 8);
    test.launch("indexed_beside_scalars", kCount, 64, test.buffer(in), out, at);
    const auto got = test.read<std::uint32_t>(out, 2 * kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(got[2 * i], in[i] + at) << i;
      ASSERT_EQ(got[2 * i + 1], at + 5 != 7 ? 1U : 2U) << i;
    }
  }
}

TEST(Semantics, IndexPastTheRegistersChangesNothing) {
  TestGpu test;
  constexpr std::size_t kMany = 1 << 15;  // work-items: each wave has neighbours
  std::vector<std::uint32_t> before(16 * kMany);
  std::iota(before.begin(), before.end(), 1U);
  constexpr std::uint32_t kNew = 0xABCD;
  for (const std::uint32_t at : {7U, 26U, 100U, 230U}) {
    const auto data = test.buffer(before);
    test.launch("element_that_may_exist", kMany, 64, data, test.buffer(std::vector{at}), 1U, kNew);
    auto want = before;
    if (at < 16) std::fill_n(&want[at * kMany], kMany, kNew);
    EXPECT_EQ(test.read<std::uint32_t>(data, want.size()), want) << at;
  }
}

TEST(Semantics, MovesValuesByIndexPastTheRegisters) {
  TestGpu test;
  const auto out = test.buffer(kCount * 12);
  test.launch("indexed_past_the_end", kCount, 64, out);
  const auto got = test.read<std::uint32_t>(out, 3 * kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(got[3 * i], 77U) << i;
    ASSERT_EQ(got[3 * i + 1], 154U) << i;
    ASSERT_EQ(got[3 * i + 2], 5U) << i;
  }
}

TEST(Semantics, UpdatesLongsAtomically) {
  TestGpu test;
  const auto a = test.buffer(std::vector<std::uint64_t>(5));
  const auto old = test.buffer(256 * 8);
  test.launch("long_atomics", 256, 64, a, old);
  const auto got = test.read<std::uint64_t>(a, 5);
  EXPECT_EQ(got[0], std::uint64_t{255 * 256 / 2} << 20);
  EXPECT_EQ(got[1], 255 * 0x100000001U);
  EXPECT_EQ(got[2], ~std::uint64_t{0});
  EXPECT_EQ(got[3], 0U);
  EXPECT_EQ(got[4], 256U);
  auto tickets = test.read<std::uint64_t>(old, 256);
  std::sort(tickets.begin(), tickets.end());
  for (std::uint64_t i = 0; i < 256; ++i) ASSERT_EQ(tickets[i], i);
}

TEST(Semantics, UpdatesFloatsAtomically) {
  if (!has_kernel("float_atomics")) GTEST_SKIP() << "of RDNA";
  TestGpu test;
  std::vector<float> in(256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 256) - 100.5F;
  const auto a = test.buffer(std::vector<float>(3));
  const auto doubles = test.buffer(std::vector<double>(2));
  test.launch("float_atomics", 256, 64, a, doubles, test.buffer(in));
  EXPECT_EQ(test.read<float>(a, 3), (std::vector<float>{-100.5F, 154.5F, 7.0F}));
  const bool has_doubles = binpatch::to_string(test::read_kernels().target()) == "gfx1030";
  EXPECT_EQ(test.read<double>(doubles, 2),
            has_doubles ? (std::vector{-100.5, 154.5}) : (std::vector{0.0, 0.0}));
}

TEST(Semantics, MovesValuesBetweenLanes) {
  if (!has_kernel("dpp_neighbours")) GTEST_SKIP() << "this target has no data-parallel primitives";
  TestGpu test;
  std::vector<std::int32_t> in(128);
  for (int i = 0; i < 128; ++i) in[static_cast<std::size_t>(i)] = 1000 + i;
  const auto out = test.buffer(128 * 32);
  test.launch("dpp_neighbours", 128, 64, test.buffer(in), out);
  const auto got = test.read<std::int32_t>(out, 128 * 8);
  for (int i = 0; i < 128; ++i) {
    const int lane = i & 63;
    const int row = lane & 15;
    const auto at = [&](int other) { return 1000 + (i & ~63) + other; };
    const int expected[8] = {at(lane ^ 3),
                             row < 15 ? at(lane + 1) : -2,
                             row >= 3 ? at(lane - 3) : 0,
                             at((lane & ~15) | ((row - 4) & 15)),
                             lane > 0 ? at(lane - 1) : -5,
                             (lane & 16) != 0 ? at((lane & ~15) - 1) : -6,
                             (row / 4) % 2 == 0 ? at((lane & ~15) | (15 - row)) : -7,
                             at(63 - lane)};
    for (int k = 0; k < 8; ++k) {
      ASSERT_EQ(got[static_cast<std::size_t>(8 * i + k)], expected[k])
          << "result " << k << " of lane " << lane;
    }
  }
}

// RDNA's rows are 32 lanes wide, also in waves of 64.
TEST(Semantics, TakesValuesOfOtherLanesOfARow) {
  if (!has_kernel("take_others")) GTEST_SKIP() << "this target has no ds_bpermute_b32";
  TestGpu test;
  const std::string target = binpatch::to_string(test::read_kernels().target());
  const int row = target.starts_with("gfx1") ? 32 : 64;
  constexpr int kItems = 128;
  std::vector<std::int32_t> other(kItems);
  for (int i = 0; i < kItems; ++i) other[static_cast<std::size_t>(i)] = i * 37 + i / 3 - 20;
  const auto out = test.buffer(std::vector<std::int32_t>(std::size_t{2} * kItems, -1));
  test.launch("take_others", kItems, 64, test.buffer(other), out);
  const auto got = test.read<std::int32_t>(out, std::size_t{2} * kItems);
  for (int i = 0; i < kItems; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int taken = i / row * row + (other[at] & (row - 1));
    EXPECT_EQ(got[2 * at], taken) << i;
    EXPECT_EQ(got[2 * at + 1], i % 2 != 0 ? -1 : taken % 2 != 0 ? 0 : taken) << i;
  }
}

}  // namespace
}  // namespace ww::sim::gpu::narrow_semantics_test
