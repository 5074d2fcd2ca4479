// Forms of device code that compilers make on request: printf through a buffer, blocks that need
// not divide the range, waves of both sizes, code for a whole family of GPUs. Compiled with -mprintf-kind=buffered and
// -fno-offload-uniform-block; with WW_SIMPLE (generic targets, for which no device library is
// there) only a plain kernel. The argument names what to run.
#include <stdio.h>
#include <string.h>

#include "hip_declarations.hpp"

#define HIP_API extern "C" __host__
HIP_API hipError_t hipGetFuncBySymbol(hipFunction_t*, const void*);

static int failures = 0;
static void expect(bool good, const char* what) {
  if (good) return;
  printf("FAILED %s\n", what);
  ++failures;
}

__global__ void triple(unsigned* out) {
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  out[lane] = 3 * lane + 7;
}

static void plain() {
  unsigned seen[64] = {}, *device = nullptr;
  expect(hipMalloc((void**)&device, sizeof seen) == 0, "hipMalloc");
  triple<<<dim3(1), dim3(64)>>>(device);
  expect(hipMemcpy(seen, device, sizeof seen, hipMemcpyDeviceToHost) == 0, "the plain kernel");
  for (unsigned lane = 0; lane < 64; ++lane) expect(seen[lane] == 3 * lane + 7, "its result");
}

