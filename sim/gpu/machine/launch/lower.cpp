#include "machine/launch/lower.hpp"

#include <fmt/format.h>

#include "machine/alu/alu.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_guard.hpp"
#include "machine/isa/approximated.hpp"
#include "machine/launch/global_wave_sync.hpp"
#include "machine/memory/memory_instructions.hpp"

namespace ww::sim::gpu::exec {

using binpatch::isa::Encoding;
using binpatch::isa::Instruction;

namespace {

// Executing an instruction without semantics ends the launch: never a wrong answer.
void run_unsupported(Wave& wave, const MicroOp& op) {
  const std::uint64_t address =
      wave.cu->launch().code_address + (std::uint64_t{wave.pc} - op.dwords) * 4;
  const std::string name =
      op.opcode == Opcode::invalid || op.opcode == Opcode::unlisted
          ? fmt::format("word {:#010x}", static_cast<std::uint32_t>(op.immediate))
          : std::string(binpatch::isa::mnemonic(op.opcode));
  note_unknown(wave, op);
  wave.cu->fault(
      wave, ErrorCode::unsupported,
      fmt::format("the virtual GPU cannot execute instruction {} at {:#x}", name, address));
}

bool lower_vector_memory(const Instruction& instruction, MicroOp& op, Isa isa) {
  const bool known = instruction.encoding == Encoding::mimg ? lower_image(instruction, op)
                                                            : lower_vector_memory(instruction, op);
  // RDNA 2 has a bit of its own for it (DLC); on RDNA 3 that is a hint for memory's cache.
  if (known) op.memory.past_gl1 = isa == Isa::gfx1030 ? instruction.modifiers.dlc : op.memory.glc;
  return known;
}

}  // namespace

void lower(const ww::Result<Instruction>& decoded, MicroOp& op, ConstantPool& pool, Isa isa) {
  if (decoded) {
    op.opcode = decoded->opcode;
    op.dwords = static_cast<std::uint8_t>(decoded->size_bytes / 4);
    bool known = false;
    switch (decoded->encoding) {
      case Encoding::sop2:
      case Encoding::sopk:
      case Encoding::sop1:
      case Encoding::sopc:
      case Encoding::sopp:
        known = lower_index_mode(*decoded, op) || lower_scalar(*decoded, op);
        break;
      case Encoding::smrd:
      case Encoding::smem: known = lower_scalar_memory(*decoded, op); break;
      case Encoding::vop1:
      case Encoding::vop2:
      case Encoding::vopc:
      case Encoding::vop3a:
      case Encoding::vop3b:
      case Encoding::vop3p: known = lower_vector(*decoded, op, pool, isa); break;
      case Encoding::vopd: known = lower_dual(*decoded, op, pool, isa); break;
      case Encoding::ds:
        known = lower_global_wave_sync(*decoded, op) || lower_lds(*decoded, op);
        break;
      case Encoding::mubuf:
      case Encoding::flat:
      case Encoding::mimg: known = lower_vector_memory(*decoded, op, isa); break;
      default: break;
    }
    if (known) {
      op.approximated = is_approximated(binpatch::isa::mnemonic(op.opcode));
      return;
    }
  }
  op.unit = Unit::internal;
  op.straight = false;
  op.run = run_unsupported;
}

bool has_semantics(const MicroOp& op) {
  return op.run != run_unsupported;
}

}  // namespace ww::sim::gpu::exec
