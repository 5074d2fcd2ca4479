// Fast Walsh-Hadamard transform: strides of 1024 and more in memory, the rest in LDS.
__kernel void global_butterfly(__global float* data, uint stride) {
  const uint i = get_global_id(0);
  const uint low = i & (stride - 1u);
  const uint a = ((i - low) << 1) + low;
  const uint b = a + stride;
  const float x = data[a], y = data[b];
  data[a] = x + y;
  data[b] = x - y;
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void local_transform(__global float* data) {
  __local float tile[1024];
  const uint lane = get_local_id(0);
  const uint base = get_group_id(0) * 1024u;
  for (uint i = lane; i < 1024u; i += 256u) tile[i] = data[base + i];
  for (uint stride = 512u; stride > 0u; stride >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p = lane; p < 512u; p += 256u) {
      const uint low = p & (stride - 1u);
      const uint a = ((p - low) << 1) + low;
      const float x = tile[a], y = tile[a + stride];
      tile[a] = x + y;
      tile[a + stride] = x - y;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < 1024u; i += 256u) data[base + i] = tile[i];
}
