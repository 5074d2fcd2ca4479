// Heats every CU: independent chains of fused multiply-adds on values that never settle (the
// logistic map is chaotic at 3.9), no memory traffic. Macro: WW_GROUP_SIZE.
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void furnace(const uint loops, __global float* restrict output) {
  float a = 0.1f + 0.003f * (float)get_local_id(0);
  float b = 0.9f * a, c = 0.8f * a, d = 0.7f * a;
  for (uint i = 0; i < loops; ++i) {
#pragma unroll
    for (uint j = 0; j < 8; ++j) {
      a = 3.9f * fma(-a, a, a);
      b = 3.9f * fma(-b, b, b);
      c = 3.9f * fma(-c, c, c);
      d = 3.9f * fma(-d, d, d);
    }
  }
  // Never true: the map stays below 1.
  if (a + b + c + d > 5.0f) output[0] = a;
}
