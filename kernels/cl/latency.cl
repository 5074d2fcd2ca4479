// Pointer chase from one CU: `next[i]` names the word to read after word i. Launch one group per
// CU; only the wavefront on the wanted engine and CU works. Macros: as l2_stream.cl, and
// WW_CU_SHIFT, WW_CU_MASK. The last index goes to output[1] (the chain's check), the place to
// output[0].
__kernel __attribute__((reqd_work_group_size(WW_WAVE_SIZE, 1, 1)))
void latency(__global const uint* next, const uint first, const uint hops, const uint engine,
             const uint cu, __global uint* restrict output) {
  WW_READ_PLACE(id);
  if (WW_ENGINE_OF(id) != engine || WW_CU_OF(id) != cu || get_local_id(0) != 0) return;
  uint at = first;
  for (uint i = 0; i < hops; ++i) {
    at = *(volatile __global const uint*)(next + at);
  }
  output[0] = id;
  output[1] = at;
}
