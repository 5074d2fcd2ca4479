// HIP's entry points over the real virtual GPU, called as a program calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hip_world.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/core/vgpu_abi.h"

extern "C" const ww_vgpu_abi* ww_vgpu_get_abi(std::uint32_t version);

namespace ww::sim::driver {
namespace {

void append(std::string& text, std::uint64_t value, std::size_t bytes = 8) {
  text.append(reinterpret_cast<const char*>(&value), bytes);
}

// An offload bundle of the host's empty entry and one object.
std::string bundle_of(const std::string& target, const std::string& object) {
  const std::string ids[] = {"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--" + target};
  constexpr std::uint64_t kAt = 4096;
  std::string text = "__CLANG_OFFLOAD_BUNDLE__";
  append(text, 2);
  for (const auto& id : ids) {
    append(text, kAt);
    append(text, &id == &ids[0] ? 0 : object.size());
    append(text, id.size());
    text += id;
  }
  text.resize(kAt);
  return text + object;
}

// Compresses by method 0 (zlib) or 1 (zstd).
std::string compressed(const std::string& plain, int version, int method = 1) {
  std::string data(ZSTD_compressBound(plain.size()) + compressBound(plain.size()), '\0');
  if (method == 1) {
    data.resize(ZSTD_compress(data.data(), data.size(), plain.data(), plain.size(), 3));
  } else {
    uLongf size = data.size();
    compress(reinterpret_cast<Bytef*>(data.data()), &size,
             reinterpret_cast<const Bytef*>(plain.data()), plain.size());
    data.resize(size);
  }
  std::string text = "CCOB";
  append(text, static_cast<std::uint64_t>(version), 2);
  append(text, static_cast<std::uint64_t>(method), 2);
  const std::size_t width = version == 3 ? 8 : 4;
  if (version > 1) append(text, 4 + 4 + 2 * width + 8 + data.size(), width);
  append(text, plain.size(), width);
  append(text, 0x1234);
  return text + data;
}

// The counters of the last dispatch, by name.
std::map<std::string, double> last_counters() {
  const ww_vgpu_abi* abi = ww_vgpu_get_abi(WW_VGPU_ABI_VERSION);
  std::vector<double> values(abi->counter_count());
  EXPECT_EQ(abi->dispatch_counters(abi->dispatch_count() - 1, values.data(),
                                   static_cast<std::uint32_t>(values.size())),
            0);
  std::map<std::string, double> counters;
  for (std::uint32_t i = 0; i < values.size(); ++i) counters[abi->counter_name(i)] = values[i];
  return counters;
}

TEST_F(Hip, CountsTheBytesOfFiveStreamsAsArithmeticDoes) {
  constexpr unsigned kItems = 1 << 16;
  constexpr double kBytes = kItems * 4.0;
  std::vector<float> a(kItems), b(kItems), c(kItems);
  for (unsigned i = 0; i < kItems; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i + 1);
  }
  auto* da = allocate<float>(kItems);
  auto* db = allocate<float>(kItems);
  auto* dc = allocate<float>(kItems);
  ASSERT_EQ(hipMemcpy(da, a.data(), a.size() * 4, hipMemcpyHostToDevice), 0);
  ASSERT_EQ(hipMemcpy(db, b.data(), b.size() * 4, hipMemcpyDefault), 0);
  const auto expect = [&](const char* name, int code, int reads, auto value) {
    ASSERT_EQ(code, 0) << name;
    auto counters = last_counters();
    EXPECT_EQ(counters["TCP_TCC_READ_REQ_sum"] * 64, reads * kBytes) << name;
    EXPECT_EQ(counters["TCP_TCC_WRITE_REQ_sum"] * 64, kBytes) << name;
    ASSERT_EQ(hipMemcpy(c.data(), dc, c.size() * 4, hipMemcpyDeviceToHost), 0);
    for (unsigned i = 0; i < kItems; ++i) ASSERT_EQ(c[i], value(i)) << name << " " << i;
  };
  constexpr unsigned kThreads = 256;
  constexpr unsigned kBlocks = kItems / kThreads;
  expect("copy", launch("copy", kBlocks, kThreads, da, dc), 1, [&](unsigned i) { return a[i]; });
  expect("scale", launch("scale", kBlocks, kThreads, da, dc, 3.0f), 1,
         [&](unsigned i) { return 3.0f * a[i]; });
  expect("add", launch("add", kBlocks, kThreads, da, db, dc), 2,
         [&](unsigned i) { return a[i] + b[i]; });
  expect("triad", launch("triad", kBlocks, kThreads, da, db, dc, 0.5f), 2,
         [&](unsigned i) { return a[i] + 0.5f * b[i]; });
  expect("fill", launch("fill", kBlocks, kThreads, dc, 9.0f), 0, [](unsigned) { return 9.0f; });
}

TEST_F(Hip, TakesArgumentsAsOneBuffer) {
  auto* p = allocate<int>(64);
  ASSERT_EQ(hipMemsetD32(p, 41, 64), 0);
  std::size_t size = sizeof p;
  void* extra[] = {reinterpret_cast<void*>(1), &p, reinterpret_cast<void*>(2), &size,
                   reinterpret_cast<void*>(3)};
  ASSERT_EQ(
      hipModuleLaunchKernel(function("increment"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra),
      0);
  int out[64];
  ASSERT_EQ(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
  EXPECT_THAT(out, ::testing::Each(42));
  size = 4;  // too few bytes for the pointer
  EXPECT_EQ(
      hipModuleLaunchKernel(function("increment"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra),
      kInvalidValue);
}

TEST_F(Hip, LaunchesBySizesInWorkItems) {
  auto* p = allocate<int>(128);
  ASSERT_EQ(hipMemset(p, 0, 512), 0);
  hipEvent_t start = nullptr, stop = nullptr;
  ASSERT_EQ(hipEventCreate(&start), 0);
  ASSERT_EQ(hipEventCreate(&stop), 0);
  void* arguments[] = {&p};
  const auto launch_items = [&](unsigned items) {
    return hipExtModuleLaunchKernel(function("increment"), items, 1, 1, 64, 1, 1, 0, nullptr,
                                    arguments, nullptr, start, stop, 0);
  };
  EXPECT_EQ(launch_items(128), 0);
  int out[128];
  ASSERT_EQ(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
  EXPECT_THAT(out, ::testing::Each(1));
  EXPECT_EQ(launch_items(0), kInvalidValue);
  EXPECT_EQ(launch_items(100), 0);  // the second block has 36
  ASSERT_EQ(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(out[i], i < 100 ? 2 : 1) << i;
  ASSERT_EQ(hipMemsetD32(p, 1, 128), 0);
  EXPECT_EQ(ext_module_launch_kernel(function("increment"), 128, 1, 1, 64, 1, 1, 0, nullptr,
                                     arguments, nullptr, nullptr, nullptr, 0),
            0);
  EXPECT_EQ(hcc_module_launch_kernel(function("increment"), 128, 1, 1, 64, 1, 1, 0, nullptr,
                                     arguments, nullptr, nullptr, nullptr),
            0);
  ASSERT_EQ(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
  EXPECT_THAT(out, ::testing::Each(3));
  float ms = 0;
  ASSERT_EQ(hipEventElapsedTime(&ms, start, stop), 0);
  EXPECT_GT(ms, 0.0F);
  EXPECT_EQ(hipEventDestroy(start), 0);
  EXPECT_EQ(hipEventDestroy(stop), 0);
}

TEST_F(Hip, LoadsPlainAndCompressedBundles) {
  const std::string plain = bundle_of("gfx90a:sramecc+:xnack-", code_object());
  const auto loads = [](const std::string& image) {
    hipModule_t module = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, image.data()), 0);
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&found, module, "add"), 0);
    EXPECT_EQ(hipModuleUnload(module), 0);
  };
  loads(plain);
  for (const int version : {1, 2, 3}) {
    for (const int method : {0, 1}) loads(compressed(plain, version, method));
  }
}

// Bundles lie in a section as a program's sources leave them; whoever loads a file wants what is
// for the chip.
TEST_F(Hip, LoadsTheBundleForTheChipOfSeveralInAFile) {
  const std::string own = bundle_of("gfx90a", code_object());
  const std::string other = bundle_of("gfx1100", "none");
  const auto folder = ScratchFolder::create("bundles");
  ASSERT_TRUE(folder.has_value());
  const std::string file = (folder->path() / "several.co").string();
  for (const std::string& first : {other, compressed(other, 2, 0), compressed(other, 3, 1)}) {
    for (const std::string& second : {own, compressed(own, 2, 0), compressed(own, 3, 1)}) {
      std::string both = first;
      both.resize((both.size() + 4095) / 4096 * 4096);
      ASSERT_TRUE(write_file_atomically(file, both + second).has_value());
      hipModule_t module = nullptr;
      ASSERT_EQ(hipModuleLoad(&module, file.c_str()), 0);
      EXPECT_EQ(hipModuleUnload(module), 0);
    }
  }
}

TEST_F(Hip, RefusesImagesThatDoNotFitByHipsOwnCodes) {
  hipModule_t module = nullptr;
  for (const char* other : {"gfx908", "gfx90a:xnack+", "gfx90a:sramecc-"}) {
    EXPECT_EQ(hipModuleLoadData(&module, bundle_of(other, code_object()).data()), kNoBinary)
        << other;
  }
  std::string damaged = compressed(bundle_of("gfx90a", code_object()), 2);
  damaged[24] ^= 0x55;  // the compressed data's own magic number
  EXPECT_EQ(hipModuleLoadData(&module, damaged.data()), kInvalidImage);
  std::string future = compressed(bundle_of("gfx90a", code_object()), 2);
  future[4] = 9;
  EXPECT_EQ(hipModuleLoadData(&module, future.data()), kInvalidImage);
  const std::string text(4096, 'x');
  EXPECT_EQ(hipModuleLoadData(&module, text.data()), kInvalidImage);
  EXPECT_EQ(hipModuleLoadData(&module, nullptr), kInvalidValue);
  EXPECT_EQ(hipModuleLoad(&module, "/no/such/file"), 301);
}

TEST_F(Hip, ReadsNoFurtherThanAFileThatIsCutShort) {
  const std::string whole = bundle_of("gfx90a", code_object());
  const std::string path = ::testing::TempDir() + "cut.hipfb";
  for (const std::size_t size :
       {std::size_t{30}, std::size_t{60}, std::size_t{4096}, std::size_t{4200}, whole.size() - 1}) {
    FILE* file = fopen(path.c_str(), "wb");
    fwrite(whole.data(), 1, size, file);
    fclose(file);
    hipModule_t module = nullptr;
    EXPECT_EQ(hipModuleLoad(&module, path.c_str()), kInvalidImage) << size;
  }
  unlink(path.c_str());
}

TEST_F(Hip, RunsRegisteredKernelsByTheirStubs) {
  struct {
    std::uint32_t magic{0x48495046}, version{1};
    const void* binary{};
    void* unused{};
  } wrapper;
  const std::string image = bundle_of("gfx90a", code_object());
  wrapper.binary = image.data();
  static const char stub = 0;
  static const char missing = 0;
  char name[] = "increment";
  void** handle = __hipRegisterFatBinary(&wrapper);
  ASSERT_NE(handle, nullptr);
  __hipRegisterFunction(handle, &stub, name, name, ~0U, nullptr, nullptr, nullptr, nullptr,
                        nullptr);
  __hipRegisterFunction(handle, &missing, name, "nothing", ~0U, nullptr, nullptr, nullptr, nullptr,
                        nullptr);
  auto* p = allocate<int>(64);
  ASSERT_EQ(hipMemset(p, 0, 256), 0);
  void* arguments[] = {&p};
  EXPECT_EQ(hipLaunchKernel(&stub, dim3(1), dim3(64), arguments, 0, nullptr), 0);
  int out[64];
  ASSERT_EQ(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
  EXPECT_THAT(out, ::testing::Each(1));
  EXPECT_STREQ(hipKernelNameRefByPtr(&stub, nullptr), "increment");
  EXPECT_STREQ(hipApiName(1), "unknown");
#ifndef WW_WITHOUT_HIP_MORE
  // The default stream of a thread is not that of all: another stream's capture goes on.
  hipStream_t capturing = nullptr;
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamCreate(&capturing), 0);
  ASSERT_EQ(hipStreamBeginCapture(capturing, 2), 0);
  EXPECT_EQ(hipMemset_spt(p, 0, 256), 0);
  EXPECT_EQ(hipLaunchKernel_spt(&stub, dim3(1), dim3(64), arguments, 0, nullptr), 0);
  EXPECT_EQ(hipStreamSynchronize_spt(nullptr), 0);
  EXPECT_EQ(hipMemcpy_spt(out, p, sizeof out, hipMemcpyDeviceToHost), 0);
  EXPECT_THAT(out, ::testing::Each(1));
  EXPECT_EQ(hipStreamEndCapture(capturing, &graph), 0);
  EXPECT_EQ(hipGraphDestroy(graph), 0);
#endif
  // Missing from the device code; never registered; registered no more.
  EXPECT_EQ(hipLaunchKernel(&missing, dim3(1), dim3(64), arguments, 0, nullptr), kInvalidFunction);
  EXPECT_EQ(hipLaunchKernel(&out, dim3(1), dim3(64), arguments, 0, nullptr), kInvalidFunction);
  __hipUnregisterFatBinary(handle);
  EXPECT_EQ(hipLaunchKernel(&stub, dim3(1), dim3(64), arguments, 0, nullptr), kInvalidFunction);
  EXPECT_EQ(hipGetLastError(), kInvalidFunction);
  EXPECT_EQ(hipGetLastError(), 0);
  EXPECT_EQ(hipMemcpyToSymbol(&stub, out, 4, 0, hipMemcpyHostToDevice), kInvalidSymbol);
}

TEST_F(Hip, SharesPinnedAndManagedMemoryWithTheHost) {
  int managed = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&managed, 24, 0), 0);
  if (managed == 0) GTEST_SKIP() << "this process uses the addresses (a sanitizer does)";
  void* pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, 256, 0), 0);
  void* seen = nullptr;
  ASSERT_EQ(hipHostGetDevicePointer(&seen, pinned, 0), 0);
  EXPECT_EQ(seen, pinned);
  auto* words = static_cast<int*>(pinned);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 64; ++i) words[i] = 10 * round;  // no call says so
    ASSERT_EQ(launch("increment", 1, 64, pinned), 0);
    EXPECT_EQ(words[63], 10 * round + 1);
  }
  EXPECT_EQ(hipHostFree(pinned), 0);
  EXPECT_EQ(hipHostFree(pinned), kInvalidValue);
  ASSERT_EQ(hipHostMalloc(&pinned, 256, 0), 0);
  EXPECT_EQ(hipFree(pinned), 0);  // as with AMD's library
  ASSERT_EQ(hipMallocManaged(&pinned, 256, 1), 0);
  *static_cast<int*>(pinned) = 5;
  ASSERT_EQ(launch("increment", 1, 64, pinned), 0);
  EXPECT_EQ(*static_cast<int*>(pinned), 6);
  EXPECT_EQ(hipFree(pinned), 0);
  EXPECT_EQ(hipMallocManaged(&pinned, 256, 9), kInvalidValue);
}

