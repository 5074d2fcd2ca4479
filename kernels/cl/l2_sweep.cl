// Fills the L2 with one buffer, in order: one wavefront reads `count` pieces of 16 B a lane, one
// after the other. Whatever ran before, the next kernel then finds the same L2. Macro: WW_WAVE_SIZE.
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void l2_sweep(__global const uint4* buffer, const uint count, __global uint* restrict output) {
  const uint lane = (uint)get_local_id(0);
  uint accumulator = 0;
  for (uint i = 0; i < count; ++i) {
    const uint4 value = *(volatile __global const uint4*)(buffer + i * WW_WAVE_SIZE + lane);
    accumulator ^= value.x;
  }
  // Never true: the host passes smaller counts.
  if (accumulator == 0x7EDCBA98u && count == 0xFFFFFFFFu) output[0] = accumulator;
}
