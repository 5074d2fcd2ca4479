// Eigenvalues of a symmetric tridiagonal matrix by bisection: a work-item each, counting by Sturm's
// sequence how many lie below. The matrix comes through LDS, N rows.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void bisect(__global const float* diagonal, __global const float* off_squared,
            __global float* values, float low, float high) {
  __local float d[N];
  __local float e[N];
  const uint lane = get_local_id(0), k = get_global_id(0);
  for (uint i = lane; i < N; i += 64u) {
    d[i] = diagonal[i];
    e[i] = off_squared[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 0; step < 26; ++step) {
    const float x = 0.5f * (low + high);
    uint below = 0;
    float q = 1.0f;
    for (uint i = 0; i < N; ++i) {
      q = d[i] - x - e[i] / q;
      if (fabs(q) < 1e-20f) q = -1e-20f;
      below += q < 0.0f;
    }
    if (below > k) high = x; else low = x;
  }
  values[k] = 0.5f * (low + high);
}
