// wirewatt launches: joules of each kernel from a log of power and the times of its launches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "command.hpp"
#include "kernel_joules.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/measure/csv.hpp"

namespace ww::cli {
namespace {

using measure::CsvColumns;
using measure::CsvRow;
using nlohmann::json;

struct LaunchesArguments {
  std::string power, launches;
  std::string column{"power_w"};
  ResponseOptions response;
  bool json{};
};

// A column of times: its name, in the unit that its ending says.
struct TimeColumn {
  std::string name;
  double seconds{};
};
Result<TimeColumn> time_column(const CsvColumns& columns, const std::string& path,
                               const std::string& stem, const std::string& nanoseconds) {
  for (const auto& [ending, seconds] : std::array<std::pair<const char*, double>, 4>{
           {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}}}) {
    if (columns.has(stem + ending)) return TimeColumn{stem + ending, seconds};
  }
  if (!nanoseconds.empty() && columns.has(nanoseconds)) return TimeColumn{nanoseconds, 1e-9};
  return fail(ErrorCode::bad_data,
              fmt::format("has no column {0}_s, {0}_ms, {0}_us or {0}_ns{1}{2}", stem,
                          nanoseconds.empty() ? "" : ", nor ", nanoseconds),
              path);
}

Result<std::vector<CsvRow>> rows_of(const std::string& path) {
  WW_ASSIGN(text, read_file(path));
  measure::CsvOptions trimmed;
  trimmed.trim = true;
  WW_ASSIGN(rows, measure::parse_csv(text, path, trimmed));
  if (rows.size() < 2) return fail(ErrorCode::parse_error, "has no rows below its heading", path);
  return rows;
}

std::int64_t whole_ns(double seconds) {
  return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

// Times are counted from `origin_s`: those of some clocks are too long for nanoseconds in a double.
Result<energy::EnergySeries> read_polls(const LaunchesArguments& arguments, double origin_s) {
  WW_ASSIGN(rows, rows_of(arguments.power));
  const CsvColumns columns(rows.front(), arguments.power);
  WW_ASSIGN(time, time_column(columns, arguments.power, "time", ""));
  energy::EnergySeries polls;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    WW_ASSIGN(at, columns.number(*row, time.name));
    WW_ASSIGN(power_w, columns.number(*row, arguments.column));
    const std::int64_t time_ns = whole_ns(at * time.seconds - origin_s);
    if (!polls.readings.empty() && time_ns < polls.readings.back().time_ns) {
      return fail(ErrorCode::bad_data, "time runs backwards",
                  fmt::format("{}:{}", arguments.power, row->line));
    }
    polls.readings.push_back(
        {time_ns, energy::kAbsent, static_cast<std::int64_t>(std::llround(power_w * 1e6))});
  }
  return polls;
}

// Launches since the first one, whose time is `origin_s`. Kernels are in the order of their names.
Result<session::LaunchLog> read_launches(const std::string& path, double& origin_s) {
  WW_ASSIGN(rows, rows_of(path));
  const CsvColumns columns(rows.front(), path);
  WW_ASSIGN(start, time_column(columns, path, "start", "Start_Timestamp"));
  WW_ASSIGN(end, time_column(columns, path, "end", "End_Timestamp"));
  const std::string name = columns.has("Kernel_Name") ? "Kernel_Name" : "kernel";
  struct Named {
    std::string kernel;
    double from{}, to{};
  };
  std::vector<Named> named;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    WW_ASSIGN(kernel, columns.text(*row, name));
    WW_ASSIGN(from, columns.number(*row, start.name));
    WW_ASSIGN(to, columns.number(*row, end.name));
    named.push_back({std::string(kernel), from * start.seconds, to * end.seconds});
  }
  origin_s = std::ranges::min(named, {}, &Named::from).from;
  std::ranges::sort(named, {}, &Named::kernel);
  session::LaunchLog log;
  for (const auto& launch : named) {
    log.add(launch.kernel, whole_ns(launch.from - origin_s), whole_ns(launch.to - origin_s));
  }
  return log;
}

