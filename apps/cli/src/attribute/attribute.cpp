// wirewatt attribute: where a GPU's watts went, from a table of runs with counters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "attribute/record.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/log.hpp"
#include "ww/model/attributed_parts.hpp"
#include "ww/session/run_table.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kNoVoltage = "none";

struct AttributeArguments {
  std::string path;
  std::string record;   // folder of a recording of classes; empty: a table is given
  std::string predict;  // table of runs that the fit does not see
  microbench::ClassesRequest classes;
  session::RunColumns columns;
  std::string leave_one_out;
  std::string run;
  model::AttributionOptions options;
  bool json{};
  const CLI::App* command{};
};

json finite(double value) {
  return std::isfinite(value) ? json(value) : json();
}

// A figure that is not identified has bounds, and no value.
json figure(const Interval& power_w, RowStatus status) {
  const bool known = status == RowStatus::ok;
  return {{"value", known ? finite(power_w.value) : json()},
          {"low", known ? finite(power_w.low) : json()},
          {"high", known ? finite(power_w.high) : json()},
          {"at_most", finite(power_w.high)}};
}

json to_json(const model::AttributedPart& part) {
  json row{{"name", part.name},
           {"power_w", figure(part.power_w, part.status)},
           {"status", to_string(part.status)},
           {"reason", part.reason},
           {"sum", part.is_sum}};
  if (part.energy_j) row["energy_j"] = figure(*part.energy_j, part.status);
  if (!part.is_sum) {
    row["part"] = part.part;
    row["inflation"] = part.inflation;
  }
  return row;
}

struct JudgedModel {
  std::string name;
  model::Predictions out;
};

// Ours, and each baseline with a coefficient for each of its terms, on the same folds.
Result<std::vector<JudgedModel>> judge_models(const session::RunTable& read,
                                              const AttributeArguments& arguments) {
  std::vector<JudgedModel> judged;
  WW_ASSIGN(ours, model::leave_one_application_out(read.table, arguments.options));
  judged.push_back({"this model", std::move(ours)});
  auto constant = read.table;
  constant.terms.clear();
  WW_ASSIGN(flat, model::leave_one_application_out(constant));
  judged.push_back({"a constant", std::move(flat)});
  for (const auto& baseline : read.baselines) {
    auto out = model::leave_one_application_out(baseline.table, {.split_all = true});
    if (!out) {
      out.error().context = baseline.name + ": " + out.error().context;
      return tl::unexpected(out.error());
    }
    judged.push_back({baseline.name, std::move(*out)});
  }
  return judged;
}

json to_json(const model::Predictions& predictions) {
  json runs = json::array();
  for (const auto& run : predictions.runs) {
    runs.push_back({{"run", run.run},
                    {"application", run.application},
                    {"measured_w", run.measured_w},
                    {"predicted_w", figure(run.predicted_w, run.status)},
                    {"error", run.error()},
                    {"covered", run.covered()},
                    {"status", to_string(run.status)}});
  }
  return {{"mean_absolute_error", predictions.mean_absolute_error},
          {"covered", predictions.covered},
          {"judged", predictions.judged},
          {"runs", runs}};
}

void print_parts(const std::vector<model::AttributedPart>& parts, const std::string& rate) {
  std::vector<std::vector<std::string>> rows{{"TERM", "MEAN W", "LOW", "HIGH", "SHARE"}};
  rows[0].push_back(parts.front().energy_j ? "JOULES" : rate);
  rows[0].emplace_back("STATUS");
  for (const auto& part : parts) {
    const bool known = part.status == RowStatus::ok;
    const auto text = [&](double value) { return known ? fmt::format("{:.1f}", value) : "-"; };
    std::string last = "-";
    if (known && part.energy_j) last = fmt::format("{:.4g}", part.energy_j->value);
    if (known && !part.energy_j && !part.is_sum) last = fmt::format("{:.3g}", part.value.value);
    rows.push_back(
        {part.is_sum ? "= " + part.name : part.name, text(part.power_w.value),
         text(part.power_w.low), text(part.power_w.high),
         known ? fmt::format("{:.1f}%", 100 * part.share) : "-", last,
         std::string(to_string(part.status)) + (part.reason.empty() ? "" : ": " + part.reason)});
  }
  print_table(rows);
}

void print_judged(const std::vector<JudgedModel>& judged) {
  std::vector<std::vector<std::string>> rows{
      {"MODEL (one application left out)", "MEAN ERROR", "IN 95% INTERVAL"}};
  for (const auto& [name, out] : judged) {
    rows.push_back(
        {name, fmt::format("{:.1f}%", 100 * out.mean_absolute_error),
         fmt::format("{} of {}{}", out.covered, out.judged,
                     out.judged < out.runs.size()
                         ? fmt::format(", {} without an interval", out.runs.size() - out.judged)
                         : "")});
  }
  print_table(rows);
}

