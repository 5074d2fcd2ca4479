#include "bench/engine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "experiment/experiments.hpp"
#include "experiment/runner.hpp"
#include "testing/fake_device.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/microbench/campaign.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using testing::FakeOptions;
using ::testing::HasSubstr;
using testing::SensorFault;

class CampaignTest : public ::testing::Test {
 protected:
  fs::path folder() const { return scratch_.path() / "run"; }

  CampaignRequest request(bool resume = false) const {
    CampaignRequest request;
    request.device.name = "virtual:w9100";
    request.folder = folder();
    request.quick = true;
    request.resume = resume;
    return request;
  }

  // Few launches: the fake needs no more.
  static constexpr std::int64_t launch_ns = 50'000'000;

  Result<CampaignSummary> campaign(const FakeOptions& options, const CampaignRequest& request,
                                   const HalfWidthFunction& half_width) const {
    const ExperimentSettings settings{request.seed,
                                      request.quick,
                                      {{"nops", request.nops},
                                       {"patch_binary", request.patch_binary},
                                       {"mirrored", request.mirrored},
                                       {"launch_ns", launch_ns}}};
    auto experiment = make_experiment(experiments(), "calibration", settings);
    if (!experiment) return tl::unexpected(experiment.error());
    ExperimentParts parts;
    parts.open = [&](const DeviceRequest&, const std::string&) -> Result<Device> {
      return testing::make_fake_device(options);
    };
    parts.pinning = [](const Device& device) -> Result<std::unique_ptr<Pinning>> {
      return testing::make_fake_pinning(device);
    };
    parts.half_width = half_width;
    return run_experiment(
        std::move(*experiment),
        {request.device, request.folder, request.seed, request.resume, request.half_width}, parts,
        {});
  }
  Result<CampaignSummary> campaign(const FakeOptions& options,
                                   const CampaignRequest& request) const {
    return campaign(options, request, [](const CampaignStore&) -> Result<std::optional<double>> {
      return std::optional(0.001);
    });
  }

  std::vector<StoredRun> runs() const {
    return CampaignStore::open_read_only(folder() / "campaign.db")->runs().value();
  }

  ScratchFolder scratch_ = ScratchFolder::create("engine").value();
};

// Set-up, six blocks of plateaus, and one of three lock-in runs between idle
// ones.
constexpr std::int64_t kQuickRuns = 9 + 6 * 35 + 7;

TEST_F(CampaignTest, RecordsThePlanWithAllFacts) {
  const auto summary = campaign({}, request());
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_TRUE(summary->complete);
  EXPECT_TRUE(summary->is_virtual);
  EXPECT_EQ(summary->runs, kQuickRuns);
  EXPECT_EQ(summary->rejected, 0);
  const auto facts = CampaignStore::open_read_only(folder() / "campaign.db")->facts().value();
  for (const auto key : {campaign_keys::device, campaign_keys::is_virtual, campaign_keys::seed,
                         campaign_keys::plan, campaign_keys::floorplan, campaign_keys::sensor,
                         campaign_keys::chip, campaign_keys::dvfs, campaign_keys::version,
                         campaign_keys::started, campaign_keys::finished, campaign_keys::elapsed}) {
    EXPECT_TRUE(facts.contains(std::string(key))) << key;
  }
  const auto sensor = nlohmann::json::parse(facts.at("sensor"));
  EXPECT_TRUE(sensor.at("resolved"));
  EXPECT_NEAR(sensor.at("period_s"), 0.001, 1e-6);
  // A first-order lag of 20 ms shows 98% after 78 ms.
  EXPECT_NEAR(sensor.at("delay_s").get<double>() + sensor.at("rise_s").get<double>(), 0.078, 0.03);
}

