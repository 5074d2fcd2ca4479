// Private (scratch) memory: each lane has its own, whose dwords lie a wave's lanes apart. Source:
// LLVM "User Guide for AMDGPU Backend", private address space: swizzled by dword over the
// wavefront.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec {

// Bytes from a dword of a lane to its next one.
[[nodiscard]] inline std::uint64_t private_row(const Wave& wave) {
  return std::uint64_t{4} * (wave.last_lane() + 1);
}

// Device address of a byte of the lane's private memory.
[[nodiscard]] inline std::uint64_t private_address(const Wave& wave, std::size_t lane,
                                                   std::uint32_t offset) {
  return wave.scratch_base + offset / 4 * private_row(wave) + lane * 4 + offset % 4;
}

// Whether a lane's element lies in several rows.
[[nodiscard]] inline bool lies_in_rows(const MemoryOperation& operation, std::size_t lane) {
  return operation.spread &&
         operation.address()[lane] - operation.bytes->rows_begin < operation.bytes->rows_bytes;
}

// Calls f(first byte of the element, address, bytes) for each run of a lane's element that lies in
// a row: the whole element, or one piece after the other where the operation is spread. A clipped
// element has only its first bytes.
template <class F>
void for_pieces(const MemoryOperation& operation, std::size_t lane, F&& f) {
  const std::uint64_t address = operation.address()[lane];
  const OperationBytes& rows = *operation.bytes;
  const std::uint64_t bytes = operation.clipped ? rows.kept[lane] : operation.element_bytes;
  if (!lies_in_rows(operation, lane)) {
    f(std::uint64_t{0}, address, bytes);
    return;
  }
  std::uint64_t at = address;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t in_piece = (at - rows.rows_begin) % rows.piece_bytes;
    const std::uint64_t count = std::min(rows.piece_bytes - in_piece, bytes - done);
    f(done, at, count);
    done += count;
    at += rows.row_pitch - in_piece;
  }
}

// Marks an operation spread over rows: from `begin` on, a lane has `piece` bytes in each.
inline void spread_over_rows(MemoryOperation& operation, std::uint64_t begin, std::uint64_t bytes,
                             std::uint64_t pitch, std::uint64_t piece) {
  operation.spread = true;
  operation.bytes->rows_begin = begin;
  operation.bytes->rows_bytes = bytes;
  operation.bytes->row_pitch = pitch;
  operation.bytes->piece_bytes = piece;
}

// Looks at private accesses of these lanes, whose addresses are in the operation: marks it spread
// where an element is not within one dword, and returns the lanes that stay in their own private
// memory. The others are findings; the launch has ended where OnFault asks for that.
std::uint64_t check_private(Wave& wave, MemoryOperation& operation, std::uint64_t enabled);

// An atomic is done at one place: one whose element is spread ends the launch. True where it did.
bool refuses_atomic(Wave& wave, const MemoryOperation& operation);

// Sends a flat access's lanes that mean local memory there (and takes them out of the operation's
// lanes), and gives those that mean private memory their device addresses. False when the launch
// has ended.
bool resolve_apertures(Wave& wave, MemoryOperation& operation);

}  // namespace ww::sim::gpu::exec
