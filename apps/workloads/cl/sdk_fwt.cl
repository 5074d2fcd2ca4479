// Fast Walsh-Hadamard transform, one stride a launch, all of it in memory, with the AMD APP SDK's
// division and remainder to find a pair.
__kernel void butterfly(__global float* data, int stride) {
  const uint i = get_global_id(0), step = stride;
  const uint a = 2u * step * (i / step) + i % step, b = a + step;
  const float x = data[a], y = data[b];
  data[a] = x + y;
  data[b] = x - y;
}
