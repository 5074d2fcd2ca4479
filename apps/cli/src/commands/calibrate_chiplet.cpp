#include "commands/calibrate_chiplet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/recording.hpp"
#include "commands/resume.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/progress.hpp"
#include "ww/report/report.hpp"

namespace ww::cli {
namespace {

void print_answer(const microbench::ChipletFit& fit) {
  std::vector<std::vector<std::string>> table{{"WAY", "VALUE", "LOW", "HIGH", "UNIT", "STATUS"}};
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", 1e12 * *value) : std::string("-");
  };
  for (const ResultRow& row : fit.answer.rows) {
    table.push_back({row.name, text(row.value), text(row.low), text(row.high), "p" + row.unit,
                     std::string(to_string(row.status))});
  }
  print_table(table);
  for (const ResultRow& row : fit.answer.rows) {
    if (!row.value) fmt::print("{}: {}\n", row.name, row.reason);
  }
  for (const auto& control : fit.answer.controls) {
    fmt::print("control      {} {}: {}\n", control.name, control.passed ? "passed" : "FAILED",
               control.detail);
  }
  if (fit.answer.closure_slope) {
    fmt::print(
        "closure      the socket moves by {:.3f} of what its parts move by; {:.2f}% of the "
        "largest load is left\n",
        *fit.answer.closure_slope, 100 * *fit.answer.closure_residual);
  }
  fmt::print(
      "rate         {:.3g} bit/s behind the L2s\nruns         {} ({} rejected) in {} blocks\n",
      fit.bits_per_s, fit.runs, fit.rejected, fit.answer.blocks);
}

// 1 where no way between I/O dies has a figure.
int show_chiplet(const CampaignStore& store, const std::filesystem::path& out, bool as_json) {
  const auto fit = microbench::fit_chiplet(store);
  if (!fit) return report_error(fit.error());
  auto json = microbench::to_json(*fit);
  const auto fact = [&store](std::string_view key) -> std::string {
    const auto value = store.get(key);
    return value && *value ? **value : "";
  };
  json["device"] = fact(campaign_keys::device);
  json["virtual"] = fact(campaign_keys::is_virtual) == "true";
  json["chip"] = nlohmann::json::parse(fact(campaign_keys::chip), nullptr, false);
  if (json["chip"].is_discarded()) json["chip"] = nullptr;
  if (!out.empty()) {
    if (const auto written = write_file_atomically(out, json.dump(2) + "\n"); !written) {
      return report_error(written.error());
    }
  }
  if (as_json) {
    print_json(json);
  } else {
    print_campaign_of(store);
    print_answer(*fit);
  }
  return std::ranges::any_of(fit->answer.rows,
                             [](const ResultRow& row) { return row.value.has_value(); })
             ? 0
             : 1;
}

}  // namespace

int calibrate_chiplet(const microbench::ChipletRequest& request, bool json) {
  int exit_code = 0;
  const auto summary = record("calibrating", "runs", resumed_calibration(request.folder), exit_code,
                              [&](const microbench::ProgressFunction& progress) {
                                return microbench::run_chiplet(request, progress);
                              });
  if (!summary) return exit_code;
  const auto store = CampaignStore::open_read_only(request.folder / "campaign.db");
  if (!store) return report_error(store.error());
  const int code = show_chiplet(*store, request.folder / "model.json", json);
  const auto page = request.folder / "report.html";
  if (const auto status = report::write_report(request.folder, page); !status) {
    return report_error(status.error());
  }
  if (!json) {
    fmt::print("took         {}\nreport       {}\n", human_duration(summary->elapsed_s),
               page.string());
  }
  return code;
}

std::optional<int> fit_recorded_chiplet(const CampaignStore& store, const RecordedFit& wanted) {
  const auto known = microbench::is_chiplet_campaign(store);
  if (!known || !*known) return std::nullopt;
  if (const auto status = refuse_of_wires(wanted, "a package's dies", store); !status) {
    return report_error(status.error());
  }
  return show_chiplet(store, wanted.out, wanted.json);
}

}  // namespace ww::cli
