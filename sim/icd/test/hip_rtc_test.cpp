// hiprtc: programs that compile HIP while they run. The sources need no headers of HIP's, which are
// not everywhere (-nogpuinc); without clang-19 there is nothing to test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hip_world.hpp"

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name in HIP's header
using hiprtcProgram = struct _hiprtcProgram*;
extern "C" {
const char* hiprtcGetErrorString(int);
int hiprtcVersion(int*, int*);
int hiprtcCreateProgram(hiprtcProgram*, const char*, const char*, int, const char* const*,
                        const char* const*);
int hiprtcDestroyProgram(hiprtcProgram*);
int hiprtcAddNameExpression(hiprtcProgram, const char*);
int hiprtcCompileProgram(hiprtcProgram, int, const char* const*);
int hiprtcGetLoweredName(hiprtcProgram, const char*, const char**);
int hiprtcGetProgramLogSize(hiprtcProgram, std::size_t*);
int hiprtcGetProgramLog(hiprtcProgram, char*);
int hiprtcGetCodeSize(hiprtcProgram, std::size_t*);
int hiprtcGetCode(hiprtcProgram, char*);
}

namespace ww::sim::icd {
namespace {

constexpr int kRtcInvalidInput = 3;
constexpr int kRtcInvalidProgram = 4;
constexpr int kRtcInvalidOption = 5;
constexpr int kRtcCompilation = 6;
constexpr int kRtcTooLate = 8;
constexpr int kRtcTooEarly = 9;
constexpr int kRtcNoSuchName = 10;

constexpr const char* kHip = R"(
#include "numbers/step.h"
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
namespace deep { __device__ int offset = 5; }
template <class T, int kTimes> __global__ void scale(T* p) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  p[i] = p[i] * kTimes + STEP;
}
extern "C" __global__ void shift(int* p) {
  p[__builtin_amdgcn_workitem_id_x()] += deep::offset + MORE;
}
)";

class HipRtc : public Hip {
 protected:
  void SetUp() override {
    Hip::SetUp();
    const char* header = "#define STEP 3\n";
    const char* name = "numbers/step.h";
    ASSERT_EQ(hiprtcCreateProgram(&program_, kHip, "program.cu", 1, &header, &name), 0);
  }
  void TearDown() override {
    EXPECT_EQ(hiprtcDestroyProgram(&program_), 0);
    EXPECT_EQ(program_, nullptr);
    Hip::TearDown();
  }
  int compile(std::vector<const char*> options = {"-nogpuinc", "-DMORE=100"}) {
    return hiprtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  std::string log() {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetProgramLogSize(program_, &bytes), 0);
    std::string text(bytes, '#');
    EXPECT_EQ(hiprtcGetProgramLog(program_, text.data()), 0);
    return text;
  }
  bool lacks_compiler() { return log().find("is not there; install") != std::string::npos; }
  std::string code() {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetCodeSize(program_, &bytes), 0);
    std::string code(bytes, '\0');
    EXPECT_EQ(hiprtcGetCode(program_, code.data()), 0);
    return code;
  }
  hiprtcProgram program_{};
};

// What the module's kernel makes of 0, 1, 2, 3.
std::vector<int> run(hipModule_t module, const char* kernel) {
  std::vector<int> values{0, 1, 2, 3};
  auto* device = allocate<int>(4);
  EXPECT_EQ(hipMemcpy(device, values.data(), 16, hipMemcpyHostToDevice), 0);
  hipFunction_t function = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&function, module, kernel), 0);
  void* arguments[] = {&device};
  EXPECT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr), 0);
  EXPECT_EQ(hipMemcpy(values.data(), device, 16, hipMemcpyDeviceToHost), 0);
  EXPECT_EQ(hipFree(device), 0);
  return values;
}

