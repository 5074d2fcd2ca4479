#include "ww/model/wire_model.hpp"
#include "ww/core/statistics.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/calibration/payloads.hpp"
#include "fit/solver/assumptions.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/named_file.hpp"

namespace ww::model {
namespace {

using nlohmann::json;

constexpr double kLargestRouteMm = 200;  // across a die and back

std::optional<double> number(const JsonReader& object, const char* key) {
  std::optional<double> value;
  object.read_optional(key, value);
  return value;
}

std::string text(const JsonReader& object, const char* key) {
  std::string value;
  object.read_optional(key, value);
  return value;
}

// The objects of a list that may be absent.
std::vector<JsonReader> rows_of(const JsonReader& object, const char* key) {
  return object.has(key) ? object.objects(key) : std::vector<JsonReader>{};
}

// A fitted constant that has a value: its absolute interval and its sensed half-width.
struct Constant {
  Interval interval;
  double sensed_half_width{};
  double sensed_low{};
};

std::optional<Constant> constant(const JsonReader& model, std::string_view name) {
  for (const JsonReader& row : rows_of(model, "constants")) {
    const std::string status = text(row, "status");
    if (text(row, "name") != name || (status != "ok" && status != "misfit")) continue;
    const auto value = number(row, "value");
    if (!value) continue;
    const double low = number(row, "low").value_or(*value);
    const double high = number(row, "high").value_or(*value);
    const double sensed_low = number(row, "sensed_low").value_or(low);
    const double sensed_high = number(row, "sensed_high").value_or(high);
    return Constant{{*value, low, high}, (sensed_high - sensed_low) / 2, sensed_low};
  }
  return std::nullopt;
}

// A mean route, whose ends may lie elsewhere by so much together.
Interval route(double mm, double error_mm) {
  return {mm, std::max(0.0, mm - error_mm), mm + error_mm};
}

std::optional<Interval> known_route(std::optional<double> mm, double error_mm) {
  if (!mm || !(*mm > 0)) return std::nullopt;
  return route(*mm, error_mm);
}

// Exponents of V and f, where the fit identified them.
void read_exponents(const JsonReader& model, WireModel& result) {
  const auto voltage = constant(model, "voltage_exponent");
  const auto frequency = constant(model, "frequency_exponent");
  if (!voltage && !frequency) {
    result.exponent_note = "V^2 f: the calibration does not identify exponents of its own";
    if (const auto along = constant(model, "voltage_exponent_along_curve")) {
      Interval& exponent = result.voltage_exponent;
      exponent.low = std::min(exponent.low, along->interval.low);
      exponent.high = std::max(exponent.high, along->interval.high);
      result.exponent_note += fmt::format(
          "; along the device's curve it found V^{:.2f} ({:.2f} to {:.2f}), which the interval has",
          along->interval.value, along->interval.low, along->interval.high);
    }
    return;
  }
  if (voltage) result.voltage_exponent = voltage->interval;
  // The constants are exponents of the energy; power has one more f.
  if (frequency) {
    const Interval& of_energy = frequency->interval;
    result.frequency_exponent = {1 + of_energy.value, 1 + of_energy.low, 1 + of_energy.high};
  }
  result.exponent_note = fmt::format("exponents of V ({}) and f ({}) as fitted",
                                     voltage ? "fitted" : "2", frequency ? "fitted" : "1");
}

std::vector<VariantActivity> read_variants(const JsonReader& model, const std::string& unit) {
  std::vector<VariantActivity> variants;
  for (const JsonReader& row : rows_of(model, "variant_wires")) {
    const auto energy = number(row, ("energy_fj_per_bit_" + unit).c_str());
    const auto error = number(row, "error");
    const auto slots = number(row, "slot_bits_per_bit");
    const auto toggles = number(row, "toggles_per_bit");
    const auto adjacent = number(row, "adjacent_per_bit");
    const auto opposite = number(row, "opposite_per_bit");
    if (!energy || !error || !slots || !toggles || !adjacent || !opposite) continue;
    int throttle = 0;
    row.read_optional("throttle", throttle);
    variants.push_back({text(row, "pattern"), throttle, *energy, *error, *slots, *toggles,
                        *adjacent, *opposite, number(row, "control_toggles_per_bit").value_or(0),
                        number(row, "control_adjacent_per_bit").value_or(0),
                        number(row, "control_opposite_per_bit").value_or(0)});
  }
  return variants;
}

// Whether a model's energy is per nanosecond: it has that one and none per millimetre.
bool is_per_ns(const JsonReader& model) {
  const auto per_mm = model.optional_object("energy_fj_per_bit_mm");
  return model.has("energy_fj_per_bit_ns") && !(per_mm && number(*per_mm, "value"));
}

Status read_millimetres(const JsonReader& model, WireModel& result) {
  const JsonReader distances = model.object("distances");
  std::vector<std::vector<double>> engines;
  distances.read_optional("engine_to_quadrant_mm", engines);
  const auto registers_mm = number(distances, "registers_to_l1_mm");
  const auto memory_mm = number(distances, "l2_to_memory_mm");
  const std::string floorplan = text(distances, "floorplan");
  // Models of earlier versions do not say it.
  double error_mm = 0;
  distances.read_optional_within("route_error_95_mm", 0, kLargestRouteMm, error_mm);
  WW_TRY(model.status());
  double sum = 0;
  int pairs = 0;
  for (const auto& engine : engines) {
    for (const double distance : engine) {
      if (!(distance > 0)) {
        return fail(ErrorCode::bad_data, "a distance of engine_to_quadrant_mm is not above 0");
      }
      sum += distance;
      ++pairs;
    }
  }
  if (pairs == 0) {
    return fail(ErrorCode::bad_data, "distances.engine_to_quadrant_mm is missing");
  }
  result.distance_mm[0] = known_route(registers_mm, error_mm);
  result.distance_mm[1] = known_route(sum / pairs, error_mm);
  result.distance_mm[2] = known_route(memory_mm, error_mm);
  result.distance_source = "floorplan " + floorplan;
  return {};
}

// The times of a model without millimetres: bounds of the whole way between L1 and L2, and nothing
// of the other segments, which nobody timed.
Status read_flight(const JsonReader& model, WireModel& result) {
  const auto distances = model.optional_object("distances");
  const auto whole = distances ? distances->optional_object("whole_flight_ns") : std::nullopt;
  if (!whole) {
    return fail(
        ErrorCode::bad_data,
        "the energy is per nanosecond, and distances.whole_flight_ns, which bounds the "
        "whole way, is missing: the campaign had no payload of zeros beside random data, or "
        "an older fit wrote the file. Run 'wirewatt fit' again, or 'wirewatt calibrate' "
        "with a floorplan");
  }
  const auto low = number(*whole, "low");
  const auto high = number(*whole, "high");
  WW_TRY(model.status());
  if (!low || !high || *low < 0 || !(*high > *low)) {
    return fail(ErrorCode::bad_data,
                "distances.whole_flight_ns needs a low of 0 or more and a "
                "greater high");
  }
  result.distance_mm[1] = Interval{(*low + *high) / 2, *low, *high};
  const char* const untimed = "its flight was not timed, and the model has no millimetres";
  result.refused[0] = untimed;
  result.refused[2] = untimed;
  result.distance_source =
      fmt::format("bounds of the flight there and back, {:.3g} to {:.3g} ns", *low, *high);
  return {};
}

// How far an interval reaches down and up, over its value: further up, where a scale divides it.
std::pair<double, double> shares_of(const Interval& interval) {
  return {1 - interval.low / interval.value, interval.high / interval.value - 1};
}

// Takes a part out of a relative half-width and returns the rest.
double without(double share, double part) {
  return std::sqrt(std::max(0.0, share * share - part * part));
}

// A ratio above 0 to the power of an exponent.
Interval power_of(double ratio, const Interval& exponent) {
  const auto [low, high] =
      std::minmax({std::pow(ratio, exponent.low), std::pow(ratio, exponent.high)});
  return {std::pow(ratio, exponent.value), low, high};
}

}  // namespace

std::string_view to_string(WireSegment segment) {
  switch (segment) {
    case WireSegment::registers_l1: return "registers_l1";
    case WireSegment::l1_l2: return "l1_l2";
    case WireSegment::l2_memory: return "l2_memory";
  }
  return "unknown";
}

Interval WireModel::energy_factor(double voltage_v) const {
  return power_of(voltage_v / reference_voltage_v, voltage_exponent);
}

Interval WireModel::power_factor(double voltage_v, double clock_hz) const {
  return product(energy_factor(voltage_v),
                 power_of(clock_hz / reference_clock_hz, frequency_exponent));
}

Interval WireModel::of_data(const AssumedData& data) const {
  const Interval rate = equivalent_rate(data, coupling_share);
  const Interval in_proportion = random.times(rate.value / kRandomToggleRate);
  if (!toggle_slope) {
    // Through the origin, as IISWC'16 has it; what costs energy without toggles may add to it.
    const Interval energy{in_proportion.value, std::min(in_proportion.low, random.low),
                          std::max(in_proportion.high, random.high)};
    const double per_rate = random.value / kRandomToggleRate;
    const double up = std::hypot(energy.high - energy.value, per_rate * (rate.high - rate.value));
    const double down = std::hypot(energy.value - energy.low, per_rate * (rate.value - rate.low));
    return {energy.value, std::max(0.0, energy.value - down), energy.value + up};
  }
  const double away = rate.value - kRandomToggleRate;
  const double value = std::max(0.0, random.value + toggle_slope->value * away);
  const double slope_half = (toggle_slope->high - toggle_slope->low) / 2;
  // The campaign's own error stays as it is; the rest, such as the gain's, scales with the energy.
  const auto [share_down, share_up] = shares_of(random);
  const double own = sensed_half_width / random.value;
  const double half_down =
      std::hypot(without(share_down, own) * value, sensed_half_width, slope_half * away);
  const double half_up =
      std::hypot(without(share_up, own) * value, sensed_half_width, slope_half * away);
  if (rate.low == rate.high) {
    return {value, std::max(0.0, value - half_down), value + half_up};
  }
  // The data's effect is independent of the model's errors, up and down apart. The energy of wires
  // without toggles was measured on full lines; anything from none to all of it goes with the bits
  // of an application.
  const double least = std::min(random.value + toggle_slope->value * (rate.low - kRandomToggleRate),
                                random.value * rate.low / kRandomToggleRate);
  const double up = std::hypot(half_up, toggle_slope->value * (rate.high - rate.value));
  const double down = std::hypot(half_down, std::max(0.0, value - least));
  return {value, std::max(0.0, value - down), value + up};
}

Interval WireModel::of_activity(const WireActivity& activity) const {
  const std::array x = {activity.slot_bits, activity.toggles, activity.coupling()};
  double value = 0;
  double variance = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    value += events->fj_per_mm[i] * x[i];
    for (std::size_t j = 0; j < 3; ++j) variance += x[i] * events->covariance[i][j] * x[j];
  }
  value = std::max(0.0, value);
  const double events_half = kNormal95 * std::sqrt(std::max(0.0, variance));
  const auto [down, up] = shares_of(random);
  return {value, std::max(0.0, value - std::hypot(events_half, down * value)),
          value + std::hypot(events_half, up * value)};
}

