#include "chip_file.hpp"

#include <algorithm>

#include "prefixes.hpp"
#include "ww/sim/gpu/toml_reader.hpp"

namespace ww::sim::gpu {
namespace {

void read_architecture(TomlReader& root, Architecture& architecture) {
  architecture.name = root.text("name");
  architecture.gfx_target = root.text("gfx_target");
  TomlReader table = root.table("architecture");
  const auto small = [&](std::string_view key, std::int64_t low, std::int64_t high) {
    return static_cast<int>(table.integer(key, low, high));
  };
  architecture.shader_engines = small("shader_engines", 1, 8);
  architecture.cus_per_engine = small("cus_per_engine", 1, 16);
  architecture.simds_per_cu = small("simds_per_cu", 1, 4);
  architecture.waves_per_simd = small("waves_per_simd", 1, 16);
  architecture.l2_channels = small("l2_channels", 1, 64);
  architecture.channel_interleave_bytes = small("channel_interleave_bytes", 64, 65536);
  architecture.line_bytes = small("line_bytes", 64, 64);
  architecture.l1_bytes = table.integer("l1_bytes", 1024, std::int64_t{1} << 20);
  architecture.l1_ways = small("l1_ways", 1, 64);
  architecture.l2_bytes = table.integer("l2_bytes", 65536, std::int64_t{1} << 30);
  architecture.l2_ways = small("l2_ways", 1, 64);
  architecture.lds_bytes_per_cu = table.integer("lds_bytes_per_cu", 1024, std::int64_t{1} << 20);
  architecture.memory_bytes =
      table.integer("memory_bytes", std::int64_t{1} << 20, std::int64_t{1} << 40);
  architecture.bytes_per_clock_per_channel = small("bytes_per_clock_per_channel", 16, 128);
  architecture.l1_hit_cycles = small("l1_hit_cycles", 1, 10000);
  architecture.l2_hit_cycles = small("l2_hit_cycles", 1, 10000);
  architecture.memory_cycles = small("memory_cycles", 1, 10000);
  architecture.memory_bytes_per_clock_per_channel =
      table.number("memory_bytes_per_clock_per_channel", 0.1, 256);
  architecture.launch_overhead_ns = small("launch_overhead_ns", 0, 10'000'000);
  table.finish();
  for (auto& state : root.tables("dvfs")) {
    DvfsState entry;
    entry.voltage_v = state.number("voltage_v", 0.4, 1.6);
    entry.clock_hz = state.number("clock_hz", 1e8, 4e9);
    state.finish();
    architecture.dvfs.push_back(entry);
  }
  if (architecture.dvfs.empty()) {
    root.fail_at("dvfs", ErrorCode::out_of_range, "at least one state is needed");
  } else if (!std::is_sorted(
                 architecture.dvfs.begin(), architecture.dvfs.end(),
                 [](const DvfsState& a, const DvfsState& b) { return a.clock_hz < b.clock_hz; })) {
    root.fail_at("dvfs", ErrorCode::out_of_range, "states must ascend in clock");
  }
  architecture.reference_state = static_cast<int>(root.integer(
      "reference_state", 0,
      std::max<std::int64_t>(0, static_cast<std::int64_t>(architecture.dvfs.size()) - 1)));
}

void read_geometry(TomlReader& root, Geometry& geometry) {
  TomlReader table = root.table("geometry");
  geometry.width_mm = table.number("width_mm", 1, 100);
  geometry.height_mm = table.number("height_mm", 1, 100);
  geometry.registers_to_l1_mm = table.number("registers_to_l1_mm", 0, 50);
  for (auto& engine : table.tables("engine")) {
    geometry.hubs.push_back(engine.point("hub", geometry.width_mm, geometry.height_mm));
    geometry.compute_units.push_back(engine.points("cu", geometry.width_mm, geometry.height_mm));
    engine.finish();
  }
  for (auto& channel : table.tables("l2")) {
    geometry.l2_channels.push_back(channel.point("at", geometry.width_mm, geometry.height_mm));
    geometry.memory_controllers.push_back(
        channel.point("memory_controller", geometry.width_mm, geometry.height_mm));
    channel.finish();
  }
  geometry.quadrants = table.integer_rows(
      "quadrants", 0, std::max(0, static_cast<int>(geometry.l2_channels.size()) - 1));
  table.finish();
}

void read_wires(TomlReader& root, Truth& truth) {
  WireTruth& wires = truth.wires;
  TomlReader table = root.table("wires");
  wires.ground_f_per_mm = table.number("ground_ff_per_mm", 0, 5000) * kFemto;
  wires.coupling_f_per_mm = table.number("coupling_ff_per_mm", 0, 5000) * kFemto;
  const std::string order = table.text("bit_order");
  if (order == "interleaved") {
    wires.bit_order = BitOrder::interleaved;
  } else if (order != "straight") {
    table.fail_at("bit_order", ErrorCode::out_of_range, "\"straight\" or \"interleaved\"");
  }
  wires.interleave_stride = static_cast<int>(table.integer("interleave_stride", 1, 4));
  if (wires.interleave_stride == 3) {
    table.fail_at("interleave_stride", ErrorCode::out_of_range, "1, 2 or 4");
  }
  wires.park_after_cycles = static_cast<int>(table.integer("park_after_cycles", 1, 1'000'000));
  wires.regrant_beats = static_cast<int>(table.integer("regrant_beats", 1, 1'000'000));
  wires.strobe_transitions = table.number("strobe_transitions", 0, 512);
  wires.request_strobes = table.number("request_strobes", 0, 512);
  wires.flop_pitch_mm = table.number("flop_pitch_mm", 0.1, 100);
  wires.flop_data_f = table.number("flop_data_ff", 0, 1000) * kFemto;
  wires.flop_clock_f = table.number("flop_clock_ff", 0, 1000) * kFemto;
  wires.whole_flops = table.boolean("whole_flops");
  wires.registers_f_per_mm = table.number("registers_ff_per_mm", 0, 5000) * kFemto;
  wires.hop_after_mm = table.number_or("hop_after_mm", 0, 100, 0.0);
  wires.hop_data_f = table.number_or("hop_data_ff", 0, 20000, 0.0) * kFemto;
  wires.hop_clock_f = table.number_or("hop_clock_ff", 0, 20000, 0.0) * kFemto;
  wires.stage_pitch_mm = table.number_or("stage_pitch_mm", 0, 100, 0.0);
  wires.stage_beat_f = table.number_or("stage_beat_pf", 0, 1e6, 0.0) * kPico;
  wires.stage_data_f = table.number_or("stage_data_ff", 0, 20000, 0.0) * kFemto;
  wires.growth_per_mm = table.number_or("growth_per_mm", -0.5, 0.5, 0.0);
  const auto pairs = static_cast<std::size_t>(truth.engines() * truth.quadrants());
  for (const auto& [key, scale, target] : {std::tuple{"pair_extra_pf", kPico, &wires.pair_extra_f},
                                           std::tuple{"pair_scale", 1.0, &wires.pair_scale}}) {
    if (table.has(key)) {
      std::size_t columns = 0;
      *target = table.matrix(key, 0, 1e6, columns);
      if (target->size() != pairs || columns != static_cast<std::size_t>(truth.quadrants())) {
        table.fail_at(key, ErrorCode::out_of_range, "a row per engine, a column per quadrant");
      }
      for (double& value : *target) {
        value *= scale;
      }
    }
  }
  table.finish();
}

void read_fabric(TomlReader& root, FabricTruth& fabric) {
  TomlReader table = root.table("fabric");
  fabric.clock_hz = table.number("clock_hz", 1e8, 4e9);
  fabric.cycle_f = table.number("cycle_pf", 0, 1e6) * kPico;
  fabric.mm_per_cycle = table.number("mm_per_cycle", 0.1, 100);
  fabric.port_cycles = static_cast<int>(table.integer("port_cycles", 0, 1000));
  table.finish();
}

void read_variation(TomlReader& root, VariationTruth& variation) {
  TomlReader table = root.table("variation");
  variation.seed = static_cast<std::uint64_t>(table.integer("seed", 0, INT64_MAX));
  variation.trunk_capacitance = table.number("trunk_capacitance", 0, 0.9);
  variation.trunk_detour = table.number("trunk_detour", 0, 0.9);
  variation.leg_capacitance = table.number("leg_capacitance", 0, 0.9);
  variation.memory_capacitance = table.number("memory_capacitance", 0, 0.9);
  variation.engine_offset = table.number("engine_offset", 0, 0.9);
  variation.slice_offset = table.number("slice_offset", 0, 0.9);
  table.finish();
}

void read_events(TomlReader& root, EventTruth& events) {
  TomlReader table = root.table("events");
  const auto pf = [&](std::string_view key) { return table.number(key, 0, 1e6) * kPico; };
  events.l2_access = pf("l2_access_pf");
  events.l2_miss = pf("l2_miss_pf");
  events.transaction = pf("transaction_pf");
  events.l1_access = pf("l1_access_pf");
  events.l1_hit = pf("l1_hit_pf");
  events.vector_instruction = pf("vector_instruction_pf");
  events.vector_lane_operation = pf("vector_lane_operation_pf");
  events.scalar_instruction = pf("scalar_instruction_pf");
  events.memory_instruction = pf("memory_instruction_pf");
  events.lds_access = pf("lds_access_pf");
  events.cu_busy_cycle = pf("cu_busy_cycle_pf");
  events.wave_resident_cycle = pf("wave_resident_cycle_pf");
  events.active_cycle = pf("active_cycle_pf");
  events.idle_cycle = pf("idle_cycle_pf");
  table.finish();
}

void read_leakage(TomlReader& root, LeakageTruth& leakage) {
  TomlReader table = root.table("leakage");
  leakage.reference_w = table.number("reference_w", 0, 1000);
  leakage.reference_c = table.number("reference_c", -50, 150);
  leakage.flat_share = table.number("flat_share", 0, 1);
  leakage.efold_c = table.number("efold_c", 5, 1000);
  leakage.voltage_exponent = table.number("voltage_exponent", 0, 8);
  leakage.zone_share = table.numbers("zone_share", 0, 1);
  table.finish();
}

void read_thermal(TomlReader& root, ThermalTruth& thermal) {
  TomlReader table = root.table("thermal");
  thermal.zone_k_per_w = table.number("zone_k_per_w", 1e-4, 10);
  thermal.zone_tau_s = table.number("zone_tau_s", 1e-4, 100);
  thermal.spreader_k_per_w = table.number("spreader_k_per_w", 1e-4, 10);
  thermal.spreader_tau_s = table.number("spreader_tau_s", 1e-3, 1000);
  thermal.sink_k_per_w = table.number("sink_k_per_w", 1e-4, 10);
  thermal.sink_tau_s = table.number("sink_tau_s", 1e-2, 1e5);
  thermal.ambient_c = table.number("ambient_c", -50, 100);
  thermal.ambient_drift_c_per_hour = table.number("ambient_drift_c_per_hour", -100, 100);
  thermal.ambient_wander_c = table.number("ambient_wander_c", 0, 20);
  thermal.ambient_wander_tau_s = table.number("ambient_wander_tau_s", 1, 1e5);
  thermal.sensor_zone_weight = table.number("sensor_zone_weight", 0, 1);
  thermal.sensor_tau_s = table.number("sensor_tau_s", 1e-4, 1000);
  thermal.sensor_offset_c = table.number("sensor_offset_c", -20, 20);
  thermal.sensor_noise_c = table.number("sensor_noise_c", 0, 10);
  thermal.sensor_resolution_c = table.number("sensor_resolution_c", 1e-3, 10);
  table.finish();
}

void read_regulator(TomlReader& root, RegulatorTruth& regulator) {
  TomlReader table = root.table("regulator");
  regulator.load_line_ohm = table.number("load_line_mohm", 0, 5) * 1e-3;
  regulator.offset_w = table.number("offset_w", -100, 100);
  regulator.slope = table.number("slope", 0.1, 10);
  regulator.quadratic_per_w = table.number("quadratic_per_w", -0.01, 0.01);
  table.finish();
}

void read_sensor(TomlReader& root, SensorTruth& sensor) {
  TomlReader table = root.table("sensor");
  sensor.period_ns = table.integer("period_ns", 10'000, 1'000'000'000);
  sensor.window_ns = table.integer("window_ns", 0, 10'000'000'000);
  sensor.delay_ns = table.integer("delay_ns", 0, 10'000'000'000);
  sensor.lag_s = table.number("lag_s", 0, 100);
  sensor.gain = table.number("gain", 0.1, 10);
  sensor.noise_relative = table.number("noise_relative", 0, 0.5);
  sensor.resolution_w = table.number("resolution_w", 1e-6, 10);
  sensor.wander_relative = table.number("wander_relative", 0, 0.1);
  sensor.wander_tau_s = table.number("wander_tau_s", 0.1, 1e5);
  sensor.accumulator = table.number_or("accumulator", 0, 1, 1) > 0;
  sensor.flicker_relative = table.number_or("flicker_relative", 0, 0.1, 0.0);
  sensor.gain_per_k = table.number_or("gain_per_k", -0.01, 0.01, 0.0);
  sensor.outlier_probability = table.number("outlier_probability", 0, 0.5);
  sensor.outlier_relative = table.number("outlier_relative", 0, 10);
  sensor.missing_probability = table.number("missing_probability", 0, 1);
  sensor.voltage_resolution_v = table.number("voltage_resolution_mv", 0.001, 100) * 1e-3;
  sensor.voltage_noise_v = table.number("voltage_noise_mv", 0, 100) * 1e-3;
  table.finish();
}

}  // namespace

Result<ChipSpec> parse_chip(std::string_view toml_text, const std::string& origin) {
  WW_ASSIGN(document, parse_toml(toml_text, origin));
  TomlErrors errors(origin);
  TomlReader root(document, "", errors);
  ChipSpec spec;
  const auto chip_class = chip_class_from_string(root.text("chip_class"));
  if (chip_class) {
    spec.truth.chip_class = *chip_class;
  } else {
    root.fail_at("chip_class", ErrorCode::out_of_range, chip_class.error().message);
  }
  spec.floorplan = root.text_or("floorplan", "");
  read_architecture(root, spec.architecture);
  read_geometry(root, spec.truth.geometry);
  read_wires(root, spec.truth);
  read_fabric(root, spec.truth.fabric);
  read_variation(root, spec.truth.variation);
  read_events(root, spec.truth.events);
  read_leakage(root, spec.truth.leakage);
  read_thermal(root, spec.truth.thermal);
  read_regulator(root, spec.truth.regulator);
  read_sensor(root, spec.truth.sensor);
  root.finish();
  if (errors.first()) {
    return tl::unexpected<Error>(*errors.first());
  }
  return spec;
}

}  // namespace ww::sim::gpu
