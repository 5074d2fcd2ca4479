// Makes the fit's input from a recording of segments.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ww/core/json_reader.hpp"
#include "ww/core/mean.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/energy/run_power.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/microbench/segments.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

// Share of the legs' wires that change a beat.
std::optional<double> toggle_rate_of(const StoredRun& run) {
  const auto toggles = run.counters.find("WW_LEG_TOGGLES_sum");
  const auto slots = run.counters.find("WW_XBAR_SLOT_BITS_sum");
  if (toggles == run.counters.end() || slots == run.counters.end() || !(slots->second > 0)) {
    return std::nullopt;
  }
  return toggles->second / slots->second;
}

struct SensorTolerances {
  double gain{kBoardGainTolerance95};
  double regulator{kRegulatorSlopeTolerance95};
};

// Reads the recording's facts about its sensor. Recordings of earlier versions have none.
Result<SensorTolerances> tolerances_of(const std::map<std::string, std::string>& facts,
                                       const std::string& file) {
  SensorTolerances tolerances;
  const auto sensor = facts.find(std::string(campaign_keys::sensor));
  if (sensor == facts.end()) return tolerances;
  WW_ASSIGN(document, parse_json(sensor->second, file + ", sensor"));
  const JsonReader reader(document, file + ", sensor");
  reader.read_optional_within("gain_tolerance_95", 0, 1, tolerances.gain);
  reader.read_optional_within("regulator_slope_tolerance_95", 0, 1, tolerances.regulator);
  WW_TRY(reader.status());
  return tolerances;
}

}  // namespace

Result<model::SegmentsFit> fit_segments(const CampaignStore& store) {
  WW_ASSIGN(facts, store.facts());
  const json document = json::parse(facts[std::string(campaign_keys::plan)], nullptr, false);
  if (!document.is_object() || document.value("method", json()) != "segments") {
    return fail(ErrorCode::bad_data, "not a recording of segments", store.file().string());
  }
  const JsonReader plan(document, store.file().string() + ", plan");
  double settle_s = 0.1;
  std::string target;
  model::SegmentSurroundings surroundings{.nominal_v = 0, .idle_w = {}};
  plan.read_optional("settle_s", settle_s);
  plan.read_optional("target", target);
  plan.read_optional("nominal_v", surroundings.nominal_v);
  std::vector<model::SegmentPoint> points;
  for (const JsonReader& entry : plan.objects("points")) {
    model::SegmentPoint& point = points.emplace_back();
    entry.read("segment", point.segment);
    entry.read("engine", point.engine);
    entry.read("group", point.group);
    entry.read("channels", point.channels);
    entry.read("from_memory", point.from_memory);
    entry.read("slow", point.slow);
    entry.read("mm", point.mm);
    entry.read_optional("lanes", point.lanes);
    entry.read_optional("ones", point.ones);
  }
  WW_TRY(plan.status());
  if (points.empty()) return fail(ErrorCode::bad_data, "the plan has no points");
  WW_ASSIGN(tolerances, tolerances_of(facts, store.file().string()));
  WW_ASSIGN(runs, store.runs());
  std::vector<model::SegmentReading> readings;
  surroundings.voltage_step_v = energy::voltage_step_of(runs);
  surroundings.power_step_w = energy::power_step_of(runs);
  Mean idle_w, idle_voltage_v;
  int rejected = 0;
  for (const StoredRun& run : runs) {
    const double seconds = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
    if (run.block == 0) continue;  // the set-up
    if (run.status != RunStatus::ok) {
      ++rejected;
      continue;
    }
    const auto power = energy::power_of(run, settle_s);
    if (run.kind == RunKind::idle) {
      const auto voltage = energy::voltage_of(run, settle_s);
      if (power) idle_w.add(*power);
      if (voltage) idle_voltage_v.add(*voltage);
      continue;
    }
    measure::CounterDispatch dispatch;
    dispatch.counters = run.counters;
    const auto bytes = measure::segment_bytes(target, dispatch);
    const auto memory =
        std::ranges::find(bytes, measure::Segment::l2_memory_read, &measure::SegmentBytes::segment);
    if (!power || !(seconds > 0) || memory == bytes.end() || !memory->bytes) {
      ++rejected;
      continue;
    }
    readings.push_back({static_cast<std::size_t>(run.position) % points.size(), run.block, *power,
                        run.payload_bits / seconds, 8 * *memory->bytes / seconds,
                        energy::voltage_of(run, settle_s), toggle_rate_of(run),
                        energy::power_spread_of(run, settle_s)});
  }
  if (idle_w.count > 0) surroundings.idle_w = idle_w.value();
  if (idle_voltage_v.count > 0) surroundings.idle_voltage_v = idle_voltage_v.value();
  if (readings.size() < points.size()) {
    return fail(ErrorCode::bad_data, fmt::format("{} of {} points were measured; record again",
                                                 readings.size(), points.size()));
  }
  auto fit = model::fit_segments(points, std::move(readings), surroundings);
  fit.rejected = rejected;
  fit.gain_tolerance_95 = tolerances.gain;
  fit.regulator_slope_tolerance_95 = tolerances.regulator;
  fit.device = facts[std::string(campaign_keys::device)];
  fit.is_virtual = facts[std::string(campaign_keys::is_virtual)] == "true";
  for (Figure* row : {&fit.legs, &fit.l2_memory, &fit.registers_l1, &fit.registers_l1_per_bit}) {
    row->device = fit.device;
  }
  return fit;
}

}  // namespace ww::microbench