TEST_F(Hip, SeesWhatTheHostStoredInDeviceMemory) {
  int seen_by_host = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&seen_by_host, 24, 0), 0);
  if (seen_by_host == 0) GTEST_SKIP() << "this process uses the addresses (a sanitizer does)";
  auto* from = allocate<float>(64);
  auto* to = allocate<float>(64);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 64; ++i) from[i] = static_cast<float>(round);  // no call says so
    for (int again = 0; again < 4; ++again) ASSERT_EQ(launch("copy", 1, 64, from, to), 0);
    float out[64];
    ASSERT_EQ(hipMemcpy(out, to, sizeof out, hipMemcpyDeviceToHost), 0);
    EXPECT_THAT(out, ::testing::Each(static_cast<float>(round)));
  }
}

// The folder has links to one file by three names: the program's own counts, which ends in 6.
TEST_F(Hip, IsTheVersionThatTheProgramWasLinkedWith) {
  int version = 0;
  ASSERT_EQ(hipRuntimeGetVersion(&version), 0);
  EXPECT_EQ(version / 10'000'000, 6);
}

TEST_F(Hip, TimesEventsByTheChip) {
  hipEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  ASSERT_EQ(hipEventCreate(&start), 0);
  ASSERT_EQ(hipEventCreate(&stop), 0);
  ASSERT_EQ(hipEventCreateWithFlags(&untimed, 2), 0);
  float ms = 0;
  EXPECT_EQ(hipEventElapsedTime(&ms, start, stop), kInvalidHandle);
  auto* p = allocate<int>(1 << 16);
  const ww_vgpu_abi* abi = ww_vgpu_get_abi(WW_VGPU_ABI_VERSION);
  const auto before = abi->now_ns();
  ASSERT_EQ(hipEventRecord(start, nullptr), 0);
  ASSERT_EQ(launch("increment", 256, 256, p), 0);
  ASSERT_EQ(hipEventRecord(stop, nullptr), 0);
  const auto after = abi->now_ns();
  ASSERT_EQ(hipEventSynchronize(stop), 0);
  ASSERT_EQ(hipEventElapsedTime(&ms, start, stop), 0);
  EXPECT_GT(ms, 0.004f);  // the launch's own overhead
  EXPECT_FLOAT_EQ(ms, static_cast<float>(after - before) * 1e-6f);
  ASSERT_EQ(hipEventRecord(untimed, nullptr), 0);
  EXPECT_EQ(hipEventElapsedTime(&ms, start, untimed), kInvalidHandle);
  for (const hipEvent_t event : {start, stop, untimed}) EXPECT_EQ(hipEventDestroy(event), 0);
  EXPECT_EQ(hipEventDestroy(start), kContextIsDestroyed);
}

