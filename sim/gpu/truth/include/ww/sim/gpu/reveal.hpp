// Opens the seal, for `wirewatt score` alone, after a fit. Nothing else can include this header,
// because nothing else but drivers links ww_sim_gpu_truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/channel_map.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

struct RevealedConstant {
  std::string name;  // the same names as model.json's constants
  double truth{};    // on the chip
  double sensed{};   // as any fit could at best see it (see below)
  std::string unit;
};

struct Revealed {
  // Extra interconnect energy for independent random payload bits at the reference voltage and
  // frequency, per payload bit and extra true millimetre, found by running the accounting
  // on random bits for every engine and quadrant and taking the engine-quadrant interaction of
  // energy on that of distance. Not a formula.
  double energy_fj_per_bit_mm{};
  // energy_fj_per_bit_mm times sensor gain and marginal regulator efficiency at the operating
  // point, per *published* millimetre: a fit cannot distinguish this product from the truth.
  double sensed_fj_per_bit_mm{};
  // Gain times marginal efficiency, the sensor's factor in the figure above. The rest is distance.
  double sensor_factor{};
  // Sensed energy per nanosecond of flight there and back, as a campaign measured it.
  double sensed_fj_per_bit_ns{};
  // Energy of the payload's wires alone, per random payload bit and mm of wire: their capacitance
  // to ground and to each other as random bits charge it, mean over the chip's trunks. No flop,
  // stage, hop, request or clock, and no interaction: it does not depend on how a fit defines its
  // own figure.
  double wire_fj_per_bit_mm{};
  // Transitions of request and tag wires per payload bit of those streams: an order of addresses
  // that toggles them otherwise has another k.
  double control_toggles_per_bit{};
  std::vector<RevealedConstant> constants;  // the above among them, zero-toggle intercept, slope...
  ChipClass chip_class{};
};

// Flight of a request and its reply [ns], [engine as programs see it][quadrant]; what a row or a
// column has of its own does not matter.
using FlightTable = std::vector<std::vector<double>>;

// `measured_ns`: what a campaign takes for distance; empty: flight in whole cycles of the core's
// clock. Error invalid_argument: a table of another shape.
[[nodiscard]] Result<Revealed> reveal(const Chip& chip, const FlightTable& measured_ns = {});

// A way between the dies of a package [pJ/bit]. `sensed` is the truth times the gain of the rail
// that meters it. Names are those of model.json's hop_classes.
struct RevealedWay {
  std::string name;
  double truth_pj{}, sensed_pj{};
};
// Empty for a chip of one die.
[[nodiscard]] std::vector<RevealedWay> reveal_ways(const Chip& chip);

// Power that the sensor shows of a chip that draws `chip_w`, without noise, when nothing changes;
// and the chip's power behind what it shows.
[[nodiscard]] double sensed_power_w(const Chip& chip, double chip_w);
[[nodiscard]] double power_behind_sensor_w(const Chip& chip, double sensed_w);
// The core's voltage in the reference state under load. `idle_w` is of the whole chip; `dynamic_w`
// is what launches draw from the core's rail at the state's own voltage.
[[nodiscard]] double loaded_voltage_v(const Chip& chip, double idle_w, double dynamic_w);

// Shares of the energy of vector instructions, and of accesses to L1, local memory and L2, that
// follow the data: at t toggles a bit it is 1 + share (2t - 1) times that of random data.
struct RevealedValues {
  double alu_share{}, sram_share{};
};
[[nodiscard]] RevealedValues reveal_values(const Chip& chip);

// The quadrant in which a byte of device memory lives, by its address as kernels see it. The chip
// must outlive this.
class TrueHomes {
 public:
  explicit TrueHomes(const Chip& chip);
  [[nodiscard]] int home_of(std::uint64_t address) const;

 private:
  const Chip& chip_;
  ChannelLookup lookup_;
};

}  // namespace ww::sim::gpu
