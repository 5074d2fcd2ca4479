// The kinds of calibration: a row each. All commands, the report and the libraries know a
// calibration by this table alone, so a new kind is a folder that implements Calibration and a row
// in kinds.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "ww/calibration/calibration.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/model/fit.hpp"

namespace ww::calibration {

// Which calibrations may be used.
enum class Admission {
  refuse_flagged,  // those with a figure whose fit was not flagged
  mark_flagged,    // those with a figure; what is made with a flagged one is marked misfit
  any,             // whatever a fit found, to show it: estimates and projections may be errors
};

struct FitRequest {
  model::FitOptions options;           // of campaigns of wires alone
  std::span<const std::string> given;  // options that change the fit, as `wirewatt fit` spells them
  std::filesystem::path folder;        // of the recording
};
struct Fitted {
  std::string file;  // "model.json": what the fit is written to
  std::string contents;
  Answer answer;      // as `fit` and `calibrate` print it
  bool identified{};  // whether it is a calibration that others can use
};

struct Kind {
  std::string_view name;      // "crossings"
  std::string_view file;      // that a calibration is written to: "crossing.json"
  std::string_view key;       // of that file's document; empty: any document
  std::string_view method;    // of the campaign's plan; empty: any plan
  std::string_view measures;  // in messages: "a package's dies"
  std::span<const std::string_view> fit_options;  // of `wirewatt fit` that it takes
  Result<std::unique_ptr<Calibration>> (*parse)(nlohmann::json document, const std::string& origin,
                                                Admission admission);
  Result<Fitted> (*fit)(const CampaignStore& campaign, const FitRequest& request);
};

// Returns the kinds in the order in which documents and plans are tried.
[[nodiscard]] std::span<const Kind> kinds();

// The file of a calibration: `path` itself, or in a folder the first of the kinds' files that is
// there, model.json before others. Errors: those of named_file().
[[nodiscard]] Result<std::filesystem::path> calibration_file(const std::filesystem::path& path,
                                                             std::span<const Kind> table = kinds());
// Reads a calibration of any kind. Errors: those of reading, and the kind's own: parse_error,
// bad_data (flagged, or without a figure).
[[nodiscard]] Result<std::unique_ptr<Calibration>> load(
    const std::filesystem::path& path, Admission admission = Admission::refuse_flagged,
    std::span<const Kind> table = kinds());
// Reads a calibration from a document that is parsed already.
[[nodiscard]] Result<std::unique_ptr<Calibration>> parse(nlohmann::json document,
                                                         const std::string& origin,
                                                         Admission admission,
                                                         std::span<const Kind> table = kinds());

// The energies of single wires alone, for uses that go by segment. Error unsupported: the
// calibration is of a kind without them.
[[nodiscard]] Result<model::WireModel> load_wires(const std::filesystem::path& path,
                                                  Admission admission = Admission::refuse_flagged);

// Fits a recorded campaign. Errors: bad_data (nothing can be fitted; the campaign has no end),
// invalid_argument (an option that does not go with a campaign of this kind).
[[nodiscard]] Result<Fitted> fit(const CampaignStore& campaign, const FitRequest& request,
                                 std::span<const Kind> table = kinds());

// Wires without a calibration, of the literature or of an application of one's own.
[[nodiscard]] std::unique_ptr<Calibration> calibration_of(model::WireModel model);

}  // namespace ww::calibration
