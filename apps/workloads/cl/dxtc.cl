// DXT1 by cluster fit (Brown's squish): order the 16 colours along their principal axis, try every
// split of that order into four clusters, solve the end points by least squares, keep the best.
// One block of 4x4 pixels to a wavefront; splits are spread over its lanes.
typedef struct { float error; uint ends; uint bits; } fit_t;

uint to565(float3 c) {
  const float3 q = clamp(c, 0.0f, 1.0f) * (float3)(31.0f, 63.0f, 31.0f);
  const uint3 i = convert_uint3_rtz(q + 0.5f);
  return (i.x << 11) | (i.y << 5) | i.z;
}
float3 from565(uint v) {
  return (float3)((float)(v >> 11) / 31.0f, (float)((v >> 5) & 63u) / 63.0f, (float)(v & 31u) / 31.0f);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void dxt1(__global const uint* pixels, __global uint2* out, __global const uint* splits, int count) {
  __local float colour[16][3];
  __local float along[16];
  __local int order[16];
  __local fit_t best[64];
  const int lane = get_local_id(0);
  const int block = get_group_id(0);
  if (lane < 16) {
    const uint p = pixels[block * 16 + lane];
    colour[lane][0] = (float)(p & 255u) / 255.0f;
    colour[lane][1] = (float)((p >> 8) & 255u) / 255.0f;
    colour[lane][2] = (float)((p >> 16) & 255u) / 255.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float3 mean = 0.0f;
  for (int i = 0; i < 16; ++i) mean += (float3)(colour[i][0], colour[i][1], colour[i][2]);
  mean /= 16.0f;
  float xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
  for (int i = 0; i < 16; ++i) {
    const float3 d = (float3)(colour[i][0], colour[i][1], colour[i][2]) - mean;
    xx += d.x * d.x; xy += d.x * d.y; xz += d.x * d.z;
    yy += d.y * d.y; yz += d.y * d.z; zz += d.z * d.z;
  }
  float3 axis = 1.0f;
  for (int i = 0; i < 8; ++i) {
    axis = (float3)(xx * axis.x + xy * axis.y + xz * axis.z, xy * axis.x + yy * axis.y + yz * axis.z,
                    xz * axis.x + yz * axis.y + zz * axis.z);
    axis /= fmax(fmax(fabs(axis.x), fabs(axis.y)), fmax(fabs(axis.z), 1e-20f));
  }
  if (lane < 16) {
    along[lane] = colour[lane][0] * axis.x + colour[lane][1] * axis.y + colour[lane][2] * axis.z;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < 16) {
    int rank = 0;
    for (int i = 0; i < 16; ++i) {
      rank += along[i] < along[lane] || (along[i] == along[lane] && i < lane);
    }
    order[rank] = lane;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  fit_t mine;
  mine.error = 1e30f; mine.ends = 0; mine.bits = 0;
  for (int number = lane; number < count; number += 64) {
    const uint split = splits[number];
    const int i = split & 255u, j = (split >> 8) & 255u, k = split >> 16;
    // Ranks [0,i) take end a, [i,j) 2/3 a, [j,k) 1/3 a, [k,16) end b.
    float aa = 0, bb = 0, ab = 0;
    float3 ax = 0.0f, bx = 0.0f;
    for (int r = 0; r < 16; ++r) {
      const int o = order[r];
      const float w = r < i ? 1.0f : r < j ? 2.0f / 3.0f : r < k ? 1.0f / 3.0f : 0.0f;
      const float3 c = (float3)(colour[o][0], colour[o][1], colour[o][2]);
      aa += w * w; bb += (1.0f - w) * (1.0f - w); ab += w * (1.0f - w);
      ax += w * c; bx += (1.0f - w) * c;
    }
    const float det = aa * bb - ab * ab;
    if (fabs(det) < 1e-6f) continue;
    const uint a = to565((ax * bb - bx * ab) / det);
    const uint b = to565((bx * aa - ax * ab) / det);
    if (a == b) continue;
    const float3 ea = from565(a), eb = from565(b);
    float error = 0;
    uint bits = 0;
    for (int r = 0; r < 16; ++r) {
      const int o = order[r];
      const float w = r < i ? 1.0f : r < j ? 2.0f / 3.0f : r < k ? 1.0f / 3.0f : 0.0f;
      // Codes: 0 is the first end, 1 the second, 2 and 3 lie between; more in the first first.
      uint code = r < i ? 0u : r < j ? 2u : r < k ? 3u : 1u;
      if (a < b) code ^= 1u;
      bits |= code << (2 * o);
      const float3 d = ea * w + eb * (1.0f - w) - (float3)(colour[o][0], colour[o][1], colour[o][2]);
      error += dot(d, d);
    }
    if (error < mine.error) {
      mine.error = error;
      mine.ends = a > b ? a | (b << 16) : b | (a << 16);
      mine.bits = bits;
    }
  }
  best[lane] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 32; step > 0; step /= 2) {
    if (lane < step && best[lane + step].error < best[lane].error) best[lane] = best[lane + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) out[block] = (uint2)(best[0].ends, best[0].bits);
}
