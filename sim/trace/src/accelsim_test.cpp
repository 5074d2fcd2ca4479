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
  EXPECT_EQ(missing_traffic(*converted), "");
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
  EXPECT_NE(missing_traffic(*converted).find("missing: 2 of them"), std::string::npos);
  EXPECT_EQ(converted->skipped, 1U);
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

// By place and lane, what no order of warps changes.
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

// As RDNA's waves and imported warps are.
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
