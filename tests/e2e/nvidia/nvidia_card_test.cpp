// An NVIDIA card from the command line, without one: CUDA's driver is a stub that executes PTX,
// NVML is a stub that shows the power which that draws, and the program lives in the chip's time
// (microbench/test_support). What runs is what runs on a card: telemetry, topology, pinning,
// sampler, campaign, fit, doctor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "nvidia_stub.hpp"
#include "test_support/stub_cuda.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/process.hpp"

namespace ww::e2e {
namespace {

namespace stub = microbench::testing::stub_cuda;
using nlohmann::json;
using ::testing::HasSubstr;

class NvidiaCard : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NvidiaStub::real_one_here()) GTEST_SKIP() << "an NVIDIA driver is installed here";
    configure("");
  }
  void configure(const std::string& more) const {
    std::ofstream(card_.path() / "config") << "idle_w " << stub::idle_w << "\nnoise_w 0.1\n"
                                           << more;
  }
  [[nodiscard]] Environment environment() const { return card_.environment(); }
  [[nodiscard]] std::string out() const { return (card_.path() / "run").string(); }
  [[nodiscard]] std::vector<std::string> calibrate() const {
    return {wirewatt(),           "--quiet", "calibrate", "--device", "cuda:0", "--quick",
            "--no-clock-control", "--out",   out(),       "--json"};
  }
  // Returns the campaign's runs, also while it runs.
  [[nodiscard]] std::vector<StoredRun> recorded() const {
    const auto store = CampaignStore::open_read_only(out());
    if (!store) return {};
    return store->runs().value_or(std::vector<StoredRun>{});
  }
  [[nodiscard]] std::int64_t recorded_count() const {
    const auto store = CampaignStore::open_read_only(out());
    return store ? store->run_count().value_or(0) : 0;
  }
  [[nodiscard]] json plan() const {
    const auto store = CampaignStore::open_read_only(out());
    return parse_json(store->get(campaign_keys::plan).value().value_or("{}"));
  }
  static double truth_pj() {
    return 1e12 / stub::kChipSpeed *
           (stub::joules_per_crossing_bit + 0.5 * stub::joules_per_crossing_one);
  }

  NvidiaStub card_;
};

