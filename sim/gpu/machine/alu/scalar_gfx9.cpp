// Scalar instructions that gfx9 adds, and its indexing of vector registers. Source: AMD Vega ISA,
// chapters 5 and 12, and section "GPR indexing"; of an index that leaves the registers: AMD CDNA 4
// ISA, 3.6.1.
#include "machine/alu/scalar_gfx9.hpp"
#include "machine/alu/alu.hpp"
#include "machine/alu/scalar_values.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;

template <auto F>
void binary(Wave& w, const MicroOp& op) {
  w.sr[op.destination] = F(read32(w, op, 0), read32(w, op, 1), w.scc);
}
template <auto F>
void compare64(Wave& w, const MicroOp& op) {
  w.scc = F(read64(w, op, 0), read64(w, op, 1));
}
// The new exec mask is F(source, exec); the result is the old one, or with `Write` the new one.
template <auto F, bool Write>
void mask_exec(Wave& w, const MicroOp& op) {
  const U64 source = read64(w, op, 0);
  const U64 exec = w.exec();
  const U64 fresh = F(source, exec);
  w.set_pair(op.destination, Write ? fresh : exec);
  w.set_pair(kExec, fresh);
  w.scc = fresh != 0;
}
template <unsigned Shift>
void shift_add(Wave& w, const MicroOp& op) {
  const U64 sum = (U64{read32(w, op, 0)} << Shift) + read32(w, op, 1);
  w.scc = sum >> 32 != 0;
  w.sr[op.destination] = static_cast<U32>(sum);
}
void replicate_bits(Wave& w, const MicroOp& op) {
  const U32 source = read32(w, op, 0);
  U64 result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= U64{3} * (source >> i & 1U) << (2 * i);
  w.set_pair(op.destination, result);
}
void call(Wave& w, const MicroOp& op) {
  w.set_pair(op.destination, w.cu->launch().code_address + U64{w.pc} * 4);
  w.pc = static_cast<U32>(static_cast<I32>(w.pc) + op.immediate);
  w.next = w.now + 16;
}

// --- indexing of vector registers ---

constexpr unsigned kLongestRegion = 256;  // instructions under one index

void cannot_index(Wave& w, const MicroOp& op) {
  w.cu->fault(w, ErrorCode::unsupported,
              "the virtual GPU cannot execute " + std::string(binpatch::isa::mnemonic(op.opcode)) +
                  " while vector registers are indexed (s_set_gpr_idx_on)");
}

bool waits(const MicroOp& op) {
  return op.opcode == Opcode::s_waitcnt;
}

// Adds the index to the registers that `mode` chooses: bits 0 to 2 the sources, bit 3 the result.
// Compilers let it leave the wave's registers, of which there are `end`, where they do not use the
// result. A source is v0 then. With such a result the instruction does nothing, and this returns
// false.
bool indexed(MicroOp& op, U32 index, U32 mode, U32 end) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (op.kind[i] != Source::vgpr || (mode >> i & 1U) == 0) continue;
    const U32 words = (op.vector.wide >> i & 1U) != 0 ? 2 : 1;
    set_vector_source(op, i, op.source[i] + index + words <= end ? op.source[i] + index : 0);
  }
  if ((mode & 8U) == 0 || op.result == Destination::mask) return true;
  const U32 to = op.destination + index;
  op.destination = static_cast<std::uint16_t>(to);
  return to + register_count(op.result) <= end;
}

// Scalar instructions may stand between the moves, unless they change the index itself.
bool stays_in_region(const MicroOp& op) {
  if (op.unit == Unit::valu || op.opcode == Opcode::s_nop) return true;
  constexpr unsigned kMaxWords = 2;
  const bool writes_index = op.destination <= kM0 && op.destination + kMaxWords > kM0;
  return op.unit == Unit::salu && op.straight && !writes_index;
}

