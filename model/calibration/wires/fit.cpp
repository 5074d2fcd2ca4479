// The fit of a recorded campaign of wires, as `fit` and `calibrate` print it.
#include <fmt/format.h>

#include "kinds/kinds.hpp"
#include "ww/model/fit.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

json energy_json(const model::FittedConstant& energy) {
  const auto sensed = [&](double bound) { return energy.row.value ? json(bound) : json(nullptr); };
  return {{"value", or_null(energy.row.value)},
          {"low", or_null(energy.row.low)},
          {"high", or_null(energy.row.high)},
          {"sensed_low", sensed(energy.sensed_low)},
          {"sensed_high", sensed(energy.sensed_high)},
          {"convention", model::to_string(energy.convention)},
          {"status", to_string(energy.row.status)},
          {"reason", energy.row.reason}};
}

// Returns the JSON of `calibrate`, without what only a campaign knows (elapsed_s).
json summary_json(const model::FitResult& fit) {
  auto constants = json::array();
  for (const auto& constant : fit.constants) {
    json row = constant.row;
    row["convention"] = model::to_string(constant.convention);
    constants.push_back(std::move(row));
  }
  json result{{"energy_fj_per_bit_mm", energy_json(fit.energy_per_bit_mm)},
              {"uncorrected_fj_per_bit_mm", fit.uncorrected_fj_per_bit_mm},
              {"long_over_short_percent", fit.long_over_short_percent},
              {"l1_l2_bandwidth_fraction", fit.l1_l2_bandwidth_fraction},
              {"misfit_flagged", fit.misfit.flagged},
              {"misfit_reason", fit.misfit.reason},
              {"misfit_undecided", fit.misfit.undecided},
              {"latency_rank_correlation",
               fit.latency.recorded ? json(fit.latency.rank_correlation) : json(nullptr)},
              {"constants", constants},
              {"runs", fit.runs},
              {"rejected", fit.rejected},
              {"control", fit.control},
              {"unfinished", fit.unfinished},
              {"virtual", fit.is_virtual},
              {"device", fit.device}};
  if (fit.energy_per_bit_ns) {
    result["energy_fj_per_bit_ns"] = energy_json(*fit.energy_per_bit_ns);
    result["uncorrected_fj_per_bit_ns"] = result["uncorrected_fj_per_bit_mm"];
    result["uncorrected_fj_per_bit_mm"] = nullptr;
  }
  return result;
}

void add_warnings(std::vector<Block>& text, const model::FitResult& fit) {
  if (fit.unfinished) {
    text.emplace_back(
        "unfinished   the campaign was interrupted; go on with it by calibrate --resume");
  }
  if (!fit.control.empty()) {
    text.emplace_back(fmt::format(
        "CONTROL      fitted {}\n"
        "             no calibration: estimate, simulate, project and top refuse this model",
        fit.control));
  }
  if (fit.misfit.flagged) {
    text.emplace_back(fmt::format(
        "MISFIT       {}\n"
        "             rely on none of these figures; estimate, simulate, project and top refuse "
        "this model",
        fit.misfit.reason));
  }
  if (!fit.misfit.undecided.empty()) {
    text.emplace_back(
        fmt::format("undecided    {}\n"
                    "             a longer campaign may decide it: calibrate without --quick",
                    fit.misfit.undecided));
  }
}

std::vector<Block> summary_text(const model::FitResult& fit) {
  std::vector<Block> text;
  const auto line = [&text]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    text.emplace_back(fmt::format(format, std::forward<Args>(args)...));
  };
  const auto& energy = fit.energy();
  const char* const unit = fit.energy_per_bit_ns ? "ns" : "mm";
  text.emplace_back(device_line(fit.device, fit.is_virtual));
  if (energy.row.interval()) {
    line("energy       {:.1f} ({:.1f}..{:.1f}) fJ/bit/{} ({})", *energy.row.value, *energy.row.low,
         *energy.row.high, unit, model::to_string(energy.convention));
    if (fit.energy_per_bit_ns) {
      line("             per mm: {}: {}", to_string(fit.energy_per_bit_mm.row.status),
           fit.energy_per_bit_mm.row.reason);
    }
    line("             by this campaign's own noise alone {:.1f} ({:.1f}..{:.1f})",
         *energy.row.value, energy.sensed_low, energy.sensed_high);
  } else {
    line("energy       {}: {}", to_string(energy.row.status), energy.row.reason);
  }
  line("long / short {:+.2f}% of dynamic power over {:.1f} {}", fit.long_over_short_percent,
       fit.far_mm - fit.near_mm, unit);
  line("bandwidth    {:.1f}% of the L2 channels' peak", 100.0 * fit.l1_l2_bandwidth_fraction);
  if (fit.latency.recorded) {
    line(
        "latency      {:.2f} rank correlation with the floorplan's distances, {:.2f} ticks/mm, "
        "residual {:.2f} ticks (p = {:.2g})",
        fit.latency.rank_correlation, fit.latency.ticks_per_mm, fit.latency.residual_ticks,
        fit.latency.p_value);
  }
  if (!fit.no_voltage_reason.empty()) {
    line("voltage      not measured, so a load line is assumed: {}", fit.no_voltage_reason);
  }
  line("runs         {}, {} rejected", fit.runs, fit.rejected);
  add_warnings(text, fit);
  return text;
}

}  // namespace

Result<Fitted> fit_wires(const CampaignStore& campaign, const FitRequest& request) {
  WW_ASSIGN(fit, model::fit_campaign(campaign, request.options));
  Fitted fitted;
  fitted.file = "model.json";
  fitted.contents = model::model_text(fit);
  fitted.answer.json = summary_json(fit);
  fitted.answer.text = summary_text(fit);
  fitted.identified = fit.energy().row.status == RowStatus::ok;
  return fitted;
}

}  // namespace ww::calibration
