// The kernels as AMD's code objects: what is written into them, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "code_objects.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::kernels {
namespace {

using ::testing::HasSubstr;

class CodeObjects : public ::testing::Test {
 protected:
  void SetUp() override {
    if (precompiled_targets().empty()) {
      GTEST_SKIP() << "this build has no clang-19 and lld-19";
    }
  }
  static Macros macros_of(std::string_view target) {
    Macros macros;
    const bool rdna = target.starts_with("gfx1");
    macros.target.wave_size = rdna ? 32 : 64;
    return macros;
  }
  static std::vector<std::uint32_t> words(const std::vector<std::byte>& object) {
    std::vector<std::uint32_t> result(object.size() / sizeof(std::uint32_t));
    std::memcpy(result.data(), object.data(), result.size() * sizeof(std::uint32_t));
    return result;
  }
  // Counts the arguments of the object's first kernel.
  static int arguments_of(const std::vector<std::byte>& object) {
    const std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
    const auto end = text.find("l2_stream");
    int count = 0;
    for (auto at = text.find(".offset"); at < end; at = text.find(".offset", at + 1)) {
      ++count;
    }
    return count;
  }
  static Result<std::vector<std::byte>> object_of(std::string_view kernel, const Macros& macros,
                                                  std::string_view target) {
    return code_object_for(kernel, *program_text(*find_source(kernel), macros), target);
  }
};

TEST_F(CodeObjects, OfEveryTargetHaveEveryKernelAndNoValueLeftOpen) {
  for (const PrecompiledTarget& target : precompiled_targets()) {
    for (const Source& source : sources()) {
      const auto object = object_of(source.name, macros_of(target.name), target.name);
      ASSERT_TRUE(object) << target.name << ": " << object.error().text();
      const std::string_view text(reinterpret_cast<const char*>(object->data()), object->size());
      EXPECT_NE(text.find(std::string(source.name) + ".kd"), text.npos)
          << target.name << ' ' << source.name;
      for (const std::uint32_t word : words(*object)) {
        ASSERT_NE(word & 0xFFFFFFF0u, 0x57570000u) << target.name << ' ' << source.name;
      }
    }
  }
}

TEST_F(CodeObjects, DifferInTheHostsValuesAlone) {
  for (const PrecompiledTarget& target : precompiled_targets()) {
    Macros macros = macros_of(target.name);
    macros.stripes = 128;
    const auto few = words(object_of("l2_stream", macros, target.name).value());
    macros.stripes = 2048;
    const auto many = words(object_of("l2_stream", macros, target.name).value());
    ASSERT_EQ(few.size(), many.size());
    int changed = 0;
    for (std::size_t i = 0; i < few.size(); ++i) {
      if (few[i] == many[i]) {
        continue;
      }
      ++changed;
      EXPECT_EQ(few[i], 128u);
      EXPECT_EQ(many[i], 2048u);
    }
    EXPECT_GT(changed, 0) << target.name;
  }
}

constexpr std::size_t kMachineAt = 48;  // the lowest byte of e_flags

// An object without its target's name and number.
std::string without_target(const CodeObjectFile& file) {
  std::string bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  const std::string name = "amdhsa--" + std::string(file.target);
  bytes.replace(bytes.find(name), name.size(), name.size(), '-');
  bytes[kMachineAt] = 0;
  return bytes;
}

// Compiles all kernels, or a campaign's in wide wavefronts, with the build's compiler.
std::string compiled(const CodeObjectFile& file, const std::filesystem::path& folder) {
  const std::string wave = file.variant == "wide_sleep"      ? "64u -mwavefrontsize64"
                           : file.target.starts_with("gfx1") ? "32u"
                                                             : "64u";
  const std::string object = (folder / "object").string();
  const std::string command =
      "clang-19 -x cl -cl-std=CL1.2 -cl-no-stdinc -nogpulib --target=amdgcn-amd-amdhsa -O3"
      " -mcode-object-version=4 -mcpu=" +
      std::string(file.target) + " -DWW_WAVE_SIZE=" + wave + " -c -o " + object + ".o " +
      std::getenv("WW_BINARY_DIR") + "/kernels/" + std::string(file.variant) +
      ".cl && ld.lld-19 --no-undefined -shared -s -o " + object + " " + object + ".o";
  return std::system(command.c_str()) == 0 ? read_file(object).value_or("") : "";
}

// The build compiles once for targets of the same code, and writes the others' names into copies.
TEST_F(CodeObjects, OfTargetsWithTheSameCodeAreThoseThatTheCompilerMakes) {
  if (std::getenv("WW_BINARY_DIR") == nullptr || std::system("command -v ld.lld-19") != 0) {
    GTEST_SKIP() << "needs ctest's environment, clang-19 and lld-19";
  }
  const auto folder = ScratchFolder::create("code_objects").value();
  int compared = 0;
  const auto files = code_object_files();
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file->variant != "sleep" && file->variant != "wide_sleep") continue;
    const bool shared = std::any_of(files.begin(), file, [&](const CodeObjectFile& other) {
      return other.bytes.size() == file->bytes.size() &&
             without_target(other) == without_target(*file);
    });
    if (!shared) continue;
    const std::string_view made(reinterpret_cast<const char*>(file->bytes.data()),
                                file->bytes.size());
    EXPECT_TRUE(made == compiled(*file, folder.path())) << file->target << ' ' << file->variant;
    ++compared;
  }
  EXPECT_GE(compared, 28);
}