// Executes what stands between s_set_gpr_idx_on and _off with the index added to its registers. The
// region's waits come first, so that nothing is executed twice.
void index_region(Wave& w, const MicroOp& op) {
  const U32 index = read32(w, op, 0) & 255U;
  const U32 mode = static_cast<U32>(op.immediate) & 15U;
  U32 end = w.pc;
  for (unsigned count = 0;; ++count) {
    if (end >= w.code_dwords || count > kLongestRegion) return cannot_index(w, op);
    const MicroOp& inner = w.code[end];
    if (inner.opcode == Opcode::s_set_gpr_idx_off) break;
    if (waits(inner)) {
      const auto bits = static_cast<U32>(inner.immediate);
      if (w.vector_queue.count > (bits & 15U) || w.scalar_queue.count > (bits >> 8 & 15U)) {
        return w.cu->wait(w, op, bits & 15U, bits >> 8 & 15U);
      }
    } else if (!stays_in_region(inner)) {
      return cannot_index(w, inner);
    }
    end += inner.dwords;
  }
  w.sr[kM0] = (w.sr[kM0] & ~0xF0FFU) | index | mode << 12;
  std::int64_t cycles = 4;
  while (w.pc < end) {
    MicroOp inner = w.code[w.pc];
    w.pc += inner.dwords;
    if (inner.unit == Unit::salu && inner.straight) {
      ++w.cu->counters.salu;
      inner.run(w, inner);
      cycles += 4;
    }
    if (inner.unit != Unit::valu) continue;
    const bool runs = indexed(inner, index, mode, w.cu->launch().ordinary);
    ++w.cu->counters.valu;
    w.cu->activity.vector_lane_operations += static_cast<unsigned>(std::popcount(w.exec()));
    if (runs) inner.run(w, inner);
    cycles += inner.cycles;
  }
  w.pc += w.code[end].dwords;
  w.next = w.now + cycles + 4;
}

// Reached by a jump, or twice: no register is indexed where s_set_gpr_idx_on has not been.
void leave_index_mode(Wave&, const MicroOp&) {}

}  // namespace

Handler semantics_gfx9(Opcode opcode) {
  switch (opcode) {
#define WW_CASE(name, ...) \
  case Opcode::name: return &__VA_ARGS__;
    WW_CASE(s_mul_hi_u32,
            binary<([](U32 a, U32 b, bool&) { return static_cast<U32>(U64{a} * b >> 32); })>)
    WW_CASE(s_mul_hi_i32, binary<([](U32 a, U32 b, bool&) {
              return static_cast<U32>(static_cast<U64>(I64{as_signed(a)} * as_signed(b)) >> 32);
            })>)
    WW_CASE(s_lshl1_add_u32, shift_add<1>)
    WW_CASE(s_lshl2_add_u32, shift_add<2>)
    WW_CASE(s_lshl3_add_u32, shift_add<3>)
    WW_CASE(s_lshl4_add_u32, shift_add<4>)
    WW_CASE(s_pack_ll_b32_b16,
            binary<([](U32 a, U32 b, bool&) { return (a & 0xFFFFU) | b << 16; })>)
    WW_CASE(s_pack_lh_b32_b16,
            binary<([](U32 a, U32 b, bool&) { return (a & 0xFFFFU) | (b & 0xFFFF0000U); })>)
    WW_CASE(s_pack_hh_b32_b16,
            binary<([](U32 a, U32 b, bool&) { return a >> 16 | (b & 0xFFFF0000U); })>)
    WW_CASE(s_cmp_eq_u64, compare64<([](U64 a, U64 b) { return a == b; })>)
    WW_CASE(s_cmp_lg_u64, compare64<([](U64 a, U64 b) { return a != b; })>)
    WW_CASE(s_andn1_saveexec_b64, mask_exec<([](U64 s, U64 e) { return ~s & e; }), false>)
    WW_CASE(s_orn1_saveexec_b64, mask_exec<([](U64 s, U64 e) { return ~s | e; }), false>)
    WW_CASE(s_andn1_wrexec_b64, mask_exec<([](U64 s, U64 e) { return ~s & e; }), true>)
    WW_CASE(s_andn2_wrexec_b64, mask_exec<([](U64 s, U64 e) { return s & ~e; }), true>)
    WW_CASE(s_bitreplicate_b64_b32, replicate_bits)
    WW_CASE(s_call_b64, call)
#undef WW_CASE
    default: return nullptr;
  }
}

bool lower_index_mode(const Instruction& instruction, MicroOp& op) {
  if (instruction.opcode == Opcode::s_set_gpr_idx_off) {
    op.unit = Unit::salu;
    op.run = leave_index_mode;
    return true;
  }
  if (instruction.opcode != Opcode::s_set_gpr_idx_on) return false;
  op.unit = Unit::salu;
  op.run = index_region;
  op.immediate = instruction.modifiers.immediate;
  if (const auto index = scalar_index(instruction.src[0])) {
    op.kind[0] = Source::scalar;
    op.source[0] = *index;
  } else {
    op.kind[0] = Source::constant;
    op.scalar.constant[0] = constant_value(instruction.src[0], 32, false);
  }
  return true;
}

}  // namespace ww::sim::gpu::exec
