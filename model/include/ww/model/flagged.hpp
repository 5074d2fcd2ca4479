// Whether the fit behind a model.json was flagged as a misfit, or is a control of the method, and
// what then becomes of its users.
//
// A flagged fit has a number, but the data contradict the form that the number belongs to
// (docs/method.md, "Misfit"). Every reader of a model.json therefore asks here before it uses one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ww/core/result.hpp"

namespace ww::model {

// A caller's treatment of a flagged model: no figure at all, or figures that are all marked so.
enum class FlaggedModel { refuse, mark };

// Why the model is flagged; empty where it is not. Reads the energy's status `misfit`, and the
// object `misfit` of files that were written before there was such a status. A control of the
// method, which leaves a part out (`provenance.control`), is a reason, too.
[[nodiscard]] std::string misfit_reason(const nlohmann::json& model);

// misfit_reason, or the error bad_data where the model is flagged and `flagged` is `refuse`: it
// says why, and what to do. `origin` names the file.
[[nodiscard]] Result<std::string> admit_model(const nlohmann::json& model, FlaggedModel flagged,
                                              const std::string& origin);

}  // namespace ww::model