Result<WireEvents> solve_wire_events(std::span<const VariantActivity> variants) {
  if (variants.size() < 3) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} payloads with wire activity; three are needed", variants.size()));
  }
  double scale = 0;
  for (const auto& variant : variants) scale = std::max(scale, variant.energy_fj_per_bit_mm);
  const auto count = static_cast<Eigen::Index>(variants.size());
  Eigen::MatrixXd features(count + 1, 3);
  Eigen::VectorXd energy(count + 1);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& variant = variants[static_cast<std::size_t>(i)];
    const double error = std::hypot(variant.error, kFormError * scale);
    WireActivity all{variant.slot_bits, variant.toggles, variant.adjacent, variant.opposite};
    all += {0, variant.control_toggles, variant.control_adjacent, variant.control_opposite};
    features.row(i) << all.slot_bits, all.toggles, all.coupling();
    features.row(i) /= error;
    energy(i) = variant.energy_fj_per_bit_mm / error;
  }
  // Prior: coupling - share * toggle = 0 +- error * (energy of a random bit's toggles).
  const double prior_error = kCouplingShareError * scale / kRandomToggleRate;
  features.row(count) << 0, -kCouplingShare / prior_error, 1 / prior_error;
  energy(count) = 0;
  const Eigen::Matrix3d normal = features.transpose() * features;
  const Eigen::LDLT<Eigen::Matrix3d> solver(normal);
  if (solver.info() != Eigen::Success || !solver.isPositive()) {
    return fail(ErrorCode::bad_data,
                "the payloads do not separate the energy of toggles from that of the clock");
  }
  const Eigen::Vector3d solved = solver.solve(features.transpose() * energy);
  Eigen::Matrix3d covariance = solver.solve(Eigen::Matrix3d::Identity());
  if (!solved.allFinite() || !covariance.allFinite()) {
    return fail(ErrorCode::bad_data,
                "the payloads do not separate the energy of toggles from that of the clock");
  }
  // A shift that all payloads share looks like clock.
  const double shift = within(kControlBound) * scale;
  covariance(0, 0) += shift * shift;
  WireEvents events;
  events.variants = static_cast<int>(variants.size());
  for (Eigen::Index i = 0; i < 3; ++i) {
    events.fj_per_mm[static_cast<std::size_t>(i)] = solved(i);
    for (Eigen::Index j = 0; j < 3; ++j) {
      events.covariance[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
          covariance(i, j);
    }
  }
  return events;
}

