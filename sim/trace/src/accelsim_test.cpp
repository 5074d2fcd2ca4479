#include "ww/sim/trace/accelsim.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <map>

#include "testing.hpp"

namespace ww::sim::trace {
namespace {

constexpr const char* kHeader =
    "-kernel name = saxpy\n-kernel id = 5\n-grid dim = (4,2,1)\n-block dim = (64,1,1)\n"
    "-shmem = 0\n-nregs = 48\n-accelsim tracer version = 3\n"
    "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
    "[adrrescompress?] [mem_addresses]\n";

Result<Converted> import_text(const test::Folder& folder, const std::string& text) {
  std::ofstream(folder / "k.traceg") << text;
  return import_accelsim(folder / "k.traceg", folder / "k.wwt");
}

TEST(AccelSim, ImportsEveryAddressForm) {
  test::Folder folder;
  const auto converted = import_text(
      folder, std::string(kHeader) +
                  "#BEGIN_TB\nthread block = 3,1,0\nwarp = 1\ninsts = 5\n"
                  "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0\n"
                  "1020 ffffffff 1 R24 LDG.E.128.CONSTANT.SYS 1 R44 16 1 0x7efe7b60c300 16\n"
                  "1030 00000015 1 R24 LDG.E.U8 1 R44 1 2 0x1000 -16 100\n"
                  "1040 00000003 0 STG.E 2 R2 R3 4 0 0x2000 0x30\n"
                  "1050 ffffffff 1 R0 LDS.64 1 R3 8 1 0x0 8\n#END_TB\n");
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->skipped, 2U);
  EXPECT_EQ(converted->totals.wave_accesses, 3U);
  EXPECT_EQ(converted->totals.loaded_bytes, 32U * 16 + 3);
  EXPECT_EQ(converted->totals.stored_bytes, 8U);
  auto reader = Reader::open(folder / "k.wwt");
  ASSERT_TRUE(reader);
  Access access;
  ASSERT_TRUE(*reader->next(access));
  EXPECT_EQ(reader->launches()[0].kernel, "saxpy");
  EXPECT_EQ(access.group, 3U + 4U);
  EXPECT_EQ(access.wave, 1U);
  EXPECT_EQ(access.lanes, 0xFFFFFFFFU);
  EXPECT_EQ(access.address[31], 0x7efe7b60c300U + 31 * 16);
  EXPECT_FALSE(access.has_values);
  ASSERT_TRUE(*reader->next(access));
  EXPECT_EQ(access.address[0], 0x1000U);
  EXPECT_EQ(access.address[2], 0xFF0U);
  EXPECT_EQ(access.address[4], 0xFF0U + 100);
  ASSERT_TRUE(*reader->next(access));
  EXPECT_EQ(access.address[1], 0x30U);
}

// The tracer's post-processing leaves one line of each copy from global to shared memory.
TEST(AccelSim, CopiesToSharedMemoryAreLoads) {
  test::Folder folder;
  const auto converted = import_text(
      folder, std::string(kHeader) +
                  "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 4\n"
                  "0010 ffffffff 0 LDGSTS.E.BYPASS.LTC128B.128 2 R2 R4 16 1 0x7f0000001000 16\n"
                  "0020 ffffffff 0 LDGDEPBAR 0 0\n"
                  "0030 000000ff 0 REDG.E.ADD.F32.FTZ.RN.STRONG.GPU 2 R2 R6 4 1 0x2000 4\n"
                  "0040 ffffffff 1 R1 LDSM.16.M88.4 1 R3 16 1 0x0 16\n#END_TB\n");
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->totals.loaded_bytes, 32U * 16);
  EXPECT_EQ(converted->totals.atomic_bytes, 8U * 4);
  EXPECT_EQ(converted->skipped, 2U);
  EXPECT_EQ(converted->without_addresses, 0U);
  EXPECT_TRUE(remarks_on(*converted).empty());
}

TEST(AccelSim, CountsWhatAccessesMemoryWithoutAddresses) {
  test::Folder folder;
  const auto converted = import_text(folder, std::string(kHeader) +
                                                 "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n"
                                                 "0010 ffffffff 1 R1 TEX.SCR.LL 1 R2 0\n"
                                                 "0020 00000001 0 UTMALDG.2D 1 R4 0\n"
                                                 "0030 ffffffff 1 R1 IMAD 2 R2 R3 0\n#END_TB\n");
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->without_addresses, 2U);
  ASSERT_EQ(remarks_on(*converted).size(), 1U);
  EXPECT_NE(remarks_on(*converted)[0].find("missing: 2 of them"), std::string::npos);
  EXPECT_EQ(converted->skipped, 1U);
}

