// Exclusive prefix sum (Blelloch): 512 elements a group up and down a tree in LDS.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan_blocks(__global uint* data, __global uint* sums) {
  __local uint tree[512];
  const uint lane = get_local_id(0), base = get_group_id(0) * 512u;
  tree[lane] = data[base + lane];
  tree[lane + 256u] = data[base + lane + 256u];
  uint stride = 1u;
  for (uint nodes = 256u; nodes > 0u; nodes >>= 1, stride <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < nodes) tree[stride * (2u * lane + 2u) - 1u] += tree[stride * (2u * lane + 1u) - 1u];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0u) {
    sums[get_group_id(0)] = tree[511];
    tree[511] = 0u;
  }
  for (uint nodes = 1u; nodes <= 256u; nodes <<= 1) {
    stride >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < nodes) {
      const uint left = stride * (2u * lane + 1u) - 1u, right = left + stride;
      const uint t = tree[left];
      tree[left] = tree[right];
      tree[right] += t;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  data[base + lane] = tree[lane];
  data[base + lane + 256u] = tree[lane + 256u];
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void add_sums(__global uint* data, __global const uint* sums) {
  const uint i = get_group_id(0) * 512u + get_local_id(0), sum = sums[get_group_id(0)];
  data[i] += sum;
  data[i + 256u] += sum;
}