Result<WireModel> parse_wire_model(const json& document, const std::string& origin,
                                   FlaggedModel flagged) {
  const JsonReader model(document, origin);
  if (text(model, "method") == "chiplet") {
    return fail(
        ErrorCode::unsupported,
        "is a calibration of the ways between a package's dies: it has energies per bit and "
        "crossing of dies, and none of the wires of one die",
        origin);
  }
  if (text(model, "format") != "wirewatt-model/1") {
    return fail(ErrorCode::parse_error, "is not a wirewatt model; run 'wirewatt fit' again",
                origin);
  }
  WW_ASSIGN(misfit, admit_model(document, flagged, origin));
  const bool per_ns = is_per_ns(model);
  const std::string unit = per_ns ? "ns" : "mm";
  const auto in_unit = [&unit](const char* name) { return std::string(name) + "_" + unit; };
  const JsonReader energy = model.object(in_unit("energy_fj_per_bit"));
  const std::string status = text(energy, "status");
  const std::string reason = text(energy, "reason");
  const std::string convention = text(energy, "convention");
  const auto value = number(energy, "value");
  const auto low = number(energy, "low");
  const auto high = number(energy, "high");
  WW_TRY(model.status());
  if (!convention.empty() && convention != "per_random_bit") {
    return fail(ErrorCode::bad_data,
                fmt::format("{} has the convention '{}'; only per_random_bit is read",
                            in_unit("energy_fj_per_bit"), convention),
                origin);
  }
  if (status != "ok" && status != "misfit") {
    return fail(ErrorCode::bad_data,
                fmt::format("the model has no energy per bit and {}: {} ({})",
                            per_ns ? "nanosecond" : "millimetre", status, reason),
                origin);
  }
  if (!value || !low || !high || !(*value > 0) || *low > *value || *high < *value) {
    return fail(ErrorCode::bad_data,
                in_unit("energy_fj_per_bit") + " needs a value above 0 and its interval", origin);
  }
  WireModel result;
  result.per_ns = per_ns;
  result.device = text(model, "device");
  model.read_optional("target", result.target);
  model.read_optional("virtual", result.is_virtual);
  result.source = "calibration of " + result.device;
  result.misfit = std::move(misfit);
  result.random = {*value, *low, *high};
  result.sensed_half_width = (number(energy, "sensed_high").value_or(*high) -
                              number(energy, "sensed_low").value_or(*low)) /
                             2;
  if (const auto reference = model.optional_object("reference")) {
    reference->read_optional("voltage_v", result.reference_voltage_v);
    reference->read_optional("clock_hz", result.reference_clock_hz);
  }
  WW_TRY(model.status());
  if (!(result.reference_voltage_v > 0) || !(result.reference_clock_hz > 0)) {
    return fail(ErrorCode::bad_data, "reference.voltage_v and clock_hz must be above 0", origin);
  }
  if (const auto slope = constant(model, in_unit("toggle_slope_fj_per_transition"))) {
    const double half = slope->sensed_half_width;
    result.toggle_slope = {slope->interval.value, slope->interval.value - half,
                           slope->interval.value + half};
  }
  if (const auto wires = constant(model, in_unit("wire_energy_fj_per_bit"))) {
    const double least = wires->sensed_low / *value;
    const auto test = model.optional_object("misfit");
    const double departures = test ? number(*test, "statistic").value_or(0.0) : 0.0;
    result.whole_way = {1, std::clamp(least, 0.0, 1.0),
                        1 + kNormal95 * departures / std::sqrt(kDepartureTerms)};
  }
  // Random payload less uniform lines: random_toggle_rate toggles a bit at a coupling of -1.
  if (const auto coupling = constant(model, in_unit("coupling_fj_per_bit"));
      coupling && result.toggle_slope && result.toggle_slope->value > 0) {
    const double of_toggles = kRandomToggleRate * result.toggle_slope->value;
    const double share = coupling->interval.value / of_toggles;
    const double half = std::hypot(coupling->sensed_half_width / of_toggles,
                                   share * result.toggle_slope->relative());
    if (share - half > 0 && share + half < 1) {
      result.coupling_share = {share, share - half, share + half};
    } else if (share + half < result.coupling_share.low) {
      // Less than wires of the literature have, and no wire has less than none. Shielded wires and
      // a measurement that is off look the same, so that anything from none on remains possible.
      result.coupling_share = {std::max(0.0, share), 0, result.coupling_share.high};
    }
  }
  if (auto read = per_ns ? read_flight(model, result) : read_millimetres(model, result); !read) {
    Error error = read.error();
    if (error.context.empty()) error.context = origin;
    return tl::unexpected<Error>(std::move(error));
  }
  read_exponents(model, result);
  const auto variants = read_variants(model, unit);
  WW_TRY(model.status());
  if (variants.size() >= 3) {
    WW_ASSIGN(events, solve_wire_events(variants));
    result.events = events;
  }
  return result;
}

