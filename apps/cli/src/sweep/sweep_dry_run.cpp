#include "sweep/sweep_dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/sweep/slurm.hpp"

namespace ww::cli {
namespace {

constexpr std::size_t kShownArrays = 3;

struct Forecast {
  std::size_t to_run{};
  sweep::Pilot pilot;
  double slots{};
  double wall_s{};
  double cpu_s{};
  double disk_bytes{};
};

std::string human_bytes(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

nlohmann::json axes_json(const sweep::Plan& plan) {
  auto axes = nlohmann::json::array();
  for (const auto& axis : plan.axes) {
    axes.push_back({{"names", axis.names}, {"values", axis.rows.size()}});
  }
  return axes;
}

void print_plan(const sweep::Sweep& sweep) {
  const auto& plan = *sweep.plan;
  fmt::print("{}: {} points of 'wirewatt {}', {} different\n", plan.name, sweep.points->size(),
             fmt::join(plan.command, " "), sweep.points->unique());
  for (const auto& axis : plan.axes) {
    fmt::print("  {:<24} {} values\n", fmt::format("{}", fmt::join(axis.names, " with ")),
               axis.rows.size());
  }
  if (!plan.conditions.empty()) fmt::print("  {} conditions\n", plan.conditions.size());
}

void print_forecast(const Forecast& forecast) {
  if (forecast.to_run == 0) {
    fmt::print("nothing is left to run\n");
    return;
  }
  for (const auto& record : forecast.pilot.records) {
    if (!is_final(record.status)) {
      log::warn("the pilot point {}: {}", sweep::to_string(record.status), record.reason);
    }
  }
  const auto& pilot = forecast.pilot;
  fmt::print("to run       {}\n", forecast.to_run);
  if (pilot.points == 0) {
    fmt::print(
        "pilot        none: no point could be tried on this machine, so time and disk are "
        "not known\n");
    return;
  }
  fmt::print("pilot        {} points: {} each, {:.0f} MiB, {} of results\n", pilot.points,
             human_duration(pilot.seconds), pilot.peak_mib,
             human_bytes(pilot.result_bytes + pilot.file_bytes));
  fmt::print("about        {} on {:.0f} slots ({} of CPU)\n", human_duration(forecast.wall_s),
             forecast.slots, human_duration(forecast.cpu_s));
  fmt::print("disk         {}\n", human_bytes(forecast.disk_bytes));
}

std::vector<std::string> commands_of(const sweep::Sweep& sweep, const sweep::SlurmLayout& layout,
                                     const sweep::Pilot& pilot) {
  std::vector<std::string> commands;
  for (const auto& array : layout.arrays) {
    const auto words = sweep::sbatch_arguments(sweep, 1, layout, array, pilot);
    commands.push_back(fmt::format("{} task.sh {}", fmt::join(words, " "), array.first_chunk));
  }
  return commands;
}

}  // namespace

int dry_run(const sweep::Sweep& sweep, const sweep::Program& program,
            const DryRunOptions& options) {
  auto todo = sweep.points->firsts();
  if (options.resume) {
    auto missing = sweep::missing_points(sweep);
    if (!missing) return report_error(missing.error());
    todo = std::move(*missing);
  }
  auto pilot = sweep::run_pilot(sweep, todo, program, false);
  if (!pilot) return report_error(pilot.error());
  Forecast forecast;
  forecast.to_run = todo.size();
  forecast.pilot = std::move(*pilot);
  sweep::SlurmLimits limits;
  if (options.slurm) {
    if (const auto asked = sweep::slurm_limits(*sweep.plan)) {
      limits = *asked;
    } else {
      log::warn("{}; Slurm's defaults are taken for the site's limits", asked.error().text());
    }
    forecast.slots =
        static_cast<double>(std::max<std::uint64_t>(1, limits.cpus / sweep.plan->cpus));
  } else {
    const double memory =
        sweep.plan->memory_mib > 0 ? sweep.plan->memory_mib : forecast.pilot.peak_mib;
    forecast.slots = options.jobs != 0 ? options.jobs : sweep::slots_for(sweep.plan->cpus, memory);
  }
  const auto n = static_cast<double>(todo.size());
  forecast.cpu_s = n * forecast.pilot.seconds;
  forecast.wall_s = forecast.cpu_s / std::min(forecast.slots, std::max(1.0, n));
  // Result files and the database hold the result once each.
  forecast.disk_bytes = n * (2 * forecast.pilot.result_bytes + forecast.pilot.file_bytes);
  const auto layout = sweep::lay_out(sweep, todo, forecast.pilot, limits);
  if (!options.json) {
    print_plan(sweep);
    print_forecast(forecast);
    if (!options.slurm || todo.empty()) return 0;
    fmt::print("tasks        {} of {} points ({}{} each) in {} arrays\n", layout.chunks.size(),
               layout.points_per_task, forecast.pilot.points > 0 ? "" : "at most ",
               human_duration(layout.task_s), layout.arrays.size());
    const auto commands = commands_of(sweep, layout, forecast.pilot);
    for (std::size_t i = 0; i < std::min(kShownArrays, commands.size()); ++i) {
      fmt::print("  {}\n", commands[i]);
    }
    if (commands.size() > kShownArrays) fmt::print("  ({} more)\n", commands.size() - kShownArrays);
    return 0;
  }
  const bool known = forecast.pilot.points > 0;
  const auto cost = [known](double value) { return known ? nlohmann::json(value) : nullptr; };
  nlohmann::json json{
      {"dry_run", true},
      {"points", sweep.points->size()},
      {"unique_points", sweep.points->unique()},
      {"to_run", forecast.to_run},
      {"axes", axes_json(*sweep.plan)},
      {"pilot",
       {{"points", forecast.pilot.points},
        {"seconds_a_point", cost(forecast.pilot.seconds)},
        {"peak_mib", cost(forecast.pilot.peak_mib)},
        {"bytes_a_point", cost(forecast.pilot.result_bytes + forecast.pilot.file_bytes)}}},
      {"estimate",
       {{"slots", forecast.slots},
        {"wall_s", cost(forecast.wall_s)},
        {"cpu_s", cost(forecast.cpu_s)},
        {"disk_bytes", cost(forecast.disk_bytes)}}}};
  if (options.slurm) {
    json["slurm"] = {{"tasks", layout.chunks.size()},
                     {"points_a_task", layout.points_per_task},
                     {"task_s", layout.task_s},
                     {"arrays", commands_of(sweep, layout, forecast.pilot)}};
  }
  print_json(json);
  return 0;
}

}  // namespace ww::cli
