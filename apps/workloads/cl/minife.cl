// Conjugate gradients: a finite-element matrix in ELLPACK (27 columns at most, stored column by
// column so that loads are coalesced), dot products by groups, and vector updates. Double.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void matvec(__global const double* value, __global const uint* column,
                     __global const double* x, __global double* y, uint rows, uint padded) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  double sum = 0.0;
  for (uint k = 0; k < 27u; ++k) sum += value[k * padded + row] * x[column[k * padded + row]];
  y[row] = sum;
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void dot_groups(__global const double* x, __global const double* y, __global double* sums, uint rows) {
  __local double part[256];
  const uint lane = get_local_id(0), row = get_global_id(0);
  part[lane] = row < rows ? x[row] * y[row] : 0.0;
  for (uint step = 128u; step > 0u; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) part[lane] += part[lane + step];
  }
  if (lane == 0u) sums[get_group_id(0)] = part[0];
}
__kernel void waxpby(double a, __global const double* x, double b, __global const double* y,
                     __global double* w, uint rows) {
  const uint row = get_global_id(0);
  if (row < rows) w[row] = a * x[row] + b * y[row];
}
