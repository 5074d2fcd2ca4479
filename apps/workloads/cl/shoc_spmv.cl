// Sparse matrix times vector in SHOC's three ways: a work-item a row of compressed rows, 64
// work-items a row of them, and a work-item a row of ELLPACK-R, whose columns lie one after the other.
__kernel void csr_scalar(__global const float* value, __global const float* x,
                         __global const int* column, __global const int* first, __global float* y) {
  const int row = get_global_id(0), end = first[row + 1];
  float sum = 0.0f;
  for (int j = first[row]; j < end; ++j) sum += value[j] * x[column[j]];
  y[row] = sum;
}
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void csr_vector(__global const float* value, __global const float* x, __global const int* column,
                __global const int* first, __global float* y) {
  __local float part[128];
  const int lane = get_local_id(0), of_row = lane & 63, row = get_global_id(0) / 64;
  const int end = first[row + 1];
  float sum = 0.0f;
  for (int j = first[row] + of_row; j < end; j += 64) sum += value[j] * x[column[j]];
  part[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 32; step > 0; step /= 2) {
    if (of_row < step) part[lane] += part[lane + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (of_row == 0) y[row] = part[lane];
}
__kernel void ellpack_r(__global const float* value, __global const float* x,
                        __global const int* column, __global const int* length, int rows,
                        __global float* y) {
  const int row = get_global_id(0), most = length[row];
  float sum = 0.0f;
  for (int k = 0; k < most; ++k) {
    const int at = k * rows + row;
    sum += value[at] * x[column[at]];
  }
  y[row] = sum;
}
