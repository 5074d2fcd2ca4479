#include "commands/recording.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cctype>
#include <ctime>

#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/log.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/core/progress.hpp"

namespace ww::cli {

std::optional<microbench::CampaignSummary> record(
    const std::string& label, const std::string& unit, const std::string& resume_hint,
    int& exit_code,
    const std::function<Result<microbench::CampaignSummary>(const microbench::ProgressFunction&)>&
        run) {
  Progress progress(label, unit);
  const auto summary = run([&progress](const microbench::CampaignProgress& step) {
    progress.update(step.done, step.total, step.note);
  });
  progress.finish();
  if (!summary) {
    exit_code = report_error(summary.error());
    return std::nullopt;
  }
  if (!summary->complete) {
    log::warn("interrupted after {} runs; {}", summary->runs, resume_hint);
    exit_code = ww::exit_code(ErrorCode::cancelled);
    return std::nullopt;
  }
  return *summary;
}

Status refuse_foreign_model(const std::filesystem::path& folder, const char* recording) {
  std::error_code ec;
  if (std::filesystem::exists(folder / recording, ec)) return {};
  for (const calibration::Kind& kind : calibration::kinds()) {
    if (owned_file(folder / kind.file) == OwnedFile::none) continue;
    return fail(ErrorCode::invalid_argument,
                "holds a calibration and is not overwritten; choose another folder with --out",
                (folder / kind.file).string());
  }
  return {};
}

std::string new_folder(const std::string& what, const std::string& device) {
  std::string name = device.empty() ? "device" : device;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  return fmt::format("wirewatt-{}{}-{:%Y%m%d-%H%M%S}", what.empty() ? "" : what + "-", name,
                     fmt::gmtime(std::time(nullptr)));
}

}  // namespace ww::cli
