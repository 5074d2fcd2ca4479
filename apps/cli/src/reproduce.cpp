// wirewatt reproduce: a paper's figures and tables beside ours.
#include <fmt/format.h>

#include <filesystem>

#include "child.hpp"
#include "command.hpp"
#include "output.hpp"
#include "reproduce_dapper.hpp"
#include "reproduce_gpuopt.hpp"
#include "reproduce_rows.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/report/pages.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ReproduceArguments {
  std::string paper;
  std::string out;
  std::string size;
  bool quick{};
  bool json{};
};

// Rows and page into the folder.
Status save(json& result, Reproduction& out, const std::string& folder) {
  result["charts"] = std::move(out.charts);
  result["rows"] = json::array();
  for (auto& row : out.rows) {
    result["rows"].push_back({{"figure", row.figure},
                              {"quantity", row.quantity},
                              {"paper", row.paper},
                              {"ours", row.ours},
                              {"unit", row.unit},
                              {"status", row.status},
                              {"note", row.note}});
  }
  WW_TRY(write_file_atomically(fs::path(folder) / "reproduction.json", result.dump(1) + "\n"));
  return report::write_reproduction_page(result, fs::path(folder) / "reproduction.html");
}

// The calibration of the folder, made where there is none. One process holds one virtual chip, so
// a process of its own makes it.
Status calibrate(const ReproduceArguments& arguments) {
  if (fs::exists(fs::path(arguments.out) / "model.json")) {
    spdlog::info("{}: the calibration is there already", arguments.out);
    return {};
  }
  std::error_code ec;
  const auto self = fs::read_symlink("/proc/self/exe", ec);
  if (ec) return fail(ErrorCode::io_error, "cannot tell where this program lies");
  std::vector<std::string> command{self.string(), "calibrate",   "--device", "virtual:w9100",
                                   "--out",       arguments.out, "--json"};
  if (arguments.quick) command.emplace_back("--quick");
  if (fs::exists(fs::path(arguments.out) / "campaign.db")) command.emplace_back("--resume");
  WW_ASSIGN(status, run_child(command, true));
  // A calibration that was complete ends well, whoever asked it to end.
  if (asked_to_end_during_child()) {
    return fail(ErrorCode::cancelled, "was interrupted; run it again to go on", arguments.out);
  }
  if (const int code = child_exit_code(status); code != 0) {
    return fail(ErrorCode::device_error, fmt::format("the calibration ended with {}", code),
                arguments.out);
  }
  return {};
}

Result<json> reproduce_iiswc16(const ReproduceArguments& arguments) {
  WW_TRY(calibrate(arguments));
  const auto model_file = (fs::path(arguments.out) / "model.json").string();
  WW_ASSIGN(text, read_file(model_file));
  const json model = json::parse(text, nullptr, false);
  if (model.is_discarded() || !model.is_object()) {
    return fail(ErrorCode::parse_error, "not a model; fit the campaign again", model_file);
  }
  Reproduction out;
  try {
    add_characterisation(out, model);
  } catch (const json::exception& e) {
    return fail(ErrorCode::parse_error, std::string("damaged model: ") + e.what(), model_file);
  }
  Progress progress("reproducing", "applications");
  WW_TRY(add_applications(out, model_file, arguments.size,
                          [&](const std::string& name, double done, double total) {
                            progress.update(done, total, name);
                          }));
  progress.finish();
  json result{
      {"paper", "IISWC'16: Measuring and Modeling On-Chip Interconnect Power on Real Hardware"},
      {"device", "virtual:w9100"},
      {"virtual", true},
      {"size", arguments.size}};
  WW_TRY(save(result, out, arguments.out));
  return result;
}

json run_json(const DapperRun& run) {
  return {{"cycles", run.cycles},
          {"network_energy_pj", run.energy_pj},
          {"components_pj", run.components_pj},
          {"avg_request_latency", run.request_latency},
          {"avg_reply_latency", run.reply_latency},
          {"avg_request_transit", run.request_transit},
          {"avg_reply_transit", run.reply_transit},
          {"network_cycles", run.network_cycles},
          {"read_replies", run.replies},
          {"approximable_share", run.approximable_share},
          {"coalesced_share", run.coalesced_share},
          {"changed_share", run.changed_share},
          {"accepted_flits_per_node_cycle", run.load},
          {"avg_output_buffer_packets", run.output_occupancy},
          {"output",
           {{"error", run.error.mean},
            {"normalised_error", run.error.normalised},
            {"points", run.error.points},
            {"changed", run.error.changed},
            {"zeros_changed", run.error.zeros_changed}}},
          {"cpu_s", run.cpu_s}};
}

