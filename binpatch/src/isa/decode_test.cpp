#include <gtest/gtest.h>

#include <sstream>

#include "isa/operand.hpp"
#include "object_builder.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa::decode_test {
namespace {

using testing::Bytes;
using testing::words;

Instruction decoded(const std::vector<std::uint32_t>& code,
                    Generation generation = Generation::gfx7) {
  const auto result = decode(generation, words(code));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return result.value_or(Instruction{});
}

std::string text(const std::vector<std::uint32_t>& code, Generation generation = Generation::gfx7) {
  return disassemble(decoded(code, generation), generation);
}

Operand sgpr(std::uint16_t index, std::uint8_t count = 1) {
  return {.kind = OperandKind::sgpr, .count = count, .index = index};
}
Operand vgpr(std::uint16_t index, std::uint8_t count = 1) {
  return {.kind = OperandKind::vgpr, .count = count, .index = index};
}
Operand vcc() {
  return {.kind = OperandKind::special, .count = 2, .index = index_of(SpecialRegister::vcc_lo)};
}

// Adhinarayanan et al., IISWC'16, Fig. 3: the paper's bytes beside the paper's assembly.
TEST(PaperFigure3, HexListingDecodesToItsAssembly) {
  const Bytes code = [] {
    std::istringstream hex(
        "00 FF 80 83 FF FF 00 00 10 00 00 93 00 01 00 81 00 00 00 4A 10 02 00 81 "
        "00 C1 02 BF 04 00 84 BF");
    Bytes bytes;
    unsigned value = 0;
    while (hex >> std::hex >> value) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
  }();
  std::vector<std::string> lines;
  for (std::span<const std::byte> rest = code; !rest.empty();) {
    const auto result = decode(Generation::gfx7, rest);
    ASSERT_TRUE(result.has_value()) << result.error().text();
    lines.push_back(disassemble(*result, Generation::gfx7));
    rest = rest.subspan(result->size_bytes);
  }
  const std::vector<std::string> expected{
      "s_min_u32 s0, s0, 0xffff", "s_mul_i32 s0, s16, s0",
      "s_add_i32 s0, s0, s1",     "v_add_i32_e32 v0, vcc, s0, v0",
      "s_add_i32 s0, s16, s2",    "s_cmp_gt_i32 s0, -1",
      "s_cbranch_scc0 4"};
  EXPECT_EQ(lines, expected);
}

TEST(PaperFigure3, ReplacementReadsComputeUnitArrayAndEngine) {
  const Instruction read = decoded({0xb9003204});
  EXPECT_EQ(read.opcode, Opcode::s_getreg_b32);
  EXPECT_EQ(read.dst[0], sgpr(0));
  EXPECT_EQ(hardware_register_field(read), (HardwareRegisterField{4, 8, 7}));
  EXPECT_EQ(text({0xb9003204}), "s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 8, 7)");
  EXPECT_EQ(text({0xb900f804}), "s_getreg_b32 s0, hwreg(HW_REG_HW_ID)");
  EXPECT_EQ(text({0xb900f904}), "s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 4, 32)");
  EXPECT_EQ(text({0xb9007804}), "s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 0, 16)");
}

TEST(Decode, LiteralFollowsAndCountsInTheSize) {
  const Instruction in = decoded({0x8900ff06, 0x5ec0de01});
  EXPECT_EQ(in.opcode, Opcode::s_xor_b32);
  EXPECT_EQ(in.size_bytes, 8);
  EXPECT_EQ(in.src[0], sgpr(6));
  EXPECT_EQ(in.src[1].kind, OperandKind::literal);
  EXPECT_EQ(in.src[1].value, 0x5ec0de01U);
}

TEST(Decode, WidthsComeFromTheTable) {
  const Instruction load = decoded({0xc0c42300});  // s_load_dwordx8 s[8:15], s[34:35], 0x0
  EXPECT_EQ(load.dst[0], sgpr(8, 8));
  EXPECT_EQ(load.src[0], sgpr(34, 2));
  const Instruction fma = decoded({0xd2980002, 0x047a290a});
  EXPECT_EQ(fma.dst[0], vgpr(2, 2));
  EXPECT_EQ(fma.src[2], vgpr(30, 2));
}

TEST(Decode, CarriesAreNamedInShortAndLongForm) {
  const Instruction short_form = decoded({0x50023d14});  // v_addc_u32 v1, vcc, v20, v30, vcc
  EXPECT_EQ(short_form.dst[1], vcc());
  EXPECT_EQ(short_form.src[2], vcc());
  const Instruction long_form = decoded({0xd2500c01, 0x00323d14});
  EXPECT_EQ(long_form.encoding, Encoding::vop3b);
  EXPECT_EQ(long_form.dst[1], sgpr(12, 2));
  EXPECT_EQ(long_form.src[2], sgpr(12, 2));
}

TEST(Decode, CompareWritesVccInShortForm) {
  const Instruction compare = decoded({0x7d08150a});
  EXPECT_EQ(compare.opcode, Opcode::v_cmp_gt_i32);
  EXPECT_EQ(compare.dst[0], vcc());
}

TEST(Decode, ScalarLoadOffsetsAreImmediateRegisterOrLiteral) {
  const Instruction immediate = decoded({0xc0022304});
  EXPECT_TRUE(immediate.modifiers.scalar_offset_is_immediate);
  EXPECT_EQ(immediate.modifiers.offset, 4U);
  EXPECT_EQ(immediate.src[1].kind, OperandKind::none);
  const Instruction from_register = decoded({0xc0022242});
  EXPECT_EQ(from_register.src[1], sgpr(66));
  const Instruction literal = decoded({0xc00222ff, 0x1234});
  EXPECT_EQ(literal.src[1].kind, OperandKind::literal);
  EXPECT_EQ(literal.src[1].value, 0x1234U);
  EXPECT_EQ(literal.size_bytes, 8);
}

TEST(Decode, AtomicsReturnTheOldValueOnlyWithGlc) {
  const Instruction quiet = decoded({0xdcc60000, 0x00000402});  // cmpswap v[2:3], v[4:5] slc
  EXPECT_EQ(quiet.opcode, Opcode::flat_atomic_cmpswap);
  EXPECT_EQ(quiet.dst[0].kind, OperandKind::none);
  EXPECT_EQ(quiet.src[1], vgpr(4, 2));
  const Instruction returning = decoded({0xdcc50000, 0x01000402});
  EXPECT_EQ(returning.dst[0], vgpr(1));
  const Instruction buffer = decoded({0xe0c44000, 0x21020400});
  EXPECT_EQ(buffer.dst[0], vgpr(4));
  EXPECT_EQ(buffer.src[3], vgpr(4, 2));
}

TEST(Decode, BufferAddressWidthFollowsItsModifiers) {
  EXPECT_EQ(decoded({0xe0308000, 0x21020102}).src[0], vgpr(2, 2));  // addr64
  EXPECT_EQ(decoded({0xe0301000, 0x21020102}).src[0], vgpr(2));     // offen
  EXPECT_EQ(decoded({0xe0303000, 0x21020102}).src[0], vgpr(2, 2));  // both
  EXPECT_EQ(decoded({0xe0300000, 0x21020100}).src[0].kind, OperandKind::none);
}

TEST(Decode, ShareInstructionsKeepTwoOffsetsApart) {
  const Instruction read = decoded({0xd8dc1004, 0x02000001});
  EXPECT_EQ(read.opcode, Opcode::ds_read2_b32);
  EXPECT_EQ(read.dst[0], vgpr(2, 2));
  EXPECT_EQ(read.modifiers.offset & 0xff, 4U);
  EXPECT_EQ(read.modifiers.offset >> 8, 16U);
}

TEST(Decode, InlineConstantsKeepTheirKind) {
  const Instruction minus = decoded({0xbe8003c1});
  EXPECT_EQ(minus.src[0].kind, OperandKind::inline_int);
  EXPECT_EQ(minus.src[0].value, 0xffffffffU);
  const Instruction half = decoded({0x7e0002f0});
  EXPECT_EQ(half.src[0].kind, OperandKind::inline_float);
  EXPECT_EQ(half.src[0].value, 0x3f000000U);
}

TEST(Decode, TruncatedCodeIsAParseError) {
  EXPECT_EQ(decode(Generation::gfx7, Bytes(3)).error().code, ErrorCode::parse_error);
  EXPECT_EQ(decode(Generation::gfx7, words({0x8900ff06})).error().code, ErrorCode::parse_error);
  EXPECT_EQ(decode(Generation::gfx7, words({0xdcc50000})).error().code, ErrorCode::parse_error);
}

TEST(Decode, ReservedWordsAreUnsupportedAndNamed) {
  for (const std::uint32_t word : {0xbe80ff00U, 0xd4000000U, 0xb0800000U, 0x8080d200U}) {
    const auto result = decode(Generation::gfx7, words({word, 0}));
    ASSERT_FALSE(result.has_value()) << std::hex << word;
    EXPECT_EQ(result.error().code, ErrorCode::unsupported);
  }
  const auto misaligned = decode(Generation::gfx7, words({0xbe800401}));  // s_mov_b64 s0, s[1:2]
  ASSERT_FALSE(misaligned.has_value());
  EXPECT_NE(misaligned.error().text().find("be800401"), std::string::npos);
}

TEST(Decode, Gfx13HasNoTable) {
  EXPECT_EQ(*generation_of({12, 0, 1}), Generation::gfx12);
  EXPECT_FALSE(generation_of({13, 0, 0}).has_value());
}

TEST(DecodeGfx10, NullAndM0HaveChangedPlacesInGfx11) {
  const Instruction older = decoded({0xbe84037d}, Generation::gfx10);  // s_mov_b32 s4, null
  EXPECT_EQ(older.src[0].index, index_of(SpecialRegister::null));
  const Instruction newer = decoded({0xbe84007d}, Generation::gfx11);  // s_mov_b32 s4, m0
  EXPECT_EQ(newer.src[0].index, index_of(SpecialRegister::m0));
}

TEST(DecodeGfx10, UnlistedInstructionsHaveTheirSize) {
  const auto size = [](Generation generation, std::vector<std::uint32_t> code) {
    code.resize(5, 0);
    return int{decoded(code, generation).size_bytes};
  };
  EXPECT_EQ(size(Generation::gfx10, {0x7e020300}), 4);               // v_mov_b32 v1, v0
  EXPECT_EQ(size(Generation::gfx10, {0x7e0202e9, 0x00000000}), 8);   // DPP8
  EXPECT_EQ(size(Generation::gfx10, {0x58020300, 0x3f123456}), 8);   // v_fmamk_f32
  EXPECT_EQ(size(Generation::gfx10, {0xd76d0001, 0x03fe0702}), 12);  // v_add3_u32, literal
  EXPECT_EQ(size(Generation::gfx10, {0xd76d0001, 0x040e0702}), 8);   // v_add3_u32
  EXPECT_EQ(size(Generation::gfx10, {0xf0000f0e, 0x00000000}), 20);  // image, three more words
  EXPECT_EQ(size(Generation::gfx11, {0xf0000f01, 0x00000000}), 12);
  EXPECT_EQ(size(Generation::gfx11, {0xd6550001, 0x040e04fa}), 12);  // VOP3 with DPP
  EXPECT_EQ(size(Generation::gfx11, {0xc8000000, 0x00000000}), 8);   // two in one, none a literal
  EXPECT_EQ(size(Generation::gfx11, {0xc88000ff, 0x00000000}), 12);  // literal as first source
  EXPECT_EQ(size(Generation::gfx11, {0xce000000}), 4);               // LDS parameter load
}

// Words as llvm-mc-19 assembles them for gfx1150.
TEST(DecodeGfx115, ScalarFloatIsUnlistedWithItsSizeAndSources) {
  const auto add = decoded({0xa0000201}, Generation::gfx11);  // s_add_f32 s0, s1, s2
  EXPECT_EQ(add.opcode, Opcode::unlisted);
  EXPECT_EQ(add.size_bytes, 4);
  EXPECT_EQ(add.src[0], sgpr(1));
  EXPECT_EQ(add.src[1], sgpr(2));
  // s_fmaak_f32 s0, s1, s2, 0x12345678
  EXPECT_EQ(decoded({0xa2800201, 0x12345678}, Generation::gfx11).size_bytes, 8);
  // s_mul_f32 s0, s1, 0x5ec0de01
  const auto literal = decoded({0xa200ff01, 0x5ec0de01}, Generation::gfx11);
  EXPECT_EQ(literal.size_bytes, 8);
  EXPECT_EQ(literal.src[1].value, 0x5ec0de01U);
  EXPECT_EQ(text({0xa200ff01, 0x5ec0de01}, Generation::gfx11), ".long 0xa200ff01, 0x5ec0de01");
  EXPECT_EQ(decoded({0xbe806501}, Generation::gfx11).size_bytes, 4);  // s_cvt_f32_u32 s0, s1
  EXPECT_EQ(decoded({0xbf410100}, Generation::gfx11).size_bytes, 4);  // s_cmp_lt_f32 s0, s1
  EXPECT_EQ(decoded({0xbf930001}, Generation::gfx11).size_bytes, 4);  // s_singleuse_vdst 0x1
  EXPECT_FALSE(decode(Generation::gfx11, words({0xa2800201})));       // its literal is cut off
  EXPECT_FALSE(decode(Generation::gfx10, words({0xa0000201})));
}

// Words as llvm-mc-15 assembles them.
TEST(DecodeRdna, ImagesHaveTheirAddressesInOneTupleOrApart) {
  const auto gfx10 = Generation::gfx1030;
  const auto gfx11 = Generation::gfx1100;
  const std::string sample =
      "image_sample_l v[0:3], [v0, v5, v6, v9], s[4:11], s[0:3] dmask:0xf "
      "dim:SQ_RSRC_IMG_2D_ARRAY";
  EXPECT_EQ(text({0xf0900f2a, 0x00010000, 0x00090605}, gfx10), sample);
  EXPECT_EQ(text({0xf0740f15, 0x00010000, 0x00090605}, gfx11), sample);
  EXPECT_EQ(decoded({0xf0740f15, 0x00010000, 0x00090605}, gfx11).size_bytes, 12);
  const std::string store =
      "image_store_mip v[0:3], v[0:2], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D unorm glc slc dlc";
  EXPECT_EQ(text({0xf2243f88, 0x00010000}, gfx10), store);
  EXPECT_EQ(text({0xf01c7f84, 0x00010000}, gfx11), store);
  EXPECT_FALSE(decode(gfx10, words({0xf0900f2a, 0x00010000})));  // its addresses are cut off
  // Warnings of the level of detail, and an address too many.
  EXPECT_EQ(decoded({0xf09e0f08, 0x00010000}, gfx10).opcode, Opcode::unlisted);
  EXPECT_EQ(decoded({0xf0900f2a, 0x00010000, 0x01090605}, gfx10).opcode, Opcode::unlisted);
}

// Words as llvm-mc-15 assembles them.
TEST(DecodeImages, AGatherHasOneChannelOfFourTexels) {
  const std::string plain = "image_gather4_lz v[1:4], v[1:2], s[0:7], s[12:15] dmask:0x8";
  EXPECT_EQ(text({0xf11c0808, 0x00600101}, Generation::gfx1030), plain + " dim:SQ_RSRC_IMG_2D");
  EXPECT_EQ(text({0xf0c80804, 0x0c000101}, Generation::gfx1100), plain + " dim:SQ_RSRC_IMG_2D");
  EXPECT_EQ(decoded({0xf11c0800, 0x00600101}, Generation::gfx900).opcode, Opcode::image_gather4_lz);
  EXPECT_EQ(decoded({0xf1000800, 0x00600101}, Generation::gfx900).opcode, Opcode::image_gather4);
  EXPECT_EQ(decoded({0xf11c0800, 0x00600101}, Generation::gfx900).dst[0].count, 4U);
  const std::string halves =
      "image_gather4_lz v[1:2], [v1, v7], s[0:7], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D d16";
  EXPECT_EQ(text({0xf11c010a, 0x80600101, 0x00000007}, Generation::gfx1030), halves);
  EXPECT_EQ(text({0xf0ca0105, 0x0c000101, 0x00000007}, Generation::gfx1100), halves);
  // Two channels at once, and a GPU without the instruction.
  EXPECT_EQ(decoded({0xf11c0908, 0x00600101}, Generation::gfx1030).opcode, Opcode::unlisted);
  EXPECT_EQ(decoded({0xf11c0800, 0x00600101}, Generation::gfx90a).opcode, Opcode::unlisted);
}

TEST(DecodeRdna, AddressesOf16BitsShareWords) {
  const auto gfx10 = Generation::gfx1030;
  const auto gfx11 = Generation::gfx1100;
  const std::string load = "image_load v[0:3], v0, s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D unorm a16";
  EXPECT_EQ(text({0xf0001f08, 0x40000000}, gfx10), load);
  EXPECT_EQ(text({0xf0010f84, 0x00000000}, gfx11), load);
  const std::string halves =
      "image_load v[0:1], v[0:1], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_3D unorm a16 d16";
  EXPECT_EQ(text({0xf0001f10, 0xc0000000}, gfx10), halves);
  EXPECT_EQ(text({0xf0030f88, 0x00000000}, gfx11), halves);
  const std::string sample =
      "image_sample_l v[0:3], [v0, v5], s[4:11], s[0:3] dmask:0xf dim:SQ_RSRC_IMG_2D_ARRAY a16";
  EXPECT_EQ(text({0xf0900f2a, 0x40010000, 0x00000005}, gfx10), sample);
  EXPECT_EQ(text({0xf0750f15, 0x00010000, 0x00000005}, gfx11), sample);
}

TEST(DecodeGfx9, AddressesOf16BitsShareWords) {
  const std::vector<std::uint32_t> load = {0xf000df00, 0x00000000};
  const std::string expected = "image_load v[0:3], v0, s[0:7] dmask:0xf unorm a16 da";
  EXPECT_EQ(text(load, Generation::gfx900), expected);
  EXPECT_EQ(text(load, Generation::gfx90a), expected);
  EXPECT_NE(decoded(load, Generation::gfx7).opcode, Opcode::image_load);
}

// How many address registers there are is not in the words: LLVM writes the first one.
TEST(DecodeGfx9, ImagesAreWrittenWithTheFirstAddress) {
  const std::vector<std::uint32_t> load = {0xf0000f00, 0x000000fc};
  EXPECT_EQ(text(load, Generation::gfx900), "image_load v[0:3], v252, s[0:7] dmask:0xf");
  EXPECT_EQ(text(load, Generation::gfx7), "image_load v[0:3], v252, s[0:7] dmask:0xf");
  EXPECT_EQ(decoded(load, Generation::gfx900).src[0].count, 3U);
}

// Words as LLVM 19 assembles them for gfx1100 with real-true16, as far as it knows them.
TEST(DecodeGfx1100, ShortFormsNameHalvesOfTheFirst128Registers) {
  const auto gfx11 = Generation::gfx1100;
  EXPECT_EQ(text({0x7f063902}, gfx11), "v_mov_b16_e32 v3.h, v2.l");
  EXPECT_EQ(text({0x7e063982}, gfx11), "v_mov_b16_e32 v3.l, v2.h");
  EXPECT_EQ(text({0xd59c4816, 0x00000114}, gfx11), "v_mov_b16_e64 v22.h, v20.h op_sel:[1,1]");
  EXPECT_EQ(text({0x7f2ccd14}, gfx11), "v_swap_b16 v22.h, v20.l");
  EXPECT_EQ(text({0x652d2b94}, gfx11), "v_add_f16_e32 v22.h, v20.h, v21.h");
  EXPECT_EQ(text({0x642c2b14}, gfx11), "v_add_f16_e32 v22, v20, v21");  // of either spelling
  EXPECT_EQ(text({0x7f2cb794}, gfx11), "v_floor_f16_e32 v22.h, v20.h");
  EXPECT_EQ(text({0x7e2c1794}, gfx11), "v_cvt_f32_f16_e32 v22, v20.h");
  EXPECT_EQ(text({0x7c022b94}, gfx11), "v_cmp_lt_f16_e32 vcc_lo, v20.h, v21.l");
  EXPECT_EQ(text({0x652d2afa, 0xff010114}, gfx11),
            "v_add_f16_dpp v22.h, v20.l, v21.h row_shl:1 row_mask:0xf bank_mask:0xf");
  const Instruction sum = decoded({0x652d2b94}, gfx11);
  EXPECT_EQ(sum.modifiers.op_sel, 11U);  // sources 0 and 1, and the result
  EXPECT_EQ(sum.dst[0].index, 22U);
  EXPECT_EQ(sum.src[1].index, 21U);
  // A register of 32 bits beyond the first 128 is what it is.
  EXPECT_EQ(text({0x7f2c1714}, gfx11), "v_cvt_f32_f16_e32 v150, v20");
  EXPECT_EQ(text({0x7e2c0394}, gfx11), "v_mov_b32_e32 v22, v148");
  EXPECT_EQ(text({0x652d2b94}, Generation::gfx1030), "v_add_f16_e32 v150, v148, v149");
}

// Words as llvm-mc-19 assembles them for gfx1100.
TEST(DecodeGfx1100, ComparesAndLongFormsTakeLanesOfTheRow) {
  struct Row {
    std::vector<std::uint32_t> code;
    const char* text;
  };
  const Row rows[] = {
      {{0x7c2204fa, 0xff010101}, "v_cmp_lt_f32_dpp vcc_lo, v1, v2 row_shl:1 "},
      {{0x7c2204fa, 0x3f9c1b01},
       "v_cmp_lt_f32_dpp vcc_lo, -v1, |v2| quad_perm:[3,2,1,0] row_mask:0x3 bank_mask:0xf "
       "bound_ctrl:1 fi:1"},
      {{0x026604fa, 0xff390101}, "v_cndmask_b32_dpp v51, -|v1|, v2, vcc_lo row_shl:1 "},
      {{0x7d2204fa, 0xff010101}, "v_cmpx_lt_f32_dpp v1, v2 row_shl:1 "},
      {{0x7c8204fa, 0xff015301}, "v_cmp_lt_i32_dpp vcc_lo, v1, v2 row_share:3 "},
      {{0x7cfc04fa, 0xff010101}, "v_cmp_class_f32_dpp vcc_lo, v1, v2 row_shl:1 "},
      {{0xd4110005, 0x000204fa, 0xff010101}, "v_cmp_lt_f32_e64_dpp s5, v1, v2 row_shl:1 "},
      {{0xd411826a, 0x200204fa, 0xff010101},
       "v_cmp_lt_f32_e64_dpp vcc_lo, -v1, |v2| clamp row_shl:1 "},
      {{0xd491007e, 0x000204fa, 0xff010101}, "v_cmpx_lt_f32_e64_dpp v1, v2 row_shl:1 "},
      {{0xd5038201, 0x280206fa, 0xff010102},
       "v_add_f32_e64_dpp v1, -v2, |v3| clamp mul:2 row_shl:1 "},
      {{0xd6130001, 0x041206fa, 0xff010102}, "v_fma_f32_e64_dpp v1, v2, v3, v4 row_shl:1 "},
      {{0xd5200c05, 0x001a04fa, 0xff010101},
       "v_add_co_ci_u32_e64_dpp v5, s12, v1, v2, s6 row_shl:1 "},
  };
  for (const Row& row : rows) {
    const std::string found = text(row.code, Generation::gfx1100);
    EXPECT_TRUE(found.starts_with(row.text)) << found;
    const Instruction in = decoded(row.code, Generation::gfx1100);
    EXPECT_EQ(in.size_bytes, 4 * row.code.size()) << row.text;
    EXPECT_EQ(in.modifiers.extra_dword, row.code.back()) << row.text;
    auto cut = row.code;
    cut.pop_back();
    EXPECT_FALSE(decode(Generation::gfx1100, words(cut))) << row.text;
  }
  // Not in this generation, no such form, a scalar second source, signs in the third word.
  const auto unknown = [](const std::vector<std::uint32_t>& code, Generation generation) {
    return decoded(code, generation).opcode == Opcode::unlisted;
  };
  EXPECT_TRUE(unknown({0x7c0204fa, 0xff010101}, Generation::gfx1030));
  EXPECT_TRUE(unknown({0x7c4204fa, 0xff010101}, Generation::gfx1100));              // v_cmp_lt_f64
  EXPECT_TRUE(unknown({0xd62c0005, 0x000204fa, 0xff010101}, Generation::gfx1100));  // v_mul_lo_u32
  EXPECT_TRUE(unknown({0xd4110005, 0x000004fa, 0xff010101}, Generation::gfx1100));
  EXPECT_TRUE(unknown({0xd4110005, 0x000204fa, 0xff110101}, Generation::gfx1100));
}

// Words as llvm-mc-19 assembles them for gfx1100.
TEST(DecodeGfx1100, TwoInstructionsInOneAreTwoInstructions) {
  // v_dual_fmaak_f32 v20, v21, v22, 0x40490fdb :: v_dual_add_nc_u32 v23, v20, v20
  const std::vector<std::uint32_t> code{0xc8602d15, 0x14162914, 0x40490fdb};
  const Instruction both = decoded(code, Generation::gfx1100);
  EXPECT_EQ(both.opcode, Opcode::v_dual);
  EXPECT_EQ(both.size_bytes, 12);
  EXPECT_EQ(text(code, Generation::gfx1100),
            "v_dual_fmaak_f32 v20, v21, v22, 0x40490fdb :: v_dual_add_nc_u32 v23, v20, v20");
  const auto [first, second] = dual_halves(both);
  EXPECT_EQ(first.opcode, Opcode::v_fmaak_f32);
  EXPECT_EQ(first.dst[0].index, 20);
  EXPECT_EQ(first.src[2].value, 0x40490fdbU);
  EXPECT_EQ(second.opcode, Opcode::v_add_u32);
  EXPECT_EQ(second.dst[0].index, 23);
  EXPECT_EQ(second.src[1].index, 20);
  // Waves of 64 have none.
  const auto wide = decode(Generation::gfx1100, words(code), WaveSize::lanes64);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->opcode, Opcode::unlisted);
}

