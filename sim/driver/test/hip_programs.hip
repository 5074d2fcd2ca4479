// HIP programs that check themselves, compiled by clang as any HIP program is: launches by <<<>>>,
// symbols, LDS, printf. hip_programs NAME runs one, without a name all.
// hip_programs twin ADDRESS [CODE OBJECT] is for comparison with icd_twin.c.
#include "hip_declarations.hpp"
#include "hip_graph_declarations.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const hipError_t code = (call);                                                 \
    if (code != 0) {                                                                \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(code)); \
      return false;                                                                 \
    }                                                                               \
  } while (0)

extern "C" __device__ int printf(const char*, ...);

namespace {

constexpr int kItems = 1 << 18;
constexpr int kBlock = 256;

__device__ unsigned item() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}
__device__ void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__constant__ float scales[4];
__device__ int counted = 5;
__managed__ int managed_total = 7;

__global__ void stream_copy(const float* a, float* c) { c[item()] = a[item()]; }
__global__ void stream_scale(const float* a, float* c, float s) { c[item()] = s * a[item()]; }
__global__ void stream_add(const float* a, const float* b, float* c) {
  c[item()] = a[item()] + b[item()];
}
__global__ void stream_triad(const float* a, const float* b, float* c, float s) {
  c[item()] = a[item()] + s * b[item()];
}
__global__ void stream_read(const float* a, float* c) {
  const float value = a[item()];
  if (value == -1.0f) c[item()] = value;
}

__global__ void reduce(const int* in, int* out) {
  __shared__ int part[kBlock];
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  part[lane] = in[item()];
  meet();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (lane < half) part[lane] += part[lane + half];
    meet();
  }
  if (lane == 0) __hip_atomic_fetch_add(out, part[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

template <int Tile>
__global__ void transpose(const float* in, float* out, int side) {
  __shared__ float tile[Tile][Tile + 1];
  const int x = __builtin_amdgcn_workitem_id_x();
  const int y = __builtin_amdgcn_workitem_id_y();
  const int left = __builtin_amdgcn_workgroup_id_x() * Tile;
  const int top = __builtin_amdgcn_workgroup_id_y() * Tile;
  tile[y][x] = in[(top + y) * side + left + x];
  meet();
  out[(left + y) * side + top + x] = tile[x][y];
}

__global__ void use_symbols(float* out) {
  out[item()] = scales[item() % 4];
  if (item() == 0) counted += 37;
}

extern __shared__ int dynamic[];
__global__ void reverse(int* data, int n) {
  const int lane = __builtin_amdgcn_workitem_id_x();
  dynamic[lane] = data[lane];
  meet();
  data[lane] = dynamic[n - 1 - lane];
}

__global__ void add_managed(const int* more) { managed_total += *more; }

struct Pair {
  char tag;
  double value;
};
__global__ void take_struct(Pair pair, char after, double* out) {
  if (item() == 0) *out = pair.value + pair.tag + after;
}

__global__ void print_lines(const char* word) {
  if (item() < 3) {
    printf("item %u of %d: %5.2f %s %c%% %lld\n", item(), 64, item() * 0.5, "text", 'x',
           -5000000000LL);
  }
  if (item() == 70) printf("named %s, %x\n", "again, and longer than the seven words of a packet", 255);
}

__device__ __attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __attribute__((noinline)) int spread(int n) {
  volatile int parts[60];
  for (int i = 0; i < 60; ++i) parts[i] = i * n;
  int sum = 0;
  for (int i = 0; i < 60; ++i) sum += parts[i * 7 % 60];
  return sum;
}
__device__ int (*const calls[])(int) = {fibonacci, spread};
__global__ void call(int which, int n, int* out) { *out = calls[which](n); }
__device__ __attribute__((noinline)) int depth(int n) {
  volatile int frame[60];
  frame[n % 60] = n;
  return n == 0 ? 0 : depth(n - 1) + (frame[n % 60] == n ? 1 : 0);
}
__global__ void call_deep(int n, int* out) { *out = depth(n); }

__global__ void count_clocks(long long* out) {
  const long long cycles = __builtin_amdgcn_s_memtime();
  const long long ticks = __builtin_amdgcn_s_memrealtime();
  for (int i = 0; i < 20000; ++i) __builtin_amdgcn_s_sleep(1);
  out[0] = __builtin_amdgcn_s_memtime() - cycles;
  out[1] = __builtin_amdgcn_s_memrealtime() - ticks;
}

__global__ void trap() { __builtin_trap(); }
__global__ void stray(int* at) { *at = 1; }

bool run_streams() {
  std::vector<float> a(kItems), b(kItems), c(kItems);
  for (int i = 0; i < kItems; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i + 1);
  }
  float *da, *db, *dc;
  constexpr size_t kBytes = kItems * sizeof(float);
  CHECK(hipMalloc(reinterpret_cast<void**>(&da), kBytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&db), kBytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&dc), kBytes));
  CHECK(hipMemcpy(da, a.data(), kBytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(db, b.data(), kBytes, hipMemcpyHostToDevice));
  const dim3 blocks(kItems / kBlock), threads(kBlock);
  for (int which = 0; which < 5; ++which) {
    if (which == 0) stream_copy<<<blocks, threads>>>(da, dc);
    if (which == 1) stream_scale<<<blocks, threads>>>(da, dc, 3.0f);
    if (which == 2) stream_add<<<blocks, threads>>>(da, db, dc);
    if (which == 3) stream_triad<<<blocks, threads>>>(da, db, dc, 0.5f);
    if (which == 4) stream_read<<<blocks, threads>>>(da, dc);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(c.data(), dc, kBytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < kItems; ++i) {
      const float expected[] = {a[i], 3.0f * a[i], a[i] + b[i], a[i] + 0.5f * b[i],
                                a[i] + 0.5f * b[i]};
      if (c[i] != expected[which]) return false;
    }
  }
  CHECK(hipFree(da));
  CHECK(hipFree(db));
  CHECK(hipFree(dc));
  return true;
}

