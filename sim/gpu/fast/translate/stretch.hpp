// Stretches: instructions of a straight-line run that become host code together, on lanes or on
// forms, and those between them, which the interpreter executes.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

enum class Translation : std::uint8_t { none, lanes, forms };

struct Stretch {
  const MicroOp* first{};
  std::uint32_t count{};
  Translation translation{};
  // Masks as MicroOp::reads: registers that it reads before it has written them, and those that it
  // writes.
  std::uint64_t reads{};
  std::uint64_t writes{};
};

// The straight instructions from `first` on, as many as `by_form` has: whether each is best
// executed on registers whose lanes follow one another, without lanes. `flush`: the mode of 32-bit
// floats.
[[nodiscard]] std::vector<Stretch> divide(const MicroOp* first, const std::vector<bool>& by_form,
                                          bool flush);

}  // namespace ww::sim::gpu::exec::translate