TEST_F(CampaignTest, StreamsCarryTheirTrafficAndTheirPlaces) {
  ASSERT_TRUE(campaign({}, request()));
  int streams = 0;
  for (const StoredRun& run : runs()) {
    if (run.kind != RunKind::stream) continue;
    ++streams;
    EXPECT_GE(static_cast<double>(run.end_ns - run.start_ns) * 1e-9, 1.5);
    const double share =
        run.payload_bits / 8 / (4 * 64 * 0.93 * static_cast<double>(run.end_ns - run.start_ns));
    if (run.throttle == 0) {
      EXPECT_GT(share, 0.9);
    } else {
      EXPECT_GT(share, 0.45);
      EXPECT_LT(share, 0.62);
    }
    std::uint64_t waves = 0;
    for (const StoredWaves& place : run.waves) {
      EXPECT_EQ((place.hw_id >> 13) & 3, static_cast<unsigned>(*run.engine));
      waves += place.waves;
    }
    EXPECT_EQ(waves, 11u * StreamKernels::groups_per_cu * 4);
  }
  EXPECT_EQ(streams, 6 * 32);
}

// The fake idles for 4 us before every launch.
TEST_F(CampaignTest, RunsSayForWhichShareOfTheirTimeLaunchesRan) {
  ASSERT_TRUE(campaign({}, request()));
  for (const StoredRun& run : runs()) {
    if (run.kind == RunKind::stream) {
      const auto length_ns = static_cast<double>(run.end_ns - run.start_ns);
      const double gaps_ns = 4000 * static_cast<double>(run.launches - 1);
      EXPECT_GT(run.launches, 10);
      EXPECT_NEAR(run.counters.at(run_keys::busy_share), 1 - gaps_ns / length_ns, 1e-8);
    } else if (run.kind == RunKind::lock_in) {
      for (int pair = 0; pair < 16; ++pair) {
        const double share = run.counters.at(run_keys::busy_share_of_turns(pair / 4, pair % 4));
        EXPECT_GT(share, 0.99);
        EXPECT_LE(share, 1);
      }
    }
  }
}

TEST_F(CampaignTest, LockInGivesEveryPairItsTurnsAndTheirTraffic) {
  ASSERT_TRUE(campaign({}, request()));
  int lock_ins = 0;
  for (const StoredRun& run : runs()) {
    if (run.kind != RunKind::lock_in) {
      EXPECT_TRUE(run.slots.empty());
      continue;
    }
    ++lock_ins;
    EXPECT_EQ(run.status, RunStatus::ok) << run.reason;
    std::map<std::pair<int, int>, int> turns;
    double bits = 0;
    std::int64_t end = run.start_ns;
    for (const StoredSlot& slot : run.slots) {
      ++turns[{slot.engine, slot.quadrant}];
      EXPECT_GE(slot.start_ns, end);
      EXPECT_GT(slot.end_ns, slot.start_ns);
      EXPECT_GT(slot.payload_bits, 0);
      end = slot.end_ns;
      bits += slot.payload_bits;
    }
    EXPECT_EQ(end, run.end_ns);
    EXPECT_EQ(turns.size(), 16u);
    for (const auto& [pair, count] : turns) EXPECT_EQ(count, turns.begin()->second);
    EXPECT_NEAR(bits, run.payload_bits, 1e-6 * bits);
  }
  EXPECT_EQ(lock_ins, 3);
}