TEST_F(Hip, OrdersStreamsAndCallsBack) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  auto* p = allocate<int>(64);
  const std::vector<int> ones(64, 1);
  int out[64];
  ASSERT_EQ(hipMemcpyAsync(p, ones.data(), 256, hipMemcpyHostToDevice, stream), 0);
  void* arguments[] = {&p};
  ASSERT_EQ(hipModuleLaunchKernel(function("increment"), 1, 1, 1, 64, 1, 1, 0, stream, arguments,
                                  nullptr),
            0);
  ASSERT_EQ(hipMemcpyAsync(out, p, 256, hipMemcpyDeviceToHost, stream), 0);
  int called = 0;
  ASSERT_EQ(hipStreamAddCallback(
                stream,
                [](hipStream_t, hipError_t code, void* data) {
                  // A callback may call HIP.
                  *static_cast<int*>(data) = code == 0 && hipGetLastError() == 0 ? 1 : 2;
                },
                &called, 0),
            0);
  ASSERT_EQ(hipStreamSynchronize(stream), 0);
  EXPECT_EQ(called, 1);
  EXPECT_THAT(out, ::testing::Each(2));
  EXPECT_EQ(hipStreamDestroy(stream), 0);
  EXPECT_EQ(hipStreamDestroy(stream), kContextIsDestroyed);
  EXPECT_EQ(hipStreamSynchronize(stream), kContextIsDestroyed);
  EXPECT_EQ(hipMemcpyAsync(out, p, 256, hipMemcpyDeviceToHost, stream), kContextIsDestroyed);
}

