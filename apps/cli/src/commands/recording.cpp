#include "commands/recording.hpp"

#include <fmt/format.h>

#include "output.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"

namespace ww::cli {

std::optional<microbench::CampaignSummary> record(
    const std::string& label, const std::string& unit, const std::string& go_on, int& exit_code,
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
    spdlog::warn("interrupted after {} runs; {}", summary->runs, go_on);
    exit_code = ww::exit_code(ErrorCode::cancelled);
    return std::nullopt;
  }
  return *summary;
}

}  // namespace ww::cli
