#include <gtest/gtest.h>

#include "object_builder.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa::decode_gfx9_test {
namespace {

using testing::words;

std::string text(const std::vector<std::uint32_t>& code, Generation generation) {
  const auto result = decode(generation, words(code));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return disassemble(result.value_or(Instruction{}), generation);
}
std::string vega(const std::vector<std::uint32_t>& code) {
  return text(code, Generation::gfx900);
}
std::string cdna(const std::vector<std::uint32_t>& code) {
  return text(code, Generation::gfx90a);
}

std::string volcanic(const std::vector<std::uint32_t>& code) {
  return text(code, Generation::gfx8);
}
bool unlisted(Generation generation, const std::vector<std::uint32_t>& code) {
  const auto result = decode(generation, words(code));
  return result && result->opcode == Opcode::unlisted;
}

TEST(Gfx8, NamesSumsWithCarriesAsLlvmDoes) {
  EXPECT_EQ(volcanic({0x32020702}), "v_add_u32_e32 v1, vcc, v2, v3");
  EXPECT_EQ(volcanic({0xd1190201, 0x00020702}), "v_add_u32_e64 v1, s[2:3], v2, v3");
  EXPECT_EQ(volcanic({0x38020702}), "v_addc_u32_e32 v1, vcc, v2, v3, vcc");
  EXPECT_EQ(volcanic({0xd1ea0001, 0x04120702}), "v_mad_f16 v1, v2, v3, v4");
  EXPECT_TRUE(unlisted(Generation::gfx8, {0x68020702}));              // gfx9's v_add_u32
  EXPECT_TRUE(unlisted(Generation::gfx8, {0xd1ff0001, 0x04120702}));  // v_add3_u32
  EXPECT_TRUE(unlisted(Generation::gfx8, {0xd3804001, 0x1c120702}));  // VOP3P
}

TEST(Gfx8, ReadsScalarMemoryWithoutASignOrASecondOffset) {
  EXPECT_EQ(volcanic({0xc0020001, 0x00012345}), "s_load_dword s0, s[2:3], 0x12345");
  EXPECT_EQ(volcanic({0xc0010001, 0x00000005}), "s_load_dword s0, s[2:3], s5 glc");
  EXPECT_TRUE(unlisted(Generation::gfx8, {0xc0060001, 0x001ffff0}));
  EXPECT_TRUE(unlisted(Generation::gfx8, {0xc0064001, 0x08000010}));
}

TEST(Gfx8, HasFlatAccessesWithoutOffsetAlone) {
  EXPECT_EQ(volcanic({0xdc530000, 0x01000002}), "flat_load_dword v1, v[2:3] glc slc");
  EXPECT_TRUE(unlisted(Generation::gfx8, {0xdc500010, 0x01000002}));
  EXPECT_TRUE(unlisted(Generation::gfx8, {0xdc508000, 0x017f0002}));  // global_load_dword
}

TEST(Gfx8, TakesPartsOfVectorRegistersAlone) {
  EXPECT_EQ(volcanic({0x7c8404f9, 0x06012001}),
            "v_cmp_eq_f32_sdwa vcc, v1, v2 clamp src0_sel:BYTE_1 src1_sel:DWORD");
  EXPECT_EQ(volcanic({0x320206f9, 0x04011502}),
            "v_add_u32_sdwa v1, vcc, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
            "src0_sel:BYTE_1 src1_sel:WORD_0");
  EXPECT_TRUE(unlisted(Generation::gfx8, {0x020206f9, 0x84011502}));  // a scalar source
  EXPECT_TRUE(unlisted(Generation::gfx8, {0x020206f9, 0x04015502}));  // a scaled result
  EXPECT_TRUE(unlisted(Generation::gfx8, {0x7c8404f9, 0x06018001}));  // a result beside vcc
}

TEST(Gfx9, KnowsWhichTargetsItsTablesAreFor) {
  EXPECT_EQ(generation_of({9, 0, 0}).value(), Generation::gfx900);
  EXPECT_EQ(generation_of({9, 0, 1}).value(), Generation::gfx900);
  EXPECT_EQ(generation_of({9, 0, 0xc}).value(), Generation::gfx900);
  EXPECT_EQ(generation_of({9, 0, 0xa}).value(), Generation::gfx90a);
  EXPECT_EQ(generation_of({9, 0, 4}).value(), Generation::gfx904);
  EXPECT_EQ(generation_of({9, 0, 6}).value(), Generation::gfx906);
  EXPECT_EQ(generation_of({9, 0, 8}).value(), Generation::gfx908);
  EXPECT_EQ(generation_of({9, 5, 0}).value(), Generation::gfx9);
  EXPECT_EQ(generation_of({9, 4, 2}).value(), Generation::gfx940);
}

TEST(Gfx9, WritesPartsOfRegistersAsLlvmDoes) {
  EXPECT_EQ(vega({0x020206f9, 0x24117502}),
            "v_add_f32_sdwa v1, -v2, |v3| clamp mul:2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
            "src0_sel:BYTE_1 src1_sel:WORD_0");
  EXPECT_EQ(vega({0x680206f9, 0x86090802}),
            "v_add_u32_sdwa v1, sext(v2), s3 dst_sel:BYTE_0 dst_unused:UNUSED_SEXT "
            "src0_sel:BYTE_1 src1_sel:DWORD");
  EXPECT_EQ(vega({0x7d9404f9, 0x06038201}),
            "v_cmp_eq_u32_sdwa s[2:3], v1, v2 src0_sel:BYTE_3 src1_sel:DWORD");
  EXPECT_EQ(vega({0xd2035401, 0x24120702}), "v_mad_f16 v1, -v2, v3, |v4| op_sel:[0,1,0,1]");
}

TEST(Gfx9, WritesOtherLanesAsLlvmDoes) {
  EXPECT_EQ(vega({0x7e0202fa, 0xfe00e402}),
            "v_mov_b32_dpp v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xe");
  EXPECT_EQ(vega({0x7e0202fa, 0xff090302}),
            "v_mov_b32_dpp v1, v2 row_shl:3 row_mask:0xf bank_mask:0xf bound_ctrl:0");
  EXPECT_EQ(cdna({0x08040cfa, 0xff015304}),
            "v_fmac_f64_dpp v[2:3], v[4:5], v[6:7] row_newbcast:3 row_mask:0xf bank_mask:0xf");
}

TEST(Gfx9, WritesPackedOperationsAsLlvmDoes) {
  EXPECT_EQ(vega({0xd38a4001, 0x18020702}), "v_pk_add_u16 v1, v2, v3");
  EXPECT_EQ(vega({0xd38fca01, 0x30020702}),
            "v_pk_add_f16 v1, v2, v3 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1] clamp");
  EXPECT_EQ(cdna({0xd3a09201, 0x3c120702}),
            "v_fma_mix_f32 v1, -v2, |v3|, v4 op_sel:[0,1,0] op_sel_hi:[1,1,0] clamp");
  EXPECT_EQ(cdna({0xd3b14002, 0x08000d04}), "v_pk_mul_f32 v[2:3], v[4:5], s[6:7] op_sel_hi:[1,0]");
}

TEST(Gfx9, TellsSumsWithCarriesFromThoseWithout) {
  EXPECT_EQ(vega({0xd1198201, 0x00020702}), "v_add_co_u32_e64 v1, s[2:3], v2, v3 clamp");
  EXPECT_EQ(vega({0xd29c0001, 0x00020702}), "v_add_i32 v1, v2, v3");
  const auto sum = decode(Generation::gfx900, words({0xd29c0001, 0x00020702}));
  EXPECT_EQ(sum->opcode, Opcode::v_add_nc_i32);
}

TEST(Gfx9, ReadsAddressesOfThreeKinds) {
  EXPECT_EQ(vega({0xdc538fff, 0x04040002}), "global_load_dword v4, v2, s[4:5] offset:4095 glc slc");
  EXPECT_EQ(vega({0xdc509ff8, 0x047f0002}), "global_load_dword v4, v[2:3], off offset:-8");
  EXPECT_EQ(vega({0xdc504004, 0x01040000}), "scratch_load_dword v1, off, s4 offset:4");
  EXPECT_EQ(vega({0xdc500010, 0x01000002}), "flat_load_dword v1, v[2:3] offset:16");
  EXPECT_EQ(vega({0xc0060001, 0x001ffff0}), "s_load_dwordx2 s[0:1], s[2:3], -0x10");
  EXPECT_EQ(vega({0xc0064001, 0x08000010}), "s_load_dwordx2 s[0:1], s[2:3], s4 offset:0x10");
}

// Compilers for gfx90a write the second form, assemblers the first.
TEST(Gfx9, ReadsScalarOffsetsInARegisterInBothForms) {
  EXPECT_EQ(cdna({0xc0020081, 0x00000010}), "s_load_dword s2, s[2:3], 0x10");
  EXPECT_EQ(cdna({0xc0000081, 0x00000004}), "s_load_dword s2, s[2:3], s4");
  EXPECT_EQ(cdna({0xc0004081, 0x08000000}), "s_load_dword s2, s[2:3], s4");
  EXPECT_EQ(vega({0xc0244102, 0x12000000}), "s_buffer_load_dwordx2 s[4:5], s[4:7], s9");
  EXPECT_EQ(decode(Generation::gfx90a, words({0xc0004081, 0x08000004}))->opcode, Opcode::unlisted);
}

TEST(Gfx9, HasAccumulationRegistersOnGfx90aAlone) {
  EXPECT_EQ(cdna({0xd3d84004, 0x18000106}), "v_accvgpr_read_b32 v4, a6");
  EXPECT_EQ(cdna({0xd3d94004, 0x18000106}), "v_accvgpr_write_b32 a4, v6");
  EXPECT_EQ(cdna({0xdc509ff8, 0x04ff0002}), "global_load_dword a4, v[2:3], off offset:-8");
  EXPECT_EQ(cdna({0xdaec0008, 0x04000002}), "ds_read_b64 a[4:5], v2 offset:8");
  EXPECT_EQ(decode(Generation::gfx900, words({0xdc509ff8, 0x04ff0002}))->opcode, Opcode::unlisted);
}

TEST(Gfx9, WantsTuplesAtEvenRegistersOnGfx90aAlone) {
  EXPECT_EQ(vega({0xdc509000, 0x047f0003}), "global_load_dword v4, v[3:4], off offset:-4096");
  EXPECT_EQ(decode(Generation::gfx90a, words({0xdc509000, 0x047f0003}))->opcode, Opcode::unlisted);
}

TEST(Gfx9, ReadsMatrixProducts) {
  EXPECT_EQ(cdna({0xd3c08000, 0x04020300}), "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]");
  EXPECT_EQ(cdna({0xd3c01100, 0x74820302}),
            "v_mfma_f32_32x32x1f32 v[0:31], v2, a1, v[32:63] cbsz:1 abid:2 blgp:3");
  EXPECT_EQ(cdna({0xd3c58000, 0x03ca0300}), "v_mfma_f32_16x16x4f32 a[0:3], v0, v1, 1.0");
  EXPECT_EQ(cdna({0xd3ee8000, 0x04020500}), "v_mfma_f64_16x16x4f64 a[0:7], v[0:1], v[2:3], a[0:7]");
  EXPECT_EQ(decode(Generation::gfx90a, words({0xd3ee8100, 0x04020500}))->opcode, Opcode::unlisted);
  EXPECT_EQ(decode(Generation::gfx900, words({0xd3c08000, 0x04020300}))->opcode, Opcode::unlisted);
}

TEST(Gfx9, HasSumsOfMatrixProductsInAccumulationRegistersAloneOnGfx908) {
  EXPECT_EQ(text({0xd3c00000, 0x0c820302}, Generation::gfx908),
            "v_mfma_f32_32x32x1f32 a[0:31], a2, v1, a[32:63]");
  const auto gfx908 = Generation::gfx908;
  EXPECT_TRUE(unlisted(gfx908, {0xd3c08000, 0x0c820302}));  // the bit that gfx90a chooses with
  EXPECT_TRUE(unlisted(gfx908, {0xd3c50000, 0x03ca0300}));  // a constant sum
  EXPECT_TRUE(unlisted(gfx908, {0xd3d94004, 0x18000006}));  // scalar to accumulation register
}

TEST(Gfx9, HasAtomicsWithoutResultOnGfx908) {
  EXPECT_EQ(text({0xdd348000, 0x007f0802}, Generation::gfx908),
            "global_atomic_add_f32 v[2:3], v8, off");
  EXPECT_EQ(decode(Generation::gfx908, words({0xdd358000, 0x047f0802}))->opcode, Opcode::unlisted);
  EXPECT_EQ(decode(Generation::gfx906, words({0xdd348000, 0x007f0802}))->opcode, Opcode::unlisted);
}

TEST(Gfx9, NamesCachesAndBlocksOnGfx940AsLlvmDoes) {
  const auto newest = [](const std::vector<std::uint32_t>& code) {
    return text(code, Generation::gfx940);
  };
  EXPECT_EQ(newest({0xe052d000, 0x08010102}),
            "buffer_load_dword v1, v2, s[4:7], s8 offen sc0 nt sc1");
  EXPECT_EQ(newest({0xde538000, 0x017f0002}), "global_load_dword v1, v[2:3], off sc0 nt sc1");
  EXPECT_EQ(newest({0xe0a4c000, 0x00000000}), "buffer_inv sc0 sc1");
  EXPECT_EQ(newest({0xdeab8004, 0x007f0002}),
            "global_load_lds_dword v[2:3], off offset:4 sc0 nt sc1");
  EXPECT_EQ(newest({0xdc506004, 0x01030002}), "scratch_load_dword v1, v2, s3 offset:4");
  EXPECT_EQ(newest({0xdc504004, 0x017f0000}), "scratch_load_dword v1, off, off offset:4");
  EXPECT_EQ(newest({0xd3c08000, 0x04020300}), "v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, v1, a[0:31]");
  EXPECT_EQ(newest({0xd3ee8000, 0x24020500}),
            "v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7] neg:[1,0,0]");
  EXPECT_EQ(newest({0xd3e21108, 0x04722104}),
            "v_smfmac_f32_16x16x32_f16 v[8:11], v[4:5], v[16:19], v28 cbsz:1 abid:2");
  EXPECT_EQ(newest({0x7e02a8f9, 0x00010602}), "v_cvt_f32_fp8_sdwa v1, v2 src0_sel:BYTE_1");
  EXPECT_EQ(newest({0xd2a46001, 0x00020702}), "v_cvt_sr_fp8_f32 v1, v2, v3 op_sel:[0,0,1,1]");
  EXPECT_TRUE(unlisted(Generation::gfx940, {0x2c020702}));              // v_mac_f32
  EXPECT_TRUE(unlisted(Generation::gfx940, {0xdc504004, 0x017f0002}));  // two ways to say "off"
  EXPECT_TRUE(unlisted(Generation::gfx90a, {0xde538000, 0x017f0002}));  // sc1
  EXPECT_TRUE(unlisted(Generation::gfx940, {0x7e02a8f9, 0x00010502}));  // half a result
}

TEST(Gfx9, ReadsDotProducts) {
  EXPECT_EQ(cdna({0xd3a34000, 0x1c0e0501}), "v_dot2_f32_f16 v0, v1, v2, v3");
  EXPECT_EQ(cdna({0xd3a3c200, 0x3c0e0501}),
            "v_dot2_f32_f16 v0, v1, v2, v3 neg_lo:[1,0,0] neg_hi:[0,1,0] clamp");
  EXPECT_EQ(cdna({0xd3a8c000, 0x1c0e0501}), "v_dot4_i32_i8 v0, v1, v2, v3 clamp");
  EXPECT_EQ(cdna({0x74000501}), "v_dot8c_i32_i4_e32 v0, v1, v2");
}

TEST(Gfx9, KeepsWhatItDoesNotKnowAsWords) {
  EXPECT_EQ(cdna({0xd3c04000, 0x1c0a0000}), ".long 0xd3c04000, 0x1c0a0000");  // scalar operands
  EXPECT_EQ(vega({0xe8000000, 0x00000000}).substr(0, 5), ".long");            // a typed buffer
  const auto cut = decode(Generation::gfx900, words({0xd1198201}));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::parse_error);
}

}  // namespace
}  // namespace ww::binpatch::isa::decode_gfx9_test
