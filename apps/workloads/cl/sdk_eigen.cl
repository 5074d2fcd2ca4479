// Eigenvalues of a symmetric tridiagonal matrix as the AMD APP SDK's EigenValue: count those in each
// interval, then give every eigenvalue a part of its interval. The matrix comes from memory, by
// uniform loads.
uint count_below(float x, __global const float* diagonal, __global const float* off, uint n) {
  float q = diagonal[0] - x;
  uint below = q < 0.0f;
  for (uint i = 1; i < n; ++i) {
    q = diagonal[i] - x - off[i - 1u] * off[i - 1u] / q;
    below += q < 0.0f;
  }
  return below;
}
__kernel void count_in_interval(__global uint* counts, __global const float* intervals,
                                __global const float* diagonal, __global const float* off, uint n) {
  const uint i = get_global_id(0);
  const uint low = count_below(intervals[2u * i], diagonal, off, n);
  counts[i] = count_below(intervals[2u * i + 1u], diagonal, off, n) - low;
}
// The last part ends where the interval ends, and each other part where the next begins, so that no
// eigenvalue falls between two parts in rounding; the walk would leave the array then.
__kernel void narrow(__global float* next, __global const float* intervals,
                     __global const uint* counts, __global const float* diagonal,
                     __global const float* off, uint n, float tolerance) {
  const uint i = get_global_id(0);
  uint rank = i, at = 0;
  while (at + 1u < n && rank >= counts[at]) rank -= counts[at++];
  const uint inside = counts[at];
  float low = intervals[2u * at], high = intervals[2u * at + 1u];
  if (inside == 1u) {
    const float middle = (low + high) / 2.0f;
    const uint left = count_below(middle, diagonal, off, n) - count_below(low, diagonal, off, n);
    if (high - low >= tolerance) {
      if (left == 0u) low = middle; else high = middle;
    }
  } else {
    const float width = (high - low) / inside;
    if (rank + 1u < inside) high = low + width * (rank + 1u);
    low += width * rank;
  }
  next[2u * i] = low;
  next[2u * i + 1u] = high;
}
