#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "slurm_commands.hpp"
#include "ww/sweep/slurm.hpp"

namespace ww::sweep {
namespace {

constexpr double kMinTaskS = 1;
constexpr double kMinPointS = 1e-3;
constexpr double kPointsInARow = 15;
constexpr double kManyRounds = 20;
constexpr std::uint64_t kTasksACpu = 4;
constexpr double kWorkerMib = 200;  // beside the point

std::uint64_t up(double x) {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(x)));
}

// "MaxArraySize            = 1001"
std::optional<std::uint64_t> configured(const std::string& text, const std::string& key) {
  auto at = text.find("\n" + key + " ");
  if (at == std::string::npos) return std::nullopt;
  at = text.find('=', at);
  if (at == std::string::npos) return std::nullopt;
  const auto value = std::strtoull(text.c_str() + at + 1, nullptr, 10);
  return value > 0 ? std::optional<std::uint64_t>(value) : std::nullopt;
}

Result<SlurmLimits> limits_of(const std::string& cluster) {
  SlurmLimits limits;
  WW_ASSIGN(config, slurm(on_cluster({"scontrol", "show", "config"}, cluster)));
  limits.max_array_size = configured(config, "MaxArraySize").value_or(limits.max_array_size);
  limits.max_jobs = configured(config, "MaxJobCount").value_or(limits.max_jobs);
  WW_ASSIGN(cpus, slurm(on_cluster({"sinfo", "--noheader", "--format=%C"}, cluster)));
  std::uint64_t total = 0;  // allocated/idle/other/total, a line a partition
  for (std::size_t at = 0; at < cpus.size();) {
    const auto end = std::min(cpus.find('\n', at), cpus.size());
    const auto line = cpus.substr(at, end - at);
    const auto slash = line.rfind('/');
    if (slash != std::string::npos) {
      total = std::max<std::uint64_t>(total, std::strtoull(line.c_str() + slash + 1, nullptr, 10));
    }
    at = end + 1;
  }
  limits.cpus = std::max<std::uint64_t>(1, total);
  return limits;
}

}  // namespace

Result<SlurmLimits> slurm_limits(const Plan& plan) {
  auto clusters = named_clusters(plan.slurm.options);
  // The limits of "all" cannot be asked for: scontrol speaks to one cluster at a time.
  if (clusters.empty() || clusters.front() == "all") clusters = {""};
  std::optional<SlurmLimits> smallest;
  for (const auto& cluster : clusters) {
    WW_ASSIGN(limits, limits_of(cluster));
    if (!smallest) smallest = limits;
    smallest->max_array_size = std::min(smallest->max_array_size, limits.max_array_size);
    smallest->max_jobs = std::min(smallest->max_jobs, limits.max_jobs);
    smallest->cpus = std::min(smallest->cpus, limits.cpus);
  }
  return *smallest;
}

