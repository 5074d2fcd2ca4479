// A chain of dependent loads by one work-item: `warm` untimed ones, then `count` timed ones, each
// with the time that it took [ticks of the compute unit's clock] in ticks[i]. buffer[i] is the index
// of the word to read after word i, so that the host's chain decides stride, length and order.
// `first` is the first index. `way`: 0 past the L1, 1 through the vector L1, 2 in local memory (a
// copy of the first WW_RING words, which must be a chain of their own), 3 through AMD's scalar cache.
// `scalar` is the same memory as `buffer`. NVIDIA's constants lie in banks of their own, where a
// buffer's address means nothing, and its read-only path is the L1 of way 1: way 3 does nothing there. output[0] gets the last index: the chain's check.
//
// A timed load's figure includes one reading of the clock. Times are kept in local memory until the
// end, because stores to global memory would delay loads. Macros: WW_WAVE_SIZE, WW_CLOCK(t),
// WW_CLOCK_MASK, WW_USE(x), WW_HIDE(x), WW_LOAD(p), WW_PIN_CONSTRAINT (a scalar register).
#define WW_MOST_TIMED 2048u
#define WW_RING 256u
#define WW_CHASE(LOAD, USE)                            \
  for (uint i = 0; i < warm; ++i) {                    \
    at = LOAD;                                         \
    USE(at);                                           \
  }                                                    \
  for (uint i = 0; i < timed; ++i) {                   \
    ulong begin, end;                                  \
    WW_CLOCK(begin);                                   \
    at = LOAD;                                         \
    USE(at);                                           \
    WW_CLOCK(end);                                     \
    taken[i] = (uint)(end - begin) & WW_CLOCK_MASK;    \
  }
#ifdef __AMDGCN__
#define WW_USE_SCALAR(x) __asm__ volatile("" : WW_PIN_CONSTRAINT(x) : : "memory")
#endif
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void chase(__global const uint* buffer, __constant uint* scalar, const uint first, const uint warm,
           const uint count, const uint way, __global uint* ticks, __global uint* output) {
  __local uint taken[WW_MOST_TIMED];
  __local uint ring[WW_RING];
  if (get_local_id(0) != 0) return;
  const uint timed = count < WW_MOST_TIMED ? count : WW_MOST_TIMED;
  uint at = first;
  if (way == 0u) {
    WW_CHASE(WW_LOAD(buffer + at), WW_USE)
  } else if (way == 1u) {
    WW_HIDE(at);  // a vector register, so that the load is a vector's
    WW_CHASE(buffer[at], WW_USE)
  } else if (way == 2u) {
    for (uint i = 0; i < WW_RING; ++i) ring[i] = WW_LOAD(buffer + i);
    WW_HIDE(at);
    WW_CHASE(ring[at], WW_USE)
  }
#ifdef WW_USE_SCALAR
  if (way == 3u) {
    uint next = first;
    WW_USE_SCALAR(next);
#define at next
    WW_CHASE(scalar[at], WW_USE_SCALAR)
#undef at
    at = next;
  }
#else
  (void)scalar;
#endif
  for (uint i = 0; i < timed; ++i) ticks[i] = taken[i];
  output[0] = at;
}
#undef WW_USE_SCALAR
#undef WW_CHASE
#undef WW_RING
#undef WW_MOST_TIMED
