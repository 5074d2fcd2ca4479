// Exclusive prefix sums of blocks by doubling strides in local memory, two elements a work-item, and
// the addition of the blocks' sums: the AMD APP SDK's ScanLargeArrays of version 3.0.
#define MOST 256
__kernel void scan_block(__global float* out, __global const float* in, __global float* sums) {
  __local float sum[MOST];
  const uint lane = get_local_id(0), pair = 2u * get_global_id(0);
  const uint block = 2u * get_local_size(0);
  const uint even = 2u * lane, odd = even + 1u;
  sum[even] = in[pair];
  sum[odd] = in[pair + 1u];
  barrier(CLK_LOCAL_MEM_FENCE);
  float at_even = sum[0], at_odd = sum[0] + sum[1];
  for (uint stride = 1u; stride < block; stride *= 2u) {
    if (even >= stride) {
      at_even = sum[even - stride] + sum[even];
      at_odd = sum[odd - stride] + sum[odd];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum[even] = at_even;
    sum[odd] = at_odd;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  sums[get_group_id(0)] = sum[block - 1u];  // by all work-items, as in the sample
  out[pair] = lane == 0u ? 0.0f : sum[even - 1u];
  out[pair + 1u] = sum[even];
}
__kernel void add_sum(__global const float* sums, __global float* out) {
  __local float sum;
  if (get_local_id(0) == 0u) sum = sums[get_group_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] += sum;
}
