// The estimate of a program's interconnect energy beside the sealed truth of the same run.
#include "commands/score_estimate.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "estimate/estimate_command.hpp"
#include "output.hpp"
#include "ww/measure/csv.hpp"

namespace ww::cli {
namespace {

// Toggles per bit that IISWC'16, section VI, assumes for all applications.
constexpr double kAssumedByIiswc16 = 0.34;

// The segments, and what else a launch switched.
constexpr std::array<std::string_view, 7> kSealedColumns = {
    "l1_l2_j", "registers_l1_j", "l2_memory_j", "caches_j", "alu_j", "clocks_j", "arbiters_j"};

// Sums of columns named so, with `suffix` behind it. Each process of the program has written a
// table with a header of its own.
template <std::size_t kCount>
Result<std::array<double, kCount>> sealed_sums(const std::string& text,
                                               const std::array<std::string_view, kCount>& names,
                                               const char* suffix = "") {
  const std::string source = "the sealed energies";
  // A way that the chip does not have is no column of its table.
  const std::string xgmi = std::string("xgmi") + suffix;
  const bool linked = text.substr(0, text.find('\n')).ends_with("," + xgmi);
  std::array<double, kCount> sums{};
  std::optional<measure::CsvColumns> columns;
  WW_TRY(measure::each_csv_row(text, source, {}, [&](measure::CsvRow& row) -> Status {
    if (row.fields.front() == "Kernel_Name") {
      columns.emplace(row, source);
      return {};
    }
    if (!columns) return fail(ErrorCode::parse_error, "the table has no header", source);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!linked && names[i] == "xgmi") continue;
      WW_ASSIGN(joules, columns->number(row, std::string(names[i]) + suffix));
      sums[i] += joules;
    }
    return {};
  }));
  return sums;
}

// As ApplicationToggles counts it, over all kernels; absent without monitors or toggles.
std::optional<double> coupling_per_toggle(const std::vector<model::KernelTraffic>& kernels,
                                          std::size_t segment) {
  model::WireActivity sum;
  for (const auto& kernel : kernels) {
    if (kernel.segments[segment].wires) {
      sum += *kernel.segments[segment].wires;
    }
  }
  return sum.toggles > 0 ? std::optional(sum.coupling() / sum.toggles) : std::nullopt;
}

// The estimate beside the truth; nothing where there is no figure.
void judge(nlohmann::json& row, const std::optional<model::Interval>& estimate_j, double truth_j) {
  if (!estimate_j) {
    return;
  }
  const model::Interval& energy = *estimate_j;
  row["estimate_j"] = energy.value;
  row["low_j"] = energy.low;
  row["high_j"] = energy.high;
  row["covered"] = energy.low <= truth_j && truth_j <= energy.high;
  if (energy.value > 0) {
    row["half_width_percent"] = 50 * (energy.high - energy.low) / energy.value;
  }
  if (truth_j > 0) {
    row["error_percent"] = 100 * (energy.value / truth_j - 1);
  }
}

Status check_exit(const Estimated& done, const std::string& program) {
  if (done.program_exit_code == 0) return {};
  return fail(ErrorCode::bad_data, fmt::format("the program ended with {}", done.program_exit_code),
              program);
}

// With a calibration of a package's dies: by hop class, with the bytes that monitors counted and,
// as on a real card, without.
Result<nlohmann::json> score_chiplet_estimate(const EstimateArguments& arguments) {
  WW_ASSIGN(done, run_chiplet_estimate(arguments));
  WW_TRY(check_exit(done.dies, arguments.command.front()));
  WW_ASSIGN(truth, sealed_sums(done.dies.sealed, model::kHopClasses, "_j"));
  model::EstimateOptions unseen;
  unseen.use_monitors = false;
  WW_ASSIGN(uncounted, model::estimate_chiplet(done.model, done.dies.traffic.kernels, {}, unseen));
  nlohmann::json result{{"device", done.model.device}, {"virtual", true}};
  result["hop_classes"] = nlohmann::json::array();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const model::HopClassUse& use = done.uses.back().classes[i];
    const model::HopClassUse& other = uncounted.back().classes[i];
    nlohmann::json row{
        {"class", model::kHopClasses[i]}, {"status", to_string(use.status)}, {"truth_j", truth[i]}};
    judge(row, use.energy_j, truth[i]);
    judge(row["without_monitors"], other.energy_j, truth[i]);
    if (other.upper_j) {
      row["without_monitors"] = {{"upper_j", *other.upper_j},
                                 {"covered", truth[i] <= *other.upper_j}};
    }
    result["hop_classes"].push_back(std::move(row));
  }
  return result;
}

}  // namespace

