#include "fast/translate/slice_masks.hpp"

namespace ww::sim::gpu::exec::translate {

void SliceMasks::begin(std::uint32_t slice) {
  slice_ = slice;
  spare_ = {};
}

Mask SliceMasks::make() {
  if (host_.is_narrow()) return {registers_.allocate().getIdx()};
  const std::uint32_t place = next_++ % static_cast<std::uint32_t>(held_.size());
  held_[place] = {};
  return {static_cast<int>(kFirstHeld + place)};
}

Mask SliceMasks::spare(std::uint32_t i) {
  if (!host_.is_narrow()) return {kFirstSpare + static_cast<int>(i)};
  if (!spare_[i]) spare_[i] = Mask{registers_.allocate().getIdx()};
  return *spare_[i];
}

std::optional<Mask> SliceMasks::find(std::uint32_t scalar) {
  if (host_.is_narrow()) {
    const auto vector = registers_.find({Source::scalar, scalar, false, slice_, true});
    if (!vector) return std::nullopt;
    return Mask{vector->getIdx()};
  }
  const HeldMask held{scalar, slice_};
  for (std::uint32_t i = 0; i < held_.size(); ++i) {
    if (held_[i] == held) return Mask{static_cast<int>(kFirstHeld + i)};
  }
  return std::nullopt;
}

void SliceMasks::keep(std::uint32_t scalar, Mask mask) {
  if (host_.is_narrow()) {
    registers_.bind_mask(scalar, host_.vector(static_cast<std::uint32_t>(mask.index)));
    return;
  }
  for (HeldMask& of : held_) {
    const bool overlaps = of.scalar + 1 >= scalar && of.scalar <= scalar + 1;
    if (of.slice == slice_ && overlaps) of = {};
  }
  held_[static_cast<std::uint32_t>(mask.index) - kFirstHeld] = {scalar, slice_};
}

}  // namespace ww::sim::gpu::exec::translate
