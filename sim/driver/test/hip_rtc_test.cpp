// hiprtc: programs that compile HIP while they run. The sources need no headers of HIP's, which are
// not everywhere (-nogpuinc); without clang-19 there is nothing to test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hip_world.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name in HIP's header
using hiprtcProgram = struct _hiprtcProgram*;
// NOLINTNEXTLINE(bugprone-reserved-identifier): likewise
using hiprtcLinkState = struct ihiprtcLinkState*;
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
int hiprtcGetBitcodeSize(hiprtcProgram, std::size_t*);
int hiprtcGetBitcode(hiprtcProgram, char*);
int hiprtcLinkCreate(unsigned, int*, void**, hiprtcLinkState*);
int hiprtcLinkAddFile(hiprtcLinkState, int, const char*, unsigned, int*, void**);
int hiprtcLinkAddData(hiprtcLinkState, int, void*, std::size_t, const char*, unsigned, int*,
                      void**);
int hiprtcLinkComplete(hiprtcLinkState, void**, std::size_t*);
int hiprtcLinkDestroy(hiprtcLinkState);
}

namespace ww::sim::driver {
namespace {

constexpr int kRtcNotCreated = 2;
constexpr int kRtcInvalidInput = 3;
constexpr int kRtcInvalidProgram = 4;
constexpr int kRtcInvalidOption = 5;
constexpr int kRtcCompilation = 6;
constexpr int kRtcTooLate = 8;
constexpr int kRtcTooEarly = 9;
constexpr int kRtcNoSuchName = 10;
constexpr int kRtcLinking = 100;
constexpr int kFatBinary = 2;
constexpr int kBitcode = 100;
constexpr int kBundledBitcode = 101;
constexpr int kBundledArchive = 102;

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
  static std::string log_of(hiprtcProgram program) {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetProgramLogSize(program, &bytes), 0);
    std::string text(bytes, '#');
    EXPECT_EQ(hiprtcGetProgramLog(program, text.data()), 0);
    return text;
  }
  static bool lacks_compiler(const std::string& log) {
    return log.find("is not there; install") != std::string::npos;
  }
  std::string log() { return log_of(program_); }
  bool lacks_compiler() { return lacks_compiler(log()); }
  std::string code() {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetCodeSize(program_, &bytes), 0);
    std::string code(bytes, '\0');
    EXPECT_EQ(hiprtcGetCode(program_, code.data()), 0);
    return code;
  }
  // Returns the bitcode of a source that is linked later; empty where there is no compiler.
  static std::string bitcode(const char* source, const char* expression = nullptr,
                             std::string* lowered = nullptr) {
    hiprtcProgram made = nullptr;
    EXPECT_EQ(hiprtcCreateProgram(&made, source, nullptr, 0, nullptr, nullptr), 0);
    if (expression != nullptr) {
      EXPECT_EQ(hiprtcAddNameExpression(made, expression), 0);
    }
    const char* options[] = {"-nogpuinc", "-fgpu-rdc"};
    std::string code;
    const int result = hiprtcCompileProgram(made, 2, options);
    const std::string said = log_of(made);
    EXPECT_TRUE(result == 0 || lacks_compiler(said)) << said;
    if (result == 0) {
      std::size_t bytes = 0;
      EXPECT_EQ(hiprtcGetCodeSize(made, &bytes), kRtcInvalidProgram);
      EXPECT_EQ(hiprtcGetBitcodeSize(made, &bytes), 0);
      code.resize(bytes);
      EXPECT_EQ(hiprtcGetBitcode(made, code.data()), 0);
      const char* name = nullptr;
      if (lowered != nullptr && hiprtcGetLoweredName(made, expression, &name) == 0) *lowered = name;
    }
    EXPECT_EQ(hiprtcDestroyProgram(&made), 0);
    return code;
  }
  hiprtcProgram program_{};
};

class RtcLinker {
 public:
  explicit RtcLinker(const std::vector<std::pair<int, void*>>& options = {}) {
    std::vector<int> names;
    std::vector<void*> values;
    for (const auto& [name, value] : options) {
      names.push_back(name);
      values.push_back(value);
    }
    EXPECT_EQ(
        hiprtcLinkCreate(static_cast<unsigned>(names.size()), names.data(), values.data(), &state),
        0);
  }
  ~RtcLinker() { EXPECT_EQ(hiprtcLinkDestroy(state), 0); }
  RtcLinker(const RtcLinker&) = delete;
  RtcLinker& operator=(const RtcLinker&) = delete;

