// The content of a memory trace (.wwt): the vector memory instructions of launches, before
// coalescing and caches, in the order in which the (virtual) GPU committed them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ww::sim::trace {

inline constexpr unsigned kLanes = 64;
// A lane's value: at most a 16-byte element or the two 8-byte operands of a compare-and-swap.
inline constexpr unsigned kMaxValueBytes = 16;

enum class Operation : std::uint8_t { load, store, atomic, atomic_return };
[[nodiscard]] std::string_view to_string(Operation operation);

struct Instruction {
  std::uint64_t address{};  // of the instruction, in device memory
  std::string name;         // "buffer_load_dword"
  Operation operation{};
  std::uint8_t element_bytes{};  // that a lane touches: 1, 2, 4, 8, 12, 16, 32 or 64
  std::uint8_t value_bytes{};    // of a lane's value: two elements for compare-and-swap, 0: none
  bool operator==(const Instruction&) const = default;
};

struct Launch {
  std::uint64_t dispatch{};  // as the counters number it, from 0
  std::string kernel;
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};  // work-items of a group
  bool operator==(const Launch&) const = default;
};

// One wave's execution of a memory instruction.
struct Access {
  std::uint32_t launch{};       // index
  std::uint32_t instruction{};  // index
  std::uint32_t group{};        // linear: x + groups.x * (y + groups.y * z)
  std::uint32_t wave{};         // in the group
  std::uint64_t lanes{};        // bit i: lane i takes part; never 0
  bool has_values{};
  std::array<std::uint64_t, kLanes> address{};  // of the lanes that take part, others 0
  // Lane i's value at i * kMaxValueBytes: loaded, stored, or an atomic's operands.
  std::array<std::byte, kLanes * kMaxValueBytes> value{};
};

// Sums over a whole trace.
struct Totals {
  std::uint64_t launches{};
  std::uint64_t instructions{};   // different ones
  std::uint64_t wave_accesses{};  // Access records
  std::uint64_t lane_accesses{};
  std::uint64_t loaded_bytes{};  // by lanes: before coalescing
  std::uint64_t stored_bytes{};
  std::uint64_t atomic_bytes{};
  bool operator==(const Totals&) const = default;
};

}  // namespace ww::sim::trace
