// All pairs by tiles of 256 bodies in LDS, with softening, and one leapfrog step.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void step(__global const float4* from, __global float4* to, __global float4* velocity, uint n,
          float dt) {
  __local float4 tile[256];
  const uint i = get_global_id(0), lane = get_local_id(0);
  const float4 me = from[i];
  float3 a = 0.0f;
  for (uint base = 0; base < n; base += 256u) {
    tile[lane] = from[base + lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 256u; ++j) {
      const float4 other = tile[j];
      const float3 d = other.xyz - me.xyz;
      const float inverse = rsqrt(dot(d, d) + 0.01f);
      a += d * (other.w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 v = velocity[i];
  v.xyz += a * dt;
  velocity[i] = v;
  to[i] = (float4)(me.xyz + v.xyz * dt, me.w);
}