TEST_F(CampaignTest, ReadingsAreOneUnbrokenSeries) {
  ASSERT_TRUE(campaign({}, request()));
  std::int64_t expected = 0;
  for (const StoredRun& run : runs()) {
    for (const SensorReading& sample : run.samples) {
      ASSERT_EQ(sample.time_ns, expected);
      expected += 1'000'000;
    }
  }
  EXPECT_GT(expected, 300'000'000'000);
}

// A polled sensor's queue holds about a minute, and a run may last longer.
TEST_F(CampaignTest, RunsThatOutlastTheSensorsQueueLoseNoReading) {
  FakeOptions options;
  options.sensor_room = 7'000;  // 7 s; a lock-in lasts 30 s
  ASSERT_TRUE(campaign(options, request()));
  std::int64_t expected = 0;
  for (const StoredRun& run : runs()) {
    for (const SensorReading& sample : run.samples) {
      ASSERT_EQ(sample.time_ns, expected) << to_string(run.kind);
      expected += 1'000'000;
    }
  }
}

TEST_F(CampaignTest, HeatWarmsTheChipAndTheCoolDownSeesIt) {
  ASSERT_TRUE(campaign({}, request()));
  for (const StoredRun& run : runs()) {
    if (run.kind != RunKind::cooldown) continue;
    EXPECT_GE(*run.samples.front().temperature_mc - *run.samples.back().temperature_mc, 15'000);
  }
}

TEST_F(CampaignTest, AddsBlocksUntilTheIntervalIsNarrow) {
  double width = 0.05;
  const auto summary =
      campaign({}, request(), [&](const CampaignStore&) -> Result<std::optional<double>> {
        return std::optional(std::exchange(width, width / 2));
      });
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->runs, kQuickRuns + 2 * 35);  // 5%, 2.5%, 1.25%
}

TEST_F(CampaignTest, ANarrowerIntervalTakesMoreBlocksAndEndsAtTheMost) {
  const auto runs_until = [&](double wanted, double least) {
    fs::remove_all(folder());
    CampaignRequest narrow = request();
    narrow.half_width = wanted;
    double width = 0.05;
    const auto summary =
        campaign({}, narrow, [&](const CampaignStore&) -> Result<std::optional<double>> {
          width = std::max(least, width / 2);
          return std::optional(width);
        });
    return summary ? summary->runs : 0;
  };
  EXPECT_EQ(runs_until(0.005, 0), kQuickRuns + 3 * 35);  // 2.5%, 1.25%, 0.63%, 0.31%
  EXPECT_EQ(runs_until(0.005, 0.01), kQuickRuns + 6 * 35);
}

TEST_F(CampaignTest, SaysWhereItEndsWiderThanWasAskedFor) {
  const auto missed = [&](double wanted, bool resume) {
    CampaignRequest narrow = request();
    narrow.half_width = wanted;
    narrow.resume = resume;
    const auto summary = campaign(
        {}, narrow,
        [](const CampaignStore&) -> Result<std::optional<double>> { return std::optional(0.01); });
    EXPECT_TRUE(summary);
    return summary ? summary->missed_half_width : std::nullopt;
  };
  EXPECT_EQ(missed(0.005, false), 0.01);
  // The campaign has all of its blocks.
  EXPECT_EQ(missed(0.005, true), 0.01);
  EXPECT_EQ(missed(0.02, true), std::nullopt);
}

TEST_F(CampaignTest, AFinishedCampaignGoesOnWhereANarrowerIntervalIsAskedFor) {
  double width = 0.02;
  const auto runs_until = [&](double wanted, bool resume) {
    CampaignRequest asked = request();
    asked.half_width = wanted;
    asked.resume = resume;
    const auto summary =
        campaign({}, asked, [&](const CampaignStore& store) -> Result<std::optional<double>> {
          // A block of 35 runs halves it.
          const auto extra = (store.run_count().value() - kQuickRuns) / 35;
          return std::optional(width / std::exp2(static_cast<double>(extra)));
        });
    EXPECT_TRUE(summary && summary->complete);
    EXPECT_EQ(CampaignStore::open_read_only(folder() / "campaign.db")
                  ->get(campaign_keys::finished)
                  .value(),
              "true");
    return summary ? summary->runs : 0;
  };
  EXPECT_EQ(runs_until(0.03, false), kQuickRuns);
  EXPECT_EQ(runs_until(0.03, true), kQuickRuns);
  EXPECT_EQ(runs_until(0.006, true), kQuickRuns + 2 * 35);  // 2%, 1%, 0.5%
  EXPECT_EQ(runs_until(0.006, true), kQuickRuns + 2 * 35);
}

TEST_F(CampaignTest, RefusesABinaryThatIsNotPatchedAndLeavesNothing) {
  auto unpatched = request();
  unpatched.patch_binary = false;
  const auto summary = campaign({}, unpatched);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::bad_data);
  EXPECT_THAT(summary.error().message, HasSubstr("not patched"));
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(CampaignTest, RefusesWavefrontsThatDoNotReport) {
  const auto summary = campaign({.unanswering_waves = true}, request());
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("did not report"));
}

