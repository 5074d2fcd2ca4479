// HIP on a package of two devices: which is chosen, whose memory is whose, and what crosses between
// them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hip_world.hpp"
#include "ww/core/vgpu_abi.h"

extern "C" const ww_vgpu_abi* ww_vgpu_get_abi(std::uint32_t version);

namespace ww::sim::driver {
namespace {

constexpr int kAlreadyEnabled = 704;
constexpr int kNotEnabled = 705;
constexpr unsigned kFloats = 1 << 16;
constexpr double kBytes = 4.0 * kFloats;

// Bytes over the links in the last dispatch.
double over_links(const std::string& what) {
  const ww_vgpu_abi* abi = ww_vgpu_get_abi(WW_VGPU_ABI_VERSION);
  std::vector<double> values(abi->counter_count());
  EXPECT_EQ(abi->dispatch_counters(abi->dispatch_count() - 1, values.data(),
                                   static_cast<std::uint32_t>(values.size())),
            0);
  double bytes = 0;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const std::string name = abi->counter_name(i);
    if (name.starts_with("WW_XGMI_") && name.find(what) != std::string::npos) bytes += values[i];
  }
  return bytes;
}

class HipPeers : public Hip {
 protected:
  void TearDown() override {
    hipSetDevice(0);
    hipDeviceDisablePeerAccess(1);
    Hip::TearDown();
  }
  static float* allocate_on(int device) {
    EXPECT_EQ(hipSetDevice(device), 0);
    return allocate<float>(kFloats);
  }
};

TEST_F(HipPeers, ThereAreTwoDevicesAndEachThreadChoosesItsOwn) {
  int count = 0;
  ASSERT_EQ(hipGetDeviceCount(&count), 0);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(hipSetDevice(2), kInvalidDevice);
  ASSERT_EQ(hipSetDevice(1), 0);
  int chosen = -1;
  ASSERT_EQ(hipGetDevice(&chosen), 0);
  EXPECT_EQ(chosen, 1);
  int elsewhere = -1;
  std::thread([&] { EXPECT_EQ(hipGetDevice(&elsewhere), 0); }).join();
  EXPECT_EQ(elsewhere, 0);
  char first[16]{};
  char second[16]{};
  ASSERT_EQ(hipDeviceGetPCIBusId(first, sizeof first, 0), 0);
  ASSERT_EQ(hipDeviceGetPCIBusId(second, sizeof second, 1), 0);
  EXPECT_NE(std::string(first), second);
}

TEST_F(HipPeers, ADeviceIsKnownByItsBusAndItsUuid) {
  constexpr int kPciBusId = 67;
  std::string uuids[2];
  for (const int device : {0, 1}) {
    std::vector<char> properties(1472);
    ASSERT_EQ(hipGetDevicePropertiesR0600(properties.data(), device), 0);
    uuids[device].assign(&properties[256], 16);
    char uuid[16]{};
    ASSERT_EQ(hipDeviceGetUuid(uuid, device), 0);
    EXPECT_EQ(uuids[device], std::string(uuid, sizeof uuid));
    int bus = -1;
    ASSERT_EQ(hipDeviceGetAttribute(&bus, kPciBusId, device), 0);
    char address[16]{};
    ASSERT_EQ(hipDeviceGetPCIBusId(address, sizeof address, device), 0);
    EXPECT_EQ(std::stoi(std::string(address).substr(5, 2), nullptr, 16), bus);
    EXPECT_EQ(bus, device);
  }
  EXPECT_NE(uuids[0], uuids[1]);
}

TEST_F(HipPeers, EachDeviceHasMemoryOfItsOwn) {
  std::size_t free_before[2]{};
  std::size_t total = 0;
  for (const int device : {0, 1}) {
    ASSERT_EQ(hipSetDevice(device), 0);
    ASSERT_EQ(hipMemGetInfo(&free_before[device], &total), 0);
    EXPECT_EQ(total, std::size_t{64} << 30);
  }
  float* const memory = allocate_on(1);
  for (const int device : {0, 1}) {
    ASSERT_EQ(hipSetDevice(device), 0);
    std::size_t free_now = 0;
    ASSERT_EQ(hipMemGetInfo(&free_now, &total), 0);
    EXPECT_EQ(free_before[device] - free_now, device == 1 ? 4 * kFloats : 0U);
  }
  EXPECT_EQ(hipFree(memory), 0);
}

TEST_F(HipPeers, AccessIsEnabledAndDisabled) {
  int can = -1;
  ASSERT_EQ(hipDeviceCanAccessPeer(&can, 0, 1), 0);
  EXPECT_EQ(can, 1);
  ASSERT_EQ(hipDeviceCanAccessPeer(&can, 1, 1), 0);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(hipDeviceCanAccessPeer(&can, 0, 2), kInvalidDevice);
  EXPECT_EQ(hipDeviceEnablePeerAccess(0, 0), kInvalidDevice);  // itself
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 1), kInvalidValue);
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), 0);
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), kAlreadyEnabled);
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), 0);
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), kNotEnabled);
}

