// Edge values of vector instructions that another implementation of AMD's pseudocode answers in
// another way, as AMD's documents settle them: "AMD Instinct MI300" and "RDNA 3" ISA, chapter
// "Instructions".
#include <gtest/gtest.h>

#include <algorithm>

#include "machine/isa/lane_table.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 kOne = 0x3F800000;
constexpr U32 kMinusZero = 0x80000000;
constexpr U32 kInfinityBits = 0x7F800000;
constexpr U32 kNan = 0x7FC00000;

struct Settled {
  Opcode opcode;
  U32 a, b, c;
  U32 result;
  bool flush{};  // denormals of floats are zeros
};

constexpr Settled kSettled[] = {
    // -0 is less than +0.
    {Opcode::v_min_f32, 0, kMinusZero, 0, kMinusZero},
    {Opcode::v_min_f32, kMinusZero, 0, 0, kMinusZero},
    {Opcode::v_max_f32, kMinusZero, 0, 0, 0},
    {Opcode::v_max_f32, 0, kMinusZero, 0, 0},
    {Opcode::v_max_f32, kMinusZero, kMinusZero, 0, kMinusZero},
    {Opcode::v_min_f32, 0, 0, 0, 0},
    {Opcode::v_min3_f32, 0, kMinusZero, kOne, kMinusZero},
    {Opcode::v_max3_f32, kMinusZero, 0, 0xFF800000, 0},
    {Opcode::v_med3_f32, 0, kMinusZero, 0xFF800000, kMinusZero},
    {Opcode::v_min_f16, 0, 0x8000, 0, 0x8000},
    {Opcode::v_max_f16, 0x8000, 0, 0, 0},
    {Opcode::v_pk_max_f16, 0x80000000, 0x00008000, 0, 0},
    {Opcode::v_pk_min_f16, 0x80000000, 0x00008000, 0, 0x80008000},
    // A denormal that is flushed keeps its sign, and a quiet NaN is no number.
    {Opcode::v_min_f32, 0x80000001, 0x7F800000, 0, kMinusZero, true},
    {Opcode::v_min_f32, kNan, 0xC0000000, 0, 0xC0000000},
    {Opcode::v_min3_f16, 0xFE01, 0xC500, 0x7E00, 0xC500},
    // 24 bits of each factor count.
    {Opcode::v_mul_u32_u24, 0xFF00001F, 0xE29FE160, 0, 0x135C4AA0},
    {Opcode::v_mul_hi_u32_u24, 0x00010000, 0x2F442E47, 0, 0x44},
    {Opcode::v_mul_hi_i32_i24, 0x1F, 0xE29FE160, 0, 0xFFFFFFFF},
    // Conversions end at the last integer, and a NaN is 0.
    {Opcode::v_cvt_i32_f32, 0x5F000000, 0, 0, 0x7FFFFFFF},
    {Opcode::v_cvt_i32_f32, 0xCF000001, 0, 0, 0x80000000},
    {Opcode::v_cvt_u32_f32, kNan, 0, 0, 0},
    {Opcode::v_cvt_rpi_i32_f32, kInfinityBits, 0, 0, 0x7FFFFFFF},
    {Opcode::v_cvt_flr_i32_f32, kNan, 0, 0, 0},
    {Opcode::v_cvt_u16_f16, 0x7C00, 0, 0, 0xFFFF},
    {Opcode::v_cvt_i16_f16, 0x7C00, 0, 0, 0x7FFF},
    {Opcode::v_cvt_i16_f16, 0x7E00, 0, 0, 0},
    {Opcode::v_cvt_norm_i16_f16, 0x6496, 0, 0, 0x7FFF},
    {Opcode::v_cvt_norm_u16_f16, 0xD640, 0, 0, 0},
    {Opcode::v_cvt_pk_u16_u32, 0x00010000, 7, 0, 0x0007FFFF},
    {Opcode::v_cvt_pk_i16_i32, 0xFFFF7FFF, 0x8000, 0, 0x7FFF8000},
    {Opcode::v_cvt_off_f32_i4, 0xF, 0, 0, 0xBD800000},  // -1/16
    {Opcode::v_cvt_pkrtz_f16_f32, 0x477FF000, kOne, 0, 0x3C007BFF},
    // Whole numbers keep the sign of what they were, and fractions stay below 1.
    {Opcode::v_rndne_f32, 0xBE927336, 0, 0, kMinusZero},
    {Opcode::v_rndne_f16, 0x8001, 0, 0, 0x8000},
    {Opcode::v_fract_f32, 0xB150A78D, 0, 0, 0x3F7FFFFF},
    {Opcode::v_frexp_exp_i32_f32, 0, 0, 0, 0},
    {Opcode::v_frexp_exp_i16_f16, 0, 0, 0, 0},
    {Opcode::v_frexp_mant_f32, 0, 0, 0, 0},
    // A power of two beyond the format's is no infinity on its own.
    {Opcode::v_ldexp_f32, 0, 0x44C5B476, 0, 0},
    {Opcode::v_ldexp_f16, 0xA51D, 16, 0, 0xE51D},
    {Opcode::v_ldexp_f16, 0, 0x28D9, 0, 0},
    // gfx11's halves.
    {Opcode::v_sat_pk_u8_i16, 0x01008001, 0, 0, 0xFF00},
    {Opcode::v_mov_b16, 0x12345678, 0, 0, 0x5678},
    {Opcode::v_not_b16, 0x12345678, 0, 0, 0xA987},
    {Opcode::v_and_b16, 0x0F0F00FF, 0xFFFF0F0F, 0, 0x000F},
    {Opcode::v_or_b16, 0x0F0F00FF, 0xFFFF0F0F, 0, 0x0FFF},
    {Opcode::v_xor_b16, 0x0F0F00FF, 0xFFFF0F0F, 0, 0x0FF0},
    {Opcode::v_cvt_i32_i16, 0x00018000, 0, 0, 0xFFFF8000},
    {Opcode::v_cvt_u32_u16, 0x00018000, 0, 0, 0x8000},
    {Opcode::v_cvt_pk_i16_f32, 0xC7800000, 0x3FC00000, 0, 0x00018000},
    {Opcode::v_cvt_pk_u16_f32, 0xBF800000, 0x47800000, 0, 0xFFFF0000},
};

