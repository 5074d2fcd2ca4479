// Speckle-reducing anisotropic diffusion. Gradients and coefficient, then the divergence.
__kernel void coefficient(__global const float* j, __global float4* gradient, __global float* c,
                          int n, float q0) {
  const int x = get_global_id(0), y = get_global_id(1), at = y * n + x;
  const float jc = j[at];
  const float4 d = (float4)(j[y > 0 ? at - n : at], j[y < n - 1 ? at + n : at],
                            j[x > 0 ? at - 1 : at], j[x < n - 1 ? at + 1 : at]) - jc;
  const float g2 = dot(d, d) / (jc * jc);
  const float l = (d.x + d.y + d.z + d.w) / jc;
  const float den = 1.0f + 0.25f * l;
  const float q = (0.5f * g2 - 0.0625f * l * l) / (den * den);
  c[at] = clamp(1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0))), 0.0f, 1.0f);
  gradient[at] = d;
}
__kernel void diffuse(__global float* j, __global const float4* gradient, __global const float* c,
                      int n, float lambda) {
  const int x = get_global_id(0), y = get_global_id(1), at = y * n + x;
  const float here = c[at], south = c[y < n - 1 ? at + n : at], east = c[x < n - 1 ? at + 1 : at];
  const float4 d = gradient[at];
  j[at] += 0.25f * lambda * (here * d.x + south * d.y + here * d.z + east * d.w);
}
// Sums of a group, for the speckle's statistics.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void statistics(__global const float* j, __global float2* sums) {
  __local float2 part[256];
  const int lane = get_local_id(0);
  const float v = j[get_global_id(0)];
  part[lane] = (float2)(v, v * v);
  for (int step = 128; step > 0; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) part[lane] += part[lane + step];
  }
  if (lane == 0) sums[get_group_id(0)] = part[0];
}
