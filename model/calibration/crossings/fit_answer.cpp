// The fit of a recorded campaign of crossings, as `fit` and `calibrate` print it.
#include <fmt/format.h>

#include "kinds/kinds.hpp"
#include "ww/calibration/crossing_fit.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

// Writes the figure in a unit for people: "1.000 pJ/bit/crossing [0.900, 1.100]".
std::string energy_text(Figure row, const char* unit) {
  row = in_picojoules(std::move(row));
  row.unit = unit;
  return text(row);
}

// Adds the slope where there are no two sides; `meaning` says what the figure is and is not.
void add_slope(std::vector<Block>& text, const LatencySlope& slope, const std::string& meaning) {
  text.emplace_back(fmt::format("per ns       {}\nper cycle    {}",
                                energy_text(slope.per_ns, "pJ/bit/ns"),
                                energy_text(slope.per_tick, "pJ/bit/cycle")));
  text.emplace_back(fmt::format(
      "latency      far takes {:.1f} +- {:.1f} cycles more{}; R2 {:.3f} as a sum of SM and "
      "line, {:.3f} with a product",
      slope.ticks, slope.ticks_error,
      slope.ns ? fmt::format(", {:.2f} ns at {:.0f} MHz", *slope.ns, *slope.clock_hz * 1e-6)
               : std::string(),
      slope.additive_r2, slope.with_product_r2));
  text.emplace_back(meaning);
  text.emplace_back("between the ends, which are no sides of the L2:");
}

}  // namespace

Result<Fitted> fit_crossings(const CampaignStore& campaign, const FitRequest& request) {
  WW_ASSIGN(fit, fit_crossing(campaign));
  Fitted fitted;
  fitted.file = "crossing.json";
  fitted.identified = fit.random_bit.value.has_value();
  json& document = fitted.answer.json;
  document = to_json(fit);
  const bool is_virtual = fact(campaign, campaign_keys::is_virtual) == "true";
  document["device"] = fact(campaign, campaign_keys::device);
  document["virtual"] = is_virtual;
  const std::string chip = fact(campaign, campaign_keys::chip);
  const auto facts = chip.empty() ? json::object() : json::parse(chip, nullptr, false);
  if (facts.is_object()) {
    document["chip"] = {{"name", facts.value("name", "")}, {"target", facts.value("target", "")}};
  }
  document["folder"] = request.folder.string();
  fitted.contents = document.dump(2) + "\n";

  auto& text = fitted.answer.text;
  text.emplace_back(device_line(fact(campaign, campaign_keys::device), is_virtual));
  if (fit.slope) add_slope(text, *fit.slope, document["meaning"].get<std::string>());
  const char* const unit = fit.slope ? "pJ/bit" : "pJ/bit/crossing";
  text.emplace_back(fmt::format(
      "random data  {}\nzeros        {}\ndata itself  {}\n"
      "rates        near {:.3g}, far {:.3g} bit/s at the shortest of {} waits; they differ by up "
      "to {:.1f}%\n"
      "runs         {} ({} rejected) in {} blocks\n"
      "distance     not public for this part: per {}, not per millimetre",
      energy_text(fit.random_bit, unit), energy_text(fit.zero_bit, unit),
      energy_text(fit.difference, unit), fit.near_bits_per_s, fit.far_bits_per_s, fit.waits,
      100 * fit.greatest_mismatch, fit.runs, fit.rejected, fit.blocks,
      fit.slope ? "ns" : "crossing"));
  for (const auto& control : fit.controls) {
    text.emplace_back(fmt::format("control      {} {}: {}", control.name,
                                  control.passed ? "passed" : "FAILED", control.detail));
  }
  return fitted;
}

}  // namespace ww::calibration