// A load without a width has no addresses either.
TEST(AccelSim, CountsALoadWithoutAWidthAsMissing) {
  test::Folder folder;
  const auto converted = import_text(folder, std::string(kHeader) +
                                                 "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n"
                                                 "0010 ffffffff 1 R1 LDG.E 1 R2 0\n"
                                                 "0020 00000000 1 R1 LDG.E 1 R2 0\n#END_TB\n");
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->without_addresses, 1U);
  EXPECT_EQ(converted->skipped, 1U);  // no lane takes part in the other
}

std::string block_of(const std::string& lines) {
  return "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n" + lines + "#END_TB\n";
}

std::vector<Access> accesses_of(const test::Folder& folder) {
  std::vector<Access> accesses;
  auto reader = Reader::open(folder / "k.wwt");
  if (!reader) throw std::runtime_error(reader.error().text());
  Access access;
  for (auto more = reader->next(access); more && *more; more = reader->next(access)) {
    accesses.push_back(access);
  }
  return accesses;
}

TEST(AccelSim, WidthIsTheOpcodesAndElseTheLines) {
  struct Row {
    const char* opcode;
    unsigned width;
    unsigned bytes;  // 0: refused
  };
  for (const auto& [opcode, width, bytes] :
       std::initializer_list<Row>{{"LDG.E.ENL2.256", 32, 32},
                                  {"STG.E.ENL2.256.STRONG.GPU", 32, 32},
                                  {"LDG.E.LTC128B.128.CONSTANT", 16, 16},
                                  {"LDG.E.96", 12, 12},
                                  {"LDG.E.S16", 2, 2},
                                  {"ATOMG.E.ADD.F16x2.RN", 4, 4},
                                  {"REDG.E.ADD.F32x4.RN", 16, 16},
                                  {"REDG.E.ADD.BF16x8.RN", 16, 16},
                                  {"LDG.E", 8, 8},
                                  {"LDG.E.512", 64, 64},
                                  {"LDG.E.40", 16, 16},
                                  {"LDG.E.40", 5, 0},
                                  {"LDG.E", 3, 0},
                                  {"REDG.E.ADD.256", 32, 0}}) {
    test::Folder folder;
    const auto line = "0010 00000003 0 " + std::string(opcode) + " 0 " + std::to_string(width) +
                      " 1 0x7f0000000000 64\n";
    const auto converted = import_text(folder, kHeader + block_of(line));
    ASSERT_EQ(converted.has_value(), bytes != 0) << opcode;
    if (!converted) {
      EXPECT_NE(converted.error().text().find("bytes a lane"), std::string::npos);
      continue;
    }
    const auto& totals = converted->totals;
    EXPECT_EQ(totals.loaded_bytes + totals.stored_bytes + totals.atomic_bytes, 2 * bytes) << opcode;
    EXPECT_EQ(accesses_of(folder).at(0).address[1], 0x7f0000000040U);
  }
}

constexpr const char* kWindows =
    "-shmem base_addr = 0x00007efeb0000000\n-local mem base_addr = 0x00007efeb2000000\n";

// The trace has each thread's own offset: the same in all lanes.
TEST(AccelSim, LocalMemoryIsInterleavedByLane) {
  test::Folder folder;
  const auto converted =
      import_text(folder, std::string(kWindows) + kHeader +
                              block_of("0010 ffffffff 0 STL 2 R1 R2 4 1 0xfffc40 0\n"
                                       "0020 ffffffff 1 R2 LDL 1 R1 4 1 0xfffc44 0\n"
                                       "0030 0000000f 1 R2 LDL.64 1 R1 8 1 0xfffc40 0\n"
                                       "0040 0000000f 1 R2 LDL.U8 1 R1 1 1 0xfffc43 0\n"
                                       "0050 00000003 1 R2 LD.E 1 R1 4 1 0x00007efeb2fffc44 0\n"
                                       "warp = 1\n0010 ffffffff 0 STL 2 R1 R2 4 1 0xfffc40 0\n"));
  ASSERT_TRUE(converted) << converted.error().text();
  const auto accesses = accesses_of(folder);
  ASSERT_EQ(accesses.size(), 7U);
  const std::uint64_t first = accesses[0].address[0];
  EXPECT_EQ(first % 128, 0U);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(accesses[0].address[lane], first + 4 * lane);
    EXPECT_EQ(accesses[1].address[lane], first + 128 + 4 * lane);
  }
  // Both words of a wide access have a line of their own.
  EXPECT_EQ(accesses[2].address[3], first + 12);
  EXPECT_EQ(accesses[3].address[3], first + 128 + 12);
  EXPECT_EQ(accesses[4].address[3], first + 12 + 3);
  EXPECT_EQ(accesses[5].address[1], first + 128 + 4);  // the generic load
  EXPECT_EQ(accesses[6].wave, 1U);
  EXPECT_GE(accesses[6].address[0], first + (1U << 19) * 32);
  EXPECT_EQ(converted->totals.loaded_bytes, 32U * 4 + 4 * 8 + 4 * 1 + 2 * 4);
  EXPECT_EQ(converted->totals.stored_bytes, 2 * 32U * 4);
  EXPECT_EQ(converted->skipped, 0U);
}

