#include "fast/forms/lane_forms.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstring>
#include <utility>

#include "machine/isa/lane_table.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::Operand;
using binpatch::isa::OperandKind;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

constexpr std::size_t kMaxDwords = 4;  // of an instruction

U64 registers_in(const Operand& operand, std::size_t least) {
  if (operand.kind != OperandKind::vgpr) return 0;
  return formable(operand.index, std::max<std::size_t>(operand.count, least));
}

// Source i, or the upper word of it: a vector register, or a scalar or a constant, which are forms
// without a step.
template <bool Vector>
LaneForm source_form(const Wave& wave, const MicroOp& op, std::size_t i, bool upper = false) {
  const auto* const of_wave = reinterpret_cast<const std::byte*>(&wave) + op.form_at[i];
  LaneForm form;
  if constexpr (Vector) {
    std::memcpy(&form, of_wave + (upper ? sizeof form : 0), sizeof form);
  } else {
    const bool constant = op.kind[i] == Source::constant;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a constant's place is the address of its lanes
    const auto* from = constant ? reinterpret_cast<const std::byte*>(op.vector.at[i]) : of_wave;
    if (upper) from += constant ? kLanes * sizeof(U32) : sizeof(U32);
    std::memcpy(&form.first, from, sizeof form.first);
  }
  return form;
}
LaneForm source_form(const Wave& wave, const MicroOp& op, std::size_t i) {
  return op.kind[i] == Source::vgpr ? source_form<true>(wave, op, i)
                                    : source_form<false>(wave, op, i);
}

// First and last lane's value, where the values between do not wrap around.
struct Range {
  I64 first;
  I64 last;
  explicit Range(LaneForm form)
      : first(form.first), last(first + kLastLane * static_cast<std::int32_t>(form.step)) {}
  [[nodiscard]] bool below(I64 limit) const { return last >= 0 && last < limit && first < limit; }
};
constexpr I64 kWords = I64{1} << 32;
constexpr I64 kWords24 = I64{1} << 24;

LaneForm sum(LaneForm a, LaneForm b) {
  return {a.first + b.first, a.step + b.step};
}
LaneForm difference(LaneForm a, LaneForm b) {
  return {a.first - b.first, a.step - b.step};
}
LaneForm shifted(LaneForm a, LaneForm by) {
  return {a.first << (by.first & 31U), a.step << (by.first & 31U)};
}

bool product(LaneForm a, LaneForm b, LaneForm& result) {
  if (a.step != 0) std::swap(a, b);
  if (a.step != 0) return false;
  result = {a.first * b.first, a.first * b.step};
  return true;
}

// A mask that is the same for all lanes: whether the values lie beyond the limits.
bool carry_of(I64 first, I64 last, bool& carry) {
  const bool first_out = first < 0 || first >= kWords;
  carry = last < 0 || last >= kWords;
  return first_out == carry;
}

bool add(LaneForm a, LaneForm b, U64 carry_in, LaneForm& result, bool& carry) {
  const auto a_last = static_cast<U64>(Range(a).last);
  const auto b_last = static_cast<U64>(Range(b).last);
  if ((a_last | b_last) >> 32 != 0) return false;  // one of them wraps around
  const U64 first = U64{a.first} + b.first + carry_in;
  const U64 last = a_last + b_last + carry_in;
  result = {static_cast<U32>(first), a.step + b.step};
  carry = last >> 32 != 0;
  return (first ^ last) >> 32 == 0;
}

bool subtract(LaneForm a, LaneForm b, LaneForm& result, bool& carry) {
  const Range x(a);
  const Range y(b);
  if (!x.below(kWords) || !y.below(kWords)) return false;
  result = difference(a, b);
  return carry_of(x.first - y.first, x.last - y.last, carry);
}

// 64 bits of all lanes: the upper words are the same, and the lower ones do not wrap around.
struct WideForm {
  U64 first;
  U64 last;
  U64 step;
};
std::optional<WideForm> wide_source_form(const Wave& wave, const MicroOp& op, std::size_t i) {
  const bool vector = op.kind[i] == Source::vgpr;
  const LaneForm low = source_form(wave, op, i);
  const LaneForm high =
      vector ? source_form<true>(wave, op, i, true) : source_form<false>(wave, op, i, true);
  const Range range(low);
  if (high.step != 0 || !range.below(kWords)) return std::nullopt;
  const U64 upper = U64{high.first} << 32;
  return WideForm{upper | low.first, upper | static_cast<U64>(range.last),
                  static_cast<U64>(I64{static_cast<std::int32_t>(low.step)})};
}

