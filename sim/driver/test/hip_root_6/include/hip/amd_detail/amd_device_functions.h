#pragma once

extern "C" __attribute__((device)) unsigned long long __ockl_steadyctr_u64();

static inline __attribute__((device)) long long wall_clock64() {
  return static_cast<long long>(__ockl_steadyctr_u64());
}

// Conversions with a rounding of their own, as __ocml_cvtrtz_f32_f64() is.
#define WW_ROUNDED(result, source, names)                                        \
  extern "C" __attribute__((device)) result __ocml_cvtrtn_##names(source value); \
  extern "C" __attribute__((device)) result __ocml_cvtrtp_##names(source value); \
  extern "C" __attribute__((device)) result __ocml_cvtrtz_##names(source value);
WW_ROUNDED(_Float16, float, f16_f32)
WW_ROUNDED(float, double, f32_f64)
WW_ROUNDED(float, int, f32_s32)
WW_ROUNDED(float, unsigned, f32_u32)
WW_ROUNDED(float, long, f32_s64)
WW_ROUNDED(float, unsigned long, f32_u64)
WW_ROUNDED(double, long, f64_s64)
WW_ROUNDED(double, unsigned long, f64_u64)
