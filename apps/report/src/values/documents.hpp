// Finds out from its content what a run folder or a JSON file is.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ww/calibration/calibration.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::report {

enum class Kind { calibration, estimate, attribution, simulation, curves, reproduction, sweep };

// A figure that two runs can be compared by.
struct Figure {
  std::string name, unit;
  double value{};
  double low{}, high{};  // 95% interval; NaN where there is none
};

struct Document {
  Kind kind{};
  std::filesystem::path path;  // of the folder, or of the file
  nlohmann::json content;      // model.json, or what the command printed with --json
  // A calibration's own; runs and floorplan only where the report draws its page itself:
  std::shared_ptr<const calibration::Calibration> calibration;
  nlohmann::json score = nlohmann::json::object();
  std::vector<StoredRun> runs;
  std::string floorplan_toml;
  std::map<std::string, std::string> facts;  // of the campaign
  std::string array_caches;                  // array_cache_note()
};

// A folder with sweep.db is a sweep (its content stays there), one with reproduction.json is a
// reproduction, one with the file of a calibration of any kind (calibration::kinds()) that
// calibration, else all JSON files in it that a command printed with --json, in order of name
// (several simulations are one series); a file is what it holds. Errors: not_found (nothing that a
// page can be made of; the message says what is), parse_error (damaged), permission_denied.
[[nodiscard]] Result<std::vector<Document>> read_documents(const std::filesystem::path& path);

// Names the document's kind in sentences: "calibration of wires", "estimate".
[[nodiscard]] std::string_view name_of(const Document& document);

// Returns the figures by which two documents of a kind are compared.
[[nodiscard]] std::vector<Figure> figures_of(const Document& document);

}  // namespace ww::report
