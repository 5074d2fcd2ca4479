// Heat in a stack of layers: seven points; each work-item walks up a column and keeps three values.
__kernel void step3d(__global const float* power, __global const float* in, __global float* out,
                     int n, int layers, float cc, float cew, float cns, float ctb, float amb) {
  const int x = get_global_id(0), y = get_global_id(1), layer = n * n;
  int at = y * n + x;
  const int w = x > 0 ? -1 : 0, e = x < n - 1 ? 1 : 0;
  const int s = y > 0 ? -n : 0, m = y < n - 1 ? n : 0;
  float below = in[at], here = below;
  for (int z = 0; z < layers; ++z, at += layer) {
    const float above = z < layers - 1 ? in[at + layer] : here;
    out[at] = cc * here + cew * (in[at + w] + in[at + e]) + cns * (in[at + s] + in[at + m]) +
              ctb * (below + above) + power[at] + amb;
    below = here;
    here = above;
  }
}
