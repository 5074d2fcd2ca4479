#include "ww/model/counted_data.hpp"

#include <cmath>

namespace ww::model {
namespace {
constexpr double kMaxTogglesOfWire = 2;
constexpr double kMaxNeighbours = 2;
}  // namespace

CountedData counted_data(const WireActivity& wires, double bytes) {
  const double bits = 8 * bytes;
  return {wires.toggles / bits, wires.slot_bits / bits,
          wires.toggles > 0 ? wires.coupling() / wires.toggles : 0};
}

bool is_possible(const CountedData& data) {
  return data.toggle_rate >= 0 && data.toggle_rate <= kMaxTogglesOfWire * data.wires_per_bit &&
         std::abs(data.coupling_per_toggle) <= kMaxNeighbours;
}

}  // namespace ww::model
