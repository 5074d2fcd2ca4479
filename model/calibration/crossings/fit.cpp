// The crossing's energy from recorded runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/calibration/crossing_fit.hpp"
#include "ww/core/mean.hpp"
#include "ww/energy/run_power.hpp"
#include "ww/model/crossing_fit.hpp"

namespace ww::calibration {
namespace {

// The recorded run as the fit takes it; nothing where it was rejected or its power is not known.
std::optional<model::CrossingRun> crossing_run_of(const StoredRun& run, double settle_s) {
  if (run.status != RunStatus::ok) return std::nullopt;
  const auto power = energy::power_of(run, settle_s);
  const double seconds = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
  if (!power || !(seconds > 0)) return std::nullopt;
  model::CrossingRun out;
  out.block = run.block;
  out.power = Watt(*power);
  out.wait = run.throttle;
  out.place_side = run.engine.value_or(0) & 1;
  out.line_side = run.quadrant.value_or(0) & 1;
  out.bits_per_s = run.payload_bits / seconds;
  Mean temperature_c;
  Mean clock_hz;
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  for (const SensorReading& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns) continue;
    if (sample.temperature_mc) temperature_c.add(*sample.temperature_mc * 1e-3);
    if (sample.clock_khz) clock_hz.add(*sample.clock_khz * 1e3);
  }
  if (temperature_c.count > 0) out.temperature_c = temperature_c.value();
  if (clock_hz.count > 0) out.clock_hz = clock_hz.value();
  if (run.kind == RunKind::idle) {
    out.traffic = model::CrossingTraffic::idle;
  } else if (run.pattern == crossing_patterns::waits) {
    out.traffic = model::CrossingTraffic::waits;
  } else {
    // Traffic that moved nothing is no measurement of traffic.
    if (!(run.payload_bits > 0)) return std::nullopt;
    out.traffic = run.pattern == crossing_patterns::zeros ? model::CrossingTraffic::zeros
                                                          : model::CrossingTraffic::random;
    out.line_half = run.pattern == crossing_patterns::kHalf1   ? 1
                    : run.pattern == crossing_patterns::kHalf2 ? 2
                                                               : 0;
  }
  return out;
}

// Rates and powers at the shortest wait, for people to compare with what they know of the part.
void describe_shortest(CrossingFit& fit, const std::vector<model::CrossingRun>& runs) {
  std::optional<int> shortest;
  Mean idle_w;
  for (const auto& run : runs) {
    if (run.traffic == model::CrossingTraffic::idle) idle_w.add(run.power.value());
    if (run.traffic == model::CrossingTraffic::random) {
      shortest = std::min(shortest.value_or(run.wait), run.wait);
    }
  }
  Mean rate[2];
  Mean power_w[2];
  for (const auto& run : runs) {
    if (run.traffic != model::CrossingTraffic::random || run.wait != shortest) continue;
    if (run.line_half != 0) continue;
    const std::size_t way = run.place_side != run.line_side ? 1 : 0;
    rate[way].add(run.bits_per_s);
    power_w[way].add(run.power.value());
  }
  if (rate[0].count == 0 || rate[1].count == 0 || idle_w.count == 0) return;
  fit.near_bits_per_s = rate[0].value();
  fit.far_bits_per_s = rate[1].value();
  fit.near_w = power_w[0].value() - idle_w.value();
  fit.far_w = power_w[1].value() - idle_w.value();
}

// The answer over the difference of latency that the setup measured.
LatencySlope latency_slope(const nlohmann::json& setup, const Figure& answer,
                           const std::vector<model::CrossingRun>& runs) {
  LatencySlope slope;
  slope.ticks = setup.value("far_ticks", 0.0) - setup.value("near_ticks", 0.0);
  slope.ticks_error = setup.value("difference_error_ticks", 0.0);
  slope.additive_r2 = setup.value("additive_r2", 0.0);
  slope.with_product_r2 = setup.value("with_product_r2", 0.0);
  Mean clock_hz;
  double slowest = 0;
  double fastest = 0;
  for (const auto& run : runs) {
    if (run.traffic == model::CrossingTraffic::idle || !run.clock_hz) continue;
    slowest = clock_hz.count == 0 ? *run.clock_hz : std::min(slowest, *run.clock_hz);
    fastest = std::max(fastest, *run.clock_hz);
    clock_hz.add(*run.clock_hz);
  }
  const auto over = [&](double latency, double relative_error, const char* name, const char* unit) {
    Figure row = answer;
    row.name = name;
    row.unit = unit;
    if (!answer.value) return row;
    const double of_latency = *answer.value * relative_error;
    row.value = *answer.value / latency;
    row.low = *row.value - std::hypot(*answer.value - *answer.low, of_latency) / latency;
    row.high = *row.value + std::hypot(*answer.high - *answer.value, of_latency) / latency;
    return row;
  };
  const double of_ticks = slope.ticks_error / slope.ticks;
  slope.per_tick = over(slope.ticks, of_ticks, "energy_per_random_bit_and_cycle", "J/bit/cycle");
  if (clock_hz.count > 0) {
    slope.clock_hz = clock_hz.value();
    slope.ns = slope.ticks / *slope.clock_hz * 1e9;
    // The clock's whole range stands for what the mean over the runs may be off.
    const double of_clock = (fastest - slowest) / 2 / *slope.clock_hz;
    slope.per_ns =
        over(*slope.ns, std::hypot(of_ticks, of_clock), "energy_per_random_bit_and_ns", "J/bit/ns");
  } else {
    slope.per_ns = answer;
    slope.per_ns.name = "energy_per_random_bit_and_ns";
    slope.per_ns.unit = "J/bit/ns";
    slope.per_ns.value = slope.per_ns.low = slope.per_ns.high = std::nullopt;
    if (answer.value) {
      slope.per_ns.status = RowStatus::unavailable;
      slope.per_ns.reason =
          "the sensor gives no clock of the SMs, so cycles are no nanoseconds; see the figure per "
          "cycle";
    }
  }
  return slope;
}

}  // namespace

