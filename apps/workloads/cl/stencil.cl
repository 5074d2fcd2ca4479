// Seven-point Jacobi on a three-dimensional grid; the shell stays as it is.
__kernel void jacobi(__global const float* in, __global float* out, int nx, int ny, int nz, float c0,
                     float c1) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) return;
  const int at = (z * ny + y) * nx + x, layer = nx * ny;
  out[at] = c1 * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - layer] + in[at + layer]) -
            c0 * in[at];
}
