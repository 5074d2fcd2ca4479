#include "translate/slice_registers.hpp"

#include <algorithm>

#include "translate/operation.hpp"

namespace ww::sim::gpu::exec::translate {

using namespace Xbyak::util;  // the names of registers and operands
using Xbyak::Address;

std::size_t Literals::offset_of(std::uint32_t value) {
  const auto found = std::ranges::find(words_, value);
  const auto index = static_cast<std::size_t>(found - words_.begin());
  if (found == words_.end()) words_.push_back(value);
  return index * sizeof value;
}

Address Literals::word(std::uint32_t value) {
  return ptr[rip + label_ + static_cast<int>(offset_of(value))];
}

Address Literals::all_lanes(std::uint32_t value) {
  return ptr_b[rip + label_ + static_cast<int>(offset_of(value))];
}

void Literals::write() {
  assembler_.align(sizeof(std::uint32_t));
  assembler_.L(label_);
  for (const std::uint32_t value : words_) assembler_.dd(value);
}

Held source_of(const MicroOp& op, std::size_t i) {
  if (op.kind[i] != Source::constant) return {op.kind[i], op.source[i]};
  return {Source::constant, constant_of(op, i)};
}

namespace {

// A copy without denormals is made of the other.
bool is_of(const Held& source, const Held& held) {
  return source.kind == held.kind && source.number == held.number;
}

}  // namespace

void SliceRegisters::begin(std::size_t at, std::uint32_t slice) {
  at_ = at;
  slice_ = slice;
  for (Place& place : place_) {
    place.pinned = false;
    if (place.held.kind == Source::none) place.taken = false;
  }
}

Held SliceRegisters::of_this_slice(Held held) const {
  if (held.kind == Source::vgpr) held.slice = slice_;
  return held;
}

Address SliceRegisters::home(Held vector) {
  return ptr[kVectors + vector.number * kRegisterStep + vector.slice * kSliceBytes];
}

std::size_t SliceRegisters::next_use(Held held) const {
  // The instruction may still need it on this slice or on one that is still to come.
  const bool later = held.kind != Source::vgpr || held.slice >= slice_;
  for (std::size_t i = later ? at_ : at_ + 1; i < code_.size(); ++i) {
    const MicroOp& op = *code_[i];
    for (std::size_t source = 0; source < 3; ++source) {
      if (op.kind[source] != Source::none && is_of(source_of(op, source), held)) return i;
    }
    const bool target = op.result == Destination::vgpr && held.kind == Source::vgpr &&
                        op.destination == held.number;
    if (target) return masked_ ? i : code_.size();
  }
  return code_.size();
}

std::uint32_t SliceRegisters::free_place() {
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (!place_[i].taken) return i;
  }
  std::uint32_t best = kCount;
  std::size_t latest = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (place_[i].pinned || (retained_ && place_[i].dirty)) continue;
    const std::size_t use = 2 * next_use(place_[i].held) + (place_[i].dirty ? 0 : 1);
    if (best == kCount || use > latest) {
      best = i;
      latest = use;
    }
  }
  Place& place = place_[best];
  if (place.dirty) assembler_.vmovdqa32(home(place.held), Zmm(static_cast<int>(best)));
  place = {};
  return best;
}

bool SliceRegisters::crowded(const MicroOp& op) const {
  const auto dirty = static_cast<std::uint32_t>(std::ranges::count_if(place_, &Place::dirty));
  return dirty + (slices_ - 1) + registers_for(op) > kCount;
}

SliceRegisters::Zmm SliceRegisters::fresh() {
  const std::uint32_t i = free_place();
  place_[i] = {};
  place_[i].taken = place_[i].pinned = true;
  return Zmm(static_cast<int>(i));
}

std::optional<SliceRegisters::Zmm> SliceRegisters::find(Held held) {
  held = of_this_slice(held);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (!place_[i].taken || place_[i].held != held) continue;
    place_[i].pinned = true;
    return Zmm(static_cast<int>(i));
  }
  return std::nullopt;
}

SliceRegisters::Zmm SliceRegisters::hold(Held held) {
  const Zmm zmm = fresh();
  place_[zmm.getIdx()].held = of_this_slice(held);
  return zmm;
}

SliceRegisters::Zmm SliceRegisters::read(Held held) {
  if (const auto found = find(held)) return *found;
  const Zmm zmm = hold(held);
  if (held.kind == Source::vgpr) {
    assembler_.vmovdqa32(zmm, home(of_this_slice(held)));
  } else if (held.kind == Source::scalar) {
    assembler_.vbroadcastss(zmm, ptr[kScalars + held.number * sizeof(std::uint32_t)]);
  } else {
    assembler_.vbroadcastss(zmm, literals_.word(held.number));
    const std::uint32_t exponent = held.number & 0x7F800000U;
    place_[zmm.getIdx()].flushed = exponent != 0 || (held.number & 0x7FFFFFFFU) == 0;
  }
  return zmm;
}

void SliceRegisters::bind(std::uint32_t vector, Zmm result, bool flushed) {
  const Held held = of_this_slice({Source::vgpr, vector});
  for (Place& place : place_) {
    const bool is_same = is_of(place.held, held) && place.held.slice == held.slice;
    if (place.taken && is_same) place = {};
  }
  Place& place = place_[result.getIdx()];
  place.held = held;
  place.dirty = true;
  place.flushed = flushed;
}

void SliceRegisters::changed(Zmm target, bool flushed) {
  Place& place = place_[target.getIdx()];
  place.dirty = true;
  place.flushed = place.flushed && flushed;
  Held copy = place.held;
  copy.flushed = true;
  for (Place& other : place_) {
    if (other.taken && other.held == copy) other = {};
  }
}

std::vector<SliceRegisters::Zmm> SliceRegisters::results() const {
  std::vector<Zmm> results;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (place_[i].dirty) results.emplace_back(static_cast<int>(i));
  }
  return results;
}

void SliceRegisters::write_back() {
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (place_[i].dirty) {
      assembler_.vmovdqa32(home(place_[i].held), Zmm(static_cast<int>(i)));
    }
    place_[i] = {};
  }
}

}  // namespace ww::sim::gpu::exec::translate
