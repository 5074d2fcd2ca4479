// Sparse matrix times vector in jagged diagonals: rows sorted by length, so that a wavefront's
// lanes end together; element k of all rows lies together, so that loads are coalesced.
__kernel void multiply(__global const float* value, __global const uint* column,
                       __global const uint* diagonal_start, __global const uint* row_length,
                       __global const uint* row_of, __global const float* x, __global float* y) {
  const uint i = get_global_id(0);
  const uint length = row_length[i];
  float sum = 0.0f;
  for (uint k = 0; k < length; ++k) {
    const uint at = diagonal_start[k] + i;
    sum += value[at] * x[column[at]];
  }
  y[row_of[i]] = sum;
}
