#include "sweep/sweep_dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/sweep/forecast.hpp"
#include "ww/sweep/slurm.hpp"

namespace ww::cli {
namespace {

constexpr std::size_t kShownArrays = 3;

struct Rest {
  std::size_t to_run{};
  sweep::Pilot pilot;
  double slots{};
  sweep::Forecast cost;
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

void print_rest(const Rest& rest) {
  if (rest.to_run == 0) {
    fmt::print("nothing is left to run\n");
    return;
  }
  for (const auto& record : rest.pilot.records) {
    if (!is_final(record.status)) {
      log::warn("the pilot point {}: {}", sweep::to_string(record.status), record.reason);
    }
  }
  const auto& pilot = rest.pilot;
  fmt::print("to run       {}\n", rest.to_run);
  if (pilot.points == 0) {
    fmt::print(
        "pilot        none: no point could be tried on this machine, so time and disk are "
        "not known\n");
    return;
  }
  fmt::print("pilot        {} points: {} each, {:.0f} MiB, {} of results\n", pilot.points,
             human_duration(pilot.seconds), pilot.peak_mib,
             human_bytes(pilot.result_bytes + pilot.file_bytes));
  fmt::print("about        {} on {:.0f} slots ({} of CPU)\n", human_duration(rest.cost.wall_s),
             rest.slots, human_duration(rest.cost.cpu_s));
  fmt::print("disk         {}\n", human_bytes(rest.cost.disk_bytes));
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
  Rest rest;
  rest.to_run = todo.size();
  rest.pilot = std::move(*pilot);
  sweep::SlurmLimits limits;
  if (options.slurm) {
    if (const auto asked = sweep::slurm_limits(*sweep.plan)) {
      limits = *asked;
    } else {
      log::warn("{}; Slurm's defaults are taken for the site's limits", asked.error().text());
    }
    rest.slots = static_cast<double>(std::max<std::uint64_t>(1, limits.cpus / sweep.plan->cpus));
  } else {
    const double memory = sweep.plan->memory_mib > 0 ? sweep.plan->memory_mib : rest.pilot.peak_mib;
    rest.slots = options.jobs != 0 ? options.jobs : sweep::slots_for(sweep.plan->cpus, memory);
  }
  rest.cost = sweep::forecast(rest.pilot, todo.size(), rest.slots);
  const auto layout = sweep::lay_out(sweep, todo, rest.pilot, limits);
  if (!options.json) {
    print_plan(sweep);
    print_rest(rest);
    if (!options.slurm || todo.empty()) return 0;
    fmt::print("tasks        {} of {} points ({}{} each) in {} arrays\n", layout.chunks.size(),
               layout.points_per_task, rest.pilot.points > 0 ? "" : "at most ",
               human_duration(layout.task_s), layout.arrays.size());
    const auto commands = commands_of(sweep, layout, rest.pilot);
    for (std::size_t i = 0; i < std::min(kShownArrays, commands.size()); ++i) {
      fmt::print("  {}\n", commands[i]);
    }
    if (commands.size() > kShownArrays) fmt::print("  ({} more)\n", commands.size() - kShownArrays);
    return 0;
  }
  const bool known = rest.pilot.points > 0;
  const auto cost = [known](double value) { return known ? nlohmann::json(value) : nullptr; };
  nlohmann::json json{{"dry_run", true},
                      {"points", sweep.points->size()},
                      {"unique_points", sweep.points->unique()},
                      {"to_run", rest.to_run},
                      {"axes", axes_json(*sweep.plan)},
                      {"pilot",
                       {{"points", rest.pilot.points},
                        {"seconds_a_point", cost(rest.pilot.seconds)},
                        {"peak_mib", cost(rest.pilot.peak_mib)},
                        {"bytes_a_point", cost(rest.pilot.result_bytes + rest.pilot.file_bytes)}}},
                      {"estimate",
                       {{"slots", rest.slots},
                        {"wall_s", cost(rest.cost.wall_s)},
                        {"cpu_s", cost(rest.cost.cpu_s)},
                        {"disk_bytes", cost(rest.cost.disk_bytes)}}}};
  if (options.slurm) {
    json["slurm"] = {{"tasks", layout.chunks.size()},
                     {"points_a_task", layout.points_per_task},
                     {"task_s", layout.task_s},
                     {"arrays", commands_of(sweep, layout, rest.pilot)}};
  }
  print_json(json);
  return 0;
}

}  // namespace ww::cli
