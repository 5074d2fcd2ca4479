// Applies stores and atomics to a line of memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "machine/compute_unit/memory_operation.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::uint64_t kWholeLine = ~std::uint64_t{0};

// `count` bytes from `at` on, by bit.
[[nodiscard]] inline std::uint64_t bytes_at(std::uint64_t at, std::uint64_t count) {
  return (count == kLineBytes ? kWholeLine : (std::uint64_t{1} << count) - 1) << at;
}

struct LineUpdate {
  std::uint64_t written{};  // bytes of the line, by bit
  bool changed{};           // any byte got another value
};

// The line's bytes in a store of consecutive lanes that covers all of it, else nullptr.
inline const std::byte* whole_line(const MemoryOperation& operation, std::uint32_t line,
                                   std::uint64_t lanes) {
  if (!operation.contiguous || lanes != 0 || operation.exec != ~std::uint64_t{0}) return nullptr;
  const std::uint64_t at = line_address(line) - operation.base;
  const std::uint64_t bytes = std::uint64_t{kLanes} * operation.element_bytes;
  if (at > bytes - kLineBytes) return nullptr;  // also where the line begins before the lanes
  return reinterpret_cast<const std::byte*>(operation.data()) + at;
}

// Returns whether the line had other bytes before.
inline bool replace_line(std::byte* line, const std::byte* bytes) {
  std::uint64_t before[8];
  std::uint64_t after[8];
  std::memcpy(before, line, sizeof before);
  std::memcpy(after, bytes, sizeof after);
  std::uint64_t differs = 0;
  for (int i = 0; i < 8; ++i) differs |= before[i] ^ after[i];
  if (differs != 0) std::memcpy(line, after, sizeof after);
  return differs != 0;
}

// Writes a store's bytes of one line to memory.
inline LineUpdate store_line(MemoryOperation& operation, std::uint32_t line, std::uint64_t lanes,
                             const DeviceMemory& memory) {
  std::byte* const begin = memory.host(line_address(line));
  if (const std::byte* whole = whole_line(operation, line, lanes)) {
    return {kWholeLine, replace_line(begin, whole)};
  }
  LineUpdate update;
  for_bytes_in_lines(operation, line, 1, lanes, memory,
                     [&](const std::byte* element, std::byte* host, std::uint64_t count) {
                       if (std::memcmp(host, element, count) != 0) {
                         std::memcpy(host, element, count);
                         update.changed = true;
                       }
                       update.written |= bytes_at(static_cast<std::uint64_t>(host - begin), count);
                     });
  return update;
}

// The bytes of a store as they cross: those written, packed in order of address. Returns how many;
// `packed` has room for a line.
inline std::size_t pack_line(const std::byte* line, std::uint64_t written, std::byte* packed) {
  constexpr std::uint64_t kFirstOfWords = 0x1111'1111'1111'1111;
  const std::uint64_t words = written & kFirstOfWords;
  std::size_t size = 0;
  if (words * 15 == written) {  // whole words, most often
    for (std::uint64_t set = words; set != 0; set &= set - 1, size += sizeof(std::uint32_t)) {
      std::memcpy(packed + size, line + std::countr_zero(set), sizeof(std::uint32_t));
    }
    return size;
  }
  for (std::uint64_t set = written; set != 0; set &= set - 1) {
    packed[size++] = line[std::countr_zero(set)];
  }
  return size;
}

struct AtomicUpdate {
  LineUpdate line;
  std::int64_t served{};  // lanes
  // Operands and old values of the first lanes, one line's worth.
  std::uint32_t operands[16];
  std::uint32_t old_values[16];
  std::size_t words{};  // of each
};

// Does an atomic's lanes of one line, in order, and keeps the old values in the operation.
AtomicUpdate update_line(MemoryOperation& operation, std::uint64_t lanes,
                         const DeviceMemory& memory);

// The bytes that a store will write to a line, packed, without writing them. Returns how many;
// `out` has room for a line.
std::size_t stored_bytes(MemoryOperation& operation, std::uint32_t line, std::uint64_t lanes,
                         const DeviceMemory& memory, std::byte* out);

// Write an atomic's operands for its lanes of one line, and the old values once it is done. Both
// return how many bytes; `out` has room for kMaxAtomicBytes.
inline constexpr std::size_t kMaxAtomicBytes = std::size_t{kLanes} * 16;
std::size_t atomic_operands(const MemoryOperation& operation, std::uint64_t lanes, std::byte* out);
std::size_t old_values(const MemoryOperation& operation, std::uint64_t lanes, std::byte* out);

}  // namespace ww::sim::gpu::exec
