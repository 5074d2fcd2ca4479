// Vector ALU instructions: operands to lanes, the operation of the lane table, results to
// registers.
#include <algorithm>
#include <bit>
#include <string_view>

#include "fast/forms/lane_forms.hpp"
#include "machine/alu/alu.hpp"
#include "machine/alu/matrix.hpp"
#include "machine/alu/scalar_gfx9.hpp"
#include "machine/alu/vector_forms.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/isa/lane_table.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::Operand;
using binpatch::isa::OperandKind;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr std::uintptr_t kRegisterBytes = kLanes * sizeof(U32);

struct alignas(64) LaneBuffer {
  U32 word[2 * kLanes];
};

std::uint64_t read_mask(const Wave& wave, std::uint16_t index) {
  return wave.pair(index);
}

void broadcast(U32* target, U32 value) {
  lanes().broadcast(target, value);
}

// Bases by kind of source: what VectorFields::at counts from.
struct Bases {
  std::uintptr_t base[4];
  explicit Bases(Wave& wave)
      : base{0, reinterpret_cast<std::uintptr_t>(wave.v), reinterpret_cast<std::uintptr_t>(wave.sr),
             0} {}
  const U32* operator()(const MicroOp& op, std::size_t i) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a place counts from registers, or is one itself
    return reinterpret_cast<const U32*>(base[static_cast<std::size_t>(op.kind[i])] +
                                        op.vector.at[i]);
  }
};

const U32* constant_lanes(const MicroOp& op, std::size_t i) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a place counts from registers, or is one itself
  return reinterpret_cast<const U32*>(op.vector.at[i]);
}

// A scalar source, or one with modifiers: made in `buffer`.
[[gnu::noinline]] const U32* made_lanes(Wave& wave, const MicroOp& op, std::size_t i,
                                        LaneBuffer& buffer) {
  const VectorFields& f = op.vector;
  const bool wide = (f.wide >> i & 1U) != 0;
  const U32* lanes_of = buffer.word;
  if (op.kind[i] == Source::scalar) {
    const std::uint16_t index = op.source[i];
    broadcast(buffer.word, index < kScalarFile ? wave.sr[index] : read_special(wave, index));
    if (wide) broadcast(buffer.word + kLanes, index < kScalarFile ? wave.sr[index + 1] : 0);
  } else {
    lanes_of = op.kind[i] == Source::vgpr ? wave.vgpr(op.source[i]) : constant_lanes(op, i);
  }
  const bool abs = (f.abs >> i & 1U) != 0;
  const bool neg = (f.neg >> i & 1U) != 0;
  if (abs || neg) {
    lanes().modify_source(buffer.word, lanes_of, wide ? 64 : 32, abs, neg);
    lanes_of = buffer.word;
  }
  return lanes_of;
}

// Lanes of source i, in `buffer` unless they lie in registers or constants already.
inline const U32* source_lanes(Wave& wave, const MicroOp& op, std::size_t i, LaneBuffer& buffer) {
  if (((op.vector.abs | op.vector.neg) >> i & 1U) == 0) {
    if (op.kind[i] == Source::vgpr) return wave.vgpr(op.source[i]);
    if (op.kind[i] != Source::scalar) return constant_lanes(op, i);
    if (i == 0 && op.vector.scalar_first) return wave.sr + op.source[0];
  }
  return made_lanes(wave, op, i, buffer);
}

template <std::size_t Sources>
void run_vector(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  LaneBuffer buffer[Sources == 0 ? 1 : Sources];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < Sources; ++i) source[i] = source_lanes(wave, op, i, buffer[i]);
  LaneContext context;
  context.exec = wave.exec();
  context.ieee = wave.ieee();
  if (f.mask_in) context.mask_in = read_mask(wave, op.mask_source);
  const LaneFunction function = f.function[wave.flush_f32() ? 1 : 0];

  if (op.result == Destination::mask) {
    function(nullptr, source[0], source[1], source[2], context);
    const U64 mask = context.mask_out & context.exec;
    write_mask(wave, op, mask);
    if (f.writes_exec) wave.set_pair(kExec, mask);
    return;
  }
  U32* const target = wave.vgpr(op.destination);
  const bool modified = f.omod != 0 || f.clamp;
  if (context.exec == ~U64{0} && !modified) {
    function(target, source[0], source[1], source[2], context);
  } else {
    LaneBuffer result;
    const int words = op.result == Destination::vgpr_pair ? 2 : 1;
    function(result.word, source[0], source[1], source[2], context);
    if (modified) {
      lanes().modify_result(result.word, words * 32, wave.result_change(f, words * 32));
    }
    lanes().blend(target, result.word, wave.mask(), words);
  }
  if (f.carry_out) write_mask(wave, op, context.mask_out & context.exec);
}

