// Scalar instructions that gfx10 adds.
#pragma once

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

// Null where gfx10 adds no such instruction.
[[nodiscard]] Handler semantics_gfx10(Opcode opcode);
// Returns the older generations' name of an opcode that gfx11 renames; else the opcode itself.
[[nodiscard]] Opcode name_before_gfx11(Opcode opcode);

// Writes MODE; a rounding mode that the emulator does not have ends the launch.
void set_mode(Wave& wave, std::uint32_t mode);

}  // namespace ww::sim::gpu::exec
