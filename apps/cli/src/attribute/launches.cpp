// wirewatt launches: joules of each kernel from a log of power and the times of its launches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "command.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/launch_energy.hpp"

namespace ww::cli {
namespace {

using measure::CsvColumns;
using measure::CsvRow;
using nlohmann::json;

struct LaunchesArguments {
  std::string power, launches;
  std::string column{"power_w"};
  double window_ms{}, lag_ms{};
  double response_percent{5};
  double delay_ms{}, delay_error_ms{5};
  double quantum_w{};
  double gain_percent{5};
  bool json{};
};

struct LaunchLog {
  std::vector<std::string> kernels;
  std::vector<measure::KernelLaunch> launches;
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

Result<std::vector<measure::PowerPoint>> read_polls(const LaunchesArguments& arguments,
                                                    double origin_s) {
  WW_ASSIGN(rows, rows_of(arguments.power));
  const CsvColumns columns(rows.front(), arguments.power);
  WW_ASSIGN(time, time_column(columns, arguments.power, "time", ""));
  std::vector<measure::PowerPoint> polls;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    WW_ASSIGN(at, columns.number(*row, time.name));
    WW_ASSIGN(power_w, columns.number(*row, arguments.column));
    const double time_s = at * time.seconds - origin_s;
    if (!polls.empty() && time_s < polls.back().time_s) {
      return fail(ErrorCode::bad_data, "time runs backwards",
                  fmt::format("{}:{}", arguments.power, row->line));
    }
    polls.push_back({time_s, power_w});
  }
  return polls;
}

// Launches in order of time, as seconds since the first one.
Result<LaunchLog> read_launches(const std::string& path, double& origin_s) {
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
  std::set<std::string> names;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    WW_ASSIGN(kernel, columns.text(*row, name));
    WW_ASSIGN(from, columns.number(*row, start.name));
    WW_ASSIGN(to, columns.number(*row, end.name));
    named.push_back({std::string(kernel), from * start.seconds, to * end.seconds});
    names.insert(named.back().kernel);
  }
  std::ranges::sort(named, {}, &Named::from);
  origin_s = named.front().from;
  LaunchLog log{{names.begin(), names.end()}, {}};
  for (const auto& launch : named) {
    const auto index = std::distance(names.begin(), names.find(launch.kernel));
    log.launches.push_back(
        {static_cast<std::size_t>(index), {launch.from - origin_s, launch.to - origin_s}});
  }
  return log;
}

measure::LaunchSensor sensor_of(const LaunchesArguments& arguments) {
  measure::LaunchSensor sensor;
  sensor.kind = arguments.lag_ms > 0 ? measure::ResponseKind::lag : measure::ResponseKind::window;
  sensor.time_s = 1e-3 * std::max(arguments.lag_ms, arguments.window_ms);
  sensor.low_s = sensor.time_s * (1 - arguments.response_percent / 100);
  sensor.high_s = sensor.time_s * (1 + arguments.response_percent / 100);
  sensor.delay_s = 1e-3 * arguments.delay_ms;
  sensor.delay_error_s = 1e-3 * arguments.delay_error_ms;
  sensor.quantum_w = arguments.quantum_w;
  sensor.gain_tolerance_95 = arguments.gain_percent / 100;
  return sensor;
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
  const auto period = measure::find_update_period(*polls);
  if (!period.resolved) {
    return report_error({ErrorCode::bad_data,
                         "the sensor's period is not resolved: " + period.reason, arguments.power});
  }
  const auto readings = measure::refreshes(*polls, period);
  const auto found = measure::launch_energies(readings, log->launches, {}, sensor_of(arguments));
  if (!found) return report_error(found.error());
  const auto naive = [&](std::size_t kernel) {
    return measure::naive_launch_energy(*polls, log->launches, kernel);
  };
  if (arguments.json) {
    json kernels = json::array();
    for (std::size_t k = 0; k < log->kernels.size(); ++k) {
      kernels.push_back(to_json(log->kernels[k], found->kernels[k], naive(k)));
    }
    print_json({{"period_s", period.period_s},
                {"rest_w", found->rest_w},
                {"noise_w", found->noise_w},
                {"kernels", kernels},
                {"covariance_j2", found->covariance}});
    return 0;
  }
  fmt::print("{} readings every {:.4g} ms; {:.1f} W at rest, noise {:.2g} W\n", readings.size(),
             1e3 * period.period_s, found->rest_w, found->noise_w);
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "LAUNCHES", "MS", "ABOVE REST J", "TOTAL J", "MEAN READING J", "STATUS"}};
  for (std::size_t k = 0; k < log->kernels.size(); ++k) {
    const auto& kernel = found->kernels[k];
    const bool known = kernel.status == RowStatus::ok;
    const auto text = [&](double value, double half) {
      return known ? fmt::format("{:.4g} +- {:.2g}", value, half) : std::string("-");
    };
    rows.push_back({log->kernels[k], std::to_string(kernel.launches),
                    fmt::format("{:.4g}", 1e3 * kernel.duration_s),
                    text(kernel.energy_j, kernel.half_j), text(kernel.total_j, kernel.total_half_j),
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
  auto* window = command
                     ->add_option("--window", arguments->window_ms,
                                  "Window that a reading averages [ms]; wirewatt doctor finds it "
                                  "(no default: give this or "
                                  "--lag)")
                     ->check(CLI::PositiveNumber);
  auto* lag = command
                  ->add_option("--lag", arguments->lag_ms,
                               "Time constant of a lagging sensor [ms] (no default)")
                  ->check(CLI::PositiveNumber)
                  ->excludes(window);
  command
      ->add_option("--response-error", arguments->response_percent,
                   "95% half-width of window or lag [%]")
      ->check(CLI::Range(0.0, 90.0))
      ->capture_default_str();
  command->add_option("--delay", arguments->delay_ms, "Delay of the readings [ms]")
      ->capture_default_str();
  command
      ->add_option("--delay-error", arguments->delay_error_ms,
                   "95% half-width of the delay, with the clocks' alignment [ms]")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--whole-watts", arguments->quantum_w, "Step of the readings [W]")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--gain-error", arguments->gain_percent, "95% half-width of the gain [%]")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt launches power.csv kernel_trace.csv --window 100");
  command->callback([arguments, &outcome, window, lag] {
    if (window->count() + lag->count() == 0) {
      throw CLI::RequiredError("--window or --lag (wirewatt doctor finds it)");
    }
    outcome.exit_code = run(*arguments);
  });
}

}  // namespace ww::cli
