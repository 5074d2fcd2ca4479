// The steps of a division, as div_scale(), div_fmas32() and div_fixup_f() of the lanes have them,
// and scaling by powers of two.
#include "fast/translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers

constexpr std::uint32_t kInfinity = 0x7F800000;  // and the bits of the exponent
constexpr std::uint32_t kQuiet = 0x00400000;
constexpr std::uint32_t kFactorUp = 0x5F800000;    // 2^64
constexpr std::uint32_t kFactorDown = 0x1F800000;  // 2^-64
constexpr std::uint32_t kFar = 96;                 // distance of exponents: quotients may overflow
constexpr std::uint32_t kSmall = 23;               // up to this exponent a numerator is small
constexpr std::uint32_t kFarBelow = 0U - 150;
// Exponents of which no two are kFar apart, nor any near one that matters.
constexpr std::uint32_t kMinTame = 80;
constexpr std::uint32_t kMaxTame = 174;
static_assert(kMaxTame - kMinTame < kFar && kMinTame > kSmall && kMaxTame < 250);

}  // namespace

bool SliceCode::division(const MicroOp& op, Operation operation, Vector r) {
  switch (operation.action) {
    case Action::float_scale: {
      const Vector value = number(op, 0, mode_flush_);
      const Vector spare = registers_.allocate();
      host_.scale(r, value, source(op, 1), spare);
      if (mode_flush_) host_.flush_denormals(r);
      return true;
    }
    case Action::divide_scale: divide_scale(op, r); return true;
    case Action::divide_fused: return divide_fused(op, r);
    case Action::divide_fix: divide_fix(op, r); return true;
    default: return false;
  }
}

// Rules out operands of other exponents: with these a division needs no scaling, and its quotient
// is an ordinary number.
void SliceCode::rule_out_wild(Vector x, Vector y) {
  const Vector t = registers_.allocate();
  const Mask wild = masks_.spare(0);
  const Mask second_wild = masks_.spare(1);
  const auto find = [&](Vector value, Mask found) {
    a_.vpslld(t, value, 1);
    a_.vpsubd(t, t, literals_.all_lanes(kMinTame << 24));
    host_.compare_unsigned(enabled(found), t, literals_.all_lanes((kMaxTame + 1 - kMinTame) << 24),
                           Predicate::kGreaterOrEqual);
  };
  find(x, wild);
  find(y, second_wild);
  host_.mask_or(wild, wild, second_wild);
  give_up_where(wild);
}

void SliceCode::divide_scale(const MicroOp& op, Vector r) {
  const Vector x = number(op, 0, mode_flush_);  // the one to scale
  const Vector y = number(op, 1, mode_flush_);  // denominator
  const Vector z = number(op, 2, mode_flush_);  // numerator
  if (hoping_) {
    rule_out_wild(y, z);
    host_.move(r, x);
    const Mask none = masks_.make();
    host_.mask_none(none);
    write_mask(op.destination2, none);
    return;
  }
  const Value up = constant_value(kFactorUp);
  const Value down = constant_value(kFactorDown);
  const Vector one = registers_.read({Source::constant, kOne});
  const Vector factor = registers_.allocate();
  const Vector of_y = registers_.allocate();
  const Vector t = registers_.allocate();
  masks_.forget();
  const Mask found = masks_.spare(0);
  const Mask small_reciprocal = masks_.spare(1);
  const Mask small_quotient = masks_.spare(2);
  const Mask denormal = masks_.spare(3);
  const Mask may_overflow = masks_.spare(4);
  const Mask zero = masks_.spare(5);
  a_.vpsrld(of_y, y, 23);
  host_.bit_and(of_y, of_y, literals_.all_lanes(255));
  a_.vpsrld(t, z, 23);
  host_.bit_and(t, t, literals_.all_lanes(255));
  host_.compare_signed(found, t, literals_.all_lanes(kSmall), Predicate::kLessOrEqual);
  host_.take_or_zero(factor, found, up);
  a_.vpsubd(t, t, of_y);
  host_.compare_signed(may_overflow, t, literals_.all_lanes(kFar), Predicate::kGreaterOrEqual);
  a_.vdivps(t, z, y);
  host_.find_no_bit(small_quotient, t, literals_.all_lanes(kInfinity));
  host_.zero_where(factor, small_quotient);
  host_.compare_equal(within(found, small_quotient), x, z);
  host_.take_where(factor, found, up);
  a_.vdivps(t, one, y);
  host_.find_no_bit(small_reciprocal, t, literals_.all_lanes(kInfinity));
  host_.take_where(factor, small_reciprocal, down);
  host_.mask_and(found, small_reciprocal, small_quotient);
  host_.compare_signed(within(found, found), x, y, Predicate::kNotEqual);
  host_.zero_where(factor, found);
  host_.find_no_bit(denormal, y, literals_.all_lanes(kInfinity));
  host_.take_where(factor, denormal, up);
  host_.zero_where(factor, may_overflow);
  host_.compare_equal(within(found, may_overflow), x, y);
  host_.take_where(factor, found, up);
  a_.vmulps(r, x, factor);
  host_.find_no_bit(found, factor, factor);
  host_.take_where(r, found, x);
  // Denormals are not zero here.
  host_.find_no_bit(zero, y, literals_.all_lanes(~kSign));
  host_.find_no_bit(found, z, literals_.all_lanes(~kSign));
  host_.mask_or(zero, zero, found);
  host_.take_where(r, zero, host_.device_nan());
  host_.mask_and_not(found, denormal, small_quotient);
  host_.mask_or(found, found, may_overflow);
  host_.mask_and_not(zero, zero, found);
  if (masked_) host_.mask_and(zero, zero, host_.enabled());
  write_mask(op.destination2, zero);
}

