// Kernels of the emulator's tests and benchmark, built for gfx701 when the project is built.

__kernel void saxpy(__global float* y, __global const float* x, float a) {
  const size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

// Every work-item reads `count` words, `stride` words apart, around its L1.
__kernel void stream(__global const volatile uint* data, __global uint* out, uint count,
                     uint stride) {
  const uint id = get_global_id(0);
  uint sum = 0;
  for (uint i = 0; i < count; i += 8) {
    const uint a = data[id + (i + 0) * stride], b = data[id + (i + 1) * stride];
    const uint c = data[id + (i + 2) * stride], d = data[id + (i + 3) * stride];
    const uint e = data[id + (i + 4) * stride], f = data[id + (i + 5) * stride];
    const uint g = data[id + (i + 6) * stride], h = data[id + (i + 7) * stride];
    sum += (a ^ b) + (c ^ d) + (e ^ f) + (g ^ h);
  }
  out[id] = sum;
}

// Only groups on shader engine `engine` read: channels first..first+3 of 16, 256 bytes each, over
// and over, 16 bytes a work-item.
__kernel void pinned_stream(__global const volatile uint4* data, __global uint* out, uint engine,
                            uint first, uint rounds) {
  uint id;
  __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID, 13, 2)" : "=s"(id));
  if (id != engine) return;
  const uint lane = get_local_id(0);
  uint4 sum = 0;
  for (uint i = 0; i < rounds; ++i) {
    // 16 work-items read one 256-byte block; block b of a channel lies 4096 bytes further.
    const uint block = (i * 4 + lane / 64) & 15;
    const uint channel = first + (lane / 16 & 3);
    const uint at = block * 256 + channel * 16 + (lane & 15);
    sum ^= data[at];
    sum ^= data[at + 4096];
    sum ^= data[at + 8192];
    sum ^= data[at + 12288];
  }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x12345678) out[get_global_id(0)] = sum.x;
}

__kernel void where_am_i(__global uint* out) {
  uint id;
  __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID)" : "=s"(id));
  out[get_global_id(0)] = id;
}

