// Doubles: a wave has their lower words in one register and their upper words in the next one.
#include "fast/translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

// Upper word of x86's default NaN, where AMD makes a positive one; the lower word is 0.
constexpr std::uint32_t kHostNanAbove = 0xFFF80000;
constexpr std::uint32_t kOneAbove = 0x3FF00000;  // the upper word of 1
// vshufps: the lower words of two pairs of doubles, or the upper ones.
constexpr std::uint8_t kLowerWords = 0x88;
constexpr std::uint8_t kUpperWords = 0xDD;

}  // namespace

SliceCode::Doubles SliceCode::double_source(const MicroOp& op, std::size_t i) {
  const Vector low = registers_.read(source_of(op, i));
  const Vector high = modified(op, i, registers_.read(source_of(op, i, 1)));
  const Doubles made{registers_.allocate(), registers_.allocate()};
  // Within each 16 bytes of the host's register: the way back is the same.
  a_.vunpcklps(made.first, low, high);
  a_.vunpckhps(made.second, low, high);
  registers_.release(low);
  registers_.release(high);
  return made;
}

bool SliceCode::double_result(const MicroOp& op, Action action, Doubles& x, Doubles& spare) {
  const bool of_one = action >= Action::double_reciprocal;
  if (of_one) {
    x = double_source(op, 0);
    spare = {registers_.allocate(), registers_.allocate()};
    if (action != Action::double_reciprocal) {
      a_.vsqrtpd(x.first, x.first);
      a_.vsqrtpd(x.second, x.second);
    }
    if (action == Action::double_root) return true;
    const Vector zero = registers_.read({Source::constant, 0});
    a_.vunpcklps(spare.first, zero, registers_.read({Source::constant, kOneAbove}));
    a_.vdivpd(x.first, spare.first, x.first);
    a_.vdivpd(x.second, spare.first, x.second);
    return true;
  }
  const auto order = nan_order_of(op, action, mode_flush_);
  if (!order) return false;
  const bool second = action == Action::double_add ? order->addend : order->second_factor;
  x = double_source(op, second ? 1 : 0);
  spare = double_source(op, second ? 0 : 1);
  if (action == Action::double_add) {
    a_.vaddpd(x.first, x.first, spare.first);
    a_.vaddpd(x.second, x.second, spare.second);
  } else if (action == Action::double_multiply) {
    a_.vmulpd(x.first, x.first, spare.first);
    a_.vmulpd(x.second, x.second, spare.second);
  } else {
    const Doubles z = double_source(op, 2);
    a_.vfmadd132pd(x.first, z.first, spare.first);  // x * spare + z
    a_.vfmadd132pd(x.second, z.second, spare.second);
  }
  return true;
}

bool SliceCode::doubles(const MicroOp& op, Operation operation) {
  Doubles x;
  Doubles spare;
  if (!double_result(op, operation.action, x, spare)) return false;
  const Vector low = spare.first;
  const Vector high = spare.second;
  a_.vshufps(low, x.first, x.second, kLowerWords);
  a_.vshufps(high, x.first, x.second, kUpperWords);
  const Mask host_nan = masks_.spare(0);
  const Mask no_payload = masks_.spare(1);
  host_.compare_equal(host_nan, high, literals_.all_lanes(kHostNanAbove));
  host_.compare_equal(no_payload, low, literals_.all_lanes(0));
  host_.mask_and(host_nan, host_nan, no_payload);
  host_.change_where(high, host_nan, [&](Vector positive) {
    host_.bit_xor(positive, high, literals_.all_lanes(kSign));
  });
  set_vector(op.destination, low, false, 0);
  set_vector(op.destination + 1U, high, false, 0);
  return true;
}

}  // namespace ww::sim::gpu::exec::translate