void run_nothing(Wave&, const MicroOp&) {}

void read_first_lane(Wave& wave, const MicroOp& op) {
  const U64 exec = wave.exec();
  const int lane = exec == 0 ? 0 : std::countr_zero(exec);
  wave.sr[op.destination] = wave.vgpr(op.source[0])[lane];
}

U32 scalar_source(Wave& wave, const MicroOp& op, std::size_t i) {
  if (op.kind[i] == Source::constant) return constant_lanes(op, i)[0];
  const std::uint16_t index = op.source[i];
  return index < kScalarFile ? wave.sr[index] : read_special(wave, index);
}

void read_lane(Wave& wave, const MicroOp& op) {
  wave.sr[op.destination] = wave.vgpr(op.source[0])[scalar_source(wave, op, 1) & wave.last_lane()];
}

void write_lane(Wave& wave, const MicroOp& op) {
  wave.vgpr(op.destination)[scalar_source(wave, op, 1) & wave.last_lane()] =
      scalar_source(wave, op, 0);
}

// v_movrels reads, v_movreld writes the register that M0 adds to. Compilers let it leave the wave's
// where they do not use the result: v0 is read then, and nothing is written (AMD CDNA 4 ISA, 3.6.1;
// RDNA 4 ISA, 3.3.2.2; older chips are taken to do the same).
template <bool Source, bool Target>
void move_relative(Wave& wave, const MicroOp& op) {
  const bool vector = op.kind[0] == exec::Source::vgpr;
  const U32 end = wave.cu->launch().ordinary;
  U32 from = op.source[0] + (Source ? wave.sr[kM0] : 0U);
  if (from >= end) from = 0;
  const U32 to = op.destination + (Target ? wave.sr[kM0] : 0U);
  if (to >= end) return;
  LaneBuffer buffer;
  const U32* lanes_of = nullptr;
  if (vector) {
    lanes_of = wave.vgpr(from);
  } else {
    broadcast(buffer.word, scalar_source(wave, op, 0));
    lanes_of = buffer.word;
  }
  lanes().blend(wave.vgpr(to), lanes_of, wave.mask(), 1);
}

Handler special(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_readfirstlane_b32: return read_first_lane;
    case Opcode::v_readlane_b32: return read_lane;
    case Opcode::v_swap_b16: return swap_halves;
    case Opcode::v_swap_b32: return swap_registers;
    case Opcode::v_writelane_b32: return write_lane;
    case Opcode::v_movrels_b32: return move_relative<true, false>;
    case Opcode::v_movreld_b32: return move_relative<false, true>;
    case Opcode::v_movrelsd_b32: return move_relative<true, true>;
    default: return nullptr;
  }
}

std::uintptr_t address_of(const U32* words) {
  return reinterpret_cast<std::uintptr_t>(words);
}

bool set_source(const Operand& operand, std::size_t i, int width, bool is_float, MicroOp& op,
                ConstantPool& pool) {
  if (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr) {
    op.kind[i] = Source::vgpr;
    op.source[i] = vector_index(operand);
    op.vector.at[i] = op.source[i] * kRegisterBytes;
  } else if (const auto index = scalar_index(operand)) {
    op.kind[i] = Source::scalar;
    op.source[i] = *index;
    op.vector.at[i] = *index * sizeof(U32);
  } else if (operand.kind == OperandKind::inline_int || operand.kind == OperandKind::inline_float ||
             operand.kind == OperandKind::literal) {
    op.kind[i] = Source::constant;
    op.vector.at[i] = address_of(pool.get(constant_value(operand, width, is_float)));
  } else {
    return false;
  }
  return true;
}

bool lower_special(const Instruction& instruction, Handler handler, MicroOp& op,
                   ConstantPool& pool) {
  op.run = handler;
  op.immediate = instruction.modifiers.op_sel;
  op.straight = handler == read_first_lane || handler == read_lane || handler == write_lane;
  for (std::size_t i = 0; i < 2; ++i) {
    if (instruction.src[i].kind == OperandKind::none) continue;
    if (!set_source(instruction.src[i], i, 32, false, op, pool)) return false;
  }
  const Operand& target = instruction.dst[0];
  if (target.kind == OperandKind::vgpr) {
    op.destination = target.index;
    return true;
  }
  const auto index = target_index(target);
  if (!index) return false;
  op.destination = *index;
  return true;
}

Handler handler_of(std::size_t sources) {
  switch (sources) {
    case 0: return run_nothing;
    case 1: return run_vector<1>;
    case 2: return run_vector<2>;
    default: return run_vector<3>;
  }
}

