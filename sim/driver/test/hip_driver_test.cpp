// Tests the calls of programs of the driver API: contexts, attributes of pointers, copies of boxes,
// libraries, launches with attributes, and entry points by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hip_world.hpp"

namespace {

struct BoxSide {
  std::size_t x_bytes{}, y{}, z{}, level{};
  int memory_type{};
  const void* host{};
  void* device{};
  void* array{};
  std::size_t pitch{}, height{};
};
struct Box {
  BoxSide from, to;
  std::size_t width_bytes{}, height{}, depth{};
};
struct Attribute {
  int name{};
  int padding{};
  int value[16]{};
};
struct FunctionConfiguration {
  dim3 blocks, threads;
  unsigned dynamic_lds{};
  hipStream_t stream{};
  const Attribute* attributes{};
  unsigned count{};
};
struct Access {
  int type{}, device{}, access{};
};

}  // namespace

extern "C" {
int hipCtxCreate(void**, unsigned, int);
int hipCtxDestroy(void*);
int hipCtxGetCurrent(void**);
int hipCtxSetCurrent(void*);
int hipCtxPushCurrent(void*);
int hipCtxPopCurrent(void**);
int hipCtxGetDevice(int*);
int hipCtxSynchronize();
int hipDevicePrimaryCtxRetain(void**, int);
int hipDevicePrimaryCtxGetState(int, unsigned*, int*);
int hipDevicePrimaryCtxSetFlags(int, unsigned);
int hipDrvGetErrorName(int, const char**);
int hipExtStreamCreateWithCUMask(hipStream_t*, std::uint32_t, const std::uint32_t*);
int hipExtStreamGetCUMask(hipStream_t, std::uint32_t, std::uint32_t*);
int hipDrvLaunchKernelEx(const FunctionConfiguration*, const void*, void**, void**);
int hipDrvMemcpy3D(const Box*);
int hipDrvPointerGetAttributes(unsigned, const int*, void**, const void*);
int hipExtHostAlloc(void**, std::size_t, unsigned);
int hipGetProcAddress(const char*, void**, int, std::uint64_t, int*);
int hipGetStreamDeviceId(hipStream_t);
int hipKernelGetFunction(void**, void*);
int hipKernelGetLibrary(void**, void*);
int hipKernelGetName(const char**, void*);
int hipLibraryEnumerateKernels(void**, unsigned, void*);
int hipLibraryGetKernel(void**, void*, const char*);
int hipLibraryGetKernelCount(unsigned*, void*);
int hipLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**,
                       unsigned);
int hipLibraryUnload(void*);
int hipMemPoolGetAccess(int*, hipMemPool_t, const Access*);
int hipMemPoolSetAccess(hipMemPool_t, const Access*, std::size_t);
int hipModuleGetFunctionCount(unsigned*, hipModule_t);
int hipPointerGetAttribute(void*, int, const void*);
int hipPointerSetAttribute(const void*, int, const void*);
}

