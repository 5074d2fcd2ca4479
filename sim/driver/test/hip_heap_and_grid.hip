// HIP programs whose kernels need more of the runtime than their arguments: blocks that wait for
// each other, and memory that kernels allocate. hip_heap_and_grid NAME... runs those, without a
// name all; "hash" prints what must not depend on the number of threads.
#include "hip_declarations.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

#define CHECK(call)                                                                           \
  do {                                                                                        \
    const hipError_t code = (call);                                                           \
    if (code != 0) {                                                                          \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(code)); \
      return false;                                                                           \
    }                                                                                         \
  } while (0)
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return false;                                                           \
    }                                                                         \
  } while (0)

// The device library's, of which HIP's headers make grid.sync(), malloc and the like.
extern "C" {
__device__ void __ockl_grid_sync();
__device__ int __ockl_grid_is_valid();
__device__ void __ockl_multi_grid_sync();
__device__ unsigned __ockl_multi_grid_num_grids();
__device__ unsigned __ockl_multi_grid_size();
__device__ void* __ockl_dm_alloc(size_t);
__device__ void __ockl_dm_dealloc(void*);
}

namespace {

constexpr int kInvalidConfiguration = 9;
constexpr int kIllegalAddress = 700;
constexpr int kLaunchFailure = 719;
constexpr int kTooManyBlocks = 720;
constexpr int kNobody = -1;
constexpr unsigned kRounds = 4;

__device__ unsigned block() {
  return __builtin_amdgcn_workgroup_id_x() +
         __builtin_amdgcn_workgroup_id_y() *
             (__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x());
}
__device__ unsigned thread() {
  return __builtin_amdgcn_workitem_id_x();
}
__device__ unsigned item() {
  return block() * __builtin_amdgcn_workgroup_size_x() + thread();
}

// In each round every block adds up what all of them left in the round before.
__global__ void meet(unsigned* words, unsigned blocks, int leaver) {
  for (unsigned round = 0; round < kRounds; ++round) {
    if (static_cast<int>(block()) == leaver) return;
    const unsigned* before = words + round * blocks;
    unsigned sum = block() + 1;
    for (unsigned i = 0; round > 0 && i < blocks; ++i) sum += before[i];
    if (thread() == 0) words[(round + 1) * blocks + block()] = sum;
    __ockl_grid_sync();
  }
}
std::vector<unsigned> expected_words(unsigned blocks) {
  std::vector<unsigned> words((kRounds + 1) * blocks);
  for (unsigned round = 0; round < kRounds; ++round) {
    unsigned sum = 0;
    for (unsigned i = 0; round > 0 && i < blocks; ++i) sum += words[round * blocks + i];
    for (unsigned i = 0; i < blocks; ++i) words[(round + 1) * blocks + i] = sum + i + 1;
  }
  return words;
}

__global__ void ask_grid(int* valid) {
  if (item() == 0) *valid = __ockl_grid_is_valid();
}

__global__ void meet_devices(unsigned* words, unsigned blocks) {
  if (thread() == 0) words[block()] = block() + 1;
  __ockl_multi_grid_sync();
  unsigned sum = 0;
  for (unsigned i = 0; i < blocks; ++i) sum += words[i];
  if (thread() == 0) {
    words[blocks + block()] = sum;
    words[2 * blocks + block()] = __ockl_multi_grid_num_grids() << 16 | __ockl_multi_grid_size();
  }
}

unsigned* device_words(size_t count) {
  void* memory = nullptr;
  if (hipMalloc(&memory, count * sizeof(unsigned)) != 0 ||
      hipMemset(memory, 0, count * sizeof(unsigned)) != 0) {
    return nullptr;
  }
  return static_cast<unsigned*>(memory);
}
std::vector<unsigned> words_at(const unsigned* memory, size_t count) {
  std::vector<unsigned> words(count);
  if (hipMemcpy(words.data(), memory, count * sizeof(unsigned), hipMemcpyDeviceToHost) != 0) {
    words.clear();
  }
  return words;
}

int launch_meeting(dim3 blocks, dim3 threads, unsigned* words, int leaver,
                   hipStream_t stream = nullptr) {
  unsigned count = blocks.x * blocks.y;
  void* arguments[] = {&words, &count, &leaver};
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(meet), blocks, threads, arguments,
                                    0, stream);
}

