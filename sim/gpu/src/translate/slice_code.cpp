#include "translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers and operands

// So much code is some hundred instructions: those of all four slices are within a host's reach at
// once. In longer parts each group would wait for its own results, one after the other, if these
// come in longer chains.
constexpr std::size_t kBytesTogether = 600;
constexpr std::uint32_t kChainTogether = 40;

const Xbyak::Address kStatus = dword[rsp - 8];  // in the red zone

bool writes_mask(const MicroOp& op) {
  return op.result == Destination::mask || op.vector.carry_out;
}

}  // namespace

void SliceCode::clear_flags(Xbyak::CodeGenerator& assembler) {
  Xbyak::Label clear;
  assembler.stmxcsr(kStatus);
  assembler.test(kStatus, kAllFlags);
  assembler.jz(clear);
  assembler.and_(kStatus, ~std::uint32_t{kAllFlags});
  assembler.ldmxcsr(kStatus);
  assembler.L(clear);
}

std::size_t SliceCode::write() {
  const std::size_t begin = a_.getSize();
  std::size_t at = 0;
  Chain chain;
  const auto long_enough = [&] {
    return slices_ < kSlices && a_.getSize() - begin > kBytesTogether &&
           chain.length() > kChainTogether;
  };
  for (; at < code_.size(); ++at) {
    const MicroOp& op = *code_[at];
    if (long_enough()) break;
    chain.add(op);
    if (careful_ != nullptr && at != 0) {
      if (registers_.crowded(op) || loses_mask(op) || loses_mask(*code_[at - 1])) break;
    }
    for (slice_ = 0; slice_ < slices_; ++slice_) {
      registers_.begin(at, slice_);
      if (!instruction(op)) return 0;
    }
    if (writes_mask(op)) masks_written_.add_scalar(op.destination2, 1);
  }
  rule_out_results();
  registers_.write_back();
  return at;
}

bool SliceCode::loses_mask(const MicroOp& op) const {
  if (!writes_mask(op)) return false;
  const bool reads_it = op.vector.mask_in && op.mask_source == op.destination2 &&
                        !masks_written_.has_scalar(op.destination2, 1);
  return reads_it || masks_read_.has_scalar(op.destination2, 1);
}

bool SliceCode::worth_hoping(std::span<const MicroOp* const> code) {
  constexpr std::size_t kFirst = 16;
  constexpr int kLeast = 3;
  int found = 0;
  for (const MicroOp* op : code.first(std::min(kFirst, code.size()))) {
    found += can_hope(*op, operation_of(op->opcode)) ? 1 : 0;
  }
  return found >= kLeast;
}

void SliceCode::find_suspects(Zmm r, Opmask found) {
  a_.vfpclassps(masked_ ? found | k1 : found, r, registers_.suspected(r));
  registers_.ruled_out(r);
}

void SliceCode::rule_out_sources(const MicroOp& op) {
  for (std::size_t i = 0; i < sources_of(op); ++i) {
    if (op.kind[i] != Source::vgpr) continue;
    const auto found = registers_.find(source_of(op, i));
    if (!found || registers_.suspected(*found) == 0) continue;
    find_suspects(*found, k2);
    give_up_where(k2);
  }
}

void SliceCode::give_up_where(Opmask lanes) {
  a_.kortestw(lanes, lanes);
  a_.jnz(*careful_, Xbyak::CodeGenerator::T_NEAR);
  may_give_up_ = true;
}

void SliceCode::rule_out_results() {
  bool found = false;
  for (const Zmm r : registers_.results()) {
    if (registers_.suspected(r) == 0) continue;
    find_suspects(r, found ? k3 : k2);
    if (found) a_.korw(k2, k2, k3);
    found = true;
  }
  if (found) give_up_where(k2);
  if (flags_ == 0) return;
  a_.stmxcsr(kStatus);
  a_.test(kStatus, flags_);
  a_.jnz(*careful_, Xbyak::CodeGenerator::T_NEAR);
  may_give_up_ = true;
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
  // The host's flags tell of a denormal where it is hoped that there is none.
  if (!flush || hoping_ || registers_.flushed(value)) return modified(op, i, value);
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
  mask_of_[place] = {};
  return Opmask(static_cast<int>(kFirstMask + place));
}

Xbyak::Address SliceCode::home(std::uint32_t mask) const {
  return word[kMasks + mask * sizeof(std::uint32_t) + slice_ * kSliceMaskBytes];
}

SliceCode::Opmask SliceCode::read_mask(std::uint32_t index) {
  const HeldMask held{index, slice_};
  for (std::uint32_t i = 0; i < mask_of_.size(); ++i) {
    if (mask_of_[i] == held) return Opmask(static_cast<int>(kFirstMask + i));
  }
  if (!masks_written_.has_scalar(index, 1)) masks_read_.add_scalar(index, 1);
  const Opmask mask = new_mask();
  a_.kmovw(mask, home(index));
  mask_of_[mask.getIdx() - kFirstMask] = held;
  return mask;
}

void SliceCode::write_mask(std::uint32_t index, Opmask mask) {
  for (HeldMask& of : mask_of_) {
    const bool overlaps = of.index + 1 >= index && of.index <= index + 1;
    if (of.slice == slice_ && overlaps) of = {};
  }
  mask_of_[mask.getIdx() - kFirstMask] = {index, slice_};
  a_.kmovw(home(index), mask);
}

bool SliceCode::instruction(const MicroOp& op) {
  const Operation operation = operation_of(op.opcode);
  hoping_ = careful_ != nullptr && can_hope(op, operation);
  if (careful_ != nullptr && !hoping_) rule_out_sources(op);
  const bool makes_zero = mode_flush_ || operation.action == Action::float_multiply_add;
  if (hoping_ && makes_zero) flags_ = kDenormalOperand | kUnderflow;
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
  const bool is_float =
      operation.action >= Action::float_add && operation.action <= Action::float_root;
  const bool flushed = is_float && makes_zero && f.omod == 0;
  const auto suspected = static_cast<std::uint8_t>(
      hoping_ ? kQuietNan | kSignallingNan | (makes_zero ? kDenormal : 0) : 0);
  if (!masked_) {
    registers_.suspect(r, suspected);
    registers_.bind(op.destination, r, flushed);
    return true;
  }
  const Zmm target = registers_.read({Source::vgpr, op.destination});
  a_.vmovdqa32(target | k1, r);
  registers_.suspect(target, suspected);
  registers_.changed(target, flushed);
  return true;
}
}  // namespace ww::sim::gpu::exec::translate
