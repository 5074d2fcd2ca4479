#include "fast/translate/operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Predicates of vcmp, and roundings of vrndscale.
enum FloatPredicate : std::uint8_t {
  kFloatEqual = 0x00,
  kFloatUnordered = 0x03,
  kFloatNotEqual = 0x04,
  kFloatOrdered = 0x07,
  kFloatNotLessOrGreater = 0x08,
  kFloatLessOrGreater = 0x0C,
  kFloatLess = 0x11,
  kFloatLessOrEqual = 0x12,
  kFloatNotLess = 0x15,
  kFloatNotLessOrEqual = 0x16,
  kFloatNotGreaterOrEqual = 0x19,
  kFloatNotGreater = 0x1A,
  kFloatGreaterOrEqual = 0x1D,
  kFloatGreater = 0x1E,
};
enum Rounding : std::uint8_t { kNearest = 8, kDown = 9, kUp = 10, kTowardZero = 11 };

// Lanes of floats, or of doubles in two words.
struct alignas(64) Lanes {
  std::array<U32, std::size_t{2} * kLanes> word{};
  Lanes(U64 value, bool wide) {
    std::fill_n(word.begin(), kLanes, static_cast<U32>(value));
    std::fill_n(word.begin() + kLanes, kLanes, wide ? static_cast<U32>(value >> 32) : 0);
  }
};

// Returns what the lanes' function makes of these numbers; 0 where lanes differ.
U64 answer(const MicroOp& op, bool flush, bool wide, U64 first, U64 second, U64 third) {
  const Lanes a(first, wide);
  const Lanes b(second, wide);
  const Lanes c(third, wide);
  Lanes d(0, wide);
  LaneContext context;
  op.vector.function[flush ? 1 : 0](d.word.data(), a.word.data(), b.word.data(), c.word.data(),
                                    context);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (d.word[lane] != d.word[0] || d.word[kLanes + lane] != d.word[kLanes]) return 0;
  }
  return d.word[0] | U64{d.word[kLanes]} << 32;
}

bool has_functions_of(const LaneTable& table, const MicroOp& op) {
  const VectorEntry& entry = table.vector[static_cast<std::size_t>(op.opcode)];
  const LaneFunction* const functions =
      op.vector.scalar_first ? entry.scalar_first : entry.function;
  return functions[0] == op.vector.function[0] && functions[1] == op.vector.function[1];
}

}  // namespace

