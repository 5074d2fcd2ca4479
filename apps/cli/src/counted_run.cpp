#include "counted_run.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ww/core/atomic_file.hpp"
#include "ww/microbench/virtual_driver.hpp"

namespace ww::cli {
namespace {

std::vector<std::string> ending_in(const std::vector<std::filesystem::path>& files,
                                   std::string_view ending) {
  std::vector<std::string> found;
  for (const auto& file : files) {
    if (file.string().ends_with(ending)) found.push_back(file.string());
  }
  return found;
}

}  // namespace

Result<CountedRun> run_counted(const microbench::DeviceRequest& device,
                               const std::vector<std::string>& command,
                               const CountedRunOptions& options) {
  WW_TRY(microbench::enter_virtual_device(device));
  WW_ASSIGN(folder, Parts::create(std::filesystem::temp_directory_path()));
  const auto set = [&](const char* variable, const char* ending, bool wanted) {
    if (wanted) {
      ::setenv(variable, (folder.path() / (std::string("%p") + ending)).c_str(), 1);
    } else {
      ::unsetenv(variable);
    }
  };
  set("WIREWATT_COUNTERS", ".counters.csv", true);
  set("WIREWATT_SAMPLES", ".samples.csv", true);
  set("WIREWATT_TRACE", ".wwt", options.trace);
  set("WIREWATT_SEALED_ENERGY", ".sealed.csv", options.sealed);
  CountedRun run{std::move(folder), 0, {}, {}, {}, {}};
  const auto status = run_child(command, options.quiet);
  for (const char* variable :
       {"WIREWATT_COUNTERS", "WIREWATT_SAMPLES", "WIREWATT_TRACE", "WIREWATT_SEALED_ENERGY"}) {
    ::unsetenv(variable);
  }
  if (!status) return tl::unexpected(status.error());
  run.exit_code = child_exit_code(*status);
  if (asked_to_end_during_child()) {
    return fail(ErrorCode::cancelled, "was interrupted", command.front());
  }
  const auto files = run.folder.files();
  run.counters = ending_in(files, ".counters.csv");
  run.samples = ending_in(files, ".samples.csv");
  run.traces = ending_in(files, ".wwt");
  run.sealed = ending_in(files, ".sealed.csv");
  if (run.counters.empty()) {
    return fail(ErrorCode::bad_data,
                fmt::format("no counters: the program made no use of the device, or did not end by "
                            "itself (exit code {})",
                            run.exit_code),
                command.front());
  }
  return run;
}

Result<model::Interval> dynamic_energy_j(const std::string& samples_file) {
  WW_ASSIGN(text, read_file(samples_file));
  struct Reading {
    double time_s, energy_j;
  };
  std::vector<Reading> readings;
  std::int64_t launched = 1;
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    if (++line_number == 1 || line.empty()) continue;
    std::int64_t fields[8]{};
    const char* from = line.data();
    const char* const stop = line.data() + line.size();
    for (auto& field : fields) {
      const auto [next, error] = std::from_chars(from, stop, field);
      if (error != std::errc{}) {
        return fail(ErrorCode::parse_error, "eight whole numbers a line are expected",
                    fmt::format("{}:{}", samples_file, line_number));
      }
      from = next < stop ? next + 1 : next;
    }
    launched = std::max<std::int64_t>(1, fields[7]);
    if (fields[6] == 0) continue;  // the sensor gave no answer
    readings.push_back(
        {static_cast<double>(fields[0]) * 1e-9, static_cast<double>(fields[2]) / 65536.0});
  }
  constexpr std::size_t idle = 30;
  if (readings.size() < 2 * idle + 2) {
    return fail(
        ErrorCode::bad_data,
        fmt::format("{} readings of the sensor; {} are needed", readings.size(), 2 * idle + 2),
        samples_file);
  }
  const auto power = [&](std::size_t from, std::size_t to) {
    return (readings[to].energy_j - readings[from].energy_j) /
           (readings[to].time_s - readings[from].time_s);
  };
  const std::size_t last = readings.size() - 1;
  const std::size_t begin = idle;
  const std::size_t finish = last - idle;
  const double before = power(0, begin);
  const double after = power(finish, last);
  const double seconds = readings[finish].time_s - readings[begin].time_s;
  const double energy =
      readings[finish].energy_j - readings[begin].energy_j - (before + after) / 2 * seconds;
  // Scatter of the idle readings; between busy ones noise grows with power, so this is the least.
  double squares = 0;
  for (std::size_t i = 0; i < idle; ++i) {
    const double off = power(i, i + 1) - before;
    squares += off * off;
  }
  const double scatter = std::sqrt(squares / (idle - 1));
  const double tick = seconds / static_cast<double>(finish - begin);
  constexpr double quantile_95 = 1.96;
  // Where idle power lay between its two ends (leakage of a warmer chip) is not seen.
  const double half = std::hypot(quantile_95 * scatter * std::sqrt(seconds * tick),
                                 quantile_95 * scatter / std::sqrt(2.0 * idle) * seconds,
                                 std::abs(after - before) / 2 * seconds);
  return model::Interval{energy, energy - half, energy + half}.times(1 /
                                                                     static_cast<double>(launched));
}

}  // namespace ww::cli
