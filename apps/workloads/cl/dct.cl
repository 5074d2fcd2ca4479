// 8x8 type-II DCT of an image. A group takes four blocks side by side, so that each wavefront
// reads two whole rows of 128 bytes.
__kernel void dct8x8(__global const float* image, __global float* out, __global const float* basis,
                     int width) {
  __local float tile[8][33];  // 33: columns do not share a bank
  __local float half_done[8][33];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int at = get_global_id(1) * width + get_global_id(0);
  tile[ly][lx] = image[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int block = lx & ~7, u = lx & 7;
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) sum += basis[u * 8 + k] * tile[ly][block + k];
  half_done[ly][lx] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int k = 0; k < 8; ++k) sum += basis[ly * 8 + k] * half_done[k][lx];
  out[at] = sum;
}
