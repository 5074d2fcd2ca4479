#include "ww/binpatch/patch.hpp"

#include <gtest/gtest.h>

#include "object_builder.hpp"

namespace ww::binpatch::patch_test {
namespace {

using testing::build_object;
using testing::Bytes;
using testing::words;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kNop = 0xbf800000;
constexpr std::uint32_t kEndProgram = 0xbf810000;
constexpr std::uint32_t kMarkerFirst = 0x8903ff06;   // s_xor_b32 s3, s6, literal
constexpr std::uint32_t kCompare = 0xbf008003;       // s_cmp_eq_i32 s3, 0
constexpr std::uint32_t kBranchIfScc0 = 0xbf840000;  // s_cbranch_scc0 0
constexpr std::uint32_t kBranchIfVccz = 0xbf860000;  // s_cbranch_vccz 0

Bytes object_of(const Words& code) {
  return build_object({.code = words(code)});
}

Result<PatchResult> patched(const Words& code, HardwareRegister reg = HardwareRegister::hw_id) {
  return patch(object_of(code), "k", reg);
}

void expect_refused(const Words& code, ErrorCode error) {
  const auto result = patched(code);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, error) << result.error().text();
}

TEST(Patch, TurnsTheMarkerIntoARegisterReadOfTheSameDestination) {
  const Words code{kNop, kMarkerFirst, pin_marker, kCompare, kBranchIfScc0, kEndProgram};
  const Bytes object = object_of(code);
  const auto result = patch(object, "k", HardwareRegister::hw_id);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->site.before, words({kMarkerFirst, pin_marker}));
  EXPECT_EQ(result->site.after, words({0xb903f804, kNop}));
  EXPECT_EQ(result->site.before_text, "s_xor_b32 s3, s6, 0x5ec0de01");
  EXPECT_EQ(result->site.after_text, "s_getreg_b32 s3, hwreg(HW_REG_HW_ID); s_nop 0x0");
  const auto before = CodeObject::parse(object);
  EXPECT_EQ(result->site.file_offset, before->kernels()[0].entry_file_offset + 4);
  EXPECT_EQ(result->site.address, before->kernels()[0].entry_address + 4);
  EXPECT_TRUE(verify(object, *result, HardwareRegister::hw_id).has_value());
}

TEST(Patch, AcceptsTheMarkerAsFirstSource) {
  EXPECT_TRUE(patched({0x890306ff, pin_marker, kEndProgram}).has_value());
}

TEST(Patch, IgnoresMarkerBytesThatAreNoInstruction) {
  // The second word of another instruction's literal pair looks like a marker's start.
  const Words code{0xbe8003ff, kMarkerFirst, kMarkerFirst, pin_marker, kEndProgram};
  const auto result = patched(code);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  const auto object = CodeObject::parse(object_of(code));
  EXPECT_EQ(result->site.file_offset, object->kernels()[0].entry_file_offset + 8);
}

constexpr std::uint32_t kSkipTwo = 0xbf820002;  // s_branch 2

TEST(Patch, PassesByDataThatOnlyLooksLikeTheMarker) {
  const Words code{kSkipTwo, kMarkerFirst, pin_marker, kMarkerFirst, pin_marker, kEndProgram};
  const auto result = patched(code);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  const auto object = CodeObject::parse(object_of(code));
  EXPECT_EQ(result->site.file_offset, object->kernels()[0].entry_file_offset + 12);
}

TEST(Patch, RefusesAMarkerThatNoPathComesTo) {
  expect_refused({kSkipTwo, kMarkerFirst, pin_marker, kEndProgram}, ErrorCode::not_found);
}

