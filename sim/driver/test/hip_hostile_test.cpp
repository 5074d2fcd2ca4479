// Tests HIP's answers to mistakes: wrong shapes and sizes, freed memory, handles that are gone,
// threads and processes that meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "hip_world.hpp"

namespace ww::sim::driver {
namespace {

TEST_F(Hip, RefusesLaunchesOfWrongShape) {
  auto* p = allocate<int>(64);
  EXPECT_EQ(launch("increment", 0, 64, p), kInvalidValue);
  EXPECT_EQ(launch("increment", 1, 0, p), kInvalidValue);
  EXPECT_EQ(launch("increment", 1, 1025, p), kInvalidConfiguration);
  EXPECT_EQ(launch("increment", 1U << 31, 1024, p), kInvalidConfiguration);
  void* arguments[] = {&p};
  EXPECT_EQ(hipModuleLaunchKernel(function("increment"), 1, 1, 1, 64, 1, 1, 65537, nullptr,
                                  arguments, nullptr),
            kInvalidValue);
  EXPECT_EQ(hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr),
            kInvalidHandle);
  EXPECT_EQ(
      hipModuleLaunchKernel(function("increment"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
      kInvalidValue);
  hipFunction_t none = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&none, module_, "nothing"), kNotFound);
}

TEST_F(Hip, RefusesFreedMemoryAndWrongSizes) {
  auto* p = allocate<int>(64);
  int out[65] = {};
  EXPECT_EQ(hipMemcpy(out, p, 65 * 4, hipMemcpyDeviceToHost), kInvalidValue);
  EXPECT_EQ(hipMemset(p, 0, 257), kInvalidValue);
  EXPECT_EQ(hipMemcpy(p, out, 4, 7), kInvalidDirection);
  EXPECT_EQ(hipMemcpy(out, out, 4, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(hipMemcpy(p, nullptr, 4, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(hipFree(p + 1), kInvalidValue);
  EXPECT_EQ(hipHostFree(p), kInvalidValue);
  EXPECT_EQ(hipFree(p), 0);
  EXPECT_EQ(hipFree(p), kInvalidValue);
  EXPECT_EQ(hipFree(out), kInvalidValue);
  EXPECT_EQ(hipFree(nullptr), 0);
  EXPECT_EQ(hipMemcpy(out, p, 4, hipMemcpyDeviceToHost), kInvalidValue);
  EXPECT_EQ(hipMemset(p, 0, 4), kInvalidValue);
  void* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, std::size_t{1} << 60), 2);
  EXPECT_EQ(hipMalloc(nullptr, 4), kInvalidValue);
  EXPECT_EQ(hipGetLastError(), kInvalidValue);
}

TEST_F(Hip, ReportsAFaultWhenItWaitsUntilTheDeviceIsReset) {
  int* nowhere = reinterpret_cast<int*>(0x1234'5678'9000);
  EXPECT_EQ(launch("increment", 1, 64, nowhere), 0);
  EXPECT_EQ(hipDeviceSynchronize(), 700);
  EXPECT_EQ(hipStreamSynchronize(nullptr), 700);
  void* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, 4), 700);
  std::thread([] { EXPECT_EQ(hipGetLastError(), 700); }).join();
  EXPECT_EQ(hipDeviceReset(), 0);
  EXPECT_EQ(hipDeviceSynchronize(), 0);
  EXPECT_EQ(launch("increment", 1, 64, allocate<int>(64)), 0);
}

// Whatever a program calls to get the kernel's results fails.
TEST_F(Hip, GivesNoResultsOfAKernelThatWasStopped) {
  const struct {
    const char* kernel;
    int code;
  } kernels[] = {{"unknown_instruction", kNotSupported}, {"trap", 719}, {"store_nowhere", 700}};
  for (const auto& [kernel, code] : kernels) {
    SCOPED_TRACE(kernel);
    auto* p = allocate<int>(64);
    int seen[64] = {};
    hipStream_t stream = nullptr;
    hipEvent_t event = nullptr;
    ASSERT_EQ(hipStreamCreate(&stream), 0);
    ASSERT_EQ(hipEventCreate(&event), 0);
    ASSERT_EQ(hipEventRecord(event, nullptr), 0);
    EXPECT_EQ(launch(kernel, 1, 64, p), 0);
    EXPECT_EQ(hipDeviceSynchronize(), code);
    EXPECT_EQ(hipStreamSynchronize(nullptr), code);
    EXPECT_EQ(hipStreamSynchronize(stream), code);
    EXPECT_EQ(hipStreamQuery(nullptr), code);
    EXPECT_EQ(hipEventSynchronize(event), code);
    EXPECT_EQ(hipEventQuery(event), code);
    EXPECT_EQ(hipEventRecord(event, nullptr), code);
    EXPECT_EQ(hipMemcpy(seen, p, sizeof seen, hipMemcpyDeviceToHost), code);
    EXPECT_EQ(hipMemcpyAsync(seen, p, sizeof seen, hipMemcpyDeviceToHost, stream), code);
    EXPECT_EQ(hipMemset(p, 0, sizeof seen), code);
    EXPECT_EQ(launch("increment", 1, 64, p), code);
    EXPECT_EQ(hipPeekAtLastError(), code);
    EXPECT_EQ(hipGetLastError(), code);
    EXPECT_EQ(hipGetLastError(), code);
    EXPECT_EQ(hipDeviceReset(), 0);
    EXPECT_EQ(hipDeviceSynchronize(), 0);
    EXPECT_EQ(hipGetLastError(), 0);
  }
}

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(Hip, StopsAGraphAtAKernelThatIsStopped) {
  auto* p = allocate<int>(64);
  ASSERT_EQ(hipMemset(p, 0, 256), 0);
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ASSERT_EQ(hipStreamBeginCapture(stream, 0), 0);
  void* arguments[] = {&p};
  for (const char* kernel : {"unknown_instruction", "increment"}) {
    ASSERT_EQ(
        hipModuleLaunchKernel(function(kernel), 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr),
        0);
  }
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), 0);
  EXPECT_EQ(hipGraphLaunch(executable, stream), kNotSupported);
  EXPECT_EQ(hipStreamSynchronize(stream), kNotSupported);
  EXPECT_EQ(hipDeviceReset(), 0);
}
#endif