// Where icd_twin.c had its first buffer, 0: anywhere; and the code object of its kernels, if they
// shall run in place of the ones here.
unsigned long long wanted_address = 0;
hipModule_t twin_kernels = nullptr;

bool start(const char* name, const void* stub, dim3 blocks, dim3 threads, void** arguments) {
  if (twin_kernels == nullptr) {
    CHECK(hipLaunchKernel(stub, blocks, threads, arguments, 0, nullptr));
    return true;
  }
  hipFunction_t kernel = nullptr;
  CHECK(hipModuleGetFunction(&kernel, twin_kernels, name));
  CHECK(hipModuleLaunchKernel(kernel, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                              0, nullptr, arguments, nullptr));
  return true;
}

bool run_reduce() {
  std::vector<int> in(kItems);
  int expected = 0;
  for (int i = 0; i < kItems; ++i) expected += in[i] = i % 101;
  int *din, *dout;
  CHECK(hipMalloc(reinterpret_cast<void**>(&din), kItems * sizeof(int)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&dout), sizeof(int)));
  CHECK(hipMemcpy(din, in.data(), kItems * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemset(dout, 0, sizeof(int)));
  void* arguments[] = {&din, &dout};
  if (!start("reduce", reinterpret_cast<const void*>(reduce), kItems / kBlock, kBlock, arguments)) {
    return false;
  }
  int sum = 0;
  CHECK(hipMemcpy(&sum, dout, sizeof sum, hipMemcpyDeviceToHost));
  return sum == expected;
}

bool run_transpose() {
  constexpr int kSide = 512;
  std::vector<float> in(kSide * kSide), out(kSide * kSide);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  float *din, *dout;
  CHECK(hipMalloc(reinterpret_cast<void**>(&din), in.size() * sizeof(float)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&dout), in.size() * sizeof(float)));
  CHECK(hipMemcpy(din, in.data(), in.size() * sizeof(float), hipMemcpyHostToDevice));
  int side = kSide;
  void* arguments[] = {&din, &dout, &side};
  if (!start("transpose", reinterpret_cast<const void*>(transpose<16>),
             dim3(kSide / 16, kSide / 16), dim3(16, 16), arguments)) {
    return false;
  }
  CHECK(hipMemcpy(out.data(), dout, in.size() * sizeof(float), hipMemcpyDeviceToHost));
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      if (out[x * kSide + y] != in[y * kSide + x]) return false;
    }
  }
  return true;
}