// Gives the destination 64 bits of each lane. False where their upper words differ.
bool set_wide_form(Wave& wave, const MicroOp& op, U64 first, U64 step) {
  const U64 last = first + static_cast<U64>(kLastLane) * step;
  if (first >> 32 != last >> 32 || step + (U64{1} << 25) >= U64{1} << 26) return false;
  set_form(wave, op.destination, {static_cast<U32>(first), static_cast<U32>(step)});
  set_form(wave, op.destination + 1U, {static_cast<U32>(first >> 32), 0});
  return true;
}

// Shifts 64 bits: source `By` is the distance.
template <std::size_t By, bool Vector0, bool Vector1>
bool shift_pair(Wave& wave, const MicroOp& op) {
  constexpr std::array kVector{Vector0, Vector1};
  const LaneForm low = source_form<kVector[1 - By]>(wave, op, 1 - By);
  const LaneForm high = source_form<kVector[1 - By]>(wave, op, 1 - By, true);
  const LaneForm count = source_form<kVector[By]>(wave, op, By);
  if ((high.step | count.step) != 0 || !Range(low).below(kWords)) return false;
  const unsigned bits = count.first & 63U;
  const U64 first = (U64{high.first} << 32 | low.first) << bits;
  const U64 step = static_cast<U64>(I64{static_cast<std::int32_t>(low.step)}) << bits;
  return set_wide_form(wave, op, first, step);
}

// A product of 32 bits each, and 64 bits more.
bool multiply_add_pair(Wave& wave, const MicroOp& op) {
  LaneForm factor = source_form(wave, op, 0);
  LaneForm other = source_form(wave, op, 1);
  if (factor.step != 0) std::swap(factor, other);
  const auto more = wide_source_form(wave, op, 2);
  const Range range(other);
  if (factor.step != 0 || !range.below(kWords) || !more) return false;
  const U64 first = U64{factor.first} * other.first;
  const U64 last = factor.first * static_cast<U64>(range.last);
  const U64 step = factor.first * static_cast<U64>(I64{static_cast<std::int32_t>(other.step)});
  const bool carry = first + more->first < first;
  if (carry != (last + more->last < last)) return false;
  if (!set_wide_form(wave, op, first + more->first, step + more->step)) return false;
  wave.set_pair(op.destination2, carry ? ~U64{0} : 0);
  return true;
}

bool shift_left_add_pair(Wave& wave, const MicroOp& op) {
  const auto shifted = wide_source_form(wave, op, 0);
  const LaneForm count = source_form(wave, op, 1);
  const auto more = wide_source_form(wave, op, 2);
  if (!shifted || !more || count.step != 0) return false;
  const unsigned bits = count.first & 7U;
  return set_wide_form(wave, op, (shifted->first << bits) + more->first,
                       (shifted->step << bits) + more->step);
}