TEST_F(HipRtc, CompilesKernelsThatRunAndTellsTheirNames) {
  for (const char* expression : {"scale<int, 7>", "&deep::offset", "shift", "shift"}) {
    ASSERT_EQ(hiprtcAddNameExpression(program_, expression), 0);
  }
  const char* name = nullptr;
  EXPECT_EQ(hiprtcGetLoweredName(program_, "shift", &name), kRtcTooEarly);
  const int code_of_compilation = compile();
  if (lacks_compiler()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
  ASSERT_EQ(code_of_compilation, 0) << log();
  EXPECT_EQ(log(), "");
  EXPECT_EQ(hiprtcAddNameExpression(program_, "scale<int, 8>"), kRtcTooLate);
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, code().data()), 0);
  EXPECT_THAT(run(module, "shift"), ::testing::ElementsAre(105, 106, 107, 108));
  ASSERT_EQ(hiprtcGetLoweredName(program_, "scale<int, 7>", &name), 0);
  EXPECT_STREQ(name, "_Z5scaleIiLi7EEvPT_");
  EXPECT_THAT(run(module, name), ::testing::ElementsAre(3, 10, 17, 24));
  ASSERT_EQ(hiprtcGetLoweredName(program_, "shift", &name), 0);
  EXPECT_STREQ(name, "shift");
  ASSERT_EQ(hiprtcGetLoweredName(program_, "&deep::offset", &name), 0);
  void* address = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hipModuleGetGlobal(&address, &bytes, module, name), 0);
  EXPECT_EQ(bytes, 4U);
  const int other = -5;
  ASSERT_EQ(hipMemcpy(address, &other, 4, hipMemcpyHostToDevice), 0);
  EXPECT_THAT(run(module, "shift"), ::testing::ElementsAre(95, 96, 97, 98));
  EXPECT_EQ(hiprtcGetLoweredName(program_, "other", &name), kRtcNoSuchName);
  EXPECT_EQ(hipModuleUnload(module), 0);
}

TEST_F(HipRtc, CompilesForTheTargetThatAnOptionNames) {
  // As programs take it from the device's properties.
  const int code_of_compilation =
      compile({"-nogpuinc", "-DMORE=1", "--gpu-architecture=gfx90a:sramecc+:xnack-"});
  if (lacks_compiler()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
  ASSERT_EQ(code_of_compilation, 0) << log();
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, code().data()), 0);
  EXPECT_THAT(run(module, "shift"), ::testing::ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(hipModuleUnload(module), 0);
  ASSERT_EQ(compile({"-nogpuinc", "-DMORE=1", "--offload-arch=gfx900"}), 0);
  EXPECT_EQ(hipModuleLoadData(&module, code().data()), kNoBinary);
  EXPECT_EQ(compile({"-nogpuinc", "--gpu-architecture=compute_70"}), kRtcInvalidOption);
}

TEST_F(HipRtc, AModulesManagedVariablesAreTheHostsToo) {
  int managed = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&managed, 24, 0), 0);
  if (managed == 0) GTEST_SKIP() << "this process uses the addresses (a sanitizer does)";
  constexpr const char* kSource = R"(
__attribute__((device)) __attribute__((managed)) int total = 7;
extern "C" __attribute__((global)) void add(int* p) { p[0] = ++total; }
)";
  hiprtcProgram made = nullptr;
  ASSERT_EQ(hiprtcCreateProgram(&made, kSource, nullptr, 0, nullptr, nullptr), 0);
  std::swap(program_, made);
  const int code_of_compilation = compile();
  const bool lacks = lacks_compiler();
  EXPECT_TRUE(lacks || code_of_compilation == 0) << log();
  if (code_of_compilation == 0) {
    hipModule_t module = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, code().data()), 0);
    void* address = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(hipModuleGetGlobal(&address, &bytes, module, "total"), 0);
    EXPECT_EQ(bytes, 4);
    auto* const total = static_cast<int*>(address);
    EXPECT_EQ(*total, 7);
    EXPECT_THAT(run(module, "add"), ::testing::ElementsAre(8, 1, 2, 3));
    EXPECT_EQ(*total, 8);
    *total = 20;  // no call says so
    EXPECT_THAT(run(module, "add"), ::testing::ElementsAre(21, 1, 2, 3));
    EXPECT_EQ(hipFree(total), kInvalidValue);
    EXPECT_EQ(hipModuleUnload(module), 0);
  }
  std::swap(program_, made);
  EXPECT_EQ(hiprtcDestroyProgram(&made), 0);
  if (lacks) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
}