// Words as llvm-mc-19 assembles them for gfx1200.
TEST(DecodeGfx12, InstructionsHaveTheirSize) {
  struct Row {
    const char* name;
    std::vector<std::uint32_t> code;
  };
  const Row rows[] = {
      {"v_fmamk_f32", {0x58020702, 0x01234567}},
      {"v_fmaak_f32", {0x5a020702, 0x01234567}},
      {"v_fmamk_f16", {0x6e020702, 0x00001234}},
      {"v_dual_fmamk_f32 :: v_dual_mov_b32", {0xc8900702, 0x01040105, 0x01234567}},
      {"v_dual_mov_b32 :: v_dual_fmaak_f32", {0xca020105, 0x04000702, 0x01234567}},
      {"v_dual_mov_b32 :: v_dual_add_f32", {0xca0800ff, 0x04000702, 0x01234567}},
      {"global_load_b128", {0xee05c002, 0x00000000, 0x00000004}},
      {"flat_load_b32", {0xec05007c, 0x00000000, 0x00000002}},
      {"scratch_load_b32", {0xed05007c, 0x00020000, 0x00000001}},
      {"buffer_load_b32", {0xc4050008, 0x40800800, 0x00000001}},
      {"tbuffer_load_format_x", {0xc4200008, 0x4b000800, 0x00000001}},
      {"image_load", {0xd3c00001, 0x00001000, 0x00000504}},
      {"image_sample", {0xe7c6c001, 0x08001000, 0x00000504}},
      {"image_bvh_intersect_ray", {0xd3c64010, 0x0c001000, 0x09060504}},
      {"ds_load_b32", {0xd8d80000, 0x00000001}},
      {"ds_direct_load", {0xce100001}},
      {"ds_param_load", {0xce000001}},
      {"s_load_b64", {0xf4002082, 0xf8000010}},
      {"s_prefetch_data", {0xf404c0c2, 0x0c000010}},
      {"export", {0xf800000f, 0x03020100}},
      {"v_interp_p10_f32", {0xcd000000, 0x040e0501}},
      {"v_pk_fma_f16", {0xcc0e4000, 0x1bfe0501, 0x01234567}},
      {"v_add3_u32", {0xd6550001, 0x03fe0702, 0x5ec0de01}},
      {"v_add_f32_e64_dpp", {0xd5030001, 0x000206fa, 0xff00e402}},
      {"v_mov_b32_dpp", {0x7e0202fa, 0xff010102}},
      {"v_wmma_f32_16x16x16_f16", {0xcc404008, 0x1c220900}},
      {"s_add_nc_u64", {0xa982ff04, 0x01234567}},
      {"s_mul_u64", {0xaa820604}},
      {"s_barrier_signal", {0xbe804ec1}},
      {"s_barrier_wait", {0xbf94ffff}},
      {"s_wait_loadcnt_dscnt", {0xbfc80101}},
      {"s_sleep_var", {0xbe805803}},
      {"global_atomic_add_f32", {0xee15807c, 0x02100001, 0x00000002}},
      {"global_inv", {0xee0ac07c, 0x00080000, 0x00000000}},
      {"s_dcache_inv", {0xf4042000, 0x00000000}},
  };
  for (const Row& row : rows) {
    auto code = row.code;
    code.push_back(0xbf800000);
    const auto found = decode(Generation::gfx12, words(code));
    ASSERT_TRUE(found) << row.name << ": " << found.error().text();
    EXPECT_EQ(found->size_bytes, 4 * row.code.size()) << row.name;
    code.resize(row.code.size() - 1);
    EXPECT_FALSE(code.empty() ? false : decode(Generation::gfx12, words(code)).has_value())
        << row.name << " cut off";
  }
}

