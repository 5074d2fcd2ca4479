#include "ww/microbench/classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/engine.hpp"
#include "experiment/classes/class_kernels.hpp"
#include "experiment/experiments.hpp"
#include "testing/fake_device.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::microbench {
namespace {

TEST(ClassPoints, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const ClassPoint& point : class_points()) EXPECT_TRUE(names.insert(point.name()).second);
  EXPECT_TRUE(names.contains("integer, random"));
  EXPECT_TRUE(names.contains("wait, zeros, 1 groups, 1 of 4 CUs"));
  EXPECT_TRUE(names.contains("read, zeros, memory"));
}

// The cost of the data is the difference of two runs that differ in the data alone.
TEST(ClassPoints, OfWorkOnDataHaveAPartnerOnZeros) {
  for (const char* kernel :
       {"integer", "float", "double", "special", "local", "local_atomic", "l1"}) {
    std::map<kernels::Pattern, std::set<std::string>> work;
    for (ClassPoint point : class_points()) {
      if (point.kernel != kernel) continue;
      const auto pattern = std::exchange(point.pattern, kernels::Pattern::random);
      work[pattern].insert(point.name());
    }
    EXPECT_THAT(work[kernels::Pattern::random],
                ::testing::IsSupersetOf(work[kernels::Pattern::zeros]))
        << kernel;
    EXPECT_FALSE(work[kernels::Pattern::zeros].empty()) << kernel;
  }
}

TEST(ClassRuns, HaveThePowerTheTelemetryAndTheCountsOfEachRun) {
  const auto scratch = ScratchFolder::create("classes").value();
  const ExperimentSettings settings{
      1, false, {{"blocks", 1}, {"plateau_s", 0.1}, {"settle_s", 0.02}}};
  ExperimentParts parts;
  parts.open = [](const DeviceRequest&, const std::string&) -> Result<Device> {
    return testing::make_fake_device({});
  };
  parts.pinning = [](const Device& device) { return testing::make_fake_pinning(device); };
  const auto done =
      run_experiment(make_experiment(experiments(), "classes", settings).value(),
                     {{.name = "virtual:w9100"}, scratch.path() / "run", 1, false}, parts, {});
  ASSERT_TRUE(done) << done.error().text();
  const auto store = CampaignStore::open_read_only(scratch.path() / "run" / "classes.db");
  const auto found = class_runs(*store);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->is_virtual);
  // Each class twice, and two idle runs.
  ASSERT_EQ(found->runs.size(), 2 * class_points().size() + 2);
  std::map<std::string, int> kinds;
  double idle_w = 0;
  for (const ClassRun& run : found->runs) {
    ++kinds[run.kind];
    EXPECT_GT(run.seconds, 0.099) << run.run;  // or longer, as the sensor needs it
    if (run.kind == "idle") idle_w = run.power_w;
  }
  EXPECT_THAT(kinds, ::testing::Each(::testing::Pair(::testing::_, 2)));
  for (const ClassRun& run : found->runs) {
    EXPECT_FALSE(run.counters.contains(std::string(kBusySeconds)));
    EXPECT_TRUE(run.temperature_c.has_value()) << run.run;
    if (run.kind == "idle") {
      EXPECT_EQ(run.active, 0);
      continue;
    }
    EXPECT_GT(run.power_w, idle_w) << run.run;
    EXPECT_GT(run.active, 0.5) << run.run;
    EXPECT_LE(run.active, 1) << run.run;
  }
}

}  // namespace
}  // namespace ww::microbench