Result<CrossingFit> fit_crossing(const CampaignStore& store) {
  WW_ASSIGN(plan, store.get(campaign_keys::plan));
  const auto parsed =
      plan ? nlohmann::json::parse(*plan, nullptr, false) : nlohmann::json::object();
  if (!parsed.is_object() || parsed.value("method", "") != "crossing") {
    return fail(ErrorCode::bad_data, "not a campaign of crossings between L2 sides");
  }
  WW_ASSIGN(runs, store.runs());
  if (!parsed.contains("settle_s")) {
    return fail(ErrorCode::bad_data,
                "the campaign ended before its sensor was measured; go on with it by 'wirewatt "
                "calibrate --resume'",
                store.file().string());
  }
  const double settle_s = parsed.value("settle_s", 0.0);
  CrossingFit fit;
  std::vector<model::CrossingRun> used;
  for (const StoredRun& run : runs) {
    if (run.block == 0) continue;  // the set-up
    const auto taken = crossing_run_of(run, settle_s);
    if (taken) used.push_back(*taken);
    if (run.kind != RunKind::stream) continue;
    ++fit.runs;
    if (!taken) ++fit.rejected;
  }
  if (used.empty()) return fail(ErrorCode::bad_data, "no run of this campaign can be used");
  model::CrossingTolerances tolerances;
  tolerances.gain = parsed.value("gain_tolerance_95", tolerances.gain);
  tolerances.regulator = parsed.value("regulator_tolerance_95", tolerances.regulator);
  const model::CrossingAnswer answer = model::fit_crossing_runs(used, tolerances);
  fit.random_bit = answer.random_bit;
  fit.zero_bit = answer.zero_bit;
  fit.difference = answer.difference;
  for (const auto& control : answer.controls) {
    fit.controls.push_back({control.name, control.passed, control.detail});
  }
  fit.noise = answer.errors.noise;
  fit.heat = answer.errors.heat;
  fit.clock = answer.errors.clock;
  fit.rate = answer.errors.rate;
  fit.asleep = answer.errors.asleep;
  fit.gain = answer.errors.gain;
  fit.regulator = answer.errors.regulator;
  fit.greatest_mismatch = answer.greatest_mismatch;
  fit.blocks = answer.blocks;
  fit.waits = answer.waits;
  describe_shortest(fit, used);
  const auto setup = parsed.value("setup", nlohmann::json::object());
  if (setup.value("contrast", "") == crossing_contrasts::latency) {
    fit.slope = latency_slope(setup, fit.random_bit, used);
  }
  return fit;
}

