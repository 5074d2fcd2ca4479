// Cheapest path down a grid, several rows a launch: a group computes a trapezium of 256 columns
// whose edges shrink by one a row.
#define ROWS 8
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void dynproc(__global const int* wall, __global const int* from, __global int* to, int columns,
             int row, int rows) {
  __local int cost[256];
  __local int next[256];
  const int lane = get_local_id(0);
  const int x = (int)get_group_id(0) * (256 - 2 * ROWS) + lane - ROWS;
  const bool inside = x >= 0 && x < columns;
  cost[lane] = inside ? from[x] : INT_MAX;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < rows; ++r) {
    if (inside && lane > r && lane < 255 - r) {
      const int best = min(cost[lane], min(cost[lane - 1], cost[lane + 1]));
      next[lane] = best + wall[(row + r) * columns + x];
    } else {
      next[lane] = INT_MAX;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    cost[lane] = next[lane];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (inside && lane >= ROWS && lane < 256 - ROWS) to[x] = cost[lane];
}
