// Every AMD GPU that clang-15 and clang-19 compile for, at three levels of optimisation, and
// NVIDIA's PTX: several kernels in one object, each patched, verified and undone, or refused for
// the right reason. Prints a table; studies/patch_table prints the whole one.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string_view>

#include "container_builder.hpp"
#include "toolchain.hpp"
#include "ww/binpatch/binary.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::binpatch {
namespace {

using testing::Bytes;

// PIN is "+s" for AMD and "+r" for PTX.
constexpr const char* source = R"(
__kernel void compare(__global uint* o) {
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : PIN(id));
  if (id == 3) o[get_global_id(0)] = id;
}
__kernel void stream(__global const uint4* a, __global uint4* o, uint n, uint engine) {
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : PIN(id));
  if (((id >> 13) & 3) != engine) return;
  uint4 s = 0;
  for (uint i = get_local_id(0); i < n; i += get_local_size(0)) s ^= a[i];
  o[get_global_id(0)] = s;
}
__kernel void reduce(__global const float* a, __global float* o, __local float* part) {
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : PIN(id));
  const uint l = get_local_id(0);
  part[l] = a[get_global_id(0)] * 1.5f + (float)id;
  for (uint w = get_local_size(0) / 2; w > 0; w >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < w) part[l] += part[l + w];
  }
  if (l == 0) o[id & 1023] = part[0];
}
__kernel void last(__global ulong* o, ulong x) {
  ulong y = x * 0x9E3779B97F4A7C15ul + get_global_id(0);
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : PIN(id));
  o[get_global_id(0)] = y + id;
}
__kernel void unmarked(__global uint* o) { o[get_global_id(0)] = get_group_id(0); }
__kernel void twice(__global uint* o) {
  uint a = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : PIN(a));
  uint b = (get_group_id(0) + 1) ^ 0x5EC0DE01u;
  __asm__ volatile("" : PIN(b));
  o[get_global_id(0)] = a * b;
}
)";
constexpr const char* pinned[] = {"compare", "stream", "reduce", "last"};

