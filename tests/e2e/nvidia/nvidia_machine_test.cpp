// Machines around an NVIDIA card: sensors of recorded cards, a second card, launches that fail when
// they are waited for, an NVML that answers N/A, and cards of several sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "nvidia_stub.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class NvidiaMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NvidiaStub::real_one_here()) GTEST_SKIP() << "an NVIDIA driver is installed here";
  }
  NvidiaStub stub_;
};

struct RecordedResponse {
  const char* card;
  const char* lines;  // of the stub's config
  std::size_t column;
  double period_s;
  const char* key;  // what the doctor calls the response
  double time_s;
};
// Responses in recordings beside an external meter (the tool GPU_Power_Benchmark's cards).
constexpr RecordedResponse kResponses[] = {
    {"A100, instant", "period_s 0.10122\nwindow_s 0.025\naverage 3\nnoise_w 1\n", 0, 0.10122,
     "window_s", 0.025},
    {"3090, instant", "period_s 0.09997\nwindow_s 0.1\naverage_window_s 1.075\nnoise_w 0.35\n", 0,
     0.09997, "window_s", 0.1},
    {"3090, average", "period_s 0.09997\nwindow_s 0.1\naverage_window_s 1.075\nnoise_w 0.35\n", 1,
     0.09997, "window_s", 1.075},
    {"4090", "period_s 0.09998\naverage_window_s 0.1\ninstant 3\naverage 3\nnoise_w 0.63\n", 0,
     0.09998, "window_s", 0.1},
    {"K40m", "period_s 0.01541\nlag_s 0.05\ninstant 3\naverage 3\nenergy 3\nnoise_w 0.12\n", 0,
     0.01541, "lag_s", 0.05}};

TEST_F(NvidiaMachine, HasTheRecordedSensorsWhosePeriodsAndWindowsTheDoctorFinds) {
  for (const RecordedResponse& recorded : kResponses) {
    SCOPED_TRACE(recorded.card);
    stub_.configure(recorded.lines);
    const auto finished = stub_.doctor();
    ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    const json report = finished.json();
    EXPECT_EQ(report["no_step_test"], "");
    ASSERT_GT(report["columns"].size(), recorded.column) << report.dump(1);
    const json& column = report["columns"][recorded.column];
    EXPECT_NEAR(column["period_s"].get<double>() / recorded.period_s, 1, 0.1) << column;
    ASSERT_TRUE(column[recorded.key].is_number()) << column;
    EXPECT_NEAR(column[recorded.key].get<double>() / recorded.time_s, 1, 0.1) << column;
    std::printf("%-14s period %.2f ms (truth %.2f), %s %.1f ms (truth %.1f)\n", recorded.card,
                1e3 * column["period_s"].get<double>(), 1e3 * recorded.period_s, recorded.key,
                1e3 * column[recorded.key].get<double>(), 1e3 * recorded.time_s);
  }
}

// A context takes some of its device's memory, and is refused where another process has the device
// for itself.
TEST_F(NvidiaMachine, HasAContextOnTheDeviceAloneThatIsUsed) {
  stub_.configure("count 2\n");
  const std::string noted = stub_.file("contexts");
  const auto contexts = [&noted] {
    std::set<int> devices;
    std::ifstream file(noted);
    for (int device = 0; file >> device;) devices.insert(device);
    return devices;
  };
  const Environment noting{{"WW_STUB_CUDA_CONTEXTS", noted}};
  for (const std::vector<std::string>& look :
       {std::vector<std::string>{"devices", "--json"}, {"devices", "--choices", "--json"}}) {
    const auto finished = stub_.wirewatt_on(look, noting);
    ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    EXPECT_THAT(finished.out, HasSubstr("cuda:0")) << look.front();
    EXPECT_TRUE(contexts().empty()) << look.front();
  }
  // A dry run opens the device that would be used.
  ASSERT_EQ(stub_.wirewatt_on({"calibrate", "--dry-run", "--json"}, noting).exit_code, 0);
  EXPECT_EQ(contexts(), std::set<int>{0});
  std::filesystem::remove(noted);
  const auto used = stub_.wirewatt_on({"topology", "--device", "cuda:1", "--json"}, noting);
  ASSERT_EQ(used.exit_code, 0) << used.err << used.out;
  EXPECT_EQ(contexts(), std::set<int>{1});
}

// CUDA counts the card at c1:00.0 first, NVML the one at 41:00.0.
TEST_F(NvidiaMachine, WithTwoCardsGivesEachItsOwnSensor) {
  stub_.configure("count 2\n");
  for (const char* device : {"cuda:0", "cuda:1"}) {
    SCOPED_TRACE(device);
    const auto finished = stub_.doctor(device);
    ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    const json report = finished.json();
    ASSERT_FALSE(report["columns"].empty()) << report.dump(1);
    // The step is this card's: the other card's sensor would show none.
    const json& power = report["columns"][0];
    EXPECT_GT(power["step_w"].get<double>(), 50) << power;
  }
}

