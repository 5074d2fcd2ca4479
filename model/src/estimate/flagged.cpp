#include "ww/model/flagged.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ww::model {
namespace {

using nlohmann::json;

std::string string_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

// Returns what a control of the method left out or exchanged; empty for a calibration.
std::string control_of_method(const json& model) {
  const auto provenance = model.find("provenance");
  return provenance != model.end() && provenance->is_object() ? string_at(*provenance, "control")
                                                              : std::string();
}

// Returns the misfit of a fit as a whole.
std::string misfit_of_fit(const json& model) {
  std::string reason;
  bool flagged = false;
  for (const char* const key : {"energy_fj_per_bit_mm", "energy_fj_per_bit_ns"}) {
    const auto energy = model.find(key);
    if (energy != model.end() && energy->is_object() && string_at(*energy, "status") == "misfit") {
      flagged = true;
      reason = string_at(*energy, "reason");
    }
  }
  if (const auto misfit = model.find("misfit"); misfit != model.end() && misfit->is_object()) {
    const auto flag = misfit->find("flagged");
    flagged = flagged || (flag != misfit->end() && flag->is_boolean() && flag->get<bool>());
    if (reason.empty()) {
      reason = string_at(*misfit, "reason");
    }
  }
  if (!flagged) {
    return {};
  }
  return reason.empty() ? "the file does not say why" : reason;
}

}  // namespace

std::string misfit_reason(const json& model) {
  if (!model.is_object()) {
    return {};
  }
  std::string reason = misfit_of_fit(model);
  if (const std::string control = control_of_method(model); !control.empty()) {
    reason = fmt::format("it is a control of the method, fitted {}{}{}", control,
                         reason.empty() ? "" : "; ", reason);
  }
  return reason;
}

Result<std::string> admit_model(const json& model, FlaggedModel flagged,
                                const std::string& origin) {
  auto reason = misfit_reason(model);
  if (!reason.empty() && flagged == FlaggedModel::refuse && !control_of_method(model).empty()) {
    return fail(ErrorCode::bad_data,
                fmt::format("nothing may be concluded from this model: {}. Fit the campaign again "
                            "without such options, or give --anyway (in a program WIREWATT_ANYWAY) "
                            "for figures that are all marked 'misfit'",
                            reason),
                origin);
  }
  if (!reason.empty() && flagged == FlaggedModel::refuse) {
    return fail(ErrorCode::bad_data,
                fmt::format("the model is flagged as a misfit, so that nothing may be concluded "
                            "from it: {}. Check the floorplan and the sensor and calibrate again "
                            "(docs/method.md, \"Misfit\"), or give --anyway (in a program "
                            "WIREWATT_ANYWAY) for figures that are all marked 'misfit'",
                            reason),
                origin);
  }
  return reason;
}

}  // namespace ww::model
