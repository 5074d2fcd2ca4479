// Kernels for the tests of a package that is several devices (gfx90a).

__kernel void set_all(__global uint* words, uint value) { words[get_global_id(0)] = value; }

__kernel void copy_all(__global uint* to, __global const uint* from) {
  to[get_global_id(0)] = from[get_global_id(0)];
}
