// Single instructions with operands as the test gives them, built for every instruction set that the
// emulator executes. `i` is the work-item; results are words.

// --- accesses through a buffer's descriptor ---
// at[i]: an index and an offset; `by`: the offset from a scalar register.

#define WW_BUFFER_LOAD(name, type, value_type, access)                                            \
  __kernel void name(__global value_type* out, __constant const uint4* descriptor, uint by,       \
                     __global const uint2* at) {                                                  \
    const uint i = __builtin_amdgcn_workitem_id_x();                                                            \
    const type where = *(__global const type*)(at + i);                                           \
    value_type value = 0;                                                                         \
    __asm__ volatile(access "\n s_waitcnt vmcnt(0)"                                               \
                     : "+v"(value)                                                                \
                     : "v"(where), "s"(*descriptor), "s"(by)                                      \
                     : "memory");                                                                 \
    out[i] = value;                                                                               \
  }
#define WW_BUFFER_STORE(name, type, value_type, access)                                           \
  __kernel void name(__global const value_type* values, __constant const uint4* descriptor,       \
                     uint by, __global const uint2* at) {                                         \
    const uint i = __builtin_amdgcn_workitem_id_x();                                                            \
    const type where = *(__global const type*)(at + i);                                           \
    __asm__ volatile(access "\n s_waitcnt vmcnt(0)"                                               \
                     :                                                                            \
                     : "v"(values[i]), "v"(where), "s"(*descriptor), "s"(by)                      \
                     : "memory");                                                                 \
  }
WW_BUFFER_LOAD(load_byte, uint, uint, "buffer_load_ubyte %0, %1, %2, %3 offen")
WW_BUFFER_LOAD(load_1, uint, uint, "buffer_load_dword %0, %1, %2, %3 offen")
WW_BUFFER_LOAD(load_1_after_12, uint, uint, "buffer_load_dword %0, %1, %2, %3 offen offset:12")
WW_BUFFER_LOAD(load_2, uint, uint2, "buffer_load_dwordx2 %0, %1, %2, %3 offen")
WW_BUFFER_LOAD(load_3, uint, uint3, "buffer_load_dwordx3 %0, %1, %2, %3 offen")
WW_BUFFER_LOAD(load_4, uint, uint4, "buffer_load_dwordx4 %0, %1, %2, %3 offen")
WW_BUFFER_LOAD(load_1_indexed, uint2, uint, "buffer_load_dword %0, %1, %2, %3 idxen offen")
WW_BUFFER_LOAD(load_4_indexed, uint2, uint4, "buffer_load_dwordx4 %0, %1, %2, %3 idxen offen")
WW_BUFFER_LOAD(load_format, uint, uint4, "buffer_load_format_xyzw %0, %1, %2, %3 offen")
WW_BUFFER_STORE(store_byte, uint, uint, "buffer_store_byte %0, %1, %2, %3 offen")
WW_BUFFER_STORE(store_1, uint, uint, "buffer_store_dword %0, %1, %2, %3 offen")
WW_BUFFER_STORE(store_3, uint, uint3, "buffer_store_dwordx3 %0, %1, %2, %3 offen")
WW_BUFFER_STORE(store_4, uint, uint4, "buffer_store_dwordx4 %0, %1, %2, %3 offen")
WW_BUFFER_STORE(store_4_indexed, uint2, uint4, "buffer_store_dwordx4 %0, %1, %2, %3 idxen offen")
WW_BUFFER_STORE(store_format, uint, uint4, "buffer_store_format_xyzw %0, %1, %2, %3 offen")
WW_BUFFER_STORE(add_2, uint, uint2, "buffer_atomic_add_x2 %0, %1, %2, %3 offen")

__kernel void load_4_scalar(__global uint4* out, __constant const uint4* descriptor, uint by) {
  uint4 value;
  __asm__ volatile("s_buffer_load_dwordx4 %0, %1, %2\n s_waitcnt lgkmcnt(0)"
                   : "=s"(value)
                   : "s"(*descriptor), "s"(by)
                   : "memory");
  *out = value;
}

// --- the larger of two scalars, and whether it is the first one ---
__kernel void larger_scalars(__global uint* out, uint a, uint b) {
  uint is_first, is_first_signed;
  __asm__ volatile(
      "s_max_u32 s20, %2, %3\n s_cselect_b32 %0, 1, 0\n s_max_i32 s20, %2, %3\n s_cselect_b32 %1, 1, 0"
      : "=&s"(is_first), "=&s"(is_first_signed)
      : "s"(a), "s"(b)
      : "s20", "scc");
  out[0] = is_first;
  out[1] = is_first_signed;
}

// --- products of doubles whose signs are turned ---
#if defined(__gfx942__)
typedef double doubles __attribute__((ext_vector_type(4)));
#define WW_TURNED(i)                                                                     \
  ((__global doubles*)out)[(i) * 64 + lane] =                                            \
      __builtin_amdgcn_mfma_f64_16x16x4f64(a[lane], b[lane], sum, 0, 0, i);              \
  out[2048 + (i) * 64 + lane] =                                                          \
      __builtin_amdgcn_mfma_f64_4x4x4f64(a[lane], b[lane], c[lane], 0, 0, i);
