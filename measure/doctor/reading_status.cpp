#include "ww/measure/reading_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ww/energy/energy.hpp"

namespace ww::measure {
namespace {

struct Bounds {
  double least{}, most{};
  bool zero_is_bad{};  // all readings zero
  bool counter{};
  bool moves_with_load{};
  bool every_poll{};
};

// `value` gives the field of a reading in the unit of the bounds.
template <class Value>
StatusRow judge(std::string field, std::span<const SensorReading> readings, const Bounds& bounds,
                const Value& value) {
  StatusRow row{std::move(field), ReadingStatus::healthy, ""};
  const auto bad = [&row](ReadingStatus status, std::string reason) {
    row.status = status;
    row.reason = std::move(reason);
    return row;
  };
  std::size_t answers = 0;
  bool all_zero = true, moved = false;
  std::optional<double> last;
  for (const SensorReading& reading : readings) {
    const std::optional<double> now = value(reading);
    if (!now) continue;
    ++answers;
    if (bounds.least >= 0 && *now < 0) {
      return bad(ReadingStatus::negative, fmt::format("{} among the readings", *now));
    }
    if (*now < bounds.least || *now > bounds.most) {
      return bad(ReadingStatus::absurd, fmt::format("{} among the readings", *now));
    }
    // The one counter among the fields is the energy accumulator.
    if (bounds.counter && last &&
        !energy::ticks_between(static_cast<std::int64_t>(*last), static_cast<std::int64_t>(*now))) {
      return bad(ReadingStatus::backward,
                 fmt::format("the counter fell from {:.0f} to {:.0f}", *last, *now));
    }
    all_zero = all_zero && *now == 0;
    moved = moved || (last && *now != *last);
    last = now;
  }
  if (answers == 0) return bad(ReadingStatus::no_answer, "not one reading");
  if (bounds.every_poll && answers * 5 < readings.size() * 4) {
    return bad(ReadingStatus::no_answer,
               fmt::format("only {} of {} polls answered", answers, readings.size()));
  }
  if (bounds.zero_is_bad && all_zero) return bad(ReadingStatus::zero, "all readings are zero");
  if (bounds.moves_with_load && !moved) {
    return bad(ReadingStatus::frozen,
               fmt::format("{} readings are all {}, and the load changed", answers, *last));
  }
  return row;
}

// The state of the field that a row reports, by the names that sources give.
const FieldState* state_of(std::string_view row, std::span<const FieldState> fields) {
  const FieldState* found = nullptr;
  for (const FieldState& field : fields) {
    const bool about = field.name == row || field.name.starts_with(std::string(row) + "_");
    // A denied field says more than a missing one.
    if (about && (found == nullptr || field.status == FieldStatus::denied)) found = &field;
  }
  return found;
}

}  // namespace

std::string_view to_string(ReadingStatus status) {
  switch (status) {
    case ReadingStatus::healthy: return "healthy";
    case ReadingStatus::missing: return "missing";
    case ReadingStatus::denied: return "denied";
    case ReadingStatus::no_answer: return "no_answer";
    case ReadingStatus::zero: return "zero";
    case ReadingStatus::negative: return "negative";
    case ReadingStatus::absurd: return "absurd";
    case ReadingStatus::frozen: return "frozen";
    case ReadingStatus::backward: return "backward";
  }
  return "unknown";
}

std::vector<StatusRow> reading_statuses(std::span<const SensorReading> readings,
                                        bool load_changes) {
  const auto scaled = [](const auto& value, double unit) -> std::optional<double> {
    if (!value) return {};
    return static_cast<double>(*value) * unit;
  };
  const Bounds power{0, energy::kMaxDeviceWatts, true, false, load_changes, true};
  const Bounds energy{0, 1e18, true, true, true, true};  // an idle chip uses energy, too
  const Bounds temperature{-100, 200, true, false, false, false};
  const Bounds voltage{0, 10, false, false, false, false};
  const Bounds clock{0, 1e7, false, false, false, false};
  return {
      judge("power", readings, power,
            [&](const SensorReading& r) { return scaled(r.power_uw, 1e-6); }),
      judge("energy", readings, energy,
            [&](const SensorReading& r) { return scaled(r.energy_ticks, 1.0); }),
      judge("temperature", readings, temperature,
            [&](const SensorReading& r) { return scaled(r.temperature_mc, 1e-3); }),
      judge("voltage", readings, voltage,
            [&](const SensorReading& r) { return scaled(r.voltage_uv, 1e-6); }),
      judge("clock", readings, clock,
            [&](const SensorReading& r) { return scaled(r.clock_khz, 1.0); }),
  };
}

void explain_missing(std::vector<StatusRow>& rows, std::span<const FieldState> fields) {
  for (StatusRow& row : rows) {
    if (row.status != ReadingStatus::no_answer) continue;
    const FieldState* state = state_of(row.field, fields);
    if (state == nullptr || state->status == FieldStatus::ok) continue;
    if (state->status == FieldStatus::denied) row.status = ReadingStatus::denied;
    if (state->status == FieldStatus::missing) row.status = ReadingStatus::missing;
    row.reason = state->reason;
  }
}

}  // namespace ww::measure
