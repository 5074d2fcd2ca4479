// 256-bin histogram: bins of a group in LDS, merged with global atomics.
__kernel void histogram256(__global const uint* data, __global uint* bins, uint words) {
  __local uint own[256];
  const uint id = get_local_id(0);
  own[id] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < words; i += get_global_size(0)) {
    const uint four = data[i];
    atomic_inc(&own[four & 255u]);
    atomic_inc(&own[(four >> 8) & 255u]);
    atomic_inc(&own[(four >> 16) & 255u]);
    atomic_inc(&own[four >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[id], own[id]);
}
