// Bits, shifts and whole numbers.
#include "fast/translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
bool SliceCode::integer(const MicroOp& op, Operation operation, Vector r) {
  const std::size_t first = operation.reversed ? 1 : 0;
  const std::size_t second = 1 - first;
  switch (operation.action) {
    case Action::move: host_.move(r, source(op, 0)); return true;
    case Action::bit_not: {
      const Vector x = source(op, 0);
      host_.bit_not(r, x);
      return true;
    }
    case Action::bit_and: {
      const auto [x, y] = either_order(op);
      host_.bit_and(r, x, y);
      return true;
    }
    case Action::bit_or: {
      const auto [x, y] = either_order(op);
      host_.bit_or(r, x, y);
      return true;
    }
    case Action::bit_xor: {
      const auto [x, y] = either_order(op);
      host_.bit_xor(r, x, y);
      return true;
    }
    case Action::bit_xnor:
      host_.move(r, source(op, 0));
      host_.combine(operation.action, r, source(op, 1), source(op, 1));
      return true;
    case Action::or_three:
    case Action::and_or:
    case Action::bit_select:
      host_.move(r, source(op, 0));
      host_.combine(operation.action, r, source(op, 1), source(op, 2));
      return true;
    case Action::add: {
      const auto [x, y] = either_order(op);
      a_.vpaddd(r, x, y);
      return true;
    }
    case Action::subtract: {
      const Value y = value(op, second);
      a_.vpsubd(r, source(op, first), y);
      return true;
    }
    case Action::add_three: {
      const auto [x, y] = either_order(op);
      a_.vpaddd(r, x, y);
      a_.vpaddd(r, r, value(op, 2));
      return true;
    }
    case Action::least: {
      const auto [x, y] = either_order(op);
      a_.vpminud(r, x, y);
      return true;
    }
    case Action::most: {
      const auto [x, y] = either_order(op);
      a_.vpmaxud(r, x, y);
      return true;
    }
    case Action::least_signed: {
      const auto [x, y] = either_order(op);
      a_.vpminsd(r, x, y);
      return true;
    }
    case Action::median:
    case Action::median_signed: {
      const bool is_signed = operation.action == Action::median_signed;
      const Vector x = source(op, 0);
      const Vector y = source(op, 1);
      const Vector z = source(op, 2);
      const Vector most = registers_.allocate();
      if (is_signed) {
        a_.vpmaxsd(most, x, y);
        a_.vpminsd(most, most, z);
        a_.vpminsd(r, x, y);
        a_.vpmaxsd(r, r, most);
      } else {
        a_.vpmaxud(most, x, y);
        a_.vpminud(most, most, z);
        a_.vpminud(r, x, y);
        a_.vpmaxud(r, r, most);
      }
      return true;
    }
    case Action::most_signed: {
      const auto [x, y] = either_order(op);
      a_.vpmaxsd(r, x, y);
      return true;
    }
    default: return false;
  }
}

bool SliceCode::with_mask(const MicroOp& op, Operation operation, Vector r) {
  const std::size_t first = operation.reversed ? 1 : 0;
  switch (operation.action) {
    case Action::choose: {
      const Mask take = read_mask(op.mask_source);
      const bool or_zero = is_in_memory(op, 0) && constant_of(op, 0) == 0 && op.vector.neg == 0;
      if (or_zero) {
        host_.take_or_zero(r, take, value(op, 1));
        return true;
      }
      const Vector otherwise = source(op, 0);
      host_.choose(r, take, otherwise, value(op, 1));
      return true;
    }
    case Action::add_carry_out: {
      const Vector x = source(op, 0);
      a_.vpaddd(r, x, source(op, 1));
      const Mask out = masks_.make();
      host_.compare_unsigned(enabled(out), r, x, Predicate::kLess);
      write_mask(op.destination2, out);
      return true;
    }
    case Action::subtract_carry_out: {
      const Vector x = source(op, first);
      const Vector y = source(op, 1 - first);
      a_.vpsubd(r, x, y);
      const Mask out = masks_.make();
      host_.compare_unsigned(enabled(out), x, y, Predicate::kLess);
      write_mask(op.destination2, out);
      return true;
    }
    case Action::add_carry: {
      const Mask in = read_mask(op.mask_source);
      const Vector x = source(op, 0);
      a_.vpaddd(r, x, source(op, 1));
      const Mask carry = masks_.spare(0);
      const Mask second_carry = masks_.spare(1);
      host_.compare_unsigned(carry, r, x, Predicate::kLess);
      const Value one = constant_value(1);
      host_.change_where(r, in, [&](Vector sum) { a_.vpaddd(sum, r, one); });
      host_.find_no_bit(within(second_carry, in), r, r);
      host_.mask_or(carry, carry, second_carry);
      const Mask out = masks_.make();
      if (masked_) {
        host_.mask_and(out, carry, host_.enabled());
      } else {
        host_.mask_move(out, carry);
      }
      write_mask(op.destination2, out);
      return true;
    }
    default: return false;
  }
}

Vector SliceCode::distance(const MicroOp& op, std::size_t i) {
  const Vector by = registers_.allocate();
  host_.bit_and(by, source(op, i), literals_.all_lanes(31));
  return by;
}

