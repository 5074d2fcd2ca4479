// Floats: arithmetic, conversions, comparisons.
#include "fast/translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
bool SliceCode::conversion(const MicroOp& op, Operation operation, Vector r) {
  switch (operation.action) {
    case Action::float_of_signed: a_.vcvtdq2ps(r, source(op, 0)); return true;
    case Action::float_of_unsigned: host_.float_of_unsigned(r, source(op, 0)); return true;
    case Action::float_of_byte:
      a_.vpsrld(r, source(op, 0), 8U * operation.immediate);
      host_.bit_and(r, r, literals_.all_lanes(255));
      a_.vcvtdq2ps(r, r);
      return true;
    case Action::signed_of_float: {
      // The host gives 80000000 for all that does not fit.
      const Vector x = source(op, 0);
      const Value most = constant_value(0x7FFFFFFF);
      const Mask other = masks_.spare(0);
      a_.vcvttps2dq(r, x);
      host_.compare_float(other, x, literals_.all_lanes(0x4F000000), kAtLeast);  // 2^31
      host_.take_where(r, other, most);
      host_.compare_float(other, x, x, kUnordered);
      host_.zero_where(r, other);
      return true;
    }
    case Action::unsigned_of_float:
      // Zero for a NaN and for what is less; the host gives all ones for what is too large.
      a_.vmaxps(r, source(op, 0), literals_.all_lanes(0));
      host_.unsigned_of_float(r, host_.is_narrow() ? registers_.allocate() : r);
      return true;
    default: return false;
  }
}

// Does as min_f() and max_f() of the lanes: the other one where one is a NaN, but for a signalling
// NaN in IEEE mode, which is the result, quiet. Where x is r, it has been made here, without such.
void SliceCode::choose_of_two(bool least, Vector r, Vector x, Vector y) {
  const bool same = r.getIdx() == x.getIdx();
  host_.least_or_most(least, result(r), r, x, y);
  if (hoping_ || !mode_ieee_) return;
  const Mask signalling = masks_.spare(0);
  const auto take_quiet = [&](Vector source) {
    host_.find_class(signalling, source, kSignallingNan);
    host_.change_where(r, signalling, [&](Vector quiet) {
      host_.bit_or(quiet, source, literals_.all_lanes(kQuietBit));
    });
  };
  take_quiet(y);
  if (!same) take_quiet(x);
}