void print_predicted(const model::Predictions& predicted) {
  std::vector<std::vector<std::string>> rows{{"RUN", "POWER W", "PREDICTED W (95%)", "ERROR"}};
  for (const auto& run : predicted.runs) {
    const auto& power = run.predicted_w;
    rows.push_back({run.run, fmt::format("{:.1f}", run.measured_w),
                    run.status == RowStatus::ok
                        ? fmt::format("{:.1f} ({:.1f}..{:.1f})", power.value, power.low, power.high)
                        : std::string("-"),
                    fmt::format("{:+.1f}%", 100 * run.error())});
  }
  print_table(rows);
  fmt::print("mean error {:.1f}%, {} of {} within their interval\n",
             100 * predicted.mean_absolute_error, predicted.covered, predicted.judged);
}

// Records where that is asked for. What is recorded has terms of its own, unless others are given.
Status record_if_asked(AttributeArguments& arguments) {
  if (arguments.record.empty() == arguments.path.empty()) {
    return fail(ErrorCode::invalid_argument,
                arguments.path.empty() ? "give a table of counters and watts, or --record FOLDER"
                                       : "give a table or --record FOLDER, not both");
  }
  if (arguments.record.empty()) return {};
  arguments.classes.folder = arguments.record;
  WW_ASSIGN(recorded, record_classes(arguments.classes, *arguments.command));
  arguments.path = recorded.path;
  auto& columns = arguments.columns;
  if (columns.application.empty()) columns.application = "app";
  if (columns.terms.empty()) {
    columns.terms = recorded.terms;
    columns.levels = recorded.levels;
    if (columns.voltage.empty()) columns.voltage = recorded.voltage;
    arguments.options.split_all = true;
  }
  return {};
}

// The table's device, which says whether it is a virtual one, before what is printed of its runs.
std::string label_of(const session::RunTable& table) {
  if (!table.device.empty()) return table.device + ": ";
  return table.is_virtual ? "several devices, some of them virtual: " : "";
}

int run(AttributeArguments arguments) {
  if (const auto recorded = record_if_asked(arguments); !recorded)
    return report_error(recorded.error());
  if (!arguments.leave_one_out.empty()) arguments.columns.application = arguments.leave_one_out;
  if (arguments.columns.voltage == kNoVoltage) arguments.columns.voltage.clear();
  const auto read = session::read_run_table(arguments.path, arguments.columns);
  if (!read) return report_error(read.error());
  if (read->without_power > 0) {
    log::warn("{} runs have no power and are left out", read->without_power);
  }
  const bool predicts = !arguments.predict.empty();
  arguments.columns.reference_v = read->reference_v;
  const auto shown =
      predicts ? session::read_run_table(arguments.predict, arguments.columns) : read;
  if (!shown) return report_error(shown.error());
  const auto found = model::attribute(read->table, shown->table, arguments.options);
  if (!found) return report_error(found.error());
  const model::AttributedRun* one = nullptr;
  std::optional<double> seconds;
  if (!arguments.run.empty()) {
    const auto at = std::ranges::find(found->runs, arguments.run, &model::AttributedRun::run);
    if (at == found->runs.end()) {
      return report_error({ErrorCode::invalid_argument,
                           fmt::format("the table has no run '{}' with power", arguments.run),
                           "--run"});
    }
    one = &*at;
    if (shown->seconds) {
      seconds = (*shown->seconds)[static_cast<std::size_t>(at - found->runs.begin())];
    }
  }
  std::vector<JudgedModel> judged;
  if (!arguments.leave_one_out.empty()) {
    auto models = judge_models(*read, arguments);
    if (!models) return report_error(models.error());
    judged = std::move(*models);
  }
  const auto parts = model::attributed_parts(*found, one, seconds);
  const std::string unit = read->seconds ? "J per event, W per level" : "W per (event / cycle)";
  if (arguments.json) {
    json rows = json::array(), left = json::array();
    for (const auto& part : parts) rows.push_back(to_json(part));
    for (std::size_t c = 0; c < found->coefficients.size(); ++c) {
      rows[c]["value"] = figure(found->coefficients[c].value, found->coefficients[c].status);
      rows[c]["terms"] = found->coefficients[c].terms;
    }
    for (const auto& model : judged) {
      left.push_back(to_json(model.out));
      left.back()["model"] = model.name;
    }
    json printed{{"runs", read->table.runs.size()},
                 {"runs_without_power", read->without_power},
                 {"device", read->device},
                 {"virtual", read->is_virtual || shown->is_virtual},
                 {"run", arguments.run.empty() ? json() : json(arguments.run)},
                 {"scatter", found->scatter},
                 {"degrees_of_freedom", found->dof},
                 {"unit_of_value", unit},
                 {"reference_v", read->reference_v ? json(*read->reference_v) : json()},
                 {"parts", rows},
                 {"leave_one_out", left}};
    if (predicts) {
      printed["predicted"] = to_json(model::Predictions(*found));
      printed["predicted"]["device"] = shown->device;
    }
    if (one != nullptr) {
      printed["measured_w"] = one->measured_w;
      printed["fitted_w"] = one->fitted_w;
      if (seconds) printed["seconds"] = *seconds;
    }
    print_json(printed);
    return 0;
  }
  if (one != nullptr) {
    fmt::print("{}{}: the table has {:.1f} W, the model {:.1f} W\n", label_of(*shown), one->run,
               one->measured_w, one->fitted_w);
  } else {
    fmt::print("{}{} runs; one of an unseen application scatters by {:.1f}% (standard deviation)\n",
               label_of(*read), read->table.runs.size(), 100 * found->scatter);
  }
  print_parts(parts, unit);
  if (!judged.empty()) {
    fmt::print("\n");
    print_judged(judged);
  }
  if (predicts) {
    fmt::print("\n{}{} runs, predicted\n", label_of(*shown), shown->table.runs.size());
    print_predicted(model::Predictions(*found));
  }
  return 0;
}

}  // namespace

