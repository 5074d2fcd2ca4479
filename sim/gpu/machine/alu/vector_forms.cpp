// Source: AMD Vega ISA, sections "SDWA", "DPP" and "Packed math"; LLVM AMDGPU operand syntax.
#include "machine/alu/vector_forms.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "machine/isa/half_float.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Encoding;
using binpatch::isa::Instruction;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

struct alignas(64) LanePair {
  U32 word[2 * kLanes];
};

constexpr U32 field(U32 word, unsigned low, unsigned count) {
  return word >> low & ((1U << count) - 1U);
}

std::size_t source_count(const MicroOp& op) {
  std::size_t count = 0;
  while (count < 3 && op.kind[count] != Source::none) ++count;
  return count;
}

bool is_narrow(const VectorFields& f, std::size_t i) {
  return (f.narrow >> i & 1U) != 0;
}

// abs and neg of source i in place.
void apply_signs(U32* words, const VectorFields& f, std::size_t i, bool wide) {
  const bool abs = (f.abs >> i & 1U) != 0;
  const bool neg = (f.neg >> i & 1U) != 0;
  if (!abs && !neg) return;
  const U32 sign = is_narrow(f, i) ? 0x8000U : 0x80000000U;
  U32* const high = wide ? words + kLanes : words;
  for (int l = 0; l < kLanes; ++l) {
    high[l] = ((abs ? high[l] & ~sign : high[l])) ^ (neg ? sign : 0U);
  }
}

// Changes a result of 16-bit floats (`shift` 16: in the upper half).
void modify_halves(U32* words, ResultChange change, unsigned shift) {
  alignas(64) U32 part[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    part[l] = std::bit_cast<U32>(half_value(words[l] >> shift & 0xFFFFU));
  }
  lanes().modify_result(part, 32, change);
  to_halves(part);
  if (change.omod != 0) {  // what a half has no normal number for
    for (U32& half : part) half = (half & 0x7C00U) == 0 ? 0 : half;
  }
  const U32 keep = shift == 0 ? 0xFFFF0000U : 0xFFFFU;
  for (int l = 0; l < kLanes; ++l) words[l] = (words[l] & keep) | (part[l] & 0xFFFFU) << shift;
}

void modify_result(const Wave& wave, U32* words, const VectorFields& f, bool pair) {
  if (f.omod == 0 && !f.clamp) return;
  const ResultChange change = wave.result_change(f, f.result_bits);
  if (f.result_bits == 16) {
    modify_halves(words, change, 0);
  } else {
    lanes().modify_result(words, f.result_bits, change);
    // Two floats of a packed instruction.
    if (pair && f.result_bits == 32) lanes().modify_result(words + kLanes, 32, change);
  }
}

// Runs the operation on prepared sources. Mask results are written; lane results come in `result`.
// Returns whether there are lanes to write. `among`: lanes that are not disabled by DPP.
bool execute(Wave& wave, const MicroOp& op, const U32* const* source, LanePair& result,
             U64 among = ~U64{0}) {
  const VectorFields& f = op.vector;
  LaneContext context;
  context.exec = wave.exec() & among;
  context.ieee = wave.ieee();
  if (f.mask_in) context.mask_in = wave.pair(op.mask_source);
  const LaneFunction function = f.function[wave.flush_f32() ? 1 : 0];
  function(result.word, source[0], source[1], source[2], context);
  const U64 mask = context.mask_out & context.exec;
  if (op.result == Destination::mask) {
    write_mask(wave, op, mask);
    if (f.writes_exec) wave.set_pair(kExec, mask);
    return false;
  }
  if (f.carry_out) write_mask(wave, op, mask);
  return op.result != Destination::none;
}

int result_words(const MicroOp& op) {
  return op.result == Destination::vgpr_pair ? 2 : 1;
}

void write_lanes(Wave& wave, const MicroOp& op, const LanePair& result) {
  lanes().blend(wave.vgpr(op.destination), result.word, wave.mask(), result_words(op));
}