TEST_F(Hip, WaitsForAHostFunctionThatAnotherThreadRuns) {
  hipStream_t stream = nullptr, other = nullptr;
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ASSERT_EQ(hipStreamCreate(&other), 0);
  ASSERT_EQ(hipEventCreate(&event), 0);
  struct Progress {
    std::atomic<bool> started, may_end, ended;
  };
  const std::function<int()> waits[] = {
      [&] { return hipStreamSynchronize(stream); }, [&] { return hipStreamSynchronize(nullptr); },
      [&] { return hipDeviceSynchronize(); }, [&] { return hipEventSynchronize(event); },
      [&] {
        EXPECT_EQ(hipStreamWaitEvent(other, event, 0), 0);
        return hipStreamSynchronize(other);
      }};
  for (const auto& wait : waits) {
    Progress progress{};
    std::thread runner([&] {
      EXPECT_EQ(hipLaunchHostFunc(
                    stream,
                    [](void* data) {
                      auto& now = *static_cast<Progress*>(data);
                      now.started = true;
                      while (!now.may_end) std::this_thread::yield();
                      std::this_thread::sleep_for(std::chrono::milliseconds(30));
                      now.ended = true;
                      EXPECT_EQ(hipGetLastError(), 0) << "it may call HIP";
                    },
                    &progress),
                0);
    });
    while (!progress.started) std::this_thread::yield();
    EXPECT_EQ(hipEventRecord(event, stream), 0);
    EXPECT_EQ(hipStreamQuery(stream), kNotReady);
    EXPECT_EQ(hipEventQuery(event), kNotReady);
    EXPECT_EQ(hipStreamQuery(other), 0) << "another stream's";
    progress.may_end = true;
    EXPECT_EQ(wait(), 0);
    EXPECT_TRUE(progress.ended);
    EXPECT_EQ(hipStreamQuery(stream), 0);
    runner.join();
  }
  EXPECT_EQ(hipGetLastError(), 0) << "work that is under way is no error";
}