namespace ww::sim::driver {
namespace {

constexpr int kHostMemory = 1;  // hipMemoryType of HIP 6
constexpr int kDeviceMemory = 2;

TEST_F(Hip, HasOneContextForADevice) {
  void* made = nullptr;
  void* found = nullptr;
  EXPECT_EQ(hipCtxPopCurrent(&found), kInvalidContext);
  ASSERT_EQ(hipCtxCreate(&made, 0, 0), 0);
  ASSERT_EQ(hipCtxGetCurrent(&found), 0);
  EXPECT_EQ(found, made);
  ASSERT_EQ(hipDevicePrimaryCtxRetain(&found, 0), 0);
  EXPECT_EQ(found, made);
  ASSERT_EQ(hipCtxPushCurrent(made), 0);
  ASSERT_EQ(hipCtxPopCurrent(&found), 0);
  EXPECT_EQ(found, made);
  int device = -1;
  ASSERT_EQ(hipCtxGetDevice(&device), 0);
  EXPECT_EQ(device, 0);
  // The stack of pushed contexts is the thread's.
  std::thread([] { EXPECT_EQ(hipCtxPopCurrent(nullptr), kInvalidContext); }).join();
  EXPECT_EQ(hipCtxSetCurrent(made), 0);
  EXPECT_EQ(hipCtxDestroy(made), 0);
  EXPECT_EQ(hipCtxPopCurrent(nullptr), kInvalidContext);
}

TEST_F(Hip, RefusesContextsThatAreNone) {
  void* made = nullptr;
  int nothing = 0;
  EXPECT_EQ(hipCtxCreate(nullptr, 0, 0), kInvalidValue);
  EXPECT_EQ(hipCtxCreate(&made, 0, 1), kInvalidValue);
  EXPECT_EQ(hipCtxGetCurrent(nullptr), kInvalidValue);
  EXPECT_EQ(hipCtxSetCurrent(&nothing), kInvalidContext);
  EXPECT_EQ(hipCtxPushCurrent(&nothing), kInvalidContext);
  EXPECT_EQ(hipCtxPushCurrent(nullptr), kInvalidContext);
  EXPECT_EQ(hipCtxDestroy(&nothing), kInvalidValue);
  EXPECT_EQ(hipDevicePrimaryCtxRetain(&made, -1), kInvalidDevice);
  EXPECT_EQ(hipDevicePrimaryCtxRetain(nullptr, 0), kInvalidValue);
  EXPECT_EQ(hipDevicePrimaryCtxGetState(1, nullptr, nullptr), kInvalidDevice);
  EXPECT_EQ(hipDevicePrimaryCtxSetFlags(0, 1), 216);  // in use already, as with AMD's library
  EXPECT_EQ(hipCtxSynchronize(), kNotSupported);      // neither does AMD's have it
}

TEST_F(Hip, KnowsWhatAPointerIs) {
  auto* memory = allocate<std::byte>(4096);
  auto* other = allocate<std::byte>(4096);
  const void* inside = memory + 100;
  std::uint32_t number = 0;
  EXPECT_EQ(hipPointerGetAttribute(&number, 2, inside), 0);
  EXPECT_EQ(number, kDeviceMemory);
  void* place = nullptr;
  EXPECT_EQ(hipPointerGetAttribute(&place, 3, inside), 0);
  EXPECT_EQ(place, inside);
  EXPECT_EQ(hipPointerGetAttribute(&place, 4, inside), kInvalidValue);  // not the host's
  EXPECT_EQ(place, nullptr);
  std::uint32_t first = 0, second = 0;
  EXPECT_EQ(hipPointerGetAttribute(&first, 7, inside), 0);
  EXPECT_EQ(hipPointerGetAttribute(&second, 7, other), 0);
  EXPECT_NE(first, second);
  int device = -1;
  std::uint32_t bytes = 0;
  bool mapped = false;
  const int names[] = {11, 12, 9, 13};
  void* values[] = {&place, &bytes, &device, &mapped};
  EXPECT_EQ(hipDrvPointerGetAttributes(4, names, values, inside), 0);
  EXPECT_EQ(place, memory);
  EXPECT_EQ(bytes, 4096);
  EXPECT_EQ(device, 0);
  EXPECT_TRUE(mapped);
  EXPECT_EQ(hipPointerGetAttribute(&device, 9, &number), kInvalidValue);  // of the host alone
  EXPECT_EQ(device, -2);
  EXPECT_EQ(hipPointerGetAttribute(&place, 1, inside), kNotSupported);  // a context
  EXPECT_EQ(hipPointerGetAttribute(&place, 18, inside), kInvalidValue);
  EXPECT_EQ(hipPointerGetAttribute(nullptr, 2, inside), kInvalidValue);
  EXPECT_EQ(hipDrvPointerGetAttributes(0, names, values, inside), kInvalidValue);
  const unsigned yes = 1, neither = 2;
  EXPECT_EQ(hipPointerSetAttribute(&yes, 6, inside), 0);
  EXPECT_EQ(hipPointerSetAttribute(&neither, 6, inside), kInvalidValue);
  EXPECT_EQ(hipPointerSetAttribute(&yes, 7, inside), kInvalidValue);
  EXPECT_EQ(hipPointerSetAttribute(&yes, 6, &number), 17);  // no device's pointer
  EXPECT_EQ(hipFree(memory), 0);
  EXPECT_EQ(hipFree(other), 0);
}

#ifndef WW_WITHOUT_HIP_MORE
// A box of 8 bytes, 2 rows and 2 slices out of rows of 16 bytes, 4 to a slice.
TEST_F(Hip, CopiesBoxesByTheKindOfTheirMemory) {
  std::array<std::uint8_t, 16 * 4 * 3> source{};
  std::iota(source.begin(), source.end(), std::uint8_t{});
  auto* device = allocate<std::uint8_t>(64);
  std::array<std::uint8_t, 32> back{};
  Box box;
  box.from = {4, 1, 1, 0, kHostMemory, source.data(), nullptr, nullptr, 16, 4};
  box.to = {0, 0, 0, 0, kDeviceMemory, nullptr, device, nullptr, 8, 2};
  box.width_bytes = 8;
  box.height = box.depth = 2;
  ASSERT_EQ(hipDrvMemcpy3D(&box), 0);
  ASSERT_EQ(hipMemcpy(back.data(), device, back.size(), hipMemcpyDeviceToHost), 0);
  for (std::size_t i = 0; i < back.size(); ++i) {
    const std::size_t x = i % 8, y = i / 8 % 2, z = i / 16;
    EXPECT_EQ(back[i], source[(z + 1) * 64 + (y + 1) * 16 + x + 4]) << i;
  }
  const auto with = [&](auto change) {
    Box wrong = box;
    change(wrong);
    return hipDrvMemcpy3D(&wrong);
  };
  EXPECT_EQ(with([](Box& b) { b.depth = 0; }), 0);  // nothing to copy
  EXPECT_EQ(with([](Box& b) { b.from.pitch = 11; }), kInvalidValue);
  EXPECT_EQ(with([](Box& b) { b.to.height = 1; }), kInvalidValue);
  EXPECT_EQ(with([](Box& b) { b.to.memory_type = 77; }), kInvalidValue);
  EXPECT_EQ(with([](Box& b) { b.to.memory_type = 10; }), kInvalidValue);  // an array that is none
  EXPECT_EQ(with([](Box& b) { b.from.host = nullptr; }), kInvalidValue);
  EXPECT_EQ(with([](Box& b) { b.from.y = SIZE_MAX; }), kInvalidValue);
  EXPECT_EQ(hipDrvMemcpy3D(nullptr), kInvalidValue);
  EXPECT_EQ(hipFree(device), 0);
}
#endif

TEST_F(Hip, FindsKernelsInLibraries) {
  void* library = nullptr;
  ASSERT_EQ(
      hipLibraryLoadData(&library, code_object().data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      0);
  unsigned count = 0, of_module = 0;
  ASSERT_EQ(hipLibraryGetKernelCount(&count, library), 0);
  ASSERT_EQ(hipModuleGetFunctionCount(&of_module, module_), 0);
  EXPECT_EQ(count, of_module);
  std::vector<void*> kernels(count);
  ASSERT_EQ(hipLibraryEnumerateKernels(kernels.data(), count, library), 0);
  void* kernel = nullptr;
  ASSERT_EQ(hipLibraryGetKernel(&kernel, library, "increment"), 0);
  EXPECT_THAT(kernels, ::testing::Contains(kernel));
  const char* name = nullptr;
  ASSERT_EQ(hipKernelGetName(&name, kernel), 0);
  EXPECT_STREQ(name, "increment");
  void* found = nullptr;
  ASSERT_EQ(hipKernelGetLibrary(&found, kernel), 0);
  EXPECT_EQ(found, library);
  ASSERT_EQ(hipKernelGetFunction(&found, kernel), 0);
  auto* p = allocate<int>(64);
  ASSERT_EQ(hipMemset(p, 0, 256), 0);
  void* arguments[] = {&p};
  EXPECT_EQ(hipModuleLaunchKernel(static_cast<hipFunction_t>(found), 1, 1, 1, 64, 1, 1, 0, nullptr,
                                  arguments, nullptr),
            0);
  int last = 0;
  ASSERT_EQ(hipMemcpy(&last, p + 63, sizeof last, hipMemcpyDeviceToHost), 0);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(hipLibraryGetKernel(&kernel, library, "nothing"), kNotFound);
  EXPECT_EQ(
      hipLibraryLoadData(&library, code_object().data(), nullptr, nullptr, 1, nullptr, nullptr, 0),
      kInvalidValue);  // options of a compiler
  EXPECT_EQ(hipLibraryUnload(library), 0);
  EXPECT_EQ(hipLibraryUnload(library), kNotFound);
  EXPECT_EQ(hipKernelGetName(&name, found), kInvalidHandle);
  EXPECT_EQ(hipFree(p), 0);
}

TEST_F(Hip, LaunchesWithAttributes) {
  auto* p = allocate<int>(64);
  ASSERT_EQ(hipMemset(p, 0, 256), 0);
  void* arguments[] = {&p};
  Attribute cooperative{2, 0, {1}};
  FunctionConfiguration configuration{dim3(1), dim3(64), 0, nullptr, &cooperative, 1};
  EXPECT_EQ(hipDrvLaunchKernelEx(&configuration, function("big_lds"), arguments, nullptr), 0);
  configuration.blocks = dim3(209);  // one more than can be resident
  EXPECT_EQ(hipDrvLaunchKernelEx(&configuration, function("big_lds"), arguments, nullptr),
            kTooManyBlocks);
  cooperative.value[0] = 0;
  configuration.blocks = dim3(1);
  EXPECT_EQ(hipDrvLaunchKernelEx(&configuration, function("increment"), arguments, nullptr), 0);
  int first = 0;
  ASSERT_EQ(hipMemcpy(&first, p, sizeof first, hipMemcpyDeviceToHost), 0);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(hipDrvLaunchKernelEx(nullptr, function("increment"), arguments, nullptr),
            kInvalidValue);
  EXPECT_EQ(hipLaunchKernelExC(nullptr, p, arguments), kInvalidValue);
  const hipLaunchConfig_t of_stub{dim3(1), dim3(64), 0, nullptr, nullptr, 0};
  EXPECT_EQ(hipLaunchKernelExC(&of_stub, p, arguments), kInvalidFunction);  // no stub
  EXPECT_EQ(hipFree(p), 0);
}

// Uses masks on a chip with eight shader engines and 104 compute units.
TEST_F(Hip, KeepsAStreamsKernelsToItsComputeUnits) {
  constexpr std::uint32_t kFewUnits[] = {0x101, 0, 0, 0};
  constexpr std::uint32_t kNoUnits[] = {0, 0, 0, 0xFFFF'FF00};
  hipStream_t few = nullptr, all = nullptr;
  ASSERT_EQ(hipExtStreamCreateWithCUMask(&few, 4, kFewUnits), 0);
  ASSERT_EQ(hipExtStreamCreateWithCUMask(&all, 4, kNoUnits), 0);
  constexpr std::size_t kItems = 64 * 256;
  auto* p = allocate<std::uint32_t>(kItems);
  std::vector<std::uint32_t> ids(kItems);
  const auto places = [&] {
    std::set<std::pair<unsigned, unsigned>> found;
    EXPECT_EQ(hipMemcpy(ids.data(), p, kItems * 4, hipMemcpyDeviceToHost), 0);
    for (const std::uint32_t id : ids) found.emplace(id >> 13 & 7U, id >> 8 & 15U);
    return found;
  };
  const auto launch_on = [&](hipStream_t stream) {
    void* arguments[] = {&p};
    EXPECT_EQ(hipModuleLaunchKernel(function("where"), 256, 1, 1, 64, 1, 1, 0, stream, arguments,
                                    nullptr),
              0);
  };
  using Places = std::set<std::pair<unsigned, unsigned>>;
  launch_on(few);
  EXPECT_EQ(places(), (Places{{0, 0}, {0, 1}}));
  launch_on(nullptr);
  EXPECT_EQ(places().size(), 104U);
  launch_on(all);
  EXPECT_EQ(places().size(), 104U);
#ifndef WW_WITHOUT_HIP_MORE
  // Nodes of a graph are the work of the stream that it is launched on.
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(all, 0), 0);
  launch_on(all);
  ASSERT_EQ(hipStreamEndCapture(all, &graph), 0);
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), 0);
  EXPECT_EQ(hipGraphLaunch(executable, few), 0);
  EXPECT_EQ(places().size(), 2U);
  EXPECT_EQ(hipGraphExecDestroy(executable), 0);
  EXPECT_EQ(hipGraphDestroy(graph), 0);
#endif