TEST_F(NvidiaCard, IsCalibratedWithAllControlsAndReportedOn) {
  const auto finished = run(calibrate(), environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json answer = finished.json();
  EXPECT_EQ(answer["kind"], "crossing");  // a card with a partition, not one of latencies
  EXPECT_FALSE(answer.contains("energy_pj_per_bit_ns"));
  const json& energy = answer["energy_pj_per_bit_crossing"];
  ASSERT_EQ(energy["status"], "ok") << answer.dump(1);
  const double truth = truth_pj();
  EXPECT_LT(energy["low"].get<double>(), truth);
  EXPECT_GT(energy["high"].get<double>(), truth);
  EXPECT_LT(std::abs(energy["value"].get<double>() / truth - 1), 0.1);
  ASSERT_EQ(answer["controls"].size(), 4u);
  for (const json& control : answer["controls"]) EXPECT_EQ(control["passed"], true) << control;

  // The start of a run is cut off as long as the sensor needs, which sees 25 ms of every 100.
  EXPECT_GT(plan()["settle_s"].get<double>(), 0.02);
  EXPECT_LT(plan()["settle_s"].get<double>(), 0.5);

  // The recording gives the same answer.
  const auto fitted = run({wirewatt(), "fit", out() + "/campaign.db", "--json"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_EQ(fitted.json()["energy_pj_per_bit_crossing"], energy);
  // Where it is written is said by --out alone.
  const std::filesystem::path beside = std::filesystem::path(out()) / "crossing.json";
  const auto written = std::filesystem::last_write_time(beside);
  const auto elsewhere = card_.path() / "again.json";
  ASSERT_EQ(run({wirewatt(), "fit", out(), "--out", elsewhere.string()}).exit_code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(beside), written);
  EXPECT_EQ(read_file(elsewhere).value_or("none"), read_file(beside).value_or(""));

  const auto page = card_.path() / "report.html";
  const auto reported = run({wirewatt(), "report", out(), "-o", page.string()});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  const std::string text = read_file(page).value_or("");
  EXPECT_THAT(text, HasSubstr("pJ per bit and crossing"));
  for (const json& control : answer["controls"]) {
    EXPECT_THAT(text, HasSubstr(control["detail"].get<std::string>()));
  }

  // The crossings are priced in a network, and fewer of them save energy.
  const auto simulated = run({wirewatt(), "simulate", "--network", "crossbar-partitioned",
                              "--traffic", "uniform", "--rate", "0.1", "--k", "4", "--warmup",
                              "200", "--cycles", "500", "--model", out(), "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  const json crossing = simulated.json()["energy_pj"]["l2_crossing"];
  EXPECT_NEAR(crossing["pj_per_bit"]["value"].get<double>(), energy["value"].get<double>(), 1e-9);
  EXPECT_EQ(crossing["label"], "measured");
  const auto projected = run({wirewatt(), "project", "--model", out(), "--json"});
  ASSERT_EQ(projected.exit_code, 0) << projected.err;
  const json projection = projected.json();
  EXPECT_EQ(projection["card_node_nm"], 4.0);  // of sm_90
  EXPECT_EQ(projection["moved"].size(), 3u);
}

TEST_F(NvidiaCard, WhoseCampaignIsKilledGoesOnWithNothingLostOrDoubled) {
  ProcessSetup setup;
  setup.environment = environment();
  setup.out = kNullStream;
  auto first = Process::start(calibrate(), setup);
  ASSERT_TRUE(first) << first.error().text();
  constexpr std::int64_t kBefore = 40;  // in the second block
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (recorded_count() < kBefore && !first->poll() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  first->signal(SIGKILL);
  ASSERT_EQ(first->wait().signal, SIGKILL) << "it ended before it could be killed";
  std::map<std::pair<std::int64_t, std::int64_t>, StoredRun> kept;
  for (const StoredRun& run : recorded()) kept[{run.block, run.position}] = run;
  ASSERT_GE(std::ssize(kept), kBefore);

  auto words = calibrate();
  words.emplace_back("--resume");
  const auto finished = run(words, environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json energy = finished.json()["energy_pj_per_bit_crossing"];
  EXPECT_LT(std::abs(energy["value"].get<double>() / truth_pj() - 1), 0.1) << energy;
  std::map<std::pair<std::int64_t, std::int64_t>, int> times;
  int in_blocks = 0;
  for (const StoredRun& run : recorded()) {
    const int seen = ++times[{run.block, run.position}];
    EXPECT_EQ(seen, 1) << "block " << run.block << " position " << run.position;
    in_blocks += run.block > 0 ? 1 : 0;
    const auto before = kept.find({run.block, run.position});
    if (before == kept.end()) {
      EXPECT_EQ(run.session, 1);
    } else {
      EXPECT_EQ(run.start_ns, before->second.start_ns);
      EXPECT_EQ(run.session, 0);
    }
  }
  EXPECT_EQ(in_blocks, 4 * 22);
}

TEST_F(NvidiaCard, ThatHoldsItsClocksDownIsNotCalibrated) {
  configure("throttle 4\n");
  const auto finished = run(calibrate(), environment());
  EXPECT_EQ(finished.exit_code, 1) << finished.err << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("software power cap"));
  for (const StoredRun& run : recorded()) {
    EXPECT_EQ(run.status == RunStatus::ok, run.kind != RunKind::stream) << run.reason;
  }
}

TEST_F(NvidiaCard, WhoseControlFailsHasNoFigureAndExitCode1) {
  auto settings = environment();
  settings.emplace_back("WW_STUB_CUDA_ONES", "-1");  // random bits draw less than zeros
  const auto finished = run(calibrate(), settings);
  EXPECT_EQ(finished.exit_code, 1) << finished.err << finished.out;
  const json answer = finished.json();
  const json& energy = answer["energy_pj_per_bit_crossing"];
  EXPECT_EQ(energy["status"], "rejected");
  EXPECT_TRUE(energy["value"].is_null());
  EXPECT_THAT(energy["reason"].get<std::string>(), HasSubstr("'near, random against zeros'"));
  const auto fitted = run({wirewatt(), "fit", out() + "/campaign.db"});
  EXPECT_EQ(fitted.exit_code, 1);
  EXPECT_THAT(fitted.out, HasSubstr("near, random against zeros FAILED"));
}

TEST_F(NvidiaCard, IsLoadedByTheDoctorWhoFindsItsSensorsPeriodAndWindow) {
  configure("period_s 0.1\nwindow_s 0.025\n");
  const auto finished =
      run({wirewatt(), "--quiet", "doctor", "--device", "cuda:0", "--no-clock-control", "--json"},
          environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json report = finished.json();
  EXPECT_EQ(report["no_step_test"], "") << report.dump(1);
  EXPECT_THAT(report.value("load", ""), HasSubstr("furnace")) << report.dump(1);
  ASSERT_FALSE(report["columns"].empty()) << report.dump(1);
  const json& power = report["columns"].at(0);
  EXPECT_NEAR(power["period_s"].get<double>() / 0.1, 1, 0.1) << power;
  ASSERT_TRUE(power["window_s"].is_number()) << power;
  EXPECT_NEAR(power["window_s"].get<double>() / 0.025, 1, 0.1) << power;
  EXPECT_GT(power["step_w"].get<double>(), stub::active_w) << power;
}

}  // namespace
}  // namespace ww::e2e
