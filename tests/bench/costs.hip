// For tests/bench/hip_costs: kernels of one kind of instruction each, in a loop. Prints a line for each
// kernel: its name and the host's nanoseconds that a turn of the loop takes for one wavefront.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

constexpr int kGroups = 104;
constexpr int kItems = 256;  // of a work-group
constexpr int kWaves = kGroups * kItems / 64;
constexpr int kTurns = 256;

__device__ int item() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void exponentials(float* out, int n) {
  float x = threadIdx.x * 0.01F;
  for (int i = 0; i < n; ++i) x = __expf(-x) + __logf(x + 2.0F);
  out[item()] = x;
}
__global__ void sines(float* out, int n) {
  float x = threadIdx.x * 0.01F;
  for (int i = 0; i < n; ++i) x = __sinf(x) + __cosf(x + 2.0F);
  out[item()] = x;
}
__global__ void doubles(double* out, int n) {
  double x = threadIdx.x * 0.01;
  double y = x + 1.0;
  for (int i = 0; i < n; ++i) {
    x = x * 0.999 + y;
    y = y * 0.5 - x * y;
  }
  out[item()] = x + y;
}
__global__ void double_sums(double* out, int n) {
  const double x = threadIdx.x * 0.01;
  const double y = 1.0 - x;
  double a = 0, b = 1, c = 2, d = 3;
  for (int i = 0; i < n; ++i) {
    a += x * b;
    b += y * c;
    c += x * d;
    d += y * a;
  }
  out[item()] = a + b + c + d;
}
__global__ void double_exponentials(double* out, int n) {
  double x = threadIdx.x * 0.01;
  for (int i = 0; i < n; ++i) x = exp(-x) + 0.25 * x;
  out[item()] = x;
}
__global__ void packed_halves(__half2* out, int n) {
  __half2 x = __floats2half2_rn(threadIdx.x * 0.01F, 1.0F);
  const __half2 by = __floats2half2_rn(0.5F, 0.25F);
  for (int i = 0; i < n; ++i) x = __hfma2(x, by, __hmul2(x, x));
  out[item()] = x;
}
__global__ void divisions(unsigned* out, int n) {
  unsigned x = threadIdx.x * 77777 + 5;
  for (int i = 1; i <= n; ++i) x = x / (i + threadIdx.x) + x % (i + 3) + 12345678;
  out[item()] = x;
}
__global__ void shuffles(int* out, int n) {
  int x = threadIdx.x;
  for (int i = 0; i < n; ++i) x += __shfl_xor(x, (i & 31) + 1);
  out[item()] = x;
}
__global__ void local_gathers(int* out, int n) {
  __shared__ int words[2048];
  for (int i = threadIdx.x; i < 2048; i += kItems) words[i] = i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += words[(threadIdx.x * 5 + i * 3 + sum) & 2047];
  out[item()] = sum;
}
__global__ void local_atomics(int* out, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  unsigned x = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    x = x * 1664525U + 1013904223U;
    atomicAdd(bins + (x >> 24), 1);
  }
  __syncthreads();
  atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
