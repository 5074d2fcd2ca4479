// Finds where the lanes of a buffer instruction lie, and how much of each is in the buffer's range.
//
// The range is that of the descriptor's NUM_RECORDS, by rules that changed with the generations:
//   gfx7    without a stride bytes, else records by index
//   gfx9    records by index where the instruction has one and the buffer a stride, else bytes;
//           private memory (ADD_TID_ENABLE) is not checked
//   gfx10+  as the descriptor's OOB_SELECT says
// Bytes include the scalar offset. Loads and stores of several dwords are checked dword by dword,
// formats and atomics as a whole. Sources: AMD Sea Islands ISA, chapter 8; "AMD Instinct MI300"
// ISA, 9.1.5; "RDNA 3" ISA, 9.4.1; LLVM "User Guide for AMDGPU Backend", relaxed buffer OOB mode;
// for the units of gfx6 to gfx11 Mesa's ac_descriptors.c and si_descriptors.c; ROCm/rocm-systems
// pull request 10928, which compared with a gfx950.
#include <algorithm>
#include <cstring>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/compute_unit/private_memory.hpp"
#include "machine/memory/vector_memory.hpp"

namespace ww::sim::gpu::exec {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 bits(U32 word, unsigned low, unsigned count) {
  return word >> low & ((1U << count) - 1);
}

struct BufferDescriptor {
  U64 base;
  U64 stride, records;
  U32 element_shift{2}, index_shift;  // of sizes that are powers of two
  bool swizzle, add_lane;

  BufferDescriptor(const U32* s, Isa isa, bool typed)
      : base(s[0] | U64{s[1] & 0xFFFFU} << 32),
        stride(bits(s[1], 16, 14)),
        records(s[2]),
        index_shift(3 + bits(s[3], 21, 2)),
        swizzle(s[1] >> 31 != 0),
        add_lane(bits(s[3], 23, 1) != 0) {
    if (isa == Isa::gfx7) {
      element_shift = 1 + bits(s[3], 19, 2);
    } else if (isa == Isa::gfx1100) {  // 4 or 16 bytes
      swizzle = bits(s[1], 30, 2) != 0;
      element_shift = 1 + bits(s[1], 30, 2);
    } else if (isa != Isa::gfx1030 && add_lane && !typed) {
      stride |= bits(s[3], 15, 4) << 14;  // in place of a format
    }
  }

  // Bytes from the beginning to a byte of a record.
  [[nodiscard]] U64 place(U64 index, U64 offset) const {
    if (!swizzle) return index * stride + offset;
    const U64 in_row = index & ((U64{1} << index_shift) - 1);
    const U64 in_element = offset & ((U64{1} << element_shift) - 1);
    return (((index >> index_shift) * stride + offset - in_element) << index_shift) +
           (in_row << element_shift) + in_element;
  }
};

// Bounds against which a lane's index and offset are checked.
struct Range {
  bool by_index{};  // the index is a record's
  bool of_place{};  // `end` bounds the place in a swizzled buffer, not the offset
  U64 end{~U64{0}};
};

Range range_of(const BufferDescriptor& buffer, U32 oob_select, Isa isa, bool indexed,
               U64 scalar_offset) {
  const U64 bytes = buffer.records > scalar_offset ? buffer.records - scalar_offset : 0;
  if (isa == Isa::gfx7) {
    if (buffer.stride == 0) return {.of_place = true, .end = bytes};
    return {.by_index = true};
  }
  if (!is_rdna(isa)) {
    if (buffer.add_lane) return {};
    if (indexed && buffer.stride != 0) return {.by_index = true};
    return {.end = bytes};
  }
  switch (oob_select) {
    case 0: return {.by_index = true, .end = buffer.stride};
    case 1: return {.by_index = true};
    case 2: return {.end = buffer.records == 0 ? 0 : ~U64{0}};
    default: break;
  }
  if (buffer.swizzle && isa == Isa::gfx1030) return {.of_place = true, .end = bytes};
  if (buffer.swizzle && buffer.stride != 0) return {.by_index = true, .end = buffer.stride};
  return {.end = bytes};
}

// Finds addresses in private memory as it is set up for a wave: one row of elements for each
// element of a lane. A loop of its own, without a product: compiled code comes here most often.
void private_addresses(const BufferDescriptor& buffer, const U32* index_of, const U32* offset_of,
                       U32 offset, U64 wrap, U64 begin, U64* address) {
  const U64 in_row = (U64{1} << buffer.index_shift) - 1;
  const U64 in_element = (U64{1} << buffer.element_shift) - 1;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const U64 index = U64{index_of != nullptr ? index_of[lane] : 0U} + lane;
    const U64 at = (U64{offset_of != nullptr ? offset_of[lane] : 0U} + offset) & wrap;
    address[lane] = begin + ((at & ~in_element) << buffer.index_shift) +
                    ((index & in_row) << buffer.element_shift) + (at & in_element);
  }
}

