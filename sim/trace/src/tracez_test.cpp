// Accel-Sim's packed traces: .tracez and .traceg.xz give what the same lines give as a .traceg.
#include "tracez_testing.hpp"

#include <gtest/gtest.h>
#include <lzma.h>

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "testing.hpp"
#include "ww/sim/trace/accelsim.hpp"

namespace ww::sim::trace {
namespace {

constexpr const char* kTracezHeader =
    "-kernel name = saxpy\n-kernel id = 5\n-grid dim = (4,2,1)\n-block dim = (64,1,1)\n"
    "-accelsim tracer version = 6\n-enable lineinfo = 0\n\n"
    "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
    "[adrrescompress?] [mem_addresses] immediate\n";

// Two thread blocks; a warp with more instructions than a chunk, and one with none.
std::vector<test::TracezBlock> blocks() {
  std::vector<std::string> many;
  many.reserve(12);
  for (int i = 0; i < 10; ++i) {
    many.push_back(fmt::format("{:04x} ffffffff 1 R24 LDG.E.128 1 R44 16 1 0x{:x} 16 0", 16 * i,
                               0x7efe7b60c300 + 4096 * i));
  }
  many.emplace_back("0100 ffffffff 1 R0 HGMMA.64x8x16.F32 2 R4 R5 1 0 0");
  many.emplace_back("0110 00000001 0 UTMALDG.2D 2 R4 R5 16 3 2 0x1000 0x2000");
  return {{{3, 1, 0}, {many, {}, {"1030 00000015 1 R24 LDG.E.U8 1 R44 1 2 0x1000 -16 100 0"}}},
          {{0, 0, 0}, {{"1040 00000003 0 STG.E 2 R2 R3 4 0 0x2000 0x30 0"}}}};
}

std::string plain_text() {
  std::string text = kTracezHeader;
  for (const auto& block : blocks()) {
    text += fmt::format("\n#BEGIN_TB\n\nthread block = {},{},{}\n", block.place[0], block.place[1],
                        block.place[2]);
    for (std::size_t warp = 0; warp < block.warps.size(); ++warp) {
      text += fmt::format("\nwarp = {}\ninsts = {}\n", warp, block.warps[warp].size());
      for (const auto& line : block.warps[warp]) {
        text += line + "\n";
      }
    }
    text += "\n#END_TB\n";
  }
  return text;
}

std::string packed_by_xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(
                1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                text.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Replays a trace and returns every access as text.
std::string accesses(const test::Folder& folder, const char* name) {
  const auto converted = import_accelsim(folder / name, folder / "out.wwt");
  EXPECT_TRUE(converted) << converted.error().text();
  if (!converted) {
    return {};
  }
  std::ostringstream text;
  text << "skipped " << converted->skipped << ", without addresses " << converted->without_addresses
       << "\n";
  auto reader = Reader::open(folder / "out.wwt");
  Access access;
  while (reader && *reader->next(access)) {
    text << access.group << " " << access.wave << " " << access.lanes;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      text << " " << ((access.lanes >> lane & 1U) != 0 ? access.address[lane] : 0);
    }
    text << "\n";
  }
  return text.str();
}

TEST(Tracez, GivesTheAccessesOfThePlainForm) {
  const test::Folder folder;
  put(folder / "k.traceg", plain_text());
  const std::string plain = accesses(folder, "k.traceg");
  EXPECT_NE(plain.find("skipped 1, without addresses 1\n7 0 "), std::string::npos) << plain;
  std::string dictionary;
  for (int i = 0; i < 40; ++i) {
    dictionary += "ffffffff 1 R24 LDG.E.128 1 R44 16 1 0x7efe7b60";
  }
  for (const std::size_t chunk : {1U, 3U, 100U}) {
    put(folder / "k.tracez", test::tracez(kTracezHeader, blocks(), chunk));
    EXPECT_EQ(accesses(folder, "k.tracez"), plain) << chunk;
    put(folder / "k.tracez", test::tracez(kTracezHeader, blocks(), chunk, dictionary));
    EXPECT_EQ(accesses(folder, "k.tracez"), plain) << chunk;
  }
}

TEST(Tracez, IsReadFromAList) {
  const test::Folder folder;
  put(folder / "k.traceg", plain_text());
  put(folder / "kernel-1.tracez", test::tracez(kTracezHeader, blocks(), 4));
  put(folder / "kernelslist.g", "MemcpyHtoD,0x7efe7b500000,2052\nkernel-1.tracez\n");
  EXPECT_EQ(accesses(folder, "kernelslist.g"), accesses(folder, "k.traceg"));
}

TEST(Tracez, LineNumbersOfTheSourceAreLeftOut) {
  const test::Folder folder;
  std::string header = kTracezHeader;
  header.replace(header.find("lineinfo = 0"), 12, "lineinfo = 1");
  put(folder / "k.tracez",
      test::tracez(header, {{{0, 0, 0}, {{"42 1030 00000001 1 R2 LDG.E 1 R4 4 1 0x1000 4 0"}}}},
                   4));
  EXPECT_NE(accesses(folder, "k.tracez").find("\n0 0 1 4096 "), std::string::npos);
}

// Whether the file is refused as damaged, with these words.
void expect_damaged(const std::string& bytes, const std::string& words) {
  const test::Folder folder;
  put(folder / "k.tracez", bytes);
  const auto converted = import_accelsim(folder / "k.tracez", folder / "out.wwt");
  ASSERT_FALSE(converted) << words;
  EXPECT_NE(converted.error().message.find(words), std::string::npos) << converted.error().text();
  EXPECT_NE(converted.error().context.find("k.tracez"), std::string::npos);
}

TEST(Tracez, DamagedFilesAreRefusedWithTheReason) {
  const std::string whole = test::tracez(kTracezHeader, blocks(), 3);
  const auto begin = std::string(kTracezHeader).size() + 1 + 8;  // of the first warp
  expect_damaged("", "does not end");
  expect_damaged("-kernel name = k\n", "does not end");
  expect_damaged(whole.substr(0, begin), "beyond its end");
  expect_damaged(whole.substr(0, whole.size() - 1), "");
  std::string wrong = whole;
  wrong[begin] = static_cast<char>(wrong[begin] + 1);
  expect_damaged(wrong, "differ in its instructions");
  wrong = whole;
  wrong[begin + 4] = 1;
  expect_damaged(wrong, "differ in its chunks");
  wrong = whole;
  wrong[begin + 12] = 0;  // the magic number of the first frame
  expect_damaged(wrong, "no zstd frame");
  wrong = whole;
  wrong[begin + 11] = 0x7F;  // the first chunk's size
  expect_damaged(wrong, "beyond its end");
  wrong = whole;
  wrong[std::string(kTracezHeader).size() + 4] = 0x7F;  // the dictionary's size
  expect_damaged(wrong, "dictionary");
}

TEST(Tracez, AWarpWithOtherInstructionsThanItStatesIsRefused) {
  auto fewer = blocks();
  std::string file = test::tracez(kTracezHeader, fewer, 100);
  // The first warp's instructions, in its place and in the index.
  const auto begin = std::string(kTracezHeader).size() + 1 + 8;
  std::uint64_t index = 0;
  std::memcpy(&index, file.data() + file.size() - 8, sizeof index);
  for (const int change : {-1, 1}) {
    std::string wrong = file;
    wrong[begin] = static_cast<char>(wrong[begin] + change);
    wrong[index + 4 + 44] = static_cast<char>(wrong[index + 4 + 44] + change);
    expect_damaged(wrong, change < 0 ? "more instructions" : "fewer instructions");
  }
}

TEST(XzTrace, GivesTheAccessesOfThePlainForm) {
  const test::Folder folder;
  put(folder / "k.traceg", plain_text());
  put(folder / "k.traceg.xz", packed_by_xz(plain_text()));
  EXPECT_EQ(accesses(folder, "k.traceg.xz"), accesses(folder, "k.traceg"));
  // Compresses two streams, as parallel compression and concatenation make them.
  const std::string text = plain_text();
  const auto half = text.size() / 2;
  put(folder / "k.traceg.xz", packed_by_xz(text.substr(0, half)) + packed_by_xz(text.substr(half)));
  EXPECT_EQ(accesses(folder, "k.traceg.xz"), accesses(folder, "k.traceg"));
}

TEST(XzTrace, TruncatedAndForeignFilesAreRefused) {
  const test::Folder folder;
  const std::string packed = packed_by_xz(plain_text());
  put(folder / "k.traceg.xz", packed.substr(0, packed.size() / 2));
  auto converted = import_accelsim(folder / "k.traceg.xz", folder / "out.wwt");
  ASSERT_FALSE(converted);
  EXPECT_NE(converted.error().message.find("truncated"), std::string::npos);
  put(folder / "k.traceg.xz", plain_text());
  converted = import_accelsim(folder / "k.traceg.xz", folder / "out.wwt");
  ASSERT_FALSE(converted);
  EXPECT_NE(converted.error().message.find("no xz stream"), std::string::npos);
}

TEST(KernelTrace, OtherCompressionIsRefused) {
  const test::Folder folder;
  put(folder / "k.traceg.gz", "");
  const auto converted = import_accelsim(folder / "k.traceg.gz", folder / "out.wwt");
  ASSERT_FALSE(converted);
  EXPECT_EQ(converted.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ww::sim::trace