template <FormRule R, bool Vector0, bool Vector1>
bool follow(Wave& wave, const MicroOp& op) {
  LaneForm a = source_form<Vector0>(wave, op, 0);
  LaneForm b;
  LaneForm c;
  LaneForm result;
  bool carry = false;
  constexpr bool kCarry = R == FormRule::add_carry_out || R == FormRule::add_carry ||
                          R == FormRule::subtract_carry_out ||
                          R == FormRule::subtract_reversed_carry_out;
  if constexpr (R != FormRule::move) b = source_form<Vector1>(wave, op, 1);
  if constexpr (R == FormRule::multiply_24_add || R == FormRule::shift_left_add ||
                R == FormRule::add_shift_left || R == FormRule::add_three) {
    c = source_form(wave, op, 2);
  }
  if constexpr (R == FormRule::subtract_reversed || R == FormRule::subtract_reversed_carry_out ||
                R == FormRule::shift_left_reversed || R == FormRule::shift_right_reversed) {
    std::swap(a, b);
  }
  if constexpr (R == FormRule::move) {
    result = a;
  } else if constexpr (R == FormRule::add) {
    result = sum(a, b);
  } else if constexpr (R == FormRule::subtract || R == FormRule::subtract_reversed) {
    result = difference(a, b);
  } else if constexpr (R == FormRule::add_carry_out) {
    if (!add(a, b, 0, result, carry)) return false;
  } else if constexpr (R == FormRule::add_carry || R == FormRule::add_carry_in) {
    const U64 mask = wave.pair(op.mask_source);
    if (mask + 1 > 1) return false;
    const U32 in = mask != 0 ? 1 : 0;
    if constexpr (R == FormRule::add_carry) {
      if (!add(a, b, in, result, carry)) return false;
    } else {
      result = sum(a, {b.first + in, b.step});
    }
  } else if constexpr (kCarry) {
    if (!subtract(a, b, result, carry)) return false;
  } else if constexpr (R == FormRule::shift_left || R == FormRule::shift_left_reversed) {
    if (b.step != 0) return false;
    result = shifted(a, b);
  } else if constexpr (R == FormRule::shift_right || R == FormRule::shift_right_reversed) {
    const unsigned bits = b.first & 31U;
    if (b.step != 0 || !Range(a).below(kWords)) return false;
    const U32 last = a.first + static_cast<U32>(kLastLane) * a.step;
    const std::int32_t from = static_cast<std::int32_t>(a.first) >> bits;
    if (from != static_cast<std::int32_t>(last) >> bits) return false;  // all others lie between
    result = {static_cast<U32>(from), 0};
  } else if constexpr (R == FormRule::multiply) {
    if (!product(a, b, result)) return false;
  } else if constexpr (R == FormRule::multiply_24 || R == FormRule::multiply_24_add) {
    if (!Range(a).below(kWords24) || !Range(b).below(kWords24) || !product(a, b, result)) {
      return false;
    }
    if constexpr (R == FormRule::multiply_24_add) result = sum(result, c);
  } else if constexpr (R == FormRule::shift_left_add) {
    if (b.step != 0) return false;
    result = sum(shifted(a, b), c);
  } else if constexpr (R == FormRule::add_shift_left) {
    if (c.step != 0) return false;
    result = shifted(sum(a, b), c);
  } else {
    static_assert(R == FormRule::add_three);
    result = sum(sum(a, b), c);
  }
  set_form(wave, op.destination, result);
  if constexpr (kCarry) wave.set_pair(op.destination2, carry ? ~U64{0} : 0);
  return true;
}

enum class Order : std::uint8_t { less, less_or_equal, equal };

// Returns a comparison's result if it is the same for all lanes, from the order of the two sources
// in the first lane and in the last one. Their difference grows evenly between.
template <Order O>
std::optional<bool> of_all_lanes(std::strong_ordering first, std::strong_ordering last) {
  if constexpr (O == Order::equal) {
    if (first != last) return std::nullopt;
    return std::is_eq(first);
  } else {
    const auto holds = [](std::strong_ordering order) {
      return O == Order::less ? std::is_lt(order) : std::is_lteq(order);
    };
    if (holds(first) != holds(last)) return std::nullopt;
    return holds(first);
  }
}

// A comparison that comes out the same for all lanes.
template <Order O, bool Signed, bool Negated>
bool compare_forms(Wave& wave, const MicroOp& op) {
  LaneForm a = source_form(wave, op, 0);
  LaneForm b = source_form(wave, op, 1);
  if constexpr (Signed) {
    a.first ^= 1U << 31;
    b.first ^= 1U << 31;
  }
  const Range x(a);
  const Range y(b);
  if (!x.below(kWords) || !y.below(kWords)) return false;
  const auto result = of_all_lanes<O>(x.first <=> y.first, x.last <=> y.last);
  if (!result) return false;
  wave.set_pair(op.destination2, *result != Negated ? ~U64{0} : 0);
  return true;
}

