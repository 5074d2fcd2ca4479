// wirewatt estimate: what the on-chip wires draw in an application, from its counters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "estimate/estimate_command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "timeline_option.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/core/log.hpp"
#include "ww/model/chiplet_use.hpp"
#include "ww/model/crossing_use.hpp"
#include "ww/model/technology.hpp"
#include "ww/report/pages.hpp"
#include "ww/study/power_regression.hpp"

namespace ww::cli {
namespace {

constexpr const char* kLiteratureNotice =
    "from literature, not this device: published energies of wires, scaled to the part";

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string bytes_text(const model::SegmentEstimate& segment) {
  if (!segment.bytes) return "-";
  return fmt::format("{}{:.6g}",
                     segment.bytes_at_least ? ">= "
                     : segment.bytes_scaled ? "~ "
                                            : "",
                     *segment.bytes);
}

void add_rows(std::vector<std::vector<std::string>>& rows, const model::KernelEstimate& kernel,
              std::string name) {
  for (const auto& segment : kernel.segments) {
    rows.push_back({name, std::string(model::to_string(segment.segment)), bytes_text(segment),
                    fmt::format("{:.2f} {}", segment.toggle_rate,
                                segment.toggles_measured ? "measured" : "assumed"),
                    interval_text(segment.energy_j, segment.upper_j, "J"),
                    interval_text(segment.power_w, segment.upper_w, "W"),
                    std::string(to_string(segment.status))});
    name.clear();
  }
}

bool has_figure(const model::Estimate& estimate) {
  return std::ranges::any_of(estimate.kernels, [](const model::KernelEstimate& kernel) {
    return std::ranges::any_of(kernel.segments, [](const model::SegmentEstimate& segment) {
      return segment.energy_j || segment.upper_j;
    });
  });
}

Error nothing_estimated(const Estimated& done) {
  std::string why;
  for (const auto& segment : done.estimate.total.segments) {
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", model::to_string(segment.segment),
                       segment.reason);
  }
  const char* advice = done.traffic.architecture.empty()
                           ? "name the device's architecture with --arch"
                           : "docs/estimate.md lists the counters to ask the profiler for";
  return {ErrorCode::bad_data,
          fmt::format("no segment of any kernel has a figure ({}); {}", why, advice), ""};
}

void print_regression(const nlohmann::json& result) {
  fmt::print("{}: {} kernels, R2 {:.3f}, residual {:.3g} W, condition {:.3g}\n",
             result["device"].get<std::string>(), result["kernels"].get<int>(),
             result["r_squared"].get<double>(), result["residual_w"].get<double>(),
             result["condition"].get<double>());
  std::vector<std::vector<std::string>> rows{
      {"TERM", "W", "LOW", "HIGH", "INFLATION", "STATUS", ""}};
  for (const auto& row : result["coefficients"]) {
    rows.push_back({row["name"], fmt::format("{:.4g}", row["value"].get<double>()),
                    fmt::format("{:.4g}", row["low"].get<double>()),
                    fmt::format("{:.4g}", row["high"].get<double>()),
                    fmt::format("{:.3g}", row["inflation"].get<double>()), row["status"],
                    row["reason"]});
  }
  print_table(rows);
  fmt::print("interconnect: {}: {}\n", result["interconnect"]["status"].get<std::string>(),
             result["interconnect"]["reason"].get<std::string>());
}

// Options that nothing would read beside the others.
Status refuse_unread_options(const EstimateArguments& arguments) {
  const bool literature = arguments.constant == "literature";
  // Of a package, the wires within the dies are from the literature.
  const bool has_literature = literature || model::is_chiplet_model(arguments.model);
  struct Unread {
    bool given;
    const char* option;
    const char* why;
  };
  for (const Unread& one :
       {Unread{literature && !arguments.model.empty(), "--model",
               "does not go with --constant literature, which has its own energies"},
        Unread{arguments.node_nm && !has_literature, "--node",
               "goes with --constant literature: a calibration is of its card's node (project "
               "takes it to another)"},
        Unread{!arguments.device.name.empty() && !arguments.counters.empty(), "--device",
               "is what a program runs on, and does not go with --counters"},
        Unread{arguments.response.given() && !arguments.counters.empty(), "--window, --lag",
               "are of the sensor's readings while a program runs, and do not go with "
               "--counters"}}) {
    if (one.given) return fail(ErrorCode::invalid_argument, one.why, one.option);
  }
  return {};
}

int run(const EstimateArguments& arguments) {
  if (arguments.accelwattch.empty()) {
    if (const auto status = refuse_unread_options(arguments); !status) {
      return report_error(status.error());
    }
  }
  const bool crossings = arguments.accelwattch.empty() && arguments.constant != "literature" &&
                         model::is_crossing_model(arguments.model);
  if (arguments.timeline.wanted() && (crossings || !arguments.accelwattch.empty())) {
    return report_error({ErrorCode::invalid_argument,
                         crossings ? "a timeline has joules by segment, which a calibration of "
                                     "crossings does not give; use one of wires (model.json)"
                                   : "AccelWattch's tables have no kernels over time",
                         "--timeline"});
  }
  if (!arguments.accelwattch.empty()) {
    const auto result = study::regress_accelwattch(arguments.accelwattch);
    if (!result) return report_error(result.error());
    if (arguments.json) {
      print_json(*result);
    } else {
      print_regression(*result);
    }
    return 0;
  }
  if (crossings) return estimate_crossing(arguments);
  if (arguments.constant != "literature" && model::is_chiplet_model(arguments.model)) {
    return estimate_chiplet(arguments);
  }
  const auto done = run_estimate(arguments);
  if (!done) return report_error(done.error());
  if (!arguments.report.empty()) {
    if (const auto saved = report::write_estimate_page(estimate_json(*done), arguments.report);
        !saved) {
      return report_error(saved.error());
    }
  }
  if (arguments.json) {
    print_json(estimate_json(*done));
  } else {
    print_estimate(*done);
    if (const auto rows = kernel_joules_rows(done->sensed); !rows.empty()) {
      fmt::print("energy of the whole chip above rest, by the times of the launches:\n");
      print_table(rows);
    }
  }
  if (!has_figure(done->estimate)) {
    const int bad = report_error(nothing_estimated(*done));
    return done->program_exit_code != 0 ? done->program_exit_code : bad;
  }
  return done->program_exit_code;
}

}  // namespace

