#include "ww/sweep/slurm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "slurm_commands.hpp"

namespace ww::sweep {
namespace {

Sweep sweep_of(const std::string& extra, int points) {
  Sweep sweep;
  sweep.folder = "/data/50%/p.sweep";
  auto plan = parse_plan("command = \"simulate\"\n" + extra + "[axes]\nseed = { from = 1, to = " +
                             std::to_string(points) + ", step = 1 }\n",
                         "/data/p.toml");
  EXPECT_TRUE(plan) << plan.error().text();
  sweep.plan = std::make_unique<Plan>(std::move(*plan));
  auto expanded = Points::expand(*sweep.plan, "program", {});
  EXPECT_TRUE(expanded);
  sweep.points = std::make_unique<Points>(std::move(*expanded));
  return sweep;
}

Pilot pilot_of(double seconds) {
  Pilot pilot;
  pilot.points = 1;
  pilot.seconds = seconds;
  pilot.peak_mib = 100;
  return pilot;
}

// Every point in one chunk of one array, none twice.
void expect_whole(const SlurmLayout& layout, std::size_t points) {
  std::size_t sum = 0;
  for (const auto& chunk : layout.chunks) {
    EXPECT_EQ(chunk.first, sum);
    sum += chunk.count;
  }
  EXPECT_EQ(sum, points);
  std::size_t tasks = 0;
  for (const auto& array : layout.arrays) {
    EXPECT_EQ(array.first_chunk, tasks);
    tasks += array.tasks;
  }
  EXPECT_EQ(tasks, layout.chunks.size());
  EXPECT_EQ(std::set(layout.order.begin(), layout.order.end()).size(), points);
}

TEST(SlurmLayout, ATaskRunsForTheChunkTimeByThePilot) {
  const auto sweep = sweep_of("[slurm]\nchunk_s = 60\n", 10'000);
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(2), {1001, 10'000, 8});
  EXPECT_EQ(layout.points_per_task, 30U);
  expect_whole(layout, 10'000);
  for (const auto& array : layout.arrays) EXPECT_LE(array.tasks, 1000U);
}

TEST(SlurmLayout, TasksOfManySlotsAreLongEnoughToFillThem) {
  const auto sweep = sweep_of("[slurm]\nslots = 16\n", 1'000'000);
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(60), {1001, 10'000, 16'000});
  // 240 would leave 167 tasks after the fourth round of a thousand.
  EXPECT_EQ(layout.points_per_task, 250U);
  expect_whole(layout, 1'000'000);
  const auto words = sbatch_arguments(sweep, 1, layout, layout.arrays.at(0), pilot_of(60));
  EXPECT_THAT(words, testing::IsSupersetOf({"--cpus-per-task=16", "--mem=3400M"}));
}

TEST(SlurmLayout, LeavesEveryCpuSomeTasks) {
  const auto sweep = sweep_of("", 1000);
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(10), {1001, 10'000, 25});
  EXPECT_EQ(layout.points_per_task, 10U);
  expect_whole(layout, 1000);
}

TEST(SlurmLayout, DoesNotMakeTasksOfMilliseconds) {
  const auto sweep = sweep_of("", 1000);
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(0.005), {1001, 10'000, 100});
  EXPECT_EQ(layout.points_per_task, 200U);
  expect_whole(layout, 1000);
}

TEST(SlurmLayout, StaysUnderTheSitesNumberOfJobs) {
  const auto sweep = sweep_of("", 100'000);
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(1000), {101, 500, 8});
  EXPECT_LE(layout.chunks.size(), 500U);
  for (const auto& array : layout.arrays) EXPECT_LE(array.tasks, 100U);
  expect_whole(layout, 100'000);
}

TEST(SlurmLayout, PointsOfAMachineGoThere) {
  Sweep sweep = sweep_of("", 3);
  auto plan = parse_plan(
      "command = \"calibrate\"\n[axes]\nhost = [\"a\", \"b\"]\nseed = [1, 2, 3]\n", "/data/p.toml");
  sweep.plan = std::make_unique<Plan>(std::move(*plan));
  sweep.points = std::make_unique<Points>(std::move(*Points::expand(*sweep.plan, "program", {})));
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(1000), {});
  expect_whole(layout, 6);
  ASSERT_EQ(layout.arrays.size(), 2U);
  for (const auto& array : layout.arrays) {
    for (std::uint64_t c = array.first_chunk; c < array.first_chunk + array.tasks; ++c) {
      for (std::uint64_t i = 0; i < layout.chunks[c].count; ++i) {
        EXPECT_EQ(sweep.points->host(layout.order[layout.chunks[c].first + i]), array.host);
      }
    }
    const auto words = sbatch_arguments(sweep, 1, layout, array, pilot_of(1));
    EXPECT_THAT(words, testing::Contains("--nodelist=" + array.host));
  }
}

// No point could be tried where the sweep was started.
TEST(SlurmLayout, WithoutAPilotAPointMayTakeItsTimeLimitAndTheSitesMemory) {
  const auto sweep = sweep_of("time_limit_s = 600\n[slurm]\nchunk_s = 1\n", 6);
  const auto layout = lay_out(sweep, sweep.points->firsts(), {}, {1001, 10'000, 8});
  EXPECT_EQ(layout.points_per_task, 1U);
  expect_whole(layout, 6);
  const auto words = sbatch_arguments(sweep, 1, layout, layout.arrays.at(0), {});
  EXPECT_THAT(words, testing::Contains("--time=11"));
  EXPECT_THAT(words, testing::Not(testing::Contains(testing::StartsWith("--mem="))));
}

TEST(Sbatch, PassesTheSitesOptionsLastSoThatTheyHold) {
  const auto sweep = sweep_of(
      "cpus = 4\nmemory_mib = 1000\ntime_limit_s = 60\n[slurm]\noptions = [\"--partition=gpu\", "
      "\"--mem=7G\"]\nmax_running = 5\n",
      10);
  const auto layout = lay_out(sweep, sweep.points->firsts(), pilot_of(1), {});
  const auto words = sbatch_arguments(sweep, 2, layout, layout.arrays.at(0), pilot_of(1));
  EXPECT_THAT(words, testing::IsSupersetOf({"--requeue", "--cpus-per-task=4", "--mem=1200M"}));
  EXPECT_EQ(words.back(), "--mem=7G");
  EXPECT_THAT(words, testing::Contains(testing::HasSubstr("%5")));
  // A percent sign of the folder is no field of the pattern.
  EXPECT_THAT(words, testing::Contains("--output=/data/50%%/p.sweep/slurm/2/%A_%a.log"));
  EXPECT_THAT(words, testing::Contains("--chdir=/data/50%/p.sweep"));
}

TEST(Shell, ReadsQuotedTextBack) {
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace ww::sweep