// Compares forms of 64 bits.
template <Order O, bool Signed, bool Negated>
bool compare_wide_forms(Wave& wave, const MicroOp& op) {
  const auto x = wide_source_form(wave, op, 0);
  const auto y = wide_source_form(wave, op, 1);
  if (!x || !y) return false;
  const auto order = [](U64 a, U64 b) {
    constexpr U64 kSign = Signed ? U64{1} << 63 : 0;
    return (a ^ kSign) <=> (b ^ kSign);
  };
  const auto result = of_all_lanes<O>(order(x->first, y->first), order(x->last, y->last));
  if (!result) return false;
  wave.set_pair(op.destination2, *result != Negated ? ~U64{0} : 0);
  return true;
}

bool choose(Wave& wave, const MicroOp& op) {
  const U64 mask = wave.pair(op.mask_source);
  if (mask + 1 > 1) return false;
  set_form(wave, op.destination, source_form(wave, op, mask != 0 ? 1 : 0));
  return true;
}

template <std::size_t By>
FormFunction of_shift(const MicroOp& op) {
  const bool first = op.kind[0] == Source::vgpr;
  if (op.kind[1] == Source::vgpr) {
    return first ? shift_pair<By, true, true> : shift_pair<By, false, true>;
  }
  return first ? shift_pair<By, true, false> : shift_pair<By, false, false>;
}
template <FormRule R>
FormFunction of_sources(const MicroOp& op) {
  if constexpr (R == FormRule::shift_pair) {
    return of_shift<1>(op);
  } else if constexpr (R == FormRule::shift_pair_reversed) {
    return of_shift<0>(op);
  } else if constexpr (R == FormRule::multiply_add_pair) {
    return multiply_add_pair;
  } else if constexpr (R == FormRule::shift_left_add_pair) {
    return shift_left_add_pair;
  } else {
    const bool first = op.kind[0] == Source::vgpr;
    if (op.kind[1] == Source::vgpr) return first ? follow<R, true, true> : follow<R, false, true>;
    return first ? follow<R, true, false> : follow<R, false, false>;
  }
}
FormFunction function_of(FormRule rule, const MicroOp& op) {
  constexpr auto kRules = static_cast<std::size_t>(FormRule::count);
  static constexpr auto kFunctions = []<std::size_t... Rule>(std::index_sequence<Rule...>) {
    return std::array{&of_sources<static_cast<FormRule>(Rule)>...};
  }
  (std::make_index_sequence<kRules>{});
  return kFunctions[static_cast<std::size_t>(rule)](op);
}

// Returns the rule of an opcode by itself; none for comparisons and choices.
std::optional<FormRule> rule_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_mov_b32: return FormRule::move;
    case Opcode::v_add_u32: return FormRule::add;
    case Opcode::v_sub_u32: return FormRule::subtract;
    case Opcode::v_subrev_u32: return FormRule::subtract_reversed;
    case Opcode::v_add_i32:
    case Opcode::v_add_co_u32: return FormRule::add_carry_out;
    case Opcode::v_sub_i32:
    case Opcode::v_sub_co_u32: return FormRule::subtract_carry_out;
    case Opcode::v_subrev_i32:
    case Opcode::v_subrev_co_u32: return FormRule::subtract_reversed_carry_out;
    case Opcode::v_addc_u32:
    case Opcode::v_addc_co_u32: return FormRule::add_carry;
    case Opcode::v_lshl_b32: return FormRule::shift_left;
    case Opcode::v_lshlrev_b32: return FormRule::shift_left_reversed;
    case Opcode::v_lshl_b64: return FormRule::shift_pair;
    case Opcode::v_lshlrev_b64: return FormRule::shift_pair_reversed;
    case Opcode::v_ashr_i32: return FormRule::shift_right;
    case Opcode::v_ashrrev_i32: return FormRule::shift_right_reversed;
    case Opcode::v_mul_lo_u32:
    case Opcode::v_mul_lo_i32: return FormRule::multiply;
    case Opcode::v_mul_u32_u24: return FormRule::multiply_24;
    case Opcode::v_mad_u32_u24: return FormRule::multiply_24_add;
    case Opcode::v_lshl_add_u32: return FormRule::shift_left_add;
    case Opcode::v_add_lshl_u32: return FormRule::add_shift_left;
    case Opcode::v_add3_u32: return FormRule::add_three;
    case Opcode::v_mad_u64_u32: return FormRule::multiply_add_pair;
    case Opcode::v_lshl_add_u64: return FormRule::shift_left_add_pair;
    default: return std::nullopt;
  }
}

