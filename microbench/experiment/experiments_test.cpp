// Tests what the engine gives to every experiment: resume, step test, health, facts, progress. And
// that an experiment is one class and one line of the table: the example of docs/extend.md.
#include "experiment/experiments.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <tuple>

#include "bench/engine.hpp"
#include "bench/order.hpp"
#include "furnace_levels.hpp"
#include "testing/fake_device.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using testing::FakeOptions;
using ::testing::HasSubstr;
using testing::SensorFault;

// The table with the experiment of docs/examples: its one line.
std::vector<ExperimentEntry> table_of_all() {
  std::vector<ExperimentEntry> table(experiments().begin(), experiments().end());
  table.push_back({"furnace_levels", examples::make_furnace_levels});
  return table;
}

class AnyExperiment : public ::testing::TestWithParam<std::string> {
 protected:
  // Few runs and few launches.
  static nlohmann::json short_settings() {
    if (GetParam() == "calibration") return {{"launch_ns", 50'000'000}};
    if (GetParam() == "classes") return {{"blocks", 1}, {"plateau_s", 0.1}, {"settle_s", 0.02}};
    if (GetParam() == "chiplet") return {{"blocks", 3}, {"plateau_s", 0.3}};
    if (GetParam() == "crossing") return {{"blocks", 2}, {"plateau_s", 0.3}};
    if (GetParam() == "segments") return {{"blocks", 2}, {"only", "registers_l1"}};
    return nlohmann::json::object();
  }
  Result<CampaignSummary> run(FakeOptions options, bool resume = false, std::uint64_t seed = 1,
                              const ProgressFunction& progress = {}) {
    options.two_sides = GetParam() == "crossing";
    options.dies = GetParam() == "chiplet";
    const ExperimentSettings settings{.seed = seed, .quick = true, .own = short_settings()};
    WW_ASSIGN(experiment, make_experiment(table_of_all(), GetParam(), settings));
    file_ = folder() / experiment->file_name();
    ExperimentParts parts;
    parts.open = [&](const DeviceRequest&, const std::string&) -> Result<Device> {
      return testing::make_fake_device(options);
    };
    parts.pinning = [](const Device& device) -> Result<std::unique_ptr<Pinning>> {
      return testing::make_fake_pinning(device);
    };
    parts.half_width = [](const CampaignStore&) -> Result<std::optional<double>> {
      return std::optional(0.001);
    };
    return run_experiment(std::move(experiment),
                          {{.name = "virtual:w9100"}, folder(), seed, resume}, parts, progress);
  }
  fs::path folder() const { return scratch_.path() / "run"; }
  std::vector<StoredRun> runs() const {
    return CampaignStore::open_read_only(file_)->runs().value();
  }
  // Describes each run, by its place in the file.
  using Identity = std::tuple<RunKind, int, int, std::string, int, int>;
  std::map<std::pair<std::int64_t, std::int64_t>, Identity> identities() const {
    std::map<std::pair<std::int64_t, std::int64_t>, Identity> all;
    for (const StoredRun& run : runs()) {
      const Identity identity{
          run.kind,     run.engine.value_or(-1), run.quadrant.value_or(-1), run.pattern,
          run.throttle, run.dvfs_state};
      EXPECT_TRUE(all.emplace(std::pair(run.block, run.position), identity).second)
          << "block " << run.block << " position " << run.position << " twice";
    }
    return all;
  }

  // Device time [s] at which the second run of block 1 begins in a session without faults.
  double first_block_s() {
    EXPECT_TRUE(run({}));
    double begin_s = 0;
    int seen = 0;
    for (const StoredRun& run : runs()) {
      if (run.block == 1 && ++seen == 2) begin_s = static_cast<double>(run.start_ns) * 1e-9;
    }
    EXPECT_GT(begin_s, 0);
    fs::remove_all(folder());
    return begin_s;
  }

  ScratchFolder scratch_ = ScratchFolder::create("experiments").value();
  fs::path file_;
};

