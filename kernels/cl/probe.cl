// How long one wavefront on one place waits for each of `count` addresses: ticks[i] is the time of
// `hops` dependent accesses to buffer[offsets[i]], in ticks of the CU's clock. The buffer holds
// zeros: what an access gives is added to the next address, so that no two overlap.
//
// The place is the one whose hardware id has `place` under `mask`.
//
// Macros: WW_WAVE_SIZE, WW_CLOCK(t), WW_CLOCK_MASK (the clock's bits: it wraps after 2^20 ticks on
// some parts, so that only differences under the mask are times), WW_USE(x), WW_FETCH(p): an access that the L1 and a near
// copy of a partitioned L2 cannot answer (a read past the L1 on AMD; on NVIDIA an atomic that
// changes nothing, which goes to the line's home). ticket[0] is 0 before: one wavefront works.
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void probe(__global uint* buffer, __global const uint* offsets, const uint count, const uint hops,
           const uint mask, const uint place, __global uint* ticket, __global uint* ticks) {
  WW_READ_PLACE(id);
  if ((id & mask) != place || get_local_id(0) != 0) return;
  if (atomic_inc(ticket) != 0) return;
  for (uint i = 0; i < count; ++i) {
    __global uint* const base = buffer + offsets[i];
    uint at = WW_FETCH(base);  // into the L2
    WW_USE(at);
    ulong begin, end;
    WW_CLOCK(begin);
    for (uint hop = 0; hop < hops; ++hop) at = WW_FETCH(base + at);
    WW_USE(at);
    WW_CLOCK(end);
    ticks[i] = (uint)(end - begin) & WW_CLOCK_MASK;
  }
  ticket[1] = id;
}
