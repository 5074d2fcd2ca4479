#include "ww/energy/running_energy.hpp"

#include <algorithm>

#include "moves.hpp"

namespace ww::energy {
namespace {

// Readings at both ends that are never dropped: they say when a stretch began and ended.
constexpr std::size_t kEnds = 16;
// A counter of 32 bits wraps after two minutes under full load, and whoever reads it must see that.
constexpr std::int64_t kLongestStepNs = 20'000'000'000;

double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) * kSecondsPerNs;
}

// One stretch and the next.
Energy joined(const Energy& before, const Energy& after, double seconds) {
  Energy both = after;
  both.energy_j += before.energy_j;
  both.low_j += before.low_j;
  both.high_j += before.high_j;
  both.power_w = both.energy_j / seconds;
  if (before.source == EnergySource::power_register) both.source = before.source;
  if (both.reason.empty()) both.reason = before.reason;
  return both;
}

}  // namespace

RunningEnergy::RunningEnergy(std::int64_t from_ns, EnergyOptions options, bool stamped,
                             std::size_t room)
    : options_(options),
      room_(std::max(room, kMinRoom)),
      start_ns_(from_ns),
      open_from_ns_(from_ns) {
  open_.stamped = stamped;
}

void RunningEnergy::add(const EnergyReading& reading) {
  if (reading.time_ns < start_ns_) return;
  open_.readings.push_back(unwrapped(reading));
  if (open_.readings.size() >= room_) make_room();
}

EnergyReading RunningEnergy::unwrapped(EnergyReading reading) {
  if (reading.ticks == kAbsent) return reading;
  if (last_ && reading.ticks < last_->ticks) {
    // A counter that was reset, or a faulty answer, would have to have counted too much.
    const auto ticks = ticks_between(last_->ticks, reading.ticks);
    const double seconds = std::max(1.0, seconds_of(reading.time_ns - last_->time_ns));
    const bool wrapped =
        ticks && static_cast<double>(*ticks) * kJoulesPerTick <= kMaxDeviceWatts * seconds;
    if (wrapped) wrapped_ticks_ += last_->ticks + *ticks - reading.ticks;
  }
  last_ = reading;
  reading.ticks += wrapped_ticks_;
  return reading;
}

void RunningEnergy::make_room() {
  const std::int64_t newest_ns = open_.readings.back().time_ns;
  const Energy open = energy_between(open_, open_from_ns_, newest_ns, options_);
  if (!open.ok() || open.source != EnergySource::power_register) {
    thin();
    return;
  }
  closed_ = closed_ ? joined(*closed_, open, seconds_of(newest_ns - start_ns_)) : open;
  open_from_ns_ = newest_ns;
  open_.readings.erase(open_.readings.begin(), open_.readings.end() - 1);
}

void RunningEnergy::thin() {
  auto& readings = open_.readings;
  const std::int64_t span_ns = readings.back().time_ns - readings.front().time_ns;
  if (2 * span_ns / static_cast<std::int64_t>(room_) > kLongestStepNs) {
    room_ *= 2;
    return;
  }
  std::size_t kept = kEnds;
  for (std::size_t i = kEnds; i < readings.size(); ++i) {
    if (i % 2 == 0 || i + kEnds >= readings.size()) readings[kept++] = readings[i];
  }
  readings.resize(kept);
}

Energy RunningEnergy::until(std::int64_t to_ns) const {
  Energy open = energy_between(open_, open_from_ns_, to_ns, options_);
  if (!closed_) return open;
  // Soon after a stretch was closed the next one has too few readings.
  if (open.status == RowStatus::unavailable) return *closed_;
  if (!open.ok()) return open;
  return joined(*closed_, open, seconds_of(to_ns - start_ns_));
}

Energy RunningEnergy::so_far() const {
  return until(open_.readings.empty() ? open_from_ns_ : open_.readings.back().time_ns);
}

}  // namespace ww::energy