TEST_F(NvidiaMachine, WhoseLaunchFailsKeepsTheRunsBeforeAndNamesTheError) {
  stub_.configure("failing_launch 9000\nfailure 719\n");
  const auto finished = stub_.calibrate("run");
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
  const auto store = CampaignStore::open_read_only(stub_.file("run") + "/campaign.db");
  ASSERT_TRUE(store) << store.error().text();
  const auto kept = store->runs();
  ASSERT_TRUE(kept) << kept.error().text();
  EXPECT_GE(kept->size(), 2u);
}

TEST_F(NvidiaMachine, WhoseWatchdogEndsALaunchSaysSo) {
  stub_.configure("timeout_s 0.001\n");
  const auto finished = stub_.calibrate("run");
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("CUDA_ERROR_LAUNCH_TIMEOUT"));
  EXPECT_THAT(finished.err, HasSubstr("display"));
}

TEST_F(NvidiaMachine, WithoutTemperatureClockAndEnergyIsCalibratedAllTheSame) {
  stub_.configure("temperature 3\nclock 3\nenergy 3\naverage 3\n");
  const auto finished = stub_.calibrate("run");
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  EXPECT_EQ(finished.json()["energy_pj_per_bit_crossing"]["status"], "ok");
}

TEST_F(NvidiaMachine, WithoutAnyPowerIsRefusedBeforeAnythingRuns) {
  stub_.configure("instant 3\naverage 3\nusage 3\nenergy 3\n");
  const auto finished = stub_.calibrate("run");
  EXPECT_EQ(finished.exit_code, 3) << finished.err << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("its power cannot be read"));
  EXPECT_THAT(finished.err, HasSubstr("'wirewatt doctor --device cuda:0' names what is missing"));
  EXPECT_FALSE(std::filesystem::exists(stub_.file("run") + "/campaign.db"));
}

TEST_F(NvidiaMachine, IsNotCalibratedWhileMigIsOn) {
  stub_.configure("mig 1\n");
  const auto finished = stub_.calibrate("run");
  EXPECT_EQ(finished.exit_code, 1) << finished.err << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("MIG is on"));
  EXPECT_THAT(finished.err, HasSubstr("sudo nvidia-smi -i 0000:c1:00.0 -mig 0"));
  EXPECT_FALSE(std::filesystem::exists(stub_.file("run") + "/campaign.db"));
}

TEST_F(NvidiaMachine, NotesInTheCampaignWhoElseComputesOnIt) {
  stub_.configure("processes 2\nfailing_launch 9000\nfailure 719\n");
  const auto finished = stub_.calibrate("run");
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  const auto store = CampaignStore::open_read_only(stub_.file("run") + "/campaign.db");
  ASSERT_TRUE(store) << store.error().text();
  const json notes = json::parse(store->get(campaign_keys::opening).value().value_or("{}"));
  EXPECT_EQ(notes["other_processes"], json({4000, 4001})) << notes;
}

TEST_F(NvidiaMachine, WhoseDriverHidesOtherWorkIsNotSaidToHaveNone) {
  stub_.configure("processes_listed 3\n");
  const json report = stub_
                          .wirewatt_on({"doctor", "--device", "cuda:0", "--no-clock-control",
                                        "--no-counters", "--no-step-test", "--json"})
                          .json();
  const json& findings = report["findings"];
  const auto load = std::ranges::find_if(
      findings, [](const json& finding) { return finding["capability"] == "other load"; });
  ASSERT_NE(load, findings.end()) << report;
  EXPECT_EQ((*load)["verdict"], "unavailable") << *load;
  EXPECT_THAT((*load)["detail"].get<std::string>(), HasSubstr("unknown"));
}

TEST_F(NvidiaMachine, HasTwoSidesWhateverTheNumberOfItsSmsAndHowTheirLatenciesSmear) {
  struct Size {
    int sms, gpcs;
  };
  for (const auto [sms, gpcs] : {Size{20, 2}, Size{72, 6}, Size{132, 8}}) {
    SCOPED_TRACE(sms);
    stub_.configure("sms " + std::to_string(sms) + "\ngpcs " + std::to_string(gpcs) +
                    "\nnear_ticks 210\nfar_ticks 400\nsmear_ticks 25\njitter_ticks 8\n");
    const auto finished =
        stub_.wirewatt_on({"topology", "--device", "cuda:0", "--fresh", "--json"});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const json topology = finished.json();
    ASSERT_EQ(topology["sides"]["found"], true) << topology["sides"];
    const auto& sides = topology["sides"]["side_of_place"];
    ASSERT_EQ(sides.size(), static_cast<std::size_t>(sms));
    // SMs go round the GPCs by twos; the first half of the GPCs is side 0.
    for (int sm = 0; sm < sms; ++sm) {
      EXPECT_EQ(sides[static_cast<std::size_t>(sm)], 2 * (sm / 2 % gpcs) < gpcs ? 0 : 1) << sm;
    }
    EXPECT_NEAR(topology["sides"]["far_ticks"].get<double>() -
                    topology["sides"]["near_ticks"].get<double>(),
                190, 10);
  }
}

}  // namespace
}  // namespace ww::e2e