// Source i's half of a register, where it is one.
void take_half(U32* words, const VectorFields& f, std::size_t i) {
  if (!is_narrow(f, i)) return;
  const unsigned shift = (f.halves >> i & 1U) != 0 ? 16 : 0;
  for (int l = 0; l < kLanes; ++l) words[l] = words[l] >> shift & 0xFFFFU;
}

// A result of 16 bits into its half of the register.
void put_half(Wave& wave, const MicroOp& op, LanePair& result) {
  const U32* old = wave.vgpr(op.destination);
  const bool high = (op.vector.halves & 8U) != 0;
  for (int l = 0; l < kLanes; ++l) {
    const U32 value = result.word[l] & 0xFFFFU;
    result.word[l] = high ? value << 16 | (old[l] & 0xFFFFU) : value | (old[l] & 0xFFFF0000U);
  }
}

// --- SDWA ---

U32 selected(U32 word, U32 select, bool sign) {
  if (select == 6) return word;
  const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
  const unsigned width = select < 4 ? 8 : 16;
  const U32 part = word >> shift & ((1U << width) - 1U);
  const U32 top = 1U << (width - 1);
  return sign ? (part ^ top) - top : part;
}

void run_sdwa(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  const auto word = static_cast<U32>(op.immediate);
  LanePair buffer[3];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < source_count(op); ++i) {
    LanePair scratch;
    const U32* raw = unmodified_source(wave, op, i, scratch.word);
    const unsigned at = i == 0 ? 16 : 24;
    const U32 select = field(word, at, 3);
    const bool sign = field(word, at + 3, 1) != 0;
    for (int l = 0; l < kLanes; ++l) buffer[i].word[l] = selected(raw[l], select, sign);
    apply_signs(buffer[i].word, f, i, false);
    source[i] = buffer[i].word;
  }
  const auto select = field(word, 8, 3);
  const U32 unused = field(word, 11, 2);
  LanePair result;
  // Carries are written by `execute`: the mask of lanes must be that of before.
  if (!execute(wave, op, source, result)) return;
  modify_result(wave, result.word, f, false);
  if (select != 6) {
    const U32* old = wave.vgpr(op.destination);
    const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
    const unsigned width = select < 4 ? 8 : 16;
    const U32 part = (1U << width) - 1U;
    const U32 top = 1U << (width - 1);
    for (int l = 0; l < kLanes; ++l) {
      const U32 value = result.word[l] & part;
      if (unused == 2) {  // preserve
        result.word[l] = (old[l] & ~(part << shift)) | value << shift;
      } else if (unused == 1) {  // sign extended
        result.word[l] = ((value ^ top) - top) << shift;
      } else {
        result.word[l] = value << shift;
      }
    }
  }
  write_lanes(wave, op, result);
}

// --- DPP ---

// The lane that `lane` reads; -1 for none.
int dpp_source(U32 control, int lane) {
  const int row = lane & ~15;
  const int in_row = lane & 15;
  const int n = static_cast<int>(control & 15U);
  if (control < 0x100) {
    return (lane & ~3) | static_cast<int>(control >> (2 * (lane & 3)) & 3U);
  }
  switch (control >> 4) {
    case 0x10: return in_row + n < 16 ? lane + n : -1;  // row_shl
    case 0x11: return in_row - n >= 0 ? lane - n : -1;  // row_shr
    case 0x12: return row | ((in_row - n) & 15);        // row_ror
    case 0x15: return row | n;                          // row_newbcast, gfx10: row_share
    case 0x16: return row | (in_row ^ n);               // gfx10: row_xmask
    default: break;
  }
  switch (control) {
    case 0x130: return lane < 63 ? lane + 1 : -1;  // wave_shl
    case 0x134: return (lane + 1) & 63;            // wave_rol
    case 0x138: return lane > 0 ? lane - 1 : -1;   // wave_shr
    case 0x13c: return (lane - 1) & 63;            // wave_ror
    case 0x140: return row | (15 - in_row);        // row_mirror
    case 0x141: return (lane & ~7) | (7 - (lane & 7));
    case 0x142: return lane >= 16 ? row - 1 : -1;  // row_bcast:15
    default: return lane >= 32 ? 31 : -1;          // row_bcast:31
  }
}

