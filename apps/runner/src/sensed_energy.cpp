#include "ww/runner/sensed_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ww/core/atomic_file.hpp"

namespace ww::runner {

Result<SensedRun> sensed_run(const std::string& samples_file) {
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
  SensedRun run;
  run.dynamic_j = model::Interval{energy, energy - half, energy + half}.times(
      1 / static_cast<double>(launched));
  run.idle_w = (before + after) / 2;
  return run;
}

Result<model::Interval> dynamic_energy_j(const std::string& samples_file) {
  WW_ASSIGN(run, sensed_run(samples_file));
  return run.dynamic_j;
}

}  // namespace ww::runner
