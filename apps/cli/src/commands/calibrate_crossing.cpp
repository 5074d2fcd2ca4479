#include "commands/calibrate_crossing.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/recording.hpp"
#include "commands/resume.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::cli {
namespace {

std::string figure(const ResultRow& row, bool crosses) {
  if (!row.value) return fmt::format("{}: {}", to_string(row.status), row.reason);
  return fmt::format("{:.3f} pJ/bit{} [{:.3f}, {:.3f}]", 1e12 * *row.value,
                     crosses ? "/crossing" : "", 1e12 * *row.low, 1e12 * *row.high);
}

std::string slope_figure(const ResultRow& row, const char* unit) {
  if (!row.value) return fmt::format("{}: {}", to_string(row.status), row.reason);
  return fmt::format("{:.4g} {} [{:.4g}, {:.4g}]", 1e12 * *row.value, unit, 1e12 * *row.low,
                     1e12 * *row.high);
}

// Where there are no two sides; `meaning` says what the figure is and is not.
void print_slope(const microbench::LatencySlope& slope, const std::string& meaning) {
  fmt::print("per ns       {}\nper cycle    {}\n", slope_figure(slope.per_ns, "pJ/bit/ns"),
             slope_figure(slope.per_tick, "pJ/bit/cycle"));
  fmt::print(
      "latency      far takes {:.1f} +- {:.1f} cycles more{}; R2 {:.3f} as a sum of SM and "
      "line, {:.3f} with a product\n",
      slope.ticks, slope.ticks_error,
      slope.ns ? fmt::format(", {:.2f} ns at {:.0f} MHz", *slope.ns, *slope.clock_hz * 1e-6)
               : std::string(),
      slope.additive_r2, slope.with_product_r2);
  fmt::print("{}\n", meaning);
}

// Writes the answer to `out` as well, unless that is empty.
int show(const CampaignStore& store, const std::filesystem::path& folder,
         const std::filesystem::path& out, bool as_json) {
  const auto fit = microbench::fit_crossing(store);
  if (!fit) return report_error(fit.error());
  auto json = microbench::to_json(*fit);
  const auto device = store.get(campaign_keys::device);
  json["device"] = device && *device ? **device : "";
  const auto is_virtual = store.get(campaign_keys::is_virtual);
  json["virtual"] = is_virtual && *is_virtual == "true";
  const auto chip = store.get(campaign_keys::chip);
  if (const auto facts =
          chip && *chip ? nlohmann::json::parse(**chip, nullptr, false) : nlohmann::json::object();
      facts.is_object()) {
    json["chip"] = {{"name", facts.value("name", "")}, {"target", facts.value("target", "")}};
  }
  json["folder"] = folder.string();
  if (!out.empty()) {
    if (const auto written = write_file_atomically(out, json.dump(2) + "\n"); !written) {
      return report_error(written.error());
    }
  }
  if (as_json) {
    print_json(json);
  } else {
    print_campaign_of(store);
    if (fit->slope) {
      print_slope(*fit->slope, json["meaning"].get<std::string>());
      fmt::print("between the ends, which are no sides of the L2:\n");
    }
    const bool crosses = !fit->slope;
    fmt::print(
        "random data  {}\nzeros        {}\ndata itself  {}\n"
        "rates        near {:.3g}, far {:.3g} bit/s at the shortest of {} waits; they differ by up "
        "to {:.1f}%\n"
        "runs         {} ({} rejected) in {} blocks\n"
        "distance     not public for this part: per {}, not per millimetre\n",
        figure(fit->random_bit, crosses), figure(fit->zero_bit, crosses),
        figure(fit->difference, crosses), fit->near_bits_per_s, fit->far_bits_per_s, fit->waits,
        100 * fit->greatest_mismatch, fit->runs, fit->rejected, fit->blocks,
        crosses ? "crossing" : "ns");
    for (const auto& control : fit->controls) {
      fmt::print("control      {} {}: {}\n", control.name, control.passed ? "passed" : "FAILED",
                 control.detail);
    }
  }
  return fit->random_bit.value ? 0 : 1;
}

}  // namespace

int calibrate_crossing(const CrossingArguments& arguments) {
  const auto& request = arguments.request;
  int exit_code = 0;
  const auto summary = record("calibrating", "runs", resumed_calibration(request.folder), exit_code,
                              [&](const microbench::ProgressFunction& progress) {
                                return microbench::run_crossing(request, progress);
                              });
  if (!summary) return exit_code;
  const auto store = CampaignStore::open_read_only(request.folder / "campaign.db");
  if (!store) return report_error(store.error());
  return show(*store, request.folder, request.folder / "crossing.json", arguments.json);
}

std::optional<int> fit_recorded_crossing(const CampaignStore& store,
                                         const std::filesystem::path& folder,
                                         const RecordedFit& wanted) {
  const auto plan = store.get(campaign_keys::plan);
  if (!plan || !*plan) return std::nullopt;
  const auto parsed = nlohmann::json::parse(**plan, nullptr, false);
  if (!parsed.is_object() || parsed.value("method", "") != "crossing") return std::nullopt;
  if (const auto status = refuse_of_wires(wanted, "crossings", store); !status) {
    return report_error(status.error());
  }
  return show(store, folder, wanted.out, wanted.json);
}

}  // namespace ww::cli
