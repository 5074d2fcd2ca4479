#include "fast/translate/stretch.hpp"

#include "fast/forms/straight_line.hpp"
#include "fast/translate/form_code.hpp"
#include "fast/translate/operation.hpp"
#include "fast/translate/parts.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

// Slices of lanes go through a stretch one after the other. So a scalar register of which it writes
// a mask's part may be used as that mask alone.
class ScalarUse {
 public:
  // Whether the instruction may be in the same stretch as those before it.
  bool take(const MicroOp& op) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (op.kind[i] != Source::scalar) continue;
      if (written_.has_scalar(op.source[i], words_of(op, i))) return false;
      read_.add_scalar(op.source[i], words_of(op, i));
    }
    if (op.vector.mask_in && !take_mask(op.mask_source)) return false;
    if (op.result != Destination::mask && !op.vector.carry_out) return true;
    if (read_.has_scalar(op.destination2, 2) || !take_mask(op.destination2)) return false;
    written_.add_scalar(op.destination2, 2);
    return true;
  }

 private:
  // Takes the pair only if it is one of the masks, or apart from all of them.
  bool take_mask(std::uint16_t pair) {
    for (const std::uint16_t mask : masks_) {
      if (mask + 1 == pair || pair + 1 == mask) return false;
    }
    masks_.push_back(pair);
    return true;
  }

  RegisterSet read_;     // as words
  RegisterSet written_;  // in parts
  std::vector<std::uint16_t> masks_;
};

Translation code_of(const MicroOp& op, const std::optional<std::array<MicroOp, 2>>& parts,
                    bool by_form, bool flush) {
  if (by_form) return can_follow(op) ? Translation::forms : Translation::none;
  const bool can = parts ? can_translate((*parts)[0], flush) && can_translate((*parts)[1], flush)
                         : can_translate(op, flush);
  return can ? Translation::lanes : Translation::none;
}

}  // namespace

std::vector<Stretch> divide(const MicroOp* first, const std::vector<bool>& by_form, bool flush) {
  std::vector<Stretch> stretches;
  ScalarUse scalars;
  const MicroOp* op = first;
  for (std::size_t i = 0; i < by_form.size(); ++i, op += op->dwords) {
    const auto parts = has_parts(*op) ? parts_of(*op, flush) : std::nullopt;
    const Translation translation = code_of(*op, parts, by_form[i], flush);
    const bool on_lanes = translation == Translation::lanes;
    const auto take = [&] {
      return parts ? scalars.take((*parts)[0]) && scalars.take((*parts)[1]) : scalars.take(*op);
    };
    const bool begins =
        stretches.empty() || stretches.back().translation != translation || (on_lanes && !take());
    if (begins) {
      stretches.push_back({op, 0, translation, 0, 0});
      if (on_lanes) {
        scalars = {};
        if (!take()) stretches.back().translation = Translation::none;
      }
    }
    Stretch& stretch = stretches.back();
    ++stretch.count;
    stretch.reads |= op->reads & ~stretch.writes;
    stretch.writes |= op->writes;
  }
  return stretches;
}

}  // namespace ww::sim::gpu::exec::translate
