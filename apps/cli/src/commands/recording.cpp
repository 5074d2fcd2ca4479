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

Status refuse_of_wires(const RecordedFit& wanted, const char* what, const CampaignStore& store) {
  if (wanted.of_wires.empty()) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} does not go with a campaign of {}, which is fitted in another way",
                          wanted.of_wires, what),
              store.file().string());
}

void print_campaign_of(const CampaignStore& store) {
  const auto fact = [&store](std::string_view key) {
    const auto value = store.get(key);
    return value && *value ? **value : std::string();
  };
  fmt::print("{}{}\n", fact(campaign_keys::device),
             fact(campaign_keys::is_virtual) == "true" ? " (virtual, not a measurement)" : "");
}

}  // namespace ww::cli
