// Separable convolution, radius 8, with addresses clamped to the edge as a texture sampler does.
__kernel void rows(__global const float* in, __global float* out, __constant float* taps, int width) {
  const int x = get_global_id(0), row = get_global_id(1) * width;
  float sum = 0.0f;
  for (int k = -8; k <= 8; ++k) sum += taps[k + 8] * in[row + clamp(x + k, 0, width - 1)];
  out[row + x] = sum;
}
__kernel void columns(__global const float* in, __global float* out, __constant float* taps,
                      int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f;
  for (int k = -8; k <= 8; ++k) sum += taps[k + 8] * in[clamp(y + k, 0, height - 1) * width + x];
  out[y * width + x] = sum;
}
