// Makes the rows of a table from a recording of classes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiment/classes/class_kernels.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/energy/run_power.hpp"
#include "ww/microbench/classes.hpp"

namespace ww::microbench {

Result<ClassRecording> class_runs(const CampaignStore& store) {
  WW_ASSIGN(facts, store.facts());
  const std::string where = store.file().string();
  const auto document =
      nlohmann::json::parse(facts[std::string(campaign_keys::plan)], nullptr, false);
  if (!document.is_object() || document.value("method", nlohmann::json()) != "classes") {
    return fail(ErrorCode::bad_data, "not a recording of classes", where);
  }
  const JsonReader plan(document, where + ", plan");
  double settle_s = 0;
  std::vector<std::string> points;
  plan.read("settle_s", settle_s);
  plan.read("points", points);
  WW_TRY(plan.status());
  if (points.empty()) return fail(ErrorCode::bad_data, "the plan has no points", where);
  ClassRecording recording;
  recording.device = facts[std::string(campaign_keys::device)];
  recording.is_virtual = facts[std::string(campaign_keys::is_virtual)] == "true";
  WW_ASSIGN(runs, store.runs());
  for (const StoredRun& stored : runs) {
    const bool idle = stored.kind == RunKind::idle;
    if (stored.block < 1 || stored.status != RunStatus::ok) continue;
    if (!idle && stored.kind != RunKind::stream) continue;
    const auto power_w = energy::power_of(stored, settle_s);
    if (!power_w) continue;
    ClassRun run;
    run.kind = idle ? "idle" : points[static_cast<std::size_t>(stored.position) % points.size()];
    run.run = fmt::format("{}, block {}, run {}", run.kind, stored.block, stored.position);
    run.power_w = *power_w;
    run.voltage_v = energy::voltage_of(stored, settle_s);
    run.temperature_c = energy::temperature_of(stored, settle_s);
    run.seconds = static_cast<double>(stored.end_ns - stored.start_ns) * 1e-9;
    run.counters = stored.counters;
    const auto busy = run.counters.find(std::string(kBusySeconds));
    if (busy != run.counters.end()) {
      run.active = std::min(1.0, busy->second / run.seconds);
      run.counters.erase(busy);
    }
    recording.runs.push_back(std::move(run));
  }
  if (recording.runs.empty()) return fail(ErrorCode::bad_data, "has no usable run", where);
  return recording;
}

}  // namespace ww::microbench
