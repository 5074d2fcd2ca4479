#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/core/atomic_file.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {
namespace {

using nlohmann::json;

json constant_json(const FittedConstant& constant) {
  json result = constant.row;
  result["convention"] = to_string(constant.convention);
  const bool known = constant.row.value.has_value();
  result["sensed_low"] = known ? json(constant.sensed_low) : json(nullptr);
  result["sensed_high"] = known ? json(constant.sensed_high) : json(nullptr);
  result["covariance_error"] = known ? json(constant.covariance_error) : json(nullptr);
  result["bootstrap_error"] = known ? json(constant.bootstrap_error) : json(nullptr);
  result["systematic_error"] = known ? json(constant.systematic_error) : json(nullptr);
  return result;
}

// `unit`: "mm" or "ns".
json budget_json(const Budget& budget, const std::string& unit) {
  json result{{"combined_fj_per_bit_" + unit, budget.combined},
              {"degrees_of_freedom", budget.degrees_of_freedom},
              {"rows", json::array()},
              {"expanded", json::array()}};
  for (const auto& row : budget.rows) {
    result["rows"].push_back({{"source", row.source},
                              {"type", std::string(1, row.type)},
                              {"distribution", row.distribution},
                              {"standard_uncertainty", row.standard_uncertainty},
                              {"unit", row.unit},
                              {"sensitivity", row.sensitivity},
                              {"contribution_fj_per_bit_" + unit, row.contribution},
                              {"share", row.share}});
  }
  for (const auto& expanded : budget.expanded) {
    result["expanded"].push_back({{"level", expanded.level},
                                  {"coverage_factor", expanded.coverage_factor},
                                  {"half_width_fj_per_bit_" + unit, expanded.half_width}});
  }
  return result;
}

json plateau_json(const PlateauRow& row, const std::string& distance) {
  return {{"session", row.session},
          {"block", row.block},
          {"position", row.position},
          {"kind", to_string(row.kind)},
          {"engine", row.engine},
          {"quadrant", row.quadrant},
          {"pattern", row.pattern},
          {"throttle", row.throttle},
          {"turn_s", row.turn_s},
          {"start_s", row.start_s},
          {"end_s", row.end_s},
          {"power_w", row.power_w},
          {"power_error_w", row.power_error_w},
          {"temperature_c", row.temperature_c},
          {"voltage_v", row.voltage_v},
          {"bits_per_second", row.bits_per_second},
          {distance, row.distance_mm},
          {"fitted_w", row.fitted_w},
          {"dynamic_w", row.dynamic_w},
          {"used", row.used},
          {"reason", row.reason}};
}

json latency_json(const LatencyWitness& latency) {
  if (!latency.recorded) return {{"recorded", false}, {"reason", latency.reason}};
  return {{"recorded", true},
          {"rank_correlation", latency.rank_correlation},
          {"ticks_per_mm", latency.ticks_per_mm},
          {"residual_ticks", latency.residual_ticks},
          {"noise_ticks", latency.noise_ticks},
          {"relative", latency.relative},
          {"p_value", latency.p_value},
          {"disagrees", latency.disagrees},
          {"reason", latency.reason}};
}

}  // namespace