  [[nodiscard]] int add(std::string& bitcode, int kind = kBitcode) const {
    return hiprtcLinkAddData(state, kind, bitcode.data(), bitcode.size(), nullptr, 0, nullptr,
                             nullptr);
  }
  [[nodiscard]] int add_file(const char* path, int kind = kBitcode) const {
    return hiprtcLinkAddFile(state, kind, path, 0, nullptr, nullptr);
  }
  int complete() { return hiprtcLinkComplete(state, &code, &bytes); }

  hiprtcLinkState state{};
  void* code{};
  std::size_t bytes{};
};

// A number as a link option has it: for tests of the linker, which a build may leave out.
[[maybe_unused]] void* number(std::size_t value) {
  return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr)
}

constexpr const char* kCaller = R"(
__attribute__((device)) int twice(int value);
template <int kMore> __attribute__((global)) void change(int* p) {
  const unsigned i = __builtin_amdgcn_workitem_id_x();
  p[i] = twice(p[i]) + kMore;
}
)";
constexpr const char* kCalled = R"(
__attribute__((device)) int twice(int value) { return 2 * value; }
extern "C" __attribute__((global)) void set(int* p) {
  p[__builtin_amdgcn_workitem_id_x()] = twice(21);
}
)";

// Runs the module's kernel on 0, 1, 2, 3.
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

