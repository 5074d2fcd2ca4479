// Cycles that a local memory access takes, and where its lanes go.
#pragma once

#include <cstdint>

#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {

struct LocalAccess {
  std::uint32_t first{};  // the least address of an enabled lane
  std::uint32_t last{};   // the greatest one
  std::int64_t cycles{};  // for each word of an element
  bool in_row{};          // all lanes are enabled: one word behind the other
};

// A read or write by the lanes enabled in `exec`, whose words of ones are `mask`, at address +
// offset modulo 2^32. 32 banks of a word: lanes on one bank with different words queue; one word is
// one access for all its lanes. Most often other waves have executed the instruction before, with
// lanes that lay as far from each other as these and took as many cycles. `instruction` helps to
// choose which earlier access of this thread to compare with; any number gives the same answer.
[[nodiscard]] LocalAccess find_local_access(std::uint32_t instruction, const std::uint32_t* address,
                                            std::uint32_t offset, std::uint64_t exec,
                                            const std::uint32_t* mask);

// The cycles of an atomic, for which lanes on one word queue, too: each has to see what the one
// before it left.
[[nodiscard]] std::int64_t atomic_bank_cycles(const std::uint32_t* address, std::uint32_t offset,
                                              std::uint64_t exec, const std::uint32_t* mask);

}  // namespace ww::sim::gpu::exec
