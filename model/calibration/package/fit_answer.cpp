// The fit of a recorded campaign of a package's dies, as `fit` and `calibrate` print it.
#include <fmt/format.h>

#include <algorithm>

#include "kinds/kinds.hpp"
#include "ww/calibration/chiplet_fit.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

Table ways_table(const model::ChipletAnswer& answer) {
  Table table{"Energy by way between dies",
              {{"WAY"}, {"VALUE", true}, {"LOW", true}, {"HIGH", true}, {"UNIT"}, {"STATUS"}},
              {}};
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : std::string("-");
  };
  for (const Figure& row : answer.rows) {
    const Figure shown = in_picojoules(row);
    table.rows.push_back({shown.name, text(shown.value), text(shown.low), text(shown.high),
                          shown.unit, to_string(shown.status)});
  }
  return table;
}

}  // namespace

Result<Fitted> fit_package(const CampaignStore& campaign, const FitRequest& /*request*/) {
  WW_ASSIGN(fit, fit_chiplet(campaign));
  Fitted fitted;
  fitted.file = "model.json";
  fitted.identified =
      std::ranges::any_of(fit.answer.rows, [](const Figure& row) { return row.value.has_value(); });
  json& document = fitted.answer.json;
  document = to_json(fit);
  const bool is_virtual = fact(campaign, campaign_keys::is_virtual) == "true";
  document["device"] = fact(campaign, campaign_keys::device);
  document["virtual"] = is_virtual;
  document["chip"] = json::parse(fact(campaign, campaign_keys::chip), nullptr, false);
  if (document["chip"].is_discarded()) document["chip"] = nullptr;
  fitted.contents = document.dump(2) + "\n";

  auto& text = fitted.answer.text;
  text.emplace_back(device_line(fact(campaign, campaign_keys::device), is_virtual));
  text.emplace_back(ways_table(fit.answer));
  for (const Figure& row : fit.answer.rows) {
    if (!row.value) text.emplace_back(fmt::format("{}: {}", row.name, row.reason));
  }
  for (const auto& control : fit.answer.controls) {
    text.emplace_back(fmt::format("control      {} {}: {}", control.name,
                                  control.passed ? "passed" : "FAILED", control.detail));
  }
  if (fit.answer.closure_slope) {
    text.emplace_back(fmt::format(
        "closure      the socket moves by {:.3f} of what its parts move by; {:.2f}% of the "
        "largest load is left",
        *fit.answer.closure_slope, 100 * *fit.answer.closure_residual));
  }
  text.emplace_back(fmt::format(
      "rate         {:.3g} bit/s behind the L2s\nruns         {} ({} rejected) in {} blocks",
      fit.bits_per_s, fit.runs, fit.rejected, fit.answer.blocks));
  return fitted;
}

}  // namespace ww::calibration