// Leaves a gap, so that the next buffer lies where icd_twin.c has its first one.
bool align_as_wanted() {
  if (wanted_address == 0) return true;
  constexpr unsigned long long kPage = 4096;  // and one behind each buffer
  constexpr size_t kProbeBytes = 1 << 20;     // no hole between buffers is as large
  size_t bytes = 0;
  CHECK(hipGetSymbolSize(&bytes, &scales));  // loads the code, which takes its place
  void* probe;
  CHECK(hipMalloc(&probe, kProbeBytes));
  const auto here = reinterpret_cast<unsigned long long>(probe);
  CHECK(hipFree(probe));
  if (wanted_address < here + kProbeBytes + kPage) return false;
  CHECK(hipMalloc(&probe, wanted_address - here - kPage));
  CHECK(hipMalloc(&probe, kProbeBytes));
  CHECK(hipFree(probe));
  return reinterpret_cast<unsigned long long>(probe) == wanted_address;
}

// Three kernels with the sizes, data and buffers of icd_twin.c.
bool run_twin() {
  if (!align_as_wanted()) return false;
  std::vector<float> a(kItems), b(kItems);
  for (int i = 0; i < kItems; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i + 1);
  }
  float *da, *db, *dc;
  CHECK(hipMalloc(reinterpret_cast<void**>(&da), kItems * sizeof(float)));
  CHECK(hipMemcpy(da, a.data(), kItems * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMalloc(reinterpret_cast<void**>(&db), kItems * sizeof(float)));
  CHECK(hipMemcpy(db, b.data(), kItems * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMalloc(reinterpret_cast<void**>(&dc), kItems * sizeof(float)));
  void* arguments[] = {&da, &db, &dc};
  return start("stream_add", reinterpret_cast<const void*>(stream_add), kItems / kBlock, kBlock,
               arguments) &&
         run_reduce() && run_transpose();
}

bool run_symbols() {
  const float values[4] = {1.5f, 2.5f, 3.5f, 4.5f};
  CHECK(hipMemcpyToSymbol(&scales, values, sizeof values, 0, hipMemcpyHostToDevice));
  size_t bytes = 0;
  CHECK(hipGetSymbolSize(&bytes, &scales));
  float* dout;
  CHECK(hipMalloc(reinterpret_cast<void**>(&dout), 64 * sizeof(float)));
  use_symbols<<<1, 64>>>(dout);
  float out[64];
  CHECK(hipMemcpy(out, dout, sizeof out, hipMemcpyDeviceToHost));
  int count = 0;
  CHECK(hipMemcpyFromSymbol(&count, &counted, sizeof count, 0, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) {
    if (out[i] != values[i % 4]) return false;
  }
  return count == 42 && bytes == sizeof values;
}

#ifndef WW_WITHOUT_HIP_MORE
// The same by a graph's nodes.
bool run_graph_symbols() {
  float values[4] = {9.5f, 8.5f, 7.5f, 6.5f}, other[2] = {1.5f, 2.5f}, out[4] = {};
  hipGraph_t graph = nullptr;
  hipGraphNode_t to = nullptr, from = nullptr, none = nullptr;
  hipGraphExec_t executable = nullptr;
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, &scales, values, sizeof values, 0,
                                      hipMemcpyHostToDevice));
  CHECK(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, out, &scales, sizeof out, 0,
                                        hipMemcpyDeviceToHost));
  int type = 0;
  CHECK(hipGraphNodeGetType(from, &type));
  if (type != 2) return false;  // a copy, as HIP 5 numbers them
  CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(executable, nullptr));
  if (memcmp(out, values, sizeof out) != 0) return false;
  CHECK(hipGraphExecMemcpyNodeSetParamsToSymbol(executable, to, &scales, other, sizeof other, 8,
                                                hipMemcpyHostToDevice));
  CHECK(hipGraphLaunch(executable, nullptr));
  if (out[1] != 8.5f || out[2] != 1.5f || out[3] != 2.5f) return false;
  // Nothing may go another way in an executable graph.
  return hipGraphExecMemcpyNodeSetParamsToSymbol(executable, to, &scales, other, sizeof other, 8,
                                                 hipMemcpyDefault) == 1 &&
         hipGraphAddMemcpyNodeToSymbol(&none, graph, nullptr, 0, &scales, values, sizeof values, 4,
                                       hipMemcpyHostToDevice) == 1 &&
         hipGraphAddMemcpyNodeToSymbol(&none, graph, nullptr, 0, values, values, 4, 0,
                                       hipMemcpyHostToDevice) == 13;
}
#endif

