// The constants of a calibration of wires: their names and units, which follow what the campaign
// had for distance. The fit and the sealed truth take both from here.
#pragma once

#include <cstdint>
#include <string>

namespace ww {

enum class WireConstant : std::uint8_t {
  energy,  // of random payload: the answer
  wire_energy,
  zero_toggle_intercept,
  toggle_slope,
  throttled_energy,
  lock_in_energy,
  plateau_energy,
  coupling,
  neighbour_coupling,
  zero_bit_value,
  ones_intercept,
  aa_intercept,
  registers_l1_energy,
  l2_memory_energy,
  legs_energy,
  registers_l1_per_bit,
  fanout_link,
  voltage_exponent_along_curve,
  voltage_exponent,
  frequency_exponent,
};
// Millimetres of a floorplan, or nanoseconds of flight there and back.
enum class Distance : std::uint8_t { mm, ns };

// Whether it is an energy per distance. Others have one name and one unit.
[[nodiscard]] bool follows_distance(WireConstant constant);
[[nodiscard]] std::string name_of(WireConstant constant, Distance distance = Distance::mm);
[[nodiscard]] std::string unit_of(WireConstant constant, Distance distance = Distance::mm);

}  // namespace ww
