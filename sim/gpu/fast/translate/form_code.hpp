// Host code for address arithmetic on registers whose lanes follow one another (lane_forms.hpp):
// a few host instructions on the two numbers of each register.
#pragma once

#include <cstdint>

#include "machine/isa/micro_op.hpp"

namespace Xbyak {
class CodeGenerator;
}

namespace ww::sim::gpu::exec::translate {

// Executes a stretch on forms while all lanes are enabled and all registers that it reads have one.
// It returns how many instructions it has executed: all of them, or those before the first one
// whose result has no form. It gives forms and scalar registers, but leaves Wave::formed and
// unwritten to the caller.
using HostForms = std::uint32_t (*)(Wave* wave);

// Whether such code can be made of the instruction.
[[nodiscard]] bool can_follow(const MicroOp& op);

// Writes the function for `count` instructions that can_follow(), from `first` on.
void write_forms(Xbyak::CodeGenerator& generator, const MicroOp* first, std::uint32_t count);

}  // namespace ww::sim::gpu::exec::translate
