// Steady traffic between chosen places and chosen lines: wavefronts whose place has its bit in
// `places` (32 places a word) update the lines that begin at buffer[lines[0..count)], where those
// lines are at home. An atomic goes home whichever side of a partitioned L2 that is on, so near and
// far differ in the way alone. The operands are random bits under `mask`: 0 sends zeros, all ones
// random data (toggle rate 0.5), at equal instructions. Waits of `throttle` units between updates set
// the rate: one wait each, since near, which is faster, waits for longer at the same rate, and what
// waiting in a loop costs would be taken for a crossing's energy. With no line (count 0) the wavefronts wait and update nothing. done[place] counts the
// iterations of a wavefront.
// Macros: WW_GROUP_SIZE, WW_WAVE_SIZE, WW_WAIT_LONG(n).
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void cross(__global uint* buffer, __global const uint* lines, const uint count, const uint loops,
           const uint mask, const uint throttle, __global const uint* places, __global uint* done) {
  WW_READ_PLACE(id);
  if ((places[id / 32u] >> (id % 32u) & 1u) == 0) return;
  const uint local_id = (uint)get_local_id(0);
  const uint lane = local_id % WW_WAVE_SIZE;
  const uint wave = (uint)get_group_id(0) * WW_WAVES_PER_GROUP + local_id / WW_WAVE_SIZE;
  const uint moves = count != 0u;
  uint index = moves ? wave * 7u % count : 0u;
  uint random = (wave * 32u + lane) * 0x9E3779B1u + 1u;
  for (uint i = 0; i < loops; ++i) {
    random = random * 1664525u + 1013904223u;
    // 32 lanes cover a line of 128 B; the upper half is the better random number.
    if (moves) {
      atomic_xor(buffer + lines[index] + lane % 32u, (random >> 16 | random << 16) & mask);
    }
    index = index + 1u == count ? 0u : index + 1u;
    WW_WAIT_LONG(throttle);
  }
  if (lane == 0) atomic_add(done + id, loops);
}