// The compiler makes kernels for even blocks unless an option says otherwise.
TEST_F(HipRtc, RunsASmallerLastBlockOnlyWhereTheKernelAllowsIt) {
  for (const bool allowed : {false, true}) {
    std::vector<const char*> options{"-nogpuinc", "-DMORE=100"};
    if (allowed) options.push_back("-fno-offload-uniform-block");
    const int result = compile(options);
    if (lacks_compiler()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
    ASSERT_EQ(result, 0) << log();
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, code().data()), 0);
    ASSERT_EQ(hipModuleGetFunction(&function, module, "shift"), 0);
    auto* p = allocate<int>(64);
    void* arguments[] = {&p};
    const auto launch_items = [&](unsigned items) {
      return hipExtModuleLaunchKernel(function, items, 1, 1, 64, 1, 1, 0, nullptr, arguments,
                                      nullptr, nullptr, nullptr, 0);
    };
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(launch_items(100), allowed ? 0 : kInvalidValue);
    EXPECT_EQ(launch_items(128), 0);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(
        said.find("kernel 'shift' was compiled for blocks that are all alike") != std::string::npos,
        !allowed)
        << said;
    EXPECT_EQ(hipModuleUnload(module), 0);
    if (!allowed) {
      ASSERT_EQ(hiprtcDestroyProgram(&program_), 0);
      const char* header = "#define STEP 3\n";
      const char* name = "numbers/step.h";
      ASSERT_EQ(hiprtcCreateProgram(&program_, kHip, "program.cu", 1, &header, &name), 0);
    }
  }
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
  // Compiles for the architecture as programs take it from the device's properties.
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

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(HipRtc, LinksProgramsThatNeedEachOther) {
  std::string name;
  std::string caller = bitcode(kCaller, "change<5>", &name);
  if (caller.empty()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
  EXPECT_EQ(name, "_Z6changeILi5EEvPi");
  std::string called = bitcode(kCalled, "set");
  const char* words[] = {"-mllvm", "-inline-threshold=1"};
  RtcLinker linker({{10000, static_cast<void*>(words)}, {10001, number(2)}, {7, number(1)}});
  ASSERT_EQ(linker.add(caller), 0);
  const auto folder = ScratchFolder::create("hiprtc");
  const auto file = folder->path() / "called.bc";
  ASSERT_TRUE(write_file_atomically(file, called));
  ASSERT_EQ(linker.add_file(file.c_str()), 0);
  ASSERT_EQ(linker.complete(), 0);
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, linker.code), 0);
  EXPECT_THAT(run(module, name.c_str()), ::testing::ElementsAre(5, 7, 9, 11));
  EXPECT_THAT(run(module, "set"), ::testing::ElementsAre(42, 42, 42, 42));
  EXPECT_EQ(hipModuleUnload(module), 0);
}
#endif

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(HipRtc, SaysWhatALinkLacks) {
  std::string caller = bitcode(kCaller, "change<5>");
  if (caller.empty()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
  std::array<char, 400> log{};
  std::array<char, 8> short_log{'#', '#', '#', '#', '#', '#', '#', '#'};
  {
    RtcLinker linker({{5, log.data()}, {6, number(log.size())}});
    EXPECT_EQ(linker.complete(), kRtcLinking);
    ASSERT_EQ(linker.add(caller), 0);
    EXPECT_EQ(linker.complete(), kRtcLinking);
  }
  EXPECT_THAT(std::string(log.data()), ::testing::HasSubstr("twice(int)"));
  RtcLinker linker({{5, short_log.data()}, {6, number(4)}});
  std::string damaged = caller.substr(0, caller.size() / 2);
  ASSERT_EQ(linker.add(damaged), 0);
  EXPECT_EQ(linker.complete(), kRtcLinking);
  EXPECT_EQ(std::string(short_log.data()).size(), 3U);
  EXPECT_EQ(short_log[4], '#');
}
#endif

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(HipRtc, ChecksWhatIsLinked) {
  std::string bytes = "no bitcode";
  EXPECT_EQ(hiprtcLinkCreate(0, nullptr, nullptr, nullptr), kRtcInvalidInput);
  hiprtcLinkState state = nullptr;
  EXPECT_EQ(hiprtcLinkCreate(1, nullptr, nullptr, &state), kRtcInvalidInput);
  for (auto [name, value] :
       {std::pair{7, number(4)}, {-1, number(0)}, {25, number(0)}, {10001, number(1)}}) {
    EXPECT_EQ(hiprtcLinkCreate(1, &name, &value, &state), kRtcInvalidOption) << name;
  }
  RtcLinker linker({{0, number(32)}, {12, number(1)}});  // for CUDA alone
  EXPECT_EQ(linker.add(bytes, kFatBinary), kRtcInvalidInput);
  EXPECT_EQ(linker.add(bytes, 103), kRtcInvalidInput);
  EXPECT_EQ(linker.add(bytes, kBundledBitcode), kRtcNotCreated);
  EXPECT_EQ(linker.add(bytes, kBundledArchive), kRtcNotCreated);
  std::string nothing;
  EXPECT_EQ(linker.add(nothing), kRtcInvalidInput);
  EXPECT_EQ(linker.add_file("/no/such/file"), kRtcNotCreated);
  EXPECT_EQ(linker.add_file(nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcLinkComplete(linker.state, nullptr, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcLinkDestroy(nullptr), kRtcInvalidInput);
  std::size_t size = 0;
  char byte = 0;
  EXPECT_EQ(hiprtcGetBitcodeSize(program_, nullptr), kRtcInvalidInput);
  EXPECT_EQ(hiprtcGetBitcodeSize(program_, &size), kRtcInvalidProgram);
  EXPECT_EQ(hiprtcGetBitcode(program_, &byte), kRtcInvalidProgram);
}
#endif

#ifndef WW_WITHOUT_HIP_MORE
// As `hipcc -fgpu-rdc --gpu-bundle-output` makes it.
TEST_F(HipRtc, LinksBundledBitcode) {
  const std::string called = bitcode(kCalled);
  if (called.empty()) GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
  const std::string host = "host-x86_64-unknown-linux-gnu-";
  const std::string device = "hip-amdgcn-amd-amdhsa--gfx90a";
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
  const auto put = [&bundle](std::uint64_t value) {
    bundle.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::uint64_t begin =
      bundle.size() + 7 * sizeof(std::uint64_t) + host.size() + device.size();
  put(2);
  put(begin);
  put(0);
  put(host.size());
  bundle += host;
  put(begin);
  put(called.size());
  put(device.size());
  bundle += device + called;
  RtcLinker linker;
  ASSERT_EQ(linker.add(bundle, kBundledBitcode), 0);
  ASSERT_EQ(linker.complete(), 0);
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, linker.code), 0);
  EXPECT_THAT(run(module, "set"), ::testing::ElementsAre(42, 42, 42, 42));
  EXPECT_EQ(hipModuleUnload(module), 0);
}
#endif

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
}  // namespace ww::sim::driver