TEST(AccelSim, GenericAccessesAreToTheSpaceOfEachLanesAddress) {
  test::Folder folder;
  const std::string lines =
      "0010 0000000f 1 R2 LD.E 1 R1 4 1 0x00007efeb0000010 4\n"  // shared
      "0020 0000000f 0 ST.E 2 R1 R2 4 0 0x00007efeb0000010 0x1000 0x00007efeb2fffc40 0x2000\n"
      "0030 00000001 1 R2 ATOM.E.ADD 1 R1 4 1 0x00007efeb0ffffff 0\n"                // shared
      "0040 00000003 0 RED.E.ADD 1 R1 4 0 0x00007efeb1000000 0x00007efeb3000000\n";  // beyond both
  auto converted = import_text(folder, std::string(kWindows) + kHeader + block_of(lines));
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->skipped, 2U);
  EXPECT_TRUE(remarks_on(*converted).empty());
  const auto accesses = accesses_of(folder);
  ASSERT_EQ(accesses.size(), 3U);
  EXPECT_EQ(accesses[0].lanes, 0b1010U);
  EXPECT_EQ(accesses[0].address[3], 0x2000U);
  EXPECT_EQ(accesses[1].lanes, 0b0100U);
  EXPECT_GE(accesses[1].address[2], std::uint64_t{1} << 63);
  EXPECT_EQ(accesses[2].lanes, 0b11U);
  // Where the trace does not say where they lie, all are global, and a remark says so.
  converted = import_text(folder, kHeader + block_of(lines));
  ASSERT_TRUE(converted);
  EXPECT_EQ(converted->totals.lane_accesses, 4U + 4 + 1 + 2);
  ASSERT_EQ(remarks_on(*converted).size(), 1U);
  EXPECT_NE(remarks_on(*converted)[0].find("2 of them"), std::string::npos);
}

TEST(AccelSim, AListsOtherLinesArePassedOverWithARemark) {
  test::Folder folder;
  std::ofstream(folder / "kernel-1.traceg")
      << kHeader << block_of("0010 00000001 1 R1 LDG.E 1 R2 4 1 0x1000 0\n");
  std::filesystem::copy_file(folder / "kernel-1.traceg", folder / "other.traceg");
  std::ofstream(folder / "kernelslist.g")
      << "cudaMalloc,0x7f2000000000,4096\nMemcpyHtoD,0x00007f2000000000,4096\r\n\n# a comment\n"
         "kernel-1.traceg\r\nMemcpyDtoH,0x00007f2000100000,4096\nncclAllReduce\nother.traceg\n";
  const auto converted = import_accelsim(folder / "kernelslist.g", folder / "k.wwt");
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->files, 2U);
  EXPECT_EQ(converted->passed_over, 2U);
  ASSERT_EQ(remarks_on(*converted).size(), 1U);
  EXPECT_NE(remarks_on(*converted)[0].find("2 of them, the first is 'cudaMalloc"),
            std::string::npos);
  // A kernel that is named and missing is an error all the same.
  std::ofstream(folder / "kernelslist.g") << "kernel-1.traceg\nkernel-2.traceg\n";
  const auto missing = import_accelsim(folder / "kernelslist.g", folder / "k.wwt");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("kernel-2.traceg"), std::string::npos);
}

