// Draws the sensor of a random chip from those that cards have.
#pragma once

#include "draw.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {

// The power and voltage that a card's driver shows. Half of the kinds have no energy accumulator.
enum class SensorKind {
  instrument,         // accumulator of current and voltage at the regulator, as IISWC'16 had it
  instinct_average,   // MI100, MI200: accumulator; a register that averages over seconds
  instinct,           // MI300: accumulator; a lagging register of whole watts
  instinct_guest,     // the same in a virtual machine: the register alone
  radeon,             // RDNA, Vega 20: whole watts without lag
  requested_voltage,  // Hawaii to Vega 10: the same, and a voltage that no load moves
  nvml_counter,       // A100, H100: accumulator each 100 ms; a register that sees a quarter
  nvml_register,      // NVIDIA before Volta: a register each 100 ms, or one with a lag
  count
};

// Replaces the instrument that `truth` has by a sensor of the kind. Gain, wander and noise stay as
// they were drawn, unless a recording says otherwise.
void draw_card_sensor(Draw& draw, SensorKind kind, Truth& truth);

}  // namespace ww::sim::gpu