TEST_F(CodeObjects, WaitAndCountAsTheProgramSays) {
  Macros macros = macros_of("gfx90a");
  const auto s_nop_7 = [](const std::vector<std::byte>& object) {
    const auto all = words(object);
    return std::ranges::count(all, 0xBF800007u);
  };
  const auto sleeps = object_of("l2_stream", macros, "gfx90a").value();
  EXPECT_EQ(s_nop_7(sleeps), 0);
  macros.wait = Wait::nops;
  EXPECT_GE(s_nop_7(object_of("l2_stream", macros, "gfx90a").value()), 8);
  // A kernel that does not wait is the same either way.
  EXPECT_TRUE(object_of("furnace", macros, "gfx90a"));
  macros.count_waves = true;
  const auto counted = object_of("l2_stream", macros, "gfx90a").value();
  EXPECT_GE(s_nop_7(counted), 8);
  // Two arguments more in the metadata: where to count, and whether.
  macros.count_waves = false;
  const auto uncounted = object_of("l2_stream", macros, "gfx90a").value();
  EXPECT_EQ(arguments_of(counted), arguments_of(uncounted) + 2);
}

// Instructions draw power, so a long wait is to have few; bits beyond those of the generation would
// shorten it.
TEST_F(CodeObjects, SleepInLongWaitsAsLongAsTheirGenerationCan) {
  for (const PrecompiledTarget& target : precompiled_targets()) {
    const std::string_view name = target.name;
    const bool since_gfx11 = name.starts_with("gfx11") || name.starts_with("gfx12");
    const std::uint32_t opcode = since_gfx11 ? 0xBF83U : 0xBF8EU;
    const bool is_gfx7 = name.starts_with("gfx7"), is_gfx8 = name.starts_with("gfx8");
    const std::uint32_t longest = is_gfx7 ? 7 : is_gfx8 ? 15 : 112;
    std::uint32_t in_a_row = 0;
    std::uint32_t most_in_a_row = 0;
    std::vector<std::uint32_t> longer;
    // The object has all kernels in it.
    for (const std::uint32_t word : words(object_of("ladder", macros_of(name), name).value())) {
      const std::uint32_t units = word >> 16 == opcode ? word & 0xFFFFU : 0;
      in_a_row = units == longest ? in_a_row + 1 : 0;
      most_in_a_row = std::max(most_in_a_row, in_a_row);
      if (units > longest) longer.push_back(units);
    }
    // 28 waits are 112 units of 64 cycles.
    EXPECT_EQ(most_in_a_row, 112 / longest) << name;
    // Kernel `sleeps` alone tries what is longer, each once.
    std::vector<std::uint32_t> tried{15, 31, 63, 127};
    std::erase_if(tried, [&](std::uint32_t units) { return units <= longest; });
    EXPECT_EQ(longer, tried) << name;
  }
}