void run_dpp(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  const auto word = static_cast<U32>(op.immediate);
  const U32 control = field(word, 8, 9);
  const bool zero = field(word, 19, 1) != 0;  // bound_ctrl: no source reads as zero
  const bool all = field(word, 18, 1) != 0;   // gfx10: disabled lanes are sources, too
  const U64 exec = wave.exec();
  U64 write = 0;
  LanePair buffer[3];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < source_count(op); ++i) {
    const bool wide = (f.wide >> i & 1U) != 0;
    LanePair scratch;
    const U32* raw = unmodified_source(wave, op, i, scratch.word);
    if (i == 0) {
      for (int l = 0; l < kLanes; ++l) {
        const int from = dpp_source(control, l);
        const bool valid = from >= 0 && (all || (exec >> from & 1U) != 0);
        buffer[0].word[l] = valid ? raw[from] : 0;
        if (wide) buffer[0].word[kLanes + l] = valid ? raw[kLanes + from] : 0;
        const bool kept = (field(word, 28, 4) >> (l / 16) & 1U) != 0 &&
                          (field(word, 24, 4) >> (l / 4 % 4) & 1U) != 0;
        if (kept && (valid || zero)) write |= U64{1} << l;
      }
    } else {
      std::memcpy(buffer[i].word, raw, (wide ? 2 : 1) * kLanes * sizeof(U32));
    }
    take_half(buffer[i].word, f, i);
    apply_signs(buffer[i].word, f, i, wide);
    source[i] = buffer[i].word;
  }
  const U64 old_carry = f.carry_out ? wave.pair(op.destination2) : 0;
  LanePair result;
  const bool compares = op.result == Destination::mask;
  if (!execute(wave, op, source, result, compares ? write : ~U64{0})) return;
  modify_result(wave, result.word, f, false);
  if (f.preserves) put_half(wave, op, result);
  write &= exec;
  if (f.carry_out) {
    write_mask(wave, op, (wave.pair(op.destination2) & write) | (old_carry & ~write));
  }
  alignas(64) U32 mask[kLanes];
  lanes().expand_mask(mask, write);
  lanes().blend(wave.vgpr(op.destination), result.word, mask, result_words(op));
}

// --- VOP3 with halves of registers, 16-bit floats with modifiers ---

void run_halves(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  LanePair buffer[3];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < source_count(op); ++i) {
    const bool wide = (f.wide >> i & 1U) != 0;
    LanePair scratch;
    const U32* raw = unmodified_source(wave, op, i, scratch.word);
    std::memcpy(buffer[i].word, raw, (wide ? 2 : 1) * kLanes * sizeof(U32));
    take_half(buffer[i].word, f, i);
    apply_signs(buffer[i].word, f, i, wide);
    source[i] = buffer[i].word;
  }
  LanePair result;
  if (!execute(wave, op, source, result)) return;
  modify_result(wave, result.word, f, false);
  if (f.preserves) put_half(wave, op, result);
  write_lanes(wave, op, result);
}

// --- VOP3P ---