TEST_F(Hip, ReportsAKernelThatUsesFreedMemory) {
  auto* p = allocate<int>(1 << 20);
  EXPECT_EQ(hipFree(p), 0);
  // The memory is still there, as on a card; the finding says what the kernel did.
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch("increment", 1, 64, p), 0);
  EXPECT_EQ(hipDeviceSynchronize(), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("use-after-free"));
}

TEST_F(Hip, RefusesHandlesThatWereDestroyed) {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ASSERT_EQ(hipEventCreate(&event), 0);
  EXPECT_EQ(hipStreamDestroy(stream), 0);
  EXPECT_EQ(hipStreamDestroy(stream), kContextIsDestroyed);
  EXPECT_EQ(hipStreamDestroy(nullptr), kInvalidHandle);
  EXPECT_EQ(hipStreamSynchronize(stream), kContextIsDestroyed);
  EXPECT_EQ(hipEventRecord(event, stream), kContextIsDestroyed);
  EXPECT_EQ(hipEventDestroy(event), 0);
  EXPECT_EQ(hipEventDestroy(event), kContextIsDestroyed);
  EXPECT_EQ(hipEventRecord(event, nullptr), kInvalidHandle);
  int managed = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&managed, 24, 0), 0);
  if (managed != 0) {  // a sanitizer may use the addresses of pinned memory
    void* host = nullptr;
    ASSERT_EQ(hipHostMalloc(&host, 64, 0), 0);
    EXPECT_EQ(hipHostFree(host), 0);
    EXPECT_EQ(hipHostFree(host), kInvalidValue);
  }
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, code_object().data()), 0);
  hipFunction_t kernel = nullptr;
  ASSERT_EQ(hipModuleGetFunction(&kernel, module, "increment"), 0);
  EXPECT_EQ(hipModuleUnload(module), 0);
  EXPECT_EQ(hipModuleUnload(module), kNotFound);
  auto* p = allocate<int>(64);
  void* arguments[] = {&p};
  EXPECT_EQ(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr),
            kInvalidHandle);
  EXPECT_EQ(hipLaunchKernel(nullptr, dim3(1), dim3(64), arguments, 0, nullptr), kInvalidFunction);
}