bool run_grid() {
  for (const dim3 blocks : {dim3(1), dim3(2), dim3(57), dim3(7, 5)}) {
    for (const unsigned threads : {1U, 64U, 200U}) {
      const unsigned count = blocks.x * blocks.y;
      unsigned* words = device_words((kRounds + 1) * count);
      EXPECT(words != nullptr);
      CHECK(launch_meeting(blocks, threads, words, kNobody));
      CHECK(hipDeviceSynchronize());
      EXPECT(words_at(words, (kRounds + 1) * count) == expected_words(count));
      CHECK(hipFree(words));
    }
  }
  return true;
}

// As many blocks as the device takes at once, and one more.
bool run_full() {
  int per_cu = 0, cus = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, reinterpret_cast<const void*>(meet),
                                                     256, 0));
  CHECK(hipDeviceGetAttribute(&cus, 63, 0));
  const unsigned most = static_cast<unsigned>(per_cu * cus);
  unsigned* words = device_words((kRounds + 1) * (most + 1));
  EXPECT(words != nullptr);
  EXPECT(launch_meeting(most + 1, 256, words, kNobody) == kTooManyBlocks);
  EXPECT(launch_meeting(1, 0, words, kNobody) == kInvalidConfiguration);
  EXPECT(launch_meeting(1, 1025, words, kNobody) == kInvalidConfiguration);
  EXPECT(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(meet), 1, 64, nullptr, 65 << 10,
                                    nullptr) == kTooManyBlocks);
  CHECK(launch_meeting(most, 256, words, kNobody));
  CHECK(hipDeviceSynchronize());
  EXPECT(words_at(words, (kRounds + 1) * most) == expected_words(most));
  CHECK(hipFree(words));
  return true;
}

bool run_valid() {
  int* valid = reinterpret_cast<int*>(device_words(1));
  void* arguments[] = {&valid};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(ask_grid), 2, 64, arguments, 0,
                                   nullptr));
  EXPECT(words_at(reinterpret_cast<unsigned*>(valid), 1).at(0) == 1);
  ask_grid<<<2, 64>>>(valid);
  EXPECT(words_at(reinterpret_cast<unsigned*>(valid), 1).at(0) == 0);
  return true;
}

#ifndef WW_WITHOUT_HIP_MORE
bool run_graph() {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t executable;
  unsigned* words = device_words((kRounds + 1) * 9);
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, 0));
  CHECK(launch_meeting(9, 64, words, kNobody, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  EXPECT(words_at(words, 1).at(0) == 0 && words_at(words, 18).at(9) == 0);
  CHECK(hipGraphLaunch(executable, stream));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(words_at(words, (kRounds + 1) * 9) == expected_words(9));
  return true;
}
#endif

bool run_devices() {
  constexpr unsigned kBlocks = 11, kThreads = 64;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  unsigned* words = device_words(3 * kBlocks);
  unsigned blocks = kBlocks;
  void* arguments[] = {&words, &blocks};
  hipLaunchParams launch{
      reinterpret_cast<const void*>(meet_devices), kBlocks, kThreads, arguments, 0, stream};
  CHECK(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 0));
  CHECK(hipStreamSynchronize(stream));
  const auto after = words_at(words, 3 * kBlocks);
  for (unsigned i = 0; i < kBlocks; ++i) {
    EXPECT(after.at(kBlocks + i) == kBlocks * (kBlocks + 1) / 2);
    EXPECT(after.at(2 * kBlocks + i) == (1U << 16 | kBlocks * kThreads));
  }
  EXPECT(hipLaunchCooperativeKernelMultiDevice(nullptr, 1, 0) == 1);
  EXPECT(hipLaunchCooperativeKernelMultiDevice(&launch, 0, 0) == 1);
  EXPECT(hipLaunchCooperativeKernelMultiDevice(&launch, 2, 0) == 1);  // there is one
  EXPECT(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 4) == 1);
  launch.stream = nullptr;
  EXPECT(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 0) == 400);
  static_cast<void>(hipGetLastError());
  return true;
}

// The device's error until it is reset.
bool fails_until_reset(int error) {
  EXPECT(hipDeviceSynchronize() == error);
  CHECK(hipDeviceReset());
  static_cast<void>(hipGetLastError());
  return true;
}

// Launches that would wait for ever on a card.
bool run_hangs() {
  unsigned* words = device_words((kRounds + 1) * 8);
  CHECK(launch_meeting(8, 64, words, 3));
  EXPECT(fails_until_reset(kLaunchFailure));
  words = device_words((kRounds + 1) * 8);
  meet<<<8, 64>>>(words, 8, kNobody);
  EXPECT(fails_until_reset(kLaunchFailure));
  return run_grid();
}

