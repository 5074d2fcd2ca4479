#include "translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers and operands

}  // namespace

void SliceCode::write_constants() {
  a_.vbroadcastss(kHostNan, literals_.word(0xFFC00000));
  a_.vbroadcastss(kDeviceNan, literals_.word(0x7FC00000));
}

bool SliceCode::write() {
  for (std::size_t at = 0; at < code_.size(); ++at) {
    registers_.begin(at);
    if (!instruction(*code_[at])) return false;
  }
  registers_.write_back();
  return true;
}

bool SliceCode::constant(const MicroOp& op, std::size_t i, std::uint32_t& value) {
  if (op.kind[i] != Source::constant || ((op.vector.abs | op.vector.neg) >> i & 1U) != 0) {
    return false;
  }
  value = source_of(op, i).number;
  return true;
}

SliceCode::Zmm SliceCode::source(const MicroOp& op, std::size_t i) {
  return modified(op, i, registers_.read(source_of(op, i)));
}

SliceCode::Zmm SliceCode::modified(const MicroOp& op, std::size_t i, Zmm held) {
  const bool abs = (op.vector.abs >> i & 1U) != 0;
  const bool neg = (op.vector.neg >> i & 1U) != 0;
  if (!abs && !neg) return held;
  const Zmm made = registers_.fresh();
  if (abs && neg) {
    a_.vpord(made, held, literals_.all_lanes(kSign));
  } else if (abs) {
    a_.vpandd(made, held, literals_.all_lanes(~kSign));
  } else {
    a_.vpxord(made, held, literals_.all_lanes(kSign));
  }
  return made;
}

SliceCode::Zmm SliceCode::number(const MicroOp& op, std::size_t i, bool flush) {
  Held held = source_of(op, i);
  const Zmm value = registers_.read(held);
  if (!flush || registers_.flushed(value)) return modified(op, i, value);
  held.flushed = true;
  if (const auto found = registers_.find(held)) return modified(op, i, *found);
  const Zmm copy = registers_.hold(held);
  a_.vmovdqa32(copy, value);
  flush_denormals(copy);
  return modified(op, i, copy);
}

void SliceCode::flush_denormals(Zmm r) {
  a_.vfpclassps(k2, r, kDenormal);
  a_.vpandd(r | k2, r, literals_.all_lanes(kSign));
}

SliceCode::Opmask SliceCode::new_mask() {
  const std::uint32_t place = next_mask_++ % static_cast<std::uint32_t>(mask_of_.size());
  mask_of_[place] = kNoMask;
  return Opmask(static_cast<int>(kFirstMask + place));
}

SliceCode::Opmask SliceCode::read_mask(std::uint32_t index) {
  for (std::uint32_t i = 0; i < mask_of_.size(); ++i) {
    if (mask_of_[i] == index) return Opmask(static_cast<int>(kFirstMask + i));
  }
  const Opmask mask = new_mask();
  a_.kmovw(mask, word[kMasks + index * sizeof(std::uint32_t)]);
  mask_of_[mask.getIdx() - kFirstMask] = index;
  return mask;
}

void SliceCode::write_mask(std::uint32_t index, Opmask mask) {
  for (std::uint32_t& of : mask_of_) {
    if (of != kNoMask && of + 1 >= index && of <= index + 1) of = kNoMask;
  }
  mask_of_[mask.getIdx() - kFirstMask] = index;
  a_.kmovw(word[kMasks + index * sizeof(std::uint32_t)], mask);
}

bool SliceCode::instruction(const MicroOp& op) {
  const Operation operation = operation_of(op.opcode);
  if (op.result == Destination::mask) {
    compare(op, operation);
    return true;
  }
  const Zmm r = registers_.fresh();
  if (!integer(op, operation, r) && !with_mask(op, operation, r) && !shifts(op, operation, r) &&
      !products(op, operation, r) && !conversion(op, operation, r) && !floating(op, operation, r) &&
      !division(op, operation, r)) {
    return false;
  }
  const VectorFields& f = op.vector;
  if (f.omod != 0) {
    constexpr std::array<std::uint32_t, 4> kFactor{kOne, 0x40000000, 0x40800000, 0x3F000000};
    a_.vmulps(r, r, literals_.all_lanes(kFactor[f.omod & 3U]));
  }
  if (f.clamp) {
    a_.vmaxps(r, r, literals_.all_lanes(0));
    a_.vminps(r, r, literals_.all_lanes(kOne));
  }
  const bool is_mad = operation.action == Action::float_multiply_add;
  const bool is_float =
      operation.action >= Action::float_add && operation.action <= Action::float_root;
  const bool flushed = is_float && (mode_flush_ || is_mad) && f.omod == 0;
  if (!masked_) {
    registers_.bind(op.destination, r, flushed);
    return true;
  }
  const Zmm target = registers_.read({Source::vgpr, op.destination});
  a_.vmovdqa32(target | k1, r);
  registers_.changed(target, flushed);
  return true;
}
}  // namespace ww::sim::gpu::exec::translate