void print_estimate(const Estimated& done) {
  const auto& result = done.estimate;
  const char* const mark = done.model.misfit.empty() ? "" : " (misfit)";
  print_misfit(done.model.misfit);
  if (done.model.literature) fmt::print("LITERATURE: {}\n", kLiteratureNotice);
  fmt::print("{}{}: {} of {}\n", done.traffic.architecture,
             done.is_virtual() ? " (virtual, not a measurement)" : "",
             counted(done.traffic.dispatches, "dispatch", "dispatches"),
             counted(result.kernels.size(), "kernel", "kernels"));
  fmt::print(
      "energy per bit and {}: {:.4g} fJ ({:.4g}..{:.4g}){} at {:.4g} V, per random bit; {}\n",
      done.model.unit(), done.model.random.value, done.model.random.low, done.model.random.high,
      mark, done.model.reference_voltage_v, done.model.source);
  fmt::print("distances: {}\n", done.model.distance_source);
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "SEGMENT", "BYTES", "TOGGLES", "ENERGY (95%)", "POWER (95%)", "STATUS"}};
  constexpr std::size_t most = 20;
  const auto labels = kernel_labels(result.kernels, &model::KernelEstimate::kernel);
  for (std::size_t k = 0; k < std::min(most, result.kernels.size()); ++k) {
    add_rows(rows, result.kernels[k], labels[k]);
  }
  add_rows(rows, result.total, result.total.kernel);
  print_table(rows);
  if (result.kernels.size() > most) {
    fmt::print("({} more kernels: --json)\n", result.kernels.size() - most);
  }
  const auto assumed = [](const model::KernelEstimate& kernel) {
    return std::ranges::any_of(kernel.segments, [](const model::SegmentEstimate& segment) {
      return segment.energy_j && !segment.toggles_measured;
    });
  };
  if (assumed(result.total)) {
    const model::Interval& rate = result.assumed_rate;
    fmt::print(
        "no monitor counts toggles: the data are assumed to cost what random words with {:.2f} "
        "toggles a bit ({:.2f}..{:.2f}) do; that range is in the intervals\n",
        rate.value, rate.low, rate.high);
  }
  for (const auto& segment : result.total.segments) {
    if (!segment.reason.empty()) {
      fmt::print("{}: {}\n", model::to_string(segment.segment), segment.reason);
    }
  }
  fmt::print("together: {}, {}{}{}\n", interval_text(result.total.energy_j, std::nullopt, "J"),
             interval_text(result.total.power_w, std::nullopt, "W"), mark,
             result.total.left_out.empty() ? "" : ", without " + result.total.left_out);
  if (!result.total.time_reason.empty()) {
    fmt::print("{}: {}\n", result.total.power_w ? "watts" : "no watts", result.total.time_reason);
  }
  if (result.share_percent) {
    fmt::print("share of the dynamic power ({:.3g} W): {:.3g}% ({:.3g}..{:.3g}){}\n",
               result.dynamic_w.value_or(0), result.share_percent->value, result.share_percent->low,
               result.share_percent->high, mark);
  } else {
    fmt::print("no share of the dynamic power: {}\n", result.share_reason);
  }
}

