#include "ww/session/live_meter.hpp"

#include <cmath>

namespace ww::session {
namespace {

// Nothing is known of a virtual chip's sensor before a test.
const measure::SensorFacts& facts_of_a_chip() {
  static const measure::SensorFacts facts;
  return facts;
}

}  // namespace

void LiveMeter::take(const LiveNews& news) {
  for (const LiveSample& sample : news.samples) {
    auto found = chips_.find(sample.process);
    if (found == chips_.end()) {
      Chip chip{energy::RunningEnergy(sample.time_ns, energy_options(facts_of_a_chip()), true),
                sample.time_ns, sample.time_ns};
      found = chips_.emplace(sample.process, std::move(chip)).first;
    }
    Chip& chip = found->second;
    chip.energy.add({sample.time_ns, sample.energy_ticks.value_or(energy::kAbsent),
                     static_cast<std::int64_t>(std::llround(sample.power_w * 1e6))});
    chip.newest_ns = sample.time_ns;
  }
}

MeterReading LiveMeter::so_far() const {
  MeterReading all;
  all.device.reason = "no reading of the chip's sensor yet";
  all.by_accumulator = true;
  bool first = true;
  for (const auto& [process, chip] : chips_) {
    const energy::Energy one = chip.energy.so_far();
    all.seconds += static_cast<double>(chip.newest_ns - chip.first_ns) * 1e-9;
    all.by_accumulator = all.by_accumulator && one.source == energy::EnergySource::accumulator;
    const Joules joules = joules_of(one);
    // A sum without one of its parts would be too low.
    if (first || !joules.energy) {
      all.device = joules;
    } else if (all.device.energy) {
      all.device.energy = together(*all.device.energy, *joules.energy);
    }
    first = false;
  }
  if (all.device.energy && all.seconds > 0) all.power_w = all.device.energy->value / all.seconds;
  return all;
}

}  // namespace ww::session