namespace {

constexpr double kPicojoule = 1e12;  // per joule

// Per bit in pJ: what people compare.
nlohmann::json row_in_pj(const Figure& row, const char* unit) {
  Figure shown = in_picojoules(row);
  shown.unit = unit;
  return shown;
}

// Nothing crosses where there are no two sides; the rows are of the way between the ends.
void put_slope(nlohmann::json& json, const LatencySlope& slope) {
  json["kind"] = "latency";
  json["energy_pj_per_bit_ns"] = row_in_pj(slope.per_ns, "pJ/bit/ns");
  json["energy_pj_per_bit_cycle"] = row_in_pj(slope.per_tick, "pJ/bit/cycle");
  json["latency"] = {
      {"far_less_near_cycles", slope.ticks},   {"far_less_near_cycles_95", slope.ticks_error},
      {"far_less_near_ns", or_null(slope.ns)}, {"sm_clock_hz", or_null(slope.clock_hz)},
      {"additive_r2", slope.additive_r2},      {"with_product_r2", slope.with_product_r2}};
  for (const char* name : {"energy", "zero_data", "data_part"}) {
    const std::string crossing = fmt::format("{}_pj_per_bit_crossing", name);
    nlohmann::json way = json[crossing];
    way["unit"] = "pJ/bit";
    json[fmt::format("{}_pj_per_bit_between_ends", name)] = std::move(way);
    json[crossing] = {{"status", to_string(RowStatus::not_identified)},
                      {"value", nullptr},
                      {"reason",
                       "the latencies of this card tell no two sides of its L2 apart, so nothing "
                       "crosses; see energy_pj_per_bit_ns"}};
  }
  json["meaning"] =
      "What a bit costs more for each ns that its round trip between SM and L2 takes longer, from "
      "the places and lines at the two ends of the latency's product term. It is not the energy of "
      "a crossing: no two sides were found. It is not per millimetre: latency is not length, and "
      "buffers and switches on the way are in it. That it is the same for other differences of "
      "latency was not tested.";
}

}  // namespace

nlohmann::json to_json(const CrossingFit& fit) {
  auto controls = nlohmann::json::array();
  for (const CrossingCheck& control : fit.controls) {
    controls.push_back(
        {{"name", control.name}, {"passed", control.passed}, {"detail", control.detail}});
  }
  const char* unit = "pJ/bit/crossing";
  nlohmann::json json{{"kind", "crossing"},
                      {"energy_pj_per_bit_crossing", row_in_pj(fit.random_bit, unit)},
                      {"zero_data_pj_per_bit_crossing", row_in_pj(fit.zero_bit, unit)},
                      {"data_part_pj_per_bit_crossing", row_in_pj(fit.difference, unit)},
                      {"convention", "per_random_bit"},
                      {"half_widths_pj_per_bit_crossing",
                       {{"noise", kPicojoule * fit.noise},
                        {"heat", kPicojoule * fit.heat},
                        {"clock", kPicojoule * fit.clock},
                        {"rate", kPicojoule * fit.rate},
                        {"asleep", kPicojoule * fit.asleep},
                        {"gain", kPicojoule * fit.gain},
                        {"regulator", kPicojoule * fit.regulator}}},
                      {"controls", controls},
                      {"energy_fj_per_bit_mm", nullptr},
                      {"distance",
                       {{"value_mm", nullptr},
                        {"estimated", true},
                        {"reason", "no floorplan of this part is public"}}},
                      {"near_bits_per_s", fit.near_bits_per_s},
                      {"far_bits_per_s", fit.far_bits_per_s},
                      {"greatest_rate_mismatch", fit.greatest_mismatch},
                      {"near_w", fit.near_w},
                      {"far_w", fit.far_w},
                      {"waits", fit.waits},
                      {"blocks", fit.blocks},
                      {"runs", fit.runs},
                      {"rejected", fit.rejected}};
  if (fit.slope) put_slope(json, *fit.slope);
  return json;
}

}  // namespace ww::calibration
