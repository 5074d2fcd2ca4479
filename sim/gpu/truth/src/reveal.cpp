#include "ww/sim/gpu/reveal.hpp"

#include <numeric>

#include "draw.hpp"
#include "energy_ledger.hpp"
#include "interaction.hpp"
#include "prefixes.hpp"
#include "transitions/transitions.hpp"
#include "truth.hpp"
#include "ww/core/wire_constants.hpp"

namespace ww::sim::gpu {
namespace {

// Random bits enough for a standard error of the toggle count of 1.2e-4 of itself.
constexpr std::int64_t kBeats = 32768;
// Beats where a line is all ones or all zeros: what a bus that parks now and then costs follows
// single lines.
constexpr std::int64_t kUniformBeats = 4 * kBeats;
constexpr double kRandomToggleRate = 0.5;
constexpr double kHalfRandomToggleRate = 0.25;
constexpr double kVoltageExponent = 2.0;

// Switched capacitance per random bit and mm between L2 and memory, by running the accounting.
double memory_f_per_bit_mm(const Chip& chip) {
  const Truth& truth = chip.truth();
  const auto ledger = make_energy_ledger(chip);
  ledger->begin_launch();
  Draw draw(1);
  double bit_mm = 0;
  constexpr std::int64_t kLines = 1024;
  for (std::int64_t line = 0; line < kLines; ++line) {
    for (int channel = 0; channel < truth.channels(); ++channel) {
      std::uint64_t words[8];
      for (auto& word : words) {
        word = draw.bits();
      }
      ledger->memory({2 * line, static_cast<std::uint16_t>(channel), false,
                      reinterpret_cast<const std::byte*>(words)});
      bit_mm += 512.0 * truth.memory_links[static_cast<std::size_t>(channel)].length_mm;
    }
  }
  return ledger->end_launch(0, {}, {}).parts_f.l2_memory / bit_mm;
}

// Switched capacitance of the payload's wires alone per random bit and mm, mean over trunks.
double wire_f_per_bit_mm(const Chip& chip) {
  const Truth& truth = chip.truth();
  const LaunchActivity activity = stream(chip, 0, 0, {.beats = kBeats, .with_cores = false});
  const auto& counted = activity.monitors.trunks;
  TransitionCounts counts;
  counts.toggles = counted.toggles;
  counts.adjacent = counted.adjacent;
  counts.opposite = counted.opposite;
  double mm = 0;
  double scaled_mm = 0;
  for (const Truth::Link& link : truth.trunks) {
    mm += link.length_mm;
    scaled_mm += link.length_mm * link.scale;
  }
  return counts.capacitance_f(truth.wires.ground_f_per_mm, truth.wires.coupling_f_per_mm) /
         static_cast<double>(activity.payload_bits) * scaled_mm / mm;
}

struct PerMm {
  double of_true{};
  double of_published{};
};

// Switched capacitance per random bit and mm within an engine: fours of CUs, whose chunks are dealt
// to them in turn, one against another of the same engine.
PerMm legs_f_per_bit_mm(const Chip& chip) {
  constexpr int four = 4;
  constexpr std::int64_t kLinesPerChunk = 4;
  constexpr std::int64_t kLegBeats = kBeats / 16;
  const Truth& truth = chip.truth();
  const auto& published = truth.published.geometry;
  const int cus = chip.architecture().cus_per_engine;
  const int groups = cus / four;
  const auto& members = truth.geometry.quadrants.front();
  std::vector<double> energy, true_mm, published_mm;  // [engine * groups + group]
  for (int engine = 0; engine < truth.engines(); ++engine) {
    for (int group = 0; group < groups; ++group) {
      const auto ledger = make_energy_ledger(chip);
      ledger->begin_launch();
      Draw draw(1);
      for (std::int64_t beat = 0; beat < kLegBeats; ++beat) {
        const auto cu = four * group + static_cast<int>(beat / kLinesPerChunk % four);
        for (const int channel : members) {
          std::uint64_t words[8];
          for (auto& word : words) {
            word = draw.bits();
          }
          CrossbarTransfer transfer;
          transfer.cycle = beat;
          transfer.address = static_cast<std::uint64_t>(beat) * 64;
          transfer.engine = static_cast<std::uint16_t>(engine);
          transfer.cu = static_cast<std::uint16_t>(cu);
          transfer.channel = static_cast<std::uint16_t>(channel);
          transfer.kind = TransferKind::read;
          transfer.bytes = 64;
          transfer.payload = reinterpret_cast<const std::byte*>(words);
          ledger->crossbar(transfer);
        }
      }
      const LaunchActivity activity = ledger->end_launch(0, {}, {});
      energy.push_back(
          std::accumulate(activity.capacitance_f.begin(), activity.capacitance_f.end(), 0.0) /
          static_cast<double>(activity.payload_bits));
      double leg = 0;
      double way = 0;
      for (int cu = four * group; cu < four * (group + 1); ++cu) {
        leg += truth.legs[static_cast<std::size_t>(engine * cus + cu)].length_mm / four;
        const auto& ports = published.compute_units[static_cast<std::size_t>(engine)];
        for (const Point channel : published.l2_channels) {
          way += manhattan_mm(ports[static_cast<std::size_t>(cu)], channel) / four /
                 static_cast<double>(published.l2_channels.size());
        }
      }
      true_mm.push_back(leg);
      published_mm.push_back(way);
    }
  }
  // Engines differ by more than legs do: each has an offset of its own.
  const auto per_mm = [&](const std::vector<double>& mm) {
    double product = 0;
    double square = 0;
    for (int engine = 0; engine < truth.engines(); ++engine) {
      const auto first = static_cast<std::size_t>(engine * groups);
      const auto mean = [&](const std::vector<double>& of) {
        const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
        return std::accumulate(begin, begin + groups, 0.0) / groups;
      };
      for (std::size_t at = first; at < first + static_cast<std::size_t>(groups); ++at) {
        product += (energy[at] - mean(energy)) * (mm[at] - mean(mm));
        square += (mm[at] - mean(mm)) * (mm[at] - mean(mm));
      }
    }
    return square > 0 ? product / square : 0.0;
  };
  return {per_mm(true_mm), per_mm(published_mm)};
}

}  // namespace

std::vector<RevealedWay> reveal_ways(const Chip& chip) {
  if (chip.architecture().dies == 1) return {};
  if (chip.architecture().xgmi_links != 0) {
    // Only the socket meters the links, as it meters all else.
    const Truth& all = chip.truth();
    const double sensed =
        all.sensor.gain *
        (all.regulator.slope + 2.0 * all.regulator.quadratic_per_w * stream_power_w(chip));
    return {{"xgmi", 1e12 * all.xgmi.bit_j, sensed * 1e12 * all.xgmi.bit_j}};
  }
  const IoDieTruth& truth = chip.truth().io_dies;
  const RailsTruth& rails = chip.truth().rails;
  std::vector<RevealedWay> ways;
  const auto add = [&ways](const char* name, double joules, double gain) {
    ways.push_back({name, joules * 1e12, gain * joules * 1e12});
  };
  add("row_hop", truth.row_hop_j, rails.aid_gain);
  add("column_hop", truth.column_hop_j, rails.aid_gain);
  add("across", truth.crossing_j(IoDieWay::across), rails.aid_gain);
  add("memory_phy", truth.memory_phy_j, rails.aid_gain);
  add("memory", truth.memory_j, rails.hbm_gain);
  add("compute_die_and_cache", truth.compute_die_j + truth.infinity_cache_j, rails.aid_gain);
  add("compute_die", truth.compute_die_j, rails.aid_gain);
  add("infinity_cache", truth.infinity_cache_j, rails.aid_gain);
  return ways;
}

TrueHomes::TrueHomes(const Chip& chip)
    : chip_(chip),
      lookup_(chip.architecture().channel_map, chip.architecture().l2_channels,
              chip.architecture().channel_interleave_bytes) {}

int TrueHomes::home_of(std::uint64_t address) const {
  const std::uint64_t block =
      (address - kDeviceBase) /
      static_cast<std::uint64_t>(chip_.architecture().channel_interleave_bytes);
  return chip_.truth().quadrant_of_channel[lookup_.channel(block)];
}

double sensed_power_w(const Chip& chip, double chip_w) {
  const RegulatorTruth& regulator = chip.truth().regulator;
  return chip.truth().sensor.gain *
         (regulator.offset_w + chip_w * (regulator.slope + regulator.quadratic_per_w * chip_w));
}

double power_behind_sensor_w(const Chip& chip, double sensed_w) {
  const RegulatorTruth& regulator = chip.truth().regulator;
  const double shunt_w = sensed_w / chip.truth().sensor.gain - regulator.offset_w;
  double power_w = shunt_w / regulator.slope;
  constexpr int kIterations = 20;  // the quadratic part is some percent
  for (int i = 0; i < kIterations; ++i) {
    power_w = shunt_w / (regulator.slope + regulator.quadratic_per_w * power_w);
  }
  return power_w;
}

double loaded_voltage_v(const Chip& chip, double idle_w, double dynamic_w) {
  const Truth& truth = chip.truth();
  const Architecture& architecture = chip.architecture();
  const double nominal_v =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].voltage_v;
  const double others_w = truth.io_dies.idle_w + truth.io_dies.memory_idle_w + truth.xgmi.idle_w;
  double ratio = 1;
  constexpr int kIterations = 20;  // the droop is some percent
  for (int i = 0; i < kIterations; ++i) {
    const double core_w = idle_w - others_w + dynamic_w * ratio * ratio;
    ratio = 1 - truth.regulator.load_line_ohm * core_w / (ratio * nominal_v * nominal_v);
  }
  return ratio * nominal_v;
}

