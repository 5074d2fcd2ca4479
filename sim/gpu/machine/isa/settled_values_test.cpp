// Edge values of vector instructions that another implementation of AMD's pseudocode answers in
// another way, as AMD's documents settle them: "AMD Instinct MI300" and "RDNA 3" ISA, chapter
// "Instructions".
#include <gtest/gtest.h>

#include <algorithm>

#include "machine/isa/lane_table.hpp"
#include "machine/isa/wave.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 kOne = 0x3F800000;
constexpr U32 kMinusZero = 0x80000000;
constexpr U32 kInfinityBits = 0x7F800000;
constexpr U32 kNan = 0x7FC00000;
constexpr U32 kSignalling = 0x7FA00000;
constexpr U32 kQuieted = 0x7FE00000;

struct Settled {
  Opcode opcode;
  U32 a, b, c;
  U32 result;
  bool flush{};  // denormals of floats are zeros
  bool ieee{true};
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
    {Opcode::v_med3_f32, 0xFF800000, kMinusZero, 0, 0},
    {Opcode::v_med3_f16, 0xFC00, 0x8000, 0, 0},
    {Opcode::v_min_f16, 0, 0x8000, 0, 0x8000},
    {Opcode::v_max_f16, 0x8000, 0, 0, 0},
    {Opcode::v_pk_max_f16, 0x80000000, 0x00008000, 0, 0},
    {Opcode::v_pk_min_f16, 0x80000000, 0x00008000, 0, 0x80008000},
    // A denormal that is flushed keeps its sign, and a quiet NaN is no number.
    {Opcode::v_min_f32, 0x80000001, 0x7F800000, 0, kMinusZero, true},
    {Opcode::v_min_f32, kNan, 0xC0000000, 0, 0xC0000000},
    {Opcode::v_min3_f16, 0xFE01, 0xC500, 0x7E00, 0xC500},
    // In IEEE mode a signalling NaN is the result, quiet, the first source's before the second's;
    // otherwise, and beside what was made quiet, the other source is.
    {Opcode::v_min_f32, kSignalling, kOne, 0, kQuieted},
    {Opcode::v_max_f32, kOne, kSignalling, 0, kQuieted},
    {Opcode::v_max_f32, kNan, kSignalling, 0, kQuieted},
    {Opcode::v_min_f32, kSignalling, 0xFF800001, 0, kQuieted},
    {Opcode::v_min_f32, kSignalling, kOne, 0, kOne, false, false},
    {Opcode::v_max_f32, kOne, kSignalling, 0, kOne, true, false},
    {Opcode::v_min3_f32, kSignalling, kOne, kInfinityBits, kInfinityBits},
    {Opcode::v_max3_f32, kOne, kInfinityBits, kSignalling, kQuieted},
    {Opcode::v_med3_f32, kOne, kInfinityBits, kSignalling, kQuieted},
    {Opcode::v_med3_f32, kSignalling, kOne, kInfinityBits, kInfinityBits},
    {Opcode::v_minmax_f32, kOne, kOne, kSignalling, kQuieted},
    {Opcode::v_maxmin_f32, kSignalling, kOne, 0x40000000, 0x40000000},
    {Opcode::v_min_f16, 0x7D00, 0x3C00, 0, 0x7E00},
    {Opcode::v_max_f16, 0x7D00, 0x3C00, 0, 0x3C00, false, false},
    {Opcode::v_max3_f16, 0x3C00, 0x3C00, 0xFD00, 0x7E00},
    {Opcode::v_pk_min_f16, 0x7D003C00, 0x3C004000, 0, 0x7E003C00},
    {Opcode::v_pk_max_f16, 0x3C007D00, 0x40003C00, 0, 0x40003C00, false, false},
    // Others make a signalling NaN quiet.
    {Opcode::v_add_f32, kSignalling, kOne, 0, kQuieted},
    {Opcode::v_fma_f32, kOne, kOne, kSignalling, kQuieted},
    {Opcode::v_floor_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_ceil_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_trunc_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_rndne_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_fract_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_frexp_mant_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_sqrt_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_rcp_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_exp_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_log_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_sin_f32, kSignalling, 0, 0, kQuieted},
    {Opcode::v_ldexp_f32, kSignalling, 3, 0, kQuieted},
    {Opcode::v_cvt_f32_f16, 0x7D00, 0, 0, kQuieted},
    {Opcode::v_cvt_f16_f32, kSignalling, 0, 0, 0x7F00},
    // Reciprocals, roots, exponentials and logarithms flush denormals where others keep them.
    {Opcode::v_log_f32, 0x80000001, 0, 0, 0xFF800000},
    {Opcode::v_log_f32, 0x807FFFFF, 0, 0, 0xFF800000},
    {Opcode::v_log_f32, 0x00000001, 0, 0, 0xFF800000},
    {Opcode::v_log_f32, 0x80800000, 0, 0, kNan},
    {Opcode::v_exp_f32, 0xC2FE0000, 0, 0, 0},  // 2^-127
    {Opcode::v_rcp_f32, 0x7F7FFFFF, 0, 0, 0},
    {Opcode::v_rcp_f32, 0x807FFFFF, 0, 0, 0xFF800000},
    {Opcode::v_rcp_iflag_f32, 0x00000001, 0, 0, kInfinityBits},
    {Opcode::v_rsq_f32, 0x80000001, 0, 0, 0xFF800000},
    {Opcode::v_sqrt_f32, 0x807FFFFF, 0, 0, kMinusZero},
    {Opcode::v_add_f32, 0x00000001, 0x00000001, 0, 2},
    {Opcode::v_log_f16, 0x0001, 0, 0, 0xCE00},  // -24: halves keep theirs
    {Opcode::v_rcp_f16, 0x7800, 0, 0, 0x0200},
    // A dot product of halves flushes its sum's denormals; those of its factors go by the chip.
    {Opcode::v_dot2_f32_f16, 0x00000001, 0x00003C00, 0, 0x33800000},
    {Opcode::v_dot2_f32_f16, 0x00000001, 0x00003C00, 0, 0, true},
    {Opcode::v_dot2_f32_f16, 0, 0, 0x80000001, 0},
    {Opcode::v_dot2_f32_f16, 0x80018001, 0x3C003C00, 0x33800000, 0xB3800000},
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

// omod and clamp, as a wave's mode leaves them of an instruction.
TEST(SettledValues, OfChangedResultsHoldInEveryMode) {
  constexpr U32 kIeee = 0x200, kClampNan = 0x100, kKeepFloats = 0x30, kKeepOthers = 0xC0;
  VectorFields f{};
  f.omod = 3;  // half
  f.clamp = true;
  Wave wave{};
  const auto change = [&](U32 mode, int bits) {
    wave.mode = mode;
    return wave.result_change(f, bits);
  };
  EXPECT_EQ(change(kClampNan, 32).omod, 3);
  EXPECT_EQ(change(kClampNan | kKeepOthers, 32).omod, 3);
  EXPECT_EQ(change(kClampNan | 0x10, 32).omod, 3) << "denormals of sources alone";
  EXPECT_EQ(change(kClampNan | 0x20, 32).omod, 0);
  EXPECT_EQ(change(kClampNan | kKeepFloats, 32).omod, 0);
  EXPECT_EQ(change(kClampNan | kKeepFloats, 16).omod, 3);
  EXPECT_EQ(change(kClampNan | kKeepOthers, 16).omod, 0);
  EXPECT_EQ(change(kClampNan | kKeepOthers, 64).omod, 0);
  EXPECT_EQ(change(kClampNan | kIeee, 32).omod, 0);
  EXPECT_TRUE(change(kClampNan | kIeee, 32).clamp);
  EXPECT_FALSE(change(kClampNan, 32).keeps_nan);
  EXPECT_TRUE(change(kIeee, 32).keeps_nan);
  struct Row {
    U64 value;
    int bits;
    ResultChange change;
    U64 result;
  };
  const Row rows[] = {
      {0x3F800000, 32, {1, false, false}, 0x40000000},
      {0x3F800000, 32, {2, false, false}, 0x40800000},
      {0x80000000, 32, {1, false, false}, 0},  // -0 becomes +0
      {0x00800000, 32, {3, false, false}, 0},  // a denormal becomes 0
      {0x80800000, 32, {3, false, false}, 0},
      {0x00000001, 32, {0, false, false}, 0x00000001},  // without omod nothing changes
      {0x80000000, 32, {0, false, false}, 0x80000000},
      {0x40400000, 32, {3, true, false}, kOne},
      {0xBF800000, 32, {0, true, false}, 0},
      {kNan, 32, {0, true, false}, 0},
      {kNan, 32, {0, true, true}, kNan},
      {kNan, 32, {0, false, false}, kNan},
      {0x4000000000000000, 64, {3, false, false}, 0x3FF0000000000000},
      {0x0010000000000000, 64, {3, false, false}, 0},
      {0x8000000000000000, 64, {1, false, false}, 0},
      {0x7FF8000000000000, 64, {0, true, true}, 0x7FF8000000000000},
  };
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    for (const Row& row : rows) {
      alignas(64) U32 d[2 * kLanes]{};
      std::fill_n(d, kLanes, static_cast<U32>(row.value));
      std::fill_n(d + kLanes, kLanes, static_cast<U32>(row.value >> 32));
      table->modify_result(d, row.bits, row.change);
      EXPECT_EQ(d[5] | U64{row.bits == 64 ? d[kLanes + 5] : 0U} << 32, row.result)
          << name << std::hex << " " << row.value << " omod " << int{row.change.omod};
    }
  }
}

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
      context.ieee = each.ieee;
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
    {Opcode::v_min_f64, 0x3FF0000000000000, 0x7FF4000000000000, 0, 0x7FFC000000000000},
    {Opcode::v_max_f64, 0x7FF8000000000000, 0x3FF0000000000000, 0, 0x3FF0000000000000},
    {Opcode::v_floor_f64, 0x7FF4000000000000, 0, 0, 0x7FFC000000000000},
    {Opcode::v_frexp_mant_f64, 0xFFF4000000000000, 0, 0, 0xFFFC000000000000},
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
