#include "fast/translate/slice_registers.hpp"

#include <algorithm>

#include "fast/translate/operation.hpp"

namespace ww::sim::gpu::exec::translate {

using namespace Xbyak::util;  // the names of registers and operands
using Xbyak::Address;

RegisterValue source_of(const MicroOp& op, std::size_t i, unsigned word) {
  if (op.kind[i] != Source::constant) return {op.kind[i], op.source[i] + word};
  return {Source::constant, constant_of(op, i, word)};
}

namespace {

// A copy without denormals is made of the other.
bool is_of(const RegisterValue& source, const RegisterValue& value) {
  return source.kind == value.kind && source.number == value.number && source.mask == value.mask;
}

bool reads(const MicroOp& op, const RegisterValue& value) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (unsigned word = 0; op.kind[i] != Source::none && word < words_of(op, i); ++word) {
      if (is_of(source_of(op, i, word), value)) return true;
    }
  }
  return false;
}

}  // namespace

void SliceRegisters::begin(std::size_t at, std::uint32_t slice) {
  at_ = at;
  slice_ = slice;
  for (Place& place : place_) {
    place.pinned = 0;
    if (place.value.kind == Source::none) place.taken = false;
  }
}

RegisterValue SliceRegisters::of_this_slice(RegisterValue value) const {
  if (value.kind == Source::vgpr || value.mask) value.slice = slice_;
  return value;
}

Address SliceRegisters::spill_slot(RegisterValue vector) const {
  return ptr[kVectors + vector.number * kRegisterStep + vector.slice * host_.shape().bytes()];
}

std::size_t SliceRegisters::next_use(RegisterValue value) const {
  // The instruction may still need it on this slice or on one that is still to come.
  const bool shared = value.kind != Source::vgpr && !value.mask;
  const bool later = shared || value.slice >= slice_;
  for (std::size_t i = later ? at_ : at_ + 1; i < code_.size(); ++i) {
    const MicroOp& op = *code_[i];
    if (value.mask) {
      if (op.vector.mask_in && op.mask_source == value.number) return i;
      if (writes_mask(op) && op.destination2 == value.number) return code_.size();
      continue;
    }
    if (reads(op, value)) return i;
    const bool target = value.kind == Source::vgpr && value.number >= op.destination &&
                        value.number - op.destination < results_of(op);
    if (target) return host_.masked() && !host_.is_narrow() ? i : code_.size();
  }
  return code_.size();
}

std::uint32_t SliceRegisters::free_place() {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!place_[i].taken) return i;
  }
  std::uint32_t best = count_;
  std::size_t latest = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (place_[i].pinned != 0 || (retained_ && place_[i].dirty)) continue;
    const std::size_t use = 2 * next_use(place_[i].value) + (place_[i].dirty ? 0 : 1);
    if (best == count_ || use > latest) {
      best = i;
      latest = use;
    }
  }
  if (best == count_) throw Xbyak::Error(Xbyak::ERR_INTERNAL);
  Place& place = place_[best];
  if (place.dirty) host_.store(spill_slot(place.value), host_.vector(best));
  place = {};
  return best;
}

bool SliceRegisters::crowded(const MicroOp& op) const {
  const auto dirty = static_cast<std::uint32_t>(std::ranges::count_if(place_, &Place::dirty));
  return dirty + registers_for_all(op, host_.vectors(), slices_) > count_;
}

Vector SliceRegisters::allocate() {
  const std::uint32_t i = free_place();
  place_[i] = {};
  place_[i].taken = true;
  place_[i].pinned = 1;
  return host_.vector(i);
}

std::optional<Vector> SliceRegisters::find(RegisterValue value) {
  value = of_this_slice(value);
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!place_[i].taken || place_[i].value != value) continue;
    ++place_[i].pinned;
    return host_.vector(i);
  }
  return std::nullopt;
}

Vector SliceRegisters::allocate_for(RegisterValue value) {
  const Vector vector = allocate();
  place_of(vector).value = of_this_slice(value);
  return vector;
}

Vector SliceRegisters::read(RegisterValue value) {
  if (const auto found = find(value)) return *found;
  const Vector vector = allocate_for(value);
  if (value.kind == Source::vgpr) {
    host_.load(vector, spill_slot(of_this_slice(value)));
  } else if (value.kind == Source::scalar) {
    host_.generator().vbroadcastss(vector, ptr[kScalars + value.number * sizeof(std::uint32_t)]);
  } else {
    host_.generator().vbroadcastss(vector, host_.literals().word(value.number));
    const std::uint32_t exponent = value.number & 0x7F800000U;
    place_of(vector).flushed = exponent != 0 || (value.number & 0x7FFFFFFFU) == 0;
  }
  return vector;
}

void SliceRegisters::bind(std::uint32_t vector, Vector result, bool flushed) {
  const RegisterValue value = of_this_slice({Source::vgpr, vector});
  for (Place& place : place_) {
    const bool is_same = is_of(place.value, value) && place.value.slice == value.slice;
    if (place.taken && is_same) place = {};
  }
  Place& place = place_of(result);
  place.value = value;
  place.dirty = true;
  place.flushed = flushed;
}

void SliceRegisters::bind_mask(std::uint32_t scalar, Vector mask) {
  for (Place& place : place_) {
    const RegisterValue& value = place.value;
    const bool overlaps = value.number + 1 >= scalar && value.number <= scalar + 1;
    if (place.taken && value.mask && value.slice == slice_ && overlaps) place = {};
  }
  place_of(mask).value = of_this_slice({Source::scalar, scalar, false, 0, true});
}

void SliceRegisters::release(Vector vector) {
  if (host_.is_narrow()) --place_of(vector).pinned;
}

void SliceRegisters::changed(Vector target, bool flushed) {
  Place& place = place_of(target);
  place.dirty = true;
  place.flushed = place.flushed && flushed;
  RegisterValue copy = place.value;
  copy.flushed = true;
  for (Place& other : place_) {
    if (other.taken && other.value == copy) other = {};
  }
}

std::vector<Suspect> SliceRegisters::suspects() const {
  std::vector<Suspect> found;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (place_[i].dirty && place_[i].suspected != 0) {
      found.push_back({host_.vector(i), place_[i].suspected});
    }
  }
  return found;
}

void SliceRegisters::write_back() {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (place_[i].dirty) host_.store(spill_slot(place_[i].value), host_.vector(i));
    place_[i] = {};
  }
}

}  // namespace ww::sim::gpu::exec::translate