struct FaultCase {
  SensorFault fault;
  const char* word;
};
class BrokenSensor : public CampaignTest, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(BrokenSensor, EndsTheCampaignWithItsReason) {
  const auto summary = campaign({.sensor = GetParam().fault}, request());
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::bad_data);
  EXPECT_THAT(summary.error().text(), HasSubstr(GetParam().word));
  EXPECT_THAT(summary.error().text(), HasSubstr("fake telemetry"));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, BrokenSensor,
    ::testing::Values(FaultCase{SensorFault::no_answer, "no answer"},
                      FaultCase{SensorFault::zeros, "zero"},
                      FaultCase{SensorFault::not_a_number, "not a power"},
                      FaultCase{SensorFault::negative, "negative"},
                      FaultCase{SensorFault::frozen, "frozen"},
                      FaultCase{SensorFault::time_backwards, "time runs backwards"},
                      FaultCase{SensorFault::energy_backwards, "energy counter runs backwards"}));

TEST_F(CampaignTest, ASensorThatFreezesLaterEndsItWithWhatWasMeasuredKept) {
  const auto summary = campaign({.sensor = SensorFault::frozen, .healthy_s = 200}, request());
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().text(), HasSubstr("frozen"));
  int good = 0, rejected = 0;
  for (const StoredRun& run : runs()) {
    good += run.status == RunStatus::ok ? 1 : 0;
    rejected += run.status == RunStatus::rejected ? 1 : 0;
  }
  EXPECT_GT(good, 9);
  EXPECT_EQ(rejected, 10);
}

TEST_F(CampaignTest, RunsBelowNinetyPercentOfThePeakAreRejected) {
  const auto summary = campaign({.bandwidth_share = 0.7}, request());
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("not saturated"));
}

TEST_F(CampaignTest, TrafficThatCountersDenyIsRejected) {
  const auto summary = campaign({.traffic_factor = 1.02}, request());
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("arithmetic"));
}

TEST_F(CampaignTest, AnEngineThatIsNotFullIsRejected) {
  const auto summary = campaign({.idle_cus = 2}, request());
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("only 9 of the engine's 11 CUs"));
}

TEST_F(CampaignTest, ResumesAfterTheDeviceWasLostWithNothingLostOrDoubled) {
  ASSERT_TRUE(campaign({}, request()));
  std::set<std::pair<std::int64_t, std::int64_t>> whole;
  for (const StoredRun& run : runs()) whole.emplace(run.block, run.position);
  fs::remove_all(folder());

  // The device is lost again and again, at other places each time.
  int sessions = 0;
  for (std::int64_t lost_after = 60;; lost_after = lost_after * 3 / 2) {
    ++sessions;
    const auto summary = campaign({.fail_at_launch = lost_after}, request(sessions > 1));
    if (summary) {
      EXPECT_TRUE(summary->complete);
      EXPECT_EQ(summary->runs, kQuickRuns);
      break;
    }
    ASSERT_EQ(summary.error().code, ErrorCode::device_error) << summary.error().text();
    ASSERT_LT(sessions, 40);
  }
  EXPECT_GT(sessions, 3);
  std::set<std::pair<std::int64_t, std::int64_t>> resumed;
  for (const StoredRun& run : runs()) {
    EXPECT_TRUE(resumed.emplace(run.block, run.position).second);
  }
  EXPECT_EQ(resumed, whole);
}

TEST_F(CampaignTest, ACoolDownInANewSessionIsHeatedAgain) {
  auto store = CampaignStore::create(folder().parent_path() / "unused.db");
  ASSERT_TRUE(store);
  ASSERT_FALSE(campaign({.fail_at_launch = 60}, request()));
  // Heat takes about 800 launches of 25 ms here: a loss in between hits it or
  // the runs about it.
  ASSERT_FALSE(campaign({.fail_at_launch = 900}, request(true)));
  ASSERT_TRUE(campaign({}, request(true)));
  for (const StoredRun& run : runs()) {
    if (run.kind != RunKind::cooldown) continue;
    std::int32_t hottest = 0;
    for (const SensorReading& s : run.samples) hottest = std::max(hottest, *s.temperature_mc);
    EXPECT_GE(hottest - *run.samples.back().temperature_mc, 15'000);
  }
}

TEST_F(CampaignTest, AFinishedCampaignIsNotRunAgain) {
  ASSERT_TRUE(campaign({}, request()));
  const auto again = campaign({.fail_at_launch = 0}, request(true));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->runs, kQuickRuns);
  EXPECT_TRUE(again->complete);
}

