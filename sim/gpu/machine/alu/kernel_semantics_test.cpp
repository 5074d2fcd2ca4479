// Real machine code for every kind of value, against the host's arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "machine/alu/alu.hpp"
#include "machine/isa/approximated.hpp"
#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::kernel_semantics_test {
namespace {

using test::TestGpu;

constexpr std::uint32_t kCount = 512;

template <class T>
std::vector<T> random_values(std::uint64_t seed) {
  std::vector<T> values(kCount);
  for (auto& value : values) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    // Small and large ones.
    value = static_cast<T>(seed >> 7) >> (seed % (sizeof(T) * 8));
  }
  return values;
}

template <class F>
std::vector<F> random_floats(std::uint64_t seed, double scale) {
  std::vector<F> values(kCount);
  for (auto& value : values) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<F>((static_cast<double>(seed >> 11) / 9007199254740992.0 - 0.5) * scale);
  }
  return values;
}

double ulps(float got, double expected) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || nearest == got) return nearest == got ? 0 : 1e9;
  const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
  return std::fabs(got - expected) / unit;
}

TEST(Semantics, DividesFloatsRoundedToNearest) {
  TestGpu test;
  auto a = random_floats<float>(1, 1000.0);
  auto b = random_floats<float>(2, 3.0);
  a[0] = 1.0F;
  b[0] = 3.0F;
  a[1] = 1e38F;
  b[1] = 1e-3F;
  a[2] = 0.0F;
  b[2] = 0.0F;
  a[3] = -5.0F;
  b[3] = 0.0F;
  a[4] = 3e38F;
  b[4] = 2.9e38F;
  a[5] = std::numeric_limits<float>::infinity();
  b[5] = 2.0F;
  a[6] = 2e-38F;
  b[6] = 3e-38F;
  const auto out = test.buffer(kCount * 16);
  test.launch("divide_f32", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<float>(out, kCount * 4);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_LE(ulps(got[4 * i], double{a[i]} / double{b[i]}), 2.5) << a[i] << " / " << b[i];
    EXPECT_LE(ulps(got[4 * i + 1], std::sqrt(double{a[i]})), 3.0) << a[i];
    const float fused = std::fma(a[i], b[i], 1.0F);
    EXPECT_EQ(std::isnan(got[4 * i + 2]), std::isnan(fused));
    if (!std::isnan(fused)) {
      EXPECT_EQ(got[4 * i + 2], fused);
    }
    const float rounded = std::floor(a[i]) + std::ceil(b[i]) + std::trunc(a[i]) + std::rint(b[i]);
    if (!std::isnan(rounded)) {
      EXPECT_EQ(got[4 * i + 3], rounded);
    }
  }
}

TEST(Semantics, ComputesElementaryFunctions) {
  TestGpu test;
  const auto a = random_floats<float>(3, 40.0);
  const auto out = test.buffer(kCount * 32);
  test.launch("math_f32", kCount, 64, test.buffer(a), out);
  const auto got = test.read<float>(out, kCount * 8);
  for (std::size_t i = 0; i < kCount; ++i) {
    const double x = a[i];
    EXPECT_LE(ulps(got[8 * i + 0], std::sin(x)), 4) << x;
    EXPECT_LE(ulps(got[8 * i + 1], std::cos(x)), 4) << x;
    EXPECT_LE(ulps(got[8 * i + 2], std::exp(x)), 3) << x;
    EXPECT_LE(ulps(got[8 * i + 3], std::log(std::fabs(x))), 3) << x;
    EXPECT_LE(ulps(got[8 * i + 4], 1 / std::sqrt(std::fabs(x))), 2) << x;
    EXPECT_LE(ulps(got[8 * i + 5], std::pow(std::fabs(x), 1.5)), 16) << x;
    EXPECT_LE(ulps(got[8 * i + 6], std::tanh(x)), 5) << x;
    EXPECT_LE(ulps(got[8 * i + 7], std::fmod(a[i], 0.7F)), 0) << x;
  }
}

