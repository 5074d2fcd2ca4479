// A program of several sources: a kernel that calls a function of another one (-fgpu-rdc), and C.
#include "hip_declarations.hpp"

#include <stdio.h>

__device__ int twice(int x);  // hip_part.hip
extern "C" int number_of_parts(void);  // hip_part.c

namespace {

constexpr int kItems = 64;

__global__ void double_ids(int* out) {
  const int id = static_cast<int>(__builtin_amdgcn_workitem_id_x());
  out[id] = twice(id);
}

}  // namespace

int main() {
  int* device = nullptr;
  int out[kItems] = {};
  if (hipMalloc((void**)&device, sizeof out) != 0) return 1;
  double_ids<<<1, kItems>>>(device);
  if (hipMemcpy(out, device, sizeof out, hipMemcpyDeviceToHost) != 0) return 1;
  int wrong = 0;
  for (int i = 0; i < kItems; ++i) wrong += out[i] != 2 * i;
  printf("%s: %d parts\n", wrong == 0 ? "ok" : "FAILED", number_of_parts());
  return wrong == 0 && number_of_parts() == 3 ? 0 : 1;
}