RevealedValues reveal_values(const Chip& chip) {
  const EventTruth& events = chip.truth().events;
  return {events.alu_value_share, events.sram_value_share};
}

Result<Revealed> reveal(const Chip& chip, const FlightTable& measured_ns) {
  const Truth& truth = chip.truth();
  const int engines = truth.engines() / chip.architecture().arrays_per_engine();
  bool fits = measured_ns.empty() || std::ssize(measured_ns) == engines;
  for (const auto& row : measured_ns) fits = fits && std::ssize(row) == truth.quadrants();
  if (!fits) {
    return fail(ErrorCode::invalid_argument,
                "flight times of each engine and each quadrant are needed",
                chip.architecture().name);
  }
  const Architecture& architecture = chip.architecture();
  const double volt =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].voltage_v;
  const double fj = volt * volt / kFemto;
  const double power_w = stream_power_w(chip);
  // Droop is left out: telemetry shows it to a fit.
  const double sensed =
      truth.sensor.gain * (truth.regulator.slope + 2.0 * truth.regulator.quadratic_per_w * power_w);

  const Interaction random = interaction(chip, StreamPattern::random, kBeats, measured_ns);
  const Interaction half = interaction(chip, StreamPattern::half_random, kBeats);
  const Interaction zeros = interaction(chip, StreamPattern::zeros, kBeats);
  const Interaction ones = interaction(chip, StreamPattern::ones, kBeats);
  const Interaction alternating = interaction(chip, StreamPattern::alternating, kBeats);
  const Interaction uniform = interaction(chip, StreamPattern::uniform_lines, kUniformBeats);
  const Interaction sparse = interaction(chip, StreamPattern::density_25, kBeats);
  const Interaction dense = interaction(chip, StreamPattern::density_75, kBeats);
  const Interaction equal = interaction(chip, StreamPattern::pairs_equal, kBeats);
  const Interaction opposite = interaction(chip, StreamPattern::pairs_opposite, kBeats);
  if (!(random.per_true_mm > 0)) {
    return fail(ErrorCode::bad_data, "no energy of this chip follows distance", architecture.name);
  }
  constexpr double kRates = kRandomToggleRate - kHalfRandomToggleRate;
  Revealed revealed;
  revealed.chip_class = truth.chip_class;
  revealed.control_toggles_per_bit = random.control_toggles_per_bit;
  revealed.energy_fj_per_bit_mm = random.per_true_mm * fj;
  revealed.sensed_fj_per_bit_mm = random.per_published_mm * fj * sensed;
  revealed.sensor_factor = sensed;
  std::vector<WireConstant> which;  // beside revealed.constants
  const auto add = [&](WireConstant constant, double of_true, double of_published) {
    which.push_back(constant);
    revealed.constants.push_back(
        {name_of(constant), of_true * fj, of_published * fj * sensed, unit_of(constant)});
  };
  add(WireConstant::energy, random.per_true_mm, random.per_published_mm);
  // A fit's millimetres are published ones, here as there.
  const double wires = wire_f_per_bit_mm(chip);
  revealed.wire_fj_per_bit_mm = wires * fj;
  add(WireConstant::wire_energy, wires, wires * random.per_published_mm / random.per_true_mm);
  add(WireConstant::zero_toggle_intercept, zeros.per_true_mm, zeros.per_published_mm);
  add(WireConstant::toggle_slope, (random.per_true_mm - half.per_true_mm) / kRates,
      (random.per_published_mm - half.per_published_mm) / kRates);
  // This truth stands also under the names of the lock-in and the plateau estimate.
  for (const WireConstant way : {WireConstant::lock_in_energy, WireConstant::plateau_energy}) {
    add(way, random.per_true_mm, random.per_published_mm);
  }
  const auto add_difference = [&](WireConstant constant, const Interaction& a, const Interaction& b,
                                  double factor) {
    add(constant, factor * (a.per_true_mm - b.per_true_mm),
        factor * (a.per_published_mm - b.per_published_mm));
  };
  add_difference(WireConstant::coupling, random, uniform, 1.0);
  add_difference(WireConstant::neighbour_coupling, opposite, equal, 1.0);
  add_difference(WireConstant::zero_bit_value, sparse, dense, 2.0);
  add(WireConstant::ones_intercept, ones.per_true_mm, ones.per_published_mm);
  add(WireConstant::aa_intercept, alternating.per_true_mm, alternating.per_published_mm);
  // Segments whose distances the published floorplan gives as they are meant to be.
  const double registers = kRandomToggleRate * truth.wires.registers_f_per_mm / 2;
  add(WireConstant::registers_l1_energy, registers, registers);
  const double per_bit = registers * truth.geometry.registers_to_l1_mm;
  add(WireConstant::registers_l1_per_bit, per_bit, per_bit);
  const double memory = memory_f_per_bit_mm(chip);
  add(WireConstant::l2_memory_energy, memory, memory);
  const PerMm legs = legs_f_per_bit_mm(chip);
  if (legs.of_true > 0) {  // engines of fewer than two fours of CUs have no near and far ones
    add(WireConstant::legs_energy, legs.of_true, legs.of_published);
  }
  // Converts the constants to ns of flight, for campaigns without millimetres. A nanosecond there
  // and back is mm_per_ns true millimetres; a fit's nanoseconds are those that it measured.
  const double mm_per_ns = truth.fabric.mm_per_cycle * truth.fabric.clock_hz * 1e-9 / 2;
  const double seen_per_published = random.per_flight_ns / random.per_published_mm;
  revealed.sensed_fj_per_bit_ns = revealed.sensed_fj_per_bit_mm * seen_per_published;
  const std::size_t by_mm = revealed.constants.size();
  for (std::size_t i = 0; i < by_mm; ++i) {
    if (!follows_distance(which[i])) continue;
    RevealedConstant constant = revealed.constants[i];
    constant.name = name_of(which[i], Distance::ns);
    constant.unit = unit_of(which[i], Distance::ns);
    constant.truth *= mm_per_ns;
    constant.sensed *= seen_per_published;
    revealed.constants.push_back(std::move(constant));
  }
  // The ledger keeps switched capacitance, whatever the clock.
  const auto add_number = [&](WireConstant constant, double truth, double seen) {
    revealed.constants.push_back({name_of(constant), truth, seen, unit_of(constant)});
  };
  add_number(WireConstant::voltage_exponent_along_curve, kVoltageExponent, kVoltageExponent);
  add_number(WireConstant::voltage_exponent, kVoltageExponent, kVoltageExponent);
  add_number(WireConstant::frequency_exponent, 0.0, 0.0);
  if (const double link_fj = truth.memory_side.die_link_j / kFemto; link_fj > 0) {
    add_number(WireConstant::fanout_link, link_fj, link_fj * sensed);
  }
  return revealed;
}

}  // namespace ww::sim::gpu
