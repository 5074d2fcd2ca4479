// Floats: arithmetic, conversions, comparisons.
#include "translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers and operands

constexpr std::uint8_t kZeros = 0x06;  // classes of vfpclass
constexpr std::uint8_t kInfinities = 0x18;
constexpr std::uint8_t kUnordered = 3;  // predicates of vcmp
constexpr std::uint8_t kAtLeast = 0x1D;

}  // namespace

bool SliceCode::conversion(const MicroOp& op, Operation operation, Zmm r) {
  switch (operation.action) {
    case Action::float_of_signed: a_.vcvtdq2ps(r, source(op, 0)); return true;
    case Action::float_of_unsigned: a_.vcvtudq2ps(r, source(op, 0)); return true;
    case Action::float_of_byte:
      a_.vpsrld(r, source(op, 0), 8U * operation.immediate);
      a_.vpandd(r, r, literals_.all_lanes(255));
      a_.vcvtdq2ps(r, r);
      return true;
    case Action::signed_of_float: {
      // The host gives 80000000 for all that does not fit.
      const Zmm x = source(op, 0);
      const Zmm most = registers_.read({Source::constant, 0x7FFFFFFF});
      a_.vcvttps2dq(r, x);
      a_.vcmpps(k2, x, literals_.all_lanes(0x4F000000), kAtLeast);  // 2^31
      a_.vmovdqa32(r | k2, most);
      a_.vcmpps(k2, x, x, kUnordered);
      a_.vpxord(r | k2, r, r);
      return true;
    }
    case Action::unsigned_of_float:
      // Zero for a NaN and for what is less; the host gives all ones for what is too large.
      a_.vmaxps(r, source(op, 0), literals_.all_lanes(0));
      a_.vcvttps2udq(r, r);
      return true;
    default: return false;
  }
}

// As min_f() and max_f() of the lanes: the other one where one is a NaN.
void SliceCode::choose_of_two(bool least, Zmm r, Zmm x, Zmm y) {
  a_.vcmpps(k2, x, x, kUnordered);
  if (least) {
    a_.vminps(result(r), y, x);
  } else {
    a_.vmaxps(result(r), y, x);
  }
  a_.vmovaps(r | k2, y);
}

bool SliceCode::floating(const MicroOp& op, Operation operation, Zmm r) {
  const bool is_mad = operation.action == Action::float_multiply_add;
  const bool flush = mode_flush_ || is_mad;
  const auto in = [&](std::size_t i) { return number(op, i, flush); };
  NanOrder order;
  if (operation.action == Action::float_add || operation.action == Action::float_multiply ||
      operation.action == Action::float_fused || is_mad) {
    const auto asked = nan_order_of(op, operation.action, mode_flush_);
    if (!asked) return false;
    order = *asked;
  }
  const std::size_t factor = order.second_factor ? 1 : 0;
  switch (operation.action) {
    case Action::float_add: {
      const std::size_t first = order.addend ? 1 : 0;
      const Zmm x = in(first);
      a_.vaddps(result(r), x, in(1 - first));
      break;
    }
    case Action::float_subtract: {
      const std::size_t first = operation.reversed ? 1 : 0;
      const Zmm x = in(first);
      a_.vsubps(result(r), x, in(1 - first));
      break;
    }
    case Action::float_multiply: {
      const Zmm x = in(factor);
      a_.vmulps(result(r), x, in(1 - factor));
      break;
    }
    case Action::float_multiply_add: {
      const Zmm x = in(factor);
      a_.vmulps(result(r), x, in(1 - factor));
      if (!hoping_) flush_denormals(r);
      const Zmm addend = in(2);
      if (order.addend) {
        a_.vaddps(result(r), addend, r);
      } else {
        a_.vaddps(result(r), r, addend);
      }
      break;
    }
    case Action::float_fused: {
      const Zmm x = in(factor);
      const Zmm y = in(1 - factor);
      a_.vmovaps(r, x);
      a_.vfmadd132ps(result(r), in(2), y);  // r * y + third
      break;
    }
    case Action::float_least:
    case Action::float_most: {
      const Zmm x = in(0);
      choose_of_two(operation.action == Action::float_least, r, x, in(1));
      break;
    }
    case Action::float_least_of_three:
    case Action::float_most_of_three: {
      const bool least = operation.action == Action::float_least_of_three;
      const Zmm two = registers_.fresh();
      const Zmm x = in(0);
      choose_of_two(least, two, x, in(1));
      choose_of_two(least, r, two, in(2));
      break;
    }
    case Action::float_median: {
      const Zmm x = in(0);
      const Zmm y = in(1);
      const Zmm z = in(2);
      const Zmm least = registers_.fresh();
      const Zmm most = registers_.fresh();
      choose_of_two(true, least, x, y);
      choose_of_two(false, most, x, y);
      choose_of_two(true, most, most, z);
      choose_of_two(false, r, least, most);
      // With a NaN among the three it is the least.
      choose_of_two(true, most, least, z);
      a_.vcmpps(k2, x, y, kUnordered);
      a_.vcmpps(k3, z, z, kUnordered);
      a_.korw(k2, k2, k3);
      a_.vmovaps(r | k2, most);
      break;
    }
    case Action::float_round: a_.vrndscaleps(r, in(0), operation.immediate); break;
    case Action::float_fraction: {
      const Zmm x = in(0);
      const Zmm most = registers_.read({Source::constant, 0x3F7FFFFF});
      a_.vrndscaleps(r, x, operation.immediate);
      a_.vsubps(r, x, r);
      a_.vcmpps(k2, r, literals_.all_lanes(kOne), kAtLeast);
      a_.vmovaps(r | k2, most);
      break;
    }
    case Action::float_reciprocal:
      a_.vdivps(result(r), registers_.read({Source::constant, kOne}), in(0));
      break;
    case Action::float_reciprocal_root:
      a_.vsqrtps(result(r), in(0));
      a_.vdivps(result(r), registers_.read({Source::constant, kOne}), r);
      break;
    case Action::float_root: a_.vsqrtps(result(r), in(0)); break;
    default: return false;
  }
  finish_float(r, flush);
  return true;
}