json to_model_json(const FitResult& fit) {
  json result;
  result["format"] = "wirewatt-model/1";
  result["device"] = fit.device;
  result["target"] = fit.target;
  result["virtual"] = fit.is_virtual;
  const std::string unit = fit.energy_per_bit_ns ? "ns" : "mm";
  const auto in_unit = [&unit](const char* name) { return std::string(name) + "_" + unit; };
  result["energy_fj_per_bit_mm"] = constant_json(fit.energy_per_bit_mm);
  if (fit.energy_per_bit_ns) {
    result["energy_fj_per_bit_ns"] = constant_json(*fit.energy_per_bit_ns);
  }
  result["constants"] = json::array();
  for (const auto& constant : fit.constants) result["constants"].push_back(constant_json(constant));
  if (!fit.budget.rows.empty()) result["budget"] = budget_json(fit.budget, unit);
  result["voltage"] = {{"measured", fit.no_voltage_reason.empty()},
                       {"reason", fit.no_voltage_reason}};
  result["reference"] = {{"voltage_v", fit.reference_voltage_v},
                         {"clock_hz", fit.reference_clock_hz}};
  result["distances"] = {{"floorplan", fit.floorplan},
                         {"unit", unit},
                         {in_unit("engine_to_quadrant"), fit.distance_mm},
                         {in_unit("near"), fit.near_mm},
                         {in_unit("far"), fit.far_mm}};
  if (fit.whole_flight) {
    result["distances"]["whole_flight_ns"] = {{"low", fit.whole_flight->low_ns},
                                              {"high", fit.whole_flight->high_ns}};
  }
  if (!fit.energy_per_bit_ns) {
    result["distances"]["registers_to_l1_mm"] = fit.registers_to_l1_mm;
    result["distances"]["l2_to_memory_mm"] = fit.l2_to_memory_mm;
    result["distances"]["route_error_95_mm"] = fit.route_error_95_mm;
  }
  result["paths"] = {{"long_over_short_percent", fit.long_over_short_percent},
                     {"short_dynamic_w", fit.short_dynamic_w},
                     {"long_dynamic_w", fit.long_dynamic_w},
                     {"l1_l2_bandwidth_fraction", fit.l1_l2_bandwidth_fraction},
                     {in_unit("uncorrected_fj_per_bit"), fit.uncorrected_fj_per_bit_mm}};
  result["idle"] = json::array();
  for (const auto& curve : fit.idle) {
    result["idle"].push_back({{"dvfs_state", curve.dvfs_state},
                              {"coefficients_w", curve.coefficients},
                              {"form", "sum c_i ((T - reference_c) / 10)^i"},
                              {"reference_c", curve.reference_c},
                              {"rms_w", curve.rms_w},
                              {"low_c", curve.low_c},
                              {"high_c", curve.high_c}});
  }
  result["lock_in"] = {{"disagreement_sigmas", fit.lock_in_disagreement_sigmas},
                       {"turns", json::array()}};
  for (const auto& row : fit.lock_in) {
    result["lock_in"]["turns"].push_back(
        {{"turn_s", row.turn_s},
         {"cycle_hz", row.cycle_hz},
         {in_unit("energy_fj_per_bit"), row.energy_fj_per_bit_mm},
         {"half_width_95", row.half_width_95},
         {in_unit("uncorrected_fj_per_bit"), row.uncorrected_fj_per_bit_mm}});
  }
  result["rates"] = json::array();
  for (const auto& row : fit.rates) {
    result["rates"].push_back({{"throttle", row.throttle},
                               {"bits_per_second", row.bits_per_second},
                               {in_unit("energy_fj_per_bit"), row.energy_fj_per_bit_mm},
                               {"half_width_95", row.half_width_95},
                               {"dynamic_w", row.dynamic_w}});
  }
  result["states"] = json::array();
  for (const auto& row : fit.states) {
    result["states"].push_back({{"dvfs_state", row.dvfs_state},
                                {"voltage_v", row.voltage_v},
                                {"clock_hz", row.clock_hz},
                                {in_unit("energy_fj_per_bit"), row.energy_fj_per_bit_mm},
                                {"half_width_95", row.half_width_95}});
  }
  const Diagnostics& diagnostics = fit.diagnostics;
  result["diagnostics"] = {{"condition_number", diagnostics.condition_number},
                           {"mean_leverage", diagnostics.mean_leverage},
                           {"most_leverage", diagnostics.most_leverage},
                           {"residual_rms_sigmas", diagnostics.residual_rms_sigmas},
                           {"held_back_rms_sigmas", diagnostics.held_back_rms_sigmas},
                           {"beyond_three_sigmas", diagnostics.beyond_three_sigmas},
                           {"leakage_steepening_per_10k", diagnostics.leakage_steepening},
                           {"leakage_steepening_error", diagnostics.leakage_steepening_error},
                           {"hot_spot_k", diagnostics.hot_spot_k},
                           {"hot_spot_error_k", diagnostics.hot_spot_error_k},
                           {"terms", json::array()}};
  for (const auto& term : diagnostics.terms) {
    result["diagnostics"]["terms"].push_back({{"name", term.name},
                                              {"parameters", term.parameters},
                                              {"wald", term.wald},
                                              {"delta_bic", term.delta_bic},
                                              {"supported", term.supported}});
  }
  result["misfit"] = {{"flagged", fit.misfit.flagged},
                      {"reason", fit.misfit.reason},
                      {"statistic", fit.misfit.statistic},
                      {"threshold", fit.misfit.threshold},
                      {"undecided", fit.misfit.undecided}};
  result["latency"] = latency_json(fit.latency);
  result["runs"] = fit.runs;
  result["rejected"] = fit.rejected;
  result["residual_rms_w"] = fit.residual_rms_w;
  result["provenance"] = {{"campaign_hash", fit.campaign_hash},
                          {"wirewatt_version", fit.version},
                          {"plan_seed", fit.seed},
                          {"fit_seed", fit.fit_seed}};
  if (!fit.control.empty()) result["provenance"]["control"] = fit.control;
  if (fit.unfinished) result["provenance"]["unfinished"] = true;
  result["idle_points"] = json::array();
  for (const auto& point : fit.idle_points) {
    result["idle_points"].push_back({point.dvfs_state, point.temperature_c, point.power_w});
  }
  result["pairs"] = json::array();
  for (const auto& pair : fit.pairs) {
    result["pairs"].push_back({{"pattern", pair.pattern},
                               {"throttle", pair.throttle},
                               {"dvfs_state", pair.dvfs_state},
                               {"engine", pair.engine},
                               {"quadrant", pair.quadrant},
                               {in_unit("distance"), pair.distance_mm},
                               {in_unit("centred_distance"), pair.centred_distance_mm},
                               {"energy_fj_per_bit", pair.energy_fj_per_bit},
                               {"error_fj_per_bit", pair.error_fj_per_bit}});
  }
  result["variant_wires"] = json::array();
  for (const auto& row : fit.variant_activity) {
    result["variant_wires"].push_back({{"pattern", row.pattern},
                                       {"throttle", row.throttle},
                                       {in_unit("energy_fj_per_bit"), row.energy_fj_per_bit_mm},
                                       {"error", row.error},
                                       {"slot_bits_per_bit", row.slot_bits},
                                       {"toggles_per_bit", row.toggles},
                                       {"adjacent_per_bit", row.adjacent},
                                       {"opposite_per_bit", row.opposite},
                                       {"control_toggles_per_bit", row.control_toggles},
                                       {"control_adjacent_per_bit", row.control_adjacent},
                                       {"control_opposite_per_bit", row.control_opposite}});
  }
  result["plateaus"] = json::array();
  for (const auto& row : fit.plateaus) {
    result["plateaus"].push_back(plateau_json(row, in_unit("distance")));
  }
  return result;
}

std::string model_text(const FitResult& fit) {
  return to_model_json(fit).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Status write_model(const std::filesystem::path& file, const FitResult& fit) {
  return write_file_atomically(file, model_text(fit));
}

}  // namespace ww::model