bool SliceCode::floating(const MicroOp& op, Operation operation, Vector r) {
  const bool is_mad = operation.action == Action::float_multiply_add;
  const bool flush = mode_flush_ || flushes_always(operation.action);
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
      const auto [x, y] = two_numbers(op, first, 1 - first, flush);
      a_.vaddps(result(r), x, y);
      break;
    }
    case Action::float_subtract: {
      const std::size_t first = operation.reversed ? 1 : 0;
      const Vector x = in(first);
      a_.vsubps(result(r), x, number_value(op, 1 - first, flush));
      break;
    }
    case Action::float_multiply: {
      const auto [x, y] = two_numbers(op, factor, 1 - factor, flush);
      a_.vmulps(result(r), x, y);
      break;
    }
    case Action::float_multiply_add: {
      const auto [x, y] = two_numbers(op, factor, 1 - factor, flush);
      a_.vmulps(result(r), x, y);
      if (!hoping_) host_.flush_denormals(r);
      if (order.addend && !may_come_last(op, 2)) {
        a_.vaddps(result(r), in(2), r);
      } else {
        a_.vaddps(result(r), r, number_value(op, 2, flush));
      }
      break;
    }
    case Action::float_fused: {
      const auto [x, y] = two_numbers(op, factor, 1 - factor, flush);
      a_.vmovaps(r, x);
      a_.vfmadd132ps(result(r), in(2), y);  // r * y + third
      break;
    }
    case Action::float_least:
    case Action::float_most: {
      const Vector x = in(0);
      choose_of_two(operation.action == Action::float_least, r, x, in(1));
      break;
    }
    case Action::float_least_of_three:
    case Action::float_most_of_three: {
      const bool least = operation.action == Action::float_least_of_three;
      const Vector two = registers_.allocate();
      const Vector x = in(0);
      choose_of_two(least, two, x, in(1));
      choose_of_two(least, r, two, in(2));
      break;
    }
    case Action::float_median: {
      const Vector x = in(0);
      const Vector y = in(1);
      const Vector z = in(2);
      const Vector other = registers_.allocate();
      const Vector most = registers_.allocate();
      const Mask unordered = masks_.spare(0);
      const Mask third = masks_.spare(1);
      // The greatest is left out; the result is the greater of the two others.
      choose_of_two(false, r, x, y);
      choose_of_two(false, most, r, z);
      choose_of_two(false, other, x, z);
      host_.compare_float(third, most, y, kFloatEqualOrdered);
      host_.take_float_where(r, third, other);
      choose_of_two(false, other, y, z);
      host_.compare_float(third, most, x, kFloatEqualOrdered);
      host_.take_float_where(r, third, other);
      // The result with a NaN among the three is the least.
      choose_of_two(true, other, x, y);
      choose_of_two(true, most, other, z);
      host_.compare_float(unordered, x, y, kUnordered);
      host_.compare_float(third, z, z, kUnordered);
      host_.mask_or(unordered, unordered, third);
      host_.take_float_where(r, unordered, most);
      break;
    }
    case Action::float_round: host_.round(r, in(0), operation.immediate); break;
    case Action::float_fraction: {
      const Vector x = in(0);
      const Value most = constant_value(0x3F7FFFFF);
      const Mask too_large = masks_.spare(0);
      host_.round(r, x, operation.immediate);
      a_.vsubps(r, x, r);
      host_.compare_float(too_large, r, literals_.all_lanes(kOne), kAtLeast);
      host_.take_float_where(r, too_large, most);
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

void SliceCode::finish_float(Vector r, bool flush) {
  if (hoping_) return;
  host_.make_device_nan(r);
  if (flush) host_.flush_denormals(r);
}

void SliceCode::compare(const MicroOp& op, Operation operation) {
  const bool is_float = operation.action == Action::compare_float;
  const bool flush = is_float && mode_flush_;
  if (operation.action == Action::compare_class) {
    compare_class(op);
    return;
  }
  const Vector x = number(op, 0, flush);
  const Value y = number_value(op, 1, flush);
  const Mask out = masks_.make();
  if (is_float) {
    host_.compare_float(enabled(out), x, y, operation.immediate);
  } else if (operation.action == Action::compare_signed) {
    host_.compare_signed(enabled(out), x, y, operation.immediate);
  } else {
    host_.compare_unsigned(enabled(out), x, y, operation.immediate);
  }
  write_mask(op.destination2, out);
}

// Finds the number of each lane's class, from 0 to 9: a signalling and a quiet NaN, then negative
// infinity to positive infinity. Positive ones are 11 less the negative ones.
void SliceCode::compare_class(const MicroOp& op) {
  const Vector x = number(op, 0, mode_flush_);
  const Vector wanted = source(op, 1);
  const Vector number = registers_.allocate();
  const Mask found = masks_.spare(0);
  const auto set = [&](std::uint8_t host_class, std::uint32_t value) {
    const Value constant = constant_value(value);
    host_.find_class(found, x, host_class);
    host_.take_where(number, found, constant);
  };
  const Vector eleven = registers_.read({Source::constant, 11});
  const Value normal = constant_value(3);
  host_.move(number, normal);
  set(kInfinities, 2);
  set(kDenormal, 4);
  set(kZeros, 5);
  host_.find_no_bit(found, x, literals_.all_lanes(kSign));
  host_.change_where(number, found, [&](Vector positive) { a_.vpsubd(positive, eleven, number); });
  set(kQuietNan, 1);
  set(kSignallingNan, 0);
  a_.vpsrlvd(number, wanted, number);
  const Mask out = masks_.make();
  host_.find_any_bit(enabled(out), number, literals_.all_lanes(1));
  write_mask(op.destination2, out);
}

}  // namespace ww::sim::gpu::exec::translate