bool run_dynamic() {
  int data[128];
  for (int i = 0; i < 128; ++i) data[i] = i;
  int* d;
  CHECK(hipMalloc(reinterpret_cast<void**>(&d), sizeof data));
  CHECK(hipMemcpy(d, data, sizeof data, hipMemcpyHostToDevice));
  reverse<<<1, 128, sizeof data>>>(d, 128);
  CHECK(hipMemcpy(data, d, sizeof data, hipMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) {
    if (data[i] != 127 - i) return false;
  }
  return true;
}

// The same kernel launched one argument at a time, and by a structure: twice is back again.
bool run_other_launches() {
  int data[128];
  int count = 128;
  for (int i = 0; i < count; ++i) data[i] = i;
  int* d;
  CHECK(hipMalloc(reinterpret_cast<void**>(&d), sizeof data));
  CHECK(hipMemcpy(d, data, sizeof data, hipMemcpyHostToDevice));
  CHECK(hipConfigureCall(1, 128, sizeof data, nullptr));
  CHECK(hipSetupArgument(&d, sizeof d, 0));
  CHECK(hipSetupArgument(&count, sizeof count, sizeof d));
  CHECK(hipLaunchByPtr(reinterpret_cast<const void*>(reverse)));
  CHECK(hipMemcpy(data, d, sizeof data, hipMemcpyDeviceToHost));
  if (data[0] != 127 || data[127] != 0) return false;
  void* arguments[] = {&d, &count};
  const hipLaunchConfig_t configuration{1, 128, sizeof data, nullptr, nullptr, 0};
  CHECK(hipLaunchKernelExC(&configuration, reinterpret_cast<const void*>(reverse), arguments));
  CHECK(hipMemcpy(data, d, sizeof data, hipMemcpyDeviceToHost));
  return data[0] == 0 && data[127] == 127;
}

// Managed and pinned memory: the same address on both sides.
bool run_managed() {
  int* more;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&more), sizeof(int), 0));
  *more = 30;
  managed_total += 5;
  add_managed<<<1, 1>>>(more);
  CHECK(hipDeviceSynchronize());
  *more = 100;  // without a call in between
  add_managed<<<1, 1>>>(more);
  CHECK(hipDeviceSynchronize());
  CHECK(hipHostFree(more));
  return managed_total == 142;
}

bool run_struct() {
  double* d;
  CHECK(hipMalloc(reinterpret_cast<void**>(&d), sizeof(double)));
  take_struct<<<1, 64>>>(Pair{2, 39.5}, 1, d);
  double value = 0;
  CHECK(hipMemcpy(&value, d, sizeof value, hipMemcpyDeviceToHost));
  return value == 42.5;
}

bool run_print() {
  print_lines<<<2, 64>>>(nullptr);
  CHECK(hipDeviceSynchronize());
  return true;
}

// The program is linked with libamdhip64.so.5, whose links to the same file are there, too.
bool run_version() {
  int version = 0;
  CHECK(hipRuntimeGetVersion(&version));
  return version / 10000000 == 5;
}

// The rates of clock64() and wall_clock64() are the attributes that say so.
bool run_clocks() {
  constexpr int kClockInstructionRate = 10000, kWallClockRate = 10017;
  int cycle_khz = 0, tick_khz = 0;
  CHECK(hipDeviceGetAttribute(&cycle_khz, kClockInstructionRate, 0));
  CHECK(hipDeviceGetAttribute(&tick_khz, kWallClockRate, 0));
  long long* counts;
  CHECK(hipMalloc(reinterpret_cast<void**>(&counts), 2 * sizeof(long long)));
  count_clocks<<<1, 1>>>(counts);
  long long out[2];
  CHECK(hipMemcpy(out, counts, sizeof out, hipMemcpyDeviceToHost));
  const double cycles_ms = static_cast<double>(out[0]) / cycle_khz;
  const double ticks_ms = static_cast<double>(out[1]) / tick_khz;
  return ticks_ms > 0.1 && cycles_ms > 0.99 * ticks_ms && cycles_ms < 1.01 * ticks_ms;
}

