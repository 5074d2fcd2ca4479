// Heat in a chip, two dimensions, explicit steps; the edge repeats itself. A group keeps a tile of
// SIDE x SIDE cells with a halo of `steps` cells in local memory, does so many steps there, and
// writes the cells whose neighbourhood it knew throughout (Rodinia's HotSpot, "pyramid").
#define SIDE 16

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void steps2d(__global const float* power, __global const float* in, __global float* out, int n,
             int steps, float cap, float rx, float ry, float rz) {
  __local float heat[SIDE][SIDE], watt[SIDE][SIDE];
  const int lx = get_local_id(0), ly = get_local_id(1), own = SIDE - 2 * steps;
  const int x = (int)get_group_id(0) * own + lx - steps, y = (int)get_group_id(1) * own + ly - steps;
  const bool inside = x >= 0 && x < n && y >= 0 && y < n;
  if (inside) {
    heat[ly][lx] = in[y * n + x];
    watt[ly][lx] = power[y * n + x];
  }
  float t = inside ? heat[ly][lx] : 0.0f;
  for (int step = 1; step <= steps; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);
    // A cell is known if it lies farther in than the halo that these steps used up.
    const bool known =
        inside && lx >= step && lx < SIDE - step && ly >= step && ly < SIDE - step;
    if (known) {
      const float w = heat[ly][x > 0 ? lx - 1 : lx], e = heat[ly][x < n - 1 ? lx + 1 : lx];
      const float s = heat[y > 0 ? ly - 1 : ly][lx], m = heat[y < n - 1 ? ly + 1 : ly][lx];
      t = t + cap * (watt[ly][lx] + (m + s - 2.0f * t) * ry + (e + w - 2.0f * t) * rx + (80.0f - t) * rz);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (known) heat[ly][lx] = t;
  }
  if (inside && lx >= steps && lx < SIDE - steps && ly >= steps && ly < SIDE - steps) {
    out[y * n + x] = t;
  }
}
