// Saturating two-dimensional histogram: global atomics, then the cut at 255.
__kernel void count(__global const uint* sample, __global uint* bins) {
  atomic_inc(&bins[sample[get_global_id(0)]]);
}
__kernel void saturate(__global const uint4* bins, __global uint* out) {
  const uint i = get_global_id(0);
  const uint4 v = min(bins[i], 255u);
  out[i] = v.x | (v.y << 8) | (v.z << 16) | (v.w << 24);
}
