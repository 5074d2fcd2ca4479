// Reads or writes a working set over and over with all work-items, 16 B each and past the L1:
// work-item i begins at word of 16 B number first + i, goes on by `stride`, and wraps under `mask`,
// all counted from `first`. loops: rounds of four accesses. Macros: WW_GROUP_SIZE.
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void bandwidth(__global uint4* buffer, const uint first, const uint mask, const uint stride,
               const uint loops, const uint write, __global uint* restrict output) {
  buffer += first;
  uint at = (uint)get_global_id(0);
  uint accumulator = 0;
  if (write != 0u) {
    const uint4 value = (uint4)(at);
    for (uint i = 0; i < loops; ++i) {
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
        *(volatile __global uint4*)(buffer + (at & mask)) = value;
        at += stride;
      }
    }
  } else {
    for (uint i = 0; i < loops; ++i) {
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
        const uint4 value = *(volatile __global const uint4*)(buffer + (at & mask));
        accumulator ^= value.x;
        at += stride;
      }
    }
  }
  // Never true: the host passes fewer loops.
  if (accumulator == 0x7EDCBA98u && loops == 0xFFFFFFFFu) output[0] = accumulator;
}