TEST_F(HipPeers, AKernelReadsAndWritesTheOtherDevicesMemoryOverTheLinks) {
  float* const near = allocate_on(0);
  float* const far = allocate_on(1);
  ASSERT_EQ(hipSetDevice(0), 0);
  ASSERT_EQ(hipDeviceEnablePeerAccess(1, 0), 0);
  ASSERT_EQ(launch("fill", kFloats / 256, 256, far, 2.0F), 0);
  EXPECT_EQ(over_links("WRITE"), kBytes);
  ASSERT_EQ(launch("copy", kFloats / 256, 256, far, near), 0);
  EXPECT_EQ(over_links("READ"), kBytes);
  std::vector<float> seen(kFloats);
  ASSERT_EQ(hipMemcpy(seen.data(), near, 4 * kFloats, hipMemcpyDeviceToHost), 0);
  for (const float value : seen) ASSERT_EQ(value, 2.0F);
  // A stream runs on the device on which it was made.
  ASSERT_EQ(hipSetDevice(1), 0);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ASSERT_EQ(hipSetDevice(0), 0);
  int of_stream = -1;
  ASSERT_EQ(hipStreamGetDevice(stream, &of_stream), 0);
  EXPECT_EQ(of_stream, 1);
  const float* from = far;
  float* to = far;
  void* arguments[] = {&from, &to, nullptr};
  ASSERT_EQ(hipModuleLaunchKernel(function("copy"), kFloats / 256, 1, 1, 256, 1, 1, 0, stream,
                                  arguments, nullptr),
            0);
  EXPECT_EQ(over_links("READ"), 0);
  EXPECT_EQ(hipStreamDestroy(stream), 0);
  EXPECT_EQ(hipFree(near), 0);
  EXPECT_EQ(hipFree(far), 0);
}

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(HipPeers, StreamOrderedMemoryIsTheStreamsOrThePools) {
  ASSERT_EQ(hipSetDevice(1), 0);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  hipMemPool_t pools[2]{};
  for (const int device : {0, 1}) ASSERT_EQ(hipDeviceGetDefaultMemPool(&pools[device], device), 0);
  EXPECT_NE(pools[0], pools[1]);
  ASSERT_EQ(hipSetDevice(0), 0);
  const auto used = [&](int device) {
    std::uint64_t bytes = 0;
    EXPECT_EQ(hipMemPoolGetAttribute(pools[device], 7, &bytes), 0);
    return bytes;
  };
  const std::uint64_t before[] = {used(0), used(1)};
  void* of_stream = nullptr;
  void* of_pool = nullptr;
  ASSERT_EQ(hipMallocAsync(&of_stream, 4096, stream), 0);
  EXPECT_EQ(used(1), before[1] + 4096);
  ASSERT_EQ(hipMallocFromPoolAsync(&of_pool, 8192, pools[1], nullptr), 0);
  EXPECT_EQ(used(1), before[1] + 12288);
  EXPECT_EQ(used(0), before[0]);
  EXPECT_EQ(hipFreeAsync(of_stream, stream), 0);
  EXPECT_EQ(hipFreeAsync(of_pool, nullptr), 0);
  EXPECT_EQ(hipStreamDestroy(stream), 0);
}
#endif

TEST_F(HipPeers, AResetLeavesTheOtherDeviceAsItIs) {
  float* const kept = allocate_on(0);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  float* const gone = allocate_on(1);
  ASSERT_EQ(hipDeviceReset(), 0);
  ASSERT_EQ(hipSetDevice(0), 0);
  EXPECT_EQ(hipStreamSynchronize(stream), 0);
  EXPECT_EQ(launch("fill", kFloats / 256, 256, kept, 2.0F), 0);
  EXPECT_EQ(hipFree(kept), 0);
  EXPECT_EQ(hipFree(gone), kInvalidValue);
  EXPECT_EQ(hipStreamDestroy(stream), 0);
}

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(HipPeers, AGraphsKernelRunsOnTheDeviceThatNotedIt) {
  float* const far = allocate_on(1);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ASSERT_EQ(hipSetDevice(0), 0);
  const float* from = far;
  float* to = far;
  void* arguments[] = {&from, &to, nullptr};
  ASSERT_EQ(hipStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(hipModuleLaunchKernel(function("copy"), kFloats / 256, 1, 1, 256, 1, 1, 0, stream,
                                  arguments, nullptr),
            0);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), 0);
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), 0);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), 0);
  EXPECT_EQ(over_links("READ"), 0);
  EXPECT_EQ(hipGraphExecDestroy(executable), 0);
  EXPECT_EQ(hipGraphDestroy(graph), 0);
  EXPECT_EQ(hipStreamDestroy(stream), 0);
  EXPECT_EQ(hipFree(far), 0);
}
#endif

TEST_F(HipPeers, CopiesGoBetweenDevices) {
  float* const first = allocate_on(0);
  float* const second = allocate_on(1);
  const std::vector<float> given(kFloats, 3.0F);
  std::vector<float> seen(kFloats);
  ASSERT_EQ(hipMemcpy(first, given.data(), 4 * kFloats, hipMemcpyHostToDevice), 0);
  EXPECT_EQ(hipMemcpyPeer(second, 2, first, 0, 4 * kFloats), kInvalidDevice);
  ASSERT_EQ(hipMemcpyPeer(second, 1, first, 0, 4 * kFloats), 0);
  ASSERT_EQ(hipMemcpy(seen.data(), second, 4 * kFloats, hipMemcpyDeviceToHost), 0);
  EXPECT_EQ(seen, given);
  EXPECT_EQ(hipFree(first), 0);
  EXPECT_EQ(hipFree(second), 0);
}

}  // namespace
}  // namespace ww::sim::driver
