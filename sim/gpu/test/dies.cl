// Kernels for the tests of a chip of several compute dies (gfx942).

// The compute die on which each work-group runs.
__kernel void die_of_group(__global uint* out) {
  uint die;
  __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID)" : "=s"(die));
  if (get_local_id(0) == 0) out[get_group_id(0)] = die;
}

__kernel void axpy(__global float* y, __global const float* x, float a) {
  const size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

// Each work-group reads the same 16 words.
__kernel void look(__global uint* out, __global const uint* words) {
  out[get_global_id(0)] = words[get_local_id(0) % 16];
}

__kernel void set(__global uint* word, uint value) {
  if (get_global_id(0) == 0) word[0] = value;
}