// Returns the rule without the carry that it gives, which nothing reads.
FormRule without_carry(FormRule rule) {
  switch (rule) {
    case FormRule::add_carry_out: return FormRule::add;
    case FormRule::subtract_carry_out: return FormRule::subtract;
    case FormRule::subtract_reversed_carry_out: return FormRule::subtract_reversed;
    case FormRule::add_carry: return FormRule::add_carry_in;
    default: return rule;
  }
}

FormFunction function_of(const MicroOp& op) {
  if (const auto rule = rule_of(op.opcode)) return function_of(*rule, op);
  switch (op.opcode) {
    case Opcode::v_cndmask_b32: return choose;
    case Opcode::v_cmp_lt_u32: return compare_forms<Order::less, false, false>;
    case Opcode::v_cmp_le_u32: return compare_forms<Order::less_or_equal, false, false>;
    case Opcode::v_cmp_eq_u32: return compare_forms<Order::equal, false, false>;
    case Opcode::v_cmp_gt_u32: return compare_forms<Order::less_or_equal, false, true>;
    case Opcode::v_cmp_ge_u32: return compare_forms<Order::less, false, true>;
    case Opcode::v_cmp_ne_u32: return compare_forms<Order::equal, false, true>;
    case Opcode::v_cmp_lt_i32: return compare_forms<Order::less, true, false>;
    case Opcode::v_cmp_le_i32: return compare_forms<Order::less_or_equal, true, false>;
    case Opcode::v_cmp_eq_i32: return compare_forms<Order::equal, true, false>;
    case Opcode::v_cmp_gt_i32: return compare_forms<Order::less_or_equal, true, true>;
    case Opcode::v_cmp_ge_i32: return compare_forms<Order::less, true, true>;
    case Opcode::v_cmp_ne_i32: return compare_forms<Order::equal, true, true>;
    case Opcode::v_cmp_lt_u64: return compare_wide_forms<Order::less, false, false>;
    case Opcode::v_cmp_le_u64: return compare_wide_forms<Order::less_or_equal, false, false>;
    case Opcode::v_cmp_eq_u64: return compare_wide_forms<Order::equal, false, false>;
    case Opcode::v_cmp_gt_u64: return compare_wide_forms<Order::less_or_equal, false, true>;
    case Opcode::v_cmp_ge_u64: return compare_wide_forms<Order::less, false, true>;
    case Opcode::v_cmp_ne_u64: return compare_wide_forms<Order::equal, false, true>;
    case Opcode::v_cmp_lt_i64: return compare_wide_forms<Order::less, true, false>;
    case Opcode::v_cmp_le_i64: return compare_wide_forms<Order::less_or_equal, true, false>;
    case Opcode::v_cmp_eq_i64: return compare_wide_forms<Order::equal, true, false>;
    case Opcode::v_cmp_gt_i64: return compare_wide_forms<Order::less_or_equal, true, true>;
    case Opcode::v_cmp_ge_i64: return compare_wide_forms<Order::less, true, true>;
    case Opcode::v_cmp_ne_i64: return compare_wide_forms<Order::equal, true, true>;
    default: return nullptr;
  }
}

// Registers that an instruction writes, now or as it completes.
U64 written(const MicroOp& op) {
  if (op.unit != Unit::vmem && op.unit != Unit::lds) return op.writes;
  const std::size_t words = std::max<std::size_t>(1, op.memory.element_bytes / 4U);
  return op.memory.kind == MemoryKind::store ? 0 : formable(op.destination, words);
}

// Returns where a jump of the program goes to, if that is within it.
std::optional<std::size_t> jump_target(const std::vector<MicroOp>& code, std::size_t dword) {
  const MicroOp& op = code[dword];
  if (op.unit != Unit::branch || op.opcode == Opcode::s_endpgm) return std::nullopt;
  const auto target = static_cast<std::int64_t>(dword) + op.dwords + op.immediate;
  if (target < 0 || target >= static_cast<std::int64_t>(code.size())) return std::nullopt;
  return static_cast<std::size_t>(target);
}

constexpr int kMaxPasses = 4;  // through the loops of a program; too few cost time, nothing else

