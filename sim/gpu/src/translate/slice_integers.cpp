// Bits, shifts and whole numbers.
#include "translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers and operands

// vpternlog: bits of the result for first, second and third source.
constexpr std::uint8_t kSelect = 0xCA;
constexpr std::uint8_t kXnor = 0xC3;
constexpr std::uint8_t kOrThree = 0xFE;
constexpr std::uint8_t kAndOr = 0xEA;
constexpr std::uint8_t kNotThird = 0x55;

}  // namespace

bool SliceCode::integer(const MicroOp& op, Operation operation, Zmm r) {
  const std::size_t first = operation.reversed ? 1 : 0;
  const std::size_t second = 1 - first;
  switch (operation.action) {
    case Action::move: a_.vmovdqa32(r, source(op, 0)); return true;
    case Action::bit_not: {
      const Zmm x = source(op, 0);
      a_.vpternlogd(r, x, x, kNotThird);
      return true;
    }
    case Action::bit_and: a_.vpandd(r, source(op, 0), source(op, 1)); return true;
    case Action::bit_or: a_.vpord(r, source(op, 0), source(op, 1)); return true;
    case Action::bit_xor: a_.vpxord(r, source(op, 0), source(op, 1)); return true;
    case Action::bit_xnor:
      a_.vmovdqa32(r, source(op, 0));
      a_.vpternlogd(r, source(op, 1), source(op, 1), kXnor);
      return true;
    case Action::or_three:
      a_.vmovdqa32(r, source(op, 0));
      a_.vpternlogd(r, source(op, 1), source(op, 2), kOrThree);
      return true;
    case Action::and_or:
      a_.vmovdqa32(r, source(op, 0));
      a_.vpternlogd(r, source(op, 1), source(op, 2), kAndOr);
      return true;
    case Action::bit_select:
      a_.vmovdqa32(r, source(op, 0));
      a_.vpternlogd(r, source(op, 1), source(op, 2), kSelect);
      return true;
    case Action::add: a_.vpaddd(r, source(op, 0), source(op, 1)); return true;
    case Action::subtract: a_.vpsubd(r, source(op, first), source(op, second)); return true;
    case Action::add_three:
      a_.vpaddd(r, source(op, 0), source(op, 1));
      a_.vpaddd(r, r, source(op, 2));
      return true;
    case Action::least: a_.vpminud(r, source(op, 0), source(op, 1)); return true;
    case Action::most: a_.vpmaxud(r, source(op, 0), source(op, 1)); return true;
    case Action::least_signed: a_.vpminsd(r, source(op, 0), source(op, 1)); return true;
    case Action::median:
    case Action::median_signed: {
      const bool is_signed = operation.action == Action::median_signed;
      const Zmm x = source(op, 0);
      const Zmm y = source(op, 1);
      const Zmm z = source(op, 2);
      const Zmm most = registers_.fresh();
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
    case Action::most_signed: a_.vpmaxsd(r, source(op, 0), source(op, 1)); return true;
    default: return false;
  }
}

bool SliceCode::with_mask(const MicroOp& op, Operation operation, Zmm r) {
  const std::size_t first = operation.reversed ? 1 : 0;
  switch (operation.action) {
    case Action::choose: {
      const Opmask take = read_mask(op.mask_source);
      const Zmm otherwise = source(op, 0);
      const Zmm taken = source(op, 1);
      a_.vpblendmd(r | take, otherwise, taken);
      return true;
    }
    case Action::add_carry_out: {
      const Zmm x = source(op, 0);
      a_.vpaddd(r, x, source(op, 1));
      const Opmask out = new_mask();
      a_.vpcmpud(enabled(out), r, x, Predicate::kLess);
      write_mask(op.destination2, out);
      return true;
    }
    case Action::subtract_carry_out: {
      const Zmm x = source(op, first);
      const Zmm y = source(op, 1 - first);
      a_.vpsubd(r, x, y);
      const Opmask out = new_mask();
      a_.vpcmpud(enabled(out), x, y, Predicate::kLess);
      write_mask(op.destination2, out);
      return true;
    }
    case Action::add_carry: {
      const Opmask in = read_mask(op.mask_source);
      const Zmm x = source(op, 0);
      a_.vpaddd(r, x, source(op, 1));
      a_.vpcmpud(k2, r, x, Predicate::kLess);
      const Zmm one = registers_.read({Source::constant, 1});
      a_.vpaddd(r | in, r, one);
      a_.vptestnmd(k3 | in, r, r);
      a_.korw(k2, k2, k3);
      const Opmask out = new_mask();
      if (masked_) {
        a_.kandw(out, k2, k1);
      } else {
        a_.kmovw(out, k2);
      }
      write_mask(op.destination2, out);
      return true;
    }
    default: return false;
  }
}

SliceCode::Zmm SliceCode::distance(const MicroOp& op, std::size_t i) {
  const Zmm by = registers_.fresh();
  a_.vpandd(by, source(op, i), literals_.all_lanes(31));
  return by;
}

void SliceCode::shift(Shift kind, Zmm r, Zmm value, const MicroOp& op, std::size_t i) {
  std::uint32_t bits = 0;
  if (constant(op, i, bits)) {
    const auto by = static_cast<std::uint8_t>(bits & 31U);
    switch (kind) {
      case Shift::left: a_.vpslld(r, value, by); return;
      case Shift::right: a_.vpsrld(r, value, by); return;
      case Shift::right_signed: a_.vpsrad(r, value, by); return;
    }
  }
  const Zmm by = distance(op, i);
  switch (kind) {
    case Shift::left: a_.vpsllvd(r, value, by); return;
    case Shift::right: a_.vpsrlvd(r, value, by); return;
    case Shift::right_signed: a_.vpsravd(r, value, by); return;
  }
}

bool SliceCode::shifts(const MicroOp& op, Operation operation, Zmm r) {
  const std::size_t value = operation.reversed ? 1 : 0;
  switch (operation.action) {
    case Action::shift_left: shift(Shift::left, r, source(op, value), op, 1 - value); return true;
    case Action::shift_right: shift(Shift::right, r, source(op, value), op, 1 - value); return true;
    case Action::shift_right_signed:
      shift(Shift::right_signed, r, source(op, value), op, 1 - value);
      return true;
    case Action::shift_left_add:
      shift(Shift::left, r, source(op, 0), op, 1);
      a_.vpaddd(r, r, source(op, 2));
      return true;
    case Action::shift_left_or:
      shift(Shift::left, r, source(op, 0), op, 1);
      a_.vpord(r, r, source(op, 2));
      return true;
    case Action::add_shift_left:
      a_.vpaddd(r, source(op, 0), source(op, 1));
      shift(Shift::left, r, r, op, 2);
      return true;
    case Action::align_bits: {
      // (first : second) >> distance: the first's bits move up by one and then 31 - distance.
      const Zmm high = registers_.fresh();
      const Zmm by = distance(op, 2);
      a_.vpslld(high, source(op, 0), 1);
      a_.vpxord(r, by, literals_.all_lanes(31));
      a_.vpsllvd(high, high, r);
      a_.vpsrlvd(r, source(op, 1), by);
      a_.vpord(r, r, high);
      return true;
    }
    case Action::extract: {
      std::uint32_t width = 0;
      shift(Shift::right, r, source(op, 0), op, 1);
      if (constant(op, 2, width)) {
        a_.vpandd(r, r, literals_.all_lanes((1U << (width & 31U)) - 1U));
        return true;
      }
      const Zmm by = distance(op, 2);
      const Zmm ones = registers_.fresh();
      a_.vpternlogd(ones, ones, ones, 0xFF);
      a_.vpsllvd(ones, ones, by);
      a_.vpandnd(r, ones, r);
      return true;
    }
    case Action::extract_signed: {
      // Where the width is 0, all is shifted out.
      shift(Shift::right_signed, r, source(op, 0), op, 1);
      const Zmm width = distance(op, 2);
      const Zmm by = registers_.fresh();
      const Zmm thirty_two = registers_.read({Source::constant, 32});
      a_.vpsubd(by, thirty_two, width);
      a_.vpsllvd(r, r, by);
      a_.vpsravd(r, r, by);
      return true;
    }
    default: return false;
  }
}

void SliceCode::low_24(const MicroOp& op, std::size_t i, bool is_signed, Zmm r) {
  const Zmm x = source(op, i);
  if (!is_signed) {
    a_.vpandd(r, x, literals_.all_lanes(0xFFFFFF));
    return;
  }
  a_.vpslld(r, x, 8);
  a_.vpsrad(r, r, 8);
}

bool SliceCode::products(const MicroOp& op, Operation operation, Zmm r) {
  switch (operation.action) {
    case Action::multiply: a_.vpmulld(r, source(op, 0), source(op, 1)); return true;
    case Action::multiply_high: {
      const Zmm x = source(op, 0);
      const Zmm y = source(op, 1);
      const Zmm odd_x = registers_.fresh();
      const Zmm odd_y = registers_.fresh();
      a_.vpsrlq(odd_x, x, 32);
      a_.vpsrlq(odd_y, y, 32);
      a_.vpmuludq(odd_x, odd_x, odd_y);
      a_.vpmuludq(r, x, y);
      a_.vpsrlq(r, r, 32);
      a_.mov(eax, 0xAAAA);
      a_.kmovw(k2, eax);
      a_.vmovdqa32(r | k2, odd_x);
      return true;
    }
    case Action::multiply_24:
    case Action::multiply_24_signed:
    case Action::multiply_24_add:
    case Action::multiply_24_signed_add: {
      const bool is_signed = operation.action == Action::multiply_24_signed ||
                             operation.action == Action::multiply_24_signed_add;
      const Zmm y = registers_.fresh();
      low_24(op, 0, is_signed, r);
      low_24(op, 1, is_signed, y);
      a_.vpmulld(r, r, y);
      if (operation.action == Action::multiply_24_add ||
          operation.action == Action::multiply_24_signed_add) {
        a_.vpaddd(r, r, source(op, 2));
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace ww::sim::gpu::exec::translate
