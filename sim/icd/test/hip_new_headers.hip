// A program over headers as HIP 6 has them (hip_root_6/): it is linked with HIP 6's library, and
// reads a clock that older device libraries do not have.
#include <hip/hip_runtime.h>
#include <stdio.h>

#include "hip_declarations.hpp"

namespace {

constexpr int kHip6 = 60000000;

__global__ void time_sleep(long long* ticks) {
  const long long before = wall_clock64();
  for (int i = 0; i < 64; ++i) __builtin_amdgcn_s_sleep(16);
  *ticks = wall_clock64() - before;
}

}  // namespace

int main() {
  long long* device = nullptr;
  long long ticks = 0;
  int version = 0;
  if (hipRuntimeGetVersion(&version) != 0) return 1;
  if (hipMalloc((void**)&device, sizeof ticks) != 0) return 1;
  time_sleep<<<1, 1>>>(device);
  if (hipMemcpy(&ticks, device, sizeof ticks, hipMemcpyDeviceToHost) != 0) return 1;
  const bool right = version / kHip6 == 1 && ticks > 0;
  printf("%s: HIP %d, %lld ticks\n", right ? "ok" : "FAILED", version, ticks);
  return right ? 0 : 1;
}