TEST_P(AnyExperiment, MeasuresTheSensorByAStepTestBeforeItsBlocks) {
  const auto summary = run({});
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_TRUE(summary->complete);
  EXPECT_EQ(summary->rejected, 0);
  const auto all = runs();
  const auto steps = std::ranges::count(all, RunKind::step_test, &StoredRun::kind);
  EXPECT_GE(steps, 3);
  // The runs are in the order of time.
  EXPECT_EQ(std::ranges::find(all, RunKind::step_test, &StoredRun::kind)->block, 0);
  EXPECT_LT(std::ranges::find(all, RunKind::step_test, &StoredRun::kind),
            std::ranges::find(all, RunKind::stream, &StoredRun::kind));
  EXPECT_EQ(summary->runs, std::ssize(all));
  const auto facts = CampaignStore::open_read_only(file_)->facts().value();
  const auto sensor = nlohmann::json::parse(facts.at("sensor"));
  EXPECT_TRUE(sensor.at("resolved"));
  // A first-order lag of 20 ms shows 98% after 78 ms.
  EXPECT_NEAR(sensor.at("delay_s").get<double>() + sensor.at("rise_s").get<double>(), 0.078, 0.03);
}

TEST_P(AnyExperiment, MakesPlateausLongerForASlowerSensor) {
  const auto plateau = [&](const FakeOptions& options) {
    fs::remove_all(folder());
    const auto summary = run(options);
    EXPECT_TRUE(summary) << summary.error().text();
    const auto all = runs();
    const auto found = std::ranges::find(all, RunKind::stream, &StoredRun::kind);
    return found == all.end() ? 0.0 : static_cast<double>(found->end_ns - found->start_ns) * 1e-9;
  };
  const double fast = plateau({.sensor = SensorFault::no_counter});
  EXPECT_GT(plateau({.sensor = SensorFault::no_counter, .sensor_window_s = 0.1}), 1.3 * fast);
}

TEST_P(AnyExperiment, ResumesWithNothingLostOrDoubled) {
  ASSERT_TRUE(run({}));
  const auto whole = identities();
  fs::remove_all(folder());
  // The device is lost again and again, at other places each time.
  int sessions = 0;
  for (std::int64_t lost_after = 700;; lost_after = lost_after * 2) {
    ++sessions;
    const auto summary = run({.fail_at_launch = lost_after}, sessions > 1);
    if (summary) {
      EXPECT_TRUE(summary->complete);
      EXPECT_EQ(summary->runs, std::ssize(whole));
      break;
    }
    ASSERT_EQ(summary.error().code, ErrorCode::device_error) << summary.error().text();
    ASSERT_LT(sessions, 40);
  }
  EXPECT_GT(sessions, 2);
  EXPECT_EQ(identities(), whole);
  const auto all = runs();
  EXPECT_GT(std::ranges::max(all, {}, &StoredRun::session).session, 0);
}

TEST_P(AnyExperiment, IsNotResumedWithAnotherSeed) {
  ASSERT_FALSE(run({.fail_at_launch = 1500}));
  const auto other = run({}, true, 2);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().message, HasSubstr("seed '1', not '2'"));
}

TEST_P(AnyExperiment, EndsWhereTheSensorIsFrozen) {
  const auto summary = run({.sensor = SensorFault::frozen});
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::bad_data);
  EXPECT_THAT(summary.error().text(), HasSubstr("frozen"));
}

// A fault of the sensor after the set-up, and what a rejected run says of it.
struct LaterFault {
  SensorFault fault;
  const char* reason;
};