// A study of runs by application and variant: it runs, `add_rows` compares it with the paper, and
// rows, pictures and runs are saved. `result` says which paper; it gets `inconsistencies` and
// `runs`, which `to_row` writes.
Result<json> reproduce_study(const ReproduceArguments& arguments, json result, auto run_study,
                             auto add_rows, auto to_row) {
  Progress progress("reproducing", "runs");
  WW_ASSIGN(study, run_study([&](const std::string& name, double done, double total) {
              progress.update(done, total, name);
            }));
  progress.finish();
  Reproduction out;
  add_rows(out, study);
  result["virtual"] = true;
  result["size"] = arguments.size;
  result["runs"] = json::array();
  for (const auto& [application, runs] : study.runs) {
    for (const auto& [variant, run] : runs) {
      json row = to_row(run);
      row["application"] = application;
      row["variant"] = variant;
      result["runs"].push_back(std::move(row));
    }
  }
  if constexpr (requires { study.pictures; }) result["pictures"] = study.pictures;
  WW_TRY(save(result, out, arguments.out));
  return result;
}

Result<json> reproduce_dapper(const ReproduceArguments& arguments) {
  return reproduce_study(
      arguments,
      {{"paper", "Dapper: Data Aware Approximate NoC for GPGPU Architectures (NOCS 2018)"},
       {"device", "virtual:dapper"},
       {"inconsistencies", dapper_inconsistencies()}},
      [&](const auto& told) {
        return run_dapper_study({arguments.out, arguments.size, arguments.quick, 2}, told);
      },
      add_dapper_rows, run_json);
}

Result<json> reproduce_gpuopt(const ReproduceArguments& arguments) {
  return reproduce_study(
      arguments,
      {{"paper", "PS_GPUOPT: photonic networks for GPUs (Bashir and Sarangi)"},
       {"device", "virtual:gpuopt"},
       {"inconsistencies", gpuopt_inconsistencies()}},
      [&](const auto& told) {
        return run_gpuopt_study({arguments.out, arguments.size, arguments.quick}, told);
      },
      add_gpuopt_rows, [](const auto& run) { return to_json(run); });
}

std::string cell(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : std::string("-");
}

int run(ReproduceArguments arguments) {
  if (arguments.out.empty()) arguments.out = "reproduce-" + arguments.paper;
  if (arguments.size.empty()) arguments.size = arguments.quick ? "small" : "medium";
  const auto result = arguments.paper == "dapper"   ? reproduce_dapper(arguments)
                      : arguments.paper == "gpuopt" ? reproduce_gpuopt(arguments)
                                                    : reproduce_iiswc16(arguments);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_json(*result);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{
      {"FIGURE", "QUANTITY", "PAPER", "OURS", "UNIT", "STATUS"}};
  for (const auto& row : (*result)["rows"]) {
    rows.push_back({row["figure"], row["quantity"], cell(row["paper"]), cell(row["ours"]),
                    row["unit"], row["status"]});
  }
  print_table(rows);
  for (const auto& line : result->value("inconsistencies", json::array())) {
    fmt::print("in the paper: {}\n", line.get<std::string>());
  }
  fmt::print("ours: {}, not a measurement; notes and plots: {}/reproduction.html\n",
             (*result)["device"].get<std::string>(), arguments.out);
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("reproduce", "A paper's figures and tables beside ours (virtual)");
  auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("paper", arguments->paper, "Which paper")
      ->required()
      ->check(CLI::IsMember({"iiswc16", "dapper", "gpuopt"}));
  command->add_option(
      "--out", arguments->out,
      "Folder for calibration or runs, rows and page (default: reproduce-<paper>); what "
      "is in it is used");
  command->add_flag("--quick", arguments->quick, "Quick campaign or fewer ablations, small inputs");
  command->add_option("--size", arguments->size, "Inputs of the applications (default: medium)")
      ->check(CLI::IsMember({"small", "medium", "paper"}));
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n  wirewatt reproduce iiswc16 --quick\n  wirewatt reproduce dapper --quick "
      "--json\n  wirewatt reproduce gpuopt --quick");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
