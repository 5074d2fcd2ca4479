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