// HIP's headers come without being named. Of those in test/hip_root atomicInc() is asked for, of
// those in test/hip_root_6 a clock: the compiler and its device library may have neither. Kernels
// can allocate memory, and have the types that AMD's hiprtc defines.
TEST_F(HipRtc, GivesSourcesTheHeadersOfHip) {
  const bool hip6 = std::string_view(std::getenv("WIREWATT_HIP_ROOT")).ends_with("_6");
  const char* const source =
      hip6
          ? R"(extern "C" __attribute__((global)) void fill(int* p) {
                 char* const block = static_cast<char*>(malloc(64));
                 const std::ptrdiff_t bytes = block + 64 - block;
                 *p = wall_clock64() != 0 && block != nullptr && bytes == 64;
                 free(block);
               })"
          : R"(extern "C" __attribute__((global)) void fill(int* p) { atomicInc((unsigned*)p, 2); })";
  hiprtcProgram made = nullptr;
  ASSERT_EQ(hiprtcCreateProgram(&made, source, nullptr, 0, nullptr, nullptr), 0);
  std::swap(program_, made);
  const int code_of_compilation = compile({});
  const bool lacks = lacks_compiler();
  EXPECT_TRUE(lacks || code_of_compilation == 0) << log();
  if (code_of_compilation == 0) {
    hipModule_t module = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, code().data()), 0);
    EXPECT_THAT(run(module, "fill"), ::testing::ElementsAre(1, 1, 2, 3));  // atomicInc: 0 1 2 0 1
    EXPECT_EQ(hipModuleUnload(module), 0);
  }
  std::swap(program_, made);
  EXPECT_EQ(hiprtcDestroyProgram(&made), 0);
  if (lacks) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
}

TEST_F(HipRtc, SaysWhyASourceDoesNotCompile) {
  ASSERT_EQ(hiprtcAddNameExpression(program_, "no_such_kernel<3>"), 0);
  EXPECT_EQ(compile(), kRtcCompilation);
  if (lacks_compiler()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
  EXPECT_THAT(log(), ::testing::HasSubstr("no_such_kernel"));
  std::size_t bytes = 0;
  char byte = 0;
  EXPECT_EQ(hiprtcGetCodeSize(program_, &bytes), kRtcInvalidProgram);
  EXPECT_EQ(hiprtcGetCode(program_, &byte), kRtcInvalidProgram);
  const char* name = nullptr;
  EXPECT_EQ(hiprtcGetLoweredName(program_, "no_such_kernel<3>", &name), kRtcNoSuchName);
}

TEST_F(HipRtc, ChecksItsCalls) {
  hiprtcProgram made = nullptr;
  const char* text = "";
  EXPECT_EQ(hiprtcCreateProgram(nullptr, text, nullptr, 0, nullptr, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcCreateProgram(&made, nullptr, nullptr, 0, nullptr, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcCreateProgram(&made, text, nullptr, -1, nullptr, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcCreateProgram(&made, text, nullptr, 1, &text, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcAddNameExpression(nullptr, "x"), kRtcInvalidProgram);
  EXPECT_EQ(hiprtcAddNameExpression(program_, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcCompileProgram(nullptr, 0, nullptr), kRtcInvalidProgram);
  EXPECT_EQ(hiprtcCompileProgram(program_, 1, nullptr), kRtcInvalidInput);
  EXPECT_EQ(compile({nullptr}), kRtcInvalidOption);
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcGetCodeSize(program_, &bytes), kRtcInvalidProgram);
  EXPECT_EQ(hiprtcGetCodeSize(program_, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcDestroyProgram(nullptr), kRtcInvalidInput);
  ASSERT_EQ(hiprtcCreateProgram(&made, text, nullptr, 0, nullptr, nullptr), 0);
  hiprtcProgram copy = made;
  EXPECT_EQ(hiprtcDestroyProgram(&made), 0);
  EXPECT_EQ(hiprtcDestroyProgram(&copy), kRtcInvalidProgram);
  int major = 0, minor = 0;
  EXPECT_EQ(hiprtcVersion(&major, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcVersion(&major, &minor), 0);
  EXPECT_GT(major, 0);
  EXPECT_STREQ(hiprtcGetErrorString(kRtcCompilation), "HIPRTC_ERROR_COMPILATION");
  // A header cannot be put where it likes.
  const char* outside = "../../outside.h";
  ASSERT_EQ(hiprtcCreateProgram(&made, text, nullptr, 1, &text, &outside), 0);
  const char* option = "-nogpuinc";
  EXPECT_EQ(hiprtcCompileProgram(made, 1, &option), kRtcCompilation);
  EXPECT_EQ(hiprtcDestroyProgram(&made), 0);
}

}  // namespace
}  // namespace ww::sim::icd
