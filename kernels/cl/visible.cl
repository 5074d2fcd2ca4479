// Whether loads see what another place of the chip has stored meanwhile, or a cache before the L2
// answers them with what was there. A wavefront at the place `reader` reads `count` lines of 128 B by
// plain loads, which fills its caches. One at `writer` then stores `value` to all of them. The reader
// reads them again, by plain loads (`plain` 1) or past the caches as the streams do (0), and counts the
// lines in which it does not find `value`. The lines hold another value before.
//
// control holds eight zeros before: [0] and [1] let one wavefront work at each place, [2] says that the
// reader's caches are full, [3] that the stores are in the L2, [4] is the number of stale lines, [5] is
// 1 once it is there, [6] is the sum of what the lines held. Neither waits for ever: where [5] stays 0,
// the two were not there together.
// Macros: WW_WAVE_SIZE, WW_USE(x), WW_HIDE(x), WW_LOAD(p).
#define WW_PATIENCE 100000u
#define WW_WORDS 32u
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void visible(__global uint* lines, const uint count, const uint mask, const uint reader,
             const uint writer, const uint value, const uint plain, __global uint* control) {
  WW_READ_PLACE(id);
  const uint place = id & mask;
  if (get_local_id(0) != 0 || (place != reader && place != writer)) return;
  const uint writes = place == writer ? 1u : 0u;
  const uint none = plain >> 1;  // which a compiler does not know, or it made loads of the atomics
  if (atomic_inc(control + writes) != 0) return;
  uint at = 0;
  WW_HIDE(at);  // a vector register, so that the loads are a vector's
  uint sum = 0;
  if (writes == 0) {
    for (uint i = 0; i < count; ++i) sum += lines[at + i * WW_WORDS];
    WW_USE(sum);
    *(volatile __global uint*)(control + 6) = sum;  // kept, so that the loads are
    *(volatile __global uint*)(control + 2) = 1;
  }
  uint seen = 0;
  for (uint turn = 0; turn < WW_PATIENCE && seen == 0; ++turn) {
    seen = atomic_or(control + 2 + (1 - writes), none);  // no cache before the L2 answers an atomic
  }
  if (seen == 0) return;
  if (writes != 0) {
    for (uint i = 0; i < count; ++i) {
      *(volatile __global uint*)(lines + at + i * WW_WORDS) = value;
    }
    // An atomic behind a store to the same line comes back with it once it is in the L2.
    for (uint i = 0; i < count; ++i) {
      for (uint turn = 0; turn < WW_PATIENCE && atomic_or(lines + at + i * WW_WORDS, none) != value; ++turn) {
      }
    }
    *(volatile __global uint*)(control + 3) = 1;
    return;
  }
  uint stale = 0;
  for (uint i = 0; i < count; ++i) {
    const uint found = plain != 0 ? lines[at + i * WW_WORDS] : WW_LOAD(lines + at + i * WW_WORDS);
    stale += found != value ? 1u : 0u;
  }
  *(volatile __global uint*)(control + 4) = stale;
  *(volatile __global uint*)(control + 5) = 1;
}
#undef WW_WORDS
#undef WW_PATIENCE