void run_packed_halves(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  LanePair scratch[3];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < source_count(op); ++i) {
    source[i] = unmodified_source(wave, op, i, scratch[i].word);
    if (f.narrow != 0 && !is_narrow(f, i)) continue;  // what a dot product is added to
    const unsigned low = (f.halves >> i & 1U) != 0 ? 16 : 0;
    const unsigned high = (f.halves_high >> i & 1U) != 0 ? 16 : 0;
    const U32 signs =
        ((f.neg >> i & 1U) != 0 ? 0x8000U : 0U) | ((f.abs >> i & 1U) != 0 ? 0x80000000U : 0U);
    if (low == 0 && high == 16 && signs == 0) continue;
    lanes().pair_halves(scratch[i].word, source[i], low, high, signs);
    source[i] = scratch[i].word;
  }
  LanePair result;
  if (!execute(wave, op, source, result)) return;
  if (f.clamp && f.float_bits == 32) {
    lanes().modify_result(result.word, 32, wave.result_change(f, 32));
  } else if (f.clamp) {
    modify_halves(result.word, wave.result_change(f, 16), 0);
    modify_halves(result.word, wave.result_change(f, 16), 16);
  }
  write_lanes(wave, op, result);
}

// Dot products whose sources are signed where their bit of neg_lo is set (RDNA 3 ISA, "VOP3P").
template <int Bits>
void run_dot_of_signs(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  LanePair scratch[3];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    source[i] = unmodified_source(wave, op, i, scratch[i].word);
  }
  const auto part = [&](std::size_t i, int lane, int at) {
    const U32 top = source[i][lane] << (32 - Bits - at);
    return (f.neg >> i & 1U) != 0 ? std::int64_t{static_cast<std::int32_t>(top) >> (32 - Bits)}
                                  : std::int64_t{top >> (32 - Bits)};
  };
  LanePair result;
  for (int l = 0; l < kLanes; ++l) {
    std::int64_t sum = static_cast<std::int32_t>(source[2][l]);
    for (int at = 0; at < 32; at += Bits) sum += part(0, l, at) * part(1, l, at);
    if (f.clamp) {
      sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                     std::numeric_limits<std::int32_t>::max());
    }
    result.word[l] = static_cast<U32>(sum);
  }
  write_lanes(wave, op, result);
}

void run_packed_floats(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  LanePair buffer[3];
  const U32* source[3] = {};
  const bool move = op.opcode == Opcode::v_pk_mov_b32;
  for (std::size_t i = 0; i < source_count(op); ++i) {
    LanePair scratch;
    const U32* raw = unmodified_source(wave, op, i, scratch.word);
    const U32 low = f.halves >> i & 1U;
    const U32 high = move ? low : f.halves_high >> i & 1U;
    const U32 low_sign = (f.neg >> i & 1U) != 0 ? 0x80000000U : 0U;
    const U32 high_sign = (f.abs >> i & 1U) != 0 ? 0x80000000U : 0U;
    for (int l = 0; l < kLanes; ++l) {
      buffer[i].word[l] = raw[low * kLanes + static_cast<U32>(l)] ^ low_sign;
      buffer[i].word[kLanes + l] = raw[high * kLanes + static_cast<U32>(l)] ^ high_sign;
    }
    source[i] = buffer[i].word;
  }
  LanePair result;
  if (!execute(wave, op, source, result)) return;
  modify_result(wave, result.word, f, true);
  write_lanes(wave, op, result);
}

// v_fma_mix and v_mad_mix: each source a float, or a half that is widened.
void run_mixed(Wave& wave, const MicroOp& op) {
  const VectorFields& f = op.vector;
  LanePair buffer[3];
  const U32* source[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    LanePair scratch;
    const U32* raw = unmodified_source(wave, op, i, scratch.word);
    const bool half = (f.halves_high >> i & 1U) != 0;
    const unsigned shift = (f.halves >> i & 1U) != 0 ? 16 : 0;
    for (int l = 0; l < kLanes; ++l) {
      buffer[i].word[l] = half ? std::bit_cast<U32>(half_value(raw[l] >> shift & 0xFFFFU)) : raw[l];
    }
    apply_signs(buffer[i].word, f, i, false);
    source[i] = buffer[i].word;
  }
  LanePair result;
  if (!execute(wave, op, source, result)) return;
  const bool low = op.opcode == Opcode::v_fma_mixlo_f16 || op.opcode == Opcode::v_mad_mixlo_f16;
  const bool high = op.opcode == Opcode::v_fma_mixhi_f16 || op.opcode == Opcode::v_mad_mixhi_f16;
  if (f.clamp) lanes().modify_result(result.word, 32, wave.result_change(f, 32));
  if (low || high) {
    to_halves(result.word);
    const U32* old = wave.vgpr(op.destination);
    for (int l = 0; l < kLanes; ++l) {
      const U32 value = result.word[l] & 0xFFFFU;
      result.word[l] = high ? value << 16 | (old[l] & 0xFFFFU) : value | (old[l] & 0xFFFF0000U);
    }
  }
  write_lanes(wave, op, result);
}