__global__ void atomics(int* out, int n) {
  for (int i = 0; i < n; ++i) atomicAdd(out + (threadIdx.x & 15), i);
}
__global__ void private_rows(int* out, int n) {
  int words[32];
  for (int i = 0; i < 32; ++i) words[i] = i * threadIdx.x;
  for (int i = 0; i < n; ++i) words[(i * n + 1) & 31] += i;
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += words[(i * n) & 31];
  out[item()] = sum;
}
__global__ void private_gathers(int* out, int n) {
  int words[32];
  for (int i = 0; i < 32; ++i) words[i] = i * threadIdx.x;
  int at = threadIdx.x & 31;
  for (int i = 0; i < n; ++i) {
    words[at] += i;
    at = (words[(at * 7 + i) & 31] + at) & 31;
  }
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += words[i];
  out[item()] = sum;
}
__global__ void bytes(unsigned char* out, int n) {
  for (int i = 0; i < n; ++i) out[item()] = out[item()] * 3 + i;
}
__global__ void gathers(int* out, int n) {
  unsigned x = threadIdx.x * 7919 + blockIdx.x;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    x = x * 1664525U + 1013904223U;
    sum += out[x >> 16];
  }
  out[item()] = sum;
}
__global__ void strides(int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += out[(item() * 33 + i) & 65535];
  out[item()] = sum;
}
__global__ void double_strides(double* out, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += out[(item() * 3 + i) & 16383];
  out[item()] = sum;
}
__global__ void vectors(float4* out, int n) {
  float4 sum = out[item()];
  for (int i = 1; i < n; ++i) {
    const float4 other = out[(item() + i * 64) & 16383];
    sum.x += other.x;
    sum.y += other.y;
    sum.z += other.z;
    sum.w += other.w;
  }
  out[item()] = sum;
}

__global__ void scaled(float* out, int by) { out[65536 + threadIdx.x] = out[threadIdx.x] * by; }
__global__ void counted_up(int* out, int by) { out[threadIdx.x] += by; }
__global__ void searched(int* out, int number) {
  if (out[item()] == number) out[0] = number;
}

void* memory;

template <class T>
void time(const char* name, void (*kernel)(T*, int), int turns) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  kernel<<<kGroups, kItems>>>(static_cast<T*>(memory), turns);
  const hipError_t error = hipDeviceSynchronize();
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  if (error != hipSuccess) {
    std::printf("%s: %s\n", name, hipGetErrorString(error));
    std::exit(1);
  }
  if (turns > 1) std::printf("%s %.1f\n", name, ns / (kWaves * static_cast<double>(turns)));
}

// Nanoseconds of a launch of so many groups of four waves. `step`: how much its argument differs from
// the last one's.
template <class T>
void launch(const char* name, void (*kernel)(T*, int), int groups, int step) {
  constexpr int kLaunches = 1000;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int i = 0; i < kLaunches; ++i) {
    kernel<<<groups, kItems>>>(static_cast<T*>(memory), 1 + i * step);
  }
  const hipError_t error = hipDeviceSynchronize();
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  if (error != hipSuccess) std::exit(1);
  std::printf("%s %.1f\n", name, ns / kLaunches);
}

int main() {
  constexpr std::size_t kBytes = 1 << 20;  // all that any of them touches
  if (hipMalloc(&memory, kBytes) != hipSuccess || hipMemset(memory, 0, kBytes) != hipSuccess)
    return 1;
  time("first", shuffles, 1);  // brings the host's pages
  time("exponentials", exponentials, kTurns);
  time("sines", sines, kTurns);
  time("doubles", doubles, kTurns);
  time("double_sums", double_sums, kTurns);
  time("double_exponentials", double_exponentials, kTurns);
  time("packed_halves", packed_halves, kTurns);
  time("divisions", divisions, kTurns);
  time("shuffles", shuffles, kTurns);
  time("local_gathers", local_gathers, kTurns);
  time("local_atomics", local_atomics, kTurns);
  time("atomics", atomics, kTurns / 4);
  time("private_rows", private_rows, kTurns);
  time("private_gathers", private_gathers, kTurns / 8);
  time("bytes", bytes, kTurns / 2);
  time("gathers", gathers, kTurns / 4);
  time("strides", strides, kTurns / 4);
  time("double_strides", double_strides, kTurns / 4);
  time("vectors", vectors, kTurns / 2);
  launch("launch, the same", scaled, 1, 0);
  launch("launch, other arguments", scaled, 1, 1);
  launch("launch, other memory", counted_up, 1, 0);
  if (hipMemset(memory, 0, kBytes) != hipSuccess) return 1;
  launch("launch of a MiB, the same", searched, kBytes / (kItems * sizeof(int)), 0);
}