  std::uint32_t mask[4] = {};
  EXPECT_EQ(hipExtStreamGetCUMask(few, 4, mask), 0);
  EXPECT_THAT(mask, testing::ElementsAre(0x101U, 0U, 0U, 0U));
  for (hipStream_t stream : {hipStream_t{}, all}) {
    EXPECT_EQ(hipExtStreamGetCUMask(stream, 4, mask), 0);
    EXPECT_THAT(mask, testing::ElementsAre(~0U, ~0U, ~0U, 0xFFU));
  }
  EXPECT_EQ(hipExtStreamGetCUMask(few, 3, mask), kInvalidValue);
  EXPECT_EQ(hipExtStreamGetCUMask(few, 4, nullptr), kInvalidValue);
  EXPECT_EQ(hipExtStreamCreateWithCUMask(nullptr, 4, kFewUnits), kInvalidHandle);
  EXPECT_EQ(hipExtStreamCreateWithCUMask(&few, 0, kFewUnits), kInvalidValue);
  EXPECT_EQ(hipExtStreamCreateWithCUMask(&few, 4, nullptr), kInvalidValue);
  EXPECT_EQ(hipStreamDestroy(few), 0);
  EXPECT_EQ(hipExtStreamGetCUMask(few, 4, mask), kContextIsDestroyed);
  EXPECT_EQ(hipStreamDestroy(all), 0);
  EXPECT_EQ(hipFree(p), 0);
}

// A stub that is known is in the HIP programs (hip_programs.hip).
TEST_F(Hip, ChecksLaunchesOneArgumentAtATime) {
  int value = 0;
  EXPECT_EQ(hipLaunchByPtr(&value), 52);  // nothing was configured
  EXPECT_EQ(hipSetupArgument(nullptr, 4, 0), kInvalidValue);
  EXPECT_EQ(hipSetupArgument(&value, 4, SIZE_MAX), kInvalidValue);
  ASSERT_EQ(hipConfigureCall(dim3(1), dim3(64), 0, nullptr), 0);
  EXPECT_EQ(hipSetupArgument(&value, 4, 0), 0);
  EXPECT_EQ(hipLaunchByPtr(&value), kInvalidFunction);
  EXPECT_EQ(hipLaunchByPtr(&value), 52);
}

TEST_F(Hip, FindsEntryPointsByName) {
  void* found = nullptr;
  int status = -1;
  ASSERT_EQ(hipGetProcAddress("hipMalloc", &found, 600, 0, &status), 0);
  EXPECT_EQ(found, reinterpret_cast<void*>(&hipMalloc));
  EXPECT_EQ(status, 0);
  ASSERT_EQ(hipGetProcAddress("hipGetDeviceProperties", &found, 600, 0, nullptr), 0);
  EXPECT_EQ(found, reinterpret_cast<void*>(&hipGetDevicePropertiesR0600));
  ASSERT_EQ(hipGetProcAddress("hipGetDeviceProperties", &found, 502, 0, nullptr), 0);
  EXPECT_EQ(found, reinterpret_cast<void*>(&hipGetDeviceProperties));
  for (const char* name : {"hipNothing", "malloc", ""}) {
    EXPECT_EQ(hipGetProcAddress(name, &found, 600, 0, &status), kInvalidValue) << name;
  }
  EXPECT_EQ(hipGetProcAddress("hipNothing", &found, 600, 0, &status), kInvalidValue);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(hipGetProcAddress(nullptr, &found, 600, 0, nullptr), kInvalidValue);
}

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(Hip, KeepsTheAccessThatAPoolWasGiven) {
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&pool, 0), 0);
  int access = -1;
  const Access here{1, 0, 1};
  EXPECT_EQ(hipMemPoolGetAccess(&access, pool, &here), 0);
  EXPECT_EQ(access, 3);  // its own device reads and writes
  EXPECT_EQ(hipMemPoolSetAccess(pool, &here, 1), 0);
  EXPECT_EQ(hipMemPoolGetAccess(&access, pool, &here), 0);
  EXPECT_EQ(access, 1);
  const Access elsewhere{1, 1, 3}, of_host{2, 0, 3}, strange{1, 0, 4};
  EXPECT_EQ(hipMemPoolSetAccess(pool, &elsewhere, 1), kInvalidDevice);
  EXPECT_EQ(hipMemPoolSetAccess(pool, &of_host, 1), kInvalidValue);
  EXPECT_EQ(hipMemPoolSetAccess(pool, &strange, 1), kInvalidValue);
  EXPECT_EQ(hipMemPoolGetAccess(&access, nullptr, &here), kInvalidValue);
  const Access all{1, 0, 3};
  EXPECT_EQ(hipMemPoolSetAccess(pool, &all, 1), 0);
}
#endif

TEST_F(Hip, AnswersSmallQuestionsOfTheDriverApi) {
  const char* name = nullptr;
  EXPECT_EQ(hipDrvGetErrorName(709, &name), 0);
  EXPECT_STREQ(name, "hipErrorContextIsDestroyed");
  EXPECT_EQ(hipDrvGetErrorName(-1, &name), kInvalidValue);  // where hipGetErrorName has a text
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  EXPECT_EQ(hipGetStreamDeviceId(stream), 0);
  ASSERT_EQ(hipStreamDestroy(stream), 0);
  EXPECT_EQ(hipGetStreamDeviceId(stream), -1);
}

TEST_F(Hip, AllocatesPinnedMemoryByTheExtendedCall) {
  int managed = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&managed, 24, 0), 0);
  if (managed == 0) GTEST_SKIP() << "a sanitizer may use the addresses of pinned memory";
  void* host = nullptr;
  ASSERT_EQ(hipExtHostAlloc(&host, 64, 0), 0);
  EXPECT_EQ(hipHostFree(host), 0);
}

}  // namespace
}  // namespace ww::sim::driver