// Bytes of an element that end before the range does.
U64 kept_bytes(const BufferDescriptor& buffer, const Range& range, U64 index, U64 offset, U64 bytes,
               bool whole) {
  if (range.by_index && index >= buffer.records) return 0;
  const U64 part = whole || bytes < sizeof(U32) ? bytes : sizeof(U32);
  for (U64 kept = 0; kept < bytes; kept += part) {
    const U64 at = range.of_place ? buffer.place(index, offset + kept) : offset + kept;
    if (at > range.end || range.end - at < part) return kept;
  }
  return bytes;
}

}  // namespace

U32 buffer_scalar_offset(const Wave& wave, const MicroOp& op) {
  if (op.kind[2] == Source::constant) return static_cast<U32>(op.immediate);
  return wave.sr[op.source[2]];
}

U64 find_buffer_addresses(Wave& wave, const MicroOp& op, MemoryOperation& operation) {
  const MemoryFields& m = op.memory;
  const LaunchState& launch = wave.cu->launch();
  const U32* const words = wave.sr + m.resource;
  const BufferDescriptor buffer(words, launch.isa, operation.image);
  const U32 scalar_offset = buffer_scalar_offset(wave, op);
  const U32* index_of = m.idxen ? wave.vgpr(m.address) : nullptr;
  const U32* offset_of = m.offen ? wave.vgpr(m.address + (m.idxen ? 1U : 0U)) : nullptr;
  // From gfx9 on the sum of the offsets wraps, so that a buffer can be addressed from behind;
  // before, a negative part is out of range.
  const U64 wrap = launch.isa != Isa::gfx7 ? 0xFFFFFFFFU : ~U64{0};
  const U64 begin = buffer.base + scalar_offset;
  if (buffer.swizzle && buffer.stride == 0 && buffer.add_lane && buffer.element_shift == 2 &&
      buffer.base - launch.scratch < launch.scratch_bytes) {
    private_addresses(buffer, index_of, offset_of, m.offset, wrap, begin, operation.address());
    return check_private(wave, operation, operation.exec);
  }
  const Range range = range_of(buffer, bits(words[3], 28, 2), launch.isa, m.idxen, scalar_offset);
  const bool whole = operation.image || operation.kind >= MemoryKind::atomic;
  const U64 bytes = operation.element_bytes;
  const U64 piece = U64{1} << buffer.element_shift;
  U64 inside = 0;
  U64 clipped = 0;
  U64 in_rows = 0;  // lanes whose element is not within one of the buffer's
  std::uint8_t kept_of[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const U64 index =
        U64{index_of != nullptr ? index_of[lane] : 0U} + (buffer.add_lane ? lane : 0U);
    const U64 offset = (U64{offset_of != nullptr ? offset_of[lane] : 0U} + m.offset) & wrap;
    const U64 kept = kept_bytes(buffer, range, index, offset, bytes, whole);
    kept_of[lane] = static_cast<std::uint8_t>(kept);
    inside |= U64{kept != 0} << lane;
    clipped |= U64{kept != 0 && kept != bytes} << lane;
    in_rows |= U64{buffer.swizzle && offset % piece + bytes > piece} << lane;
    operation.address()[lane] = begin + buffer.place(index, offset);
  }
  // No fetch is meant to be larger than an element but for those of whole dwords.
  if ((in_rows & inside & operation.exec) != 0 && piece >= sizeof(U32) && !operation.image) {
    spread_over_rows(operation, begin, ~U64{0}, piece << buffer.index_shift, piece);
  }
  if ((clipped & operation.exec) != 0) {
    if (!operation.spread) spread_over_rows(operation, begin, 0, 0, piece);
    operation.clipped = true;
    std::memcpy(operation.bytes->kept, kept_of, sizeof kept_of);
  }
  return inside;
}

}  // namespace ww::sim::gpu::exec
