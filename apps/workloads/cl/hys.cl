// Hybrid sort: a bucket pass with atomics, then a bitonic sort of each bucket in LDS.
#define CAPACITY 512u
__kernel void scatter(__global const float* keys, __global uint* filled, __global float* buckets,
                      uint count) {
  const float key = keys[get_global_id(0)];
  const uint bucket = min((uint)(key * (float)count), count - 1u);
  const uint place = atomic_inc(&filled[bucket]);
  if (place < CAPACITY) buckets[bucket * CAPACITY + place] = key;
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sort_bucket(__global const uint* filled, __global const float* buckets,
                 __global const uint* start, __global float* sorted) {
  __local float tile[CAPACITY];
  const uint lane = get_local_id(0), bucket = get_group_id(0);
  const uint size = filled[bucket];
  for (uint i = lane; i < CAPACITY; i += 256u) {
    tile[i] = i < size ? buckets[bucket * CAPACITY + i] : INFINITY;
  }
  for (uint k = 2u; k <= CAPACITY; k <<= 1) {
    for (uint j = k >> 1; j > 0u; j >>= 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint a = ((lane & ~(j - 1u)) << 1) | (lane & (j - 1u));
      const uint b = a | j;
      const float x = tile[a], y = tile[b];
      if ((x > y) == ((a & k) == 0u)) {
        tile[a] = y;
        tile[b] = x;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < size; i += 256u) sorted[start[bucket] + i] = tile[i];
}
