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

// Where a wave is; gfx1030's assembler takes the older name for it, too.
#ifdef __gfx1100__
#define HW_ID "HW_REG_HW_ID1"
#else
#define HW_ID "HW_REG_HW_ID"
#endif

// Only groups on shader engine `engine` read: channels first..first+3 of 16, 256 bytes each, over
// and over, 16 bytes a work-item.
__kernel void pinned_stream(__global const volatile uint4* data, __global uint* out, uint engine,
                            uint first, uint rounds) {
  uint id;
  __asm__ volatile("s_getreg_b32 %0, hwreg(" HW_ID ", 13, 2)" : "=s"(id));
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
  __asm__ volatile("s_getreg_b32 %0, hwreg(" HW_ID ")" : "=s"(id));
  out[get_global_id(0)] = id;
}

// Registers that the kernel never writes.
__kernel void unwritten(__global uint* out) {
  uint vector, scalar;
  __asm__ volatile("v_mov_b32 %0, v40" : "=v"(vector) : : "v40");
  __asm__ volatile("s_mov_b32 %0, s60" : "=s"(scalar) : : "s60");
  out[get_global_id(0)] = vector | scalar;
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

// Reads of words that others write meanwhile: what each brings depends on the order in memory.
__kernel void race(__global uint* words, __global uint* out, uint rounds) {
  const uint id = (uint)get_global_id(0);
  volatile __global uint* anew = words;
  uint sum = 0;
  for (uint i = 0; i < rounds; ++i) {
    sum = sum * 31 + anew[(id * 7 + i * 5) % 256];
    sum = sum * 31 + words[(id + i * 64) % 256];
    anew[(id * 3 + i * 11) % 256] = sum + id;
  }
  out[id] = sum;
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

// Arrays of which the chip's waves have more than 4 GiB in all. One row of lanes for each element.
#define LARGE_PRIVATE(name, words)                                           \
  __attribute__((amdgpu_flat_work_group_size(1, 1024))) __kernel void name(  \
      __global const uint* in, __global uint* out) {                         \
    uint table[words];                                                       \
    const uint first = get_group_id(0) * 7;                                  \
    for (uint k = 0; k < 8; ++k) table[(in[k] + first) % words] = in[k] + k; \
    uint sum = get_local_id(0);                                              \
    for (uint k = 0; k < 8; ++k) sum += table[(in[k] + first) % words];      \
    out[get_global_id(0)] = sum;                                             \
  }
LARGE_PRIVATE(private_48k, 12288)
LARGE_PRIVATE(private_100k, 25600)

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

// The compiler loads by scalar means what is the same for all of a group. Each group begins `apart`
// further on, if it is one of another eight.
__kernel void scalar_chase(__constant const uint* next, __global uint* out, uint steps,
                           uint apart) {
  uint at = get_group_id(0) / 8 % 2 * apart;
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

// Each work-item adds to two counters in local memory, by comparing and swapping.
__kernel void local_swaps(__global uint* out, __global ulong* wide_out) {
  __local volatile uint sum;
  __local volatile ulong wide_sum;
  if (get_local_id(0) == 0) {
    sum = 0;
    wide_sum = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before;
  do {
    before = sum;
  } while (atomic_cmpxchg(&sum, before, before + get_local_id(0) + 2) != before);
  ulong wide_before;
  do {
    wide_before = wide_sum;
  } while (atom_cmpxchg(&wide_sum, wide_before, wide_before + 0x100000001UL) != wide_before);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = sum;
  wide_out[get_global_id(0)] = wide_sum;
}

__kernel void large_sines(__global const double* a, __global double* out) {
  const size_t i = get_global_id(0);
  out[i] = sin(a[i]);
}

#define WW_DOUBLE_CHAIN(length)                                                                    \
  __kernel void double_chain_##length(__global double* out) {                                      \
    double x = 0.5;                                                                                \
    __asm volatile(".rept " #length "\n\tv_fma_f64 %0, %0, %0, %0\n\t.endr" : "+v"(x));            \
    out[get_global_id(0)] = x;                                                                     \
  }
WW_DOUBLE_CHAIN(256)
WW_DOUBLE_CHAIN(512)

// The offset into the table is in a scalar register.
__constant uint kOddNumbers[8] = {3, 5, 7, 11, 13, 17, 19, 23};
__kernel void table_by_group(__global uint* out) {
  out[get_global_id(0)] = kOddNumbers[get_group_id(0) & 7];
}

#ifndef WITHOUT_REFUSED_KERNELS
// amdgcn.qsad and friends have no semantics in the emulator.
__kernel void without_semantics(__global ulong* out) {
  out[get_global_id(0)] = __builtin_amdgcn_qsad_pk_u16_u8(out[0], 0x01020304u, out[1]);
}
#endif

// A wave that halts never ends: the emulator reports it, and only where it happens.
__kernel void halts(__global uint* out, uint where) {
  __asm volatile("s_sethalt 0");
  if (get_group_id(0) == where) {
    __builtin_amdgcn_s_sendmsghalt(0, 0);
  }
  out[get_global_id(0)] = 7;
}
__kernel void halts_when_told(__global uint* out) {
  __asm volatile("s_sethalt 1");
  out[get_global_id(0)] = 7;
}

// With all bits that the immediate has on some instruction set, once the arguments are there.
#define WAITS(name, instruction)             \
  __kernel void name(__global uint* out) {   \
    __asm volatile(instruction ::"s"(out));  \
    out[get_global_id(0)] = 7;               \
  }
WAITS(sleeps_7, "s_sleep 7")
WAITS(sleeps_127, "s_sleep 127")
WAITS(nops_8, "s_nop 7")
WAITS(nops_16, "s_nop 15")

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

// Two shorts a lane: packed instructions from gfx9 on.
__kernel void shorts(__global const short2* a, __global const short2* b, __global short2* out) {
  const size_t i = get_global_id(0);
  const short2 x = a[i], y = b[i];
  const ushort2 ux = as_ushort2(x), uy = as_ushort2(y);
  out[16 * i + 0] = x + y;
  out[16 * i + 1] = x - y;
  out[16 * i + 2] = x * y;
  out[16 * i + 3] = add_sat(x, y);
  out[16 * i + 4] = sub_sat(x, y);
  out[16 * i + 5] = as_short2(add_sat(ux, uy));
  out[16 * i + 6] = as_short2(sub_sat(ux, uy));
  out[16 * i + 7] = max(x, y);
  out[16 * i + 8] = as_short2(min(ux, uy));
  out[16 * i + 9] = x << (y & (short2)15);
  out[16 * i + 10] = x >> (y & (short2)15);
  out[16 * i + 11] = as_short2(ux >> (uy & (ushort2)15));
  out[16 * i + 12] = x * y + (short2)(x.y, y.x);
  out[16 * i + 13] = (short2)(x.x > y.y ? x.y : y.x, (short)(x.y / (short)(y.y | 1)));
  out[16 * i + 14] = clamp(x, (short2)-100, (short2)1000);
  out[16 * i + 15] = (short2)(mul_hi(x.x, y.x), rotate(x.y, (short)(y.y & 15)));
}

// Bytes of words: sub-dword operands from gfx9 on.
__kernel void bytes(__global const uchar4* a, __global const char4* b, __global uchar4* out) {
  const size_t i = get_global_id(0);
  const uchar4 x = a[i];
  const char4 y = b[i];
  out[8 * i + 0] = x + as_uchar4(y);
  out[8 * i + 1] = (uchar4)(x.w - (uchar)y.x, x.z, x.y ^ (uchar)y.z, x.x);
  out[8 * i + 2] = add_sat(x, as_uchar4(y));
  out[8 * i + 3] = as_uchar4(sub_sat(as_char4(x), y));
  out[8 * i + 4] = convert_uchar4_sat(convert_int4(x) * convert_int4(y));
  out[8 * i + 5] = as_uchar4(convert_char4_sat(convert_float4(x) * 1.5f - convert_float4(y)));
  out[8 * i + 6] = max(x, as_uchar4(y)) - min(x, as_uchar4(y));
  out[8 * i + 7] = as_uchar4(y >> (char4)2) + (x << (uchar4)3);
}

#if defined(__gfx900__) || defined(__gfx90a__) || defined(__gfx942__) || \
    defined(__gfx1030__) || defined(__gfx1100__)
// Each work-item takes the number of another one of its row; the second time odd ones do not take part.
__kernel void take_others(__global const int* other, __global int* out) {
  const int i = get_global_id(0);
  out[2 * i] = __builtin_amdgcn_ds_bpermute(other[i] * 4, i);
  if ((i & 1) == 0) out[2 * i + 1] = __builtin_amdgcn_ds_bpermute(other[i] * 4, i);
}
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void half_floats(__global const half2* a, __global const half2* b, __global half2* out) {
  const size_t i = get_global_id(0);
  const half2 x = a[i], y = b[i];
  out[16 * i + 0] = x + y;
  out[16 * i + 1] = x - y;
  out[16 * i + 2] = x * y;
  out[16 * i + 3] = fma(x, y, (half2)(y.y, x.x));
  out[16 * i + 4] = (half2)(x.x / y.x, sqrt(fabs(x.y)));
  out[16 * i + 5] = fmax(x, y);
  out[16 * i + 6] = fmin(-x, y);
  out[16 * i + 7] = (half2)(floor(x.x), rint(x.y));
  out[16 * i + 8] = (half2)((half)convert_int(x.x), (half)convert_short(y.y));
  out[16 * i + 9] = (half2)((float)x.x * (float)y.x + (float)x.y, (half)((float)x.y * 3.0f));
  out[16 * i + 10] = (half2)(x.x < y.x ? x.x : y.y, isnan(y.y) ? x.x : x.y);
  out[16 * i + 11] = (half2)(clamp(x.x, (half)0, (half)1), fabs(y.x) * -x.y);
  out[16 * i + 12] = (half2)(ldexp(x.x, 3), trunc(y.y) + ceil(y.x));
  // Constants that no operand has inline.
  out[16 * i + 13] = (half2)(fma(x.x, y.x, (half)0.3h), fma(x.x, (half)0.7h, y.x));
  out[16 * i + 14] = (half2)(x.y, y.x) * (half2)2;
  out[16 * i + 15] = mad(x, y, x);
}
#endif

// Registers that are indexed by a value that differs from lane to lane, and by one that does not.
__kernel void indexed_registers(__global const uint* in, __global uint* out, uint at) {
  const size_t i = get_global_id(0);
  const uint8 t = vload8(i, in);
  uint16 table = (uint16)(t, t * 3 + 1);
  // Only read: LLVM 15 loses the offset of the upper half when it writes such an element at -O0.
  const ulong16 wide = convert_ulong16(table) << 3;
  for (uint k = 0; k < 8; ++k) {
    const uint value = table[(at + k * 3) & 15] * 3 + k;
    table[(at * k) & 15] += value;
    table[(t.s0 + k * 5) & 15] += (uint)(wide[(t.s1 + k) & 15] >> 2) + value;
  }
  uint sum = 0;
  for (uint k = 0; k < 16; ++k) sum = sum * 31 + table[k];
  out[i] = sum;
}

// Compilers store by index first, and choose afterwards whether the array was changed.
__kernel void element_that_may_exist(__global uint* data, __global const uint* at, uint count, uint x) {
  const size_t i = get_global_id(0), items = get_global_size(0);
  uint elements[16];
  for (uint k = 0; k < 16; ++k) elements[k] = data[k * items + i];
  for (uint k = 0; k < count; ++k) {
    const uint element = at[k];
    if (element < 16) elements[element] = x;
  }
  for (uint k = 0; k < 16; ++k) data[k * items + i] = elements[k];
}

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
__kernel void long_atomics(__global ulong* a, __global ulong* old) {
  const uint i = get_global_id(0);
  atom_add(&a[0], (ulong)i << 20);
  atom_max(&a[1], (ulong)i * 0x100000001UL);
  atom_or(&a[2], 1UL << (i & 63));
  atom_xor(&a[3], (ulong)i << 8);
  old[i] = atom_inc(&a[4]);
}

#if defined(__gfx900__) || defined(__gfx90a__) || defined(__gfx942__)
// Scalar instructions stand between moves of indexed registers, as LLVM 17 sets them.
__kernel void indexed_beside_scalars(__global const uint* in, __global uint* out, uint at) {
  const size_t i = get_global_id(0);
  uint picked, chosen;
  __asm__ volatile(
      "v_mov_b32 v20, %2\n v_add_u32 v21, 1, v20\n v_add_u32 v22, 2, v20\n v_add_u32 v23, 3, v20\n"
      "s_set_gpr_idx_on %3, gpr_idx(SRC0)\n"
      "s_add_u32 s20, %3, 5\n v_mov_b32 %0, v20\n s_cmp_lg_u32 s20, 7\n"
      "s_set_gpr_idx_off\n"
      "s_cselect_b32 %1, 1, 2"
      : "=&v"(picked), "=&s"(chosen)
      : "v"(in[i]), "s"(__builtin_amdgcn_readfirstlane(at))
      : "v20", "v21", "v22", "v23", "s20", "scc");
  out[2 * i] = picked;
  out[2 * i + 1] = chosen;
}

// No wave has the registers that the index leads to.
__kernel void indexed_past_the_end(__global uint* out) {
  const size_t i = get_global_id(0);
  uint read, wide, kept;
  __asm__ volatile(
      "s_movk_i32 s20, 200\n v_mov_b32 v0, 77\n v_mov_b32 v20, 5\n"
      "v_mov_b32 v22, 0\n v_mov_b32 v23, 0\n v_mov_b32 v1, 3\n"
      "s_set_gpr_idx_on s20, gpr_idx(SRC0)\n v_mov_b32 %0, v20\n"
      "s_set_gpr_idx_off\n"
      "s_set_gpr_idx_on s20, gpr_idx(SRC1)\n v_lshlrev_b64 v[22:23], 1, v[20:21]\n"
      "s_set_gpr_idx_off\n"
      "s_set_gpr_idx_on s20, gpr_idx(DST)\n v_mov_b32 v20, 6\n"
      "s_set_gpr_idx_off\n v_mov_b32 %1, v22\n v_mov_b32 %2, v20"
      : "=&v"(read), "=&v"(wide), "=&v"(kept)
      :
      : "v0", "v1", "v20", "v21", "v22", "v23", "s20");
  out[3 * i] = read;
  out[3 * i + 1] = wide;
  out[3 * i + 2] = kept;
}

// Lanes read each other: quads, rows, the whole wave.
__kernel void dpp_neighbours(__global const int* in, __global int* out) {
  const size_t i = get_global_id(0);
  const int x = in[i];
  out[8 * i + 0] = __builtin_amdgcn_update_dpp(-1, x, 0x1b, 15, 15, false);   // quad reversed
  out[8 * i + 1] = __builtin_amdgcn_update_dpp(-2, x, 0x101, 15, 15, false);  // row_shl:1
  out[8 * i + 2] = __builtin_amdgcn_update_dpp(-3, x, 0x113, 15, 15, true);   // row_shr:3, zero
  out[8 * i + 3] = __builtin_amdgcn_update_dpp(-4, x, 0x124, 15, 15, false);  // row_ror:4
  out[8 * i + 4] = __builtin_amdgcn_update_dpp(-5, x, 0x138, 15, 15, false);  // wave_shr:1
  out[8 * i + 5] = __builtin_amdgcn_update_dpp(-6, x, 0x142, 10, 15, false);  // row_bcast:15
  out[8 * i + 6] = __builtin_amdgcn_update_dpp(-7, x, 0x140, 15, 5, false);   // row_mirror, banks
  out[8 * i + 7] = __builtin_amdgcn_ds_bpermute((int)((63 - (i & 63)) * 4), x);
}
#endif

// Private data whose elements are not within one dword, and functions with much on the stack.
typedef struct __attribute__((packed)) {
  char c;
  int i;
  double d;
  short s;
} packed_record;

__attribute__((noinline)) long sum_of(double16 d, long16 l, private const packed_record* r) {
  return (long)(d.s0 + d.sf) + l.s1 + l.se + r->c + r->i + (long)r->d + r->s;
}

__kernel void private_records(__global const int* in, __global long* out) {
  const int i = get_global_id(0);
  packed_record records[6];
  for (int j = 0; j < 6; ++j) {
    records[j].c = (char)j;
    records[j].i = in[i] * j;
    records[j].d = i + j;
    records[j].s = (short)(j - i);
  }
  long total = 0;
  for (int j = 0; j < 6; ++j) {
    total = total * 3 + sum_of((double16)(j), (long16)(i), &records[(i + j) % 6]);
  }
  out[i] = total;
}

__attribute__((noinline)) int deep(int n) {
  return n < 2 ? n : deep(n - 1) + deep(n - 2);
}

__kernel void recursion(__global int* out) {
  out[get_global_id(0)] = deep(9);
}

#if defined(__gfx90a__) || defined(__gfx942__)
typedef float float32 __attribute__((ext_vector_type(32)));

// One launch of 64 work-items each; C is what `d` holds.
#define WW_MATRIX(name, result, operand, builtin, ...)                                             \
  __kernel void name(__global const operand* a, __global const operand* b, __global result* d) {   \
    const int i = get_local_id(0);                                                                 \
    d[i] = __builtin_amdgcn_mfma_##builtin(a[i], b[i], d[i], __VA_ARGS__);                         \
  }
WW_MATRIX(matrix_32x32x1, float32, float, f32_32x32x1f32, 0, 0, 0)
WW_MATRIX(matrix_16x16x1, float16, float, f32_16x16x1f32, 0, 0, 0)
WW_MATRIX(matrix_4x4x1, float4, float, f32_4x4x1f32, 0, 0, 0)
WW_MATRIX(matrix_32x32x2, float16, float, f32_32x32x2f32, 0, 0, 0)
WW_MATRIX(matrix_16x16x4, float4, float, f32_16x16x4f32, 0, 0, 0)
WW_MATRIX(matrix_broadcast, float4, float, f32_4x4x1f32, 2, 1, 0)
WW_MATRIX(matrix_rotated, float4, float, f32_4x4x1f32, 0, 0, 3)
WW_MATRIX(matrix_halves, float4, half4, f32_16x16x16f16, 0, 0, 0)
WW_MATRIX(matrix_brains, float4, short4, f32_16x16x16bf16_1k, 0, 0, 0)
#if defined(__gfx942__)
WW_MATRIX(matrix_more_bytes, int4, long, i32_16x16x32_i8, 0, 0, 0)
WW_MATRIX(matrix_tall_bytes, int16, long, i32_32x32x16_i8, 0, 0, 0)
#else
WW_MATRIX(matrix_bytes, int4, int, i32_16x16x16i8, 0, 0, 0)
#endif
WW_MATRIX(matrix_doubles, double4, double, f64_16x16x4f64, 0, 0, 0)
WW_MATRIX(matrix_small_doubles, double, double, f64_4x4x4f64, 0, 0, 0)
#endif

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx1030__)
__kernel void dots(__global const uint* a, __global const uint* b, __global uint* out) {
  const int i = get_global_id(0);
  const uint x = a[i];
  const uint y = b[i];
  const uint c = a[i] ^ b[i];
  out += 12 * i;
  out[0] = (uint)__builtin_amdgcn_sdot2(as_short2(x), as_short2(y), (int)c, false);
  out[1] = (uint)__builtin_amdgcn_sdot2(as_short2(x), as_short2(y), (int)c, true);
  out[2] = __builtin_amdgcn_udot2(as_ushort2(x), as_ushort2(y), c, false);
  out[3] = __builtin_amdgcn_udot2(as_ushort2(x), as_ushort2(y), c, true);
  out[4] = (uint)__builtin_amdgcn_sdot4((int)x, (int)y, (int)c, false);
  out[5] = (uint)__builtin_amdgcn_sdot4((int)x, (int)y, (int)c, true);
  out[6] = __builtin_amdgcn_udot4(x, y, c, false);
  out[7] = __builtin_amdgcn_udot4(x, y, c, true);
  out[8] = (uint)__builtin_amdgcn_sdot8((int)x, (int)y, (int)c, false);
  out[9] = (uint)__builtin_amdgcn_sdot8((int)x, (int)y, (int)c, true);
  out[10] = __builtin_amdgcn_udot8(x, y, c, false);
  out[11] = __builtin_amdgcn_udot8(x, y, c, true);
}

__kernel void dots_with_constants(__global const uint* a, __global uint* out) {
  const int i = get_global_id(0);
  const uint x = a[i];
  out += 5 * i;
  out[0] = __builtin_amdgcn_udot2(as_ushort2(x), (ushort2)(1, 1), 3, true);
  out[1] = __builtin_amdgcn_udot2((ushort2)(5, 0), as_ushort2(x), x, false);
  out[2] = (uint)__builtin_amdgcn_sdot2((short2)(-1, -1), as_short2(x), (int)x, false);
  float sum;
#if defined(__gfx942__)  // its dot products do not choose halves
  sum = as_half2(x).x + as_half2(x).y + 2;
#else
  __asm__ volatile("v_dot2_f32_f16 %0, 1.0, %1, 2.0 op_sel_hi:[0,1,1]" : "=v"(sum) : "v"(x));
#endif
  out[3] = as_uint(sum);
  out[4] = as_uint(__builtin_amdgcn_fdot2(as_half2(x), (half2)(0.5h, 0), sum, false));
}

__kernel void dots_of_halves(__global const half2* a, __global const half2* b,
                             __global float* out) {
  const int i = get_global_id(0);
  out[i] = __builtin_amdgcn_fdot2(a[i], b[i], out[i], false);
}
#endif

#if defined(__gfx942__)
// Instructions that CDNA 3 adds.
__kernel void added_by_gfx942(__global const ulong* a, __global const ulong* b, __global ulong* out,
                              __global const float* x, __global float* y) {
  const int i = get_global_id(0);
  ulong sum, copy;
  __asm__ volatile("v_lshl_add_u64 %0, %1, %2, %3" : "=v"(sum) : "v"(a[i]), "v"((uint)a[i]), "v"(b[i]));
  __asm__ volatile("v_mov_b64 %0, %1" : "=v"(copy) : "v"(a[i]));
  out[2 * i] = sum;
  out[2 * i + 1] = copy;
  float scaled, shifted;
  __asm__ volatile("v_fmamk_f32 %0, %1, 0x40490fdb, %2" : "=v"(scaled) : "v"(x[2 * i]), "v"(x[2 * i + 1]));
  __asm__ volatile("v_fmaak_f32 %0, %1, %2, 0x40490fdb" : "=v"(shifted) : "v"(x[2 * i]), "v"(x[2 * i + 1]));
  y[2 * i] = scaled;
  y[2 * i + 1] = shifted;
}

__kernel void die_of(__global uint* out) {
  uint id;
  __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID)" : "=s"(id));
  out[get_global_id(0)] = id;
}
#endif

#if defined(__gfx1100__)
// Dot products of words whose parts are signed or not, each for itself: result 4 s + 2 w + c for
// signs s (bit 0: those of a), w for parts of four bits and c for saturation.
#define WW_SIGNED_DOTS(at, sign_a, sign_b)                                                      \
  out[at + 0] = (uint)__builtin_amdgcn_sudot4(sign_a, (int)x, sign_b, (int)y, (int)c, false);   \
  out[at + 1] = (uint)__builtin_amdgcn_sudot4(sign_a, (int)x, sign_b, (int)y, (int)c, true);    \
  out[at + 2] = (uint)__builtin_amdgcn_sudot8(sign_a, (int)x, sign_b, (int)y, (int)c, false);   \
  out[at + 3] = (uint)__builtin_amdgcn_sudot8(sign_a, (int)x, sign_b, (int)y, (int)c, true);
__kernel void signed_dots(__global const uint* a, __global const uint* b, __global uint* out) {
  const int i = get_global_id(0);
  const uint x = a[i];
  const uint y = b[i];
  const uint c = a[i] ^ b[i];
  out += 16 * i;
  WW_SIGNED_DOTS(0, false, false)
  WW_SIGNED_DOTS(4, true, false)
  WW_SIGNED_DOTS(8, false, true)
  WW_SIGNED_DOTS(12, true, true)
}
#endif

#if defined(__gfx1100__) && __AMDGCN_WAVEFRONT_SIZE == 32
// Two instructions in one: registers exchanged, a literal, and a sum of the old value.
__kernel void dual_instructions(__global const uint* a, __global const uint* b, __global uint* out) {
  const int i = get_global_id(0);
  uint first, second, product, sum;
  __asm__ volatile(
      "v_mov_b32 v20, %4\n v_mov_b32 v21, %5\n v_mov_b32 v22, %4\n"
      "v_dual_mov_b32 v20, v21 :: v_dual_mov_b32 v21, v20\n"
      "v_mov_b32 %0, v20\n v_mov_b32 %1, v21\n"
      "v_dual_fmaak_f32 v20, v20, v22, 0x40490fdb :: v_dual_add_nc_u32 v23, v21, v20\n"
      "v_mov_b32 %2, v20\n v_mov_b32 %3, v23\n"
      : "=&v"(first), "=&v"(second), "=&v"(product), "=&v"(sum)
      : "v"(a[i]), "v"(b[i])
      : "v20", "v21", "v22", "v23");
  out[4 * i] = first;
  out[4 * i + 1] = second;
  out[4 * i + 2] = product;
  out[4 * i + 3] = sum;
}
#endif

#if defined(__gfx1030__) || defined(__gfx1100__)
#if defined(__gfx1100__)
#define WW_FLOAT_ATOMIC(name) "global_atomic_" #name "_f32 %0, %1, off"
#else
#define WW_FLOAT_ATOMIC(name) "global_atomic_f" #name " %0, %1, off"
#endif
// a: least and greatest of `in`, and a word that is replaced where it is a zero of either sign;
// doubles: the first two, where the target has them.
__kernel void float_atomics(__global float* a, __global double* doubles, __global const float* in) {
  const float x = in[get_global_id(0)];
  __asm__ volatile(WW_FLOAT_ATOMIC(min) : : "v"(a), "v"(x) : "memory");
  __asm__ volatile(WW_FLOAT_ATOMIC(max) : : "v"(a + 1), "v"(x) : "memory");
  if (get_global_id(0) == 0) {
    const ulong seven_for_zero = (ulong)as_uint(-0.0f) << 32 | as_uint(7.0f);
    __asm__ volatile(WW_FLOAT_ATOMIC(cmpswap) : : "v"(a + 2), "v"(seven_for_zero) : "memory");
  }
#if defined(__gfx1030__)
  const double wide = x;
  __asm__ volatile("global_atomic_fmin_x2 %0, %1, off" : : "v"(doubles), "v"(wide) : "memory");
  __asm__ volatile("global_atomic_fmax_x2 %0, %1, off" : : "v"(doubles + 1), "v"(wide) : "memory");
#endif
}
#endif

// A long chain of arithmetic, whose values stay small.
static inline float chain(float x, float c, uint rounds) {
  for (uint i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) x = mad(x, x, c);
  }
  return x;
}

__kernel void multiply_adds(__global float* out, uint rounds) {
  out[get_global_id(0)] = chain(0.5f, -(float)(get_local_id(0)) / 256.0f, rounds);
}

// All groups of a cooperative launch wait for each other, as AMD's device library does it.
void meet_all(void) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) __builtin_amdgcn_ds_gws_barrier((uint)get_num_groups(0) - 1, 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

// Each group works for a time of its own, leaves a word, and adds up all groups' words. The group
// `leaver` leaves before it has met the others.
__kernel void meet(__global volatile uint* words, __global uint* out, uint rounds, uint leaver) {
  const uint group = (uint)get_group_id(0);
  const uint groups = (uint)get_num_groups(0);
  uint sum = 0;
  for (uint round = 0; round < rounds; ++round) {
    if (group == leaver) return;
    uint word = group + 1;
    for (uint i = 0; i < group * 7 % 32; ++i) word = word * 3 + out[i];
    if (get_local_id(0) == 0) words[group] = word + round;
    meet_all();
    for (uint i = 0; i < groups; ++i) sum = sum * 31 + words[i];
    meet_all();
  }
  out[get_global_id(0)] = sum;
}

// The waves of one group meet at a barrier that one of them has set.
__kernel void meet_in_group(__global uint* out, uint resource, uint waves) {
  __local uint arrived[4];
  const uint quarter = (uint)get_local_id(0) / (uint)(get_local_size(0) / 4);
  if (get_local_id(0) == 0) __builtin_amdgcn_ds_gws_init(waves - 1, resource);
  arrived[quarter] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (volatile uint i = 0; i < quarter * 50; ++i) {
  }
  arrived[quarter] = quarter + 1;
  __builtin_amdgcn_ds_gws_barrier(waves - 1, resource);
  mem_fence(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = arrived[0] + 8 * arrived[1] + 64 * arrived[2] + 512 * arrived[3];
}
