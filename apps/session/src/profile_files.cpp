#include "ww/session/profile_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <system_error>

namespace ww::session {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 4;  // rocprof-compute: workloads/NAME/PART; rocprofv3: NAME/HOST/PASS

// Tables that profilers write beside their counters.
bool is_other_table(const fs::path& file) {
  static const std::set<std::string> names = {"sysinfo.csv", "timestamps.csv", "roofline.csv",
                                              "pmc_dispatch_info.csv"};
  const std::string name = file.filename().string();
  return names.contains(name) || name.starts_with("SQ_") || name.ends_with("agent_info.csv") ||
         name.ends_with("kernel_trace.csv") || name.ends_with("_stats.csv");
}

// The table that `ncu --csv` printed, between the program's own lines, whatever the file is called.
bool is_ncu_output(const fs::path& file) {
  constexpr std::size_t kHead = 16384;
  std::ifstream stream(file, std::ios::binary);
  std::string head(kHead, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head.find("\"Metric Name\"") != std::string::npos;
}

std::string name_of(const fs::path& file) {
  return file.filename().string();
}

std::vector<fs::path> chosen(const std::vector<fs::path>& files,
                             const std::function<bool(const fs::path&)>& wanted) {
  std::vector<fs::path> result;
  std::ranges::copy_if(files, std::back_inserter(result), wanted);
  return result;
}

Result<std::vector<fs::path>> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (auto at = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, failed);
       !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    if (at.depth() >= kMaxDepth) at.disable_recursion_pending();
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path());
  }
  if (failed) return fail(ErrorCode::io_error, failed.message(), folder.string());
  std::ranges::sort(files);
  return files;
}

// One workload's files lie in one folder of its own; those of two would be added up.
Status refuse_several(const std::vector<fs::path>& files, const std::string& folder) {
  std::set<std::string> folders;
  for (const auto& file : files) folders.insert(file.parent_path().string());
  if (folders.size() < 2) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("has the profiles of several workloads; name one: {}", fmt::join(folders, ", ")),
      folder);
}

std::vector<std::string> as_text(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

}  // namespace

Result<std::vector<std::string>> profile_files(const std::string& path) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (!fs::exists(status)) {
    return fail(ErrorCode::not_found, "there is no such file or folder; a program goes after --",
                path);
  }
  if (!fs::is_directory(status)) return std::vector{path};
  WW_ASSIGN(files, files_below(path));
  const auto joined =
      chosen(files, [](const fs::path& file) { return name_of(file) == "pmc_perf.csv"; });
  if (!joined.empty()) {
    WW_TRY(refuse_several(joined, path));
    return as_text(joined);
  }
  const auto passes = chosen(files, [](const fs::path& file) {
    return name_of(file).starts_with("pmc_perf_") && file.extension() == ".csv";
  });
  if (!passes.empty()) {
    WW_TRY(refuse_several(passes, path));
    return as_text(passes);
  }
  for (const std::string_view ending : {".db", "counter_collection.csv"}) {
    const auto found =
        chosen(files, [ending](const fs::path& file) { return name_of(file).ends_with(ending); });
    if (!found.empty()) return as_text(found);
  }
  const auto tables = chosen(files, [](const fs::path& file) {
    return file.extension() == ".csv" && !is_other_table(file);
  });
  if (tables.size() == 1) return as_text(tables);
  if (tables.empty()) {
    const auto printed = chosen(files, is_ncu_output);
    if (printed.size() == 1) return as_text(printed);
  }
  return fail(
      ErrorCode::not_found,
      fmt::format("has no counters: looked for pmc_perf.csv (rocprof-compute), *.db (rocpd), "
                  "*counter_collection.csv (rocprofv3), a single .csv file and what ncu --csv "
                  "printed; {}",
                  tables.empty() ? "there is none"
                                 : fmt::format("there are {} .csv files: name the one with "
                                               "the counters",
                                               tables.size())),
      path);
}

bool names_profile(const std::string& word) {
  std::error_code ignored;
  if (fs::is_directory(word, ignored)) return true;
  const fs::path path(word);
  if (path.extension() == ".csv" || path.extension() == ".db") return true;
  return fs::is_regular_file(path, ignored) && is_ncu_output(path);
}

}  // namespace ww::session
