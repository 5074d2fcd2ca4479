// How long one wavefront of a compute die waits for the first word of each of `count` pages that its
// L2 does not have, in ticks of its clock. `offsets` are in the buffer [bytes]. The pages must be more
// than the L2 keeps of them from one launch to the next.
//
// WW_READ_PLACE must be patched to the number of the die (XCC_ID). ticket[0] is 0 before: one wavefront
// of die `die` works, and ticket[1] is its die's number and 1 more.
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void fabric_probe(__global const uchar* buffer, __global const uint* restrict offsets,
                  const uint count, const uint die, __global uint* ticket,
                  __global uint* restrict ticks) {
  WW_READ_PLACE(id);
  if ((id & 15u) != die || get_local_id(0) != 0) return;
  if (atomic_inc(ticket) != 0) return;
  for (uint i = 0; i < count; ++i) {
    uint at = offsets[i];
    WW_USE(at);
    ulong begin, end;
    WW_CLOCK(begin);
    uint value = WW_LOAD(buffer + at);
    WW_USE(value);
    WW_CLOCK(end);
    ticks[i] = (uint)(end - begin) & WW_CLOCK_MASK;
  }
  ticket[1] = die + 1u;
}
