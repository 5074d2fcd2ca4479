// 256-bin histogram in byte counters of local memory, as the AMD APP SDK's scalar kernel: each
// work-item counts its 128 words without atomics. A bin has 32 words; four work-items share a word,
// a byte each, so that 32 neighbours meet 32 banks.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void count_bytes(__global const uint* values, __global uint* group_bins) {
  __local uint words[8192];
  __local uchar* counts = (__local uchar*)words;
  const uint lane = get_local_id(0), group = get_group_id(0);
  for (uint i = lane; i < 8192u; i += 128u) words[i] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint mine = 4u * (lane & 31u) + (lane >> 5);
  for (uint i = 0; i < 128u; ++i) ++counts[128u * values[group * 16384u + 128u * i + lane] + mine];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = lane; bin < 256u; bin += 128u) {
    uint4 sum = 0u;
    for (uint j = 0; j < 32u; ++j) {
      const uint four = words[32u * bin + ((j + lane) & 31u)];
      sum += (uint4)(four & 255u, (four >> 8) & 255u, (four >> 16) & 255u, four >> 24);
    }
    group_bins[256u * group + bin] = sum.x + sum.y + sum.z + sum.w;
  }
}