TEST_F(Hip, CopiesAndFillsRows) {
  constexpr std::size_t kWidth = 100;
  constexpr std::size_t kRows = 7;
  void* memory = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(hipMallocPitch(&memory, &pitch, kWidth, kRows), 0);
  EXPECT_EQ(pitch % 256, 0U);
  ASSERT_EQ(hipMemset(memory, 9, pitch * kRows), 0);
  ASSERT_EQ(hipMemset2D(memory, pitch, 1, kWidth, kRows), 0);
  std::vector<char> all(pitch * kRows);
  ASSERT_EQ(hipMemcpy(all.data(), memory, all.size(), hipMemcpyDeviceToHost), 0);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i % pitch < kWidth ? 1 : 9) << i;
  std::vector<char> rows(kWidth * kRows);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(i);
  ASSERT_EQ(hipMemcpy2D(memory, pitch, rows.data(), kWidth, kWidth, kRows, hipMemcpyHostToDevice),
            0);
  std::vector<char> back(rows.size());
  ASSERT_EQ(hipMemcpy2D(back.data(), kWidth, memory, pitch, kWidth, kRows, hipMemcpyDeviceToHost),
            0);
  EXPECT_EQ(back, rows);
  EXPECT_EQ(
      hipMemcpy2D(memory, pitch, rows.data(), kWidth, kWidth + 1, kRows, hipMemcpyHostToDevice),
      12);
  EXPECT_EQ(
      hipMemcpy2D(memory, pitch, rows.data(), kWidth, kWidth, kRows + 1, hipMemcpyHostToDevice),
      kInvalidValue);
}

