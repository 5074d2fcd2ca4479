#include "ww/binpatch/binary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "container_builder.hpp"

namespace ww::binpatch::binary_test {
namespace {

using testing::build_bundle;
using testing::build_catalyst;
using testing::build_catalyst_opencl2;
using testing::build_object;
using testing::Bytes;
using testing::CatalystSpec;
using testing::compress_bundle;
using testing::words;

constexpr std::uint32_t kNop = 0xbf800000;
constexpr std::uint32_t kEndProgram = 0xbf810000;

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Bytes hawaii() {
  return build_object({.code = words({kNop, 0x8903ff06, pin_marker, kEndProgram})});
}
Bytes mi200(bool marked = true) {
  return build_object(
      {.machine = 0x3f,
       .code = marked ? words({0x8803ff06, pin_marker, kEndProgram}) : words({kEndProgram})});
}
Bytes rdna3() {
  return build_object({.machine = 0x41, .code = words({0x8d03ff06, pin_marker, 0xbfb00000})});
}

// The paper's Figure 3b: global id, then the group id with its offset in s0, compared.
// s_load_dwordx4 s[0:3] before them stands for the loads of sizes and offsets.
const std::vector<std::uint32_t> figure3{0xc0800500,  // s_load_dwordx4 s[0:3], s[4:5], s0
                                         0x8380ff00, 0x0000ffff,  // s_min_u32 s0, s0, 0xffff
                                         0x93000010,              // s_mul_i32 s0, s16, s0
                                         0x81000100,              // s_add_i32 s0, s0, s1
                                         0x4a000000,              // v_add_i32 v0, vcc, s0, v0
                                         0x81000210,              // s_add_i32 s0, s16, s2
                                         0xbf02c100,              // s_cmp_gt_i32 s0, -1
                                         0xbf840000,              // s_cbranch_scc0 0
                                         kEndProgram};

void expect_whole_cycle(const Bytes& original, const PatchedBinary& patched) {
  ASSERT_EQ(patched.bytes.size(), original.size());
  const auto status = verify_binary(original, patched);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  const auto back = unpatch_binary(patched.bytes, patched.changes);
  ASSERT_TRUE(back.has_value()) << back.error().text();
  EXPECT_EQ(*back, original);
  EXPECT_FALSE(unpatch_binary(original, patched.changes).has_value());
  // A changed byte anywhere else is noticed.
  for (std::size_t at = 0; at < original.size(); at += 97) {
    PatchedBinary touched = patched;
    const auto inside = [&](const ByteChange& change) {
      return at >= change.file_offset && at < change.file_offset + change.after.size();
    };
    if (std::any_of(patched.changes.begin(), patched.changes.end(), inside)) continue;
    touched.bytes[at] ^= std::byte{1};
    EXPECT_FALSE(verify_binary(original, touched).has_value()) << at;
  }
}

TEST(KindOf, IsToldFromTheBytes) {
  EXPECT_EQ(*kind_of(hawaii()), BinaryKind::code_object);
  EXPECT_EQ(*kind_of(build_bundle({})), BinaryKind::bundle);
  EXPECT_EQ(*kind_of(build_catalyst({.kernels = {}})), BinaryKind::catalyst);
  EXPECT_EQ(*kind_of(bytes_of("\n.version 7.0\n.target sm_80\n")), BinaryKind::ptx);
  EXPECT_EQ(kind_of({}).error().code, ErrorCode::parse_error);
  EXPECT_EQ(kind_of(bytes_of("something else")).error().code, ErrorCode::parse_error);
  EXPECT_EQ(*kind_of(compress_bundle(build_bundle({}), 3, 1)), BinaryKind::bundle);
  Bytes cubin = hawaii();
  cubin[18] = std::byte{190};  // e_machine
  EXPECT_EQ(kind_of(cubin).error().code, ErrorCode::unsupported);
}

TEST(PatchBinary, OfACodeObjectTakesTheTargetsRegister) {
  const Bytes object = rdna3();
  const auto patched = patch_binary(object, {.kernel = "k"});
  ASSERT_TRUE(patched.has_value()) << patched.error().text();
  ASSERT_EQ(patched->sites.size(), 1U);
  EXPECT_EQ(patched->sites[0].reg, HardwareRegister::hw_id1);
  EXPECT_EQ(patched->sites[0].target, "gfx1100");
  expect_whole_cycle(object, *patched);
  EXPECT_TRUE(patch_binary(object, {.kernel = ""}).has_value()) << "the only kernel";
  EXPECT_FALSE(patch_binary(object, {.kernel = "k", .target = "gfx90a"}).has_value());
}

TEST(PatchBinary, OfPtxReadsTheMultiprocessor) {
  const Bytes text =
      bytes_of(".version 7.0\n.target sm_70\n.entry k() { xor.b32 %r1, %r3, 1589698049; ret; }\n");
  const auto patched = patch_binary(text, {.kernel = "k", .reg = HardwareRegister::smid});
  ASSERT_TRUE(patched.has_value()) << patched.error().text();
  EXPECT_EQ(patched->kind, BinaryKind::ptx);
  EXPECT_EQ(patched->sites[0].target, "sm_70");
  expect_whole_cycle(text, *patched);
  EXPECT_EQ(patch_binary(text, {.kernel = "k", .reg = HardwareRegister::hw_id}).error().code,
            ErrorCode::unsupported);
}

TEST(PatchBinary, OfABundlePatchesTheNamedTargetAlone) {
  const Bytes bundle = build_bundle({{"host-x86_64-unknown-linux--", {}},
                                     {"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", mi200()},
                                     {"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  const auto one = patch_binary(bundle, {.kernel = "k", .target = "gfx1100"});
  ASSERT_TRUE(one.has_value()) << one.error().text();
  ASSERT_EQ(one->sites.size(), 1U);
  EXPECT_EQ(one->sites[0].target, "gfx1100");
  EXPECT_EQ(one->changes.size(), 1U);
  expect_whole_cycle(bundle, *one);
  // The target is chosen by processor, whatever its features.
  EXPECT_TRUE(patch_binary(bundle, {.kernel = "k", .target = "gfx90a"}).has_value());

  const auto all = patch_binary(bundle, {.kernel = "k"});
  ASSERT_TRUE(all.has_value()) << all.error().text();
  ASSERT_EQ(all->sites.size(), 2U);
  EXPECT_EQ(all->sites[0].reg, HardwareRegister::hw_id);
  EXPECT_EQ(all->sites[1].reg, HardwareRegister::hw_id1);
  expect_whole_cycle(bundle, *all);
}

TEST(PatchBinary, OfABundleIsRefusedWithTheTargetsName) {
  const Bytes bundle = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", mi200(false)},
                                     {"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  const auto all = patch_binary(bundle, {.kernel = "k"});
  ASSERT_FALSE(all.has_value());
  EXPECT_NE(all.error().text().find("gfx90a"), std::string::npos);
  EXPECT_TRUE(patch_binary(bundle, {.kernel = "k", .target = "gfx1100"}).has_value());
  const auto absent = patch_binary(bundle, {.kernel = "k", .target = "gfx942"});
  ASSERT_FALSE(absent.has_value());
  EXPECT_NE(absent.error().text().find("gfx1100"), std::string::npos) << "what there is";
}

// The texts of all lines, by target.
std::vector<std::string> listed(const Bytes& file) {
  std::vector<std::string> lines;
  const auto listings = list_code(file, "");
  if (!listings) return {listings.error().text()};
  for (const CodeListing& listing : *listings) {
    for (const CodeLine& line : listing.lines) lines.push_back(listing.target + " " + line.text);
  }
  return lines;
}

TEST(CompressedBundle, IsReadAsThePlainOneInEveryVersionAndMethod) {
  const Bytes plain = build_bundle({{"host-x86_64-unknown-linux--", {}},
                                    {"hipv4-amdgcn-amd-amdhsa--gfx90a", mi200()},
                                    {"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  const auto direct = patch_binary(plain, {.kernel = "k"});
  ASSERT_TRUE(direct.has_value());
  ASSERT_GT(listed(plain).size(), 2U);
  for (int version = 1; version <= 3; ++version) {
    for (int method = 0; method <= 1; ++method) {
      SCOPED_TRACE(version * 10 + method);
      const Bytes packed = compress_bundle(plain, version, method);
      EXPECT_EQ(listed(packed), listed(plain));
      EXPECT_EQ(list_candidates(packed)->size(), 2U);
      const auto patched = patch_binary(packed, {.kernel = "k"});
      ASSERT_TRUE(patched.has_value()) << patched.error().text();
      EXPECT_EQ(patched->bytes, direct->bytes);
      EXPECT_TRUE(verify_binary(packed, *patched).has_value());
    }
  }
}

TEST(CompressedBundle, MayFollowOthersInOneSection) {
  const Bytes first = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", mi200()}});
  const Bytes second = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  const auto in_a_row = [](const std::vector<Bytes>& parts, std::size_t apart) {
    Bytes all;
    for (const Bytes& part : parts) {
      all.resize((all.size() + apart - 1) / apart * apart);
      all.insert(all.end(), part.begin(), part.end());
    }
    all.resize(all.size() + 100);  // the section's end
    return all;
  };
  auto both = listed(first);
  for (const std::string& line : listed(second)) both.push_back(line);
  for (const std::size_t apart : {std::size_t{1}, std::size_t{4096}}) {
    EXPECT_EQ(listed(in_a_row({first, second}, apart)), both);
    EXPECT_EQ(listed(in_a_row({compress_bundle(first, 3, 1), second}, apart)), both);
    EXPECT_EQ(listed(in_a_row({first, compress_bundle(second, 2, 0)}, apart)), both);
    const Bytes packed =
        in_a_row({compress_bundle(first, 1, 0), compress_bundle(second, 3, 1)}, apart);
    EXPECT_EQ(listed(packed), both);
    const auto patched = patch_binary(packed, {.kernel = "k"});
    ASSERT_TRUE(patched.has_value()) << patched.error().text();
    EXPECT_EQ(patched->sites.size(), 2U);
    EXPECT_TRUE(verify_binary(packed, *patched).has_value());
    expect_whole_cycle(in_a_row({first, second}, apart),
                       *patch_binary(in_a_row({first, second}, apart), {.kernel = "k"}));
  }
}

TEST(CompressedBundle, IsRefusedWhereItIsDamagedOrUnknown) {
  const Bytes plain = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", mi200()}});
  for (int version = 1; version <= 3; ++version) {
    for (int method = 0; method <= 1; ++method) {
      const Bytes packed = compress_bundle(plain, version, method);
      for (std::size_t size = 4; size < packed.size(); size += 1 + size / 8) {
        const auto cut = list_code(std::span(packed).first(size), "");
        ASSERT_FALSE(cut.has_value()) << version << method << " " << size;
      }
      // The beginning of the data: zstd has no checksum over what it holds.
      Bytes damaged = packed;
      damaged[version == 1 ? 20 : version == 2 ? 24 : 32] ^= std::byte{0x55};
      EXPECT_FALSE(list_code(damaged, "").has_value());
    }
  }
  Bytes other = compress_bundle(plain, 2, 1);
  other[4] = std::byte{9};
  EXPECT_EQ(list_code(other, "").error().code, ErrorCode::unsupported);
  other = compress_bundle(plain, 2, 1);
  other[6] = std::byte{2};
  EXPECT_EQ(list_code(other, "").error().code, ErrorCode::unsupported);
  other = compress_bundle(plain, 2, 0);
  other[15] = std::byte{0xFF};  // says that it is of 4 GB
  EXPECT_EQ(list_code(other, "").error().code, ErrorCode::parse_error);
}

TEST(PatchBinary, OfABrokenBundleIsAParseError) {
  Bytes bundle = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  for (const std::size_t size : {25U, 40U, 60U, 4100U}) {
    const auto result = patch_binary(std::span(bundle).first(size), {.kernel = "k"});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::parse_error) << size;
  }
}

TEST(PatchCatalyst, WritesThePapersBytes) {
  // Adhinarayanan et al., IISWC'16, Fig. 3: 81000210 becomes B9003204.
  for (const bool wide : {false, true}) {
    const Bytes binary = build_catalyst({.wide = wide, .kernels = {{"k", words(figure3)}}});
    const auto patched = patch_binary(binary, {.kernel = "k"});
    ASSERT_TRUE(patched.has_value()) << patched.error().text();
    EXPECT_EQ(patched->kind, BinaryKind::catalyst);
    ASSERT_EQ(patched->sites.size(), 1U);
    const PatchSite& site = patched->sites[0].site;
    EXPECT_EQ(site.before, words({0x81000210}));
    EXPECT_EQ(site.after, words({0xb9003204}));
    EXPECT_EQ(site.after_text, "s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 8, 7)");
    EXPECT_EQ(patched->sites[0].target, "gfx701");
    EXPECT_EQ(patched->sites[0].bit_offset, 8);
    EXPECT_EQ(patched->sites[0].bit_count, 7);
    expect_whole_cycle(binary, *patched);
  }
}

TEST(PatchCatalyst, PrefersTheMarkerAndReadsTheWholeRegister) {
  auto code = figure3;
  code.insert(code.end() - 1, {0x8903ff10, pin_marker});  // s_xor_b32 s3, s16, marker
  const Bytes binary =
      build_catalyst({.kernels = {{"other", words({kEndProgram})}, {"k", words(code)}}});
  const auto patched = patch_binary(binary, {.kernel = "k"});
  ASSERT_TRUE(patched.has_value()) << patched.error().text();
  EXPECT_EQ(patched->sites[0].site.after, words({0xb903f804, kNop}));
  EXPECT_EQ(patched->sites[0].bit_count, 32);
  expect_whole_cycle(binary, *patched);
  EXPECT_EQ(patch_binary(binary, {.kernel = "other"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(patch_binary(binary, {.kernel = "third"}).error().code, ErrorCode::not_found);
}

TEST(PatchCatalyst, DropsEveryFormFromWhichTheDriverWouldCompile) {
  const Bytes binary =
      build_catalyst({.kernels = {{"k", words(figure3)}},
                      .source_sections = {".source", ".llvmir", ".amdil", ".comment"}});
  const auto patched = patch_binary(binary, {.kernel = "k"});
  ASSERT_TRUE(patched.has_value()) << patched.error().text();
  const auto contains = [](const Bytes& bytes, const std::string& text) {
    const Bytes wanted = bytes_of(text);
    return std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end()) != bytes.end();
  };
  for (const char* name : {".source", ".llvmir", ".amdil"}) {
    EXPECT_TRUE(contains(binary, std::string("the program as ") + name));
    EXPECT_FALSE(contains(patched->bytes, std::string("the program as ") + name)) << name;
  }
  EXPECT_TRUE(contains(patched->bytes, "the program as .comment"));
}

TEST(PatchCatalyst, RefusesWhereTheGroupIdCannotBeTold) {
  auto twice = figure3;
  twice.insert(twice.begin() + 7, 0x81050211);  // s_add_i32 s5, s17, s2: the second dimension
  const CatalystSpec ambiguous{.kernels = {{"k", words(twice)}}};
  EXPECT_EQ(patch_binary(build_catalyst(ambiguous), {.kernel = "k"}).error().code,
            ErrorCode::bad_data);
  // The notes say that sixteen user registers come first: the group id of dimension 0 is s16.
  CatalystSpec with_registers = ambiguous;
  with_registers.user_registers = 16;
  const auto patched = patch_binary(build_catalyst(with_registers), {.kernel = "k"});
  ASSERT_TRUE(patched.has_value()) << patched.error().text();
  EXPECT_EQ(patched->sites[0].site.before, words({0x81000210}));

  auto reads_scc = figure3;
  reads_scc.erase(reads_scc.begin() + 7);  // no compare between the addition and the branch
  EXPECT_EQ(patch_binary(build_catalyst({.kernels = {{"k", words(reads_scc)}}}), {.kernel = "k"})
                .error()
                .code,
            ErrorCode::bad_data);
}

TEST(PatchCatalyst, SearchesUnmarkedCodeOnGfx6AndGfx7Alone) {
  // s_load_dword s0, s[4:5], 0x10; s_add_i32 s0, s16, s0
  const Bytes code = words({0xc0020002, 0x00000010, 0x81000010, kEndProgram});
  const auto patched =
      patch_binary(build_catalyst({.machine = 0x40c, .kernels = {{"k", code}}}), {.kernel = "k"});
  EXPECT_EQ(patched.error().code, ErrorCode::unsupported);
}

TEST(PatchCatalyst, NeedsAKnownMachineOrAGivenTarget) {
  const Bytes binary = build_catalyst({.machine = 0x499, .kernels = {{"k", words(figure3)}}});
  EXPECT_EQ(patch_binary(binary, {.kernel = "k"}).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(patch_binary(binary, {.kernel = "k", .target = "gfx701"}).has_value());
  const Bytes processor = build_catalyst({.machine = 0x7d4, .kernels = {{"k", words(figure3)}}});
  const auto refused = patch_binary(processor, {.kernel = "k"});
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().text().find("processor"), std::string::npos);
}

TEST(PatchCatalystOpenCl2, FindsTheKernelInTheHsaObject) {
  // s_xor_b32 s3, s8, marker: with eight user registers the group id is s8.
  const Bytes code = words({0x8903ff08, pin_marker, kEndProgram});
  for (const bool wide : {false, true}) {
    const Bytes binary = build_catalyst_opencl2(
        {.wide = wide, .kernels = {{"other", words({kEndProgram})}, {"k", code}}});
    const auto patched = patch_binary(binary, {.kernel = "k"});
    ASSERT_TRUE(patched.has_value()) << patched.error().text();
    EXPECT_EQ(patched->kind, BinaryKind::catalyst);
    EXPECT_EQ(patched->sites[0].target, "gfx701");
    EXPECT_EQ(patched->sites[0].site.after, words({0xb903f804, kNop}));
    const Bytes source = bytes_of("the program as .brig");
    EXPECT_EQ(
        std::search(patched->bytes.begin(), patched->bytes.end(), source.begin(), source.end()),
        patched->bytes.end());
    expect_whole_cycle(binary, *patched);
    EXPECT_EQ(patch_binary(binary, {.kernel = "other"}).error().code, ErrorCode::not_found);
  }
}

TEST(PatchCatalystOpenCl2, TakesNoSumOfTheGroupIdForTheCompilersOwn) {
  // s_load_dword s0, s[6:7], 0xc; s_add_i32 s1, s8, s0: the program's get_group_id(0) + n.
  const Bytes code = words({0xc000070c, 0x81010008, kEndProgram});
  const Bytes binary = build_catalyst_opencl2({.kernels = {{"k", code}}});
  EXPECT_EQ(patch_binary(binary, {.kernel = "k"}).error().code, ErrorCode::not_found);
}

TEST(PatchCatalystOpenCl2, TakesTheChipFromTheDeviceCodeElseTheGenerationFromTheNote) {
  const Bytes gfx8_code = words({0x8803ff08, pin_marker, kEndProgram});
  const auto target_of = [&](std::uint32_t device_code, std::uint32_t noted,
                             const std::string& given) -> std::string {
    const auto patched = patch_binary(
        build_catalyst_opencl2(
            {.device_code = device_code, .noted_major = noted, .kernels = {{"k", gfx8_code}}}),
        {.kernel = "k", .target = given});
    return patched ? patched->sites[0].target : std::string(to_string(patched.error().code));
  };
  EXPECT_EQ(target_of(9, 8, ""), "gfx802");
  EXPECT_EQ(target_of(0x12, 8, ""), "gfx800") << "a number that drivers have used twice";
  EXPECT_EQ(target_of(7, 8, ""), "gfx800") << "the code's own note wins over the chip";
  EXPECT_EQ(target_of(0x12, 0, ""), to_string(ErrorCode::unsupported));
  EXPECT_EQ(target_of(0x12, 0, "gfx803"), "gfx803");
  EXPECT_EQ(target_of(9, 8, "gfx701"), to_string(ErrorCode::invalid_argument));
}

TEST(PatchCatalystOpenCl2, RefusesAPlaceWhereTheDriverWritesAnAddress) {
  const Bytes code = words({0x8903ff08, pin_marker, 0x8904ff08, 0x12345678, kEndProgram});
  const auto with = [&](std::vector<std::uint64_t> relocated) {
    return patch_binary(
        build_catalyst_opencl2({.kernels = {{"k", code}}, .relocated = std::move(relocated)}),
        {.kernel = "k"});
  };
  EXPECT_EQ(with({256 + 4}).error().code, ErrorCode::bad_data);
  EXPECT_TRUE(with({256 + 12}).has_value());
}

TEST(PatchCatalystOpenCl2, NeverReadsOutsideABrokenFile) {
  const Bytes code = words({0x8903ff08, pin_marker, kEndProgram});
  const Bytes binary = build_catalyst_opencl2({.kernels = {{"k", code}}});
  for (std::size_t size = 0; size < binary.size(); size += 3) {
    EXPECT_FALSE(patch_binary(std::span(binary).first(size), {.kernel = "k"}).has_value());
  }
  // Any four bytes of it may be anything.
  for (std::size_t at = 0; at + 4 <= binary.size(); at += 4) {
    for (const std::uint32_t value : {0U, 0x7fffffffU, 0xffffffffU, 0x1000U}) {
      Bytes hostile = binary;
      std::memcpy(hostile.data() + at, &value, sizeof value);
      const auto patched = patch_binary(hostile, {.kernel = "k"});
      if (patched) {
        EXPECT_TRUE(verify_binary(hostile, *patched).has_value()) << at;
      }
    }
  }
}

TEST(PatchCatalyst, NeverReadsOutsideABrokenFile) {
  const Bytes binary = build_catalyst({.kernels = {{"k", words(figure3)}}});
  for (std::size_t size = 0; size < binary.size(); size += 3) {
    EXPECT_FALSE(patch_binary(std::span(binary).first(size), {.kernel = "k"}).has_value());
  }
}

TEST(ListCode, MarksTheLineThatThePatchWrote) {
  const Bytes bundle = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", mi200()},
                                     {"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  const Bytes catalyst = build_catalyst({.kernels = {{"k", words(figure3)}}});
  for (const Bytes& file : {bundle, catalyst}) {
    const auto patched = patch_binary(file, {.kernel = "k"});
    ASSERT_TRUE(patched.has_value()) << patched.error().text();
    const auto before = list_code(file, "k");
    const auto after = list_code(patched->bytes, "k");
    ASSERT_TRUE(before.has_value() && after.has_value());
    ASSERT_EQ(after->size(), patched->sites.size());
    for (std::size_t i = 0; i < after->size(); ++i) {
      for (const CodeLine& line : (*before)[i].lines) EXPECT_FALSE(line.reads_hardware_id);
      std::vector<std::uint64_t> marked;
      for (const CodeLine& line : (*after)[i].lines) {
        if (line.reads_hardware_id) marked.push_back(line.file_offset);
      }
      EXPECT_EQ(marked, std::vector{patched->sites[i].site.file_offset});
    }
  }
  EXPECT_EQ(list_code(bundle, "other").error().code, ErrorCode::not_found);
}

TEST(ListCode, SaysWhichInstructionsNoTableNames) {
  // Builds for gfx90a a matrix instruction of a form that no table has, between two known ones.
  const Bytes object =
      build_object({.machine = 0x3f, .code = words({kNop, 0xd3c04000, 0x1c0a0000, kEndProgram})});
  const auto listed = list_code(object, "k");
  ASSERT_TRUE(listed.has_value()) << listed.error().text();
  const auto& lines = (*listed)[0].lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].decoded);
  EXPECT_FALSE(lines[1].decoded) << lines[1].text;
  EXPECT_TRUE(lines[2].decoded);
}

TEST(ListCandidates, TellsOfEveryKernelWhatAPatchWouldDo) {
  const Bytes bundle = build_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", mi200(false)},
                                     {"hipv4-amdgcn-amd-amdhsa--gfx1100", rdna3()}});
  const auto candidates = list_candidates(bundle);
  ASSERT_TRUE(candidates.has_value()) << candidates.error().text();
  ASSERT_EQ(candidates->size(), 2U);
  EXPECT_EQ((*candidates)[0].target, "gfx90a");
  ASSERT_TRUE((*candidates)[0].refusal.has_value());
  EXPECT_EQ((*candidates)[0].refusal->code, ErrorCode::not_found);
  ASSERT_TRUE((*candidates)[1].site.has_value());
  EXPECT_EQ((*candidates)[1].site->site.before_text, "s_xor_b32 s3, s6, 0x5ec0de01");
  EXPECT_EQ(list_candidates(build_catalyst({.kernels = {{"k", words(figure3)}}}))->size(), 1U);
}

}  // namespace
}  // namespace ww::binpatch::binary_test
