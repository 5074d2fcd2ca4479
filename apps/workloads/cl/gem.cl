// Electrostatic potential at a molecule's surface, the analytic linearised Poisson-Boltzmann
// approximation outside the solute: every vertex over all atoms, tiles of 128 atoms in LDS.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void potential(__global const float4* atoms, __global const float4* vertices, __global float* out,
               uint count) {
  __local float4 tile[128];
  const uint lane = get_local_id(0);
  const float4 v = vertices[get_global_id(0)];  // w: distance to the molecule's effective centre
  const float alpha = 0.580127f, inner = 4.0f, outer = 80.0f;
  const float ratio = inner / outer;
  float sum = 0.0f;
  for (uint base = 0; base < count; base += 128u) {
    tile[lane] = atoms[base + lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 128u; ++j) {
      const float4 a = tile[j];  // w: charge
      const float d = length(v.xyz - a.xyz);
      sum += a.w / (outer * (1.0f + alpha * ratio)) *
             ((1.0f + alpha) / d - alpha * (1.0f - ratio) / v.w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = sum;
}
