// The ways' energies from recorded runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/calibration/chiplet_fit.hpp"
#include "ww/core/mean.hpp"
#include "ww/energy/rail_power.hpp"

namespace ww::calibration {
namespace {

// A line that hits counts as a miss of this campaign: 0.5% is what counters are held to, too.
constexpr double kMinMisses = 0.995;

// Nothing for runs of other kinds, and those that were rejected.
std::optional<model::ChipletRun> chiplet_run_of(const StoredRun& run,
                                                std::span<const model::ChipletPoint> points,
                                                double settle_s) {
  const double seconds = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
  if (run.status != RunStatus::ok || run.block == 0 || !(seconds > 0)) return std::nullopt;
  model::ChipletRun out;
  out.block = run.block;
  if (run.kind != RunKind::idle) {
    const auto found =
        std::ranges::find(points, std::string_view(run.pattern), &model::ChipletPoint::name);
    if (found == points.end()) return std::nullopt;
    out.point = &*found;
  }
  out.bits_per_s = run.payload_bits / seconds;
  Mean temperature_c;
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  for (const SensorReading& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns || !sample.temperature_mc) continue;
    temperature_c.add(*sample.temperature_mc * 1e-3);
  }
  if (temperature_c.count > 0) out.temperature_c = temperature_c.value();
  for (std::size_t rail = 0; rail < out.power_w.size(); ++rail) {
    const std::string_view name = model::kChipletRailNames[rail];
    out.power_w[rail] = energy::rail_power(run, name, settle_s);
    out.read[rail] = std::ranges::find(run.rails, name, &RailReading::rail) != run.rails.end();
  }
  // A package without accumulators of its parts has the power sensor's.
  constexpr auto kSocket = static_cast<std::size_t>(model::ChipletRail::socket);
  if (!out.read[kSocket]) {
    out.power_w[kSocket] = energy::sensor_power(run, settle_s);
    out.read[kSocket] = !run.samples.empty();
  }
  return out;
}

Result<nlohmann::json> plan_of(const CampaignStore& store) {
  WW_ASSIGN(plan, store.get(campaign_keys::plan));
  return plan ? nlohmann::json::parse(*plan, nullptr, false) : nlohmann::json::object();
}

// Rejects rows whose traffic did not come from memory although it should.
void reject_hits(const nlohmann::json& plan, model::ChipletAnswer& answer) {
  const auto setup = plan.value("setup", nlohmann::json::object());
  const double misses = setup.is_object() ? setup.value("memory_misses", 0.0) : 0.0;
  if (misses >= kMinMisses) return;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    Figure& row = answer.rows[i];
    if ((row.name != "memory" && row.name != "memory_phy") || !row.value) continue;
    row.value = row.low = row.high = std::nullopt;
    row.status = RowStatus::rejected;
    row.reason = fmt::format(
        "only {:.1f}% of the lines for memory miss the Infinity Cache, by latency", 100 * misses);
    answer.sensed[i].reset();
  }
}

// Two parts that are devices of their own.
bool is_pair(const nlohmann::json& plan) {
  const auto setup = plan.value("setup", nlohmann::json::object());
  return setup.is_object() && setup.contains("parts");
}

}  // namespace

Result<ChipletFit> fit_chiplet(const CampaignStore& store) {
  WW_ASSIGN(plan, plan_of(store));
  if (!plan.is_object() || plan.value("method", "") != "chiplet") {
    return fail(ErrorCode::bad_data, "not a campaign of a package's dies");
  }
  if (!plan.contains("settle_s")) {
    return fail(ErrorCode::bad_data,
                "the campaign ended before its sensor was measured; go on with it by 'wirewatt "
                "calibrate --resume'",
                store.file().string());
  }
  const bool pair = is_pair(plan);
  const auto points = pair ? model::pair_points() : model::chiplet_points();
  WW_ASSIGN(stored, store.runs());
  ChipletFit fit;
  std::vector<model::ChipletRun> runs;
  Mean bits_per_s;
  for (const StoredRun& run : stored) {
    if (run.block == 0) continue;
    ++fit.runs;
    if (run.status != RunStatus::ok) ++fit.rejected;
    const auto one = chiplet_run_of(run, points, plan.value("settle_s", 0.0));
    if (!one) continue;
    runs.push_back(*one);
    const model::ChipletPoint* point = one->point;
    if (point != nullptr && point->traffic && !point->slow &&
        (pair || point->dies == model::ChipletDies::all)) {
      bits_per_s.add(one->bits_per_s);
    }
  }
  if (bits_per_s.count > 0) fit.bits_per_s = bits_per_s.value();
  fit.answer = pair ? model::fit_pair_runs(runs) : model::fit_chiplet_runs(runs);
  if (!pair) reject_hits(plan, fit.answer);
  return fit;
}

nlohmann::json to_json(const ChipletFit& fit) {
  auto rows = nlohmann::json::array();
  for (std::size_t i = 0; i < fit.answer.rows.size(); ++i) {
    nlohmann::json row = in_picojoules(fit.answer.rows[i]);
    if (const auto& own = fit.answer.sensed[i]) {
      row["sensed_low"] = 1e12 * own->low;
      row["sensed_high"] = 1e12 * own->high;
    }
    rows.push_back(std::move(row));
  }
  auto controls = nlohmann::json::array();
  for (const auto& control : fit.answer.controls) {
    controls.push_back(
        {{"name", control.name}, {"passed", control.passed}, {"detail", control.detail}});
  }
  return {{"method", "chiplet"},
          {"hop_classes", std::move(rows)},
          {"controls", std::move(controls)},
          {"closure",
           {{"slope", or_null(fit.answer.closure_slope)},
            {"residual", or_null(fit.answer.closure_residual)}}},
          {"bits_per_s", fit.bits_per_s},
          {"blocks", fit.answer.blocks},
          {"runs", fit.runs},
          {"rejected", fit.rejected}};
}

}  // namespace ww::calibration
