// Checks compilers' code for gfx8, gfx9, gfx1030 and gfx1100: every instruction is decoded, has
// llvm-objdump's mnemonic, and is assembled back to the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "toolchain.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {
namespace {

using testing::Bytes;

std::string hex(const Bytes& bytes) {
  std::ostringstream out;
  for (const std::byte b : bytes) out << std::hex << std::to_integer<int>(b) << ' ';
  return out.str();
}

// Whether the disassembler could not read it.
bool is_data(const std::string& mnemonic) {
  return mnemonic.starts_with(".") || mnemonic.starts_with("<") || mnemonic == "//";
}

// Bytes that belong to the word which the disassembler could not read. CDNA 3 has no images, yet
// compilers write the two words of an image instruction where a kernel uses one. LLVM reads the
// second, which names registers, as code.
std::uint64_t size_of_unread(const Bytes& word) {
  const bool image = (std::to_integer<unsigned>(word.back()) & 0xfcU) == 0xf0;
  return image ? 8 : 4;
}

bool names_a_source_as_result(const Instruction& in) {
  const auto& result = in.dst[0];
  return std::ranges::any_of(in.src, [&result](const Operand& source) {
    return source.kind == OperandKind::vgpr && source.index < result.index + result.count &&
           result.index < source.index + source.count;
  });
}

// Five things are compiled otherwise than they are assembled: a literal that the linker fills with
// a value that also fits inline, the upper half of a literal for 16 bits, the bits of buffer_wbl2
// that have no meaning, a scalar load's offset register where compilers put it for gfx90a (bit
// 14 without bit 17), and a product of gfx11 into one of its sources, which LLVM 15's assembler
// refuses.
bool assembled_otherwise(const Instruction& in, const Bytes& bytes, Generation generation) {
  const bool is_short = mnemonic(in.opcode).ends_with("16");
  const bool beside = (bytes[1] & std::byte{0x40}) != std::byte{};
  const bool immediate = (bytes[2] & std::byte{2}) != std::byte{};
  if (in.encoding == Encoding::smem && beside && !immediate) return true;
  for (const Operand& operand : in.src) {
    const auto value = static_cast<std::int32_t>(operand.value);
    if (operand.kind == OperandKind::literal && value >= -16 && value <= 64) return true;
    if (operand.kind == OperandKind::literal && is_short && value < 0) return true;
  }
  const bool product = in.opcode == Opcode::v_mad_u64_u32 || in.opcode == Opcode::v_mad_i64_i32;
  if (product && generation == Generation::gfx1100 && names_a_source_as_result(in)) return true;
  return in.opcode == Opcode::buffer_wbl2;
}

// LLVM 15 still reads gfx940's matrix products by gfx90a's names: v_mfma_f32_32x32x1f32 for
// v_mfma_f32_32x32x1_2b_f32.
std::string name_of_llvm15(const std::string& name) {
  static const std::regex kShape(
      "^(v_mfma_[a-z0-9]+_[0-9]+x[0-9]+x[0-9]+)(_[0-9]+b)?_([a-z0-9]+)$");
  return std::regex_replace(name, kShape, "$1$3");
}

std::string attributes_of(WaveSize wave) {
  return wave == WaveSize::lanes64 ? "+wavefrontsize64" : "";
}

void expect_equal(const std::vector<testing::DisassembledLine>& code, const std::string& cpu,
                  WaveSize wave = WaveSize::usual,
                  testing::Toolchain toolchain = testing::Toolchain::of_target) {
  const auto target = parse_gfx_target(cpu);
  ASSERT_TRUE(target);
  const auto found = generation_of(*target);
  ASSERT_TRUE(found);
  const Generation generation = *found;
  std::vector<std::string> lines;
  std::vector<Bytes> words;
  std::set<Bytes> seen;  // an instruction that occurs often is assembled once
  std::map<std::string, int> failures;
  const auto fails = [&failures](const std::string& name) { return ++failures[name] <= 2; };
  std::uint64_t unread_until = 0;
  for (const auto& line : code) {
    if (is_data(line.mnemonic)) {
      unread_until = line.bytes.empty() ? 0 : line.address + size_of_unread(line.bytes);
      continue;
    }
    const bool within_unread = line.address + 4 == unread_until;
    unread_until = 0;
    if (within_unread || !seen.insert(line.bytes).second) continue;
    const auto decoded = decode(generation, line.bytes, wave);
    if (!decoded || decoded->opcode == Opcode::unlisted) {
      if (fails(line.mnemonic))
        ADD_FAILURE() << line.mnemonic << " is not known: " << hex(line.bytes);
      continue;
    }
    const std::string text = disassemble(*decoded, generation);
    const std::string name = text.substr(0, text.find(' '));
    if (name != line.mnemonic && name_of_llvm15(name) != line.mnemonic && fails(line.mnemonic)) {
      ADD_FAILURE() << "llvm-objdump has " << line.mnemonic << " for " << text;
    }
    if (decoded->size_bytes != line.bytes.size() && fails(line.mnemonic)) {
      ADD_FAILURE() << text << " has " << line.bytes.size() << " bytes";
    }
    if (assembled_otherwise(*decoded, line.bytes, generation)) continue;
    lines.push_back(text);
    words.push_back(line.bytes);
  }
  const auto assembled = testing::assemble(lines, cpu, attributes_of(wave), toolchain);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (assembled[i].bytes == words[i]) continue;
    if (!fails(lines[i].substr(0, lines[i].find(' ')))) continue;
    ADD_FAILURE() << lines[i] << "\n  decoded from " << hex(words[i]) << "\n  assembles to "
                  << (assembled[i].bytes ? hex(*assembled[i].bytes) : "nothing");
  }
  EXPECT_GT(lines.size(), 100U);
  std::cout << cpu << ": " << code.size() << " instructions, " << lines.size()
            << " of them different\n";
}

