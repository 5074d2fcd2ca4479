// The steps of a division, as div_scale(), div_fmas32() and div_fixup_f() of the lanes have them,
// and scaling by powers of two.
#include "translate/slice_code.hpp"

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
constexpr std::uint32_t kLeastTame = 80;
constexpr std::uint32_t kMostTame = 174;
static_assert(kMostTame - kLeastTame < kFar && kLeastTame > kSmall && kMostTame < 250);

}  // namespace

bool SliceCode::division(const MicroOp& op, Operation operation, Zmm r) {
  switch (operation.action) {
    case Action::float_scale: {
      const Zmm value = number(op, 0, mode_flush_);
      const Zmm power = registers_.fresh();
      a_.vcvtdq2ps(power, source(op, 1));
      a_.vscalefps(r, value, power);
      if (mode_flush_) flush_denormals(r);
      return true;
    }
    case Action::divide_scale: divide_scale(op, r); return true;
    case Action::divide_fused: return divide_fused(op, r);
    case Action::divide_fix: divide_fix(op, r); return true;
    default: return false;
  }
}

// With numerator and denominator of such exponents a division needs no scaling, and its quotient is
// an ordinary number.
void SliceCode::rule_out_wild(Zmm x, Zmm y) {
  const Zmm t = registers_.fresh();
  const auto find = [&](Zmm value, Opmask wild) {
    a_.vpslld(t, value, 1);
    a_.vpsubd(t, t, literals_.all_lanes(kLeastTame << 24));
    a_.vpcmpud(enabled(wild), t, literals_.all_lanes((kMostTame + 1 - kLeastTame) << 24),
               Predicate::kGreaterOrEqual);
  };
  find(x, k2);
  find(y, k3);
  a_.korw(k2, k2, k3);
  give_up_where(k2);
}

void SliceCode::divide_scale(const MicroOp& op, Zmm r) {
  const Zmm x = number(op, 0, mode_flush_);  // the one to scale
  const Zmm y = number(op, 1, mode_flush_);  // denominator
  const Zmm z = number(op, 2, mode_flush_);  // numerator
  if (hoping_) {
    rule_out_wild(y, z);
    a_.vmovdqa32(r, x);
    const Opmask none = new_mask();
    a_.kxorw(none, none, none);
    write_mask(op.destination2, none);
    return;
  }
  const Zmm up = registers_.read({Source::constant, kFactorUp});
  const Zmm down = registers_.read({Source::constant, kFactorDown});
  const Zmm one = registers_.read({Source::constant, kOne});
  const Zmm factor = registers_.fresh();
  const Zmm of_y = registers_.fresh();
  const Zmm t = registers_.fresh();
  forget_masks();
  const Opmask& small_reciprocal = k3;
  const Opmask& small_quotient = k4;
  const Opmask& denormal = k5;
  const Opmask& may_overflow = k6;
  const Opmask& zero = k7;
  a_.vpsrld(of_y, y, 23);
  a_.vpandd(of_y, of_y, literals_.all_lanes(255));
  a_.vpsrld(t, z, 23);
  a_.vpandd(t, t, literals_.all_lanes(255));
  a_.vpcmpd(k2, t, literals_.all_lanes(kSmall), Predicate::kLessOrEqual);
  a_.vmovdqa32(factor | k2 | T_z, up);
  a_.vpsubd(t, t, of_y);
  a_.vpcmpd(may_overflow, t, literals_.all_lanes(kFar), Predicate::kGreaterOrEqual);
  a_.vdivps(t, z, y);
  a_.vptestnmd(small_quotient, t, literals_.all_lanes(kInfinity));
  a_.vpxord(factor | small_quotient, factor, factor);
  a_.vpcmpeqd(k2 | small_quotient, x, z);
  a_.vmovdqa32(factor | k2, up);
  a_.vdivps(t, one, y);
  a_.vptestnmd(small_reciprocal, t, literals_.all_lanes(kInfinity));
  a_.vmovdqa32(factor | small_reciprocal, down);
  a_.kandw(k2, small_reciprocal, small_quotient);
  a_.vpcmpd(k2 | k2, x, y, Predicate::kNotEqual);
  a_.vpxord(factor | k2, factor, factor);
  a_.vptestnmd(denormal, y, literals_.all_lanes(kInfinity));
  a_.vmovdqa32(factor | denormal, up);
  a_.vpxord(factor | may_overflow, factor, factor);
  a_.vpcmpeqd(k2 | may_overflow, x, y);
  a_.vmovdqa32(factor | k2, up);
  a_.vmulps(r, x, factor);
  a_.vptestnmd(k2, factor, factor);
  a_.vmovdqa32(r | k2, x);
  // Denormals are not zero here.
  a_.vptestnmd(zero, y, literals_.all_lanes(~kSign));
  a_.vptestnmd(k2, z, literals_.all_lanes(~kSign));
  a_.korw(zero, zero, k2);
  a_.vmovdqa32(r | zero, kDeviceNan);
  a_.kandnw(k2, denormal, small_quotient);
  a_.korw(k2, k2, may_overflow);
  a_.kandnw(zero, zero, k2);
  if (masked_) a_.kandw(zero, zero, k1);
  write_mask(op.destination2, zero);
}

