// European call by Monte Carlo: a group an option, all groups over the same normal draws.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void price(__global const float4* options, __global const float* normals, __global float2* out,
           uint paths) {
  __local float2 part[256];
  const uint lane = get_local_id(0), option = get_group_id(0);
  const float4 o = options[option];  // price, strike, drift x years, volatility x sqrt(years)
  float2 sum = 0.0f;
  for (uint i = lane; i < paths; i += 256u) {
    const float pay = fmax(o.x * exp(o.z + o.w * normals[i]) - o.y, 0.0f);
    sum += (float2)(pay, pay * pay);
  }
  part[lane] = sum;
  for (uint step = 128u; step > 0u; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) part[lane] += part[lane + step];
  }
  if (lane == 0u) out[option] = part[0];
}