// Takes the functions away whose sources, on some way through the code, come from instructions
// without one.
void forget_unformable(std::vector<MicroOp>& code, const std::vector<std::size_t>& begins) {
  std::vector<U64> formed(code.size() + kMaxDwords, ~U64{0});  // before each instruction
  bool again = true;
  for (int pass = 0; again && pass < kMaxPasses; ++pass) {
    again = false;
    for (const std::size_t dword : begins) {
      MicroOp& op = code[dword];
      U64 now = formed[dword];
      if (op.form != nullptr && (op.reads & ~now) != 0) op.form = nullptr;
      now = (now & ~written(op)) | (op.form != nullptr ? op.writes : 0);
      if (const auto target = jump_target(code, dword)) {
        again |= *target <= dword && (formed[*target] & ~now) != 0;
        formed[*target] &= now;
      }
      if (op.opcode == Opcode::s_branch || op.opcode == Opcode::s_endpgm) continue;
      formed[dword + op.dwords] &= now;
    }
  }
}

// Removes the form of an instruction from whose result no address and no comparison comes.
void forget_unused(std::vector<MicroOp>& code, const std::vector<std::size_t>& begins) {
  std::vector<U64> used(code.size() + kMaxDwords);  // as forms, from each instruction on
  const auto pass = [&](bool last) {
    bool changed = false;
    for (std::size_t i = begins.size(); i-- != 0;) {
      MicroOp& op = code[begins[i]];
      U64 now = op.opcode == Opcode::s_endpgm || op.opcode == Opcode::s_branch
                    ? 0
                    : used[begins[i] + op.dwords];
      if (const auto target = jump_target(code, begins[i])) now |= used[*target];
      const bool useful = op.form != nullptr && (op.writes == 0 || (op.writes & now) != 0);
      if (last && !useful) op.form = nullptr;
      now &= ~written(op);
      if (useful) now |= op.reads;
      if (op.unit == Unit::vmem && op.memory.lane_addresses) {
        now |= formable(op.memory.address, op.kind[2] == Source::scalar ? 1 : 2);
      }
      changed |= now != used[begins[i]];
      used[begins[i]] = now;
    }
    return changed;
  };
  for (int i = 0; i < kMaxPasses && pass(false); ++i) {
  }
  pass(true);
}

bool writes_vcc(const MicroOp& op) {
  return op.unit == Unit::valu && (op.vector.carry_out || op.result == Destination::mask) &&
         op.destination2 == kVcc;
}

// Whether the straight-line code behind the instruction gives vcc anew before it reads it.
bool carry_is_unused(const std::vector<MicroOp>& code, std::size_t dword) {
  for (dword += code[dword].dwords; dword < code.size(); dword += code[dword].dwords) {
    const MicroOp& op = code[dword];
    if (!op.straight || op.reads_vcc) return false;
    if (writes_vcc(op)) return true;
  }
  return false;
}

void forget_carries(std::vector<MicroOp>& code, const std::vector<std::size_t>& begins) {
  for (const std::size_t dword : begins) {
    MicroOp& op = code[dword];
    if (op.form == nullptr || !op.vector.carry_out || op.destination2 != kVcc) continue;
    const auto rule = rule_of(op.opcode);
    if (rule && carry_is_unused(code, dword)) op.form = function_of(without_carry(*rule), op);
  }
}

// Whether the instruction may read vcc, as far as its operands show.
bool may_read_vcc(const Instruction& instruction, const MicroOp& op) {
  const auto is_vcc = [](const Operand& operand) {
    const auto index = scalar_index(operand);
    return index && *index + std::max<unsigned>(operand.count, 2) > kVcc &&
           (*index < kVcc + 2U || *index >= kScalarFile);
  };
  if (op.unit == Unit::valu && op.plain == Plain::no) return true;
  if (op.unit == Unit::valu && op.vector.mask_in && op.mask_source == kVcc) return true;
  return std::ranges::any_of(instruction.src, is_vcc) ||
         (op.unit != Unit::valu && std::ranges::any_of(instruction.dst, is_vcc));
}

}  // namespace