void SliceCode::finish_float(Zmm r, bool flush) {
  if (hoping_) return;
  a_.vpcmpeqd(k2, r, kHostNan);
  a_.vmovdqa32(r | k2, kDeviceNan);
  if (flush) flush_denormals(r);
}

void SliceCode::compare(const MicroOp& op, Operation operation) {
  const bool is_float = operation.action == Action::compare_float;
  const bool flush = is_float && mode_flush_;
  if (operation.action == Action::compare_class) {
    compare_class(op);
    return;
  }
  const Zmm x = number(op, 0, flush);
  const Zmm y = number(op, 1, flush);
  const Opmask out = new_mask();
  if (is_float) {
    a_.vcmpps(enabled(out), x, y, operation.immediate);
  } else if (operation.action == Action::compare_signed) {
    a_.vpcmpd(enabled(out), x, y, operation.immediate);
  } else {
    a_.vpcmpud(enabled(out), x, y, operation.immediate);
  }
  write_mask(op.destination2, out);
}

// Finds the number of each lane's class, from 0 to 9: a signalling and a quiet NaN, then negative
// infinity to positive infinity. Positive ones are 11 less the negative ones.
void SliceCode::compare_class(const MicroOp& op) {
  const Zmm x = number(op, 0, mode_flush_);
  const Zmm wanted = source(op, 1);
  const Zmm number = registers_.fresh();
  const auto set = [&](std::uint8_t host_class, std::uint32_t value) {
    const Zmm constant = registers_.read({Source::constant, value});
    a_.vfpclassps(k2, x, host_class);
    a_.vmovdqa32(number | k2, constant);
  };
  const Zmm eleven = registers_.read({Source::constant, 11});
  const Zmm normal = registers_.read({Source::constant, 3});
  a_.vmovdqa32(number, normal);
  set(kInfinities, 2);
  set(kDenormal, 4);
  set(kZeros, 5);
  a_.vptestnmd(k2, x, literals_.all_lanes(kSign));
  a_.vpsubd(number | k2, eleven, number);
  set(kQuietNan, 1);
  set(kSignallingNan, 0);
  a_.vpsrlvd(number, wanted, number);
  const Opmask out = new_mask();
  a_.vptestmd(enabled(out), number, literals_.all_lanes(1));
  write_mask(op.destination2, out);
}

}  // namespace ww::sim::gpu::exec::translate