bool SliceCode::divide_fused(const MicroOp& op, Vector r) {
  const auto order = nan_order_of(op, Action::divide_fused, mode_flush_);
  if (!order) return false;
  const std::size_t factor = order->second_factor ? 1 : 0;
  const Mask scaled = read_mask(op.mask_source);
  const Vector x = number(op, factor, mode_flush_);
  const Vector y = number(op, 1 - factor, mode_flush_);
  const Vector z = number(op, 2, mode_flush_);
  if (hoping_) {
    give_up_where(scaled);
    a_.vmovaps(r, x);
    a_.vfmadd132ps(result(r), z, y);
    return true;
  }
  const Vector t = registers_.allocate();
  a_.vmovaps(r, x);
  a_.vfmadd132ps(r, z, y);
  const Mask large = masks_.spare(0);
  host_.find_any_bit(large, z, literals_.all_lanes(0x40000000));  // an exponent above that of one
  a_.vmulps(t, r, literals_.all_lanes(kFactorDown));
  host_.change_where(t, large,
                     [&](Vector up) { a_.vmulps(up, r, literals_.all_lanes(kFactorUp)); });
  host_.take_float_where(r, scaled, t);
  finish_float(r, mode_flush_);
  return true;
}

void SliceCode::divide_fix(const MicroOp& op, Vector r) {
  const Vector y = number(op, 1, mode_flush_);  // denominator
  const Vector z = number(op, 2, mode_flush_);  // numerator
  const Vector x = number(op, 0, mode_flush_);  // quotient
  const Value infinity = constant_value(kInfinity);
  if (hoping_) {
    rule_out_wild(y, z);
    const Vector sign = registers_.allocate();
    host_.bit_and(r, x, literals_.all_lanes(~kSign));
    a_.vpminud(r, r, infinity);
    host_.bit_xor(sign, y, z);
    host_.bit_and(sign, sign, literals_.all_lanes(kSign));
    host_.bit_or(r, r, sign);
    return;
  }
  const Vector of_y = registers_.allocate();
  const Vector of_z = registers_.allocate();
  const Vector t = registers_.allocate();
  const Vector s = registers_.allocate();
  masks_.forget();
  const Mask found = masks_.spare(0);
  const Mask other = masks_.spare(1);
  const Mask zero_y = masks_.spare(2);
  const Mask zero_z = masks_.spare(3);
  const Mask infinite_y = masks_.spare(4);
  const Mask infinite_z = masks_.spare(5);
  host_.bit_and(of_y, y, literals_.all_lanes(~kSign));
  host_.bit_and(of_z, z, literals_.all_lanes(~kSign));
  host_.find_no_bit(zero_y, of_y, of_y);
  host_.find_no_bit(zero_z, of_z, of_z);
  host_.compare_equal(infinite_y, of_y, infinity);
  host_.compare_equal(infinite_z, of_z, infinity);
  // Overwrites the result with what matters more, step by step.
  host_.bit_and(r, x, literals_.all_lanes(~kSign));
  a_.vpminud(r, r, infinity);  // and of a NaN
  a_.vpsrld(t, of_z, 23);
  a_.vpsrld(s, of_y, 23);
  a_.vpsubd(t, t, s);
  host_.compare_signed(found, t, literals_.all_lanes(kFarBelow), Predicate::kLess);
  host_.mask_or(other, infinite_y, zero_z);
  host_.mask_or(found, found, other);
  host_.zero_where(r, found);
  host_.mask_or(other, zero_y, infinite_z);
  host_.take_where(r, other, infinity);
  host_.bit_xor(t, y, z);
  host_.bit_and(t, t, literals_.all_lanes(kSign));
  host_.bit_or(r, r, t);
  host_.mask_and(found, zero_y, zero_z);
  host_.mask_and(other, infinite_y, infinite_z);
  host_.mask_or(found, found, other);
  host_.take_where(r, found, host_.host_nan());
  const auto take_nan = [&](Vector magnitude, Vector value) {
    host_.compare_unsigned(found, magnitude, infinity, Predicate::kGreater);
    host_.change_where(r, found,
                       [&](Vector nan) { host_.bit_or(nan, value, literals_.all_lanes(kQuiet)); });
  };
  take_nan(of_y, y);
  take_nan(of_z, z);
}

}  // namespace ww::sim::gpu::exec::translate