__kernel void reduce(__global const float* in, __global float* out, __local float* scratch) {
  const uint l = get_local_id(0);
  scratch[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) scratch[l] += scratch[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = scratch[0];
}

__kernel void count_up(__global uint* counter, __global uint* ticket) {
  ticket[get_global_id(0)] = atomic_inc(counter);
}

__kernel void histogram(__global const uint* in, __global uint* bins, uint count) {
  __local uint local_bins[64];
  const uint l = get_local_id(0);
  if (l < 64) local_bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
    atomic_inc(&local_bins[in[i] & 63]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 64) atomic_add(&bins[l], local_bins[l]);
}

__kernel void ids(__global uint* out) {
  const uint i = get_global_id(0) + get_global_size(0) *
                 (get_global_id(1) + get_global_size(1) * get_global_id(2));
  out[4 * i + 0] = get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16;
  out[4 * i + 1] = get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16;
  out[4 * i + 2] = get_num_groups(0) | get_num_groups(1) << 8 | get_num_groups(2) << 16;
  out[4 * i + 3] = get_work_dim();
}

__kernel void scatter_private(__global const uint* in, __global uint* out) {
  uint table[32];
  const size_t i = get_global_id(0);
  for (uint k = 0; k < 32; ++k) table[(in[i * 32 + k] + k) & 31] = in[i * 32 + k];
  uint sum = 0;
  for (uint k = 0; k < 32; ++k) sum = sum * 31 + table[(sum + k) & 31];
  out[i] = sum;
}

__kernel void divide_f32(__global const float* a, __global const float* b, __global float* out) {
  const size_t i = get_global_id(0);
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = sqrt(a[i]);
  out[4 * i + 2] = fma(a[i], b[i], 1.0f);
  out[4 * i + 3] = floor(a[i]) + ceil(b[i]) + trunc(a[i]) + rint(b[i]);
}

__kernel void math_f32(__global const float* a, __global float* out) {
  const size_t i = get_global_id(0);
  out[8 * i + 0] = sin(a[i]);
  out[8 * i + 1] = cos(a[i]);
  out[8 * i + 2] = exp(a[i]);
  out[8 * i + 3] = log(fabs(a[i]));
  out[8 * i + 4] = rsqrt(fabs(a[i]));
  out[8 * i + 5] = pow(fabs(a[i]), 1.5f);
  out[8 * i + 6] = tanh(a[i]);
  out[8 * i + 7] = fmod(a[i], 0.7f);
}

__kernel void integers(__global const int* a, __global const int* b, __global int* out) {
  const size_t i = get_global_id(0);
  const int x = a[i], y = b[i];
  out[16 * i + 0] = x / y;
  out[16 * i + 1] = x % y;
  out[16 * i + 2] = (int)((uint)x / (uint)y);
  out[16 * i + 3] = (int)((uint)x % (uint)y);
  out[16 * i + 4] = mul_hi(x, y);
  out[16 * i + 5] = (int)mul_hi((uint)x, (uint)y);
  out[16 * i + 6] = rotate(x, y & 31);
  out[16 * i + 7] = clz(x) + popcount(y);
  out[16 * i + 8] = max(x, y) - min(x, y);
  out[16 * i + 9] = (int)abs_diff(x, y);
  out[16 * i + 10] = add_sat(x, y);
  out[16 * i + 11] = sub_sat(x, y);
  out[16 * i + 12] = hadd(x, y);
  out[16 * i + 13] = x >> (y & 31);
  out[16 * i + 14] = mad24(x & 0x7fffff, y & 0xff, 17);
  out[16 * i + 15] = (char)x + (short)y + (int)(uchar)x * (int)(ushort)y;
}

__kernel void longs(__global const long* a, __global const long* b, __global long* out) {
  const size_t i = get_global_id(0);
  const long x = a[i], y = b[i];
  out[8 * i + 0] = x / y;
  out[8 * i + 1] = x % y;
  out[8 * i + 2] = x * y;
  out[8 * i + 3] = x + (y << 3);
  out[8 * i + 4] = (x >> 7) ^ (long)((ulong)y >> 9);
  out[8 * i + 5] = x < y ? x : -y;
  out[8 * i + 6] = mul_hi(x, y);
  out[8 * i + 7] = (long)((ulong)x / (ulong)y);
}

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void doubles(__global const double* a, __global const double* b, __global double* out) {
  const size_t i = get_global_id(0);
  out[8 * i + 0] = a[i] / b[i];
  out[8 * i + 1] = sqrt(fabs(a[i]));
  out[8 * i + 2] = fma(a[i], b[i], 1.0);
  out[8 * i + 3] = a[i] * b[i] - a[i];
  out[8 * i + 4] = (double)(long)a[i] + (double)(float)b[i] + (double)(int)a[i];
  out[8 * i + 5] = fmax(a[i], b[i]) + fmin(a[i], b[i]);
  out[8 * i + 6] = floor(a[i]) + trunc(b[i]) + rint(a[i]);
  out[8 * i + 7] = exp(b[i] * 0.125) + sin(a[i]);
}

__kernel void narrow(__global const uchar* a, __global const short* b, __global uchar* c,
                     __global short* d) {
  const size_t i = get_global_id(0);
  c[i] = a[i] * 3 + b[i];
  d[i] = b[i] - a[i];
}

__kernel void wide_vectors(__global const float4* a, __global float4* b, __global const float3* c) {
  const size_t i = get_global_id(0);
  b[i] = a[i] * 2.0f + (float4)(c[i], 1.0f);
}

__kernel void chase(__global const uint* next, __global uint* out, uint steps) {
  uint at = get_global_id(0);  // not uniform, or the compiler would load it by scalar means
  for (uint i = 0; i < steps; ++i) at = next[at];
  out[get_global_id(0)] = at;
}

__kernel void out_of_bounds(__global uint* data, uint far) { data[get_global_id(0) + far] = 1; }

__kernel void add_one(__global uint* data) { data[get_global_id(0)] += 1; }

__kernel void spin(__global volatile uint* flag) {
  while (*flag == 0) {
  }
}

__kernel void exchange(__global uint* a, __global uint* b, __global ulong* c) {
  const uint i = get_global_id(0);
  atomic_xchg(&a[i & 7], i);
  atomic_max(&a[8], i);
  atomic_min(&a[9], i);
  atomic_cmpxchg(&a[10], i, i + 1);
  b[i] = atomic_add(&a[11], 3);
}

__kernel void large_sines(__global const double* a, __global double* out) {
  const size_t i = get_global_id(0);
  out[i] = sin(a[i]);
}

// amdgcn.qsad and friends have no semantics in the emulator.
__kernel void without_semantics(__global ulong* out) {
  out[get_global_id(0)] = __builtin_amdgcn_qsad_pk_u16_u8(out[0], 0x01020304u, out[1]);
}

__kernel void copy_wide(__global int16* out, __global const int16* in) {
  for (int i = 0; i < 8; ++i) out[i] = in[i];
}

// The branches for very small and very large values run with no lane enabled, before anything else
// asks which lanes are.
__kernel void lengths(__global float* out) {
  const int i = get_global_id(0);
  out[i] = length((float3)((float)i / 64.0f, 1.0f, 1.0f));
}

__kernel void reversed(__global const uint* in, __global uint* out, uint rounds) {
  __local uint shared[64];
  const uint i = get_local_id(0);
  uint sum = 0;
  for (uint n = 0; n < rounds; ++n) {
    shared[i] = in[n * 64 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 32) {
      sum += shared[63 - i];
    } else {
      sum -= shared[i - 32];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sum;
}

// Each has a mistake, where `wrong` asks for it.
__kernel void reads_far(__global const uint* data, __global uint* out, uint far) {
  out[get_global_id(0)] = data[get_global_id(0) + far];
}

__kernel void misaligned(__global uchar* data, uint shift) {
  *(__global uint*)(data + shift + 4 * get_global_id(0)) = 1;
}

__kernel void neighbours(__global uint* out, __local uint* shared, uint wrong) {
  const uint i = get_local_id(0);
  shared[i] = i;
  if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = shared[(i + 64) % get_local_size(0)];
}

__kernel void shared_counter(__global uint* out, __local uint* shared, uint wrong) {
  if (get_local_id(0) == 0) shared[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wrong) {
    shared[0] = shared[0] + 1;
  } else {
    atomic_inc(shared);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = shared[0];
}

__kernel void far_in_local(__global uint* out, __local uint* shared, uint far) {
  shared[get_local_id(0) + far] = 7;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = shared[get_local_id(0)];
}

__kernel void spin_all(__global uint* out, uint n) {
  uint x = get_global_id(0);
  while (n != 0) x = x * 5 + n;
  out[get_global_id(0)] = x;
}