TEST(Patch, RefusesAnUnknownKernel) {
  const auto result = patch(object_of({kEndProgram}), "other", HardwareRegister::hw_id);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

TEST(Patch, RefusesAKernelWithoutMarker) {
  expect_refused({kNop, kEndProgram}, ErrorCode::not_found);
}

TEST(Patch, RefusesTwoMarkers) {
  expect_refused({kMarkerFirst, pin_marker, kMarkerFirst, pin_marker, kEndProgram},
                 ErrorCode::bad_data);
}

TEST(Patch, RefusesAMarkerConstantElsewhereBesideTheMarker) {
  expect_refused({kMarkerFirst, pin_marker, 0xbe8003ff, pin_marker, kEndProgram},
                 ErrorCode::bad_data);
}

TEST(Patch, RefusesAMarkerThatTheCompilerSplit) {
  expect_refused({0xbe8003ff, pin_marker, kEndProgram}, ErrorCode::unsupported);  // s_mov_b32
}

TEST(Patch, RefusesWhenTheNextInstructionReadsScc) {
  expect_refused({kMarkerFirst, pin_marker, kBranchIfScc0, kEndProgram}, ErrorCode::bad_data);
  expect_refused({kMarkerFirst, pin_marker, kNop, 0x85008103, kEndProgram},  // s_cselect_b32
                 ErrorCode::bad_data);
}

TEST(Patch, RefusesWhenSccIsReadAsAnOperand) {
  expect_refused({kMarkerFirst, pin_marker, 0xbe8003fd, kEndProgram}, ErrorCode::bad_data);
}

TEST(Patch, RefusesWhenSccIsReadThroughTheStatusRegister) {
  constexpr std::uint32_t read_status = 0xb900f802;  // s_getreg_b32 s0, hwreg(HW_REG_STATUS)
  constexpr std::uint32_t read_higher = 0xb900f842;  // from bit 1 on
  expect_refused({kMarkerFirst, pin_marker, read_status, kEndProgram}, ErrorCode::bad_data);
  EXPECT_TRUE(patched({kMarkerFirst, pin_marker, read_higher, kEndProgram}).has_value());
}

TEST(Patch, RefusesWhenSccIsReadOnlyAlongTheTakenBranch) {
  // vccz skips the compare, and the branch behind it reads what the marker left.
  expect_refused(
      {kMarkerFirst, pin_marker, kBranchIfVccz + 1, kCompare, kBranchIfScc0, kEndProgram},
      ErrorCode::bad_data);
}

TEST(Patch, AcceptsWhenEveryPathWritesSccFirst) {
  EXPECT_TRUE(patched({kMarkerFirst, pin_marker, kBranchIfVccz + 2, kCompare, kEndProgram, kCompare,
                       kBranchIfScc0, kEndProgram})
                  .has_value());
}

TEST(Patch, FollowsLoopsToTheirEnd) {
  // A backward branch to the marker itself: the marker writes SCC before the reader.
  EXPECT_TRUE(patched({kMarkerFirst, pin_marker, kBranchIfVccz | 0xfffd, kEndProgram}).has_value());
  // Backward to a reader before the marker.
  expect_refused(
      {kCompare, kBranchIfScc0, kMarkerFirst, pin_marker, kBranchIfVccz | 0xfffc, kEndProgram},
      ErrorCode::bad_data);
}

TEST(Patch, RefusesControlFlowThatCannotBeFollowed) {
  expect_refused({kMarkerFirst, pin_marker, 0xbe802004, kEndProgram}, ErrorCode::bad_data);
  expect_refused({kMarkerFirst, pin_marker, kBranchIfVccz + 100, kEndProgram}, ErrorCode::bad_data);
  expect_refused({kMarkerFirst, pin_marker, kNop}, ErrorCode::bad_data);
}

TEST(Patch, RefusesCodeThatCannotBeDecoded) {
  expect_refused({0xd4000000, 0, kMarkerFirst, pin_marker, kEndProgram}, ErrorCode::bad_data);
  expect_refused({kMarkerFirst, pin_marker, kEndProgram, 0xd4000000, 0}, ErrorCode::bad_data);
}

TEST(Patch, RefusesRegistersThatTheTargetHasNot) {
  const Words code{kMarkerFirst, pin_marker, kEndProgram};
  EXPECT_EQ(patched(code, HardwareRegister::xcc_id).error().code, ErrorCode::unsupported);
  EXPECT_EQ(patched(code, HardwareRegister::hw_id1).error().code, ErrorCode::unsupported);
}

TEST(PatchRdna, ReadsTheFirstHardwareIdRegister) {
  const Words gfx10{0x8903ff06, pin_marker, kEndProgram};
  const Bytes rdna2 = build_object({.machine = 0x36, .code = words(gfx10)});
  const auto older = patch(rdna2, "k", HardwareRegister::hw_id1);
  ASSERT_TRUE(older.has_value()) << older.error().text();
  EXPECT_EQ(older->site.after, words({0xb903f817, kNop}));
  EXPECT_EQ(older->site.after_text, "s_getreg_b32 s3, hwreg(HW_REG_HW_ID1); s_nop 0x0");
  EXPECT_TRUE(verify(rdna2, *older, HardwareRegister::hw_id1).has_value());
  EXPECT_EQ(patch(rdna2, "k", HardwareRegister::hw_id).error().code, ErrorCode::unsupported);

  const Words gfx11{0x8d03ff06, pin_marker, 0xbfb00000};
  const Bytes rdna3 = build_object({.machine = 0x41, .code = words(gfx11)});
  const auto newer = patch(rdna3, "k", HardwareRegister::hw_id1);
  ASSERT_TRUE(newer.has_value()) << newer.error().text();
  EXPECT_EQ(newer->site.after, words({0xb883f817, kNop}));
  EXPECT_TRUE(verify(rdna3, *newer, HardwareRegister::hw_id1).has_value());
  EXPECT_EQ(*unpatch(newer->bytes, newer->site), rdna3);

  // A load of three words before the marker, which gfx12 encodes as gfx11 does.
  const Words gfx12{0xee05c002, 0x00000000, 0x00000004, 0x8d03ff06, pin_marker, 0xbfb00000};
  const Bytes rdna4 = build_object({.machine = 0x4e, .code = words(gfx12)});
  const auto newest = patch(rdna4, "k", HardwareRegister::hw_id1);
  ASSERT_TRUE(newest.has_value()) << newest.error().text();
  EXPECT_EQ(newest->site.after, words({0xb883f817, kNop}));
  EXPECT_TRUE(verify(rdna4, *newest, HardwareRegister::hw_id1).has_value());
  EXPECT_EQ(*unpatch(newest->bytes, newest->site), rdna4);
}

TEST(PatchRdna, SeesAMarkerInTheLiteralOfALongInstruction) {
  // v_add3_u32 v1, v2, v3, marker: a third word that only gfx10 and later have.
  const Words code{0xd76d0001, 0x03fe0702, pin_marker, kEndProgram};
  const auto result =
      patch(build_object({.machine = 0x36, .code = words(code)}), "k", HardwareRegister::hw_id1);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::unsupported) << result.error().text();
}