#ifndef WW_WITHOUT_HIP_MORE
TEST_F(Hip, GivesAndTakesMemoryInStreamOrder) {
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&pool, 0), 0);
  std::uint64_t before = 0, during = 0;
  ASSERT_EQ(hipMemPoolGetAttribute(pool, 7, &before), 0);
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(hipMallocAsync(&first, 4096, nullptr), 0);
  ASSERT_EQ(hipMallocFromPoolAsync(&second, 8192, pool, nullptr), 0);
  ASSERT_EQ(hipMemPoolGetAttribute(pool, 7, &during), 0);
  EXPECT_EQ(during - before, 12288U);
  EXPECT_EQ(hipFreeAsync(first, nullptr), 0);
  EXPECT_EQ(hipFreeAsync(first, nullptr), kInvalidValue);
  EXPECT_EQ(hipFreeAsync(second, nullptr), 0);
  std::size_t left = 0, total = 0;
  ASSERT_EQ(hipMemGetInfo(&left, &total), 0);
  EXPECT_EQ(total, std::size_t{64} << 30);
  EXPECT_EQ(left, total - before);
}
#endif

TEST_F(Hip, LimitsCooperativeLaunchesToWhatIsResident) {
  int blocks = 0;
  ASSERT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("big_lds"), 64, 0),
            0);
  EXPECT_EQ(blocks, 2);  // 32 KiB of the CU's 64
  ASSERT_EQ(
      hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("big_lds"), 64, 1024),
      0);
  EXPECT_EQ(blocks, 1);
  // None fits: no mistake.
  for (const auto& [threads, lds] : {std::pair{2048, 0U}, {64, 1U << 20}}) {
    blocks = -1;
    EXPECT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("big_lds"),
                                                                 threads, lds),
              0);
    EXPECT_EQ(blocks, 0);
  }
  int cus = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&cus, 63, 0), 0);
  EXPECT_EQ(cus, 104);
  auto* p = allocate<int>(64);
  void* arguments[] = {&p};
  const auto cooperate = [&](unsigned count) {
    return hipModuleLaunchCooperativeKernel(function("big_lds"), count, 1, 1, 64, 1, 1, 0, nullptr,
                                            arguments);
  };
  EXPECT_EQ(cooperate(208), 0);
  EXPECT_EQ(cooperate(209), kTooManyBlocks);
  int grid = 0, block = 0;
  ASSERT_EQ(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, function("add"), 0, 0), 0);
  EXPECT_EQ(block, 256);  // as many as the kernel allows
  EXPECT_EQ(grid % 104, 0);
  EXPECT_GE(grid, 104);
}