TEST(DecodeGfx12, HasNotWhatItLost) {
  // s_cmpk_eq_i32, s_waitcnt_vscnt, s_barrier; MUBUF, FLAT and MIMG as gfx11 encodes them.
  for (const std::uint32_t word :
       {0xb1820001U, 0xbc020001U, 0xbfbd0000U, 0xe0500000U, 0xdc520000U, 0xf0000f00U}) {
    EXPECT_TRUE(decode(Generation::gfx11, words({word, 0, 0, 0}))) << std::hex << word;
    EXPECT_FALSE(decode(Generation::gfx12, words({word, 0, 0, 0}))) << std::hex << word;
  }
}

TEST(DecodeGfx9, UnlistedInstructionsHaveTheirSize) {
  const auto size = [](const std::vector<std::uint32_t>& code) {
    return int{decoded(code, Generation::gfx9).size_bytes};
  };
  EXPECT_EQ(size({0x7e020300}), 4);              // v_mov_b32 v1, v0
  EXPECT_EQ(size({0x7e0202ff, 0x12345678}), 8);  // with a literal
  EXPECT_EQ(size({0x7e0202f9, 0x06060600}), 8);  // SDWA
  EXPECT_EQ(size({0x7e0202fa, 0xff00e400}), 8);  // DPP
  EXPECT_EQ(size({0x2e020300, 0x3f123456}), 8);  // v_madmk_f32
  EXPECT_EQ(size({0xd3d04000, 0x18020501}), 8);  // VOP3P
  EXPECT_EQ(size({0xc0020002, 0x00000000}), 8);  // s_load_dword
  EXPECT_EQ(text({0xc0020002, 0x00000000}, Generation::gfx9), ".long 0xc0020002, 0x00000000");
}