// Before the post-processing: no blocks, each line names its warp, and copies have two lines.
TEST(AccelSim, TheTracersOwnFilesNameTheWarpOnEachLine) {
  const std::string header =
      "-kernel name = k\n-grid dim = (4,1,1)\n-block dim = (256,1,1)\n"
      "-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
      "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
      "mem_width [adrrescompress?] [mem_addresses] immediate\n\n";
  test::Folder folder;
  std::ofstream(folder / "kernel-1-ctx_0x55.trace")
      << header
      << "2 0 0 7 0010 00000001 1 R1 LDG.E.64 1 R2 8 1 0x100 0 0 \n"
         "3 0 0 1 0020 00000001 0 LDGSTS.E.128 2 R2 R3 16 1 0x10 0 0 \n"
         "2 0 0 7 0020 00000001 0 LDGSTS.E.128 2 R2 R3 16 1 0x20 0 0 \n"
         "3 0 0 1 0020 00000001 0 LDGSTS.E.128 2 R2 R3 16 1 0x7f0000000010 0 0 \n"
         "2 0 0 7 0020 00000001 0 LDGSTS.E.128 2 R2 R3 16 1 0x7f0000000020 0 0 \n"
         // The lines have the core, and the place in a cluster.
         "1 0 0 6 0 5 0030 00000001 0 STG.E 2 R2 R3 4 1 0x300 0 0 \n"
         "1 0 0 5 0 0 0 0 0 0 0 0040 00000001 0 STG.E 2 R2 R3 4 1 0x400 0 0 \n";
  std::ofstream(folder / "kernelslist_ctx_0x55") << "kernel-1-ctx_0x55.trace\n";
  const auto converted = import_accelsim(folder / "kernelslist_ctx_0x55", folder / "k.wwt");
  ASSERT_TRUE(converted) << converted.error().text();
  const auto accesses = accesses_of(folder);
  ASSERT_EQ(accesses.size(), 5U);
  const std::uint64_t expected[][3] = {
      {2, 7, 0x100}, {3, 1, 0x7f0000000010}, {2, 7, 0x7f0000000020}, {1, 6, 0x300}, {1, 5, 0x400}};
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    EXPECT_EQ(accesses[i].group, expected[i][0]) << i;
    EXPECT_EQ(accesses[i].wave, expected[i][1]) << i;
    EXPECT_EQ(accesses[i].address[0], expected[i][2]) << i;
  }
}

TEST(AccelSim, LinesHaveALineNumberOnlyWhereTheHeaderSaysSo) {
  for (const bool numbered : {false, true}) {
    test::Folder folder;
    const auto converted = import_text(
        folder, std::string("-kernel name = k\n-grid dim = (4,1,1)\n-block dim = (32,1,1)\n") +
                    "-accelsim tracer version = 5\n-enable lineinfo = " + (numbered ? "1" : "0") +
                    "\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num "
                    "[reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n" +
                    block_of(std::string(numbered ? "41 " : "") +
                             "0010 00000003 1 R1 LDG.E 1 R2 4 1 0x1000 4 0\n"));
    ASSERT_TRUE(converted) << converted.error().text();
    EXPECT_EQ(converted->totals.loaded_bytes, 8U);
  }
}

TEST(AccelSim, OlderTracersNameTheWarpOnEachLine) {
  test::Folder folder;
  const auto converted =
      import_text(folder,
                  "-kernel name = k\n-grid dim = (4,1,1)\n-block dim = (32,1,1)\n"
                  "-accelsim tracer version = 2\n#BEGIN_TB\n"
                  "2 0 0 7 0010 00000001 1 R1 LDG.E.64 1 R2 8 1 0x100 0\n#END_TB\n");
  ASSERT_TRUE(converted) << converted.error().text();
  auto reader = Reader::open(folder / "k.wwt");
  Access access;
  ASSERT_TRUE(*reader->next(access));
  EXPECT_EQ(access.group, 2U);
  EXPECT_EQ(access.wave, 7U);
  EXPECT_EQ(reader->instructions()[0].element_bytes, 8);
}

TEST(AccelSim, BadLinesAreNamedAndLeaveNoFile) {
  for (const std::string line :
       {"1020 ffffffff 1 R24 LDG.E 1 R44 4 2 0x7efe 16", "1020 ffffffff 99 R1", "zzz",
        "10 1 0 LDG 0 4 9", "thread block = 9,9,9", "warp = x"}) {
    test::Folder folder;
    const auto converted = import_text(
        folder, std::string(kHeader) + "#BEGIN_TB\nthread block = 0,0,0\n" + line + "\n");
    ASSERT_FALSE(converted) << line;
    EXPECT_NE(converted.error().text().find("k.traceg:11"), std::string::npos)
        << converted.error().text();
    EXPECT_FALSE(std::filesystem::exists(folder / "k.wwt"));
  }
  test::Folder folder;
  EXPECT_FALSE(import_text(folder, ""));
  const auto endless = import_accelsim("/dev/zero", folder / "k.wwt");
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error().message.find("a line of more than a MiB"), std::string::npos);
  EXPECT_FALSE(import_text(folder, std::string(kHeader) + "#BEGIN_TB\n"));
}