Result<WireModel> load_wire_model(const std::filesystem::path& path, FlaggedModel flagged) {
  WW_ASSIGN(file, model_file(path));
  WW_ASSIGN(content, read_file(file));
  WW_ASSIGN(model, parse_json(content, file.string()));
  if (!model.is_object()) {
    return fail(ErrorCode::parse_error, "is not a JSON object; run 'wirewatt fit' again",
                file.string());
  }
  return parse_wire_model(model, file.string(), flagged);
}

Status require_millimetres(const WireModel& model, std::string_view purpose) {
  if (!model.per_ns) return {};
  return fail(
      ErrorCode::bad_data,
      fmt::format("{} needs energy per millimetre, and this calibration identifies energy "
                  "per nanosecond of flight: no floorplan gave its ways a length. Give a "
                  "calibration of a die with a floorplan (docs/campaign.md, \"A campaign by "
                  "home\")",
                  purpose),
      model.source);
}

Status use_floorplan(WireModel& model, const Floorplan& floorplan) {
  WW_TRY(require_millimetres(model, "a floorplan"));
  double sum = 0;
  int pairs = 0;
  for (std::size_t e = 0; e < floorplan.compute_units.size(); ++e) {
    for (std::size_t q = 0; q < floorplan.quadrants.size(); ++q) {
      sum += floorplan.distance(static_cast<int>(e), static_cast<int>(q)).value();
      ++pairs;
    }
  }
  const std::array distances = {floorplan.registers_to_l1.value(), pairs > 0 ? sum / pairs : 0.0,
                                floorplan.l2_to_memory().value()};
  for (std::size_t s = 0; s < distances.size(); ++s) {
    if (!model.refused[s].empty()) continue;  // no length makes energy per crossing one per mm
    if (!(distances[s] > 0)) {
      return fail(ErrorCode::bad_data,
                  fmt::format("the floorplan's mean distance of segment {} is {} mm",
                              to_string(kWireSegments[s]), distances[s]),
                  floorplan.name);
    }
    model.distance_mm[s] = route(distances[s], floorplan.route_error_95().value());
  }
  model.distance_source = "floorplan " + floorplan.name;
  return {};
}

}  // namespace ww::model