nlohmann::json estimate_json(const Estimated& done) {
  nlohmann::json json = model::to_json(done.estimate);
  json["device"] = done.model.device;
  json["virtual"] = done.is_virtual();
  json["architecture"] = done.traffic.architecture;
  json["dispatches"] = done.traffic.dispatches;
  json["status"] = to_string(done.estimate.total.status);
  json["reason"] = done.model.misfit;
  if (done.model.literature) json["notice"] = fmt::format("The figures are {}.", kLiteratureNotice);
  json["constant"] = {{"source", done.model.source},
                      {"status", done.model.misfit.empty() ? "ok" : "misfit"},
                      {"literature", done.model.literature},
                      {fmt::format("fj_per_bit_{}", done.model.unit()), done.model.random.value},
                      {"low", done.model.random.low},
                      {"high", done.model.random.high},
                      {"convention", "per_random_bit"},
                      {"voltage_v", done.model.reference_voltage_v},
                      {"exponents", done.model.exponent_note}};
  if (done.model.literature) {
    for (const auto& source : model::wire_sources()) {
      json["constant"]["sources"].push_back({{"name", source.name},
                                             {"node_nm", source.node_nm},
                                             {"voltage_v", source.voltage_v},
                                             {"fj_per_bit_mm", source.energy_fj_per_bit_mm},
                                             {"convention", to_string(source.convention)},
                                             {"source", source.source}});
    }
  }
  json["distances"] = done.model.distance_source;
  put_kernel_joules(json, done.sensed);
  return json;
}

void add_estimate(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("estimate", "Estimate an application's joules and watts in on-chip wires");
  auto arguments = std::make_shared<EstimateArguments>();
  as_input_file(command->add_option("--model", arguments->model,
                                    "model.json or crossing.json of a calibration, or its folder"));
  add_anyway_option(*command, arguments->anyway, kAlsoOtherParts);
  command
      ->add_option("--constant", arguments->constant,
                   "calibration (needs --model) or literature: published wires, scaled")
      ->check(CLI::IsMember({"calibration", "literature"}))
      ->capture_default_str();
  as_input_file(command->add_option("--segments", arguments->segments,
                                    "segments.db of `wirewatt segments`, or its folder: "
                                    "registers-L1 as measured, not transferred"));
  as_input_file(command->add_option("--counters", arguments->counters,
                                    "Profiler CSV files: rocprof, rocprofv3, ncu, wirewatt run"));
  command->add_option("--arch", arguments->architecture,
                      "gfx90a, sm_80, ... where the files do not say");
  as_input_file(command->add_option("--floorplan", arguments->floorplan,
                                    "Distances from this floorplan (TOML)"));
  command->add_option("--node", arguments->node_nm,
                      "literature: technology node [nm] (default: the part's)");
  command->add_option("--voltage", arguments->voltage_v,
                      "Core voltage of the run [V] (default: the model's; literature: the node's)");
  auto* toggles = command->add_option("--toggles", arguments->toggles,
                                      "Toggles of the program's data by kernel: a file of "
                                      "`wirewatt toggles`");
  auto* dumps = command
                    ->add_option("--toggles-from", arguments->dumps,
                                 "Toggles of the program's data: dumps of its buffers, as they lie "
                                 "in memory")
                    ->excludes(toggles);
  as_input_file(toggles);
  as_input_file(dumps);
  command
      ->add_option(
          "--toggle-rate", arguments->toggle_rate,
          "Toggles per payload bit where no monitor counts them, if you know it (default: what "
          "applications do, in the interval)")
      ->excludes(toggles)
      ->excludes(dumps);
  command->add_flag("--assume-toggles", arguments->assume_toggles,
                    "Use --toggle-rate even where monitors count the toggles");
  command->add_option(
      "--device", arguments->device.name,
      "Virtual device to run the program on; default: the model's, else virtual:w9100");
  add_random_chip_options(*command, arguments->device);
  as_output_file(
      command->add_option("--report", arguments->report, "Write the bar chart as a page (HTML)"));
  add_timeline_options(*command, arguments->timeline);
  command->add_option("--accelwattch", arguments->accelwattch,
                      "Folder of AccelWattch's GV100 tables, to test whether measured power shows "
                      "an interconnect term");
  add_response_options(*command, arguments->response);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->add_option("command", arguments->command,
                      "A program to run and its arguments, after --");
  command->footer(
      "Examples:\n"
      "  wirewatt estimate --model first-run/model.json --device virtual:w9100 -- ./app args\n"
      "  wirewatt estimate --model first-run --timeline app.pftrace -- ./app args\n"
      "  wirewatt estimate --constant literature --counters pmc_perf.csv --arch gfx90a");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
