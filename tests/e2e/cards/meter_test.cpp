// wirewatt meter and top without a calibration: joules of cards that are faked as kernel files and
// as an NVML whose accumulators count, and of the virtual GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "growing_card.hpp"
#include "process.hpp"
#include "testing/fake_cards.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNear = 0.001;

json last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line;
  return parse_json(last);
}

double joules(const json& object) {
  const json& energy = object.at("energy_j");
  return energy.is_null() ? -1 : energy.at("value").get<double>();
}

class Meter : public ::testing::Test {
 protected:
  [[nodiscard]] Environment environment() const {
    return {{"WIREWATT_SYSFS", (folder_.path() / "sys").string()}, {"HIP_VISIBLE_DEVICES", ""}};
  }
  [[nodiscard]] Finished meter(std::vector<std::string> more) const {
    std::vector<std::string> words{wirewatt(), "meter", "--json", "--interval", "0.2"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, environment());
  }
  // The last line of `top`, which runs `meanwhile` in a shell after its first line and ends by
  // Ctrl-C fifteen lines after that: a machine under load takes its time for each step, so none has
  // a limit.
  [[nodiscard]] json top(const std::vector<std::string>& more, const Environment& with,
                         const std::string& meanwhile) const {
    const std::string lines = "'" + (folder_.path() / "lines").string() + "'";
    const std::string wait =
        "until [ $(wc -l <" + lines + ") -ge $wanted ] || ! kill -0 $!; do sleep 0.05; done; ";
    std::vector<std::string> words{"sh", "-c",
                                   // A shell's children in the background ignore SIGINT otherwise.
                                   ": >" + lines + "; env --default-signal=INT \"$@\" >" + lines +
                                       " & wanted=1; " + wait + meanwhile +
                                       "; wanted=$(($(wc -l <" + lines + ") + 15)); " + wait +
                                       "kill -INT $!; wait $!; cat " + lines,
                                   "sh", wirewatt(), "top", "--interval", "0.2", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto finished = run(words, with);
    EXPECT_NE(finished.out, "") << finished.err;
    return last_line(finished.out);
  }
  static void expect_joules(const json& part, double expected) {
    const double found = joules(part);
    EXPECT_NEAR(found, expected, kNear * expected) << part;
    EXPECT_LE(part.at("energy_j").at("low"), expected) << part;
    EXPECT_GE(part.at("energy_j").at("high"), expected) << part;
    std::printf("%.3f J, the accumulator counted %.3f J: %+.4f%%\n", found, expected,
                100 * (found / expected - 1));
  }
  // Loads the card for a while.
  static std::string load_of(const GrowingCard& card) {
    const std::string load = "'" + card.load().string() + "'";
    return ": >" + load + "; sleep 2; rm " + load;
  }
  // A program that does so between two rests.
  static std::vector<std::string> loading(const GrowingCard& card, const std::string& after) {
    return {"--", "sh", "-c", "sleep 1; " + load_of(card) + "; sleep 1; " + after};
  }

  TemporaryFolder folder_;
};

class MeterOfAPackage : public Meter {
 protected:
  MeterOfAPackage()
      : tree_(folder_.path() / "sys",
              {.name = "AMD Instinct MI300X", .metrics_content = 1, .with_package = true}),
        counting_((tree_.write(tree_.device() / "device", "0x74a1"), tree_), {}, true) {}
  FakeAmdTree tree_;
  GrowingCard counting_;
};

TEST_F(MeterOfAPackage, HasTheJoulesOfDeviceAndRailsAndTheProgramsExitCode) {
  const auto out = (folder_.path() / "joules.json").string();
  std::vector<std::string> words{"-o", out};
  const auto program = loading(counting_, "echo said; exit 7");
  words.insert(words.end(), program.begin(), program.end());
  const auto finished = meter(words);
  EXPECT_EQ(finished.exit_code, 7) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("said\n"));
  const json result = last_line(finished.out);
  std::ifstream written(out);
  EXPECT_EQ(parse_json(written), result);
  EXPECT_EQ(result.at("exit_code"), 7);
  EXPECT_EQ(result.at("virtual"), false);
  ASSERT_EQ(result.at("devices").size(), 1U);
  const json& device = result.at("devices").at(0);
  EXPECT_EQ(device.at("energy_by"), "accumulator") << device;
  EXPECT_EQ(device.at("scope"), "card");
  const double seconds = device.at("seconds").get<double>();
  expect_joules(device, counting_.joules(300, seconds));
  EXPECT_TRUE(result.at("node").empty());
  std::map<std::string, json> rails;
  for (const json& rail : device.at("rails")) rails[rail.at("rail").get<std::string>()] = rail;
  expect_joules(rails.at("aid"), counting_.joules(80, seconds));
  expect_joules(rails.at("xcd"), counting_.joules(150, seconds));
  expect_joules(rails.at("hbm"), counting_.joules(50, seconds));
  // The fabric's dies bound the network from above, without a profile and without root.
  EXPECT_EQ(device.at("network").at("rail"), "aid");
  EXPECT_EQ(device.at("network").at("at_most_j"), rails.at("aid").at("energy_j").at("high"));
  EXPECT_EQ(result.at("wires").at("status"), "unavailable");
  EXPECT_THAT(result.at("wires").at("reason").get<std::string>(), HasSubstr("--model"));
}