Plain plain_of(const MicroOp& op, std::size_t sources) {
  const VectorFields& f = op.vector;
  if (sources == 0 || (f.abs | f.neg | f.omod) != 0 || f.clamp || f.writes_exec || f.short_mask) {
    return Plain::no;
  }
  for (std::size_t i = f.scalar_first ? 1 : 0; i < sources; ++i) {
    if (op.kind[i] == Source::scalar) return Plain::no;
  }
  if (op.result == Destination::mask) return Plain::compare;
  return f.carry_out ? Plain::carry : Plain::lanes;
}

// Bits of source i of which a constant is made. Packed instructions read halves of 32 bits, and
// pairs of floats the same constant twice. A dot product of halves has a half in the low ones.
int constant_width(const Instruction& instruction, const VectorEntry& entry, std::size_t i) {
  if (instruction.opcode == Opcode::v_dot2_f32_f16 ||
      instruction.opcode == Opcode::v_dot2c_f32_f16) {
    return i < 2 ? 16 : 32;
  }
  if (instruction.encoding == binpatch::isa::Encoding::vop3p) {
    return entry.result == Destination::vgpr_pair ? 32 : entry.float_bits == 16 ? 16 : 32;
  }
  if ((entry.wide >> i & 1U) != 0) return 64;
  return (widths_of(instruction.opcode).narrow >> i & 1U) != 0 ? 16 : 32;
}

// Widens the constants of v_fma_mix, v_mad_mix and instructions on pairs of floats.
void widen_constants(const Instruction& instruction, const VectorEntry& entry, MicroOp& op,
                     ConstantPool& pool) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (op.kind[i] != Source::constant) continue;
    if (entry.result == Destination::vgpr_pair) {
      const std::uint64_t value = instruction.src[i].value;
      op.vector.at[i] = address_of(pool.get(value | value << 32));
    } else if ((instruction.modifiers.op_sel_hi >> i & 1U) != 0 && entry.float_bits == 32 &&
               instruction.opcode != Opcode::v_dot2_f32_f16) {
      op.vector.at[i] = address_of(pool.get(constant_value(instruction.src[i], 16, false)));
    }
  }
}

}  // namespace

void set_vector_source(MicroOp& op, std::size_t i, U32 index) {
  op.source[i] = static_cast<std::uint16_t>(index);
  op.vector.at[i] = op.source[i] * kRegisterBytes;
}

const U32* unmodified_source(Wave& wave, const MicroOp& op, std::size_t i, U32* buffer) {
  if (op.kind[i] == Source::vgpr) return wave.vgpr(op.source[i]);
  if (op.kind[i] != Source::scalar) return constant_lanes(op, i);
  const std::uint16_t index = op.source[i];
  broadcast(buffer, index < kScalarFile ? wave.sr[index] : read_special(wave, index));
  broadcast(buffer + kLanes, index < kScalarFile ? wave.sr[index + 1] : 0);
  return buffer;
}

// v_dot2_f32_f16 has two functions, as the denormals of its halves are kept or not.
void choose_dot(const VectorEntry& entry, Isa isa, MicroOp& op) {
  if (op.opcode != Opcode::v_dot2_f32_f16 && op.opcode != Opcode::v_dot2c_f32_f16) return;
  op.vector.function[0] = op.vector.function[1] =
      entry.function[isa == Isa::gfx90a || isa == Isa::gfx942 ? 1 : 0];
}