TEST_P(AnyExperiment, RejectsRunsFromWhereTheSensorFailsAndThenEnds) {
  const double begin_s = first_block_s();
  for (const LaterFault& later : {LaterFault{SensorFault::zeros, "all readings are zero"},
                                  LaterFault{SensorFault::gaps, "ticks answered"}}) {
    fs::remove_all(folder());
    const auto summary = run({.sensor = later.fault, .healthy_s = begin_s});
    ASSERT_FALSE(summary) << later.reason;
    EXPECT_THAT(summary.error().text(), HasSubstr(later.reason));
    int rejected = 0;
    for (const StoredRun& run : runs()) {
      if (run.status != RunStatus::rejected) continue;
      ++rejected;
      EXPECT_THAT(run.reason, HasSubstr(later.reason));
      EXPECT_GT(run.block, 0);
    }
    EXPECT_GE(rejected, 6) << later.reason;
  }
}

TEST_P(AnyExperiment, RejectsRunsDuringWhichTheDeviceHeldItsClocksDown) {
  const double begin_s = first_block_s();
  const double end_s = begin_s + 1.2;
  const auto summary = run({.throttled_from_s = begin_s, .throttled_until_s = end_s});
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_TRUE(summary->complete);
  EXPECT_GT(summary->rejected, 0);
  for (const StoredRun& run : runs()) {
    if (run.kind != RunKind::stream) {
      EXPECT_EQ(run.status, RunStatus::ok) << run.reason;
      continue;
    }
    const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
    if (run.start_ns < ns(end_s) && run.end_ns > ns(begin_s)) {
      EXPECT_EQ(run.status, RunStatus::rejected) << run.block << " " << run.position;
      EXPECT_THAT(run.reason, HasSubstr("held its clocks down"));
      EXPECT_THAT(run.reason, HasSubstr("software power cap"));
    } else if (run.start_ns > ns(end_s) + 1'000'000'000) {
      EXPECT_EQ(run.status, RunStatus::ok) << run.reason;
    }
  }
}

TEST_P(AnyExperiment, ReportsItsProgressAndNotesItsFacts) {
  std::vector<CampaignProgress> steps;
  const auto summary =
      run({}, false, 1, [&](const CampaignProgress& step) { steps.push_back(step); });
  ASSERT_TRUE(summary);
  ASSERT_EQ(std::ssize(steps), summary->runs);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].done, static_cast<double>(i));
    EXPECT_GE(steps[i].total, steps[i].done + 1);
    EXPECT_FALSE(steps[i].note.empty());
  }
  const auto facts = CampaignStore::open_read_only(file_)->facts().value();
  for (const auto key :
       {campaign_keys::device, campaign_keys::is_virtual, campaign_keys::seed, campaign_keys::plan,
        campaign_keys::sensor, campaign_keys::chip, campaign_keys::dvfs, campaign_keys::version,
        campaign_keys::started, campaign_keys::finished, campaign_keys::elapsed}) {
    EXPECT_TRUE(facts.contains(std::string(key))) << key;
  }
}

std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const ExperimentEntry& entry : table_of_all()) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, AnyExperiment, ::testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

TEST(Experiments, AnUnknownNameIsAnErrorThatListsTheOthers) {
  const auto none = make_experiment(experiments(), "furnace_levels", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("calibration, chiplet, classes, crossing, segments"));
}

TEST(Experiments, SettingsThatAnExperimentLacksAreRefused) {
  for (const ExperimentEntry& entry : experiments()) {
    ExperimentSettings settings;
    settings.own["no_such"] = 1;
    const auto made = entry.make(settings);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(made.error().message, HasSubstr("no_such"));
  }
}

TEST(Order, TwiceMirrorsSoThatEveryEntryHasTheSameMeanPlace) {
  std::vector<int> list{0, 1, 2, 3, 4};
  SplitMix generator(3);
  shuffle(list, [&] { return generator.next(); });
  const auto both = twice(list);
  std::map<int, std::size_t> sum;
  for (std::size_t i = 0; i < both.size(); ++i) sum[both[i]] += i;
  for (const auto& [entry, places] : sum) EXPECT_EQ(places, both.size() - 1) << entry;
}

}  // namespace
}  // namespace ww::microbench