__kernel void turned_products(__global const double* a, __global const double* b,
                              __global const double* c, __global double* out) {
  const uint lane = __builtin_amdgcn_workitem_id_x();
  const doubles sum = {c[lane], c[64 + lane], c[128 + lane], c[192 + lane]};
  WW_TURNED(0) WW_TURNED(1) WW_TURNED(2) WW_TURNED(3)
  WW_TURNED(4) WW_TURNED(5) WW_TURNED(6) WW_TURNED(7)
}
#endif

// --- halves of registers, as words because this compiler has another name for them ---
// v20 and v21 have a and b, v22 the result, whose halves were c's.
#if defined(__gfx1100__)
#define WW_WORDS(name, words)                                                                 \
  __kernel void name(__global const uint* a, __global const uint* b, __global const uint* c, \
                     __global uint* out) {                                                    \
    const uint i = __builtin_amdgcn_workitem_id_x();                                                        \
    uint d, e, mask;                                                                          \
    __asm__ volatile(                                                                         \
        "v_mov_b32 v20, %3\n v_mov_b32 v21, %4\n v_mov_b32 v22, %5\n s_mov_b32 vcc_lo, 0\n"   \
        ".long " words "\n"                                                                   \
        "v_mov_b32 %0, v22\n v_mov_b32 %1, v20\n v_cndmask_b32 %2, 0, 1, vcc_lo\n"            \
        : "=&v"(d), "=&v"(e), "=&v"(mask)                                                     \
        : "v"(a[i]), "v"(b[i]), "v"(c[i])                                                     \
        : "v20", "v21", "v22", "vcc");                                                        \
    out[3 * i] = d;                                                                           \
    out[3 * i + 1] = e;                                                                       \
    out[3 * i + 2] = mask;                                                                    \
  }
WW_WORDS(mov_high_low, "0x7f2c3914")          // v_mov_b16_e32 v22.h, v20.l
WW_WORDS(mov_low_high, "0x7e2c3994")          // v_mov_b16_e32 v22.l, v20.h
WW_WORDS(mov_long_high_high, "0xd59c4816, 0x00000114")  // v_mov_b16_e64 v22.h, v20.h
WW_WORDS(swap_high_low, "0x7f2ccd14")         // v_swap_b16 v22.h, v20.l
WW_WORDS(add_high_of_low_high, "0x652d2b94")  // v_add_f16_e32 v22.h, v20.h, v21.h
WW_WORDS(add_low_of_high_low, "0x642c2b94")   // v_add_f16_e32 v22.l, v20.h, v21.l
WW_WORDS(add_to_high, "0x6d2c2b14")           // v_fmac_f16_e32 v22.h, v20.l, v21.l
WW_WORDS(widen_high, "0x7e2c1794")            // v_cvt_f32_f16_e32 v22, v20.h
WW_WORDS(narrow_to_high, "0x7f2c1514")        // v_cvt_f16_f32_e32 v22.h, v20
WW_WORDS(less_high_low, "0x7c022b94")         // v_cmp_lt_f16_e32 vcc_lo, v20.h, v21.l
WW_WORDS(less_low_high, "0x7c632b14")         // v_cmp_lt_i16_e32 vcc_lo, v20.l, v21.h
WW_WORDS(and_long, "0xd7624816, 0x00022b14")  // v_and_b16 v22.h, v20.h, v21.l
WW_WORDS(neighbour_to_high, "0x652d2afa, 0xff010114")  // v_add_f16_dpp v22.h, v20.l, v21.h row_shl:1
// v_cmp_lt_i32_dpp vcc_lo, v20, v21 row_shl:1 bound_ctrl:1
WW_WORDS(next_is_less, "0x7c822afa, 0xff090114")
// v_cmp_lt_i32_dpp vcc_lo, v20, v21 row_shl:1
WW_WORDS(known_next_is_less, "0x7c822afa, 0xff010114")
// v_cmp_gt_i32_e64_dpp vcc_lo, v20, v21 row_ror:1
WW_WORDS(last_is_more, "0xd444006a, 0x00022afa, 0xff012114")
// v_mad_u32_u24_e64_dpp v22, v20, v21, v22 row_shl:1
WW_WORDS(add_to_product_of_next, "0xd60b0016, 0x045a2afa, 0xff010114")
#endif

// --- scalar registers of a wave of 32 ---
#if defined(__gfx1030__) || defined(__gfx1100__)
#if __AMDGCN_WAVEFRONT_SIZE == 32
__kernel void upper_exec(__global uint* out, uint x) {
  const uint i = __builtin_amdgcn_workitem_id_x();
  uint a, b, lanes;
  __asm__ volatile(
      "s_mov_b32 exec_hi, %3\n v_cmp_eq_u32 vcc_lo, 99, %4\n s_mov_b32 vcc_hi, 0x56\n"
      "v_cmp_eq_u32 vcc_lo, 98, %4\n s_add_i32 %0, exec_hi, vcc_hi\n s_mov_b32 %2, exec_lo\n"
      "s_and_b32 exec_hi, exec_hi, 0xff\n v_mov_b32 %1, exec_hi\n"
      : "=&s"(a), "=&v"(b), "=&s"(lanes)
      : "s"(x), "v"(i)
      : "vcc", "scc");
  out[3 * i] = a;
  out[3 * i + 1] = b;
  out[3 * i + 2] = lanes;
}
#endif
#endif
