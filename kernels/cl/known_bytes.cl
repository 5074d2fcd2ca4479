// Reads `count` words of 16 B once and writes as many once, coalesced: traffic that is known by
// arithmetic, to check the byte counters on the device itself. Macro: WW_GROUP_SIZE.
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void known_bytes(__global const uint4* restrict from, __global uint4* restrict to,
                 const uint count) {
  const uint i = (uint)get_global_id(0);
  if (i < count) to[i] = from[i] ^ (uint4)(0xA5A5A5A5u);
}
