#include "reproduction/kept_runs.hpp"

#include "ww/core/atomic_file.hpp"

namespace ww::study {
namespace {

using nlohmann::json;

constexpr const char* kFile = "done.json";
constexpr const char* kBuild = "build";

}  // namespace

bool KeptRuns::has(const std::filesystem::path& folder, const json& what) {
  const auto text = read_file(folder / kFile);
  if (!text) return false;
  json done = json::parse(*text, nullptr, false);
  if (!done.is_object()) return false;
  std::string build = "unknown";
  if (const auto said = done.find(kBuild); said != done.end()) {
    if (said->is_string()) build = said->get<std::string>();
    done.erase(said);
  }
  if (done != what) return false;
  builds_.insert(build);
  return true;
}

Status KeptRuns::keep(const std::filesystem::path& folder, json what) {
  builds_.insert(build_);
  what[kBuild] = build_;
  return write_file_atomically(folder / kFile, what.dump() + "\n");
}

}  // namespace ww::study
