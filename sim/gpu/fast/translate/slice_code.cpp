#include "fast/translate/slice_code.hpp"

#include <utility>

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers and operands

// So much code is some hundred instructions: those of all four slices are within a host's reach at
// once. In longer parts each group would wait for its own results, one after the other, if these
// come in longer chains.
constexpr std::size_t kBytesTogether = 600;
constexpr std::uint32_t kChainTogether = 40;

const Xbyak::Address kStatus = dword[rsp - 8];  // in the red zone

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
    return slices_ < host_.shape().slices() && a_.getSize() - begin > kBytesTogether &&
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
      masks_.begin(slice_);
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

bool SliceCode::worth_hoping(std::span<const MicroOp* const> code, HostVectors vectors,
                             std::uint32_t slices) {
  constexpr std::size_t kFirst = 16;
  // AVX2 reads the flags twice as often, which takes a host about as long as 20 instructions.
  const int least = vectors == HostVectors::avx2 && slices == 1 ? 6 : 3;
  int found = 0;
  for (const MicroOp* op : code.first(std::min(kFirst, code.size()))) {
    const Operation operation = operation_of(op->opcode);
    if (!can_hope(*op, operation)) continue;
    const bool is_two =
        vectors == HostVectors::avx2 && operation.action == Action::float_multiply_add;
    found += is_two ? 2 : 1;
  }
  return found >= least;
}

void SliceCode::rule_out_sources(const MicroOp& op) {
  for (std::size_t i = 0; i < sources_of(op); ++i) {
    for (unsigned word = 0; op.kind[i] == Source::vgpr && word < words_of(op, i); ++word) {
      const auto found = registers_.find(source_of(op, i, word));
      if (!found) continue;
      registers_.release(*found);
      const Suspect suspect{*found, registers_.suspected(*found)};
      if (suspect.classes == 0) continue;
      give_up_at({&suspect, 1});
      registers_.ruled_out(*found);
    }
  }
}

void SliceCode::give_up_where(Mask lanes) {
  host_.jump_where_any(lanes, *careful_);
  may_give_up_ = true;
}

void SliceCode::give_up_at(std::span<const Suspect> suspects) {
  const Mask found = masks_.spare(0);
  const Mask other = host_.is_narrow() ? found : masks_.spare(1);
  host_.jump_where_suspect(suspects, found, other, *careful_);
  may_give_up_ = true;
}

