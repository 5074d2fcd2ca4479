// A program over headers as HIP 5.2 has them (hip_root/): atomics that the compiler has under other
// names, in memory and in local memory.
#include <hip/hip_runtime.h>
#include <stdio.h>

#include "hip_declarations.hpp"

namespace {

constexpr int kItems = 64;
constexpr int kWords = 4;
constexpr unsigned kMost = 6;

__global__ void count(unsigned* words) {
  __shared__ unsigned local[2];
  const bool is_first = __builtin_amdgcn_workitem_id_x() == 0;
  if (is_first) local[0] = local[1] = 0;
  __builtin_amdgcn_s_barrier();
  atomicInc(words, kMost);
  atomicDec(words + 1, kMost);
  atomicInc(local, kMost);
  atomicDec(local + 1, kMost);
  __builtin_amdgcn_s_barrier();
  if (is_first) {
    words[2] = local[0];
    words[3] = local[1];
  }
}

}  // namespace

int main() {
  unsigned* device = nullptr;
  unsigned words[kWords] = {};
  if (hipMalloc((void**)&device, sizeof words) != 0) return 1;
  if (hipMemset(device, 0, sizeof words) != 0) return 1;
  count<<<1, kItems>>>(device);
  if (hipMemcpy(words, device, sizeof words, hipMemcpyDeviceToHost) != 0) return 1;
  // Both go round, through kMost + 1 values.
  const unsigned up = kItems % (kMost + 1);
  const unsigned down = (kMost + 1) - up;
  const bool right = words[0] == up && words[1] == down && words[2] == up && words[3] == down;
  printf("%s: %u %u %u %u\n", right ? "ok" : "FAILED", words[0], words[1], words[2], words[3]);
  return right ? 0 : 1;
}