// --- the heap ---

__device__ __host__ size_t size_of(unsigned i) {
  return 1 + i * 2654435761U % (i % 5 == 0 ? 9000 : 700);
}
__global__ void take(unsigned char** blocks, unsigned count) {
  const unsigned i = item();
  if (i >= count) return;
  auto* const bytes = static_cast<unsigned char*>(__ockl_dm_alloc(size_of(i)));
  blocks[i] = bytes;
  if (bytes == nullptr) return;
  for (size_t at = 0; at < size_of(i); ++at) bytes[at] = static_cast<unsigned char>(i + at);
}
__global__ void give_back(unsigned char** blocks, unsigned count, unsigned* wrong) {
  const unsigned i = item();
  if (i >= count) return;
  for (size_t at = 0; at < size_of(i); ++at) {
    if (blocks[i][at] != static_cast<unsigned char>(i + at)) {
      __hip_atomic_fetch_add(wrong, 1U, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
  }
  __ockl_dm_dealloc(blocks[i]);
}
__global__ void take_one(void** block, size_t bytes) {
  block[item()] = __ockl_dm_alloc(bytes);
}
__global__ void free_one(void* block) {
  __ockl_dm_dealloc(block);
}
__global__ void take_and_free(size_t bytes, int times, unsigned* got) {
  for (int i = 0; i < times; ++i) {
    void* const block = __ockl_dm_alloc(bytes);
    if (block != nullptr) ++*got;
    __ockl_dm_dealloc(block);
  }
}
constexpr unsigned kBlocksTaken = 1000;

// Where the blocks are, after a launch that took them all.
bool take_all(std::vector<unsigned long long>& places, unsigned char*** at) {
  *at = reinterpret_cast<unsigned char**>(device_words(2 * kBlocksTaken));
  take<<<8, 128>>>(*at, kBlocksTaken);
  CHECK(hipDeviceSynchronize());
  places.resize(kBlocksTaken);
  CHECK(hipMemcpy(places.data(), *at, kBlocksTaken * sizeof(void*), hipMemcpyDeviceToHost));
  return true;
}

bool run_heap() {
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned long long> places;
    unsigned char** at = nullptr;
    EXPECT(take_all(places, &at));
    std::vector<std::pair<unsigned long long, unsigned long long>> spans;
    for (unsigned i = 0; i < kBlocksTaken; ++i) {
      EXPECT(places[i] != 0);
      spans.emplace_back(places[i], places[i] + size_of(i));
    }
    std::sort(spans.begin(), spans.end());
    for (size_t i = 1; i < spans.size(); ++i) EXPECT(spans[i - 1].second <= spans[i].first);
    EXPECT(hipFree(reinterpret_cast<void*>(places[0])) == 1);  // no allocation of the program's
    static_cast<void>(hipGetLastError());
    unsigned* wrong = device_words(1);
    give_back<<<8, 128>>>(at, kBlocksTaken, wrong);
    CHECK(hipDeviceSynchronize());
    EXPECT(words_at(wrong, 1).at(0) == 0);
  }
  return true;
}

// What the device does not have is not given, and what was freed is given again.
bool run_room() {
  unsigned* got = device_words(1);
  take_and_free<<<1, 1>>>(size_t{4} << 30, 40, got);
  CHECK(hipDeviceSynchronize());
  EXPECT(words_at(got, 1).at(0) == 40);
  take_and_free<<<1, 1>>>(size_t{1} << 42, 2, got);
  CHECK(hipDeviceSynchronize());
  EXPECT(words_at(got, 1).at(0) == 40);
  void** blocks = reinterpret_cast<void**>(device_words(2 * 64));
  take_one<<<1, 64>>>(blocks, size_t{3} << 30);
  void* taken[64];
  CHECK(hipMemcpy(taken, blocks, sizeof taken, hipMemcpyDeviceToHost));
  const auto none = std::count(taken, taken + 64, nullptr);
  EXPECT(none > 0 && none < 64);
  CHECK(hipDeviceReset());
  void* whole = nullptr;
  CHECK(hipMalloc(&whole, size_t{8} << 30));
  CHECK(hipFree(whole));
  return run_heap();
}

bool run_limit() {
  constexpr int kHeapLimit = 2;
  size_t limit = 0, left = 0, total = 0;
  CHECK(hipDeviceGetLimit(&limit, kHeapLimit));
  EXPECT(limit == 8 << 20);
  CHECK(hipDeviceSetLimit(kHeapLimit, 64 << 20));
  CHECK(hipDeviceGetLimit(&limit, kHeapLimit));
  EXPECT(limit == 64 << 20);
  CHECK(hipMemGetInfo(&left, &total));
  EXPECT(hipDeviceSetLimit(kHeapLimit, total) == 1);
  static_cast<void>(hipGetLastError());
  return true;
}

// What a kernel must not do with its heap.
bool run_misuse() {
  void** place = reinterpret_cast<void**>(device_words(2));
  void* block = nullptr;
  take_one<<<1, 1>>>(place, 100000);
  CHECK(hipMemcpy(&block, place, sizeof block, hipMemcpyDeviceToHost));
  EXPECT(block != nullptr);
  free_one<<<1, 1>>>(block);
  CHECK(hipDeviceSynchronize());
  free_one<<<1, 1>>>(block);  // said on stderr, as on a card
  CHECK(hipDeviceSynchronize());
  free_one<<<1, 1>>>(nullptr);
  CHECK(hipDeviceSynchronize());
  take_one<<<1, 1>>>(place, 40);
  CHECK(hipMemcpy(&block, place, sizeof block, hipMemcpyDeviceToHost));
  for (int i = 0; i < 2; ++i) free_one<<<1, 1>>>(block);
  CHECK(hipDeviceSynchronize());
  EXPECT(run_heap());
  free_one<<<1, 1>>>(reinterpret_cast<void*>(0x123456789010));
  EXPECT(fails_until_reset(kIllegalAddress));
  return run_heap();
}

// A reset takes the heap, too: more than the device has, if it did not.
bool run_reset() {
  for (int i = 0; i < 20; ++i) {
    void** place = reinterpret_cast<void**>(device_words(2));
    take_one<<<1, 1>>>(place, size_t{4} << 30);
    void* block = nullptr;
    CHECK(hipMemcpy(&block, place, sizeof block, hipMemcpyDeviceToHost));
    EXPECT(block != nullptr);
    CHECK(hipDeviceReset());
  }
  return run_heap();
}

bool run_hash() {
  std::vector<unsigned long long> places;
  unsigned char** at = nullptr;
  EXPECT(take_all(places, &at));
  unsigned* words = device_words((kRounds + 1) * 57);
  CHECK(launch_meeting(57, 200, words, kNobody));
  for (const unsigned word : words_at(words, (kRounds + 1) * 57)) places.push_back(word);
  unsigned long long hash = 0;
  for (const unsigned long long place : places) hash = hash * 1099511628211U + place;
  printf("hash %016llx\n", hash);
  return true;
}

std::string self;

bool run_threads() {
  fflush(stdout);
  std::vector<std::string> lines;
  for (const char* threads : {"1", "2", "3"}) {
    FILE* const out =
        popen(("WIREWATT_THREADS=" + std::string(threads) + " " + self + " hash").c_str(), "r");
    EXPECT(out != nullptr);
    char line[256] = "";
    EXPECT(fgets(line, sizeof line, out) != nullptr);
    pclose(out);
    EXPECT(strncmp(line, "hash ", 5) == 0);
    lines.push_back(line);
  }
  EXPECT(lines[1] == lines[0] && lines[2] == lines[0]);
  return true;
}

struct Program {
  const char* name;
  bool (*run)();
};
constexpr Program kPrograms[] = {
    {"grid", run_grid},     {"full", run_full},       {"valid", run_valid},
#ifndef WW_WITHOUT_HIP_MORE
    {"graph", run_graph},
#endif
    {"devices", run_devices}, {"hangs", run_hangs},
    {"limit", run_limit},   {"heap", run_heap},       {"room", run_room},
    {"misuse", run_misuse}, {"reset", run_reset},     {"threads", run_threads}};

}  // namespace

int main(int count, char** arguments) {
  self = arguments[0];
  if (count == 2 && strcmp(arguments[1], "hash") == 0) return run_hash() ? 0 : 1;
  int failed = 0;
  for (const Program& program : kPrograms) {
    const bool named = std::any_of(arguments + 1, arguments + count, [&](const char* name) {
      return strcmp(name, program.name) == 0;
    });
    if (count > 1 && !named) continue;
    const bool good = program.run();
    printf("%-10s %s\n", program.name, good ? "ok" : "FAILED");
    failed += good ? 0 : 1;
  }
  return failed != 0;
}
