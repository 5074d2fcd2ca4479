// The runs of a study that its folder keeps, so that what is there is not run again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "ww/core/result.hpp"

namespace ww::study {

// A run that has ended well leaves done.json: what was run, and by which build of this program.
// Runs of other builds are used, and `builds` says so.
class KeptRuns {
 public:
  explicit KeptRuns(std::string build) : build_(std::move(build)) {}

  // Whether the folder has the run that the object `what` describes.
  [[nodiscard]] bool has(const std::filesystem::path& folder, const nlohmann::json& what);
  // Says that the run of the folder has ended well. Errors: io_error, permission_denied.
  Status keep(const std::filesystem::path& folder, nlohmann::json what);

  // The builds that made the runs which has() found and keep() kept; "unknown" of those of programs
  // that did not leave theirs.
  [[nodiscard]] const std::set<std::string>& builds() const { return builds_; }

 private:
  std::string build_;
  std::set<std::string> builds_;
};

}  // namespace ww::study