// Each level takes as long as another, and the middle ones add few forms: they are for
// WW_CORPUS_ALL=1.
std::vector<std::string> levels() {
  if (std::getenv("WW_CORPUS_ALL") == nullptr) return {"-O0", "-O3"};
  return {"-O0", "-O1", "-O2", "-O3"};
}

class Gfx9Corpus : public ::testing::TestWithParam<const char*> {};

TEST_P(Gfx9Corpus, CompiledKernelsAreReadAsLlvmReadsThem) {
  const std::string cpu = GetParam();
  if (!testing::have_compiler(cpu) || !testing::have_assembler(cpu) ||
      !testing::have_disassembler()) {
    GTEST_SKIP() << "clang-15, lld-15 and llvm-15 are not installed, or clang-19 and lld-19";
  }
  std::vector<Bytes> objects;
  std::vector<std::string> files = {"tests/golden/binpatch/kernels.cl", "sim/gpu/test/kernels.cl"};
  // CDNA 3 has no images.
  if (!cpu.starts_with("gfx94")) files.emplace_back("sim/gpu/test/images.cl");
  for (const std::string& file : files) {
    for (const std::string& level : levels()) {
      // The marker's barrier aborts the compiler without optimisation.
      if (level == "-O0" && file.starts_with("tests/")) continue;
      testing::CompileOptions options{.cpu = cpu, .optimisation = level, .link = false};
      auto object = testing::compile(testing::read_source_file(file), options);
      ASSERT_TRUE(object) << file << ' ' << level;
      objects.push_back(*std::move(object));
    }
  }
  expect_equal(testing::disassembly(objects, cpu), cpu);
}

// The workloads' programs, compiled for `cpu` at each of `levels`.
std::vector<testing::DisassembledLine> code_of_workloads(const std::string& cpu,
                                                         const std::vector<std::string>& levels) {
  namespace fs = std::filesystem;
  // Macros that the programs define when they build their kernels.
  const std::map<std::string, std::string> defines = {
      {"comd", "-DCAPACITY=32 -DTABLE=512 -DCUTOFF2=6.25f -DPER_R=204.4f -DPER_RHO=1.0f"},
      {"eigen", "-DN=256u"},
      {"lulesh", "-DN=8"}};
  const char* root = std::getenv("WW_SOURCE_DIR");
  const fs::path folder = fs::path(root == nullptr ? "." : root) / "apps/workloads/cl";
  std::vector<Bytes> objects;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    for (const std::string& level : levels) {
      const auto more = defines.find(name);
      const testing::CompileOptions options{.cpu = cpu,
                                            .optimisation = level,
                                            .code_object_version = 5,
                                            .extra = more == defines.end() ? "" : more->second,
                                            .link = false};
      auto object =
          testing::compile(testing::read_source_file("apps/workloads/cl/" + name + ".cl"), options);
      EXPECT_TRUE(object) << name << ' ' << level;
      if (object) objects.push_back(*std::move(object));
    }
  }
  return testing::disassembly(objects, cpu);
}

TEST(Gfx942Corpus, WorkloadsAreReadAsLlvmReadsThem) {
  const std::string cpu = "gfx942";
  if (!testing::have_compiler(cpu) || !testing::have_assembler(cpu) ||
      !testing::have_disassembler()) {
    GTEST_SKIP() << "clang-19, lld-19 and llvm-15 are not installed";
  }
  expect_equal(code_of_workloads(cpu, levels()), cpu);
}

TEST(Gfx942Corpus, SecondWordOfAnIllegalImageInstructionIsNotCode) {
  const std::string cpu = "gfx942";
  if (!testing::have_compiler(cpu) || !testing::have_assembler(cpu) ||
      !testing::have_disassembler()) {
    GTEST_SKIP() << "clang-19, lld-19 and llvm-15 are not installed";
  }
  const auto object = testing::compile(testing::read_source_file("sim/gpu/test/images.cl"),
                                       {.cpu = cpu, .optimisation = "-O0"});
  ASSERT_TRUE(object);
  const auto code = testing::disassembly(std::vector<Bytes>{*object}, cpu);
  std::size_t illegal = 0;
  for (const auto& line : code) {
    if (!is_data(line.mnemonic) || size_of_unread(line.bytes) != 8) continue;
    ++illegal;
    const auto decoded = decode(Generation::gfx940, line.bytes);
    EXPECT_FALSE(decoded && decoded->opcode != Opcode::unlisted) << hex(line.bytes);
  }
  EXPECT_GT(illegal, 0U);
  expect_equal(code, cpu);
}