bool SliceCode::divide_fused(const MicroOp& op, Zmm r) {
  const auto order = nan_order_of(op, Action::divide_fused, mode_flush_);
  if (!order) return false;
  const std::size_t factor = order->second_factor ? 1 : 0;
  const Opmask scaled = read_mask(op.mask_source);
  const Zmm x = number(op, factor, mode_flush_);
  const Zmm y = number(op, 1 - factor, mode_flush_);
  const Zmm z = number(op, 2, mode_flush_);
  if (hoping_) {
    give_up_where(scaled);
    a_.vmovaps(r, x);
    a_.vfmadd132ps(result(r), z, y);
    return true;
  }
  const Zmm t = registers_.fresh();
  a_.vmovaps(r, x);
  a_.vfmadd132ps(r, z, y);
  a_.vptestmd(k2, z, literals_.all_lanes(0x40000000));  // an exponent above that of one
  a_.vmulps(t, r, literals_.all_lanes(kFactorDown));
  a_.vmulps(t | k2, r, literals_.all_lanes(kFactorUp));
  a_.vmovaps(r | scaled, t);
  finish_float(r, mode_flush_);
  return true;
}

void SliceCode::divide_fix(const MicroOp& op, Zmm r) {
  const Zmm y = number(op, 1, mode_flush_);  // denominator
  const Zmm z = number(op, 2, mode_flush_);  // numerator
  const Zmm x = number(op, 0, mode_flush_);  // quotient
  const Zmm infinity = registers_.read({Source::constant, kInfinity});
  if (hoping_) {
    rule_out_wild(y, z);
    const Zmm sign = registers_.fresh();
    a_.vpandd(r, x, literals_.all_lanes(~kSign));
    a_.vpminud(r, r, infinity);
    a_.vpxord(sign, y, z);
    a_.vpandd(sign, sign, literals_.all_lanes(kSign));
    a_.vpord(r, r, sign);
    return;
  }
  const Zmm of_y = registers_.fresh();
  const Zmm of_z = registers_.fresh();
  const Zmm t = registers_.fresh();
  const Zmm s = registers_.fresh();
  forget_masks();
  a_.vpandd(of_y, y, literals_.all_lanes(~kSign));
  a_.vpandd(of_z, z, literals_.all_lanes(~kSign));
  a_.vptestnmd(k4, of_y, of_y);
  a_.vptestnmd(k5, of_z, of_z);
  a_.vpcmpeqd(k6, of_y, infinity);
  a_.vpcmpeqd(k7, of_z, infinity);
  // From what matters least to what matters most.
  a_.vpandd(r, x, literals_.all_lanes(~kSign));
  a_.vpminud(r, r, infinity);  // and of a NaN
  a_.vpsrld(t, of_z, 23);
  a_.vpsrld(s, of_y, 23);
  a_.vpsubd(t, t, s);
  a_.vpcmpd(k2, t, literals_.all_lanes(kFarBelow), Predicate::kLess);
  a_.korw(k3, k6, k5);
  a_.korw(k2, k2, k3);
  a_.vpxord(r | k2, r, r);
  a_.korw(k3, k4, k7);
  a_.vmovdqa32(r | k3, infinity);
  a_.vpxord(t, y, z);
  a_.vpandd(t, t, literals_.all_lanes(kSign));
  a_.vpord(r, r, t);
  a_.kandw(k2, k4, k5);
  a_.kandw(k3, k6, k7);
  a_.korw(k2, k2, k3);
  a_.vmovdqa32(r | k2, kHostNan);
  a_.vpcmpud(k2, of_y, infinity, Predicate::kGreater);
  a_.vpord(r | k2, y, literals_.all_lanes(kQuiet));
  a_.vpcmpud(k2, of_z, infinity, Predicate::kGreater);
  a_.vpord(r | k2, z, literals_.all_lanes(kQuiet));
}

}  // namespace ww::sim::gpu::exec::translate