json to_json(const std::string& name, const measure::LaunchEnergy& kernel,
             std::optional<double> naive_j) {
  const auto known = [&](double value) {
    return kernel.status == RowStatus::ok ? json(value) : json();
  };
  return {{"kernel", name},
          {"launches", kernel.launches},
          {"duration_s", kernel.duration_s},
          {"status", to_string(kernel.status)},
          {"reason", kernel.reason},
          {"energy_j", known(kernel.energy_j)},
          {"half_width_j", kernel.half_j},
          {"half_width_parts_j",
           {{"noise", kernel.noise_j},
            {"response", kernel.response_j},
            {"whole_watts", kernel.quantum_j},
            {"gain", kernel.gain_j}}},
          {"total_j", known(kernel.total_j)},
          {"total_half_width_j", kernel.total_half_j},
          {"naive_total_j", naive_j ? json(*naive_j) : json()},
          {"launches_wanted", kernel.launches_wanted ? json(*kernel.launches_wanted) : json()}};
}

int run(const LaunchesArguments& arguments) {
  double origin_s = 0;
  const auto log = read_launches(arguments.launches, origin_s);
  if (!log) return report_error(log.error());
  const auto polls = read_polls(arguments, origin_s);
  if (!polls) return report_error(polls.error());
  const auto found = session::kernel_energies(*log, *polls, arguments.response.sensor());
  if (!found.kernels.front().launch) {
    return report_error({ErrorCode::bad_data, found.kernels.front().reason, arguments.power});
  }
  if (arguments.json) {
    json kernels = json::array();
    for (std::size_t k = 0; k < found.kernels.size(); ++k) {
      kernels.push_back(to_json(found.kernels[k].kernel, *found.kernels[k].launch,
                                session::naive_kernel_energy(*log, *polls, k)));
    }
    print_json({{"period_s", found.period_s},
                {"rest_w", found.rest_w},
                {"noise_w", found.noise_w},
                {"kernels", kernels},
                {"covariance_j2", found.covariance_of_one_launch()}});
    return 0;
  }
  fmt::print("{} readings every {:.4g} ms; {:.1f} W at rest, noise {:.2g} W\n", found.readings,
             1e3 * found.period_s, found.rest_w, found.noise_w);
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "LAUNCHES", "MS", "ABOVE REST J", "TOTAL J", "MEAN READING J", "STATUS"}};
  const auto labels = kernel_labels(found.kernels, &session::KernelEnergy::kernel);
  for (std::size_t k = 0; k < found.kernels.size(); ++k) {
    const auto& kernel = *found.kernels[k].launch;
    const bool known = kernel.status == RowStatus::ok;
    const auto text = [&](double value, double half) {
      return known ? fmt::format("{:.4g} +- {:.2g}", value, half) : std::string("-");
    };
    const auto naive = session::naive_kernel_energy(*log, *polls, k);
    rows.push_back({labels[k], std::to_string(kernel.launches),
                    fmt::format("{:.4g}", 1e3 * kernel.duration_s),
                    text(kernel.energy_j, kernel.half_j), text(kernel.total_j, kernel.total_half_j),
                    naive ? fmt::format("{:.4g}", *naive) : "-",
                    std::string(to_string(kernel.status)) +
                        (kernel.reason.empty() ? "" : ": " + kernel.reason)});
  }
  print_table(rows);
  return 0;
}

}  // namespace

void add_launches(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<LaunchesArguments>();
  auto* command =
      app.add_subcommand("launches", "Find the joules of kernels shorter than the sensor's window");
  command
      ->add_option("power", arguments->power,
                   "CSV of polls: time_s (or _ms, _us, _ns) and a column of watts")
      ->required();
  command
      ->add_option(
          "launches", arguments->launches,
          "CSV of launches by the same clock: kernel, start_s and end_s (or _ms, _us, _ns), "
          "or rocprofv3's kernel trace")
      ->required();
  command->add_option("--column", arguments->column, "Column of the watts")->capture_default_str();
  add_response_options(*command, arguments->response);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt launches power.csv kernel_trace.csv --window 100");
  command->callback([arguments, &outcome] {
    if (!arguments->response.sensor().response) {
      throw CLI::RequiredError("--window or --lag (wirewatt doctor finds it)");
    }
    outcome.exit_code = run(*arguments);
  });
}

}  // namespace ww::cli
