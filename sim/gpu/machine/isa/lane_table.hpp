// Loops over 64 lanes, compiled once for each vector instruction set of the host and chosen at run
// time. Contents: valu.inl.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

// How one vector opcode is executed; function[0] is null where there are no semantics.
struct VectorEntry {
  LaneFunction function[2]{};  // [keep denormals, flush f32 denormals]
  // The function with one word for all lanes as first source; null where there is none.
  LaneFunction scalar_first[2]{};
  LaneFunction clamped{};  // an integer's that saturates where clamp is set; null: none
  std::uint8_t sources{};
  std::uint8_t wide{};        // bit i: source i is 64 bits
  std::uint8_t float_bits{};  // 0: integer; 16, 32 or 64
  Destination result{Destination::vgpr};
  bool mask_in{};
  bool carry_out{};    // writes a mask beside the lanes
  bool accumulates{};  // the destination is the third source
  bool writes_exec{};
  std::uint8_t cycles{4};
};

// Where the enabled lanes of a local memory access go, at address + offset modulo 2^32.
struct LocalSpan {
  std::uint32_t first{};     // the least address
  std::uint32_t last{};      // the greatest one
  std::uint32_t banks[2]{};  // of 32, each a word wide, that a half of the lanes touches, by bit
  bool in_row{};             // all lanes, disabled ones too: one word behind the other
};

// Least and greatest address of the enabled lanes.
struct AddressRange {
  std::uint64_t least{~std::uint64_t{0}};
  std::uint64_t most{};
};

struct LaneTable {
  const char* name{};
  VectorEntry vector[binpatch::isa::kOpcodeCount];
  // d = mask ? s : d over `words` registers.
  void (*blend)(std::uint32_t* d, const std::uint32_t* s, const std::uint32_t* mask, int words){};
  // Lane-major elements of 1 to 4 words to registers and back.
  void (*unpack)(std::uint32_t* registers, const std::uint32_t* elements, int words){};
  void (*pack)(std::uint32_t* elements, const std::uint32_t* registers, int words){};
  // Smallest of `rows` times eight keys, 1 to 5, that is greater than `key`; all ones where there
  // is none.
  std::uint64_t (*smallest_above)(const std::uint64_t* keys, std::uint64_t key, int rows){};
  // Mark by bit, among 64 words in 16 rows of four columns, those that are first + step * column,
  // and those that are their column's smallest.
  std::uint64_t (*equal_by_column)(const std::uint32_t* words, std::uint32_t first,
                                   std::uint32_t step){};
  std::uint64_t (*least_by_column)(const std::uint32_t* words){};
  // neg and abs (bits by source), and changes of results, on 32- or 64-bit floats.
  void (*modify_source)(std::uint32_t* d, const std::uint32_t* s, int float_bits, bool abs,
                        bool neg){};
  void (*modify_result)(std::uint32_t* d, int float_bits, ResultChange change){};
  // 64-bit addresses from register pairs (plus offset); true if all enabled lanes are contiguous
  // with the given stride, and then base is lane 0's address. `out` may stay unwritten when all
  // lanes are enabled and contiguous.
  bool (*addresses)(std::uint64_t* out, const std::uint32_t* low, const std::uint32_t* high,
                    std::uint64_t offset, std::uint64_t exec, const std::uint32_t* mask,
                    std::uint32_t stride, std::uint64_t* base){};
  AddressRange (*address_range)(const std::uint64_t* address, std::uint64_t exec){};
  // Numbers of the 64-byte lines from `base` on in which the lanes' elements of `bytes` bytes
  // begin; whether each enabled lane's lies in one line.
  bool (*line_numbers)(std::uint32_t* line, const std::uint64_t* address, std::uint64_t base,
                       std::uint32_t bytes, std::uint64_t exec){};
  // d = the word of s in the lane whose place in bytes is address + offset, modulo a row of `row`
  // lanes, of the own row. Not in place.
  void (*take_lanes)(std::uint32_t* d, const std::uint32_t* s, const std::uint32_t* address,
                     std::uint32_t offset, std::uint32_t row){};
  // Whether each of `count` addresses is `step` behind the one before it.
  bool (*follow_one_another)(const std::uint64_t* address, std::uint32_t count,
                             std::uint64_t step){};
  LocalSpan (*local_span)(const std::uint32_t* address, std::uint32_t offset,
                          const std::uint32_t* mask){};
  // Whether a = b + distance modulo 2^32 in each enabled lane.
  bool (*all_apart)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t distance,
                    const std::uint32_t* mask){};
  void (*broadcast)(std::uint32_t* d, std::uint32_t value){};
  // d = the halves of s that begin at bits `low` and `high`, with the bits of `signs` inverted.
  void (*pair_halves)(std::uint32_t* d, const std::uint32_t* s, std::uint32_t low,
                      std::uint32_t high, std::uint32_t signs){};
  // d = first + lane * step.
  void (*count_up)(std::uint32_t* d, std::uint32_t first, std::uint32_t step){};
  // Lines of 64 bytes.
  void (*copy_lines)(std::byte* to, const std::byte* from, unsigned lines){};
  void (*expand_mask)(std::uint32_t* mask, std::uint64_t exec){};
};

// The best table for this machine; made once.
[[nodiscard]] const LaneTable& best_lanes();
namespace detail {
inline std::atomic<const LaneTable*> lanes_once_made{};
}
[[nodiscard]] inline const LaneTable& lanes() {
  const LaneTable* made = detail::lanes_once_made.load(std::memory_order_acquire);
  return made != nullptr ? *made : best_lanes();
}
// One by name ("generic", "avx2", "avx512"), or nullptr where the machine cannot run it; for tests.
[[nodiscard]] const LaneTable* lanes_named(const char* name);

}  // namespace ww::sim::gpu::exec
