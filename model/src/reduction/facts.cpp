#include "reduction/facts.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "ww/core/campaign_store.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/model/supply_limits.hpp"

namespace ww::model {
namespace {

constexpr double kMaxUnseenHits = 0.5;  // beyond it no interval means anything

using nlohmann::json;

// Puts the JSON of a fact under its key into `document`.
Status parse_fact(const std::map<std::string, std::string>& facts, std::string_view key,
                  json& document) {
  const std::string name(key);
  const auto found = facts.find(name);
  if (found == facts.end()) {
    return fail(ErrorCode::bad_data,
                "the campaign lacks this fact; it was interrupted before it began, so run it again",
                name);
  }
  WW_ASSIGN(value, parse_json(found->second, name));
  document[name] = std::move(value);
  return {};
}

std::string text_or_empty(const std::map<std::string, std::string>& facts, std::string_view key) {
  const auto found = facts.find(std::string(key));
  return found == facts.end() ? std::string{} : found->second;
}

SensorFact read_sensor(const JsonReader& reader) {
  SensorFact sensor;
  sensor.temperature_resolution_c = 1;
  reader.read_within("period_s", 1e-6, 10, sensor.period_s);
  reader.read_within("delay_s", 0, 60, sensor.delay_s);
  reader.read_within("rise_s", 0, 60, sensor.rise_s);
  reader.read_optional_within("power_resolution_w", 0, 50, sensor.power_resolution_w);
  reader.read_optional_within("temperature_resolution_c", 0, 20, sensor.temperature_resolution_c);
  reader.read_within("gain_tolerance_95", 0, 1, sensor.gain_tolerance_95);
  reader.read_optional_within("regulator_slope_tolerance_95", 0, 1,
                              sensor.regulator_slope_tolerance_95);
  return sensor;
}

}  // namespace

int Facts::engines() const {
  return static_cast<int>(by_flight() ? paths->flight_ns.size() : floorplan.compute_units.size());
}

int Facts::quadrants() const {
  return static_cast<int>(by_flight() ? paths->channels.size() : floorplan.quadrants.size());
}

int Facts::channels_of(int quadrant) const {
  const auto at = static_cast<std::size_t>(quadrant);
  return by_flight() ? paths->channels[at] : static_cast<int>(floorplan.quadrants[at].size());
}

double Facts::distance(int engine, int quadrant) const {
  if (!by_flight()) return floorplan.distance(engine, quadrant).value();
  double nearest = std::numeric_limits<double>::infinity();
  for (const auto& row : paths->flight_ns) nearest = std::min(nearest, std::ranges::min(row));
  return paths->flight_ns[static_cast<std::size_t>(engine)][static_cast<std::size_t>(quadrant)] -
         nearest;
}

std::string no_millimetres(const Facts& facts) {
  return "the data identify energy per nanosecond of flight: " + facts.paths->reason;
}

Result<Facts> read_facts(const std::map<std::string, std::string>& facts) {
  Facts result;
  result.device = text_or_empty(facts, campaign_keys::device);
  result.is_virtual = text_or_empty(facts, campaign_keys::is_virtual) == "true";
  result.version = text_or_empty(facts, campaign_keys::version);
  result.seed = text_or_empty(facts, campaign_keys::seed);

  json document = json::object();
  WW_TRY(parse_fact(facts, campaign_keys::sensor, document));
  WW_TRY(parse_fact(facts, campaign_keys::dvfs, document));
  for (const auto key : {campaign_keys::chip, campaign_keys::plan, campaign_keys::opening}) {
    if (facts.contains(std::string(key))) {
      WW_TRY(parse_fact(facts, key, document));
    }
  }
  const JsonReader reader(document, "facts of the campaign");
  result.sensor = read_sensor(reader.object(std::string(campaign_keys::sensor)));
  if (const auto chip = reader.optional_object(std::string(campaign_keys::chip))) {
    chip->read_optional("target", result.target);
    chip->read_optional_within("bytes_per_clock_per_channel", 0, 4096,
                               result.bytes_per_clock_per_channel);
  }
  const std::string dvfs(campaign_keys::dvfs);
  for (const JsonReader& state : reader.objects(dvfs)) {
    DvfsState& entry = result.dvfs.emplace_back();
    state.read_within("voltage_v", kMinCoreVoltage, kMaxCoreVoltage, entry.voltage_v);
    state.read_within("clock_hz", kMinCoreClock, kMaxCoreClock, entry.clock_hz);
  }
  if (result.dvfs.empty()) {
    reader.refuse(dvfs, "must have at least one state");
  }
  if (const auto plan = reader.optional_object(std::string(campaign_keys::plan))) {
    double state = 0;
    plan->read_optional_within("reference_state", 0, static_cast<double>(result.dvfs.size()) - 1,
                               state);
    result.reference_state = static_cast<int>(state);
  }
  // Chips without caches of shader arrays have no such share.
  if (const auto opening = reader.optional_object(std::string(campaign_keys::opening))) {
    if (const auto caches = opening->optional_object("array_caches")) {
      caches->read_optional_within("max_hits", 0, kMaxUnseenHits, result.max_hits);
    }
  }
  WW_TRY(reader.status());

  result.floorplan_text = text_or_empty(facts, campaign_keys::floorplan);
  if (facts.contains(kPathsFact)) {
    WW_ASSIGN(parsed, parse_json(facts.at(kPathsFact), kPathsFact));
    WW_ASSIGN(paths, measured_paths_from_json(parsed));
    result.paths = std::move(paths);
    if (result.by_flight()) return result;
  }
  if (result.floorplan_text.empty()) {
    return fail(ErrorCode::bad_data, "the campaign holds no floorplan, so distances are unknown",
                std::string(campaign_keys::floorplan));
  }
  WW_ASSIGN(floorplan, parse_floorplan(result.floorplan_text, "floorplan of the campaign"));
  result.floorplan = std::move(floorplan);
  return result;
}

}  // namespace ww::model
