#include "file/truth_keys.hpp"

#include <algorithm>
#include <tuple>

#include "prefixes.hpp"

namespace ww::sim::gpu {
namespace {

constexpr std::string_view kKeckler = "Keckler et al. 2011 imply 593 fF/mm in all";
constexpr std::string_view kDraws = "ranges";
constexpr std::string_view kIoDies = "virtual:mi300x";
constexpr std::string_view kRdna = "virtual:rx6800";
constexpr std::string_view kShape = "dynamic energy";
constexpr double kMilli = 1e-3;
constexpr double kMicro = 1e-6;

// Where a row names no member, the reader of its table reads it.
constexpr TomlKey<WireTruth> kWireKeys[] = {
    {"ground_ff_per_mm", &WireTruth::ground_f_per_mm, 0, 5000, "fF/mm",
     "Wire to ground, repeaters included", kKeckler, kFemto},
    {"coupling_ff_per_mm", &WireTruth::coupling_f_per_mm, 0, 5000, "fF/mm",
     "Between two neighbouring wires", kKeckler, kFemto},
    {"bit_order", {}, 0, 0, "", "Order of the bits on the wires: straight or interleaved", kShape},
    {"interleave_stride", &WireTruth::interleave_stride, 1, 4, "",
     "Words k and k^stride share a group of wires: 1, 2 or 4", kShape},
    {"park_after_cycles", &WireTruth::park_after_cycles, 1, 1'000'000, "cycles",
     "Idle time after which a bus rests at all ones", kShape},
    {"regrant_beats", &WireTruth::regrant_beats, 1, 1'000'000, "beats",
     "Beats after which the arbiter lets go of a busy bus", kShape},
    {"strobe_transitions", &WireTruth::strobe_transitions, 0, 512, "",
     "Transitions of valid and credit wires, each beat", kShape},
    {"request_strobes", &WireTruth::request_strobes, 0, 512, "",
     "Transitions of valid and credit wires, each request", kShape},
    {"flop_pitch_mm", &WireTruth::flop_pitch_mm, 0.1, 100, "mm", "Distance of a trunk's flops",
     kDraws},
    {"flop_data_ff", &WireTruth::flop_data_f, 0, 1000, "fF", "Flop, each wire that toggles", kDraws,
     kFemto},
    {"flop_clock_ff", &WireTruth::flop_clock_f, 0, 1000, "fF", "Flop's clock, each wire and beat",
     kDraws, kFemto},
    {"whole_flops", &WireTruth::whole_flops, 0, 0, "",
     "Whether flops are counted whole or grow smoothly with length", kDraws},
    {"registers_ff_per_mm", &WireTruth::registers_f_per_mm, 0, 5000, "fF/mm",
     "Wire between registers and L1, each that toggles", kDraws, kFemto},
    {"hop_after_mm", &WireTruth::hop_after_mm, 0, 100, "mm",
     "Length beyond which a trunk needs another hop; 0: never", kShape, 1, false},
    {"hop_data_ff", &WireTruth::hop_data_f, 0, 20000, "fF", "Hop, each payload transition", kShape,
     kFemto, false},
    {"hop_clock_ff", &WireTruth::hop_clock_f, 0, 20000, "fF", "Hop's clock, each wire and beat",
     kShape, kFemto, false},
    {"stage_pitch_mm", &WireTruth::stage_pitch_mm, 0, 100, "mm",
     "Distance of the switches along a trunk; 0: none", kShape, 1, false},
    {"stage_beat_pf", &WireTruth::stage_beat_f, 0, 1e6, "pF", "Such a switch, each payload beat",
     kShape, kPico, false},
    {"stage_data_ff", &WireTruth::stage_data_f, 0, 20000, "fF",
     "Such a switch, each payload transition", kShape, kFemto, false},
    {"growth_per_mm", &WireTruth::growth_per_mm, -0.5, 0.5, "1/mm",
     "Growth of a link's energy per mm with its length", kShape, 1, false},
    {"pair_extra_pf",
     {},
     0,
     1e6,
     "pF",
     "Extra of a pair, each payload beat: a row per engine, a column per quadrant",
     kShape,
     kPico,
     false},
    {"pair_scale",
     {},
     0,
     1e6,
     "",
     "Factor of a pair's wires: a row per engine, a column per quadrant",
     kShape,
     1,
     false},
};

constexpr TomlKey<FabricTruth> kFabricKeys[] = {
    {"clock_hz", &FabricTruth::clock_hz, 1e8, 4e9, "Hz", "Clock of the crossbar", kDraws},
    {"cycle_pf", &FabricTruth::cycle_f, 0, 1e6, "pF", "Switched by that clock, each cycle", kDraws,
     kPico},
    {"mm_per_cycle", &FabricTruth::mm_per_cycle, 0.1, 100, "mm", "Way of a signal in a cycle",
     kDraws},
    {"port_cycles", &FabricTruth::port_cycles, 0, 1000, "cycles",
     "Ports and arbiters, both ways together", kDraws},
};

constexpr TomlKey<VariationTruth> kVariationKeys[] = {
    {"seed", &VariationTruth::seed, 0, 0x1p63, "", "Seed of the variations below"},
    {"trunk_capacitance", &VariationTruth::trunk_capacitance, 0, 0.9, "",
     "Half-range of a trunk's capacitance per mm, relative", kDraws},
    {"trunk_detour", &VariationTruth::trunk_detour, 0, 0.9, "",
     "Half-range of a trunk's length, relative", kDraws},
    {"leg_capacitance", &VariationTruth::leg_capacitance, 0, 0.9, "",
     "Half-range of a leg's capacitance per mm, relative", kDraws},
    {"memory_capacitance", &VariationTruth::memory_capacitance, 0, 0.9, "",
     "Half-range of a memory link's capacitance per mm, relative", kDraws},
    {"engine_offset", &VariationTruth::engine_offset, 0, 0.9, "",
     "Half-range of the energy per access at an engine, relative", kDraws},
    {"slice_offset", &VariationTruth::slice_offset, 0, 0.9, "",
     "Half-range of the energy per access at a channel, relative", kDraws},
};

constexpr TomlKey<EventTruth> event_key(std::string_view name, double EventTruth::*field,
                                        std::string_view help) {
  return {name, field, 0, 1e6, "pF", help, kDraws, kPico};
}
constexpr TomlKey<EventTruth> kEventKeys[] = {
    event_key("l2_access_pf", &EventTruth::l2_access, "Access of an L2 bank"),
    event_key("l2_miss_pf", &EventTruth::l2_miss, "Miss of the L2"),
    event_key("transaction_pf", &EventTruth::transaction, "Arbiters and queues, each transaction"),
    event_key("l1_access_pf", &EventTruth::l1_access, "Access of an L1"),
    event_key("l1_hit_pf", &EventTruth::l1_hit, "Hit of an L1, besides the access"),
    {"gl1_hit_pf", &EventTruth::gl1_hit, 0, 1e6, "pF",
     "64 bytes from the cache of a shader array (GL1)", kRdna, kPico, false},
    event_key("vector_instruction_pf", &EventTruth::vector_instruction, "Vector instruction"),
    event_key("vector_lane_operation_pf", &EventTruth::vector_lane_operation,
              "Enabled lane of a vector instruction"),
    event_key("scalar_instruction_pf", &EventTruth::scalar_instruction, "Scalar instruction"),
    event_key("memory_instruction_pf", &EventTruth::memory_instruction, "Memory instruction"),
    event_key("lds_access_pf", &EventTruth::lds_access, "Access of local memory by one lane"),
    event_key("cu_busy_cycle_pf", &EventTruth::cu_busy_cycle, "Cycle of a busy compute unit"),
    event_key("wave_resident_cycle_pf", &EventTruth::wave_resident_cycle,
              "Cycle of a resident wave"),
    event_key("active_cycle_pf", &EventTruth::active_cycle,
              "Clocks of the whole chip, each cycle while a launch runs"),
    event_key("idle_cycle_pf", &EventTruth::idle_cycle,
              "Clocks of the whole chip that are never gated, each cycle"),
    {"alu_value_share", &EventTruth::alu_value_share, 0, 1, "",
     "Share of vector instructions' energy that follows the data's toggles", kDraws, 1, false},
    {"sram_value_share", &EventTruth::sram_value_share, 0, 1, "",
     "The same of L1, local memory and L2", kDraws, 1, false},
};

constexpr std::string_view kPicojoulePerBit = "pJ/bit";
constexpr std::string_view kPair = "virtual:mi250x";

constexpr TomlKey<XgmiTruth> kXgmiKeys[] = {
    {"pj_per_bit", &XgmiTruth::bit_j, 0, 100, kPicojoulePerBit,
     "Links between the two dies, both ends and the wires to them", kPair, kPico},
    {"idle_w", &XgmiTruth::idle_w, 0, 1000, "W", "All links, always", kPair},
    {"wake_w", &XgmiTruth::wake_w, 0, 1000, "W",
     "All links, while a launch crosses one; their lanes sleep else", kPair, 1, false},
    {"training_uj", &XgmiTruth::training_j, 0, 1e6, "uJ", "Each time that the lanes wake", kPair,
     kMicro, false},
};

constexpr TomlKey<IoDieTruth> io_die_key(std::string_view name, double IoDieTruth::*field,
                                         std::string_view help) {
  return {name, field, 0, 100, kPicojoulePerBit, help, kIoDies, kPico};
}
constexpr TomlKey<IoDieTruth> kIoDieKeys[] = {
    io_die_key("compute_die_pj_per_bit", &IoDieTruth::compute_die_j,
               "Between a compute die and the I/O die below it"),
    io_die_key("row_hop_pj_per_bit", &IoDieTruth::row_hop_j,
               "Link between I/O dies 0 and 1, or 2 and 3"),
    io_die_key("column_hop_pj_per_bit", &IoDieTruth::column_hop_j,
               "Link between I/O dies 1 and 2, or 3 and 0"),
    io_die_key("infinity_cache_pj_per_bit", &IoDieTruth::infinity_cache_j,
               "Access of the Infinity Cache"),
    io_die_key("memory_phy_pj_per_bit", &IoDieTruth::memory_phy_j,
               "PHY and controller of a stack, on the I/O die"),
    io_die_key("memory_pj_per_bit", &IoDieTruth::memory_j, "The memory stack itself"),
    {"idle_w", &IoDieTruth::idle_w, 0, 1000, "W", "All I/O dies, always", kIoDies},
    {"memory_idle_w", &IoDieTruth::memory_idle_w, 0, 1000, "W", "All memory stacks, always",
     kIoDies},
    {"link_wake_w", &IoDieTruth::link_wake_w, 0, 1000, "W",
     "Links between I/O dies, while a launch crosses one; their lanes sleep else", kIoDies, 1,
     false},
};

constexpr TomlKey<MemorySideTruth> memory_side_key(std::string_view name,
                                                   double MemorySideTruth::*field,
                                                   std::string_view help) {
  return {name, field, 0, 100, kPicojoulePerBit, help, kRdna, kPico};
}
constexpr TomlKey<MemorySideTruth> kMemorySideKeys[] = {
    memory_side_key("die_link_pj_per_bit", &MemorySideTruth::die_link_j,
                    "Link between the L2's die and a memory die; 0: there is one die"),
    memory_side_key("infinity_cache_pj_per_bit", &MemorySideTruth::infinity_cache_j,
                    "Access of the Infinity Cache"),
    memory_side_key("memory_phy_pj_per_bit", &MemorySideTruth::memory_phy_j,
                    "PHY and controller of memory"),
};

constexpr TomlKey<RailsTruth> kRailsKeys[] = {
    {"period_ns", &RailsTruth::period_ns, 10'000, 1'000'000'000, "ns",
     "Time between two refreshes of the parts' energy accumulators", kIoDies},
    {"xcd_gain", &RailsTruth::xcd_gain, 0, 10, "",
     "Gain of the compute dies' accumulator; 0: it stands still", kIoDies},
    {"aid_gain", &RailsTruth::aid_gain, 0, 10, "", "The same of the I/O dies'", kIoDies},
    {"hbm_gain", &RailsTruth::hbm_gain, 0, 10, "", "The same of the memory stacks'", kIoDies},
    {"noise_relative", &RailsTruth::noise_relative, 0, 0.5, "",
     "White noise of the energy of a period, relative", kIoDies},
    {"wander_relative", &RailsTruth::wander_relative, 0, 0.1, "",
     "Slow wander of each gain, standard deviation, in the sensor's time", kIoDies},
};

constexpr TomlKey<LeakageTruth> kLeakageKeys[] = {
    {"reference_w", &LeakageTruth::reference_w, 0, 1000, "W",
     "Leakage of the chip at reference voltage and temperature", kDraws},
    {"reference_c", &LeakageTruth::reference_c, -50, 150, "°C", "Its reference temperature"},
    {"flat_share", &LeakageTruth::flat_share, 0, 1, "", "Share that no temperature changes",
     kDraws},
    {"efold_c", &LeakageTruth::efold_c, 5, 1000, "K", "Rise that makes the rest e times as large",
     kDraws},
    {"voltage_exponent", &LeakageTruth::voltage_exponent, 0, 8, "", "Exponent n of V^n", kDraws},
    {"zone_share", &LeakageTruth::zone_share, 0, 1, "",
     "List of shares: engines, quadrants, middle; their sum is 1"},
};

constexpr TomlKey<ThermalTruth> kThermalKeys[] = {
    {"zone_k_per_w", &ThermalTruth::zone_k_per_w, 1e-4, 10, "K/W", "A zone to the spreader",
     kDraws},
    {"zone_tau_s", &ThermalTruth::zone_tau_s, 1e-4, 100, "s", "Time constant of a zone", kDraws},
    {"spreader_k_per_w", &ThermalTruth::spreader_k_per_w, 1e-4, 10, "K/W",
     "The spreader to the heatsink", kDraws},
    {"spreader_tau_s", &ThermalTruth::spreader_tau_s, 1e-3, 1000, "s",
     "Time constant of the spreader", kDraws},
    {"sink_k_per_w", &ThermalTruth::sink_k_per_w, 1e-4, 10, "K/W", "The heatsink to the air",
     kDraws},
    {"sink_tau_s", &ThermalTruth::sink_tau_s, 1e-2, 1e5, "s", "Time constant of the heatsink",
     kDraws},
    {"ambient_c", &ThermalTruth::ambient_c, -50, 100, "°C", "Air at power-on", kDraws},
    {"ambient_drift_c_per_hour", &ThermalTruth::ambient_drift_c_per_hour, -100, 100, "K/h",
     "Linear drift of the air", kDraws},
    {"ambient_wander_c", &ThermalTruth::ambient_wander_c, 0, 20, "K",
     "Slow random wander of the air, standard deviation", kDraws},
    {"ambient_wander_tau_s", &ThermalTruth::ambient_wander_tau_s, 1, 1e5, "s",
     "Correlation time of that wander", kDraws},
    {"sensor_zone_weight", &ThermalTruth::sensor_zone_weight, 0, 1, "",
     "Share of the middle zone in what the sensor sees; the rest is the spreader", kDraws},
    {"sensor_tau_s", &ThermalTruth::sensor_tau_s, 1e-4, 1000, "s", "Lag of the temperature sensor",
     kDraws},
    {"sensor_offset_c", &ThermalTruth::sensor_offset_c, -20, 20, "K",
     "Offset of the temperature sensor", kDraws},
    {"sensor_noise_c", &ThermalTruth::sensor_noise_c, 0, 10, "K",
     "Noise of the temperature sensor, standard deviation", kDraws},
    {"sensor_resolution_c", &ThermalTruth::sensor_resolution_c, 1e-3, 10, "K",
     "Step of the temperature sensor", kDraws},
};

constexpr TomlKey<RegulatorTruth> kRegulatorKeys[] = {
    {"load_line_mohm", &RegulatorTruth::load_line_ohm, 0, 5, "mOhm",
     "Fall of the voltage with the current", kDraws, kMilli},
    {"offset_w", &RegulatorTruth::offset_w, -100, 100, "W",
     "Offset of what the sensor's shunt sees of the chip's power", kDraws},
    {"slope", &RegulatorTruth::slope, 0.1, 10, "", "Its slope", kDraws},
    {"quadratic_per_w", &RegulatorTruth::quadratic_per_w, -0.01, 0.01, "1/W", "Its quadratic term",
     kDraws},
    {"power_cap_w", &RegulatorTruth::power_cap_w, 0, 2000, "W",
     "Power above which the firmware lowers clock and voltage of the cores; 0: none", kIoDies, 1,
     false},
};

constexpr TomlKey<SensorTruth> kSensorKeys[] = {
    {"period_ns", &SensorTruth::period_ns, 10'000, 1'000'000'000, "ns", "Time between two readings",
     kDraws},
    {"window_ns", &SensorTruth::window_ns, 0, 1e10, "ns", "Averaging window of the power register",
     kDraws},
    {"delay_ns", &SensorTruth::delay_ns, 0, 1e10, "ns", "Age of the newest datum in a reading",
     kDraws},
    {"lag_s", &SensorTruth::lag_s, 0, 100, "s", "Filter of first order behind the window; 0: none",
     kDraws},
    {"gain", &SensorTruth::gain, 0.1, 10, "", "Gain of the sensor", kDraws},
    {"noise_relative", &SensorTruth::noise_relative, 0, 0.5, "",
     "White noise of a tick, of the reading", kDraws},
    {"resolution_w", &SensorTruth::resolution_w, 1e-6, 10, "W", "Step of the power register",
     kDraws},
    {"wander_relative", &SensorTruth::wander_relative, 0, 0.1, "",
     "Slow wander of the gain, standard deviation", kDraws},
    {"wander_tau_s", &SensorTruth::wander_tau_s, 0.1, 1e5, "s", "Correlation time of that wander",
     kDraws},
    {"accumulator", &SensorTruth::accumulator, 0, 0, "", "Whether it counts energy, too", kDraws, 1,
     false},
    {"flicker_relative", &SensorTruth::flicker_relative, 0, 0.1, "",
     "1/f noise of the reading, relative", kDraws, 1, false},
    {"gain_per_k", &SensorTruth::gain_per_k, -0.01, 0.01, "1/K",
     "Change of the gain with the temperature", kDraws, 1, false},
    {"outlier_probability", &SensorTruth::outlier_probability, 0, 0.5, "",
     "Share of readings that are off", kDraws},
    {"outlier_relative", &SensorTruth::outlier_relative, 0, 10, "", "How far they are off at most",
     kDraws},
    {"missing_probability", &SensorTruth::missing_probability, 0, 1, "",
     "Share of ticks without a reading", kDraws},
    {"voltage_resolution_mv", &SensorTruth::voltage_resolution_v, 0.001, 100, "mV",
     "Step of the voltage telemetry", kDraws, kMilli},
    {"voltage_noise_mv", &SensorTruth::voltage_noise_v, 0, 100, "mV",
     "Noise of the voltage telemetry, standard deviation", kDraws, kMilli},
    {"voltage_shown", &SensorTruth::voltage_shown, 0, 0, "", "Whether a voltage is shown at all",
     kDraws, 1, false},
    {"voltage_requested", &SensorTruth::voltage_requested, 0, 0, "",
     "Whether the voltage shown is the requested one (VID), which no load moves", kDraws, 1, false},
};

constexpr TomlKey<ChannelMap> kChannelMapKeys[] = {
    {.name = "hash",
     .field = {},
     .unit = "",
     .help = "Lists of address bits: the parity of a list is a bit of the address channel",
     .required = false},
    {.name = "steer",
     .field = {},
     .unit = "",
     .help = "The L2 channel of each address channel",
     .required = false},
};

constexpr TomlKey<Geometry> kGeometryKeys[] = {
    {"width_mm", &Geometry::width_mm, 1, 100, "mm", "Width of the die"},
    {"height_mm", &Geometry::height_mm, 1, 100, "mm", "Height of the die"},
    {"registers_to_l1_mm", &Geometry::registers_to_l1_mm, 0, 50, "mm",
     "Way between registers and L1"},
    {"quadrants", {}, 0, 0, "", "Lists of L2 channels, one for each quadrant"},
    {"engine",
     {},
     0,
     0,
     "mm",
     "`[[geometry.engine]]`: `hub` is a point, `cu` a list of points, one for each compute unit"},
    {"l2",
     {},
     0,
     0,
     "mm",
     "`[[geometry.l2]]`: `at` and `memory_controller` are the points of a channel"},
};

template <class C, std::size_t kCount>
void read_table(TomlReader& root, std::string_view name, const TomlKey<C> (&rows)[kCount],
                C& into) {
  TomlReader table = root.table(name);
  read_keys<C>(table, rows, into);
  table.finish();
}

void read_wires(TomlReader& root, Truth& truth) {
  WireTruth& wires = truth.wires;
  TomlReader table = root.table("wires");
  read_keys<WireTruth>(table, kWireKeys, wires);
  const std::string order = table.text("bit_order");
  if (order == "interleaved") {
    wires.bit_order = BitOrder::interleaved;
  } else if (order != "straight") {
    table.fail_at("bit_order", ErrorCode::out_of_range, "\"straight\" or \"interleaved\"");
  }
  if (wires.interleave_stride == 3) {
    table.fail_at("interleave_stride", ErrorCode::out_of_range, "1, 2 or 4");
  }
  const auto pairs = static_cast<std::size_t>(truth.engines() * truth.quadrants());
  for (const auto& [name, target] : {std::tuple{"pair_extra_pf", &wires.pair_extra_f},
                                     std::tuple{"pair_scale", &wires.pair_scale}}) {
    if (!table.has(name)) {
      continue;
    }
    const auto& row = toml_row<WireTruth>(kWireKeys, name);
    std::size_t columns = 0;
    *target = table.matrix(name, row.low, row.high, columns);
    if (target->size() != pairs || columns != static_cast<std::size_t>(truth.quadrants())) {
      table.fail_at(name, ErrorCode::out_of_range, "a row per engine, a column per quadrant");
    }
    for (double& value : *target) {
      value *= row.scale;
    }
  }
  table.finish();
}

}  // namespace

void read_channel_map(TomlReader& root, ChannelMap& map) {
  if (!root.has("channel_map")) {
    return;
  }
  TomlReader table = root.table("channel_map");
  constexpr int kHighestAddressBit = 63;
  constexpr int kMaxChannels = 64;
  if (table.has("hash")) {
    map.hash = table.integer_rows("hash", 0, kHighestAddressBit);
  }
  if (table.has("steer")) {
    for (const double channel : table.numbers("steer", 0, kMaxChannels - 1)) {
      map.steer.push_back(static_cast<int>(channel));
    }
  }
  table.finish();
}

void read_geometry(TomlReader& root, Geometry& geometry) {
  TomlReader table = root.table("geometry");
  read_keys<Geometry>(table, kGeometryKeys, geometry);
  for (TomlReader& engine : table.tables("engine")) {
    geometry.hubs.push_back(engine.point("hub", geometry.width_mm, geometry.height_mm));
    geometry.compute_units.push_back(engine.points("cu", geometry.width_mm, geometry.height_mm));
    engine.finish();
  }
  for (TomlReader& channel : table.tables("l2")) {
    geometry.l2_channels.push_back(channel.point("at", geometry.width_mm, geometry.height_mm));
    geometry.memory_controllers.push_back(
        channel.point("memory_controller", geometry.width_mm, geometry.height_mm));
    channel.finish();
  }
  geometry.quadrants = table.integer_rows(
      "quadrants", 0, std::max(0, static_cast<int>(geometry.l2_channels.size()) - 1));
  table.finish();
}

void read_xgmi(TomlReader& root, XgmiTruth& truth) {
  read_table(root, "xgmi", kXgmiKeys, truth);
}

void read_io_dies(TomlReader& root, IoDieTruth& truth) {
  read_table(root, "io_dies", kIoDieKeys, truth);
}

void read_memory_side(TomlReader& root, MemorySideTruth& truth) {
  read_table(root, "memory_side", kMemorySideKeys, truth);
}

void read_rails(TomlReader& root, RailsTruth& truth) {
  if (root.has("rails")) read_table(root, "rails", kRailsKeys, truth);
}

void read_truth(TomlReader& root, Truth& truth) {
  read_wires(root, truth);
  read_table(root, "fabric", kFabricKeys, truth.fabric);
  read_table(root, "variation", kVariationKeys, truth.variation);
  read_table(root, "events", kEventKeys, truth.events);
  read_table(root, "leakage", kLeakageKeys, truth.leakage);
  read_table(root, "thermal", kThermalKeys, truth.thermal);
  read_table(root, "regulator", kRegulatorKeys, truth.regulator);
  read_table(root, "sensor", kSensorKeys, truth.sensor);
}

std::vector<TomlKeyText> truth_key_texts() {
  std::vector<TomlKeyText> texts;
  describe_keys<ChannelMap>("[channel_map]", kChannelMapKeys, texts);
  describe_keys<WireTruth>("[wires]", kWireKeys, texts);
  describe_keys<FabricTruth>("[fabric]", kFabricKeys, texts);
  describe_keys<VariationTruth>("[variation]", kVariationKeys, texts);
  describe_keys<EventTruth>("[events]", kEventKeys, texts);
  describe_keys<IoDieTruth>("[io_dies]", kIoDieKeys, texts);
  describe_keys<XgmiTruth>("[xgmi]", kXgmiKeys, texts);
  describe_keys<MemorySideTruth>("[memory_side]", kMemorySideKeys, texts);
  describe_keys<RailsTruth>("[rails]", kRailsKeys, texts);
  describe_keys<LeakageTruth>("[leakage]", kLeakageKeys, texts);
  describe_keys<ThermalTruth>("[thermal]", kThermalKeys, texts);
  describe_keys<RegulatorTruth>("[regulator]", kRegulatorKeys, texts);
  describe_keys<SensorTruth>("[sensor]", kSensorKeys, texts);
  describe_keys<Geometry>("[geometry]", kGeometryKeys, texts);
  return texts;
}

}  // namespace ww::sim::gpu