#ifndef WW_SIMPLE
// printf's own allocation, as the device library has it (opencl/src/misc/printf_alloc.cl).
extern "C" __device__ __attribute__((used)) char __attribute__((address_space(1))) *
    __printf_alloc(unsigned bytes) {
  using Word = unsigned __attribute__((address_space(1)));
  constexpr unsigned kHeader = 8;
  const auto* hidden = (const uint64_t __attribute__((address_space(4)))*)__builtin_amdgcn_implicitarg_ptr();
  auto* buffer = (Word*)hidden[9];
  for (unsigned used = buffer[0];;) {
    if (kHeader + used + bytes > buffer[1]) return nullptr;
    if (__atomic_compare_exchange_n(buffer, &used, used + bytes, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      return (char __attribute__((address_space(1)))*)buffer + kHeader + used;
    }
  }
}
extern "C" __device__ int printf(const char*, ...);

__global__ void tell(int n, const char* name, const char* format) {
  const int lane = (int)__builtin_amdgcn_workitem_id_x();
  printf("%d and %d: %s %.2f\n", n, lane, "ok", 0.5 * lane);
  if (lane != 0) return;
  printf("100%% of %5s|%-4x|%llu|%c|%hd\n", name, 255, 1ull << 40, 'q', (short)-3);
  printf(format, 7, 2.5);
}

static char* on_device(const char* text) {
  char* device = nullptr;
  expect(hipMalloc((void**)&device, strlen(text) + 1) == 0, "hipMalloc");
  expect(hipMemcpy(device, text, strlen(text) + 1, hipMemcpyHostToDevice) == 0, "hipMemcpy");
  return device;
}

static void prints() {
  tell<<<1, 3>>>(9, on_device("abc"), on_device("made here: %d, %.1f\n"));
  expect(hipDeviceSynchronize() == 0, "a kernel that prints");
}

// What each work-item sees of its block's size (blockDim), by its place in the range.
extern "C" __device__ size_t __ockl_get_local_size(unsigned);
__device__ unsigned block(unsigned axis) { return (unsigned)__ockl_get_local_size(axis); }
__global__ void sizes(unsigned* out, unsigned width, unsigned height) {
  const unsigned x = __builtin_amdgcn_workgroup_id_x() * 4 + __builtin_amdgcn_workitem_id_x();
  const unsigned y = __builtin_amdgcn_workgroup_id_y() * 3 + __builtin_amdgcn_workitem_id_y();
  const unsigned z = __builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workitem_id_z();
  out[x + width * (y + height * z)] += block(0) | block(1) << 8 | block(2) << 16;
}
__global__ void ends(unsigned* out) {
  const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  __builtin_amdgcn_s_barrier();
  out[i] += 1;
}

static void uneven() {
  constexpr unsigned kWidth = 10, kHeight = 7, kDepth = 5, kItems = kWidth * kHeight * kDepth;
  static unsigned seen[kItems + 1024];
  unsigned* device = nullptr;
  hipFunction_t function = nullptr;
  expect(hipMalloc((void**)&device, sizeof seen) == 0, "hipMalloc");
  expect(hipGetFuncBySymbol(&function, (const void*)sizes) == 0, "hipGetFuncBySymbol");
  unsigned width = kWidth, height = kHeight;
  void* arguments[] = {&device, &width, &height};
  for (int twice = 0; twice < 2; ++twice) {  // the second may be a replay
    expect(hipMemset(device, 0, sizeof seen) == 0, "hipMemset");
    expect(hipExtModuleLaunchKernel(function, kWidth, kHeight, kDepth, 4, 3, 2, 0, nullptr,
                                    arguments, nullptr, nullptr, nullptr, 0) == 0,
           "a launch of uneven blocks");
    expect(hipMemcpy(seen, device, sizeof seen, hipMemcpyDeviceToHost) == 0, "hipMemcpy");
    for (unsigned i = 0; i < kItems + 1024; ++i) {
      const unsigned x = i % kWidth, y = i / kWidth % kHeight, z = i / kWidth / kHeight;
      const unsigned right = i >= kItems ? 0
                                         : (x < 8 ? 4 : 2) | (y < 6 ? 3U : 1U) << 8 |
                                               (z < 4 ? 2U : 1U) << 16;
      expect(seen[i] == right, "a block's size");
    }
  }
  // Blocks of several waves, the last of which has fewer; more groups than compute units.
  expect(hipGetFuncBySymbol(&function, (const void*)ends) == 0, "hipGetFuncBySymbol");
  static unsigned many[64 * 1001];
  unsigned* out = nullptr;
  expect(hipMalloc((void**)&out, sizeof many) == 0, "hipMalloc");
  expect(hipMemset(out, 0, sizeof many) == 0, "hipMemset");
  void* one[] = {&out};
  constexpr unsigned kMany = 64 * 1000 + 5;
  expect(hipExtModuleLaunchKernel(function, kMany, 1, 1, 64, 1, 1, 0, nullptr, one, nullptr, nullptr,
                                  nullptr, 0) == 0,
         "many blocks");
  expect(hipMemcpy(many, out, sizeof many, hipMemcpyDeviceToHost) == 0, "hipMemcpy");
  for (unsigned i = 0; i < 64 * 1001; ++i) expect(many[i] == (i < kMany ? 1U : 0U), "an item");
}

// Kernels with waves of 32 and of 64 lanes in one code object, where a GPU has both.
#if defined(__gfx1030__) || defined(__gfx1100__)
#define WW_WAVES_OF_64 __attribute__((target("wavefrontsize64")))
#else
#define WW_WAVES_OF_64
#endif
// Not a function: what the compiler makes of one for waves of 32 is wrong in others.
#define WW_LANES                                                                             \
  const unsigned i = __builtin_amdgcn_workitem_id_x();                                       \
  const unsigned lane = __builtin_amdgcn_mbcnt_hi(~0U, __builtin_amdgcn_mbcnt_lo(~0U, 0U)); \
  out[i] = i % 3 == 0 ? lane : 100 + __builtin_amdgcn_wavefrontsize();
__global__ void usual_waves(unsigned* out) { WW_LANES }
WW_WAVES_OF_64 __global__ void wide_waves(unsigned* out) { WW_LANES }

static void waves() {
  unsigned seen[64], *device = nullptr;
  expect(hipMalloc((void**)&device, sizeof seen) == 0, "hipMalloc");
  unsigned lanes = 0;
  for (int round = 0; round < 4; ++round) {
    if (round % 2 == 0) {
      usual_waves<<<1, 64>>>(device);
    } else {
      wide_waves<<<1, 64>>>(device);
    }
    expect(hipMemcpy(seen, device, sizeof seen, hipMemcpyDeviceToHost) == 0, "hipMemcpy");
    lanes = seen[1] - 100;
    expect(lanes == 64 || (round % 2 == 0 && lanes == 32), "lanes of a wave");
    for (unsigned i = 0; i < 64; ++i) {
      expect(seen[i] == (i % 3 == 0 ? i % lanes : 100 + lanes), "a lane");
    }
  }
}
#endif

int main(int count, char** names) {
  const char* only = count > 1 ? names[1] : "";
  if (*only == '\0' || strcmp(only, "plain") == 0) plain();
#ifndef WW_SIMPLE
  if (*only == '\0' || strcmp(only, "prints") == 0) prints();
  if (*only == '\0' || strcmp(only, "uneven") == 0) uneven();
  if (*only == '\0' || strcmp(only, "waves") == 0) waves();
#endif
  puts(failures == 0 ? "ok" : "FAILED");
  return failures != 0;
}