TEST_F(CodeObjects, FollowListsOfLinesWhereTheProgramDoes) {
  Macros macros = macros_of("gfx90a");
  const auto plain = object_of("l2_stream", macros, "gfx90a").value();
  macros.list = 512;
  const auto listed = object_of("l2_stream", macros, "gfx90a");
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_EQ(arguments_of(*listed), arguments_of(plain) + 1);
  EXPECT_GT(std::ranges::count(words(*listed), 512u), std::ranges::count(words(plain), 512u));
  for (const std::uint32_t word : words(*listed)) ASSERT_NE(word & 0xFFFFFFF0u, 0x57570000u);
  // A kernel without lists is the same either way.
  EXPECT_TRUE(object_of("furnace", macros, "gfx90a"));
  macros.count_waves = true;
  EXPECT_EQ(arguments_of(object_of("l2_stream", macros, "gfx90a").value()),
            arguments_of(plain) + 3);
  macros.interleave_bytes = 128;
  macros.stripes = 512;
  macros.list = 4096;
  EXPECT_THAT(object_of("l2_stream", macros, "gfx90a").error().message, HasSubstr("2048 entries"));
}

// RDNA's kernels have wavefronts of 32, but for those of a campaign.
TEST_F(CodeObjects, OfRdnaHaveWideWavefrontsForCampaignsAlone) {
  for (const char* target : {"gfx1030", "gfx1100", "gfx1201"}) {
    Macros macros = macros_of(target);
    macros.list = 256;
    EXPECT_THAT(object_of("l2_stream", macros, target).error().message,
                HasSubstr("WW_WAVE_SIZE = 64"));
    macros.target.wave_size = 64;
    macros.list = 512;
    for (const bool counted : {false, true}) {
      macros.count_waves = counted;
      EXPECT_TRUE(object_of("l2_stream", macros, target)) << target;
    }
    for (const char* kernel : {"l2_sweep", "furnace", "known_bytes"}) {
      EXPECT_TRUE(object_of(kernel, macros, target)) << target << ' ' << kernel;
    }
    // Streams in plain order are counted in no campaign on RDNA.
    macros.list = 0;
    EXPECT_THAT(object_of("l2_stream", macros, target).error().message, HasSubstr("wide_counted"));
  }
}

TEST_F(CodeObjects, AreFoundByTheDevicesOwnName) {
  const auto plain = object_of("probe", macros_of("gfx90a"), "gfx90a");
  ASSERT_TRUE(plain);
  EXPECT_EQ(object_of("probe", macros_of("gfx90a"), "gfx90a:sramecc+:xnack-").value(), *plain);
  // One that the compiler does not know by itself.
  EXPECT_EQ(object_of("probe", macros_of("gfx1153"), "gfx1153").value(),
            object_of("probe", macros_of("gfx1153"), "gfx11-generic").value());
}

TEST_F(CodeObjects, AreRefusedForOtherTargetsTextsAndSizes) {
  const auto unknown = object_of("probe", macros_of("gfx950"), "gfx950");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unsupported);
  EXPECT_THAT(unknown.error().message, HasSubstr("no target gfx950"));
  EXPECT_THAT(unknown.error().message, HasSubstr("clang 19"));
  const std::string text = *program_text(*find_source("probe"), macros_of("gfx90a"));
  EXPECT_FALSE(code_object_for("probe", text + " ", "gfx90a"));
  EXPECT_FALSE(code_object_for("latency", text, "gfx90a"));
  EXPECT_FALSE(code_object_for("mine", "__kernel void mine() {}", "gfx90a"));
  Macros macros = macros_of("gfx90a");
  macros.unroll = 8;
  EXPECT_THAT(object_of("l2_stream", macros, "gfx90a").error().message, HasSubstr("WW_UNROLL = 4"));
  macros = macros_of("gfx1100");
  macros.target.wave_size = 64;
  EXPECT_THAT(object_of("probe", macros, "gfx1100").error().message,
              HasSubstr("wavefronts of 32 alone"));
}

}  // namespace
}  // namespace ww::kernels