void SliceCode::rule_out_results() {
  registers_.end();
  masks_.begin(0);
  const std::vector<Suspect> suspects = registers_.suspects();
  if (!suspects.empty()) give_up_at(suspects);
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

Vector SliceCode::source(const MicroOp& op, std::size_t i) {
  return modified(op, i, registers_.read(source_of(op, i)));
}

Vector SliceCode::modified(const MicroOp& op, std::size_t i, Vector held) {
  const bool abs = (op.vector.abs >> i & 1U) != 0;
  const bool neg = (op.vector.neg >> i & 1U) != 0;
  if (!abs && !neg) return held;
  const Vector made = registers_.allocate();
  if (abs && neg) {
    host_.bit_or(made, held, literals_.all_lanes(kSign));
  } else if (abs) {
    host_.bit_and(made, held, literals_.all_lanes(~kSign));
  } else {
    host_.bit_xor(made, held, literals_.all_lanes(kSign));
  }
  registers_.release(held);
  return made;
}

Vector SliceCode::number(const MicroOp& op, std::size_t i, bool flush) {
  RegisterValue source = source_of(op, i);
  const Vector value = registers_.read(source);
  // The host's flags report a denormal where it is hoped that there is none.
  if (!flush || hoping_ || registers_.flushed(value)) return modified(op, i, value);
  source.flushed = true;
  if (const auto found = registers_.find(source)) {
    registers_.release(value);
    return modified(op, i, *found);
  }
  const Vector copy = registers_.allocate_for(source);
  host_.move(copy, value);
  host_.flush_denormals(copy);
  registers_.release(value);
  return modified(op, i, copy);
}

Value SliceCode::number_value(const MicroOp& op, std::size_t i, bool flush) {
  if (!is_in_memory(op, i)) return number(op, i, flush);
  std::uint32_t word = constant_of(op, i);
  if (flush && (word & kExponent) == 0) word &= kSign;
  if ((op.vector.abs >> i & 1U) != 0) word &= ~kSign;
  if ((op.vector.neg >> i & 1U) != 0) word ^= kSign;
  return literals_.all_lanes(word);
}

SliceCode::TwoSources SliceCode::either_order(const MicroOp& op) {
  if (is_in_memory(op, 0)) return {source(op, 1), value(op, 0)};
  const Value y = value(op, 1);
  return {source(op, 0), y};
}

SliceCode::TwoSources SliceCode::two_numbers(const MicroOp& op, std::size_t i, std::size_t j,
                                             bool flush) {
  if (may_come_last(op, i)) std::swap(i, j);
  const Vector x = number(op, i, flush);
  return {x, number_value(op, j, flush)};
}

Value SliceCode::constant_value(std::uint32_t value) {
  if (host_.is_narrow()) return literals_.all_lanes(value);
  return registers_.read({Source::constant, value});
}

std::uint32_t SliceCode::home(std::uint32_t mask) const {
  return static_cast<std::uint32_t>(mask * sizeof(std::uint32_t)) +
         slice_ * host_.shape().mask_bytes();
}

Mask SliceCode::read_mask(std::uint32_t index) {
  if (const auto found = masks_.find(index)) return *found;
  if (!masks_written_.has_scalar(index, 1)) masks_read_.add_scalar(index, 1);
  const Mask mask = masks_.make();
  host_.load_mask(mask, home(index));
  masks_.keep(index, mask);
  return mask;
}

void SliceCode::write_mask(std::uint32_t index, Mask mask) {
  masks_.keep(index, mask);
  host_.store_mask(home(index), mask);
}

bool SliceCode::instruction(const MicroOp& op) {
  const Operation operation = operation_of(op.opcode);
  hoping_ = careful_ != nullptr && can_hope(op, operation);
  if (careful_ != nullptr && !hoping_) rule_out_sources(op);
  const bool makes_zero = mode_flush_ || flushes_always(operation.action);
  if (hoping_ && makes_zero) flags_ |= kDenormalOperand | kUnderflow;
  // The host reports a NaN among the sources of minimum and maximum: it may be a signalling one.
  if (hoping_ && mode_ieee_ && is_least_or_most(operation.action)) flags_ |= kInvalid;
  if (op.result == Destination::mask) {
    compare(op, operation);
    return true;
  }
  if (is_double(operation.action)) return doubles(op, operation);
  const Vector r = registers_.allocate();
  if (!integer(op, operation, r) && !with_mask(op, operation, r) && !shifts(op, operation, r) &&
      !products(op, operation, r) && !conversion(op, operation, r) && !floating(op, operation, r) &&
      !division(op, operation, r)) {
    return false;
  }
  const VectorFields& f = op.vector;
  if (f.clamp) {
    a_.vmaxps(r, r, literals_.all_lanes(0));
    a_.vminps(r, r, literals_.all_lanes(kOne));
  }
  const bool is_float =
      operation.action >= Action::float_add && operation.action <= Action::float_root;
  const bool flushed = is_float && makes_zero;
  const auto suspected = static_cast<std::uint8_t>(
      hoping_ ? kQuietNan | kSignallingNan | (makes_zero ? kDenormal : 0) : 0);
  set_vector(op.destination, r, flushed, suspected);
  return true;
}

void SliceCode::set_vector(std::uint32_t vector, Vector result, bool flushed,
                           std::uint8_t suspected) {
  if (!masked_ || host_.is_narrow()) {
    registers_.suspect(result, suspected);
    registers_.bind(vector, result, flushed);
    return;
  }
  const Vector target = registers_.read({Source::vgpr, vector});
  host_.take_where(target, host_.enabled(), result);
  registers_.suspect(target, suspected);
  registers_.changed(target, flushed);
}

}  // namespace ww::sim::gpu::exec::translate