TEST(Semantics, ComputesIntegersAsTheHostDoes) {
  TestGpu test;
  auto a = random_values<std::int32_t>(4);
  auto b = random_values<std::int32_t>(5);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i % 3 == 0) a[i] = -a[i];
    if (i % 5 == 0) b[i] = -b[i];
    if (b[i] == 0 || b[i] == -1) b[i] = 7;
  }
  const auto out = test.buffer(kCount * 64);
  test.launch("integers", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<std::int32_t>(out, kCount * 16);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::int32_t x = a[i], y = b[i];
    const auto ux = static_cast<std::uint32_t>(x), uy = static_cast<std::uint32_t>(y);
    const std::int64_t lx = x, ly = y;
    const auto clamp = [](std::int64_t v) {
      return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, INT32_MIN, INT32_MAX));
    };
    const std::int32_t expected[16] = {
        x / y,
        x % y,
        static_cast<std::int32_t>(ux / uy),
        static_cast<std::int32_t>(ux % uy),
        static_cast<std::int32_t>(lx * ly >> 32),
        static_cast<std::int32_t>(std::uint64_t{ux} * uy >> 32),
        static_cast<std::int32_t>(std::rotl(ux, y & 31)),
        std::countl_zero(ux) + std::popcount(uy),
        static_cast<std::int32_t>(static_cast<std::uint32_t>(std::max(x, y)) -
                                  static_cast<std::uint32_t>(std::min(x, y))),
        static_cast<std::int32_t>(std::max(lx, ly) - std::min(lx, ly)),
        clamp(lx + ly),
        clamp(lx - ly),
        static_cast<std::int32_t>((lx + ly) >> 1),
        x >> (y & 31),
        (x & 0x7fffff) * (y & 0xff) + 17,
        static_cast<std::int8_t>(x) + static_cast<std::int16_t>(y) +
            static_cast<std::uint8_t>(x) * static_cast<std::uint16_t>(y)};
    for (std::size_t k = 0; k < 16; ++k) {
      if (k == 14) continue;  // checked below: the product may pass 24 bits' range
      EXPECT_EQ(got[16 * i + k], expected[k]) << "result " << k << " of " << x << ", " << y;
    }
    const std::int64_t product = std::int64_t{x & 0x7fffff} * (y & 0xff) + 17;
    EXPECT_EQ(got[16 * i + 14], static_cast<std::int32_t>(product));
  }
}

TEST(Semantics, ComputesLongsAsTheHostDoes) {
  TestGpu test;
  auto a = random_values<std::int64_t>(6);
  auto b = random_values<std::int64_t>(7);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i % 3 == 0) a[i] = -a[i];
    if (i % 5 == 0) b[i] = -b[i];
    if (b[i] == 0 || b[i] == -1) b[i] = 7;
  }
  const auto out = test.buffer(kCount * 64);
  test.launch("longs", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<std::int64_t>(out, kCount * 8);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::int64_t x = a[i], y = b[i];
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
    const std::int64_t expected[8] = {x / y,
                                      x % y,
                                      static_cast<std::int64_t>(ux * uy),
                                      static_cast<std::int64_t>(ux + (uy << 3)),
                                      (x >> 7) ^ static_cast<std::int64_t>(uy >> 9),
                                      x < y ? x : -y,
                                      static_cast<std::int64_t>(static_cast<__int128>(x) * y >> 64),
                                      static_cast<std::int64_t>(ux / uy)};
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_EQ(got[8 * i + k], expected[k]) << "result " << k << " of " << x << ", " << y;
    }
  }
}

TEST(Semantics, ComputesDoublesRoundedToNearest) {
  TestGpu test;
  const auto a = random_floats<double>(8, 1000.0);
  const auto b = random_floats<double>(9, 50.0);
  const auto out = test.buffer(kCount * 64);
  test.launch("doubles", kCount, 64, test.buffer(a), test.buffer(b), out);
  const auto got = test.read<double>(out, kCount * 8);
  for (std::size_t i = 0; i < kCount; ++i) {
    const double x = a[i], y = b[i];
    EXPECT_EQ(got[8 * i + 0], x / y);
    EXPECT_EQ(got[8 * i + 1], std::sqrt(std::fabs(x)));
    EXPECT_EQ(got[8 * i + 2], std::fma(x, y, 1.0));
    EXPECT_NEAR(got[8 * i + 3], x * y - x, std::fabs(x * y) * 1e-15);
    EXPECT_EQ(got[8 * i + 4],
              std::trunc(x) + static_cast<double>(static_cast<float>(y)) + std::trunc(x));
    EXPECT_EQ(got[8 * i + 5], std::fmax(x, y) + std::fmin(x, y));
    EXPECT_EQ(got[8 * i + 6], std::floor(x) + std::trunc(y) + std::rint(x));
    const double expected = std::exp(y * 0.125) + std::sin(x);
    EXPECT_NEAR(got[8 * i + 7], expected, std::fabs(expected) * 1e-14 + 1e-14);
  }
}

