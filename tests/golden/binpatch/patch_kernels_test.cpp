// Kernels with the pin marker, compiled for every GCN and CDNA generation: patched, verified,
// undone, and what the patcher's decoder sees compared with LLVM's own disassembler.
#include <gtest/gtest.h>

#include "kernel_code.hpp"
#include "toolchain.hpp"
#include "ww/binpatch/patch.hpp"

namespace ww::binpatch {
namespace {

using testing::Bytes;

constexpr const char* pinned = R"(
__kernel void k(__global uint* o) {
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : "+s"(id));
  if (id == 3) o[get_global_id(0)] = id;
}
__kernel void loop(__global const uint4* a, __global uint4* o, uint n, uint engine) {
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : "+s"(id));
  if (((id >> 13) & 3) != engine) return;
  uint4 s = 0;
  for (uint i = get_local_id(0); i < n; i += get_local_size(0)) s ^= a[i];
  o[get_global_id(0)] = s;
}
__kernel void unmarked(__global uint* o) { o[get_global_id(0)] = get_group_id(0); }
)";

#define NEED_COMPILER()                                                         \
  if (!testing::have_compiler()) {                                              \
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed"; \
  }

class PinnedKernel : public ::testing::TestWithParam<const char*> {};

// At version 5; patch_table_test has the versions before it at each level.
TEST_P(PinnedKernel, IsPatchedVerifiedAndRestored) {
  NEED_COMPILER();
  const auto object = testing::compile(pinned, {.cpu = GetParam(), .code_object_version = 5});
  ASSERT_TRUE(object.has_value());
  for (const char* kernel : {"k", "loop"}) {
    const auto result = patch(*object, kernel, HardwareRegister::hw_id);
    ASSERT_TRUE(result.has_value()) << kernel << ": " << result.error().text();
    const auto status = verify(*object, *result, HardwareRegister::hw_id);
    EXPECT_TRUE(status.has_value()) << status.error().text();
    EXPECT_EQ(testing::problem_of_words(GetParam(), result->site), "") << kernel;
    const auto back = unpatch(result->bytes, result->site);
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_EQ(*back, *object);
  }
  EXPECT_EQ(patch(*object, "unmarked", HardwareRegister::hw_id).error().code, ErrorCode::not_found);
}

INSTANTIATE_TEST_SUITE_P(Targets, PinnedKernel,
                         ::testing::Values("gfx600", "gfx701", "gfx803", "gfx900", "gfx906",
                                           "gfx908", "gfx90a", "gfx940"),
                         [](const auto& info) { return std::string(info.param); });

TEST(PinnedKernelText, AssemblesToThePatchedBytes) {
  NEED_COMPILER();
  if (!testing::have_assembler()) GTEST_SKIP() << "llvm-mc-15 is not installed";
  for (const char* cpu : {"gfx701", "gfx900"}) {
    const auto object = testing::compile(pinned, {.cpu = cpu});
    ASSERT_TRUE(object.has_value());
    const auto result = patch(*object, "k", HardwareRegister::hw_id);
    ASSERT_TRUE(result.has_value());
    const auto separator = result->site.after_text.find("; ");
    const auto lines =
        testing::assemble({result->site.before_text, result->site.after_text.substr(0, separator),
                           result->site.after_text.substr(separator + 2)},
                          cpu);
    EXPECT_EQ(lines[0].bytes, result->site.before);
    Bytes after = lines[1].bytes.value_or(Bytes{});
    const Bytes filler = lines[2].bytes.value_or(Bytes{});
    after.insert(after.end(), filler.begin(), filler.end());
    EXPECT_EQ(after, result->site.after);
  }
}

TEST(MarkerWithoutBarrier, IsRefusedOrPatchedButNeverWrong) {
  NEED_COMPILER();
  // Without the barrier the compiler folds the comparison, and the marker with it.
  const auto object = testing::compile(R"(
__kernel void k(__global uint* o) {
  uint id = get_group_id(0) ^ 0x5EC0DE01u;
  if (id == 3) o[get_global_id(0)] = 1;
}
)");
  ASSERT_TRUE(object.has_value());
  const auto result = patch(*object, "k", HardwareRegister::hw_id);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::not_found) << result.error().text();
}

TEST(MarkerInAVectorRegister, IsUnsupported) {
  NEED_COMPILER();
  const auto object = testing::compile(R"(
__kernel void k(__global uint* o) {
  uint id = get_global_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : "+v"(id));
  o[get_global_id(0)] = id;
}
)");
  ASSERT_TRUE(object.has_value());
  const auto result = patch(*object, "k", HardwareRegister::hw_id);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::unsupported) << result.error().text();
}

class CodeWalk : public ::testing::TestWithParam<const char*> {};

TEST_P(CodeWalk, SeesInstructionsWhereLlvmDoes) {
  NEED_COMPILER();
  if (!testing::have_disassembler()) GTEST_SKIP() << "llvm-objdump-15 is not installed";
  const std::string cpu = GetParam();
  const bool matrix_cores = cpu == "gfx908" || cpu == "gfx90a" || cpu == "gfx940";
  std::string source = testing::read_source_file("tests/golden/binpatch/kernels.cl");
  source += R"(
typedef float float32x4 __attribute__((ext_vector_type(4)));
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void halves(__global half2* a, __global half2* o, __global uchar* b) {
  const size_t i = get_global_id(0);
  o[i] = fma(a[i], a[i + 1], (half2)(0.5h, 3.7h)) + convert_half2((float2)(b[i], b[i + 1]));
}
)";
  if (matrix_cores) {
    source += R"(
__kernel void matrix_core(__global float* a, __global float32x4* o) {
  float32x4 c = o[get_global_id(0)];
  for (int i = 0; i < 4; ++i) {
    c = __builtin_amdgcn_mfma_f32_16x16x4f32(a[i], a[i + 4], c, 0, 0, 0);
  }
  o[get_global_id(0)] = c;
}
)";
  }
  for (const char* optimisation : {"-O1", "-O3"}) {
    const auto bytes = testing::compile(source, {.cpu = cpu, .optimisation = optimisation});
    ASSERT_TRUE(bytes.has_value());
    const auto object = CodeObject::parse(*bytes);
    ASSERT_TRUE(object.has_value()) << object.error().text();
    const auto generation = isa::generation_of(object->target());
    ASSERT_TRUE(generation.has_value());
    const auto expected = testing::instruction_addresses(*bytes);
    std::size_t compared = 0;
    for (const Kernel& kernel : object->kernels()) {
      const auto code = KernelCode::decode(*object, kernel, *generation);
      ASSERT_TRUE(code.has_value()) << kernel.name << ": " << code.error().text();
      std::vector<std::uint64_t> ours;
      for (const auto& placed : code->instructions()) {
        ours.push_back(kernel.entry_address + placed.offset);
      }
      const auto first = std::find(expected.begin(), expected.end(), kernel.entry_address);
      ASSERT_LE(ours.size(), static_cast<std::size_t>(expected.end() - first)) << kernel.name;
      EXPECT_EQ(ours,
                std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(ours.size())))
          << kernel.name;
      compared += ours.size();
    }
    EXPECT_GT(compared, 1500U);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CodeWalk,
                         ::testing::Values("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a",
                                           "gfx940", "gfx1010", "gfx1030", "gfx1100"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ww::binpatch
