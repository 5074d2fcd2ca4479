#include "ww/session/device_meter.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ww/core/sensor_tolerances.hpp"

namespace ww::session {
namespace {

constexpr std::string_view kEnergyOfRail = "_energy";
constexpr std::string_view kEnergyTickUnit = "2^-16 J";

struct KnownRail {
  std::string_view name;
  RailOf of{};
  std::string_view covers;
};
constexpr std::array<KnownRail, 9> kKnownRails{{
    {"socket", RailOf::device, "the whole package"},
    {"xcd", RailOf::part, "the compute dies"},
    {"ccd", RailOf::part, "the processor dies"},
    {"aid", RailOf::part,
     "the dies beneath: fabric, Infinity Cache, memory controllers and I/O, so that the network's "
     "joules are at most these"},
    {"hbm", RailOf::part, "the memory stacks"},
    {"cray_accel", RailOf::device,
     "the card by the node's own meter, upstream of the card's regulators"},
    {"cray_node", RailOf::node, "the whole node by its own meter"},
    {"cray_cpu", RailOf::node, "the node's processors by its own meter"},
    {"cray_memory", RailOf::node, "the node's memory by its own meter"},
}};

energy::EnergyReading energy_reading(const SensorReading& reading) {
  return {reading.time_ns, reading.energy_ticks.value_or(energy::kAbsent),
          reading.power_uw.value_or(energy::kAbsent)};
}

KnownRail known_rail(std::string_view rail) {
  const auto* const known = std::ranges::find(kKnownRails, rail, &KnownRail::name);
  return known == kKnownRails.end() ? KnownRail{} : *known;
}

}  // namespace

energy::EnergyOptions energy_options(const measure::SensorFacts& facts) {
  energy::EnergyOptions options;
  options.gain_tolerance_95 = facts.gain_tolerance_95.value_or(kBoardGainTolerance95);
  options.counter_unit = facts.counter_unit;
  options.hold_ends = true;
  return options;
}

Joules joules_of(const energy::Energy& energy) {
  Joules joules{energy.status, energy.reason, {}};
  if (energy.ok()) joules.energy = model::Interval{energy.energy_j, energy.low_j, energy.high_j};
  return joules;
}

Joules joules_together(const std::vector<DeviceJoules>& devices) {
  Joules sum;
  for (const auto& [device, joules] : devices) {
    if (!joules.energy) return {joules.status, device + ": " + joules.reason, {}};
    sum.status = joules.status;
    sum.energy = together(sum.energy.value_or(Interval{}), *joules.energy);
  }
  return sum;
}

MeterReading reading_between(const energy::EnergySeries& series, std::int64_t from_ns,
                             std::int64_t to_ns) {
  const auto energy = energy::energy_between(series, from_ns, to_ns, energy_options({}));
  MeterReading reading;
  reading.seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
  reading.device = joules_of(energy);
  reading.by_accumulator = energy.ok() && energy.source == energy::EnergySource::accumulator;
  if (energy.ok()) reading.power_w = energy.power_w;
  return reading;
}

DeviceMeter::DeviceMeter(measure::Sensor& sensor)
    : sensor_(sensor),
      start_ns_(sensor.now_ns()),
      newest_ns_(start_ns_),
      device_(start_ns_, energy_options(sensor.facts())) {
  static_cast<void>(sensor_.new_rails());  // of before
}

Result<std::vector<SensorReading>> DeviceMeter::take() {
  WW_ASSIGN(readings, sensor_.new_readings());
  for (const SensorReading& reading : readings) {
    if (!reading.energy_ticks && !reading.power_uw) continue;  // a poll without an answer
    device_.add(energy_reading(reading));
    newest_ns_ = std::max(newest_ns_, reading.time_ns);
  }
  for (const RailReading& reading : sensor_.new_rails()) add_rail(reading);
  return readings;
}

void DeviceMeter::add_rail(const RailReading& reading) {
  if (!reading.rail.ends_with(kEnergyOfRail) || reading.unit != kEnergyTickUnit) return;
  const auto name = reading.rail.substr(0, reading.rail.size() - kEnergyOfRail.size());
  auto found = rails_.find(name);
  if (found == rails_.end()) {
    Rail rail{energy::RunningEnergy(start_ns_, energy_options(sensor_.facts()),
                                    reading.source_ns.has_value()),
              {},
              {}};
    found = rails_.emplace(name, std::move(rail)).first;
  }
  Rail& rail = found->second;
  if (reading.source_ns && reading.source_ns == rail.last_ns) return;  // the firmware's old table
  rail.last_ns = reading.source_ns;
  rail.newest_ns = reading.poll_ns;
  if (reading.source_ns) {
    // The table that was read soonest after it was filled shows best how far the clocks differ.
    const std::int64_t ahead_ns = reading.poll_ns - *reading.source_ns;
    rail.ahead_ns = std::min(rail.ahead_ns.value_or(ahead_ns), ahead_ns);
    rail.newest_ns = *reading.source_ns + *rail.ahead_ns;
  }
  rail.energy.add({rail.newest_ns, reading.value, energy::kAbsent});
}

MeterReading DeviceMeter::reading_of(const energy::Energy& device, std::int64_t to_ns,
                                     bool ended) const {
  MeterReading result;
  result.seconds = seconds_to(to_ns);
  result.device = joules_of(device);
  result.by_accumulator = device.ok() && device.source == energy::EnergySource::accumulator;
  if (device.ok()) result.power_w = device.power_w;
  for (const auto& [name, rail] : rails_) {
    const KnownRail known = known_rail(name);
    const std::int64_t end_ns = ended ? to_ns : std::max(rail.newest_ns, start_ns_);
    result.rails.push_back({name, known.of, std::string(known.covers), seconds_to(end_ns),
                            joules_of(rail.energy.until(end_ns))});
  }
  return result;
}

MeterReading DeviceMeter::so_far() const {
  return reading_of(device_.so_far(), newest_ns_, false);
}

MeterReading DeviceMeter::until(std::int64_t to_ns) const {
  return reading_of(device_.until(to_ns), to_ns, true);
}

}  // namespace ww::session
