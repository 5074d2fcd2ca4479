// How long one wavefront on one place waits for each of `count` addresses: ticks[i] is the time of
// `hops` dependent accesses to buffer[offsets[i]] for each number of lines, in ticks of the CU's
// clock. The buffer holds zeros: what an access gives is added to the next address, so that no two
// overlap.
//
// A wavefront of GCN and CDNA issues every fourth cycle, so that a load takes a multiple of four
// cycles, wherever its line is: a contrast of a few cycles drowns in that. An access therefore reads
// one line, then two, and so on up to `lines`, 64 B from one to the next. The L1 takes one line a
// cycle. The last line comes back later by as many cycles, and over four such delays the rounding
// is the same for any time of flight. `lines` is 1 where that is not wanted; all lines must lie on
// one channel. The L1 of RDNA has lines of 128 B: a load of two neighbours is one request, and the
// delays would be 0, 0, 2 and 2 cycles. There an atomic operation takes the load's place, because it
// asks for each 64 B by itself. It adds the zero that the access before it gave, which the compiler
// cannot know to be one.
//
// The place is the one whose hardware id has `place` under `mask`.
//
// Macros: WW_WAVE_SIZE, WW_CLOCK(t), WW_CLOCK_MASK (the clock's bits: it wraps after 2^20 ticks on
// some parts, so that only differences under the mask are times), WW_USE(x), WW_UNIFORM(x),
// WW_FETCH(p): an access that the L1 and a near copy of a partitioned L2 cannot answer (a read past
// the L1 on AMD; on NVIDIA an atomic that changes nothing, which goes to the line's home).
// ticket[0] is 0 before: one wavefront works.
#if defined(__AMDGCN__) && WW_WAVE_SIZE == 32
#define WW_HOP(base, at) atomic_add(base + at, at)
#else
#define WW_HOP(base, at) WW_FETCH(base + at)
#endif
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void probe(__global uint* buffer, __global const uint* offsets, const uint count, const uint hops,
           const uint mask, const uint place, __global uint* ticket, __global uint* ticks,
           const uint lines) {
  WW_READ_PLACE(id);
  const uint lane = get_local_id(0);
  if ((id & mask) != place || lane >= lines) return;
  uint taken = 1;
  if (lane == 0) taken = atomic_inc(ticket);
  if (WW_UNIFORM(taken) != 0) return;
  for (uint i = 0; i < count; ++i) {
    __global uint* const base = buffer + offsets[i] + lane * 16;
    uint at = WW_FETCH(base);  // into the L2
    WW_USE(at);
    uint time = 0;
    for (uint used = 1; used <= lines; ++used) {
      if (lane >= used) continue;
      ulong begin, end;
      WW_CLOCK(begin);
      for (uint hop = 0; hop < hops; ++hop) at = WW_HOP(base, at);
      WW_USE(at);
      WW_CLOCK(end);
      time += (uint)(end - begin) & WW_CLOCK_MASK;
    }
    if (lane == 0) ticks[i] = time;
  }
  if (lane == 0) ticket[1] = id;
}
