// Image instructions of every generation: as LLVM 19 writes them (images.txt, which
// tests/validation/studies/image_texts makes), and with random operands through the assembler.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "toolchain.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {
namespace {

using testing::Bytes;
using Words = std::vector<std::uint32_t>;

struct Target {
  const char* cpu;
  Generation generation;
  std::uint32_t encoding;  // the words' leading bits
  unsigned numbers, at;    // how many numbers, and the lowest bit of the number
};
// gfx1013 is the one of gfx10.1 that has all image instructions.
constexpr std::array kTargets{
    Target{"gfx803", Generation::gfx8, 0xf0000000, 128, 18},
    Target{"gfx900", Generation::gfx900, 0xf0000000, 128, 18},
    Target{"gfx90a", Generation::gfx90a, 0xf0000000, 128, 18},
    Target{"gfx1013", Generation::gfx10, 0xf0000000, 128, 18},
    Target{"gfx1030", Generation::gfx1030, 0xf0000000, 128, 18},
    Target{"gfx1100", Generation::gfx1100, 0xf0000000, 256, 18},
    Target{"gfx1200", Generation::gfx12, 0xd0000000, 256, 14},
    Target{"gfx1200", Generation::gfx12, 0xe4000000, 256, 14},
};

Bytes bytes_of(const Words& words) {
  Bytes bytes;
  for (const std::uint32_t word : words) {
    for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(word >> 8 * i));
  }
  return bytes;
}

std::string text_of(const Bytes& bytes, Generation generation) {
  const auto decoded = decode(generation, bytes);
  if (!decoded || decoded->size_bytes != bytes.size()) return {};
  return disassemble(*decoded, generation);
}

std::string name_of(const std::string& text) {
  return text.substr(0, text.find(' '));
}