bool preserves_other_half(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_mad_f16:
    case Opcode::v_mad_u16:
    case Opcode::v_mad_i16:
    case Opcode::v_fma_f16:
    case Opcode::v_div_fixup_f16:
    case Opcode::v_min3_f16:
    case Opcode::v_min3_i16:
    case Opcode::v_min3_u16:
    case Opcode::v_max3_f16:
    case Opcode::v_max3_i16:
    case Opcode::v_max3_u16:
    case Opcode::v_med3_f16:
    case Opcode::v_med3_i16:
    case Opcode::v_med3_u16:
    case Opcode::v_add_i16:
    case Opcode::v_sub_i16: return true;
    default: return false;
  }
}

// Every instruction with a result of 16 bits leaves the other half from gfx10 on.
bool keeps_half(const Widths& widths, const VectorEntry& entry, Isa isa) {
  return widths.preserves ||
         (is_rdna(isa) && widths.narrow_result && entry.result == Destination::vgpr);
}

// Conversions to floats have no float among their sources.
bool clamps_integer(const Instruction& instruction, const VectorEntry& entry) {
  return instruction.modifiers.clamp && entry.float_bits == 0 &&
         !binpatch::isa::mnemonic(instruction.opcode).starts_with("v_cvt_f");
}

}  // namespace

bool can_select(const Instruction& instruction) {
  const std::string_view name = binpatch::isa::mnemonic(instruction.opcode);
  if (!name.starts_with("v_dot")) return true;
  if (name.starts_with("v_dot2")) return true;
  const auto& m = instruction.modifiers;
  return instruction.encoding != Encoding::vop3p || (m.op_sel == 0 && m.op_sel_hi == 7);
}

Widths widths_of(Opcode opcode) {
  const std::string_view name = binpatch::isa::mnemonic(opcode);
  Widths widths;
  widths.preserves = preserves_other_half(opcode);
  if (name.starts_with("v_dot")) {
    widths.narrow = name.starts_with("v_dot2_") ? 3 : 0;
    return widths;
  }
  if (name.starts_with("v_pk_") || name.find("_mix") != std::string_view::npos) return widths;
  const unsigned halves = binpatch::isa::halves_of(opcode);
  const bool conversion = name.starts_with("v_cvt_") || name.starts_with("v_frexp_exp_");
  const bool to_pair = name.starts_with("v_cvt_pknorm_") && halves != 0;
  widths.integer_result = conversion && !name.starts_with("v_cvt_f") && !to_pair;
  widths.narrow = halves & 7U;
  widths.narrow_result = (halves & 8U) != 0;
  return widths;
}

bool needs_form(const Instruction& instruction, const VectorEntry& entry, Isa isa) {
  const auto& m = instruction.modifiers;
  if (m.sdwa || m.dpp || m.op_sel != 0) return true;
  if (instruction.encoding == Encoding::vop3p) {
    return instruction.opcode != Opcode::v_accvgpr_read_b32 &&
           instruction.opcode != Opcode::v_accvgpr_write_b32;
  }
  const Widths widths = widths_of(instruction.opcode);
  if (keeps_half(widths, entry, isa)) return true;
  if (clamps_integer(instruction, entry)) return true;
  const bool sources = (m.abs | m.neg) != 0 && widths.narrow != 0;
  const bool result = (m.clamp || m.omod != 0) && (widths.narrow_result || widths.integer_result);
  return sources || result;
}

