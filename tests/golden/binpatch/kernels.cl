// Varied kernels: what a compiler makes of them exercises most of the instruction set that OpenCL
// programs use. The test compiles them at several optimisation levels.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

__constant float weights[8] = {1.0f, 2.5f, -3.0f, 0.1f, 7.0f, 1e-3f, 0.5f, 9.0f};

__kernel void integer_mix(__global const int* a, __global const uint* b, __global long* o, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  const int x = a[i];
  const uint y = b[i];
  long s = (long)x * y + mul_hi(x, (int)y) + mad24(x, (int)y, 5) + rotate(x, 7);
  s += clz(y) + popcount(y) + abs(x) + hadd(x, (int)y) + add_sat(x, n) + (x >> (y & 31));
  s += (x & 0xff) | ((y >> 8) & 0x3f) << 3 | (s << (y & 63)) | ((ulong)s >> (y & 63));
  o[i] = s + max(x, n) - min(y, (uint)n);
}

__kernel void division(__global const int* a, __global const uint* b, __global const long* c,
                       __global int* o, __global ulong* p) {
  const size_t i = get_global_id(0);
  o[i] = a[i] / (int)b[i] + a[i] % 7 + (int)(b[i] / 10u);
  p[i] = (ulong)c[i] / (b[i] + 1ul) + (ulong)(c[i] % (long)a[i]);
}

__kernel void doubles(__global const double* a, __global double* o, double k) {
  const size_t i = get_global_id(0);
  const double x = a[i];
  o[i] = fma(x, k, sqrt(x)) / (x + 1.0) + floor(x) + fmin(x, 2.0 * k) + ldexp(x, 3) +
         convert_double(convert_int(x)) + rint(x) + trunc(k) + fabs(x - k);
}

__kernel void transcendental(__global const float* a, __global float* o) {
  const size_t i = get_global_id(0);
  const float x = a[i];
  o[i] = sin(x) + cos(x) * exp(x) - log(x) + pow(x, 1.7f) + sqrt(x) / x + native_sin(x) +
         native_exp2(x) + native_rsqrt(x) + tanh(x) + atan2(x, 3.0f) + fmod(x, 1.5f);
}

__kernel void global_atomics(__global int* c, __global uint* u, __global ulong* w) {
  const int l = (int)get_local_id(0);
  const int old = atomic_add(&c[0], l) + atomic_inc(&c[1]) + atomic_max(&c[2], l);
  atomic_xor(&u[l], (uint)old);
  atomic_cmpxchg(&c[3], old, l);
  atomic_min(&u[4], (uint)l);
  atom_add(&w[0], (ulong)old);
  u[5] = atomic_xchg(&u[6], (uint)old);
}

__kernel void shared(__global const float* a, __global float* o, __local float* t) {
  const int l = (int)get_local_id(0);
  __local int histogram[64];
  __local double pairs[64];
  histogram[l & 63] = 0;
  t[l] = a[get_global_id(0)];
  pairs[l & 63] = t[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&histogram[(int)t[l] & 63], 1);
  for (int s = 32; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  o[get_global_id(0)] = t[0] + t[1] + histogram[l & 63] + (float)pairs[(l + 1) & 63] * weights[l & 7];
}

__kernel void scratch(__global const int* a, __global int* o, int n) {
  int stack[64];
  for (int i = 0; i < 64; ++i) stack[i] = a[i] * n;
  int s = 0;
  for (int i = 0; i < n; ++i) {
    s += stack[(s + a[i]) & 63];
    stack[s & 63] = i;
  }
  o[get_global_id(0)] = s;
}

__kernel void vectors(__global const float4* a, __global float8* o, __global const uchar4* c,
                      __global short2* h, __global char* d) {
  const size_t i = get_global_id(0);
  const float4 x = a[i];
  o[i] = (float8)(x * 2.0f, normalize(x) + dot(x, x.wzyx));
  h[i] = convert_short2_sat(x.xy) + convert_short2(c[i].zw);
  d[i] = convert_char_rte(x.x) + (char)c[i].x;
  vstore3(x.xyz, i, (__global float*)o);
  vstore_half(x.x, i, (__global half*)h);
}

__kernel void branches(__global const int* a, __global int* o, int n) {
  const int i = (int)get_global_id(0);
  int v = a[i];
  while (v != 1 && n-- > 0) {
    if (v & 1) v = 3 * v + 1;
    else v >>= 1;
    switch (v & 7) {
      case 0: v += a[n]; break;
      case 3: v ^= i; break;
      case 5: v -= n; break;
      default: break;
    }
  }
  o[i] = v;
}

__kernel void matrix(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float ta[16][16], tb[16][16];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  float s = 0.0f;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[(int)get_global_id(1) * n + k + x];
    tb[y][x] = b[(k + y) * n + (int)get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 16; ++j) s = mad(ta[y][j], tb[j][x], s);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[get_global_id(1) * (size_t)n + get_global_id(0)] = s;
}

__kernel void stream(__global const uint4* restrict a, __global uint4* restrict o, uint stride) {
  uint4 s = 0;
  for (uint k = 0; k < 8; ++k) s ^= a[get_global_id(0) + k * stride];
  o[get_global_id(0)] = s;
}

__kernel void pinned(__global uint* o) {
  uint id = (uint)get_group_id(0) ^ 0x5EC0DE01u;
  __asm__ volatile("" : "+s"(id));
  if (id == 3) o[get_global_id(0)] = id;
}

int __attribute__((noinline)) helper(int a, int b) { return a * b + (a ^ b); }
__kernel void calls(__global int* o, int n) {
  const int i = (int)get_global_id(0);
  int s = 0;
  for (int k = 0; k < n; ++k) s = helper(s, i + k);
  o[i] = s;
}

__kernel void special(__global const float* a, __global float* o, __global int* q) {
  const size_t i = get_global_id(0);
  const float x = a[i];
  int e;
  const float m = frexp(x, &e);
  o[i] = isnan(x) ? 0.0f : isinf(x) ? 1.0f : m + clamp(x, 0.0f, 1.0f) + sign(x) + copysign(x, -2.0f);
  q[i] = e + signbit(x) + (isless(x, 2.0f) ? 4 : 5) + (x != 3.0f) + convert_int_rtp(x) + ilogb(x);
  o[i + 1] = fract(x, &o[i + 2]) + mix(x, 2.0f, 0.25f) + smoothstep(0.0f, 2.0f, x) + half_recip(x);
}
