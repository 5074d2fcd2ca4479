// The sealed truth of a virtual chip: what its wires, leakage, heat flow, regulator and sensor
// really do. Forms and ranges: docs/virtual-gpu.md. Only the power side of sim/gpu reads this.
//
// Dynamic energy is kept as switched capacitance: energy [J] = capacitance [F] * V^2. A wire's
// single transition at ground capacitance C therefore counts C/2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/io_die_way.hpp"

namespace ww::sim::gpu {

// Order of a 64-byte beat's bits on neighbouring wires. Wires come in groups with a grounded shield
// on either side: 64 (straight) or 128 (two words interleaved bit by bit).
enum class BitOrder { straight, interleaved };

struct WireTruth {
  double ground_f_per_mm{};    // wire to ground, repeaters included
  double coupling_f_per_mm{};  // between two neighbouring wires
  BitOrder bit_order{BitOrder::straight};
  int interleave_stride{1};  // words k and k^stride share a group: 1, 2 or 4
  int park_after_cycles{8};  // a bus idle for longer rests at all ones
  int regrant_beats{24};     // so often the arbiter lets go of a busy bus, which then rests at ones
  double strobe_transitions{};  // valid and credit wires, per beat of a reply or write
  double request_strobes{};     // per request
  double flop_pitch_mm{};       // pipeline flops along a trunk
  double flop_data_f{};         // per toggling wire and flop
  double flop_clock_f{};        // per wire, beat and flop
  bool whole_flops{true};       // flops and stages are whole; otherwise they grow with length
  double registers_f_per_mm{};  // per toggling wire between L1 and registers
  // Beyond this length a trunk needs another hop: buffers that cost this much per payload
  // transition and, for the clock, per wire and beat. 0: never.
  double hop_after_mm{};
  double hop_data_f{};
  double hop_clock_f{};
  // Crossbar stages (multiplexers, arbiters, wider repeaters) that stand this far apart along a
  // trunk; 0: none. Each costs so much per payload beat, and per toggling wire.
  double stage_pitch_mm{};
  double stage_beat_f{};
  double stage_data_f{};
  // Relative growth of a trunk's capacitance per mm with each mm by which the trunk is longer than
  // the mean: long links get wider wires and stronger repeaters.
  double growth_per_mm{};
  // Extra capacitance per payload beat for an (engine, quadrant) pair: clock-domain crossings or
  // arbitration that only some pairs need. What all of them have is an expense of the crossbar's
  // ends, not of its ways. [engine * quadrants + quadrant]; empty: none.
  std::vector<double> pair_extra_f;
  // Relative factor of a pair's wires per mm (detailed routing); empty: 1.
  std::vector<double> pair_scale;
};

// The crossbar's own clock. It does not follow the core's states, and is never gated.
struct FabricTruth {
  double clock_hz{};
  double cycle_f{};          // switched by the clock itself, per cycle
  double mm_per_cycle{4.0};  // how far a signal travels in a fabric cycle
  int port_cycles{10};       // crossbar ports and arbiters, both ways, in fabric cycles
};

// Relative half-ranges of device-to-device variation, drawn uniformly from `seed`.
struct VariationTruth {
  std::uint64_t seed{};
  double trunk_capacitance{};  // each (engine, channel) link, per mm
  double trunk_detour{};       // each link's length
  double leg_capacitance{};    // each hub-to-CU leg
  double memory_capacitance{};
  double engine_offset{};  // energy per access at an engine (arbiters, L1)
  double slice_offset{};   // energy per access at a channel (banks)
};

// Switched capacitance per event [F].
struct EventTruth {
  double l2_access{};
  double l2_miss{};
  double transaction{};  // arbiters and queues, distance-independent
  double l1_access{};
  double l1_hit{};
  double gl1_hit{};  // a line of 64 bytes of the cache of a shader array
  double vector_instruction{};
  double vector_lane_operation{};
  double scalar_instruction{};
  double memory_instruction{};
  double lds_access{};
  double cu_busy_cycle{};
  double wave_resident_cycle{};
  double active_cycle{};  // chip-wide clocks while a launch runs
  double idle_cycle{};    // chip-wide clocks that are never gated
  // Shares of the energy of vector instructions and of L1, LDS and L2 accesses that follow the
  // toggles of the data: at t toggles a bit they cost 1 + share (2 t - 1) times as much. 0: none.
  double alu_value_share{};
  double sram_value_share{};
};

// The I/O dies of a chip of several compute dies, and the memory stacks on them. Energies are of a
// payload bit, request and control included, at voltages that nothing changes.
struct IoDieTruth {
  double compute_die_j{};     // between a compute die and the I/O die below it
  double row_hop_j{};         // over the link between I/O dies 0 and 1, or 2 and 3
  double column_hop_j{};      // between 1 and 2, or 3 and 0
  double infinity_cache_j{};  // access of a slice
  double memory_phy_j{};      // PHY and controller of a stack, on the I/O die
  double memory_j{};          // the stack itself
  double idle_w{};            // of all I/O dies
  double memory_idle_w{};     // of all stacks
  double link_wake_w{};       // of all links, while a launch crosses any: lanes sleep else

