// All pairs of gravitating bodies as in the AMD APP SDK 3.0: every body comes by a uniform load, with
// no tile in local memory. (1 / distance)^3 with softening.
#define UNROLL 8
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void step(__global const float4* position, __global const float4* velocity, uint bodies, float dt,
          float softening, __global float4* new_position, __global float4* new_velocity) {
  const uint i = get_global_id(0);
  const float3 me = position[i].xyz;
  float3 pull = 0.0f;
  for (uint base = 0; base < bodies; base += UNROLL) {
    __attribute__((opencl_unroll_hint(UNROLL)))
    for (uint k = 0; k < UNROLL; ++k) {
      const float4 other = position[base + k];
      const float3 d = other.xyz - me;
      const float inverse = 1.0f / sqrt(d.x * d.x + d.y * d.y + d.z * d.z + softening);
      pull += other.w * inverse * inverse * inverse * d;
    }
  }
  const float4 old = velocity[i];
  new_position[i] = (float4)(me + old.xyz * dt + 0.5f * dt * dt * pull, position[i].w);
  new_velocity[i] = (float4)(old.xyz + dt * pull, old.w);
}
