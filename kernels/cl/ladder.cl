// Moves bits between the compute units and one level of the memory's hierarchy, at a rate that the
// host chooses: each wavefront goes through a working set over and over, WW_UNROLL accesses of 16 B
// a work-item, then a wait. The size of the set decides which level answers.
//
// Macros: WW_GROUP_SIZE, WW_WAVE_SIZE, WW_UNROLL, WW_UNIFORM(x), WW_USE(x), WW_HIDE(x),
// WW_WAIT_LONG(n).
// source is read, target is written. Access number k of wavefront w goes to piece
// (w + k * stride) & mask of either; a piece is what a wavefront accesses at once, and mask + 1,
// stride and the number of wavefronts are powers of two. A wavefront comes back to its own pieces
// after (mask + 1) / stride accesses. Wavefronts that share them store the same bytes there, so that
// a launch leaves memory as the one before it did.
// way: 0 loads that the L1 may answer, 1 loads past the L1, 2 stores, 3 no access. The ways differ in
// that one instruction, so that what two levels cost apart is no difference of instructions. A load
// is waited for before the next one: many wavefronts hide the latency.
// Two more load 4 B a work-item through the L1: 4 from all lines of a piece, 5 from the lines of its
// first quarter. They part what a load, its lines and its bytes cost.
#ifdef __AMDGCN__
// The value is taken whole, and costs no instruction. NVIDIA's assembler would delete the load.
#define WW_TAKE(value)                                                      \
  {                                                                         \
    uint x = (value).x, y = (value).y, z = (value).z, w = (value).w;        \
    WW_USE(x);                                                              \
    WW_USE(y);                                                              \
    WW_USE(z);                                                              \
    WW_USE(w);                                                              \
  }
#define WW_TAKE_WORD(value) \
  {                         \
    uint x = (value);       \
    WW_USE(x);              \
  }
#else
#define WW_TAKE(value) taken ^= (value).x ^ (value).y ^ (value).z ^ (value).w
#define WW_TAKE_WORD(value) taken ^= (value)
#endif
#define WW_STREAM_OF(WORDS, ...)                                 \
  for (uint i = 0; i < loops; ++i) {                             \
    _Pragma("unroll") for (uint j = 0; j < WW_UNROLL; ++j) {     \
      uint at = (piece & mask) * (WORDS * WW_WAVE_SIZE) + lane;  \
      __VA_ARGS__;                                               \
      piece += stride;                                           \
    }                                                            \
    WW_WAIT_LONG(throttle);                                      \
  }
#define WW_STREAM(...) WW_STREAM_OF(1u, __VA_ARGS__)
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void ladder(__global const uint4* source, __global uint4* target, const uint mask,
            const uint stride, const uint loops, const uint throttle, const uint way,
            __global uint* restrict output) {
  const uint local_id = (uint)get_local_id(0);
  const uint lane = local_id % WW_WAVE_SIZE;
  uint piece =
      WW_UNIFORM((uint)get_group_id(0) * WW_WAVES_PER_GROUP + local_id / WW_WAVE_SIZE);
  uint taken = 0;
  if (way == 0u) {
    WW_STREAM(const uint4 value = source[at]; WW_TAKE(value))
  } else if (way == 1u) {
    WW_STREAM(const uint4 value = *(volatile __global const uint4*)(source + at); WW_TAKE(value))
  } else if (way == 2u) {
    const uint4 stored = source[(piece & (stride - 1) & mask) * WW_WAVE_SIZE + lane];
    WW_STREAM(target[at] = stored; WW_HIDE(at))
  } else if (way == 4u) {
    WW_STREAM(const uint value = source[at].x; WW_TAKE_WORD(value))
  } else if (way == 5u) {
    __global const uint* words = (__global const uint*)source;
    WW_STREAM_OF(4u, const uint value = words[at]; WW_TAKE_WORD(value))
  } else {
    WW_STREAM(WW_HIDE(at))
  }
  // Never true: the host passes fewer loops.
  if (taken == 0x7EDCBA98u && loops == 0xFFFFFFFFu) output[0] = taken;
}
#undef WW_STREAM
#undef WW_STREAM_OF
#undef WW_TAKE
#undef WW_TAKE_WORD