bool lower_vector(const Instruction& instruction, MicroOp& op, ConstantPool& pool, Isa isa) {
  op.unit = Unit::valu;
  op.vector = VectorFields{};
  for (auto& at : op.vector.at) at = address_of(pool.get(0));
  if (lower_matrix(instruction, op, pool)) return true;
  if (!can_select(instruction)) return false;
  if (const Handler handler = special(instruction.opcode); handler != nullptr) {
    return lower_special(instruction, handler, op, pool);
  }
  const VectorEntry& entry = lanes().vector[static_cast<std::size_t>(instruction.opcode)];
  if (entry.function[0] == nullptr) return false;
  VectorFields& f = op.vector;
  f.function[0] = entry.function[0];
  f.function[1] = entry.function[1];
  choose_dot(entry, isa, op);
  f.wide = entry.wide;
  f.float_bits = entry.float_bits;
  f.abs = instruction.modifiers.abs;
  f.neg = instruction.modifiers.neg;
  f.omod = instruction.modifiers.omod;
  f.clamp = instruction.modifiers.clamp;
  f.mask_in = entry.mask_in;
  op.mask_source = kVcc;
  f.writes_exec = entry.writes_exec;
  op.result = entry.result;
  op.cycles = entry.cycles;

  std::size_t sources = entry.sources;
  const std::size_t given = entry.accumulates ? sources - 1 : sources;
  for (std::size_t i = 0; i < given; ++i) {
    const int width = constant_width(instruction, entry, i);
    if (!set_source(instruction.src[i], i, width, entry.float_bits == 64, op, pool)) return false;
  }
  const Operand& target = instruction.dst[0];
  if (entry.result == Destination::mask && target.kind == OperandKind::none) {
    op.destination2 = kExec;  // v_cmpx of gfx10
  } else if (entry.result == Destination::mask) {
    const auto index = target_index(target);
    if (!index) return false;
    op.destination2 = *index;
    f.short_mask = target.count == 1;
  } else if (entry.result != Destination::none) {
    if (target.kind != OperandKind::vgpr && target.kind != OperandKind::agpr) return false;
    op.destination = vector_index(target);
  }
  if (entry.accumulates) {
    op.kind[given] = Source::vgpr;
    op.source[given] = op.destination;
    f.at[given] = op.destination * kRegisterBytes;
  }
  if (entry.carry_out) {
    const auto index = target_index(instruction.dst[1]);
    op.destination2 = index ? *index : static_cast<std::uint16_t>(kVcc);
    f.short_mask = instruction.dst[1].count == 1;
    f.carry_out = true;
  }
  if (entry.mask_in && given < instruction.src.size() &&
      instruction.src[given].kind != OperandKind::none) {
    const auto index = scalar_index(instruction.src[given]);
    if (!index || *index >= kScalarFile) return false;
    op.mask_source = *index;
  }
  if (needs_form(instruction, entry, isa)) {
    if (instruction.encoding == binpatch::isa::Encoding::vop3p) {
      widen_constants(instruction, entry, op, pool);
    }
    op.straight = true;
    return lower_form(instruction, entry, op, isa);
  }
  const bool scalar = op.kind[0] == Source::constant ||
                      (op.kind[0] == Source::scalar && op.source[0] < kScalarFile);
  if (sources != 0 && scalar && entry.scalar_first[0] != nullptr && ((f.abs | f.neg) & 1U) == 0) {
    f.scalar_first = true;
    f.function[0] = entry.scalar_first[0];
    f.function[1] = entry.scalar_first[1];
  }
  op.run = handler_of(sources);
  op.plain = plain_of(op, sources);
  op.whole = true;
  set_form_function(op);
  op.straight = true;
  return true;
}

void set_rate_of_doubles(MicroOp& op, int divisor) {
  constexpr int kFloat = 4;  // cycles
  constexpr int kFloatRoot = 16;
  const VectorEntry& entry = lanes().vector[static_cast<std::size_t>(op.opcode)];
  const bool is_arithmetic = op.unit == Unit::valu && entry.function[0] != nullptr;
  const std::string_view name = binpatch::isa::mnemonic(op.opcode);
  if (!is_arithmetic || name.find("f64") == std::string_view::npos) return;
  const int cycles = kFloat * divisor;
  op.cycles = static_cast<std::uint8_t>(op.approximated ? std::max(cycles, kFloatRoot) : cycles);
}

std::uint64_t execute_straight(Wave& wave, const MicroOp* op, std::uint32_t count) {
  const Bases source(wave);
  const std::size_t flush = wave.flush_f32() ? 1 : 0;
  std::uint64_t lane_operations = 0;
  LaneContext context;
  context.ieee = wave.ieee();
  std::uint64_t exec = wave.exec();
  for (; count != 0; --count, op += op->dwords) {
    if (op->form != nullptr && exec == ~U64{0} && (op->reads & ~wave.formed) == 0 &&
        op->form(wave, *op)) {
      lane_operations += kLanes;
      continue;
    }
    if (op->unit != Unit::valu) {
      op->run(wave, *op);
      exec = wave.exec();
      continue;
    }
    use_lanes(wave, *op, exec == ~U64{0} && op->plain != Plain::no);
    if (exec != ~U64{0} || op->plain == Plain::no) {
      lane_operations += enabled_lanes(exec);
      op->run(wave, *op);
      exec = wave.exec();
      continue;
    }
    lane_operations += kLanes;
    const VectorFields& f = op->vector;
    context.exec = exec;
    context.mask_in = read_mask(wave, op->mask_source);
    f.function[flush](wave.vgpr(op->destination), source(*op, 0), source(*op, 1), source(*op, 2),
                      context);
    if (op->plain != Plain::lanes) {
      wave.set_pair(op->destination2, context.mask_out);
      exec = wave.exec();
    }
  }
  return lane_operations;
}

}  // namespace ww::sim::gpu::exec