// A thousandth of a core on a machine at rest; on a busy one a wake-up costs more.
TEST_F(MeterOfAPackage, CostsAProgramLittleOfACore) {
  const auto finished = run({wirewatt(), "meter", "--json", "--", "sleep", "3"}, environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json polls = last_line(finished.out).at("devices").at(0).at("polls");
  std::printf("%.4f%% of a core\n", 100 * polls.at("core_share").get<double>());
  EXPECT_LT(polls.at("core_share").get<double>(), 0.005) << polls;
  EXPECT_GE(polls.at("count").get<int>(), 5) << polls;
}

TEST_F(MeterOfAPackage, LeavesAWholeResultAtCtrlC) {
  const auto finished =
      run({"timeout", "--foreground", "-s", "INT", "2", wirewatt(), "meter", "--json", "--", "sh",
           "-c", "trap 'exit 130' INT; sleep 1; kill -INT $PPID; exit 0"},
          environment());
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  const json result = last_line(finished.out);
  EXPECT_EQ(result.at("interrupted"), true) << result;
  EXPECT_GT(joules(result.at("devices").at(0)), 0) << result;
}

TEST_F(MeterOfAPackage, IsShownLiveWithoutACalibration) {
  const json line = top({"--device", "gpu:0"}, environment(), load_of(counting_));
  EXPECT_EQ(line.at("energy_status"), "ok") << line;
  expect_joules(line, counting_.joules(300, line.at("seconds").get<double>()));
  ASSERT_FALSE(line.at("rails").empty()) << line;
  // Rails are read less often than the card, and their joules end where they were read last.
  const json& aid = line.at("rails").at(0);
  EXPECT_EQ(aid.at("rail"), "aid");
  expect_joules(aid, counting_.joules(80, aid.at("seconds").get<double>()));
  EXPECT_EQ(line.at("segments").at(1).at("status"), "unavailable");
}

// On machines of HPE Cray the node has meters of its own, which all its cards share.
TEST_F(Meter, OfANodeHasTheNodesOwnMetersOnceForAllCards) {
  const FakeCards cards(folder_.path() / "sys");
  for (int i = 0; i < 2; ++i) {
    const auto card = cards.add(i, i == 0 ? "0000:03:00.0" : "0000:43:00.0", "0x740f");
    FakeCards::write(card / "hwmon/hwmon0/power1_average", std::string("90000000\n"));
    FakeCards::write(card / "gpu_metrics", measure::testing::gpu_metrics_v1(3, 1'000'000));
  }
  const auto meters = folder_.path() / "sys/cray/pm_counters";
  for (const char* name :
       {"energy", "cpu_energy", "memory_energy", "accel0_energy", "accel1_energy"}) {
    FakeCards::write(meters / name, std::string("123456 J 1700000000000000 us\n"));
  }
  const auto finished = meter({"--", "sleep", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto names = [](const json& rails) {
    std::vector<std::string> all;
    for (const json& rail : rails) all.push_back(rail.at("rail"));
    return all;
  };
  const json result = last_line(finished.out);
  EXPECT_THAT(names(result.at("node")), ElementsAre("cray_cpu", "cray_memory", "cray_node"));
  ASSERT_EQ(result.at("devices").size(), 2U);
  for (const json& device : result.at("devices")) {
    EXPECT_THAT(names(device.at("rails")), ElementsAre("cray_accel")) << device;
  }
  const json line = top({"--device", "gpu:1"}, environment(), "sleep 1");
  EXPECT_THAT(names(line.at("rails")), ElementsAre("cray_accel"));
  EXPECT_THAT(names(line.at("node")), ElementsAre("cray_cpu", "cray_memory", "cray_node"));
}

// MI250X: the first die holds the sensor of both.
TEST_F(Meter, OfTwoDiesSaysThatTheFigureIsThePackages) {
  const FakeAmdTree tree(folder_.path() / "sys",
                         {.name = "AMD Instinct MI250X", .metrics_content = 1});
  tree.write(tree.device() / "device", "0x7408");
  const auto second = FakeCards(folder_.path() / "sys").add(1, "0000:04:00.0", "0x7408");
  FakeCards::write(second / "hwmon/hwmon0/power1_average", "0\n");
  FakeCards::write(second / "gpu_busy_percent", "0\n");
  const auto nodes = folder_.path() / "sys/class/kfd/kfd/topology/nodes";
  FakeCards::write(nodes / "2/properties", "simd_count 440\nlocation_id 1024\ndomain 0\n");
  for (const int from : {1, 2}) {
    FakeCards::write(nodes / std::to_string(from) / "io_links/0/properties",
                     "type 11\nnode_to " + std::to_string(3 - from) + "\nmax_bandwidth 200000\n");
  }
  constexpr GrowingPower power{.card_w = 400};
  auto counting = std::make_unique<GrowingCard>(tree, power, false);
  std::vector<std::string> words{"--device", "gpu:0", "--device", "gpu:1"};
  const auto program = loading(*counting, "true");
  words.insert(words.end(), program.begin(), program.end());
  const auto finished = meter(words);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json result = last_line(finished.out);
  ASSERT_EQ(result.at("devices").size(), 2U);
  for (const json& device : result.at("devices")) {
    EXPECT_EQ(device.at("scope"), "package") << device;
    EXPECT_THAT(device.at("scope_says").get<std::string>(), HasSubstr("both dies"));
    expect_joules(device, counting->joules(400, device.at("seconds").get<double>()));
  }
  // The second die is read at the first one, and a sum has the package once.
  EXPECT_THAT(result.at("devices").at(1).at("scope_says").get<std::string>(),
              HasSubstr("read at 0000:03:00.0"));
  EXPECT_TRUE(result.at("devices").at(0).at("counted_at").is_null());
  EXPECT_EQ(result.at("devices").at(1).at("counted_at"), "gpu:0");
  expect_joules(result,
                counting->joules(400, result.at("devices").at(0).at("seconds").get<double>()));
  // A job is metered while it uses both dies. Its page does not call the package this die's own.
  FakeCards::write(second / "gpu_busy_percent", "97\n");
  tree.write(tree.device() / "gpu_busy_percent", "97");
  counting.reset();  // it ends before another one writes
  counting = std::make_unique<GrowingCard>(tree, power, false);
  const json line = top({"--device", "gpu:1"}, environment(), load_of(*counting));
  expect_joules(line, counting->joules(400, line.at("seconds").get<double>()));
  EXPECT_EQ(line.at("sensor_of"), "0000:03:00.0");
  EXPECT_FALSE(top({"--device", "gpu:0"}, environment(), "sleep 1").contains("sensor_of"));
}

class MeterByNvml : public Meter {
 protected:
  void SetUp() override {
    if (std::filesystem::exists("/dev/nvidiactl")) {
      GTEST_SKIP() << "an NVIDIA driver is installed here";
    }
  }
  [[nodiscard]] Environment with_nvml(const std::string& lines) const {
    std::ofstream(folder_.path() / "config") << "count_calls 1\n" << lines;
    return {{"WIREWATT_SYSFS", (folder_.path() / "sys").string()},
            {"LD_LIBRARY_PATH", (build_folder() / "lib/nvml_stub").string()},
            {"WW_NVML_STUB", folder_.path().string()}};
  }
  // How often each function of NVML was called, all processes together.
  [[nodiscard]] std::map<std::string, int> calls() const {
    std::map<std::string, int> counted;
    std::ifstream file(folder_.path() / "counted");
    for (std::string name; file >> name;) ++counted[name];
    return counted;
  }
};

TEST_F(MeterByNvml, HasTheAccumulatorsJoules) {
  const auto environment = with_nvml("idle_w 350\nenergy_period_s 0.001\n");
  const auto finished =
      run({wirewatt(), "meter", "--json", "--device", "gpu:0", "--", "sleep", "4"}, environment);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json result = last_line(finished.out);
  const json& device = result.at("devices").at(0);
  EXPECT_EQ(device.at("energy_by"), "accumulator") << device;
  expect_joules(device, 350 * device.at("seconds").get<double>());
}

// A board refreshes its counter ten times a second. Two polls lie close around a refresh, and all
// of them together say when the refreshes were.
TEST_F(MeterByNvml, HasTheJoulesOfACounterThatIsSeldomRefreshed) {
  const auto environment = with_nvml("idle_w 350\nenergy_period_s 0.1\n");
  for (const char* interval : {"0.2", "1"}) {
    const auto finished = run({wirewatt(), "meter", "--json", "--interval", interval, "--device",
                               "gpu:0", "--", "sleep", "4"},
                              environment);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const json result = last_line(finished.out);
    const json& device = result.at("devices").at(0);
    EXPECT_EQ(device.at("energy_by"), "accumulator") << device;
    expect_joules(device, 350 * device.at("seconds").get<double>());
  }
}

// From Hopper on the driver counts what memory and links move: bytes of the run, and a bound on the
// wires' joules. Here half of the memory's highest rate, from when the program loads the board.
TEST_F(MeterByNvml, BoundsTheTrafficOfAHopper) {
  const auto environment =
      with_nvml("gpm 1\nnew_driver 1\ngpm_10 50\ngpm_20 100\ngpm_61 4000\nenergy_period_s 0.001\n");
  const auto load = (folder_.path() / "load").string();
  const std::vector<std::string> program{"sh", "-c", "touch " + load + "; sleep 3"};
  std::vector<std::string> words{wirewatt(), "meter", "--json", "--device", "gpu:0", "--"};
  words.insert(words.end(), program.begin(), program.end());
  const auto finished = run(words, environment);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json result = last_line(finished.out);
  const json& traffic = result.at("devices").at(0).at("traffic");
  const double seconds = traffic.at("seconds").get<double>();
  EXPECT_NEAR(seconds, result.at("seconds").get<double>(), 0.5);
  // Two transfers a cycle of 2619 MHz, 5120 bits.
  const double half_rate = 0.5 * 2 * 2619e6 * 5120 / 8;
  // The board is loaded from a moment after the start on.
  const double memory = traffic.at("memory_at_most_bytes").get<double>();
  EXPECT_GT(memory, 0.5 * half_rate * seconds);
  EXPECT_LT(memory, 1.02 * half_rate * seconds);
  EXPECT_NEAR(traffic.at("nvlink_sent_bytes").get<double>() / memory, 4000 * 1048576.0 / half_rate,
              1e-6);
  EXPECT_TRUE(traffic.at("nvlink_received_bytes").is_null());
  EXPECT_TRUE(traffic.at("l2_memory_at_most_j").is_null());  // without a calibration
  EXPECT_EQ(traffic.at("reason"), "");

  const json line = top({"--device", "gpu:0"}, environment, "sleep 3");
  EXPECT_NEAR(line.at("memory_at_most_bytes_per_s").get<double>(), half_rate, 0.05 * half_rate)
      << line;
}

TEST_F(MeterByNvml, SaysWhyAnEarlierCardHasNoTraffic) {
  const auto finished = run({wirewatt(), "meter", "--json", "--device", "gpu:0", "--", "true"},
                            with_nvml("idle_w 350\n"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json result = last_line(finished.out);
  const json& traffic = result.at("devices").at(0).at("traffic");
  EXPECT_TRUE(traffic.at("memory_at_most_bytes").is_null());
  EXPECT_THAT(traffic.at("reason").get<std::string>(), HasSubstr("begins with Hopper"));
}

// Whoever lists all GPUs with their processes holds a lock that a job may want.
TEST_F(MeterByNvml, OfOneGpuAsksNothingOfTheOthersAndSeldomOfThatOne) {
  const auto environment = with_nvml("count 2\nidle_w 350\nenergy_period_s 0.001\nbusy 40\n");
  const json line = top({"--device", "gpu:0"}, environment, "sleep 3");
  EXPECT_EQ(line.at("busy_share"), 0.4) << line;
  expect_joules(line, 350 * line.at("seconds").get<double>());
  const auto counted = calls();
  const double seconds = line.at("seconds").get<double>();
  for (const auto& [name, count] : counted) {
    std::printf("%-46s %4d calls, %.1f a second\n", name.c_str(), count, count / seconds);
  }
  // Both are listed once, by the child that looks for GPUs.
  EXPECT_EQ(counted.at("nvmlDeviceGetComputeRunningProcesses_v3"), 2);
  // Ten readings in an interval of 0.2 s, and those that find out what there is.
  EXPECT_LE(counted.at("nvmlDeviceGetFieldValues"), 50 * seconds + 60);
  EXPECT_LE(counted.at("nvmlDeviceGetUtilizationRates"), 5 * seconds + 6);
  EXPECT_LE(counted.at("nvmlDeviceGetTemperature"), 5 * seconds + 12);
}

TEST_F(Meter, OfAVirtualGpuIsCalledVirtual) {
  const auto finished = run({wirewatt(), "meter", "--json", "--device", "virtual:w9100", "--",
                             (build_folder() / "bin/icd_saxpy").string()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json result = last_line(finished.out);
  EXPECT_EQ(result.at("virtual"), true);
  const json& device = result.at("devices").at(0);
  EXPECT_EQ(device.at("virtual"), true);
  EXPECT_EQ(device.at("scope"), "chip");
  EXPECT_TRUE(joules(device) > 0 || !device.at("energy_reason").get<std::string>().empty());
}

TEST_F(Meter, RefusesWhatNothingWouldReadAndDevicesThatAreNotThere) {
  EXPECT_EQ(meter({"--counters", "profile.csv", "--", "true"}).exit_code, 2);
  const auto none = meter({"--device", "gpu:3", "--", "true"});
  EXPECT_EQ(none.exit_code, 3) << none.err;
  EXPECT_THAT(none.err, HasSubstr("gpu:3"));
  EXPECT_EQ(meter({"--device", "virtual:w9100", "--device", "gpu:0", "--", "true"}).exit_code, 2);
}

}  // namespace
}  // namespace ww::e2e