TEST_F(CampaignTest, AnExistingCampaignNeedsResume) {
  ASSERT_TRUE(campaign({}, request()));
  const auto again = campaign({}, request());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(again.error().message, HasSubstr("--resume"));
}

TEST_F(CampaignTest, ResumingWithOtherOptionsIsRefused) {
  ASSERT_FALSE(campaign({.fail_at_launch = 200}, request()));
  auto other = request(true);
  other.seed = 2;
  EXPECT_EQ(campaign({}, other).error().code, ErrorCode::invalid_argument);
  other = request(true);
  other.quick = false;
  EXPECT_THAT(campaign({}, other).error().message, HasSubstr("quick"));
  other = request(true);
  other.device.name = "virtual:random";
  EXPECT_THAT(campaign({}, other).error().message, HasSubstr("device"));
}

TEST_F(CampaignTest, UnknownDevicesLeaveNoFolder) {
  for (const char* name : {"virtual:no-such-chip", "quantum", "virtual:missing.toml"}) {
    auto unknown = request();
    unknown.device.name = name;
    const auto summary = campaign({}, unknown);
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().code, ErrorCode::not_found) << name;
    EXPECT_FALSE(fs::exists(folder()));
  }
}

TEST_F(CampaignTest, AFolderThatCannotBeMadeIsAnErrorOfTheEnvironment) {
  auto unwritable = request();
  unwritable.folder = "/proc/wirewatt-run";
  const auto summary = campaign({}, unwritable);
  ASSERT_FALSE(summary);
  EXPECT_EQ(exit_code(summary.error().code), 3);
  EXPECT_THAT(summary.error().text(), HasSubstr("/proc"));
}

StreamFacts good_stream() {
  StreamFacts facts;
  facts.expected_bytes = facts.counted_bytes = 1e9;
  facts.peak_bytes = 1.03e9;
  facts.saturated = true;
  facts.working_cus = facts.engine_cus = 11;
  facts.counters = {{"TCC_HIT_sum", 999'500}, {"TCC_MISS_sum", 500}};
  return facts;
}

TEST(JudgeStream, AcceptsWhatThePaperAccepts) {
  EXPECT_EQ(judge_stream(good_stream()), "");
}

TEST(JudgeStream, NamesWhatIsWrong) {
  auto facts = good_stream();
  facts.counters["TCC_MISS_sum"] = 5000;
  EXPECT_THAT(judge_stream(facts), HasSubstr("L2 hit rate"));
  facts = good_stream();
  facts.counters["TCP_CACHE_HIT_sum"] = 1e6;
  EXPECT_THAT(judge_stream(facts), HasSubstr("L1 hit rate"));
  facts = good_stream();
  facts.expected_bytes = 0;
  EXPECT_THAT(judge_stream(facts), HasSubstr("arithmetic"));
  facts = good_stream();
  facts.peak_bytes = 2e9;
  EXPECT_THAT(judge_stream(facts), HasSubstr("peak"));
  facts.saturated = false;
  EXPECT_EQ(judge_stream(facts), "");
}

TEST(JudgeStream, AsksTheCountersOfRdnaWhetherShaderArraysServedIt) {
  auto facts = good_stream();
  facts.target = "gfx1030";
  facts.counters = {{"GL2C_HIT_sum", 7.8e6}, {"GL2C_MISS_sum", 500}};
  EXPECT_THAT(judge_stream(facts), HasSubstr("no counters (GL1C_REQ"));
  facts.counters["GL1C_REQ_sum"] = facts.counters["GL1C_REQ_MISS_sum"] = 7.8e6;
  EXPECT_EQ(judge_stream(facts), "");
  facts.counters["GL1C_REQ_MISS_sum"] -= 0.02 * 7.8e6;
  EXPECT_THAT(judge_stream(facts), HasSubstr("(GL1) served 2.00% of the loads"));
  facts.counters["GL2C_MISS_sum"] = 8e5;
  EXPECT_THAT(judge_stream(facts), HasSubstr("L2 hit rate"));
}

}  // namespace
}  // namespace ww::microbench
