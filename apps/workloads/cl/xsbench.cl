// Macroscopic cross sections of a neutron at a random energy in a random material: a binary search
// in the union of all nuclides' grids, then two rows of each nuclide of the material.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
uint mix(uint x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}
__kernel void lookup(__global const double* union_energy, __global const uint* union_index,
                     __global const double* rows,  // [nuclide][point][6]: energy, five sections
                     __global const uint* material_start, __global const uint* nuclide,
                     __global const double* amount, __global double* out, uint nuclides, uint points,
                     uint materials) {
  const uint id = get_global_id(0);
  const double energy = (double)(mix(2u * id) >> 8) / 16777216.0;
  const uint material = mix(2u * id + 1u) % materials;
  uint low = 0, high = nuclides * points - 1u;
  while (high - low > 1u) {
    const uint middle = (low + high) >> 1;
    if (union_energy[middle] > energy) high = middle; else low = middle;
  }
  double sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
  for (uint m = material_start[material]; m < material_start[material + 1u]; ++m) {
    const uint n = nuclide[m];
    const uint p = min(union_index[low * nuclides + n], points - 2u);
    __global const double* a = rows + (n * points + p) * 6u;
    const double f = (a[6] - energy) / (a[6] - a[0]);
    for (int k = 0; k < 5; ++k) sum[k] += amount[m] * (a[7 + k] - f * (a[7 + k] - a[1 + k]));
  }
  for (int k = 0; k < 5; ++k) out[id * 5u + k] = sum[k];
}
