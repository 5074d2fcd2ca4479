// Forces between atoms through link cells: a work-item per slot of a cell, all atoms of its 27
// neighbours. `place` holds CAPACITY slots a cell; w is 1 where an atom is. Periodic box of `box`.
#define FOR_NEIGHBOURS(BODY)                                                                      \
  for (int dz = -1; dz <= 1; ++dz)                                                                 \
    for (int dy = -1; dy <= 1; ++dy)                                                               \
      for (int dx = -1; dx <= 1; ++dx) {                                                           \
        const int other = (((cz + dz + cells) % cells) * cells + (cy + dy + cells) % cells) * cells + \
                          (cx + dx + cells) % cells;                                               \
        const int filled = count[other];                                                           \
        for (int j = 0; j < filled; ++j) {                                                         \
          const int at = other * CAPACITY + j;                                                     \
          float3 d = me.xyz - place[at].xyz;                                                       \
          d -= box * rint(d / box);                                                                \
          const float r2 = dot(d, d);                                                              \
          if (r2 < CUTOFF2 && at != slot) { BODY }                                                 \
        }                                                                                          \
      }
#define LOCATE                                                                     \
  const int slot = get_global_id(0), cell = slot / CAPACITY;                       \
  if (slot - cell * CAPACITY >= count[cell]) return;                               \
  const int cx = cell % cells, cy = cell / cells % cells, cz = cell / cells / cells; \
  const float4 me = place[slot];

// Lennard-Jones with epsilon and sigma of 1: force, and half of the pair energies.
__kernel void lennard_jones(__global const float4* place, __global const int* count,
                            __global float4* force, int cells, float box) {
  LOCATE
  float3 f = 0.0f;
  float energy = 0.0f;
  FOR_NEIGHBOURS({
    const float i2 = 1.0f / r2;
    const float i6 = i2 * i2 * i2;
    f += d * (24.0f * i6 * (2.0f * i6 - 1.0f) * i2);
    energy += 2.0f * i6 * (i6 - 1.0f);
  })
  force[slot] = (float4)(f, energy);
}

// Tables over r^2 and density, three-point interpolation of value and slope, as CoMD's eam.c.
float2 lookup(__global const float* table, float at, float per_unit) {
  const float u = at * per_unit;
  const int i = clamp((int)u, 1, TABLE - 3);
  const float t = u - (float)i;
  const float g1 = table[i + 1] - table[i - 1];
  const float g2 = table[i + 2] - table[i];
  return (float2)(table[i] + 0.5f * t * (g1 + t * (table[i + 1] + table[i - 1] - 2.0f * table[i])),
                  0.5f * (g1 + t * (g2 - g1)) * per_unit);
}
__kernel void eam_pairs(__global const float4* place, __global const int* count,
                        __global float4* force, __global float* density,
                        __global const float* phi, __global const float* rho, int cells, float box) {
  LOCATE
  float3 f = 0.0f;
  float energy = 0.0f, sum = 0.0f;
  FOR_NEIGHBOURS({
    const float r = sqrt(r2);
    const float2 p = lookup(phi, r, PER_R);
    f -= d * (p.y / r);
    energy += 0.5f * p.x;
    sum += lookup(rho, r, PER_R).x;
  })
  force[slot] = (float4)(f, energy);
  density[slot] = sum;
}
__kernel void eam_embed(__global const int* count, __global const float* density,
                        __global const float* embed, __global float* slope, __global float4* force) {
  const int slot = get_global_id(0);
  if (slot % CAPACITY >= count[slot / CAPACITY]) return;
  const float2 e = lookup(embed, density[slot], PER_RHO);
  slope[slot] = e.y;
  force[slot].w += e.x;
}
__kernel void eam_forces(__global const float4* place, __global const int* count,
                         __global float4* force, __global const float* slope,
                         __global const float* rho, int cells, float box) {
  LOCATE
  float3 f = 0.0f;
  FOR_NEIGHBOURS({
    const float r = sqrt(r2);
    f -= d * ((slope[slot] + slope[at]) * lookup(rho, r, PER_R).y / r);
  })
  force[slot].xyz += f;
}
