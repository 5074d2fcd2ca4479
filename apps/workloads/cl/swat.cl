// Smith-Waterman with affine gaps: tiles of 64 x 64 cells along an anti-diagonal of tiles, a lane a
// row, and within the tile along anti-diagonals of cells. h has a row and a column of zeros first.
#define TILE 64
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1)))
void align_tiles(__global const uchar* a, __global const uchar* b, __global int* h,
                 __global int* gap_right, __global int* gap_down, int columns, int diagonal,
                 int first_row) {
  __local int up_h[2][TILE];
  __local int up_f[2][TILE];
  const int lane = get_local_id(0);
  const int tile_row = first_row + (int)get_group_id(0), tile_column = diagonal - tile_row;
  const int row = tile_row * TILE + lane, width = columns + 1;
  const int letter = a[row];
  int left = h[(row + 1) * width + tile_column * TILE];
  int corner = h[row * width + tile_column * TILE];
  int e = gap_right[row];
  for (int step = 0; step < 2 * TILE - 1; ++step) {
    const int c = step - lane;
    if (c >= 0 && c < TILE) {
      const int column = tile_column * TILE + c;
      const int above = lane == 0 ? h[row * width + column + 1] : up_h[(step + 1) & 1][lane - 1];
      const int f_above = lane == 0 ? gap_down[column] : up_f[(step + 1) & 1][lane - 1];
      e = max(e - 1, left - 4);
      const int f = max(f_above - 1, above - 4);
      const int match = corner + (letter == b[column] ? 3 : -2);
      const int best = max(max(match, 0), max(e, f));
      h[(row + 1) * width + column + 1] = best;
      up_h[step & 1][lane] = best;
      up_f[step & 1][lane] = f;
      if (lane == TILE - 1) gap_down[column] = f;
      corner = above;
      left = best;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  gap_right[row] = e;
}