void find_registers(const Instruction& instruction, MicroOp& op) {
  op.reads = op.writes = 0;
  op.reads_vcc = may_read_vcc(instruction, op);
  const auto read = [&](std::size_t first, std::size_t least) {
    for (std::size_t i = first; i < instruction.src.size(); ++i) {
      op.reads |= registers_in(instruction.src[i], least);
    }
  };
  if (op.opcode == Opcode::s_set_gpr_idx_on || (op.unit == Unit::valu && !op.straight)) {
    op.reads = op.writes = ~U64{0};    // others than it names
  } else if (op.unit == Unit::vmem) {  // loads write as they complete
    const std::size_t words = std::max<std::size_t>(1, op.memory.element_bytes / 4U);
    const bool atomic = op.memory.kind >= MemoryKind::atomic;  // two where it compares
    read(op.memory.lane_addresses ? 1 : 0, atomic ? 2 * words : words);
    if (op.memory.channels != 0) {  // as many addresses as the image has dimensions
      constexpr std::size_t kMaxChannels = 4;
      for (unsigned i = 0; i < op.memory.parts; ++i) {
        op.reads |= formable(image_address(op.memory, i), 1);
      }
      if (op.memory.kind == MemoryKind::store) op.reads |= formable(op.source[3], kMaxChannels);
    }
  } else if (op.unit == Unit::lds) {
    constexpr std::size_t kMaxWords = 4;
    read(0, kMaxWords);
  } else if (op.unit == Unit::valu) {
    const std::size_t least = op.plain == Plain::no ? 2 : 1;
    read(0, least);
    for (std::size_t i = 0; i < 3; ++i) {  // an accumulator is not named
      const bool wide = (op.vector.wide >> i & 1U) != 0;
      if (op.kind[i] == Source::vgpr) op.reads |= formable(op.source[i], wide ? 2 : least);
    }
    for (const Operand& operand : instruction.dst) {
      op.writes |= registers_in(operand, register_count(op.result));
    }
    if (op.opcode == Opcode::v_dual) op.reads |= op.writes;  // accumulators of its halves
  }
}

void set_form_function(MicroOp& op) {
  op.form = nullptr;
  const VectorFields& f = op.vector;
  if ((f.abs | f.neg | f.omod) != 0 || f.clamp) return;
  const std::size_t words = op.result == Destination::vgpr_pair ? 2 : 1;
  if (op.destination + words > kForms) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const unsigned last = op.source[i] + (f.wide >> i & 1U);
    const bool vector = op.kind[i] == Source::vgpr;
    if (op.kind[i] != Source::scalar && !vector) continue;
    if (last >= (vector ? kForms : std::size_t{kScalarFile})) return;
    op.form_at[i] =
        static_cast<std::uint16_t>(vector ? offsetof(Wave, form) + op.source[i] * sizeof(LaneForm)
                                          : offsetof(Wave, sr) + op.source[i] * sizeof(U32));
  }
  if ((f.carry_out || op.result == Destination::mask) && op.destination2 + 1U >= kExec) return;
  op.form = function_of(op);
}

std::optional<FormRule> form_rule(const MicroOp& op) {
  const auto rule = rule_of(op.opcode);
  if (op.form == nullptr || !rule) return std::nullopt;
  return op.form == function_of(*rule, op) ? *rule : without_carry(*rule);
}

void choose_forms(std::vector<MicroOp>& code) {
  std::vector<std::size_t> begins;
  for (std::size_t dword = 0; dword < code.size(); dword += code[dword].dwords) {
    begins.push_back(dword);
  }
  forget_unformable(code, begins);
  forget_unused(code, begins);
  forget_carries(code, begins);
}

std::optional<LaneForm> form_of(const U32* words) {
  const LaneForm form{words[0], words[1] - words[0]};
  for (U32 lane = 0; lane < kLanes; ++lane) {
    if (words[lane] != form.first + lane * form.step) return std::nullopt;
  }
  return form;
}

void write_lanes(Wave& wave, U64 registers) {
  const LaneTable& table = lanes();
  wave.unwritten &= ~registers;
  for (; registers != 0; registers &= registers - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(registers));
    table.count_up(wave.vgpr(index), wave.form[index].first, wave.form[index].step);
  }
}

}  // namespace ww::sim::gpu::exec