TEST_F(Hip, FindsAModulesVariables) {
  // The compiler may fold the table away; only its absence must be said right.
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hipModuleGetGlobal(&address, &bytes, module_, "nothing"), kNotFound);
  EXPECT_EQ(hipModuleGetGlobal(nullptr, nullptr, module_, "add"), kInvalidValue);
  EXPECT_EQ(hipModuleUnload(nullptr), kInvalidHandle);
}

// Both layouts: the architecture's name, and what lies between name and memory size.
TEST_F(Hip, DescribesTheChipInBothLayouts) {
  std::vector<char> old_layout(792 + 64, 'x');
  ASSERT_EQ(hipGetDeviceProperties(old_layout.data(), 0), 0);
  std::size_t memory = 0;
  std::memcpy(&memory, &old_layout[256], sizeof memory);
  EXPECT_EQ(memory, std::size_t{64} << 30);
  EXPECT_STREQ(&old_layout[396], "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(old_layout[792], 'x');
  std::vector<char> new_layout(1472 + 64, 'x');
  ASSERT_EQ(hipGetDevicePropertiesR0600(new_layout.data(), 0), 0);
  std::memcpy(&memory, &new_layout[288], sizeof memory);
  EXPECT_EQ(memory, std::size_t{64} << 30);
  EXPECT_STREQ(&new_layout[1160], "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(new_layout[1472], 'x');
  EXPECT_EQ(hipGetDeviceProperties(old_layout.data(), 1), kInvalidDevice);
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, 87, 0), 0);
  EXPECT_EQ(value, 64);
  int managed = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&managed, 24, 0), 0);
  EXPECT_EQ(hipDeviceGetAttribute(&value, 15, 0), 0);
  EXPECT_EQ(value, managed) << "atomics of host and device meet in managed memory";
  EXPECT_EQ(hipDeviceGetAttribute(&value, 5000, 0), kInvalidValue);
}

TEST_F(Hip, NamesWhatItDoesNotHaveOnce) {
  char handle[64] = {};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(hipIpcGetMemHandle(handle, nullptr), kNotSupported);
  EXPECT_EQ(hipIpcGetMemHandle(handle, nullptr), kNotSupported);
  EXPECT_EQ(hipGetLastError(), kNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "wirewatt: HIP: hipIpcGetMemHandle is not supported on the virtual GPU\n");
}

#ifdef WW_WITHOUT_HIP_MORE
extern "C" int hipStreamIsCapturing(hipStream_t, int*);

TEST_F(Hip, RefusesTheCallsThatItIsBuiltWithout) {
  hipGraph_t graph = nullptr;
  hipStream_t stream = nullptr;
  int status = -1;
  void* memory = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(hipStreamBeginCapture(stream, 0), kNotSupported);
  EXPECT_EQ(hipGraphCreate(&graph, 0), kNotSupported);
  EXPECT_EQ(hipMallocAsync(&memory, 4096, stream), kNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "wirewatt: HIP: hipStreamBeginCapture is not supported on the virtual GPU\n"
            "wirewatt: HIP: hipGraphCreate is not supported on the virtual GPU\n"
            "wirewatt: HIP: hipMallocAsync is not supported on the virtual GPU\n");
  EXPECT_EQ(hipStreamIsCapturing(stream, &status), 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(hipStreamDestroy(stream), 0);
}
#endif

}  // namespace
}  // namespace ww::sim::driver
