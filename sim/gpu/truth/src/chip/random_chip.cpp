#include "chip/random_chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "chip/random_geometry.hpp"
#include "chip/random_sensor.hpp"
#include "draw.hpp"
#include "interaction.hpp"
#include "prefixes.hpp"

namespace ww::sim::gpu {
namespace {

constexpr int kAttempts = 400;

// Bounds that a drawn chip must keep for a good campaign to be able to reach 1-2%.
constexpr double kMinSpreadMm = 5.0;  // far minus near, published
constexpr double kMaxSpreadMm = 16.0;
constexpr double kMinSpreadShare = 0.025;  // of the stream's dynamic power
constexpr double kMaxSpreadShare = 0.15;
constexpr double kMaxNoise = 0.04;  // sensor noise in a second, of far minus near
// Residual interaction over the explained one: what separates the classes (docs/virtual-gpu.md).
// No gap lies between them: a chip just beyond the limit is hardly worse than one just within it.
constexpr double kMaxMildResidual = 0.28;
constexpr double kMinStrongResidual = kMaxMildResidual;
constexpr double kMaxStrongResidual = 0.7;
// Growth of switched energy with temperature [1/K]: about as steep in watts as leakage.
constexpr double kMinStrongPerK = 0.003;
constexpr double kMaxStrongPerK = 0.006;

template <class T, std::size_t n>
T pick(Draw& draw, const std::array<T, n>& choices) {
  return choices[static_cast<std::size_t>(draw.integer(0, static_cast<int>(n) - 1))];
}

Architecture draw_architecture(Draw& draw) {
  Architecture architecture;
  architecture.name = "random";
  architecture.cus_per_engine = draw.integer(8, 16);
  architecture.l2_bytes = pick(draw, std::array<std::int64_t, 2>{1 << 20, 2 << 20});
  architecture.l1_hit_cycles = draw.integer(95, 130);
  architecture.l2_hit_cycles = draw.integer(120, 200);
  architecture.memory_cycles = draw.integer(300, 450);
  architecture.memory_bytes_per_clock_per_channel = draw.uniform(14, 26);
  architecture.launch_overhead_ns = draw.integer(2500, 8000);
  const double volt = draw.uniform(0.75, 1.2);
  const double hertz = draw.uniform(0.6e9, 1.8e9);
  const double floor = draw.uniform(0.52, 0.66);  // voltage at zero clock, relative
  for (const double ratio : {0.55, 0.72, 0.86, 1.0}) {
    architecture.dvfs.push_back({std::round(1e4 * volt * (floor + (1.0 - floor) * ratio)) * 1e-4,
                                 std::round(hertz * ratio * 1e-6) * 1e6});
  }
  architecture.reference_state = static_cast<int>(architecture.dvfs.size()) - 1;
  return architecture;
}

// Draws RDNA 2's deviations: two to four engines of two arrays of eight or ten CUs (Navi 23 to Navi
// 21), lines of 128 B, 1.6 to 2.5 GHz at 0.9 to 1.2 V, and GDDR6 behind the L2.
void draw_rdna(Draw& draw, Architecture& architecture) {
  architecture.gfx_target = "gfx1030";
  architecture.shader_engines = 2 * draw.integer(2, 4);
  architecture.cus_per_engine = pick(draw, std::array{8, 10});
  architecture.waves_per_simd = 8;
  architecture.l1_line_bytes = 128;
  architecture.l2_bytes = pick(draw, std::array<std::int64_t, 2>{2 << 20, 4 << 20});
  architecture.l2_hit_cycles = draw.integer(180, 240);
  architecture.memory_cycles = draw.integer(450, 650);
  architecture.memory_bytes_per_clock_per_channel = draw.uniform(10, 20);
  const double volt = draw.uniform(0.9, 1.2);
  const double hertz = draw.uniform(1.6e9, 2.5e9);
  const DvfsState highest = architecture.dvfs.back();
  for (DvfsState& state : architecture.dvfs) {
    state = {std::round(1e4 * volt * state.voltage_v / highest.voltage_v) * 1e-4,
             std::round(hertz * state.clock_hz / highest.clock_hz * 1e-6) * 1e6};
  }
}

// The caches of shader arrays, by a stream of their own, so that chips are what they were before
// otherwise: RDNA 2's 128 KB of 16 ways (AMD's RDNA white paper), with latencies between those of
// L0 and L2.
void draw_array_caches(const ChipRequest& request, Architecture& architecture, Truth& truth) {
  Draw draw(request.seed * 3 + static_cast<std::uint64_t>(request.chip_class) +
            0x61C1'7000'0000'0000ULL);
  architecture.gl1_bytes = 128 << 10;
  architecture.gl1_ways = 16;
  const double l0 = architecture.l1_hit_cycles;
  architecture.gl1_hit_cycles =
      static_cast<int>(l0 + draw.uniform(0.3, 0.7) * (architecture.l2_hit_cycles - l0));
  truth.events.gl1_hit = draw.uniform(0.7, 2.1) * truth.events.l1_access;
}

// How addresses go to channels, and what a miss of the L2 brings. By a stream of their own, so that
// chips are what they were before otherwise: a quarter are in plain order, the others have a hash,
// a steer or both.
void draw_channel_map(const ChipRequest& request, Architecture& architecture) {
  constexpr int kFirstBit = 8;
  constexpr int kChannelBits = 4;
  constexpr int kLastBit = 33;
  Draw draw(request.seed * 3 + static_cast<std::uint64_t>(request.chip_class) +
            0x51EE'7000'0000'0000ULL);
  const bool hashed = draw.unit() < 0.5;
  const bool steered = draw.unit() < 0.5;
  if (hashed) {
    // Low bit i is in row i; each higher bit, and now and then a low one, in up to two rows.
    for (int row = 0; row < kChannelBits; ++row) {
      architecture.channel_map.hash.push_back({kFirstBit + row});
    }
    for (int bit = kFirstBit + 1; bit <= kLastBit; ++bit) {
      const int rows = draw.integer(1, bit < kFirstBit + kChannelBits ? 1 : 2);
      for (int i = 0; i < rows; ++i) {
        // A low bit goes to rows below its own alone, which keeps every row's channels apart.
        const int below = std::min(bit - kFirstBit, kChannelBits) - 1;
        auto& into =
            architecture.channel_map.hash[static_cast<std::size_t>(draw.integer(0, below))];
        if (into.back() != bit) into.push_back(bit);
      }
    }
  }
  if (steered) {
    std::vector<int>& steer = architecture.channel_map.steer;
    steer.resize(std::size_t{1} << kChannelBits);
    std::iota(steer.begin(), steer.end(), 0);
    for (int i = static_cast<int>(steer.size()) - 1; i > 0; --i) {
      std::swap(steer[static_cast<std::size_t>(i)],
                steer[static_cast<std::size_t>(draw.integer(0, i))]);
    }
  }
  architecture.l2_fetch_bytes = pick(draw, std::array{64, 128});
  if (architecture.l1_line_bytes == 128) architecture.l2_fetch_bytes = 128;
}

void draw_wires(Draw& draw, Truth& truth) {
  const bool nested = truth.chip_class == ChipClass::nested;
  WireTruth& wires = truth.wires;
  const double total = draw.log_uniform(150, 650) * kFemto;  // Cg + 2 Cc
  const double coupling_share = draw.uniform(0.4, 0.65);
  wires.ground_f_per_mm = total * (1.0 - coupling_share);
  wires.coupling_f_per_mm = total * coupling_share / 2;
  const bool interleaved = draw.unit() < 0.5;
  wires.bit_order = !nested && interleaved ? BitOrder::interleaved : BitOrder::straight;
  wires.interleave_stride = pick(draw, std::array{1, 2, 4});
  wires.park_after_cycles = draw.integer(6, 24);
  wires.regrant_beats = draw.integer(16, 48);
  wires.strobe_transitions = draw.uniform(2, 8);
  wires.request_strobes = draw.uniform(1, 4);
  wires.flop_pitch_mm = draw.uniform(2.5, 5.0);
  wires.flop_data_f = draw.uniform(5, 14) * kFemto;
  wires.flop_clock_f = draw.uniform(1.5, 4) * kFemto;
  wires.whole_flops = !nested;
  wires.registers_f_per_mm = total * draw.uniform(0.7, 1.1);
  truth.fabric.mm_per_cycle = wires.flop_pitch_mm * draw.uniform(1.0, 1.2);
  truth.fabric.port_cycles = draw.integer(8, 20);
}

// Draws the switches along a trunk. MIT Raw's network spent 39% on links and 30% on crossbars
// (Wang, Peh, Malik, MICRO 2003), Intel's TeraFLOPS 17% and 15% (Hoskote et al., IEEE Micro 2007):
// switches cost up to 0.9 of what wires do. A third of the chips have none.
void draw_switches(Draw& draw, Truth& truth) {
  constexpr double kMaxShare = 0.9;
  WireTruth& wires = truth.wires;
  const double total = wires.ground_f_per_mm + 2 * wires.coupling_f_per_mm;
  const double share = std::max(0.0, draw.uniform(-kMaxShare / 2, kMaxShare));
  const double follows_data = draw.unit();
  const double growth = draw.uniform(-0.02, 0.04);
  wires.stage_pitch_mm = draw.uniform(2, 6);
  // Random bits charge a wire of C in C / 4, and toggle half of 512 wires a beat.
  wires.stage_data_f = follows_data * share * total / 2 * wires.stage_pitch_mm;
  wires.stage_beat_f = (1 - follows_data) * share * total / 4 * 512 * wires.stage_pitch_mm;
  wires.growth_per_mm = truth.chip_class == ChipClass::nested ? 0.0 : growth;
}

void draw_variation(Draw& draw, Truth& truth) {
  const bool nested = truth.chip_class == ChipClass::nested;
  VariationTruth& variation = truth.variation;
  variation.seed = draw.bits() >> 1;
  const double trunk = draw.uniform(0.05, 0.08);
  const double detour = draw.uniform(0.01, 0.03);
  variation.trunk_capacitance = nested ? 0.0 : trunk;
  variation.trunk_detour = nested ? 0.0 : detour;
  variation.leg_capacitance = draw.uniform(0.02, 0.08);
  variation.memory_capacitance = draw.uniform(0.02, 0.08);
  variation.engine_offset = draw.uniform(0.02, 0.15);
  variation.slice_offset = draw.uniform(0.02, 0.15);
}

// Energies of a 28 nm part (chips/w9100.toml), scaled with the node's capacitance and the die.
void draw_events(Draw& draw, Truth& truth) {
  EventTruth& events = truth.events;
  const double total = truth.wires.ground_f_per_mm + 2 * truth.wires.coupling_f_per_mm;
  const double node = std::pow(total / (560 * kFemto), 0.7);
  const double area = truth.geometry.width_mm * truth.geometry.height_mm / 437.0;
  const auto pf = [&](double typical) { return typical * node * kPico * draw.uniform(0.6, 1.5); };
  events.l2_access = pf(780);
  events.l2_miss = pf(900);
  events.transaction = pf(290);
  events.l1_access = pf(520);
  events.l1_hit = pf(120);
  events.vector_instruction = pf(320);
  events.vector_lane_operation = pf(13);
  events.scalar_instruction = pf(60);
  events.memory_instruction = pf(500);
  events.lds_access = pf(6.5625);
  events.cu_busy_cycle = pf(1000);
  events.wave_resident_cycle = pf(14);
  events.active_cycle = pf(33000) * area;
  events.idle_cycle = pf(2400) * area;
  truth.fabric.cycle_f = pf(300) * area;
}

// How much of the energy of ALUs and memories follows the data, by a stream of its own and after
// the power is known, so that chips are what they were before otherwise. Values move the power of a
// GPU by up to 40% (matrix products; Gregersen, Patel, Choukse 2024; one kernel between 155 and 257
// W; Lucas and Juurlink, MASCOTS 2016): of the vector units alone it is at least as much. The bit
// lines of an SRAM swing whatever is read, and only what leads from them follows the data.
void draw_values(const ChipRequest& request, Truth& truth) {
  if (truth.chip_class == ChipClass::nested) return;
  Draw draw(request.seed * 3 + static_cast<std::uint64_t>(request.chip_class) +
            0xDA7A'7000'0000'0000ULL);
  truth.events.alu_value_share = draw.uniform(0.2, 0.6);
  truth.events.sram_value_share = draw.uniform(0.0, 0.3);
}

// Leakage, heat, regulator and sensor follow from how much the chip draws.
void draw_power(Draw& draw, Truth& truth, double dynamic_w) {
  const bool nested = truth.chip_class == ChipClass::nested;
  LeakageTruth& leakage = truth.leakage;
  leakage.reference_w = dynamic_w * draw.uniform(0.25, 0.55);
  leakage.reference_c = 45.0;
  leakage.flat_share = nested ? draw.uniform(0.40, 0.60) : draw.uniform(0.20, 0.45);
  leakage.efold_c = nested ? draw.uniform(55, 80) : draw.uniform(36, 60);
  leakage.voltage_exponent = nested ? 2.0 : draw.uniform(2.0, 4.0);
  const double engines_share = draw.uniform(0.55, 0.75);
  const double l2_share = draw.uniform(0.12, 0.22);
  leakage.zone_share.assign(static_cast<std::size_t>(truth.engines()),
                            engines_share / truth.engines());
  leakage.zone_share.insert(leakage.zone_share.end(), 4, l2_share / 4);
  leakage.zone_share.push_back(1.0 - engines_share - l2_share);

  const double power_w = dynamic_w + leakage.reference_w;
  ThermalTruth& thermal = truth.thermal;
  const double hot_spot_k = nested ? draw.uniform(0.3, 0.8) : draw.uniform(3.0, 8.0);
  thermal.zone_k_per_w = hot_spot_k / (0.4 * dynamic_w);  // an engine's share while it streams
  thermal.zone_tau_s = draw.log_uniform(0.0005, 0.5);
  const double rise_k = draw.uniform(9, 18);
  const double spreader_share = draw.uniform(0.2, 0.35);
  thermal.spreader_k_per_w = rise_k * spreader_share / power_w;
  thermal.spreader_tau_s = draw.uniform(0.5, 3.0);
  thermal.sink_k_per_w = rise_k * (1.0 - spreader_share) / power_w;
  thermal.sink_tau_s = draw.uniform(10, 40);
  thermal.ambient_c = draw.uniform(24, 36);
  thermal.ambient_drift_c_per_hour = draw.uniform(-1.5, 1.5);
  thermal.ambient_wander_c = nested ? 0.0 : draw.uniform(0.15, 0.5);
  thermal.ambient_wander_tau_s = draw.uniform(150, 600);
  thermal.sensor_zone_weight = nested ? 0.0 : draw.uniform(0.0, 0.6);
  thermal.sensor_tau_s = draw.uniform(0.05, 0.3);
  thermal.sensor_offset_c = draw.uniform(-2, 2);
  thermal.sensor_noise_c = draw.uniform(0.25, 0.5);
  thermal.sensor_resolution_c = pick(draw, std::array{1.0, 1.0, 0.5, 0.125});

  RegulatorTruth& regulator = truth.regulator;
  regulator.load_line_ohm = draw.uniform(0.0, 0.4e-3);
  const bool input_side = draw.unit() < 0.5;
  const double tolerance_95 = input_side ? draw.uniform(0.012, 0.03) : draw.uniform(0.003, 0.008);
  const double marginal = 1.0 + draw.within_tolerance(tolerance_95);
  const double curvature = draw.uniform(-0.015, 0.015);  // of the marginal, from zero to power_w
  regulator.quadratic_per_w = nested || !input_side ? 0.0 : curvature / (2 * power_w);
  regulator.slope = marginal - 2 * regulator.quadratic_per_w * power_w;
  regulator.offset_w = power_w * draw.uniform(0.0, input_side ? 0.04 : 0.01);
}

// An instrument's; draw_card_sensor() may replace it.
void draw_sensor(Draw& draw, Truth& truth) {
  const bool nested = truth.chip_class == ChipClass::nested;
  SensorTruth& sensor = truth.sensor;
  sensor.period_ns = 1'000'000 * pick(draw, std::array<std::int64_t, 6>{1, 1, 2, 5, 10, 20});
  sensor.window_ns = sensor.period_ns * pick(draw, std::array<std::int64_t, 4>{1, 1, 2, 5});
  sensor.delay_ns = sensor.period_ns * draw.integer(0, 2);
  const bool lags = draw.unit() < 0.3;
  const double lag = draw.uniform(0.02, 0.2);
  sensor.lag_s = !nested && lags ? lag : 0.0;
  sensor.gain = 1.0 + draw.within_tolerance(draw.uniform(0.01, 0.05));
  sensor.noise_relative = draw.log_uniform(0.002, 0.01);
  sensor.resolution_w = pick(draw, std::array{0.001, 0.01, 0.0625});
  const double wander = draw.uniform(0.0002, 0.0008);
  sensor.wander_relative = nested ? 0.0 : wander;
  sensor.wander_tau_s = draw.uniform(100, 600);
  const double outliers = draw.log_uniform(1e-5, 2e-4);
  sensor.outlier_probability = nested ? 0.0 : outliers;
  sensor.outlier_relative = draw.uniform(0.1, 0.5);
  const double missing = draw.log_uniform(1e-6, 1e-4);
  sensor.missing_probability = nested ? 0.0 : missing;
  sensor.voltage_resolution_v = draw.uniform(0.001, 0.002);
  sensor.voltage_noise_v = draw.uniform(0.0007, 0.0014);
}

// How wrong the form is, before it is scaled to `size` (about 0 to 1).
struct Misform {
  // 0: uneven routing, 1: uneven with a hop, 2: pair-specific power, 3: switched energy that grows
  // with temperature
  int kind{};
  std::vector<double> pair;  // [engine * quadrants + quadrant], [-1, 1]
  double hop_quantile{};
  double per_k{};
};

Misform draw_misform(Draw& draw, int kind, int pairs) {
  Misform form;
  form.kind = kind;
  form.pair.resize(static_cast<std::size_t>(pairs));
  for (double& value : form.pair) {
    value = draw.uniform(-1, 1);
  }
  form.hop_quantile = draw.uniform(0.4, 0.75);
  if (kind == 3) {  // no draw of its own: chips of the other classes stay what they were
    form.per_k = kMinStrongPerK + (kMaxStrongPerK - kMinStrongPerK) * (form.pair[0] + 1) / 2;
  }
  return form;
}

// size 1: a pair's wires off by 60%, or the price of 12 mm of wire for a hop or a crossing.
void apply_misform(const Misform& form, double size, Truth& truth) {
  WireTruth& wires = truth.wires;
  const double total = wires.ground_f_per_mm + 2 * wires.coupling_f_per_mm;
  if (form.kind == 0 || form.kind == 1) {
    wires.pair_scale.clear();
    for (const double value : form.pair) {
      wires.pair_scale.push_back(1.0 + 0.6 * size * value);
    }
  }
  if (form.kind == 1) {
    std::vector<double> lengths;
    for (const Point hub : truth.geometry.hubs) {
      for (const Point channel : truth.geometry.l2_channels) {
        lengths.push_back(manhattan_mm(hub, channel));
      }
    }
    std::sort(lengths.begin(), lengths.end());
    wires.hop_after_mm =
        lengths[static_cast<std::size_t>(form.hop_quantile * static_cast<double>(lengths.size()))];
    wires.hop_data_f = 12 * size * total * 0.5 * 0.8;
    wires.hop_clock_f = 12 * size * total * 0.25 * 0.2;
  }
  if (form.kind == 2) {
    wires.pair_extra_f.clear();
    for (const double value : form.pair) {
      wires.pair_extra_f.push_back(12 * size * total / 4 * 512 * (value + 1) / 2);
    }
  }
}

Result<Chip> build(const ChipRequest& request, const Architecture& architecture,
                   const Truth& truth) {
  // A floorplan's engines are those that programs see: none is drawn of arrays.
  return ChipBuilder::build(request, architecture, truth,
                            request.is_rdna_drawn() ? "" : to_floorplan_toml(truth.published));
}

// Scales the misform until published distance leaves `target` unexplained; false where it cannot.
Result<bool> reach_residual(const ChipRequest& request, const Architecture& architecture,
                            const Misform& form, double target, Truth& truth) {
  double low = 0.0;
  double high = 1.0;
  for (int iteration = 0; iteration < 8; ++iteration) {
    const double size = iteration == 0 ? high : (low + high) / 2;
    apply_misform(form, size, truth);
    WW_ASSIGN(chip, build(request, architecture, truth));
    const Interaction found = interaction(chip, StreamPattern::random, 128);
    const bool enough = found.residual_ratio >= target || found.per_published_mm <= 0;
    if (iteration == 0 && !enough) {
      return false;
    }
    (enough ? high : low) = size;
  }
  apply_misform(form, high, truth);
  return true;
}

// One candidate; nothing when it breaks a bound.
Result<std::optional<Chip>> attempt(const ChipRequest& request, int kind, Draw& draw) {
  Architecture architecture = draw_architecture(draw);
  if (request.is_rdna_drawn()) draw_rdna(draw, architecture);
  draw_channel_map(request, architecture);
  Truth truth;
  truth.chip_class = request.chip_class;
  draw_wires(draw, truth);
  // Never slower than the core, or it would hold the L2 back.
  truth.fabric.clock_hz =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].clock_hz *
      draw.uniform(1.0, 1.3);
  if (request.is_rdna_drawn()) {
    draw_rdna_geometry(draw, architecture, truth);
  } else {
    draw_geometry(draw, architecture, truth);
  }
  draw_variation(draw, truth);
  Draw switches(draw.bits());
  draw_switches(switches, truth);
  draw_published(draw, truth);
  draw_events(draw, truth);
  if (request.is_rdna_drawn()) draw_array_caches(request, architecture, truth);
  draw_power(draw, truth, 100.0);  // to be replaced once the draw is known
  draw_sensor(draw, truth);
  Draw registers(draw.bits());
  const auto kinds = static_cast<int>(SensorKind::count);
  const auto drawn = static_cast<SensorKind>(registers.integer(0, kinds - 1));
  draw_card_sensor(registers, request.is_rdna_drawn() ? SensorKind::radeon : drawn, truth);
  const Misform form = draw_misform(draw, kind, truth.engines() * truth.quadrants());
  const double residual = draw.uniform(kMinStrongResidual, kMaxStrongResidual);
  Draw power_draw(draw.bits());

  double nearest = 1e9;
  double farthest = 0;
  const int arrays = architecture.arrays_per_engine();
  for (int engine = 0; engine < truth.engines(); engine += arrays) {
    for (int quadrant = 0; quadrant < truth.quadrants(); ++quadrant) {
      double mm = 0;
      for (int array = engine; array < engine + arrays; ++array) {
        mm += truth.published.geometry.mean_distance_mm(array, quadrant) / arrays;
      }
      nearest = std::min(nearest, mm);
      farthest = std::max(farthest, mm);
    }
  }
  if (farthest - nearest < kMinSpreadMm || farthest - nearest > kMaxSpreadMm) {
    return std::nullopt;
  }
  const bool uneven = request.chip_class == ChipClass::strong && kind != 3;
  if (uneven) {
    WW_ASSIGN(reached, reach_residual(request, architecture, form, residual, truth));
    if (!reached) {
      return std::nullopt;
    }
  }
  WW_ASSIGN(bare, build(request, architecture, truth));
  const LaunchActivity activity = stream(bare, 0, 0, {.beats = 256});
  const double dynamic_w = dynamic_power_w(bare, activity);
  const Interaction found = interaction(bare, StreamPattern::random, 256);
  const DvfsState state = architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)];
  const double bits_per_second = 4.0 * 512 * state.clock_hz;
  const double spread_w = found.per_published_mm * (farthest - nearest) * bits_per_second *
                          state.voltage_v * state.voltage_v;
  draw_power(power_draw, truth, dynamic_w);
  const double power_w = dynamic_w + truth.leakage.reference_w;
  const double noise_w = truth.sensor.noise_relative * power_w *
                         std::sqrt(static_cast<double>(truth.sensor.period_ns) * 1e-9);
  const bool plausible = spread_w >= kMinSpreadShare * dynamic_w &&
                         spread_w <= kMaxSpreadShare * dynamic_w &&
                         noise_w <= kMaxNoise * spread_w && power_w < 300 && power_w > 15 &&
                         (uneven ? found.residual_ratio >= kMinStrongResidual
                                 : found.residual_ratio <= kMaxMildResidual);
  if (!plausible) {
    return std::nullopt;
  }
  if (request.chip_class == ChipClass::strong) {
    truth.thermal.dynamic_per_k = form.per_k;
  }
  draw_values(request, truth);
  WW_ASSIGN(chip, build(request, architecture, truth));
  return chip;
}

}  // namespace

Result<Chip> draw_chip(const ChipRequest& request) {
  // Classes share no draws: their chips differ in more than the effects that are switched on.
  Draw draw(request.seed * 3 + static_cast<std::uint64_t>(request.chip_class) +
            (request.is_rdna_drawn() ? 0x2DA0'7000'0000'0000ULL : 0x77A7'7000'0000'0000ULL));
  const int kind = draw.integer(0, 3);
  for (int i = 0; i < kAttempts; ++i) {
    WW_ASSIGN(chip, attempt(request, kind, draw));
    if (chip) {
      return std::move(*chip);
    }
  }
  return fail(
      ErrorCode::out_of_range,
      fmt::format("no plausible {} chip in {} draws", to_string(request.chip_class), kAttempts),
      fmt::format("seed {}", request.seed));
}

}  // namespace ww::sim::gpu
