// Heat in a chip, two dimensions, explicit steps; the edge repeats itself.
__kernel void step2d(__global const float* power, __global const float* in, __global float* out,
                     int n, float cap, float rx, float ry, float rz) {
  const int x = get_global_id(0), y = get_global_id(1), at = y * n + x;
  const float t = in[at];
  const float w = in[x > 0 ? at - 1 : at], e = in[x < n - 1 ? at + 1 : at];
  const float s = in[y > 0 ? at - n : at], m = in[y < n - 1 ? at + n : at];
  out[at] = t + cap * (power[at] + (m + s - 2.0f * t) * ry + (e + w - 2.0f * t) * rx + (80.0f - t) * rz);
}
