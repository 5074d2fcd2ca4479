// Gaussian elimination: the multipliers of a column, then the rows below it.
__kernel void multipliers(__global const float* a, __global float* m, int n, int t) {
  const int i = get_global_id(0);
  if (i >= n - 1 - t) return;
  m[n * (t + i + 1) + t] = a[n * (t + i + 1) + t] / a[n * t + t];
}
__kernel void eliminate(__global float* a, __global float* b, __global const float* m, int n, int t) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (y >= n - 1 - t || x >= n - t) return;
  const float factor = m[n * (y + 1 + t) + t];
  a[n * (y + 1 + t) + x + t] -= factor * a[n * t + x + t];
  if (x == 0) b[y + 1 + t] -= factor * b[t];
}