TEST(DecodeGfx9, UnlistedInstructionsShowThatTheyReadScc) {
  const Instruction in = decoded({0x7e0202fd}, Generation::gfx9);
  EXPECT_EQ(in.src[0].kind, OperandKind::special);
  EXPECT_EQ(in.src[0].index, index_of(SpecialRegister::scc));
}

TEST(Disassemble, NegatedConstantIsNotTheNegativeConstant) {
  EXPECT_EQ(text({0xd2060001, 0x200104f2}), "v_add_f32_e64 v1, neg(1.0), 2");
  EXPECT_EQ(text({0xd2060301, 0x60020603}), "v_add_f32_e64 v1, -|s3|, -|v3|");
}

TEST(Traits, SccFlowsThroughTheRightInstructions) {
  EXPECT_TRUE(traits(Opcode::s_addc_u32).reads_scc);
  EXPECT_TRUE(traits(Opcode::s_addc_u32).writes_scc);
  EXPECT_TRUE(traits(Opcode::s_cselect_b32).reads_scc);
  EXPECT_FALSE(traits(Opcode::s_cselect_b32).writes_scc);
  EXPECT_FALSE(traits(Opcode::s_mul_i32).writes_scc);
  EXPECT_FALSE(traits(Opcode::s_mov_b32).writes_scc);
  EXPECT_FALSE(traits(Opcode::v_addc_u32).reads_scc);
}

TEST(Traits, SortMemoryAndControl) {
  EXPECT_TRUE(traits(Opcode::flat_load_dword).is_vector_memory);
  EXPECT_TRUE(traits(Opcode::global_load_dword).is_vector_memory);
  EXPECT_TRUE(traits(Opcode::s_buffer_load_dword).is_scalar_memory);
  EXPECT_TRUE(traits(Opcode::ds_read_b32).is_lds);
  EXPECT_TRUE(traits(Opcode::s_cbranch_vccz).is_branch);
  EXPECT_FALSE(traits(Opcode::s_cbranch_vccz).is_terminator);
  EXPECT_TRUE(traits(Opcode::s_endpgm).is_terminator);
}

TEST(Opcodes, HaveOneNameEach) {
  EXPECT_EQ(mnemonic(Opcode::v_add_i32), "v_add_i32");
  EXPECT_EQ(mnemonic(Opcode::invalid), "invalid");
  EXPECT_EQ(mnemonic(static_cast<Opcode>(60000)), "invalid");
}

}  // namespace
}  // namespace ww::binpatch::isa::decode_test