TEST_F(Hip, NeverTakesAnOldFunctionForANewOne) {
  std::vector<hipFunction_t> old;
  for (int i = 0; i < 20; ++i) {
    hipModule_t module = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, code_object().data()), 0);
    hipFunction_t kernel = nullptr;
    ASSERT_EQ(hipModuleGetFunction(&kernel, module, i % 2 == 0 ? "increment" : "big_lds"), 0);
    EXPECT_THAT(old, ::testing::Not(::testing::Contains(kernel)));
    old.push_back(kernel);
    ASSERT_EQ(hipModuleUnload(module), 0);
  }
}

TEST_F(Hip, LetsThreadsMakeMistakesAtOnce) {
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      void* memory = nullptr;
      hipStream_t stream = nullptr;
      EXPECT_EQ(hipMalloc(&memory, 256), 0);
      EXPECT_EQ(hipMemset(memory, 0, 257), kInvalidValue);
      EXPECT_EQ(hipGetLastError(), kInvalidValue);
      EXPECT_EQ(hipFree(memory), 0);
      EXPECT_EQ(hipStreamCreate(&stream), 0);
      EXPECT_EQ(hipStreamDestroy(stream), 0);
      EXPECT_EQ(hipStreamSynchronize(stream), kContextIsDestroyed);
      EXPECT_EQ(hipGetLastError(), kContextIsDestroyed);
    }
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}

TEST_F(Hip, FreesMemoryOnceWhicheverThreadComesFirst) {
  constexpr int kBlocks = 200;
  std::vector<void*> memory(kBlocks);
  for (void*& block : memory) ASSERT_EQ(hipMalloc(&block, 256), 0);
  std::atomic<int> freed{0}, refused{0};
  const auto free_all = [&] {
    for (void* block : memory) {
      const int code = hipFree(block);
      EXPECT_TRUE(code == 0 || code == kInvalidValue) << code;
      ++(code == 0 ? freed : refused);
    }
  };
  std::thread first(free_all);
  std::thread second(free_all);
  first.join();
  second.join();
  EXPECT_EQ(freed, kBlocks);
  EXPECT_EQ(refused, kBlocks);
  for (void* block : memory) EXPECT_EQ(hipMemset(block, 0, 4), kInvalidValue);
}

TEST_F(Hip, KeepsAnErrorInTheThreadThatMadeIt) {
  EXPECT_EQ(hipSetDevice(1), kInvalidDevice);
  std::thread([] { EXPECT_EQ(hipPeekAtLastError(), 0); }).join();
  EXPECT_EQ(hipPeekAtLastError(), kInvalidDevice);
  EXPECT_EQ(hipGetLastError(), kInvalidDevice);
  EXPECT_EQ(hipGetLastError(), 0);
  EXPECT_STREQ(hipGetErrorName(kInvalidDevice), "hipErrorInvalidDevice");
  EXPECT_STREQ(hipGetErrorString(kInvalidDevice), "invalid device ordinal");
  EXPECT_STREQ(hipGetErrorName(4711), "hipErrorUnknown");
}

TEST_F(Hip, ServesTwoThreadsAtOnce) {
  const auto work = [&] {
    auto* p = allocate<int>(256);
    EXPECT_EQ(hipMemset(p, 0, 1024), 0);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(launch("increment", 4, 64, p), 0);
    int out[256];
    EXPECT_EQ(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
    EXPECT_THAT(out, ::testing::Each(50));
    EXPECT_EQ(hipFree(p), 0);
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}

TEST_F(Hip, TellsAForkedChildThatTheDeviceStayedBehind) {
  const pid_t child = fork();
  if (child == 0) {
    void* memory = nullptr;
    _exit(hipMalloc(&memory, 4) == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(allocate<int>(1), nullptr);
}

TEST_F(Hip, LetsAProcessForkWhileAnotherThreadLaunches) {
  constexpr unsigned kItems = 1 << 18;
  auto* p = allocate<int>(kItems);
  std::atomic<bool> ended{false};
  std::thread launching([&] {
    while (!ended) EXPECT_EQ(launch("increment", kItems / 256, 256, p), 0);
  });
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // its signal ends a child that waits
      void* memory = nullptr;
      _exit(hipMalloc(&memory, 4) == 3 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ended = true;
  launching.join();
}

}  // namespace
}  // namespace ww::sim::driver