int result_of_call(int which, int n, int* out) {
  call<<<1, 1>>>(which, n, out);
  int value = -1;
  return hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost) == 0 ? value : -1;
}

// Calls by pointer and recursion: the code object does not say how much private memory they take.
bool run_calls() {
  int* out;
  CHECK(hipMalloc(reinterpret_cast<void**>(&out), sizeof(int)));
  if (result_of_call(0, 9, out) != 34 || result_of_call(1, 2, out) != 60 * 59) return false;
  size_t stack = 0;
  CHECK(hipDeviceGetLimit(&stack, 0));
  if (stack != 1024) return false;
  CHECK(hipDeviceSetLimit(0, 64 << 10));
  call_deep<<<1, 1>>>(100, out);
  int value = 0;
  CHECK(hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost));
  CHECK(hipDeviceSetLimit(0, stack));
  return value == 100 && hipDeviceSetLimit(0, 1 << 20) == 1 && hipDeviceSetLimit(1, 4) == 215;
}

// A kernel that traps as assert does: the device's error, from then on.
bool run_trap() {
  trap<<<1, 64>>>();
  const int first = hipDeviceSynchronize();
  void* memory = nullptr;
  const int second = hipMalloc(&memory, 4);
  const bool told = first == 719 && second == 719 && hipGetLastError() == 719;
  CHECK(hipDeviceReset());
  CHECK(hipGetLastError());
  return told && managed_total >= 7 && run_struct();
}

bool run_stray() {
  stray<<<1, 1>>>(reinterpret_cast<int*>(0x123456789000));
  if (hipDeviceSynchronize() != 700) return false;
  return hipDeviceReset() == 0 && run_reduce();
}

struct Program {
  const char* name;
  bool (*run)();
};
constexpr Program kPrograms[] = {
    {"streams", run_streams}, {"reduce", run_reduce},   {"transpose", run_transpose}, {"twin", run_twin},
    {"symbols", run_symbols}, {"dynamic", run_dynamic},
#ifndef WW_WITHOUT_HIP_MORE
    {"graph symbols", run_graph_symbols},
#endif
    {"other launches", run_other_launches}, {"managed", run_managed},
    {"struct", run_struct},   {"print", run_print},     {"version", run_version},
    {"calls", run_calls},     {"clocks", run_clocks},   {"trap", run_trap},
    {"stray", run_stray}};

// Launches while the program ends, when what the main thread had of its own is gone.
void leave() {
  for (int i = 0; i < 3; ++i) __hipPushCallConfiguration(1, 64);
  dim3 blocks, threads;
  size_t bytes;
  hipStream_t stream;
  int popped = 0;
  while (__hipPopCallConfiguration(&blocks, &threads, &bytes, &stream) == 0) ++popped;
  // Memory that was freed twice is given twice.
  std::vector<void*> blocks_of_a_size;
  bool each_once = true;
  for (int i = 0; i < 8; ++i) {
    void* block = malloc(sizeof(dim3) * 2 + sizeof(size_t) * 2);
    for (const void* other : blocks_of_a_size) each_once = each_once && block != other;
    blocks_of_a_size.push_back(block);
  }
  printf("%-10s %s\n", "leave", each_once && popped == 3 && run_struct() ? "ok" : "FAILED");
  fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) atexit(leave);
  int failed = 0;
  int found = 0;
  if (count > 2) wanted_address = strtoull(arguments[2], nullptr, 10);
  if (count > 3 && hipModuleLoad(&twin_kernels, arguments[3]) != 0) return 1;
  for (const Program& program : kPrograms) {
    if (count > 1 && strcmp(arguments[1], program.name) != 0) continue;
    ++found;
    const bool good = program.run();
    printf("%-10s %s\n", program.name, good ? "ok" : "FAILED");
    failed += good ? 0 : 1;
  }
  return found == 0 || failed != 0;
}