TEST(SettledValues, OfWordsHoldOnEveryKindOfHost) {
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    for (const Settled& each : kSettled) {
      alignas(64) U32 a[2 * kLanes]{}, b[2 * kLanes]{}, c[2 * kLanes]{}, d[2 * kLanes]{};
      std::fill_n(a, kLanes, each.a);
      std::fill_n(b, kLanes, each.b);
      std::fill_n(c, kLanes, each.c);
      LaneContext context;
      table->vector[static_cast<std::size_t>(each.opcode)].function[each.flush ? 1 : 0](d, a, b, c,
                                                                                        context);
      for (const std::size_t lane : {std::size_t{0}, std::size_t{kLanes - 1}}) {
        EXPECT_EQ(d[lane], each.result)
            << name << ": " << binpatch::isa::mnemonic(each.opcode) << std::hex << " of " << each.a
            << ", " << each.b << ", " << each.c;
      }
    }
  }
}

struct SettledPair {
  Opcode opcode;
  U64 a, b, c;
  U64 result;
  bool mask{};  // the carry
};
constexpr U64 kMinusZeroOfTwo = U64{1} << 63;
constexpr SettledPair kPairs[] = {
    {Opcode::v_min_f64, 0, kMinusZeroOfTwo, 0, kMinusZeroOfTwo},
    {Opcode::v_max_f64, kMinusZeroOfTwo, 0, 0, 0},
    {Opcode::v_ldexp_f64, 0x01A56E1FC2F8F359, 1100, 0, 0x46656E1FC2F8F359},
    {Opcode::v_rndne_f64, 0xBFD0000000000000, 0, 0, kMinusZeroOfTwo},
    {Opcode::v_fract_f64, 0xBC90000000000000, 0, 0, 0x3FEFFFFFFFFFFFFF},
    {Opcode::v_frexp_mant_f64, 0x000FFFFFFFFFFFFF, 0, 0, 0x3FEFFFFFFFFFFFFE},
    // The carry is bit 64 of the exact sum: of signed numbers its sign.
    {Opcode::v_mad_u64_u32, 2, 3, ~U64{0}, 5, true},
    {Opcode::v_mad_u64_u32, 2, 3, 1, 7, false},
    {Opcode::v_mad_i64_i32, 0xFFFFFFFE, 3, 1, ~U64{0} - 4, true},
    {Opcode::v_mad_i64_i32, 2, 3, 0x7FFFFFFFFFFFFFFF, 0x8000000000000005, false},
    {Opcode::v_mad_i64_i32, 0xFFFFFFFE, 3, 0x8000000000000000, 0x7FFFFFFFFFFFFFFA, true},
};

TEST(SettledValues, OfPairsHoldOnEveryKindOfHost) {
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    for (const SettledPair& each : kPairs) {
      alignas(64) U32 a[2 * kLanes]{}, b[2 * kLanes]{}, c[2 * kLanes]{}, d[2 * kLanes]{};
      const auto fill = [](U32* words, U64 value) {
        std::fill_n(words, kLanes, static_cast<U32>(value));
        std::fill_n(words + kLanes, kLanes, static_cast<U32>(value >> 32));
      };
      fill(a, each.a);
      fill(b, each.b);
      fill(c, each.c);
      LaneContext context;
      context.mask_out = 0;
      table->vector[static_cast<std::size_t>(each.opcode)].function[0](d, a, b, c, context);
      EXPECT_EQ(d[3] | U64{d[kLanes + 3]} << 32, each.result)
          << name << ": " << binpatch::isa::mnemonic(each.opcode);
      EXPECT_EQ(context.mask_out, each.mask ? ~U64{0} : 0U)
          << name << ": " << binpatch::isa::mnemonic(each.opcode);
    }
  }
}

}  // namespace
}  // namespace ww::sim::gpu::exec