TEST(Semantics, ReducesLargeAnglesExactly) {
  TestGpu test;
  std::vector<double> angles(64);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    angles[i] = std::ldexp(1.2345678901234567, static_cast<int>(i) * 16);
  }
  const auto out = test.buffer(64 * 8);
  test.launch("large_sines", 64, 64, test.buffer(angles), out);
  const auto got = test.read<double>(out, 64);
  for (std::size_t i = 0; i < 63; ++i) {
    EXPECT_NEAR(got[i], std::sin(angles[i]), 1e-15) << angles[i];
  }
}

// A wave's slot keeps what the wave before it left; instructions under an empty EXEC must not
// write lanes that the last one had enabled.
TEST(Semantics, WritesNoLaneWhenNoneIsEnabledHoweverOftenItRuns) {
  TestGpu test;
  for (int launch = 0; launch < 3; ++launch) {
    const auto out = test.buffer(kCount * 4);
    test.launch("lengths", kCount, 64, out);
    const auto got = test.read<float>(out, kCount);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double x = static_cast<double>(i) / 64;
      ASSERT_NEAR(got[i], std::sqrt(x * x + 2), 1e-5) << launch << ' ' << i;
    }
  }
}

TEST(Semantics, RefusesWhatItDoesNotKnowByNameAndAddress) {
  TestGpu test;
  const auto out = test.buffer(64 * 8);
  const auto result = test.try_launch("without_semantics", Grid{1, {64, 1, 1}, {64, 1, 1}}, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
  EXPECT_NE(result.error().message.find("v_qsad_pk_u16_u8"), std::string::npos);
  EXPECT_NE(result.error().message.find("0x"), std::string::npos);
}

TEST(Semantics, ReportsAWaveThatHaltsWhereItHalts) {
  TestGpu test;
  const auto out = test.buffer(2 * 64 * 4);
  const std::uint32_t nowhere = 9;
  test.launch("halts", 128, 64, out, nowhere);
  EXPECT_EQ(test.read<std::uint32_t>(out, 128), std::vector<std::uint32_t>(128, 7));
  const Grid grid{1, {128, 1, 1}, {64, 1, 1}};
  const std::uint32_t second = 1;
  for (const auto& result : {test.try_launch("halts", grid, out, second),
                             test.try_launch("halts_when_told", grid, out)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::device_error);
    EXPECT_NE(result.error().message.find("halts"), std::string::npos);
  }
}

TEST(Semantics, RatesOfDoublesAreForDoublesAlone) {
  const auto cycles_of = [](exec::Opcode opcode, int divisor) {
    exec::MicroOp op;
    op.opcode = opcode;
    op.unit = exec::Unit::valu;
    op.cycles = 4;
    op.approximated = exec::is_approximated(binpatch::isa::mnemonic(opcode));
    exec::set_rate_of_doubles(op, divisor);
    return int{op.cycles};
  };
  using exec::Opcode;
  for (const Opcode opcode : {Opcode::v_fma_f64, Opcode::v_add_f64, Opcode::v_cmp_lt_f64,
                              Opcode::v_cvt_f64_i32, Opcode::v_cvt_f32_f64, Opcode::v_ldexp_f64}) {
    EXPECT_EQ(cycles_of(opcode, 1), 4) << binpatch::isa::mnemonic(opcode);
    EXPECT_EQ(cycles_of(opcode, 16), 64) << binpatch::isa::mnemonic(opcode);
  }
  EXPECT_EQ(cycles_of(Opcode::v_rcp_f64, 1), 16);
  EXPECT_EQ(cycles_of(Opcode::v_rcp_f64, 16), 64);
  for (const Opcode opcode : {Opcode::v_fma_f32, Opcode::v_lshlrev_b64, Opcode::v_mov_b32}) {
    EXPECT_EQ(cycles_of(opcode, 16), 4) << binpatch::isa::mnemonic(opcode);
  }
}

TEST(Semantics, DoublesTakeAsLongAsTheChipSays) {
  const auto cycles_of = [](const char* kernel) {
    TestGpu test;
    test.launch(kernel, 64, 64, test.buffer(64 * 8));
    return test.counter("GRBM_GUI_ACTIVE");
  };
  const int divisor = TestGpu().gpu().chip().architecture().f64_rate_divisor;
  // A work-group has one wave of 64 lanes, or two of 32 on SIMDs of their own.
  constexpr double kOther = 100;  // cycles: what unoptimised code does beside it may meet elsewhere
  EXPECT_NEAR(cycles_of("double_chain_512") - cycles_of("double_chain_256"), 256 * 4 * divisor,
              kOther);
}

// gfx7 has three bits for how long; later instruction sets have seven to sleep and four for NOPs.
TEST(Semantics, WaitsAsLongAsTheInstructionSetHasBitsFor) {
  const auto cycles_of = [](const char* kernel) {
    TestGpu test;
    const auto out = test.buffer(64 * 4);
    test.launch(kernel, 64, 64, out);
    return test.counter("GRBM_GUI_ACTIVE");
  };
  const bool is_gfx7 = TestGpu().gpu().chip().architecture().gfx_target.starts_with("gfx7");
  constexpr double kOther = 20;  // cycles: what unoptimised code does beside it may meet elsewhere
  EXPECT_NEAR(cycles_of("sleeps_127") - cycles_of("sleeps_7"), is_gfx7 ? 0 : 64 * 120, kOther);
  EXPECT_NEAR(cycles_of("nops_16") - cycles_of("nops_8"), is_gfx7 ? 0 : 4 * 8, kOther);
}

TEST(Semantics, ReadsTablesAtScalarOffsets) {
  TestGpu test;
  constexpr std::uint32_t table[] = {3, 5, 7, 11, 13, 17, 19, 23};
  const auto out = test.buffer(kCount * 4);
  test.launch("table_by_group", kCount, 32, out);
  const auto got = test.read<std::uint32_t>(out, kCount);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(got[i], table[i / 32 % 8]) << i;
}

TEST(Semantics, LoadsAndStoresNarrowAndWideElements) {
  TestGpu test;
  std::vector<std::uint8_t> a(kCount);
  std::vector<std::int16_t> b(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<std::uint8_t>(i * 7);
    b[i] = static_cast<std::int16_t>(i * 977);
  }
  const auto c = test.buffer(kCount);
  const auto d = test.buffer(kCount * 2);
  test.launch("narrow", kCount, 64, test.buffer(a), test.buffer(b), c, d);
  const auto got_c = test.read<std::uint8_t>(c, kCount);
  const auto got_d = test.read<std::int16_t>(d, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(got_c[i], static_cast<std::uint8_t>(a[i] * 3 + b[i]));
    ASSERT_EQ(got_d[i], static_cast<std::int16_t>(b[i] - a[i]));
  }
  std::vector<float> wide(kCount * 4), three(kCount * 4);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    wide[i] = static_cast<float>(i);
    three[i] = static_cast<float>(i) * 0.5F;
  }
  const auto out = test.buffer(kCount * 16);
  test.launch("wide_vectors", kCount, 64, test.buffer(wide), out, test.buffer(three));
  const auto got = test.read<float>(out, kCount * 4);
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], wide[i] * 2 + (i % 4 == 3 ? 1.0F : three[i]));
  }
}