void add_attribute(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<AttributeArguments>();
  auto& columns = arguments->columns;
  auto* command = app.add_subcommand("attribute",
                                     "Attribute the whole GPU's watts to its parts, from counters");
  arguments->command = command;
  command->add_option(
      "table", arguments->path,
      "CSV file, or JSON array of objects: one row a run. Columns 'run' and 'device', "
      "where they exist, are names");
  as_output_folder(
      command->add_option("--record", arguments->record,
                          "Folder: run kernels of single classes of work (virtual devices) and fit "
                          "its classes.csv; what is there goes on"));
  auto& classes = arguments->classes;
  classes.device.name = "virtual:w9100";
  command->add_option("--device", classes.device.name, "With --record: device to run them on")
      ->capture_default_str();
  add_random_chip_options(*command, classes.device);
  command->add_option("--seed", classes.seed, "With --record: seed of the run order")
      ->capture_default_str();
  command->add_option("--power-column", columns.power, "Column of the mean power (..._w, ..._mw)")
      ->capture_default_str();
  command
      ->add_option(
          "--time-column", columns.time,
          "Column of the time by which counts are divided (seconds, ..._s, ..._ms, ..._us, "
          "..._ns, cycles)")
      ->capture_default_str();
  command
      ->add_option("--term", columns.terms,
                   "[PART/]NAME=COLUMN[+COLUMN...]: a term of the model; terms of one part have "
                   "one unit and may share a coefficient (default: each column of counts)")
      ->allow_extra_args(false);
  command
      ->add_option("--level", columns.levels,
                   "Column that is a mean level rather than a count: not divided by the time")
      ->allow_extra_args(false);
  command->add_option("--voltage-column", columns.voltage,
                      "Column of the supply voltage (..._v, ..._mv): counts and levels are scaled "
                      "by its square. With --record the recording's own, unless 'none'");
  command->add_option("--application", columns.application,
                      "Column of the application; its runs err alike (default: each run its own)");
  command->add_option("--leave-one-out", arguments->leave_one_out,
                      "Column of the application: also predict each from all others");
  command
      ->add_option("--baseline", columns.baselines,
                   "NAME=COLUMN[+COLUMN...][,...]: with --leave-one-out, another model on the same "
                   "folds, with a constant and one coefficient for each item")
      ->allow_extra_args(false)
      ->needs("--leave-one-out");
  as_input_file(command->add_option("--predict", arguments->predict,
                                    "Another table: predict its runs from this one, and compare"));
  command->add_option("--run", arguments->run, "Show the parts of one run, in watts and joules");
  command->add_flag("--split-all", arguments->options.split_all,
                    "One coefficient for each term; the data do not decide");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt attribute runs.csv --level active_sms --leave-one-out app\n"
      "  wirewatt attribute runs.csv --time-column duration_us --term l2=l2_read+l2_write \\\n"
      "    --term instructions/integer=int_ops --term instructions/float=fp_ops --run sgemm\n"
      "  wirewatt attribute --record classes --device virtual:w9100 --predict runs.csv");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
