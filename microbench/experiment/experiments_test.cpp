// What the engine gives to every experiment alike: resume, step test, health.
// And that an experiment is one class and one line of the table.
#include "experiment/experiments.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <map>
#include <set>

#include "bench/engine.hpp"
#include "bench/order.hpp"
#include "testing/fake_device.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using testing::FakeOptions;
using ::testing::HasSubstr;
using testing::SensorFault;

// A fourth experiment: the furnace at three lengths of launch.
class FurnaceLevels final : public Experiment {
 public:
  explicit FurnaceLevels(std::uint64_t seed) : seed_(seed) {}
  std::string_view name() const override { return "furnace_levels"; }
  nlohmann::json plan() const override { return {{"plateau_s", plateau_s_}}; }
  Status restore(const nlohmann::json& plan) override {
    plateau_s_ = plan.value("plateau_s", 0.0);
    return {};
  }
  Status prepare(Bench& bench) override {
    WW_ASSIGN(binary, bench.device().host->build("", "furnace"));
    WW_ASSIGN(kernel, bench.device().host->load(binary, "furnace"));
    kernel_ = std::move(kernel);
    return {};
  }
  Status tune(Bench&) override { return {}; }
  Status warm_up(Bench&, bool) override { return {}; }
  Result<Bench::Launch> load(Bench&, const Condition&, StoredRun&) override { return select(5000); }
  void use(const SensorResponse& response) override {
    plateau_s_ = std::max(0.5, 10 * response.info.rise_s);
  }
  std::int64_t minimum_blocks() const override { return 3; }
  std::vector<Condition> block(std::int64_t block) const override {
    std::vector<std::int64_t> levels{0, 1, 2};
    SplitMix generator(seed_ + static_cast<std::uint64_t>(block));
    shuffle(levels, [&] { return generator.next(); });
    std::vector<Condition> list{{block, 6, RunKind::idle, plateau_s_, {}, {}}};
    for (const std::int64_t level : twice(levels)) {
      list.push_back(
          {block, level + (list.size() > 3 ? 3 : 0), RunKind::stream, plateau_s_, {}, {}});
    }
    return list;
  }
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override {
    WW_ASSIGN(launch, select(2000 * (1 + static_cast<std::uint32_t>(condition.position % 3))));
    WW_ASSIGN(done, bench.launch_for(condition.seconds, launch));
    run.start_ns = done.start_ns;
    run.end_ns = done.end_ns;
    run.launches = done.launches;
    return {};
  }

 private:
  Result<Bench::Launch> select(std::uint32_t loops) {
    WW_TRY(kernel_->set(0, loops));
    return Bench::Launch([this] { return kernel_->launch(44, 256); });
  }
  std::uint64_t seed_;
  double plateau_s_{};
  std::unique_ptr<LoadedKernel> kernel_;
};

Result<std::unique_ptr<Experiment>> make_furnace_levels(const ExperimentSettings& settings) {
  return std::make_unique<FurnaceLevels>(settings.seed);
}

// The table with the fourth experiment: its one line.
std::vector<ExperimentEntry> table_of_all() {
  std::vector<ExperimentEntry> table(experiments().begin(), experiments().end());
  table.push_back({"furnace_levels", make_furnace_levels});
  return table;
}

class AnyExperiment : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    base_ = fs::temp_directory_path() /
            fmt::format("ww_experiments_{}_{}", getpid(),
                        std::hash<std::string>{}(
                            ::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(base_);
    fs::create_directories(base_);
  }
  void TearDown() override { fs::remove_all(base_); }

  Result<CampaignSummary> run(const FakeOptions& options, bool resume = false,
                              std::uint64_t seed = 1) {
    ExperimentSettings settings{.seed = seed, .quick = true};
    if (GetParam() == "calibration") settings.own["launch_ns"] = 50'000'000;
    if (GetParam() == "segments") settings.own["only"] = "registers_l1";
    if (GetParam() == "segments") settings.own["blocks"] = 2;
    WW_ASSIGN(experiment, make_experiment(table_of_all(), GetParam(), settings));
    file_ = folder() / experiment->file_name();
    ExperimentParts parts;
    parts.open = [&](const DeviceRequest&, const std::string&) -> Result<Device> {
      return testing::make_fake_device(options);
    };
    parts.pinning = [](const Device&) -> Result<std::unique_ptr<Pinning>> {
      return testing::make_fake_pinning();
    };
    parts.half_width = [](const CampaignStore&) -> Result<std::optional<double>> {
      return std::optional(0.001);
    };
    return run_experiment(std::move(experiment),
                          {{.name = "virtual:w9100"}, folder(), seed, resume}, parts, {});
  }
  fs::path folder() const { return base_ / "run"; }
  std::vector<StoredRun> runs() const {
    return CampaignStore::open_read_only(file_)->runs().value();
  }
  std::set<std::pair<std::int64_t, std::int64_t>> places() const {
    std::set<std::pair<std::int64_t, std::int64_t>> all;
    for (const StoredRun& run : runs()) {
      EXPECT_TRUE(all.emplace(run.block, run.position).second);
    }
    return all;
  }

  // Device time by which the set-up of each is over, and its blocks are not.
  double fault_s() const { return GetParam() == "calibration" ? 200 : 18; }

  fs::path base_, file_;
};

TEST_P(AnyExperiment, MeasuresTheSensorByAStepTestBeforeItsBlocks) {
  const auto summary = run({});
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_TRUE(summary->complete);
  EXPECT_EQ(summary->rejected, 0);
  const auto all = runs();
  const auto steps = std::ranges::count(all, RunKind::step_test, &StoredRun::kind);
  EXPECT_EQ(steps, 5);
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
  const double fast = plateau({});
  EXPECT_GT(plateau({.sensor_window_s = 0.1}), 1.3 * fast);
}

TEST_P(AnyExperiment, ResumesWithNothingLostOrDoubled) {
  ASSERT_TRUE(run({}));
  const auto whole = places();
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
  EXPECT_EQ(places(), whole);
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

TEST_P(AnyExperiment, RejectsRunsFromWhereTheSensorFailsAndThenEnds) {
  const auto summary = run({.sensor = SensorFault::zeros, .healthy_s = fault_s()});
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().text(), HasSubstr("zero"));
  int rejected = 0;
  for (const StoredRun& run : runs()) {
    if (run.status != RunStatus::rejected) continue;
    ++rejected;
    EXPECT_THAT(run.reason, HasSubstr("zero"));
    EXPECT_GT(run.block, 0);
  }
  EXPECT_GE(rejected, 6);
}

INSTANTIATE_TEST_SUITE_P(All, AnyExperiment,
                         ::testing::Values("calibration", "segments", "furnace_levels"),
                         [](const auto& info) { return info.param; });

TEST(Experiments, AnUnknownNameIsAnErrorThatListsTheOthers) {
  const auto none = make_experiment(experiments(), "furnace_levels", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("calibration, segments"));
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