SlurmLayout lay_out(const Sweep& sweep, const std::vector<std::uint32_t>& todo, const Pilot& pilot,
                    const SlurmLimits& limits, std::uint64_t divide_by) {
  const auto& settings = sweep.plan->slurm;
  SlurmLayout layout;
  std::map<std::string, std::vector<std::uint32_t>> by_host;
  for (const auto point : todo) by_host[sweep.points->host(point)].push_back(point);

  // A point's part of a task's time, with all its slots at work.
  const double one_s = pilot.points > 0 ? pilot.seconds : sweep.plan->time_limit_s;
  const double point_s = std::max(one_s / settings.slots, kMinPointS);
  const auto n = static_cast<double>(todo.size());
  const double parallel = static_cast<double>(
      std::max<std::uint64_t>(1, limits.cpus / (sweep.plan->cpus * settings.slots)));
  // At a task's end its slots wait for the last point: that must be little beside the task.
  const double aim_s =
      settings.slots > 1 ? std::max(settings.chunk_s, kPointsInARow * one_s) : settings.chunk_s;
  std::uint64_t size = up(aim_s / point_s);
  size = std::min(size, up(n / (static_cast<double>(kTasksACpu) * parallel)));
  size = std::max(size, up(std::min(kMinTaskS, settings.chunk_s) / point_s));
  size = std::max<std::uint64_t>(1, size / divide_by);
  // A few tasks after the last full round would keep the whole cluster waiting.
  const double rounds = std::floor(n / (static_cast<double>(size) * parallel));
  if (divide_by == 1 && rounds >= 1 && rounds < kManyRounds) size = up(n / (rounds * parallel));
  const auto most_tasks = std::min(settings.max_tasks, limits.max_jobs);
  size = std::max(size, up(n / static_cast<double>(most_tasks)));
  layout.points_per_task = std::min<std::uint64_t>(size, std::max<std::size_t>(1, todo.size()));
  layout.task_s = static_cast<double>(layout.points_per_task) * point_s;

  const std::uint64_t most_in_array = std::max<std::uint64_t>(1, limits.max_array_size - 1);
  for (const auto& [host, points] : by_host) {
    std::uint64_t first = layout.chunks.size();
    const std::uint64_t begin = layout.order.size();
    layout.order.insert(layout.order.end(), points.begin(), points.end());
    for (std::uint64_t at = 0; at < points.size(); at += layout.points_per_task) {
      layout.chunks.push_back(
          {begin + at, std::min<std::uint64_t>(layout.points_per_task, points.size() - at)});
    }
    while (first < layout.chunks.size()) {
      const auto tasks = std::min<std::uint64_t>(most_in_array, layout.chunks.size() - first);
      layout.arrays.push_back({first, tasks, host});
      first += tasks;
    }
  }
  return layout;
}

std::vector<std::string> sbatch_arguments(const Sweep& sweep, int submission,
                                          const SlurmLayout& layout, const SlurmArray& array,
                                          const Pilot& pilot) {
  const auto& plan = *sweep.plan;
  // In this pattern a percent sign starts a field.
  std::string folder;
  for (const char c : (sweep.folder / "slurm" / std::to_string(submission)).string()) {
    folder += c == '%' ? std::string("%%") : std::string(1, c);
  }
  std::string tasks = fmt::format("--array=0-{}", array.tasks - 1);
  if (plan.slurm.max_running > 0) tasks += fmt::format("%{}", plan.slurm.max_running);
  const double needed_mib = plan.memory_mib > 0 ? plan.memory_mib : 2 * pilot.peak_mib;
  const bool knows_memory = plan.memory_mib > 0 || pilot.points > 0;
  // A task that is cut short loses nothing but its place: what is missing is submitted again. A
  // time that no pilot gave is the most that the task's points may take.
  const double most_s = pilot.points > 0 ? 3 * layout.task_s + plan.time_limit_s : layout.task_s;
  const double minutes = std::ceil(most_s / 60) + 1;
  std::vector<std::string> arguments{
      "sbatch",
      "--parsable",
      tasks,
      "--requeue",
      "--open-mode=append",
      fmt::format("--job-name=sweep-{}", plan.name),
      fmt::format("--output={}/%A_%a.log", folder),
      fmt::format("--chdir={}", sweep.folder.string()),
      fmt::format("--cpus-per-task={}", plan.cpus * plan.slurm.slots),
      fmt::format("--time={}", static_cast<std::uint64_t>(std::min(minutes, 525'600.0)))};
  if (knows_memory) {  // else the site's default
    arguments.push_back(fmt::format("--mem={}M", up(needed_mib * plan.slurm.slots + kWorkerMib)));
  }
  if (!array.host.empty()) arguments.push_back("--nodelist=" + array.host);
  arguments.insert(arguments.end(), plan.slurm.options.begin(), plan.slurm.options.end());
  return arguments;
}

}  // namespace ww::sweep
