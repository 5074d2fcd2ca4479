// A neural network's layer: 16 hidden units, inputs in groups of 16. weights[i][j], i an input.
__kernel void layer_forward(__global const float* input, __global const float* weights,
                            __global float* partial) {
  __local float product[16][16];
  const uint j = get_local_id(0), i = get_local_id(1), row = get_global_id(1);
  product[i][j] = weights[row * 16u + j] * input[row];
  for (uint step = 8u; step > 0u; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < step) product[i][j] += product[i + step][j];
  }
  if (i == 0u) partial[get_group_id(1) * 16u + j] = product[0][j];
}
__kernel void adjust_weights(__global const float* input, __global const float* delta,
                             __global float* weights, __global float* momentum) {
  const uint j = get_local_id(0), row = get_global_id(1);
  const uint at = row * 16u + j;
  const float change = 0.3f * delta[j] * input[row] + 0.3f * momentum[at];
  weights[at] += change;
  momentum[at] = change;
}