TEST(PatchGfx9, UsesThatGenerationsEncodings) {
  const Words code{0x8803ff06, pin_marker, kEndProgram};
  const auto hw_id =
      patch(build_object({.machine = 0x2f, .code = words(code)}), "k", HardwareRegister::hw_id);
  ASSERT_TRUE(hw_id.has_value()) << hw_id.error().text();
  EXPECT_EQ(hw_id->site.after, words({0xb883f804, kNop}));
  const Bytes mi300 = build_object({.machine = 0x4c, .code = words(code)});
  const auto xcc_id = patch(mi300, "k", HardwareRegister::xcc_id);
  ASSERT_TRUE(xcc_id.has_value()) << xcc_id.error().text();
  EXPECT_EQ(xcc_id->site.after, words({0xb883f814, kNop}));
  EXPECT_TRUE(verify(mi300, *xcc_id, HardwareRegister::xcc_id).has_value());
}

TEST(PatchGfx9, RefusesWhenAVectorInstructionReadsScc) {
  const Words code{0x8803ff06, pin_marker, 0x7e0202fd, kEndProgram};
  const auto result =
      patch(build_object({.machine = 0x2c, .code = words(code)}), "k", HardwareRegister::hw_id);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::bad_data);
}

TEST(PatchGfx9, SeesAMarkerSplitIntoAVectorInstruction) {
  // v_mov_b32 v1, marker
  const auto result =
      patch(build_object({.machine = 0x2c, .code = words({0x7e0202ff, pin_marker, kEndProgram})}),
            "k", HardwareRegister::hw_id);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
}

TEST(Unpatch, GivesTheOriginalBack) {
  const Bytes object = object_of({kNop, kMarkerFirst, pin_marker, kCompare, kEndProgram});
  const auto result = patch(object, "k", HardwareRegister::hw_id);
  ASSERT_TRUE(result.has_value());
  const auto back = unpatch(result->bytes, result->site);
  ASSERT_TRUE(back.has_value()) << back.error().text();
  EXPECT_EQ(*back, object);
}

TEST(Unpatch, RefusesWhatThePatchDidNotWrite) {
  const Bytes object = object_of({kNop, kMarkerFirst, pin_marker, kCompare, kEndProgram});
  const auto result = patch(object, "k", HardwareRegister::hw_id);
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(unpatch(object, result->site).has_value()) << "not patched";
  PatchSite moved = result->site;
  moved.file_offset += 4;
  EXPECT_FALSE(unpatch(result->bytes, moved).has_value());
  PatchSite outside = result->site;
  outside.file_offset = 1 << 20;
  EXPECT_FALSE(unpatch(result->bytes, outside).has_value());
  PatchSite other = result->site;
  other.before = words({0x8904ff06, pin_marker});  // another destination
  EXPECT_FALSE(unpatch(result->bytes, other).has_value());
  other.before = words({kNop, kNop});
  EXPECT_FALSE(unpatch(result->bytes, other).has_value());
}

TEST(Verify, FindsEveryKindOfTampering) {
  const Bytes object = object_of({kNop, kMarkerFirst, pin_marker, kCompare, kEndProgram});
  const auto result = patch(object, "k", HardwareRegister::hw_id);
  ASSERT_TRUE(result.has_value());
  ASSERT_TRUE(verify(object, *result, HardwareRegister::hw_id).has_value());

  PatchResult untouched = *result;
  untouched.bytes = object;
  EXPECT_FALSE(verify(object, untouched, HardwareRegister::hw_id).has_value());

  PatchResult elsewhere = *result;
  elsewhere.bytes.back() ^= std::byte{1};
  EXPECT_FALSE(verify(object, elsewhere, HardwareRegister::hw_id).has_value());

  PatchResult partial = *result;  // the paper's bits 14:8 instead of the whole register
  const Bytes read = words({0xb9033204});
  std::copy(read.begin(), read.end(), partial.site.after.begin());
  std::copy(read.begin(), read.end(),
            partial.bytes.begin() + static_cast<std::ptrdiff_t>(partial.site.file_offset));
  EXPECT_FALSE(verify(object, partial, HardwareRegister::hw_id).has_value());

  PatchResult longer = *result;
  longer.bytes.push_back(std::byte{0});
  EXPECT_FALSE(verify(object, longer, HardwareRegister::hw_id).has_value());
}

}  // namespace
}  // namespace ww::binpatch::patch_test
