#pragma once

#define WW_DEVICE static inline __attribute__((device))

__attribute__((device)) unsigned ww_increment(unsigned*, unsigned, unsigned, unsigned,
                                              bool) __asm("llvm.amdgcn.atomic.inc.i32.p0i32");
__attribute__((device)) unsigned ww_decrement(unsigned*, unsigned, unsigned, unsigned,
                                              bool) __asm("llvm.amdgcn.atomic.dec.i32.p0i32");

WW_DEVICE unsigned atomicInc(unsigned* address, unsigned most) {
  return ww_increment(address, most, __ATOMIC_RELAXED, 1, false);
}
WW_DEVICE unsigned atomicDec(unsigned* address, unsigned most) {
  return ww_decrement(address, most, __ATOMIC_RELAXED, 1, false);
}

#undef WW_DEVICE
