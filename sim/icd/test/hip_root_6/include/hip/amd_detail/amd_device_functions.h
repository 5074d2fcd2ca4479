#pragma once

extern "C" __attribute__((device)) unsigned long long __ockl_steadyctr_u64();

static inline __attribute__((device)) long long wall_clock64() {
  return static_cast<long long>(__ockl_steadyctr_u64());
}