  // Links from an I/O die to another, on the ring 0-1-2-3-0.
  [[nodiscard]] double crossing_j(IoDieWay way) const {
    switch (way) {
      case IoDieWay::own: return 0;
      case IoDieWay::row: return row_hop_j;
      case IoDieWay::column: return column_hop_j;
      case IoDieWay::across: break;
    }
    return row_hop_j + column_hop_j;
  }
};

// The links between two dies without I/O dies, PHYs at both ends and the wires to them included. A
// bit's energy is that of a payload bit, request and control included.
struct XgmiTruth {
  double bit_j{};
  double idle_w{};      // of all links, always: clocks of lanes that do not sleep
  double wake_w{};      // while a launch crosses any: lanes sleep else
  double training_j{};  // each time that they wake
};

// The part behind the L2 of a chip of one die with an Infinity Cache. Energies are of a payload
// bit, request and control included, at voltages that nothing changes.
struct MemorySideTruth {
  double die_link_j{};        // to a memory die and its PHYs; 0: the cache is on the die
  double infinity_cache_j{};  // access of a slice
  double memory_phy_j{};      // PHY and controller of a memory channel
};

// The energy accumulators of a package's parts. A rail's gain of 0 is an accumulator that stands
// still.
struct RailsTruth {
  std::int64_t period_ns{};  // 0: the firmware meters no part apart
  double xcd_gain{1};        // compute dies
  double aid_gain{1};        // I/O dies: links, Infinity Cache, memory's PHYs
  double hbm_gain{1};        // memory stacks
  double noise_relative{};   // white, of the energy of a period
  double wander_relative{};  // of each gain, standard deviation; over the sensor's time
};

struct LeakageTruth {
  double reference_w{};  // whole chip at reference voltage and `reference_c`
  double reference_c{45.0};
  double flat_share{};             // does not depend on temperature
  double efold_c{};                // the rest grows e-fold in this many kelvin
  double voltage_exponent{};       // power ~ V^this
  std::vector<double> zone_share;  // engines, quadrants, middle; sums to 1
};

// Zones -> spreader -> heatsink -> ambient.
struct ThermalTruth {
  double zone_k_per_w{};  // one zone to the spreader
  double zone_tau_s{};
  double spreader_k_per_w{};  // to the heatsink
  double spreader_tau_s{};
  double sink_k_per_w{};  // to ambient
  double sink_tau_s{};
  double ambient_c{};
  double ambient_drift_c_per_hour{};
  double ambient_wander_c{};  // standard deviation of a slow random wander (fan, room)
  double ambient_wander_tau_s{1.0};
  double sensor_zone_weight{};  // the sensor sees this much of the middle zone, else the spreader
  double sensor_tau_s{};
  double sensor_offset_c{};
  double sensor_noise_c{};
  double sensor_resolution_c{};
  // Switched energy grows by so much per K beyond the leakage's reference temperature (currents
  // that flow while a gate switches); 0: wires and gates cost the same at any temperature.
  double dynamic_per_k{};
};

struct RegulatorTruth {
  double load_line_ohm{};
  // The sensor's shunt sees of the chip's power P [W]: offset + slope P + quadratic P^2.
  double offset_w{};
  double slope{1.0};
  double quadratic_per_w{};
  // Power of the chip [W] above which its firmware lowers clock and voltage of the cores; 0: none.
  double power_cap_w{};
};

struct SensorTruth {
  std::int64_t period_ns{1'000'000};
  std::int64_t window_ns{1'000'000};  // mean over so much time; below a period: the rest is unseen
  bool accumulator{true};             // also counts energy
  std::int64_t delay_ns{};
  double lag_s{};  // first-order filter behind the window; 0: none
  double gain{1.0};
  double noise_relative{};  // white, each tick
  double resolution_w{};
  double wander_relative{};  // slow gain wander, standard deviation
  double wander_tau_s{1.0};
  double flicker_relative{};     // 1/f gain noise between 0.1 and 1000 s, standard deviation
  double gain_per_k{};           // growth of the gain with temperature, from 45 C on
  double outlier_probability{};  // a tick's power register is off by up to outlier_relative
  double outlier_relative{};
  double missing_probability{};  // a tick gives no answer
  double voltage_resolution_v{};
  double voltage_noise_v{};
  bool voltage_shown{true};
  bool voltage_requested{};  // shows what the regulator is asked for (VID), which no load moves
};

struct Truth {
  ChipClass chip_class{ChipClass::nested};
  Geometry geometry;
  PublishedFloorplan published;
  WireTruth wires;
  FabricTruth fabric;
  VariationTruth variation;
  EventTruth events;
  IoDieTruth io_dies;  // of several dies
  RailsTruth rails;    // of several dies
  XgmiTruth xgmi;
  MemorySideTruth memory_side;
  LeakageTruth leakage;
  ThermalTruth thermal;
  RegulatorTruth regulator;
  SensorTruth sensor;

  // Derived by finish_truth() from the above.
  struct Link {
    double length_mm{};  // true routed length, detour included
    double scale{1.0};   // capacitance per mm, relative
  };
  std::vector<Link> trunks;        // [engine * channels + channel] channel to engine hub
  std::vector<Link> legs;          // [engine * cus + cu] hub to L1
  std::vector<Link> memory_links;  // [channel]
  std::vector<double> engine_scale;
  std::vector<double> slice_scale;
  std::vector<int> quadrant_of_channel;

  [[nodiscard]] int engines() const { return static_cast<int>(geometry.hubs.size()); }
  [[nodiscard]] int quadrants() const { return static_cast<int>(geometry.quadrants.size()); }
  [[nodiscard]] int channels() const { return static_cast<int>(geometry.l2_channels.size()); }
  [[nodiscard]] int zones() const { return engines() + quadrants() + 1; }
  // Mean true routed distance of an engine's CUs to a quadrant's channels [mm].
  [[nodiscard]] double routed_distance_mm(int engine, int quadrant) const;
};

// Checks shapes and fills the derived part. Errors: out_of_range naming what does not fit.
Status finish_truth(Truth& truth, const Architecture& architecture);

// Friend of Chip: the only way to make one.
class ChipBuilder {
 public:
  static Result<Chip> build(ChipRequest request, Architecture architecture, Truth truth,
                            std::string public_floorplan_toml);
};

}  // namespace ww::sim::gpu