// The GPUs of RDNA, which have waves of both sizes.
class RdnaCorpus : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string cpu = GetParam();
    if (!testing::have_compiler(cpu) || !testing::have_assembler(cpu) ||
        !testing::have_disassembler()) {
      GTEST_SKIP() << "clang-15, lld-15 and llvm-15 are not installed";
    }
  }
};

TEST_P(RdnaCorpus, WorkloadsAreReadAsLlvmReadsThem) {
  const std::string cpu = GetParam();
  const bool all = std::getenv("WW_CORPUS_ALL") != nullptr;
  expect_equal(code_of_workloads(cpu, all ? levels() : std::vector<std::string>{"-O3"}), cpu);
}

// The kernel's descriptor alone says which size it is.
TEST_P(RdnaCorpus, KernelsOfBothWaveSizesAreReadAsLlvmReadsThem) {
  const std::string cpu = GetParam();
  for (const WaveSize wave : {WaveSize::lanes32, WaveSize::lanes64}) {
    std::vector<Bytes> objects;
    const bool all = std::getenv("WW_CORPUS_ALL") != nullptr;
    const std::string usual = wave == WaveSize::lanes32 ? "-O0" : "-O2";
    for (const std::string& level : all ? levels() : std::vector<std::string>{usual}) {
      const testing::CompileOptions options{
          .cpu = cpu,
          .optimisation = level,
          .code_object_version = 5,
          .extra = wave == WaveSize::lanes64 ? "-mwavefrontsize64" : "",
          .link = false};
      for (const char* file : {"sim/gpu/test/kernels.cl", "sim/gpu/test/images.cl"}) {
        auto object = testing::compile(testing::read_source_file(file), options);
        ASSERT_TRUE(object) << file << ' ' << level;
        objects.push_back(*std::move(object));
      }
    }
    expect_equal(testing::disassembly(objects, cpu, attributes_of(wave)), cpu, wave);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, RdnaCorpus, ::testing::Values("gfx1030", "gfx1100"),
                         [](const auto& info) { return std::string(info.param); });

// Objects from elsewhere: an environment variable names files, separated by colons
// (studies/check_isa_corpus); null without it.
const char* given_objects(const std::string& name) {
  return std::getenv(("WW_CORPUS_" + name).c_str());
}

void expect_given_equal(const std::string& files, const std::string& cpu,
                        WaveSize wave = WaveSize::usual,
                        testing::Toolchain toolchain = testing::Toolchain::of_target) {
  std::vector<std::filesystem::path> objects;
  std::istringstream list(files);
  std::string file;
  while (std::getline(list, file, ':')) objects.emplace_back(file);
  expect_equal(testing::disassembly(objects, cpu, attributes_of(wave)), cpu, wave, toolchain);
}

TEST_P(Gfx9Corpus, GivenObjectsAreReadAsLlvmReadsThem) {
  const char* files = given_objects(GetParam());
  if (files == nullptr) GTEST_SKIP() << "no objects given in WW_CORPUS_" << GetParam();
  expect_given_equal(files, GetParam());
}

// Programs by wavefront size, and by clang-15 or clang-19.
struct Given {
  const char* name;
  const char* cpu;
  WaveSize wave;
  testing::Toolchain toolchain;
};

class RdnaGiven : public ::testing::TestWithParam<Given> {};

TEST_P(RdnaGiven, GivenObjectsAreReadAsLlvmReadsThem) {
  const char* files = given_objects(GetParam().name);
  if (files == nullptr) GTEST_SKIP() << "no objects given in WW_CORPUS_" << GetParam().name;
  expect_given_equal(files, GetParam().cpu, GetParam().wave, GetParam().toolchain);
}

INSTANTIATE_TEST_SUITE_P(
    Gpus, RdnaGiven,
    ::testing::Values(
        Given{"gfx1030", "gfx1030", WaveSize::lanes32, testing::Toolchain::llvm15},
        Given{"gfx1030_waves_of_64", "gfx1030", WaveSize::lanes64, testing::Toolchain::llvm15},
        Given{"gfx1030_clang_19", "gfx1030", WaveSize::lanes32, testing::Toolchain::llvm19},
        Given{"gfx1030_clang_19_waves_of_64", "gfx1030", WaveSize::lanes64,
              testing::Toolchain::llvm19},
        Given{"gfx1100_clang_19", "gfx1100", WaveSize::lanes32, testing::Toolchain::llvm19},
        Given{"gfx1100_clang_19_waves_of_64", "gfx1100", WaveSize::lanes64,
              testing::Toolchain::llvm19}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Gpus, Gfx9Corpus,
                         ::testing::Values("gfx803", "gfx900", "gfx904", "gfx906", "gfx908",
                                           "gfx90a", "gfx940", "gfx942"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ww::binpatch::isa
