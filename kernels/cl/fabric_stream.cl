// Compute dies read pages past their L2s, over the I/O dies: each die the list that `homes` gives it.
//
// WW_READ_PLACE must be patched to the number of the die (XCC_ID). Work-groups are taken to go to
// the dies in turn, which decides how the pages are shared out and never which list is read.
//
// homes:   8 bits for each of eight dies, the lowest of die 0: the number of its list and 1 more; 0: the die
//          is at rest. Lists are [list][pages] in `lists`, offsets in the buffer [bytes] of pages of
//          4096 bytes.
// waves:   wavefronts of one die.
// A page is read in runs of 16 B a lane, one after the other (`volatile` keeps them so, and past the
// L1). Every die walks its list from the beginning to the end, `passes` times: a list with more lines
// than the L2 has ways for never hits there. Where `reads` is 0 the wavefronts wait instead of reading.
// Wavefronts that work add themselves to working[die] where `count` is not 0. Nothing else is written,
// so that launches repeat.
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void fabric_stream(__global const uchar* buffer, __global const uint* restrict lists,
                   const uint pages, const ulong homes, const uint passes, const uint throttle,
                   const uint reads, const uint dies, const uint waves,
                   __global uint* restrict working, const uint count,
                   __global uint* restrict output) {
  WW_READ_PLACE(id);
  const uint die = id & 7u;
  const uint home = (uint)(homes >> (8u * die)) & 255u;
  if (home == 0) return;
  const uint local_id = (uint)get_local_id(0);
  const uint lane = local_id % WW_WAVE_SIZE;
  const uint wave = WW_UNIFORM((uint)get_group_id(0) / dies * WW_WAVES_PER_GROUP +
                               local_id / WW_WAVE_SIZE);
  if (lane == 0 && count != 0) atomic_inc(working + die);
  __global const uint* const list = lists + (home - 1) * pages;
  uint accumulator = 0;
  for (uint pass = 0; pass < passes; ++pass) {
    for (uint page = wave; page < pages; page += waves) {
      __global const uchar* at = buffer + list[page] + lane * 16u;
      for (uint run = 0; run < reads; ++run) {
        const uint4 value = *(volatile __global const uint4*)at;
        accumulator ^= value.x;
        at += WW_WAVE_SIZE * 16u;
      }
      for (uint wait = throttle; wait != 0; --wait) {
        WW_WAIT();
      }
    }
  }
  // Never true: the host passes fewer. The compiler cannot know, and keeps the loads' use.
  if (accumulator == 0x7EDCBA98u && passes == 0xFFFFFFFFu) output[0] = accumulator;
}