Result<nlohmann::json> score_estimate(const std::string& model,
                                      const microbench::DeviceRequest& device,
                                      const std::vector<std::string>& command) {
  EstimateArguments arguments;
  arguments.model = model;
  arguments.device = device;
  arguments.command = command;
  arguments.sealed = true;
  arguments.anyway = true;  // how wrong a flagged model is can be asked; its figures stay marked
  arguments.json = true;    // the program's own output stays away
  if (model::is_chiplet_model(model)) return score_chiplet_estimate(arguments);
  WW_ASSIGN(done, run_estimate(arguments));
  WW_TRY(check_exit(done, command.front()));
  WW_ASSIGN(sums, sealed_sums(done.sealed, kSealedColumns));
  // As a real card has it, without monitors: with the prior of the data, and as if random words at
  // the paper's rate were certain.
  model::EstimateOptions assumed;
  assumed.use_monitors = false;
  WW_ASSIGN(by_prior, model::estimate(done.model, done.traffic.kernels, assumed));
  assumed.data = model::random_words_at_rate(kAssumedByIiswc16);
  WW_ASSIGN(as_certain, model::estimate(done.model, done.traffic.kernels, assumed));
  const std::array truth = {sums[1], sums[0], sums[2]};  // in the order of model::wire_segments
  nlohmann::json result{{"device", done.model.device}, {"virtual", true}};
  result["segments"] = nlohmann::json::array();
  for (std::size_t s = 0; s < truth.size(); ++s) {
    const auto& segment = done.estimate.total.segments[s];
    nlohmann::json row{{"segment", model::to_string(segment.segment)},
                       {"status", to_string(segment.status)},
                       {"truth_j", truth[s]},
                       {"toggle_rate", segment.toggle_rate},
                       {"toggles", segment.toggles_measured ? "measured" : "assumed"}};
    if (const auto coupling = coupling_per_toggle(done.traffic.kernels, s)) {
      row["coupling_per_toggle"] = *coupling;
    }
    judge(row, segment.energy_j, truth[s]);
    judge(row["without_monitors"], by_prior.total.segments[s].energy_j, truth[s]);
    judge(row["without_monitors_as_certain"], as_certain.total.segments[s].energy_j, truth[s]);
    result["segments"].push_back(std::move(row));
  }
  if (done.estimate.share_percent) {
    const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
    result["share_percent"] = done.estimate.share_percent->value;
    result["truth_share_percent"] = 100 * (sums[0] + sums[1] + sums[2]) / all;
  }
  return result;
}

void print_score_estimate(const nlohmann::json& result) {
  const auto number = [](const nlohmann::json& row, const char* key) {
    return row.is_object() && row.contains(key) ? fmt::format("{:.4g}", row[key].get<double>())
                                                : std::string("-");
  };
  const auto without_monitors = [&](const nlohmann::json& row) {
    return fmt::format("{}% +- {}%, covered {}", number(row, "error_percent"),
                       number(row, "half_width_percent"),
                       row.is_object() && row.value("covered", false) ? "yes" : "no");
  };
  if (result.contains("hop_classes")) {
    std::vector<std::vector<std::string>> rows{
        {"HOP CLASS", "TRUTH J", "ESTIMATE J", "LOW", "HIGH", "ERROR %", "COVERED", "NOT COUNTED"}};
    for (const auto& row : result["hop_classes"]) {
      const auto& other = row["without_monitors"];
      rows.push_back({row["class"], number(row, "truth_j"), number(row, "estimate_j"),
                      number(row, "low_j"), number(row, "high_j"), number(row, "error_percent"),
                      row.value("covered", false) ? "yes" : "no",
                      other.is_object() && other.contains("upper_j")
                          ? fmt::format("at most {}, covered {}", number(other, "upper_j"),
                                        other.value("covered", false) ? "yes" : "no")
                          : without_monitors(other)});
    }
    print_table(rows);
    return;
  }
  std::vector<std::vector<std::string>> rows{{"SEGMENT", "TRUTH J", "ESTIMATE J", "LOW", "HIGH",
                                              "ERROR %", "COVERED", "TOGGLES", "WITHOUT MONITORS"}};
  for (const auto& row : result["segments"]) {
    rows.push_back({row["segment"], number(row, "truth_j"), number(row, "estimate_j"),
                    number(row, "low_j"), number(row, "high_j"), number(row, "error_percent"),
                    row.value("covered", false) ? "yes" : "no",
                    number(row, "toggle_rate") + " " + row["toggles"].get<std::string>(),
                    without_monitors(row["without_monitors"])});
  }
  print_table(rows);
  if (result.contains("share_percent")) {
    fmt::print("share of the dynamic power: {}%, truth {}%\n", number(result, "share_percent"),
               number(result, "truth_share_percent"));
  }
}

}  // namespace ww::cli
