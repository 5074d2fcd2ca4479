// Streams one quadrant of the L2 into the CUs of one shader engine (IISWC'16, section IV).
//
// Macros from the host: WW_GROUP_SIZE, WW_WAVE_SIZE [work-items]; WW_PIN_CONSTRAINT, WW_UNIFORM(x),
// WW_WAIT(); WW_ENGINE_SHIFT, WW_ENGINE_MASK; WW_INTERLEAVE [bytes in a row on one channel];
// WW_CHANNELS (of the chip), WW_QUADRANT_CHANNELS (of one quadrant); WW_STRIPES (a power of two:
// how many runs of WW_INTERLEAVE * WW_CHANNELS bytes the working set spans).
//
// buffer:   at least twice WW_STRIPES * WW_INTERLEAVE * WW_CHANNELS bytes, so that an aligned
//           working set lies within.
// channels: the quadrant's channel numbers, 8 bits each, the first lowest.
// A wavefront's load is 16 B a lane: 1 KiB, the quadrant's share of one stripe when the interleave
// is 256 B and four channels make a quadrant, so that every load asks all its channels for the
// same number of lines. `volatile` makes the load bypass the L1 (glc) and keeps it whole, though
// one word of four is looked at. The compiler waits for each volatile load; many wavefronts, not
// many loads of one, hide the latency, as in the paper (section IV-E).
// WW_LIST (optional): the lines of a quadrant are listed, for chips that hash or steer addresses.
// lists[channels..channels + WW_LIST) are the offsets in the buffer [bytes] of runs of WW_INTERLEAVE
// bytes that live in the quadrant: WW_STRIPES times as many as a load takes. A work-group copies its
// list to local memory once, past the L1, so that those bytes can be counted. WW_LIST_ROOM (WW_LIST
// where it is not given) is the longest list for which a work-group has room.
// WW_COUNT_WAVES (optional): working wavefronts add themselves to *working where `count` is not 0,
// so that a launch's bytes are known however the chip placed it.
// Every wavefront logs its place in log[log_first + wave]. Where the chip places wavefronts alike,
// repeated launches then change nothing in memory.
#if defined(WW_LIST) && !defined(WW_LIST_ROOM)
#define WW_LIST_ROOM WW_LIST
#endif
__kernel __attribute__((reqd_work_group_size(WW_GROUP_SIZE, 1, 1)))
void l2_stream(__global const uchar* buffer, const ulong channels, const uint loops,
               const uint throttle, const uint engine, __global uint* restrict log,
               const uint log_first, __global uint* restrict output
#ifdef WW_COUNT_WAVES
               , __global uint* restrict working, const uint count
#endif
#ifdef WW_LIST
               , __global const uint* restrict lists
#endif
               ) {
  WW_READ_PLACE(id);
  const uint local_id = (uint)get_local_id(0);
  const uint lane = local_id % WW_WAVE_SIZE;
  const uint wave =
      WW_UNIFORM((uint)get_group_id(0) * WW_WAVES_PER_GROUP + local_id / WW_WAVE_SIZE);
  if (lane == 0) log[log_first + wave] = id;
  if (WW_ENGINE_OF(id) != engine) return;
#ifdef WW_COUNT_WAVES
  if (lane == 0 && count != 0) atomic_inc(working);
#endif

#ifdef WW_LIST
  // A work-group lies on one CU, so that all of it is here or none.
  __local uint list[WW_LIST_ROOM];
  for (uint i = local_id; i < WW_LIST; i += WW_GROUP_SIZE) {
    list[i] = *(volatile __global const uint*)(lists + (uint)channels + i);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint runs = WW_LIST / WW_STRIPES;  // of a load
  __global const uchar* const at = buffer + lane * 16u % WW_INTERLEAVE;
  __local const uint* const mine = list + lane * 16u / WW_INTERLEAVE;
#define WW_ADDRESS(stripe) (at + mine[((stripe) & (WW_STRIPES - 1u)) * runs])
#else
  const uint stripe_bytes = WW_INTERLEAVE * WW_CHANNELS;
  const ulong span = (ulong)WW_STRIPES * stripe_bytes;
  const ulong base = ((ulong)buffer + span - 1) & ~(span - 1);
  const uint slot = lane * 16u / WW_INTERLEAVE;
  const uint channel = (uint)(channels >> (8u * (slot % WW_QUADRANT_CHANNELS))) & 255u;
  const uint within = channel * WW_INTERLEAVE + lane * 16u % WW_INTERLEAVE;
#define WW_ADDRESS(stripe) ((base | ((stripe) & (WW_STRIPES - 1u)) * stripe_bytes) + within)
#endif
  // Each wavefront walks the stripes in an order of its own (odd strides visit all), so that
  // neighbours on a wire carry different lines.
  const uint stride = 2u * wave + 1u;
  uint stripe = wave * 0x9E3779B1u >> 16;
  uint accumulator = 0;
  for (uint i = 0; i < loops; ++i) {
#pragma unroll
    for (uint j = 0; j < WW_UNROLL; ++j) {
      const uint4 value = *(volatile __global const uint4*)WW_ADDRESS(stripe);
      accumulator ^= value.x;
      stripe += stride;
    }
    for (uint wait = throttle; wait != 0; --wait) {
      WW_WAIT();
    }
  }
  // Never true: the host passes fewer loops. The compiler cannot know, and keeps the loads' use.
  if (accumulator == 0x7EDCBA98u && loops == 0xFFFFFFFFu) output[0] = accumulator;
}