void SliceCode::shift(Shift kind, Vector r, Vector value, const MicroOp& op, std::size_t i) {
  std::uint32_t bits = 0;
  if (constant(op, i, bits)) {
    const auto by = static_cast<std::uint8_t>(bits & 31U);
    switch (kind) {
      case Shift::left: a_.vpslld(r, value, by); return;
      case Shift::right: a_.vpsrld(r, value, by); return;
      case Shift::right_signed: a_.vpsrad(r, value, by); return;
    }
  }
  const Vector by = distance(op, i);
  switch (kind) {
    case Shift::left: a_.vpsllvd(r, value, by); return;
    case Shift::right: a_.vpsrlvd(r, value, by); return;
    case Shift::right_signed: a_.vpsravd(r, value, by); return;
  }
}

bool SliceCode::shifts(const MicroOp& op, Operation operation, Vector r) {
  const std::size_t shifted = operation.reversed ? 1 : 0;
  switch (operation.action) {
    case Action::shift_left:
      shift(Shift::left, r, source(op, shifted), op, 1 - shifted);
      return true;
    case Action::shift_right:
      shift(Shift::right, r, source(op, shifted), op, 1 - shifted);
      return true;
    case Action::shift_right_signed:
      shift(Shift::right_signed, r, source(op, shifted), op, 1 - shifted);
      return true;
    case Action::shift_left_add:
      shift(Shift::left, r, source(op, 0), op, 1);
      a_.vpaddd(r, r, value(op, 2));
      return true;
    case Action::shift_left_or:
      shift(Shift::left, r, source(op, 0), op, 1);
      host_.bit_or(r, r, value(op, 2));
      return true;
    case Action::add_shift_left:
      a_.vpaddd(r, source(op, 0), source(op, 1));
      shift(Shift::left, r, r, op, 2);
      return true;
    case Action::align_bits: {
      // (first : second) >> distance: the first's bits move up by one and then 31 - distance.
      const Vector high = registers_.allocate();
      const Vector by = distance(op, 2);
      a_.vpslld(high, source(op, 0), 1);
      host_.bit_xor(r, by, literals_.all_lanes(31));
      a_.vpsllvd(high, high, r);
      a_.vpsrlvd(r, source(op, 1), by);
      host_.bit_or(r, r, high);
      return true;
    }
    case Action::extract: {
      std::uint32_t width = 0;
      shift(Shift::right, r, source(op, 0), op, 1);
      if (constant(op, 2, width)) {
        host_.bit_and(r, r, literals_.all_lanes((1U << (width & 31U)) - 1U));
        return true;
      }
      const Vector by = distance(op, 2);
      const Vector ones = registers_.allocate();
      host_.all_ones(ones);
      a_.vpsllvd(ones, ones, by);
      host_.and_not(r, ones, r);
      return true;
    }
    case Action::extract_signed: {
      // Where the width is 0, all is shifted out.
      shift(Shift::right_signed, r, source(op, 0), op, 1);
      const Vector width = distance(op, 2);
      const Vector by = registers_.allocate();
      const Vector thirty_two = registers_.read({Source::constant, 32});
      a_.vpsubd(by, thirty_two, width);
      a_.vpsllvd(r, r, by);
      a_.vpsravd(r, r, by);
      return true;
    }
    default: return false;
  }
}

void SliceCode::low_24(const MicroOp& op, std::size_t i, bool is_signed, Vector r) {
  const Vector x = source(op, i);
  if (!is_signed) {
    host_.bit_and(r, x, literals_.all_lanes(0xFFFFFF));
    return;
  }
  a_.vpslld(r, x, 8);
  a_.vpsrad(r, r, 8);
}

bool SliceCode::products(const MicroOp& op, Operation operation, Vector r) {
  switch (operation.action) {
    case Action::multiply: {
      const auto [x, y] = either_order(op);
      a_.vpmulld(r, x, y);
      return true;
    }
    case Action::multiply_high: {
      const Vector x = source(op, 0);
      const Vector y = source(op, 1);
      const Vector odd_x = registers_.allocate();
      const Vector odd_y = registers_.allocate();
      a_.vpsrlq(odd_x, x, 32);
      a_.vpsrlq(odd_y, y, 32);
      a_.vpmuludq(odd_x, odd_x, odd_y);
      a_.vpmuludq(r, x, y);
      a_.vpsrlq(r, r, 32);
      host_.take_odd_lanes(r, odd_x);
      return true;
    }
    case Action::multiply_24:
    case Action::multiply_24_signed:
    case Action::multiply_24_add:
    case Action::multiply_24_signed_add: {
      const bool is_signed = operation.action == Action::multiply_24_signed ||
                             operation.action == Action::multiply_24_signed_add;
      const Vector y = registers_.allocate();
      low_24(op, 0, is_signed, r);
      low_24(op, 1, is_signed, y);
      a_.vpmulld(r, r, y);
      if (operation.action == Action::multiply_24_add ||
          operation.action == Action::multiply_24_signed_add) {
        a_.vpaddd(r, r, value(op, 2));
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace ww::sim::gpu::exec::translate