Operation operation_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_mov_b32: return {Action::move};
    case Opcode::v_not_b32: return {Action::bit_not};
    case Opcode::v_and_b32: return {Action::bit_and};
    case Opcode::v_or_b32: return {Action::bit_or};
    case Opcode::v_xor_b32: return {Action::bit_xor};
    case Opcode::v_xnor_b32: return {Action::bit_xnor};
    case Opcode::v_or3_b32: return {Action::or_three};
    case Opcode::v_and_or_b32: return {Action::and_or};
    case Opcode::v_bfi_b32: return {Action::bit_select};
    case Opcode::v_lshl_b32: return {Action::shift_left};
    case Opcode::v_lshlrev_b32: return {Action::shift_left, 0, true};
    case Opcode::v_lshr_b32: return {Action::shift_right};
    case Opcode::v_lshrrev_b32: return {Action::shift_right, 0, true};
    case Opcode::v_ashr_i32: return {Action::shift_right_signed};
    case Opcode::v_ashrrev_i32: return {Action::shift_right_signed, 0, true};
    case Opcode::v_lshl_add_u32: return {Action::shift_left_add};
    case Opcode::v_lshl_or_b32: return {Action::shift_left_or};
    case Opcode::v_add_lshl_u32: return {Action::add_shift_left};
    case Opcode::v_alignbit_b32: return {Action::align_bits};
    case Opcode::v_bfe_u32: return {Action::extract};
    case Opcode::v_bfe_i32: return {Action::extract_signed};
    case Opcode::v_add_u32: return {Action::add};
    case Opcode::v_sub_u32: return {Action::subtract};
    case Opcode::v_subrev_u32: return {Action::subtract, 0, true};
    case Opcode::v_add3_u32: return {Action::add_three};
    case Opcode::v_add_i32:
    case Opcode::v_add_co_u32: return {Action::add_carry_out};
    case Opcode::v_sub_i32:
    case Opcode::v_sub_co_u32: return {Action::subtract_carry_out};
    case Opcode::v_subrev_i32:
    case Opcode::v_subrev_co_u32: return {Action::subtract_carry_out, 0, true};
    case Opcode::v_addc_u32:
    case Opcode::v_addc_co_u32: return {Action::add_carry};
    case Opcode::v_mul_lo_u32:
    case Opcode::v_mul_lo_i32: return {Action::multiply};
    case Opcode::v_mul_hi_u32: return {Action::multiply_high};
    case Opcode::v_mul_u32_u24: return {Action::multiply_24};
    case Opcode::v_mul_i32_i24: return {Action::multiply_24_signed};
    case Opcode::v_mad_u32_u24: return {Action::multiply_24_add};
    case Opcode::v_mad_i32_i24: return {Action::multiply_24_signed_add};
    case Opcode::v_min_u32: return {Action::least};
    case Opcode::v_max_u32: return {Action::most};
    case Opcode::v_min_i32: return {Action::least_signed};
    case Opcode::v_max_i32: return {Action::most_signed};
    case Opcode::v_med3_u32: return {Action::median};
    case Opcode::v_med3_i32: return {Action::median_signed};
    case Opcode::v_cmp_class_f32: return {Action::compare_class};
    case Opcode::v_ldexp_f32: return {Action::float_scale};
    case Opcode::v_div_scale_f32: return {Action::divide_scale};
    case Opcode::v_div_fmas_f32: return {Action::divide_fused};
    case Opcode::v_div_fixup_f32: return {Action::divide_fix};
    case Opcode::v_cndmask_b32: return {Action::choose};
    case Opcode::v_cmp_lt_u32: return {Action::compare, kLess};
    case Opcode::v_cmp_eq_u32: return {Action::compare, kEqual};
    case Opcode::v_cmp_le_u32: return {Action::compare, kLessOrEqual};
    case Opcode::v_cmp_gt_u32: return {Action::compare, kGreater};
    case Opcode::v_cmp_ne_u32: return {Action::compare, kNotEqual};
    case Opcode::v_cmp_ge_u32: return {Action::compare, kGreaterOrEqual};
    case Opcode::v_cmp_lt_i32: return {Action::compare_signed, kLess};
    case Opcode::v_cmp_eq_i32: return {Action::compare_signed, kEqual};
    case Opcode::v_cmp_le_i32: return {Action::compare_signed, kLessOrEqual};
    case Opcode::v_cmp_gt_i32: return {Action::compare_signed, kGreater};
    case Opcode::v_cmp_ne_i32: return {Action::compare_signed, kNotEqual};
    case Opcode::v_cmp_ge_i32: return {Action::compare_signed, kGreaterOrEqual};
    case Opcode::v_cmp_lt_f32: return {Action::compare_float, kFloatLess};
    case Opcode::v_cmp_eq_f32: return {Action::compare_float, kFloatEqual};
    case Opcode::v_cmp_le_f32: return {Action::compare_float, kFloatLessOrEqual};
    case Opcode::v_cmp_gt_f32: return {Action::compare_float, kFloatGreater};
    case Opcode::v_cmp_lg_f32: return {Action::compare_float, kFloatLessOrGreater};
    case Opcode::v_cmp_ge_f32: return {Action::compare_float, kFloatGreaterOrEqual};
    case Opcode::v_cmp_o_f32: return {Action::compare_float, kFloatOrdered};
    case Opcode::v_cmp_u_f32: return {Action::compare_float, kFloatUnordered};
    case Opcode::v_cmp_nge_f32: return {Action::compare_float, kFloatNotGreaterOrEqual};
    case Opcode::v_cmp_nlg_f32: return {Action::compare_float, kFloatNotLessOrGreater};
    case Opcode::v_cmp_ngt_f32: return {Action::compare_float, kFloatNotGreater};
    case Opcode::v_cmp_nle_f32: return {Action::compare_float, kFloatNotLessOrEqual};
    case Opcode::v_cmp_neq_f32: return {Action::compare_float, kFloatNotEqual};
    case Opcode::v_cmp_nlt_f32: return {Action::compare_float, kFloatNotLess};
    case Opcode::v_add_f32: return {Action::float_add};
    case Opcode::v_sub_f32: return {Action::float_subtract};
    case Opcode::v_subrev_f32: return {Action::float_subtract, 0, true};
    case Opcode::v_mul_f32: return {Action::float_multiply};
    case Opcode::v_mac_f32:
    case Opcode::v_mad_f32:
    case Opcode::v_madmk_f32:
    case Opcode::v_madak_f32: return {Action::float_multiply_add};
    case Opcode::v_fma_f32:
    case Opcode::v_fmac_f32: return {Action::float_fused};
    case Opcode::v_min_f32: return {Action::float_least};
    case Opcode::v_max_f32: return {Action::float_most};
    case Opcode::v_min3_f32: return {Action::float_least_of_three};
    case Opcode::v_max3_f32: return {Action::float_most_of_three};
    case Opcode::v_med3_f32: return {Action::float_median};
    case Opcode::v_trunc_f32: return {Action::float_round, kTowardZero};
    case Opcode::v_ceil_f32: return {Action::float_round, kUp};
    case Opcode::v_rndne_f32: return {Action::float_round, kNearest};
    case Opcode::v_floor_f32: return {Action::float_round, kDown};
    case Opcode::v_fract_f32: return {Action::float_fraction, kDown};
    case Opcode::v_rcp_f32:
    case Opcode::v_rcp_iflag_f32: return {Action::float_reciprocal};
    case Opcode::v_rsq_f32: return {Action::float_reciprocal_root};
    case Opcode::v_sqrt_f32: return {Action::float_root};
    case Opcode::v_cvt_f32_i32: return {Action::float_of_signed};
    case Opcode::v_cvt_f32_u32: return {Action::float_of_unsigned};
    case Opcode::v_cvt_f32_ubyte0: return {Action::float_of_byte, 0};
    case Opcode::v_cvt_f32_ubyte1: return {Action::float_of_byte, 1};
    case Opcode::v_cvt_f32_ubyte2: return {Action::float_of_byte, 2};
    case Opcode::v_cvt_f32_ubyte3: return {Action::float_of_byte, 3};
    case Opcode::v_cvt_i32_f32: return {Action::signed_of_float};
    case Opcode::v_cvt_u32_f32: return {Action::unsigned_of_float};
    case Opcode::v_add_f64: return {Action::double_add};
    case Opcode::v_mul_f64: return {Action::double_multiply};
    case Opcode::v_fma_f64:
    case Opcode::v_fmac_f64: return {Action::double_fused};
    case Opcode::v_rcp_f64: return {Action::double_reciprocal};
    case Opcode::v_rsq_f64: return {Action::double_reciprocal_root};
    case Opcode::v_sqrt_f64: return {Action::double_root};
    default: return {};
  }
}