TEST(Semantics, DoesEveryKindOfAtomic) {
  TestGpu test;
  std::vector<std::uint32_t> initial(16);
  initial[9] = 1000;
  const auto a = test.buffer(initial);
  const auto b = test.buffer(256 * 4);
  const auto c = test.buffer(256 * 8);
  test.launch("exchange", 256, 64, a, b, c);
  const auto got = test.read<std::uint32_t>(a, 16);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(got[i] % 8, i);
  EXPECT_EQ(got[8], 255U);
  EXPECT_EQ(got[9], 0U);
  EXPECT_GE(got[10], 1U);
  EXPECT_EQ(got[11], 256U * 3);
}

TEST(Semantics, ComparesAndSwapsInLocalMemory) {
  TestGpu test;
  const auto out = test.buffer(256 * 4);
  const auto wide = test.buffer(256 * 8);
  test.launch("local_swaps", 256, 128, out, wide);
  EXPECT_EQ(test.read<std::uint32_t>(out, 256),
            std::vector<std::uint32_t>(256, 127 * 128 / 2 + 2 * 128));
  EXPECT_EQ(test.read<std::uint64_t>(wide, 256),
            std::vector<std::uint64_t>(256, 128 * 0x100000001ULL));
}

TEST(Semantics, AddsAddressAndOffsetOfLocalMemoryModulo32Bits) {
  TestGpu test;
  std::vector<std::uint32_t> in(128);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761U;
  const auto out = test.buffer(64 * 4);
  test.launch("reversed", 64, 64, test.buffer(in), out, 2U);
  const auto got = test.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t expected = 0;
    for (std::uint32_t n = 0; n < 2; ++n) {
      expected += i < 32 ? in[n * 64 + 63 - i] : 0 - in[n * 64 + i - 32];
    }
    EXPECT_EQ(got[i], expected) << i;
  }
}

}  // namespace
}  // namespace ww::sim::gpu::kernel_semantics_test