bool lower_form(const Instruction& instruction, const VectorEntry& entry, MicroOp& op, Isa isa) {
  const auto& m = instruction.modifiers;
  VectorFields& f = op.vector;
  const Widths widths = widths_of(instruction.opcode);
  f.narrow = widths.narrow & 7U;
  f.halves = m.op_sel & 15U;
  if (entry.accumulates && (f.halves & 8U) != 0) {  // the half that is added to is the result's
    f.halves = static_cast<std::uint16_t>((f.halves | 1U << (entry.sources - 1)) & 15U);
  }
  f.halves_high = m.op_sel_hi & 7U;
  f.preserves = keeps_half(widths, entry, isa) ? 1U : 0U;
  f.result_bits = widths.narrow_result ? 16 : entry.float_bits == 64 ? 64 : 32;
  if (entry.float_bits == 64 && entry.result == Destination::vgpr) f.result_bits = 32;
  if (instruction.opcode == Opcode::v_dot4_i32_iu8 ||
      instruction.opcode == Opcode::v_dot8_i32_iu4) {
    op.run =
        instruction.opcode == Opcode::v_dot4_i32_iu8 ? run_dot_of_signs<8> : run_dot_of_signs<4>;
    return true;
  }
  if (m.clamp && widths.integer_result) return false;
  if (widths.integer_result) f.omod = 0;  // integers ignore it
  if (clamps_integer(instruction, entry)) {
    if (entry.clamped == nullptr) return false;
    f.function[0] = f.function[1] = entry.clamped;
    f.clamp = false;
  }
  // No document says which bits a compare writes for rows and banks that are masked.
  if (m.dpp && entry.result == Destination::mask && m.extra_dword >> 24 != 0xFF) return false;
  if (m.sdwa || m.dpp) {
    op.immediate = static_cast<std::int32_t>(m.extra_dword);
    op.run = m.sdwa ? run_sdwa : run_dpp;
    return true;
  }
  if (instruction.encoding != Encoding::vop3p) {
    op.run = run_halves;
    return true;
  }
  if (binpatch::isa::mnemonic(instruction.opcode).find("_mix") != std::string_view::npos) {
    op.run = run_mixed;
  } else {
    op.run = entry.result == Destination::vgpr_pair ? run_packed_floats : run_packed_halves;
  }
  return true;
}

void swap_halves(Wave& wave, const MicroOp& op) {
  const auto which = static_cast<U32>(op.immediate);
  const unsigned to = (which & 8U) != 0 ? 16 : 0;
  const unsigned from = (which & 1U) != 0 ? 16 : 0;
  U32* const a = wave.vgpr(op.destination);
  U32* const b = wave.vgpr(op.source[0]);
  for (U64 set = wave.exec(); set != 0; set &= set - 1) {
    const auto lane = std::countr_zero(set);
    const U32 first = a[lane] >> to & 0xFFFFU;
    const U32 second = b[lane] >> from & 0xFFFFU;
    a[lane] = (a[lane] & ~(0xFFFFU << to)) | second << to;
    b[lane] = (b[lane] & ~(0xFFFFU << from)) | first << from;
  }
}

void swap_registers(Wave& wave, const MicroOp& op) {
  LanePair first;
  LanePair second;
  U32* const a = wave.vgpr(op.destination);
  U32* const b = wave.vgpr(op.source[0]);
  std::memcpy(first.word, a, kLanes * sizeof(U32));
  std::memcpy(second.word, b, kLanes * sizeof(U32));
  lanes().blend(a, second.word, wave.mask(), 1);
  lanes().blend(b, first.word, wave.mask(), 1);
}

}  // namespace ww::sim::gpu::exec