// Addresses by place and lane, what no order of warps changes.
std::map<std::string, std::vector<std::uint64_t>> addresses(const std::filesystem::path& file,
                                                            unsigned warps_per_wave) {
  std::map<std::string, std::vector<std::uint64_t>> found;
  auto reader = Reader::open(file);
  if (!reader) throw std::runtime_error(reader.error().text());
  Access access;
  for (auto more = reader->next(access); more && *more; more = reader->next(access)) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((access.lanes >> lane & 1) == 0) continue;
      const unsigned warp = warps_per_wave == 1 ? access.wave : access.wave * 2 + lane / 32;
      found[std::to_string(access.launch) + "/" + std::to_string(access.group) + "/" +
            std::to_string(warp) + "/" + std::to_string(lane % 32)]
          .push_back(access.address[lane]);
    }
  }
  return found;
}

Access access_of(std::uint32_t wave, std::uint64_t lanes) {
  Access access;
  access.wave = wave;
  access.lanes = lanes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) access.address[lane] = 0x1000 * (wave + 1) + 4 * lane;
  }
  return access;
}

Result<Converted> exported(const test::Folder& folder, std::vector<Access> accesses) {
  test::Content content;
  content.instructions = {test::instructions().front()};
  content.launches = {{0, "kernel", {1, 1, 1}, {128, 1, 1}}};
  content.accesses = std::move(accesses);
  test::write(folder / "a.wwt", content);
  auto reader = Reader::open(folder / "a.wwt");
  if (!reader) return tl::unexpected<Error>(reader.error());
  return export_accelsim(*reader, folder / "");
}

// Waves of 32 lanes are RDNA's and those of imported warps.
TEST(AccelSim, AWaveOf32LanesIsExportedAsAWarp) {
  test::Folder folder;
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  const auto written =
      exported(folder, {access_of(0, kLow), access_of(1, 1), access_of(2, kLow), access_of(3, 6)});
  ASSERT_TRUE(written) << written.error().text();
  const auto back = import_accelsim(folder / "kernelslist.g", folder / "b.wwt");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->totals.lane_accesses, 32U + 1 + 32 + 2);
  EXPECT_EQ(addresses(folder / "b.wwt", 1), addresses(folder / "a.wwt", 1));
}

TEST(AccelSim, WavesOutsideTheirLaunchAreNotExported) {
  test::Folder folder;
  const auto wide = exported(folder, {access_of(0, ~std::uint64_t{0}), access_of(2, 1)});
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message.find("1 of 3 warps"), std::string::npos) << wide.error().text();
  EXPECT_FALSE(exported(folder, {access_of(4, 1)}));
  Access elsewhere = access_of(0, 1);
  elsewhere.group = 1;
  EXPECT_FALSE(exported(folder, {elsewhere}));
  EXPECT_FALSE(std::filesystem::exists(folder / "kernelslist.g"));
}

RC_GTEST_PROP(AccelSim, ExportAndImportKeepEveryAddress, (std::uint64_t seed)) {
  auto content = test::random_content(seed, 100);
  for (auto& launch : content.launches) {
    launch.groups = {10, 5, 1};
    launch.local = {64, 16, 1};
  }
  for (auto& access : content.accesses) access.group %= 50;
  test::Folder folder;
  const auto written = test::write(folder / "a.wwt", content);
  auto reader = Reader::open(folder / "a.wwt");
  RC_ASSERT(reader.has_value());
  RC_ASSERT(export_accelsim(*reader, folder / "").has_value());
  const auto back = import_accelsim(folder / "kernelslist.g", folder / "b.wwt");
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->totals.lane_accesses == written.lane_accesses);
  RC_ASSERT(back->totals.loaded_bytes == written.loaded_bytes);
  RC_ASSERT(back->totals.stored_bytes == written.stored_bytes);
  RC_ASSERT(addresses(folder / "b.wwt", 1) == addresses(folder / "a.wwt", 2));
}

}  // namespace
}  // namespace ww::sim::trace
