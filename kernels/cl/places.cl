// Where wavefronts run: each writes its hardware id to log[wave]. The proof that a binary is pinned,
// and the list of a chip's engines and CUs. Macros: WW_GROUP_SIZE, WW_WAVE_SIZE. `spin` keeps the
// wavefronts resident, so that a launch spreads over the whole chip.
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void places(__global uint* restrict log, const uint spin, __global uint* restrict output) {
  WW_READ_PLACE(id);
  const uint local_id = (uint)get_local_id(0);
  const uint wave = (uint)get_group_id(0) * WW_WAVES_PER_GROUP + local_id / WW_WAVE_SIZE;
  float a = 0.1f + 0.003f * (float)local_id;
  for (uint i = 0; i < spin; ++i) a = 3.9f * fma(-a, a, a);
  // Never true: the map stays below 1.
  if (a > 5.0f) output[0] = wave;
  if (local_id % WW_WAVE_SIZE == 0) log[wave] = id;
}
