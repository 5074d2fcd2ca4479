// How long a wavefront sleeps: ticks[round * 8 + i] is the time of sleep i [ticks of the compute
// unit's clock], with one reading of the clock in it. The sleeps are the target's own instruction with
// eight arguments of rising length, which the host knows: on AMD s_sleep of 2^i - 1 (units of 64
// cycles), on NVIDIA nanosleep of 20 * 4^i ns. Elsewhere there is none, and nothing is written.
//
// Macros: WW_WAVE_SIZE, WW_CLOCK(t), WW_CLOCK_MASK, WW_PIN_CONSTRAINT (of NVIDIA and AMD alone).
#if defined(__AMDGCN__)
#define WW_SLEEP(i) __builtin_amdgcn_s_sleep((1 << (i)) - 1)
#elif defined(WW_PIN_CONSTRAINT)
#define WW_SLEEP(i) __asm__ volatile("nanosleep.u32 %0;" : : "r"(20u << (2 * (i))) : "memory")
#endif
#ifdef WW_SLEEP
#define WW_TIME_SLEEP(i)                                               \
  {                                                                    \
    ulong begin, end;                                                  \
    WW_CLOCK(begin);                                                   \
    WW_SLEEP(i);                                                       \
    WW_CLOCK(end);                                                     \
    ticks[round * 8u + i] = (uint)(end - begin) & WW_CLOCK_MASK;       \
  }
#else
#define WW_TIME_SLEEP(i)
#endif
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void sleeps(__global uint* ticks, const uint rounds) {
  if (get_local_id(0) != 0) return;
  for (uint round = 0; round < rounds; ++round) {
    WW_TIME_SLEEP(0)
    WW_TIME_SLEEP(1)
    WW_TIME_SLEEP(2)
    WW_TIME_SLEEP(3)
    WW_TIME_SLEEP(4)
    WW_TIME_SLEEP(5)
    WW_TIME_SLEEP(6)
    WW_TIME_SLEEP(7)
  }
}
#undef WW_TIME_SLEEP
#undef WW_SLEEP
