// Nine points in two dimensions, as SHOC's Stencil2D: a group loads 8 rows of its columns and the
// rows and columns around them to local memory. `pitch` words a row; a frame of one cell stays.
#define ROWS 8
#define COLUMNS 256
__kernel __attribute__((reqd_work_group_size(COLUMNS, 1, 1)))
void smooth(__global const float* in, __global float* out, int pitch, float centre, float cardinal,
            float diagonal) {
  __local float tile[ROWS + 2][COLUMNS + 2];
  const int lane = get_local_id(0), x = get_global_id(0) + 1, y = get_group_id(1) * ROWS + 1;
  for (int i = 0; i < ROWS + 2; ++i) tile[i][lane + 1] = in[(y - 1 + i) * pitch + x];
  if (lane == 0) {
    for (int i = 0; i < ROWS + 2; ++i) tile[i][0] = in[(y - 1 + i) * pitch + x - 1];
  } else if (lane == COLUMNS - 1) {
    for (int i = 0; i < ROWS + 2; ++i) tile[i][COLUMNS + 1] = in[(y - 1 + i) * pitch + x + 1];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 1; i <= ROWS; ++i) {
    const int c = lane + 1;
    const float beside = tile[i - 1][c] + tile[i + 1][c] + tile[i][c + 1] + tile[i][c - 1];
    const float across =
        tile[i - 1][c + 1] + tile[i + 1][c + 1] + tile[i - 1][c - 1] + tile[i + 1][c - 1];
    out[(y + i - 1) * pitch + x] = centre * tile[i][c] + cardinal * beside + diagonal * across;
  }
}
