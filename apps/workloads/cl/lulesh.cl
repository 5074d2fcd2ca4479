// Lagrangian hydrodynamics on hexahedra: corner forces of each element from its pressure, nodes
// gather and move, elements take their new volume and state. Double, structure of arrays.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define EDGE (N + 1)

int corner_node(int element, int corner) {
  const int x = element % N, y = element / N % N, z = element / N / N;
  // LULESH's order: around the bottom, then around the top.
  const int dx = ((corner + 1) >> 1) & 1, dy = (corner >> 1) & 1, dz = corner >> 2;
  return ((z + dz) * EDGE + y + dy) * EDGE + x + dx;
}
void add_face(double3* normal, const double3* p, int a, int b, int c, int d) {
  const double3 s0 = 0.5 * (p[d] + p[c] - p[b] - p[a]);
  const double3 s1 = 0.5 * (p[c] + p[b] - p[d] - p[a]);
  const double3 area = 0.25 * cross(s0, s1);
  normal[a] += area; normal[b] += area; normal[c] += area; normal[d] += area;
}
// An element's corners, and the area around each that its faces share out to it.
void corner_normals(__global const double* x, __global const double* y, __global const double* z,
                    int element, double3* p, double3* normal) {
  for (int c = 0; c < 8; ++c) {
    const int n = corner_node(element, c);
    p[c] = (double3)(x[n], y[n], z[n]);
    normal[c] = 0.0;
  }
  add_face(normal, p, 0, 1, 2, 3);
  add_face(normal, p, 0, 4, 5, 1);
  add_face(normal, p, 1, 5, 6, 2);
  add_face(normal, p, 2, 6, 7, 3);
  add_face(normal, p, 3, 7, 4, 0);
  add_face(normal, p, 4, 7, 6, 5);
}
__kernel void corner_forces(__global const double* x, __global const double* y,
                            __global const double* z, __global const double* pressure,
                            __global double* fx, __global double* fy, __global double* fz) {
  const int e = get_global_id(0);
  if (e >= N * N * N) return;
  double3 p[8], normal[8];
  corner_normals(x, y, z, e, p, normal);
  const double stress = -pressure[e];
  for (int c = 0; c < 8; ++c) {
    fx[c * N * N * N + e] = stress * normal[c].x;
    fy[c * N * N * N + e] = stress * normal[c].y;
    fz[c * N * N * N + e] = stress * normal[c].z;
  }
}
__kernel void move_nodes(__global double* x, __global double* v, __global const double* force,
                         __global const double* mass, int axis, double dt) {
  const int n = get_global_id(0);
  if (n >= EDGE * EDGE * EDGE) return;
  const int at[3] = {n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE};
  double sum = 0.0;
  for (int c = 0; c < 8; ++c) {
    const int ex = at[0] - (((c + 1) >> 1) & 1), ey = at[1] - ((c >> 1) & 1), ez = at[2] - (c >> 2);
    if (ex < 0 || ey < 0 || ez < 0 || ex >= N || ey >= N || ez >= N) continue;
    sum += force[c * N * N * N + (ez * N + ey) * N + ex];
  }
  // Symmetry planes hold.
  const double speed = at[axis] == 0 ? 0.0 : v[n] + dt * sum / mass[n];
  v[n] = speed;
  x[n] += dt * speed;
}
// Volume by the divergence theorem over faces cut through their middle: the normals above, times
// the corners they belong to, are three times the volume of a hexahedron with ruled faces.
__kernel void new_state(__global const double* x, __global const double* y, __global const double* z,
                        __global double* volume, __global double* energy, __global double* pressure) {
  const int e = get_global_id(0);
  if (e >= N * N * N) return;
  double3 p[8], normal[8];
  corner_normals(x, y, z, e, p, normal);
  double now = 0.0;
  for (int c = 0; c < 8; ++c) now += dot(p[c], normal[c]);
  now = fabs(now) / 3.0;
  // Ideal gas, gamma 1.4; the work of the old pressure.
  const double internal = energy[e] - pressure[e] * (now - volume[e]);
  volume[e] = now;
  energy[e] = internal;
  pressure[e] = 0.4 * internal / now;
}