unsigned sources_of(const MicroOp& op) {
  return lanes().vector[static_cast<std::size_t>(op.opcode)].sources;
}

bool can_translate(const MicroOp& op, bool flush) {
  const Action action = operation_of(op.opcode).action;
  if (!op.whole || action == Action::none) return false;
  // Results below the normal numbers take more than the host's instructions.
  if (action == Action::divide_fused && !flush) return false;
  if (!has_functions_of(lanes(), op)) return false;
  const VectorFields& f = op.vector;
  const bool mask = op.result == Destination::mask;
  if (f.writes_exec) return false;
  const bool in_words = f.wide == 0 && (mask || op.result == Destination::vgpr);
  if (!is_double(action) && !in_words) return false;
  if ((mask || f.carry_out) &&
      (f.short_mask || (op.destination2 + 1U >= kExec && op.destination2 < kDiscard))) {
    return false;
  }
  // Whether omod acts goes by a mode that few waves have.
  if (f.omod != 0 || (f.clamp && (mask || f.float_bits != 32))) return false;
  for (std::size_t i = 0; i < sources_of(op); ++i) {
    if (op.kind[i] == Source::none) return false;
    if (op.kind[i] == Source::scalar && op.source[i] + words_of(op, i) > kScalarFile) return false;
  }
  return true;
}

bool can_hope(const MicroOp& op, Operation operation) {
  switch (operation.action) {
    case Action::compare_float: return true;
    case Action::float_add:
    case Action::float_subtract:
    case Action::float_multiply:
    case Action::float_multiply_add:
    case Action::float_fused:
    case Action::float_least:
    case Action::float_most:
    case Action::float_reciprocal:
    case Action::float_reciprocal_root:
    case Action::float_root:
    case Action::divide_scale:
    case Action::divide_fused:
    case Action::divide_fix: return !op.vector.clamp;
    default: return false;
  }
}

std::uint32_t constant_of(const MicroOp& op, std::size_t i, unsigned word) {
  std::uint32_t value = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a constant's place is the address of its lanes
  const auto* const lanes_of = reinterpret_cast<const std::uint32_t*>(op.vector.at[i]);
  std::memcpy(&value, lanes_of + std::size_t{word} * kLanes, sizeof value);
  return value;
}

std::optional<NanOrder> nan_order_of(const MicroOp& op, Action action, bool flush) {
  const bool wide = is_double(action);
  const U64 one = wide ? 0x3FF0000000000000 : 0x3F800000;
  // Payloads by source.
  const U64 nan = wide ? 0x7FF8000000000000 : 0x7FC00000;
  const U64 first = nan + 1;
  const U64 second = nan + 2;
  const U64 third = nan + 3;
  NanOrder order;
  const U64 of_two = answer(op, flush, wide, first, second, one);
  if (of_two != first && of_two != second) return std::nullopt;
  if (action == Action::float_add || action == Action::double_add) {
    order.addend = of_two == second;
    return order;
  }
  order.second_factor = of_two == second;
  if (action == Action::float_multiply || action == Action::double_multiply) return order;
  const U64 with_first = answer(op, flush, wide, first, one, third);
  const U64 with_second = answer(op, flush, wide, one, second, third);
  order.addend = with_first == third;
  const bool same =
      order.addend ? with_second == third : with_first == first && with_second == second;
  // A fused one's addend comes last.
  if (!same || (action != Action::float_multiply_add && order.addend)) return std::nullopt;
  return order;
}

}  // namespace ww::sim::gpu::exec::translate