constexpr const char* amd_targets[] = {
    "gfx600",  "gfx601",  "gfx602",  "gfx700",  "gfx701",  "gfx702",  "gfx703",  "gfx704",
    "gfx705",  "gfx801",  "gfx802",  "gfx803",  "gfx805",  "gfx810",  "gfx900",  "gfx902",
    "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",  "gfx90c",  "gfx940",  "gfx1010",
    "gfx1011", "gfx1012", "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034",
    "gfx1035", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103"};
constexpr const char* ptx_targets[] = {"sm_35", "sm_60", "sm_70", "sm_80"};
constexpr const char* levels[] = {"-O1", "-O2", "-O3"};

// One target of each generation of instructions: the others of a generation are compiled to the
// same code, but for a few instructions.
constexpr std::string_view of_each_generation[] = {
    "gfx600", "gfx701",  "gfx803",  "gfx900",  "gfx906",  "gfx908",  "gfx90a", "gfx940",
    "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "sm_70"};

std::vector<std::string> levels_of(std::string_view target, bool every_level) {
  const bool all =
      every_level || std::ranges::find(of_each_generation, target) != std::end(of_each_generation);
  return all ? std::vector<std::string>(std::begin(levels), std::end(levels))
             : std::vector<std::string>{"-O2"};
}

// Patches, verifies and undoes one kernel; says what went wrong, empty when nothing did.
std::string cycle(const Bytes& object, const std::string& kernel) {
  const auto patched = patch_binary(object, {.kernel = kernel});
  if (!patched) return patched.error().text();
  for (const PatchedSite& site : patched->sites) {
    const auto problem = testing::problem_of_words(site.target, site.site);
    if (!problem.empty()) return problem;
  }
  if (const auto status = verify_binary(object, *patched); !status) return status.error().text();
  const auto back = unpatch_binary(patched->bytes, patched->changes);
  if (!back) return back.error().text();
  return *back == object ? "" : "unpatching does not give the original back";
}

std::string refusal(const Bytes& object, const std::string& kernel, ErrorCode wanted) {
  const auto patched = patch_binary(object, {.kernel = kernel});
  if (patched) return kernel + " was patched";
  return patched.error().code == wanted ? "" : patched.error().text();
}

// Checks all kernels of an object; the cell of the table, "4 + 2" where all is well.
std::string check(const Bytes& object, const std::string& what) {
  int patched = 0;
  for (const char* kernel : pinned) {
    const std::string problem = cycle(object, kernel);
    EXPECT_EQ(problem, "") << what << ' ' << kernel;
    patched += problem.empty() ? 1 : 0;
  }
  int refused = 0;
  for (const auto& [kernel, code] :
       {std::pair{"unmarked", ErrorCode::not_found}, std::pair{"twice", ErrorCode::bad_data}}) {
    const std::string problem = refusal(object, kernel, code);
    EXPECT_EQ(problem, "") << what << ' ' << kernel;
    refused += problem.empty() ? 1 : 0;
  }
  return std::to_string(patched) + " + " + std::to_string(refused);
}

// A line of the table: the target and its cell at each level, "-" where it was not compiled.
class Line {
 public:
  explicit Line(std::string target) : target_(std::move(target)) {}
  void add(const std::string& level, const std::string& cell) { cells_[level] = cell; }
  void print() const {
    std::printf("%-19s", target_.c_str());
    for (const char* level : levels) {
      const auto cell = cells_.find(level);
      std::printf(" %-7s", cell == cells_.end() ? "-" : cell->second.c_str());
    }
    std::printf("\n");
  }
  static void print_head() {
    std::printf("%-19s %-7s %-7s %-7s\n", "target", levels[0], levels[1], levels[2]);
  }

 private:
  std::string target_;
  std::map<std::string, std::string> cells_;  // by level
};

int check_targets(bool every_level) {
  std::vector<std::pair<std::string, Bytes>> bundled{{"host-x86_64-unknown-linux--", {}}};
  int objects = 0;
  std::printf("kernels patched, verified and undone + kernels refused for the right reason\n");
  Line::print_head();
  for (const char* cpu : amd_targets) {
    Line line(cpu);
    for (const std::string& level : levels_of(cpu, every_level)) {
      const auto object = testing::compile(
          source, {.cpu = cpu, .optimisation = level, .extra = "-D'PIN(x)=\"+s\"(x)'"});
      EXPECT_TRUE(object.has_value()) << cpu << ' ' << level;
      if (!object) continue;
      line.add(level, check(*object, std::string(cpu) + ' ' + level));
      ++objects;
      if (level == "-O2") {
        bundled.emplace_back(std::string("hipv4-amdgcn-amd-amdhsa--") + cpu, *object);
      }
    }
    line.print();
  }
  for (const char* cpu : ptx_targets) {
    Line line(cpu);
    for (const std::string& level : levels_of(cpu, every_level)) {
      const auto text =
          testing::compile_ptx(std::string("#define PIN(x) \"+r\"(x)\n") + source, cpu, level);
      EXPECT_TRUE(text.has_value()) << cpu << ' ' << level;
      if (!text) continue;
      line.add(level, check(*text, std::string(cpu) + ' ' + level));
      ++objects;
    }
    line.print();
  }
  // All targets' objects in one file: every one of them is patched in place.
  const Bytes bundle = testing::build_bundle(bundled);
  const auto all = patch_binary(bundle, {.kernel = "stream"});
  EXPECT_TRUE(all.has_value()) << all.error().text();
  if (!all) return objects;
  EXPECT_EQ(all->sites.size(), std::size(amd_targets));
  EXPECT_TRUE(verify_binary(bundle, *all).has_value());
  std::printf("%d objects; one bundle of %zu targets\n", objects, all->sites.size());
  return objects;
}

// Every target at the usual level, and one of each generation at all of them.
TEST(PatchTable, EveryTarget) {
  if (!testing::have_compiler()) {
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed";
  }
  EXPECT_GE(check_targets(false), 60);
}

TEST(PatchTable, EveryTargetAtEachLevel) {
  if (!testing::have_compiler()) {
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed";
  }
  EXPECT_GE(check_targets(true), 100);
}

TEST(CodeObjectVersions, FromTwoToFiveArePatched) {
  if (!testing::have_compiler()) {
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed";
  }
  for (const int version : {2, 3, 4, 5}) {
    for (const char* cpu : {"gfx701", "gfx803", "gfx900"}) {
      const auto object = testing::compile(
          source, {.cpu = cpu, .code_object_version = version, .extra = "-D'PIN(x)=\"+s\"(x)'"});
      ASSERT_TRUE(object.has_value()) << cpu << " v" << version;
      const auto parsed = CodeObject::parse(*object);
      ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
      EXPECT_EQ(parsed->version(), version);
      EXPECT_EQ(to_string(parsed->target()), cpu);
      EXPECT_EQ(check(*object, std::string(cpu) + " v" + std::to_string(version)), "4 + 2");
    }
  }
}

// Leaves a file as llvm-objcopy --strip-sections does: PT_DYNAMIC has what a loader needs.
TEST(WithoutSectionHeaders, KernelsAreFoundAndPatched) {
  if (!testing::have_compiler()) {
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed";
  }
  for (const int version : {2, 3, 5}) {
    auto object = testing::compile(
        source, {.cpu = "gfx900", .code_object_version = version, .extra = "-D'PIN(x)=\"+s\"(x)'"});
    ASSERT_TRUE(object.has_value()) << version;
    Elf64_Ehdr header;
    std::memcpy(&header, object->data(), sizeof header);
    header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
    std::memcpy(object->data(), &header, sizeof header);
    const auto parsed = CodeObject::parse(*object);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
    EXPECT_EQ(check(*object, "stripped v" + std::to_string(version)), "4 + 2");
  }
}

TEST(Wave64, OfRdnaIsPatched) {
  if (!testing::have_compiler()) {
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed";
  }
  for (const char* cpu : {"gfx1010", "gfx1030", "gfx1100"}) {
    const auto object =
        testing::compile(source, {.cpu = cpu, .extra = "-mwavefrontsize64 -D'PIN(x)=\"+s\"(x)'"});
    ASSERT_TRUE(object.has_value()) << cpu;
    EXPECT_EQ(check(*object, std::string(cpu) + " wave64"), "4 + 2");
  }
}

// Patches, verifies and undoes every pinned kernel of every target that was compiled when wirewatt
// was built, for hosts without a compiler.
TEST(PatchTable, ThePrecompiledKernels) {
  const auto targets = kernels::precompiled_targets();
  if (targets.empty()) {
    GTEST_SKIP() << "this build has no clang-19 and lld-19";
  }
  std::printf("%-16s %-8s %-9s %s\n", "target", "version", "bytes", "pinned kernels");
  for (const kernels::PrecompiledTarget& target : targets) {
    const Bytes object(target.object.begin(), target.object.end());
    const auto parsed = CodeObject::parse(object);
    ASSERT_TRUE(parsed) << target.name << ": " << parsed.error().text();
    const bool generic = target.name.find("generic") != std::string_view::npos;
    EXPECT_EQ(parsed->version(), generic ? 6 : 4) << target.name;
    int kernels = 0;
    for (const kernels::Source& source : kernels::sources()) {
      if (!source.pinned) {
        continue;
      }
      const std::string kernel(source.name);
      EXPECT_EQ(cycle(object, kernel), "") << target.name << ' ' << kernel;
      ++kernels;
    }
    std::printf("%-16s v%-7d %-9zu %d patched, verified, undone\n",
                std::string(target.name).c_str(), parsed->version(), object.size(), kernels);
  }
  std::printf("%zu targets, compiled by %s\n", targets.size(),
              std::string(kernels::precompiled_by()).c_str());
}

// Targets and code object versions that only newer compilers know. reduce has scalar floating point
// from gfx11.5 on.
void check_newest_targets(bool every_level) {
  struct Target {
    const char* cpu;
    int version;
  };
  constexpr Target targets[] = {
      {"gfx941", 5},          {"gfx942", 5},          {"gfx942", 6},        {"gfx90a", 6},
      {"gfx1150", 5},         {"gfx1151", 5},         {"gfx1152", 5},       {"gfx9-generic", 6},
      {"gfx10-1-generic", 6}, {"gfx10-3-generic", 6}, {"gfx11-generic", 6}, {"gfx1200", 5},
      {"gfx1201", 5},         {"gfx12-generic", 6}};
  std::printf("by clang-19, with the code object's version\n");
  Line::print_head();
  int objects = 0;
  for (const Target& target : targets) {
    Line line(std::string(target.cpu) + " v" + std::to_string(target.version));
    for (const std::string& level : levels_of(target.cpu, every_level)) {
      const auto object = testing::compile_newest(source, {.cpu = target.cpu,
                                                           .optimisation = level,
                                                           .code_object_version = target.version,
                                                           .extra = "-D'PIN(x)=\"+s\"(x)'"});
      ASSERT_TRUE(object.has_value()) << target.cpu << ' ' << level;
      ++objects;
      line.add(level, check(*object, std::string(target.cpu) + ' ' + level));
    }
    line.print();
  }
  std::printf("%d objects\n", objects);
}

TEST(PatchTable, TargetsOfTheNewestCompiler) {
  ASSERT_TRUE(testing::have_newest_compiler()) << "clang-19 or ld.lld-19 is not installed";
  check_newest_targets(false);
}

TEST(PatchTable, TargetsOfTheNewestCompilerAtEachLevel) {
  ASSERT_TRUE(testing::have_newest_compiler()) << "clang-19 or ld.lld-19 is not installed";
  check_newest_targets(true);
}

}  // namespace
}  // namespace ww::binpatch