struct GoldenRow {
  std::string cpu;
  Words words;
  std::string text;
};
std::vector<GoldenRow> golden_rows() {
  std::vector<GoldenRow> rows;
  std::istringstream table(testing::read_source_file("tests/golden/binpatch/images.txt"));
  for (std::string line; std::getline(table, line);) {
    const auto bar = line.find(" | ");
    std::istringstream words(line.substr(0, bar));
    GoldenRow row;
    row.text = line.substr(bar + 3);
    words >> row.cpu;
    for (std::string word; words >> word;) {
      row.words.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const Target& target_of(const std::string& cpu) {
  for (const Target& target : kTargets) {
    if (cpu == target.cpu) return target;
  }
  throw std::runtime_error("no target " + cpu);
}

TEST(ImageTexts, AreThoseOfLlvm) {
  const auto rows = golden_rows();
  EXPECT_GE(rows.size(), 590U);
  for (const GoldenRow& row : rows) {
    EXPECT_EQ(text_of(bytes_of(row.words), target_of(row.cpu).generation), row.text) << row.cpu;
  }
}

// LLVM 19 itself reads the first with one register of data, which its assembler refuses.
TEST(ImageTexts, AnAtomicHasARegisterMoreForResidency) {
  EXPECT_EQ(text_of(bytes_of({0xf0490300, 0x001705fc}), Generation::gfx900),
            "image_atomic_add v[5:7], v252, s[92:99] dmask:0x3 tfe");
  EXPECT_EQ(text_of(bytes_of({0xf1000808, 0x8062fe01}), Generation::gfx10),
            "image_gather4 v[254:255], v[1:2], s[8:15], s[12:15] dmask:0x8 dim:SQ_RSRC_IMG_2D d16");
}

// Words that LLVM's assembler cannot make: masks that the instruction does not take, a register too
// many, a hint without a name, images where the GPU has none.
TEST(ImageTexts, AreWordsWhereLlvmHasNoText) {
  const auto is_words = [](const Words& words, Generation generation) {
    return text_of(bytes_of(words), generation).starts_with(".long ");
  };
  EXPECT_TRUE(is_words({0xf0480f00, 0x00170500}, Generation::gfx900));  // four channels added
  EXPECT_TRUE(is_words({0xf1000900, 0x00600100}, Generation::gfx900));  // two channels gathered
  EXPECT_TRUE(is_words({0xf1010100, 0x80600100}, Generation::gfx900));  // gathered, d16 and tfe
  EXPECT_TRUE(is_words({0xf0000f00, 0x0000fd00}, Generation::gfx900));  // data beyond v255
  EXPECT_TRUE(is_words({0xf0000f00, 0x00000000}, Generation::gfx940));  // gfx940 has no images
  EXPECT_TRUE(is_words({0xf0800f00, 0x00000000}, Generation::gfx940));
  EXPECT_TRUE(is_words({0xf0840f00, 0x00000000}, Generation::gfx90a));  // image_sample_cl
  EXPECT_TRUE(is_words({0xf0000f01, 0x00000000, 0x00000001}, Generation::gfx1100));
  EXPECT_TRUE(is_words({0xd3c00000, 0x00700000, 0x00000001}, Generation::gfx12));  // hint 7
}

class ImageSweep : public ::testing::TestWithParam<Target> {};

class ImageMaker {
 public:
  explicit ImageMaker(const Target& target) : target_(target), dice_(7) {}

  // Random bits in all fields, of which those that choose a form are seldom set.
  Words make(std::uint32_t number) {
    const std::uint32_t free_bits = (1U << target_.at) - 1;
    Words words{target_.encoding | number << target_.at | (thin() & free_bits), thin()};
    const bool rdna = target_.generation >= Generation::gfx10;
    const bool gfx12 = target_.generation == Generation::gfx12;
    words[0] |= gfx12 ? roll(16) << 22 | roll(8) : 1U << (8 + roll(4));
    words[0] |= rdna && !gfx12 ? roll(8) << (target_.numbers == 256 ? 2 : 3) : 0;
    words[1] |= gfx12 ? roll(128) * 2 : roll(128) * 2 | roll(128) << 9;
    // Descriptors begin at a multiple of four.
    if (gfx12) words[1] &= ~(3U << 9 | 3U << 23);
    const std::size_t more = gfx12                    ? 1
                             : !rdna                  ? 0
                             : target_.numbers == 256 ? words[0] & 1U
                                                      : words[0] >> 1 & 3U;
    for (std::size_t i = 0; i < more; ++i) words.push_back(static_cast<std::uint32_t>(dice_()));
    if (more != 0) words.back() &= 0xffffffffU >> 8 * roll(4);
    return words;
  }

 private:
  std::uint32_t thin() { return static_cast<std::uint32_t>(dice_() & dice_() & dice_()); }
  std::uint32_t roll(std::uint32_t limit) { return static_cast<std::uint32_t>(dice_() % limit); }

  Target target_;
  std::mt19937 dice_;
};

TEST_P(ImageSweep, EveryTextReassemblesToTheSameWords) {
  const Target& target = GetParam();
  // LLVM 15 has fewer forms of gfx10's and gfx11's addresses.
  if (!testing::have_newest_compiler()) GTEST_SKIP() << "no assembler (clang-19)";
  constexpr int kVariants = 1500;
  constexpr std::size_t kMostOfEach = 12;
  ImageMaker maker(target);
  std::map<std::string, std::size_t> seen;
  std::vector<Bytes> words;
  std::vector<std::string> lines;
  for (std::uint32_t number = 0; number < target.numbers; ++number) {
    for (int i = 0; i < kVariants; ++i) {
      const Bytes word = bytes_of(maker.make(number));
      const std::string text = text_of(word, target.generation);
      if (!text.starts_with("image_") || ++seen[name_of(text)] > kMostOfEach) continue;
      words.push_back(word);
      lines.push_back(text);
    }
  }
  const auto assembled = testing::assemble(lines, target.cpu, {}, testing::Toolchain::llvm19);
  ASSERT_EQ(assembled.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(assembled[i].bytes, words[i]) << lines[i];
  }
  RecordProperty("texts", static_cast<int>(lines.size()));
  EXPECT_GT(lines.size(), 8 * seen.size());
  // Intersections of rays fix too many bits to be met by chance.
  for (const GoldenRow& row : golden_rows()) {
    const bool here = row.cpu == target.cpu && row.words[0] >> 26 == target.encoding >> 26;
    const std::string name = name_of(row.text);
    if (here && !name.starts_with("image_bvh")) {
      EXPECT_GT(seen[name], 0U) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, ImageSweep, ::testing::ValuesIn(kTargets), [](const auto& info) {
  const bool samples = info.param.encoding >> 26 == 0x39;
  return std::string(info.param.cpu) + (samples ? "_samples" : "");
});

}  // namespace
}  // namespace ww::binpatch::isa
