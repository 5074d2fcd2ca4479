// CRC-32 of many pages, one a work-item, four table look-ups a word; the tables lie in LDS.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void crc32(__global const uint* pages, __global const uint* table, __global uint* out, uint words) {
  __local uint t[1024];
  for (uint i = get_local_id(0); i < 1024u; i += 64u) t[i] = table[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint page = get_global_id(0);
  uint crc = 0xFFFFFFFFu;
  for (uint i = 0; i < words; ++i) {
    crc ^= pages[page * words + i];
    crc = t[768u + (crc & 255u)] ^ t[512u + ((crc >> 8) & 255u)] ^ t[256u + ((crc >> 16) & 255u)] ^
          t[crc >> 24];
  }
  out[page] = ~crc;
}
