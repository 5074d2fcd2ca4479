// Points through the pool, and what a few of them say of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host.hpp"
#include "testing.hpp"
#include "ww/sweep/result_files.hpp"
#include "ww/sweep/sweep.hpp"

namespace ww::sweep {
namespace {

Sweep planned_in(const TestFolder& folder, const std::string& axes) {
  Sweep sweep;
  sweep.folder = folder.path() / "p.sweep";
  auto plan = parse_plan("command = \"estimate\"\n[axes]\n" + axes, folder.path() / "p.toml");
  EXPECT_TRUE(plan) << plan.error().text();
  sweep.plan = std::make_unique<Plan>(std::move(*plan));
  auto points = Points::expand(*sweep.plan, "program", {});
  EXPECT_TRUE(points) << points.error().text();
  sweep.points = std::make_unique<Points>(std::move(*points));
  return sweep;
}

// A command whose exit code is its option --node.
Program node_program() {
  Program program;
  program.run = [](const std::vector<std::string>& arguments) {
    int code = 0;
    for (const auto& word : arguments) std::sscanf(word.c_str(), "--node=%d", &code);
    std::printf("{}");
    return code;
  };
  return program;
}

TEST(Pilot, TriesThePointsThatMayRunHereAlone) {
  const TestFolder folder;
  const auto sweep =
      planned_in(folder, "host = [\"elsewhere\", \"" + host_name() + "\"]\nnode = [0]\n");
  const auto pilot = run_pilot(sweep, sweep.points->firsts(), node_program(), true);
  ASSERT_TRUE(pilot) << pilot.error().text();
  EXPECT_EQ(pilot->points, 1U);
  ASSERT_EQ(pilot->records.size(), 1U);
  EXPECT_EQ(pilot->records[0].hash.text(), sweep.points->hash(1).text());
  const auto missing = missing_points(sweep);
  ASSERT_TRUE(missing);
  EXPECT_THAT(*missing, testing::ElementsAre(0));
}

TEST(Pilot, APointThatMissesItsDeviceHereSaysNothingOfTheCost) {
  const TestFolder folder;
  const auto sweep = planned_in(folder, "node = [3, 0]\n");
  const auto pilot = run_pilot(sweep, sweep.points->firsts(), node_program(), false);
  ASSERT_TRUE(pilot) << pilot.error().text();
  EXPECT_EQ(pilot->records.size(), 2U);
  EXPECT_EQ(pilot->points, 1U);
  EXPECT_FALSE(Pilot::counts(pilot->records[0]));
  EXPECT_TRUE(Pilot::counts(pilot->records[1]));
  EXPECT_EQ(pilot->seconds, pilot->records[1].wall_s);
}

// One point that took long shows the cost of a point; a forecast may not take as long as the
// sweep.
TEST(Pilot, EndsWithAPointThatTakesSeconds) {
  const TestFolder folder;
  const auto sweep = planned_in(folder, "node = [5, 0, 7]\n");
  Program slow;
  slow.run = [](const std::vector<std::string>& arguments) {
    for (const auto& word : arguments) {
      if (word == "--node=5") std::this_thread::sleep_for(std::chrono::milliseconds(3100));
    }
    std::printf("{}");
    return 0;
  };
  const auto pilot = run_pilot(sweep, sweep.points->firsts(), slow, false);
  ASSERT_TRUE(pilot) << pilot.error().text();
  ASSERT_EQ(pilot->records.size(), 1U);
  EXPECT_EQ(pilot->records[0].hash.text(), sweep.points->hash(0).text());
  EXPECT_GT(pilot->seconds, 3);
}

// A calibration that leaves one file in the folder that it is given.
TEST(Work, APointWhoseFilesCannotBeKeptHasNoResult) {
  const TestFolder folder;
  Sweep sweep = planned_in(folder, "node = [0]\n");
  sweep.plan->command = {"calibrate"};
  Program program;
  program.run = [](const std::vector<std::string>& arguments) {
    for (const auto& word : arguments) {
      if (!word.starts_with("--out=")) continue;
      std::filesystem::create_directories(word.substr(6));
      std::ofstream(std::filesystem::path(word.substr(6)) / "model.json") << "{}";
    }
    std::printf("{}");
    return 0;
  };
  const auto status_of = [&] {
    std::vector<Record> records;
    const auto done =
        run_local(sweep, {0}, 1, program, [&](const Record& record) { records.push_back(record); });
    EXPECT_TRUE(done) << done.error().text();
    EXPECT_EQ(records.size(), 1U);
    return records.empty() ? Record() : records.front();
  };
  std::filesystem::create_directories(sweep.folder);
  std::ofstream(sweep.folder / "files") << "no folder";
  const auto lost = status_of();
  EXPECT_EQ(lost.status, PointStatus::environment);
  EXPECT_THAT(lost.reason, testing::HasSubstr("cannot keep the point's files"));
  EXPECT_FALSE(std::filesystem::exists(sweep.folder / "work"));
  std::filesystem::remove(sweep.folder / "files");
  EXPECT_EQ(status_of().status, PointStatus::ok);
  EXPECT_TRUE(std::filesystem::exists(sweep.folder / "files" / sweep.points->hash(0).text() /
                                      "model.json"));
}

}  // namespace
}  // namespace ww::sweep
