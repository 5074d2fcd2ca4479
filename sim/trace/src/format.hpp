// The bytes of a .wwt file around its columns (docs/files.md).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "bytes.hpp"
#include "columns.hpp"
#include "ww/core/hash.hpp"

namespace ww::sim::trace {

// Magic as PNG's: a transfer as text damages it, a look at the first bytes shows it.
inline constexpr std::string_view kMagic{"\x89WWT\r\n\x1a\n", 8};
inline constexpr std::uint32_t kVersion = 2;  // 1: without computed values
inline constexpr std::size_t kFileHead = 32;
inline constexpr std::size_t kChunkHead = 32;

enum class ChunkKind : std::uint32_t { producer = 1, launches, instructions, accesses, end };

// A reader refuses more, so that a damaged length cannot ask for all memory.
inline constexpr std::uint32_t kMaxPayload = 256U << 20;
inline constexpr std::uint64_t kMaxColumn = 64U << 20;

[[nodiscard]] inline std::uint64_t checksum(std::string_view bytes) {
  return hash64(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

template <class T>
void put_fixed(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}
template <class T>
[[nodiscard]] T get_fixed(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= static_cast<T>(static_cast<T>(static_cast<std::uint8_t>(bytes[at + i])) << (8 * i));
  }
  return value;
}

// Magic, version, zero, zero, checksum of these 24 bytes.
[[nodiscard]] inline std::string file_head() {
  std::string head(kMagic);
  put_fixed(head, kVersion);
  put_fixed(head, std::uint32_t{0});
  put_fixed(head, std::uint64_t{0});
  put_fixed(head, checksum(head));
  return head;
}

// Kind, payload bytes, number of the chunk and checksum of the payload; checksum of these 24 bytes.
[[nodiscard]] inline std::string chunk_head(ChunkKind kind, std::uint32_t number,
                                            std::string_view payload) {
  std::string head;
  put_fixed(head, static_cast<std::uint32_t>(kind));
  put_fixed(head, static_cast<std::uint32_t>(payload.size()));
  put_fixed(head, std::uint64_t{number});
  put_fixed(head, checksum(payload));
  put_fixed(head, checksum(head));
  return head;
}

inline void put_totals(std::string& out, const Totals& totals) {
  for (const std::uint64_t value :
       {totals.launches, totals.instructions, totals.wave_accesses, totals.lane_accesses,
        totals.loaded_bytes, totals.stored_bytes, totals.atomic_bytes}) {
    put_varint(out, value);
  }
}
[[nodiscard]] inline Totals get_totals(Cursor& cursor) {
  Totals totals;
  for (std::uint64_t* value :
       {&totals.launches, &totals.instructions, &totals.wave_accesses, &totals.lane_accesses,
        &totals.loaded_bytes, &totals.stored_bytes, &totals.atomic_bytes}) {
    *value = cursor.varint();
  }
  return totals;
}

// Counts one access.
void count(Totals& totals, const Instruction& instruction, std::uint64_t lanes);

}  // namespace ww::sim::trace
