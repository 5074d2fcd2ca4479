// How many slices of a wave go through code together, instruction by instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fast/translate/host_vectors.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

// The longest chain of instructions of which each waits for the one before it, in the time that a
// host takes for one addition.
class Chain {
 public:
  void add(const MicroOp& op);
  [[nodiscard]] std::uint32_t length() const { return length_; }

 private:
  std::array<std::uint32_t, 512> until_{};  // by vector register
  std::uint32_t length_{};
};

// The most host registers that an instruction needs on a slice where hope is possible
// (slice_code.hpp).
[[nodiscard]] std::uint32_t registers_for(const MicroOp& op, HostVectors vectors);
// Registers for `slices` slices, one after the other: what the others made stays.
[[nodiscard]] std::uint32_t registers_for_all(const MicroOp& op, HostVectors vectors,
                                              std::uint32_t slices);

struct Group {
  std::uint32_t slices{1};
  std::size_t instructions{};  // from the front of the code, at most
};
// The largest group whose registers the host has room for. A host finds instructions of several
// slices to do at once by itself as long as those of one slice are few; so it is one slice where
// chains are short.
[[nodiscard]] Group group_for(std::span<const MicroOp* const> code, HostVectors vectors);

}  // namespace ww::sim::gpu::exec::translate
