// A program over headers as HIP 6 has them (hip_root_6/): it is linked with HIP 6's library, reads
// a clock and rounds by functions that older device libraries do not have.
#include <hip/hip_runtime.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "hip_declarations.hpp"

namespace {

constexpr int kHip6 = 60000000;

__global__ void time_sleep(long long* ticks) {
  const long long before = wall_clock64();
  for (int i = 0; i < 64; ++i) __builtin_amdgcn_s_sleep(16);
  *ticks = wall_clock64() - before;
}

bool clock_runs() {
  long long* device = nullptr;
  long long ticks = 0;
  if (hipMalloc((void**)&device, sizeof ticks) != 0) return false;
  time_sleep<<<1, 1>>>(device);
  if (hipMemcpy(&ticks, device, sizeof ticks, hipMemcpyDeviceToHost) != 0) return false;
  return hipFree(device) == 0 && ticks > 0;
}

template <class Result>
struct Rounded {
  Result down, up, to_zero;
};

#define WW_ROUND(source, result, names)                                     \
  __global__ void round_##names(const source* from, Rounded<result>* to) {  \
    const unsigned lane = __builtin_amdgcn_workitem_id_x();                 \
    const source value = from[lane];                                        \
    to[lane] = {__ocml_cvtrtn_##names(value), __ocml_cvtrtp_##names(value), \
                __ocml_cvtrtz_##names(value)};                              \
  }
WW_ROUND(float, _Float16, f16_f32)
WW_ROUND(double, float, f32_f64)
WW_ROUND(int, float, f32_s32)
WW_ROUND(unsigned, float, f32_u32)
WW_ROUND(long, float, f32_s64)
WW_ROUND(unsigned long, float, f32_u64)
WW_ROUND(long, double, f64_s64)
WW_ROUND(unsigned long, double, f64_u64)

uint64_t bits_of(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
uint64_t bits_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
uint64_t bits_of(_Float16 value) {
  uint16_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

// A long double holds each source and each result exactly.
template <class Source, class Result>
bool right(Source from, const Rounded<Result>& to) {
  const long double exact = from;
  const long double down = to.down;
  const long double up = to.up;
  if (bits_of(to.to_zero) != bits_of(exact < 0 ? to.up : to.down)) return false;
  if (exact == down || exact == up) return down == up;
  if (!(down < exact && exact < up)) return false;
  const bool negative = exact < 0;
  const uint64_t nearer = bits_of(negative ? to.up : to.down);
  return bits_of(negative ? to.down : to.up) == nearer + 1;  // none is between them
}

template <class Source, class Result, size_t N>
bool rounds(const char* name, void (*kernel)(const Source*, Rounded<Result>*),
            const Source (&values)[N]) {
  Source* from = nullptr;
  Rounded<Result>* to = nullptr;
  Rounded<Result> got[N];
  if (hipMalloc((void**)&from, sizeof values) != 0 || hipMalloc((void**)&to, sizeof got) != 0 ||
      hipMemcpy(from, values, sizeof values, hipMemcpyHostToDevice) != 0) {
    return false;
  }
  kernel<<<1, N>>>(from, to);
  if (hipMemcpy(got, to, sizeof got, hipMemcpyDeviceToHost) != 0) return false;
  bool all = true;
  for (size_t i = 0; i < N; ++i) {
    if (right(values[i], got[i])) continue;
    all = false;
    printf("%s: %Lg becomes %Lg, %Lg and %Lg\n", name, (long double)values[i],
           (long double)got[i].down, (long double)got[i].up, (long double)got[i].to_zero);
  }
  return hipFree(from) == 0 && hipFree(to) == 0 && all;
}

bool all_round() {
  const float floats[] = {0,    -0.0F, 1,     1.0001F, -1.0001F, 65504,  65519, 65520,
                          1e9F, -1e9F, 6e-8F, 1e-8F,   -1e-8F,   1e-38F, 0.1F,  -0.1F};
  const double doubles[] = {
      0,        1,         0.1,  -0.1, 1e300, -1e300, 1e-300, -1e-300, 3.4028235677973366e38,
      16777217, -16777217, 1e-45};
  const int ints[] = {0,        1,         -1,        16777216, 16777217,
                      16777219, -16777217, -16777219, INT_MAX,  INT_MIN};
  const unsigned unsigneds[] = {0, 1, 16777217, 16777219, UINT_MAX, 1U << 31};
  const long longs[] = {0,
                        1,
                        -1,
                        16777217,
                        -16777217,
                        (1L << 53) + 1,
                        -(1L << 53) - 1,
                        (1L << 53) + 3,
                        LONG_MAX,
                        LONG_MIN,
                        LONG_MIN + 1};
  const unsigned long unsigned_longs[] = {
      0, 1, 16777217, (1UL << 53) + 1, (1UL << 54) + 6, ULONG_MAX, 1UL << 63, (1UL << 63) + 1};
  bool all = rounds("f16_f32", round_f16_f32, floats);
  all &= rounds("f32_f64", round_f32_f64, doubles);
  all &= rounds("f32_s32", round_f32_s32, ints);
  all &= rounds("f32_u32", round_f32_u32, unsigneds);
  all &= rounds("f32_s64", round_f32_s64, longs);
  all &= rounds("f32_u64", round_f32_u64, unsigned_longs);
  all &= rounds("f64_s64", round_f64_s64, longs);
  all &= rounds("f64_u64", round_f64_u64, unsigned_longs);
  return all;
}

}  // namespace

int main() {
  int version = 0;
  if (hipRuntimeGetVersion(&version) != 0) return 1;
  const bool timed = clock_runs();
  const bool rounded = all_round();
  const bool right_version = version / kHip6 == 1;
  printf("%s: HIP %d, the clock %s\n", right_version && timed && rounded ? "ok" : "FAILED", version,
         timed ? "runs" : "stands still");
  return right_version && timed && rounded ? 0 : 1;
}
