// wirewatt doctor as users run it: without a GPU, on faked ones, and on recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "process.hpp"
#include "testing/fake_amd_tree.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using nlohmann::json;
using ::testing::HasSubstr;

std::string stub_folder() {
  return (build_folder() / "lib/nvml_stub").string();
}

std::string recordings() {
  const char* shared = std::getenv("WW_SHARED_DATA");
  return std::string(shared == nullptr ? "" : shared) + "/data/gpu_power_benchmark/";
}

const json& named(const json& list, const std::string& key, const std::string& name) {
  static const json none;
  for (const json& entry : list) {
    if (entry.at(key) == name) return entry;
  }
  return none;
}

TEST(Doctor, FindsTheVirtualSensorByItsStepTest) {
  const auto finished = run({wirewatt(), "doctor", "--device", "virtual:w9100", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json report = finished.json();
  EXPECT_EQ(report["virtual"], true);
  const json& power = report["columns"].at(0);
  EXPECT_NE(power["verdict"], "bad") << power;
  EXPECT_EQ(power["status"], "healthy");
  EXPECT_FALSE(power["period_s"].is_null());
  EXPECT_GT(power["step_w"].get<double>(), 10);
  EXPECT_EQ(named(report["findings"], "capability", "clock control")["verdict"], "good");
}

// Whatever is missing here is named with its package.
TEST(Doctor, NamesThePackagesOfMissingLibraries) {
  const auto finished =
      run({wirewatt(), "doctor", "--device", "virtual:w9100", "--no-step-test", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  for (const auto* library :
       {"OpenCL loader", "AMD SMI", "ROCm SMI", "HIP", "AMD compiler", "NVML", "CUDA driver"}) {
    const json& finding = named(report["libraries"], "capability", library);
    ASSERT_FALSE(finding.is_null()) << library;
    if (finding["verdict"] == "good") continue;
    EXPECT_THAT(finding["detail"].get<std::string>(), HasSubstr("package")) << library;
    EXPECT_THAT(finding["remedy"].get<std::string>(), HasSubstr("apt-get")) << library;
  }
}

// Whoever has cards of one vendor does not miss the other's library.
TEST(Doctor, NamesNoPackageOfAVendorWhoseCardsAreNotHere) {
  const TemporaryFolder folder;
  const auto device = folder.path() / "sys/bus/pci/devices/0000:03:00.0";
  std::filesystem::create_directories(device);
  std::ofstream(device / "vendor") << "0x1002\n";
  const auto finished =
      run({wirewatt(), "doctor", "--device", "virtual:w9100", "--no-step-test", "--json"},
          {{"WIREWATT_SYSFS", (folder.path() / "sys").string()}});
  const json report = finished.json();
  for (const auto* library : {"AMD SMI", "NVML", "CUDA driver"}) {
    const json& finding = named(report["libraries"], "capability", library);
    if (finding["verdict"] == "good") continue;
    EXPECT_EQ(finding["remedy"].get<std::string>().empty(), library != std::string("AMD SMI"))
        << finding;
  }
}

// The parts of a virtual chip are right, and its absent ones are no fault of it.
TEST(Doctor, FindsNothingBadOnVirtualChips) {
  for (const char* device : {"virtual:w9100", "virtual:mi210", "virtual:rx6800"}) {
    const auto finished = run({wirewatt(), "doctor", "--json", "--device", device});
    EXPECT_EQ(finished.exit_code, 0) << device << finished.err;
    const json report = finished.json();
    for (const json& finding : report["findings"]) {
      EXPECT_NE(finding["verdict"], "bad") << device << ' ' << finding;
    }
    EXPECT_EQ(named(report["findings"], "capability", "counters l2_memory_write")["verdict"],
              "good");
    const bool counts = std::string_view(device) != "virtual:rx6800";
    EXPECT_EQ(report["fields"].empty(), counts) << device << report["fields"];
  }
}

TEST(Doctor, TellsWhatAFakedMi210OffersAndWhatItWouldTakeToFixItsClocks) {
  const TemporaryFolder folder;
  const FakeAmdTree tree(folder.path() / "sys");
  const auto finished =
      run({wirewatt(), "doctor", "--no-step-test", "--json", "--device", "pci:0000:03:00.0"},
          {{"WIREWATT_SYSFS", (folder.path() / "sys").string()},
           {"WIREWATT_STATE_DIR", (folder.path() / "state").string()}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  EXPECT_THAT(report["sensor"].get<std::string>(), HasSubstr("MI210"));
  EXPECT_EQ(named(report["fields"], "name", "energy")["status"], "ok");
  EXPECT_EQ(named(report["fields"], "name", "power_instant")["status"], "missing");
  EXPECT_EQ(named(report["findings"], "capability", "throttling")["detail"],
            "clocks are held down by: power");
  EXPECT_EQ(named(report["findings"], "capability", "clock control")["verdict"], "good");
  EXPECT_GT(report["sampler"]["ticks"], 0);
  // The device is the same one by its place, as `top` and the library name it.
  const auto by_place =
      run({wirewatt(), "doctor", "--no-step-test", "--no-counters", "--json", "--device", "gpu:0"},
          {{"WIREWATT_SYSFS", (folder.path() / "sys").string()}});
  ASSERT_EQ(by_place.exit_code, 0) << by_place.err;
  EXPECT_EQ(by_place.json()["device"], report["device"]);
  // Looking changes nothing.
  EXPECT_EQ(tree.read(tree.device() / "power_dpm_force_performance_level"), "auto");
}

// The whole program over the files of a mount namespace, which the real ROCm SMI library reads as
// well; where that library aborts, its reason is given and nothing else changes.
TEST(Doctor, UsesTheDriversFilesWhetherTheRealRocmSmiWorksOrAborts) {
  for (const bool aborts : {false, true}) {
    const auto text = measure::testing::with_own_sysfs([aborts] {
      const FakeAmdTree tree("/sys");
      if (aborts) std::filesystem::remove_all("/sys/class/kfd/kfd/topology/nodes/1/io_links");
      return run({wirewatt(), "doctor", "--no-step-test", "--no-clock-control", "--json"}).out;
    });
    if (!text && text.error().code == ErrorCode::unsupported) GTEST_SKIP() << text.error().text();
    ASSERT_TRUE(text) << text.error().text();
    const json report = parse_json(*text);
    EXPECT_EQ(report["device"], "pci:0000:03:00.0");
    EXPECT_THAT(report["sensor"].get<std::string>(), HasSubstr("amdgpu files"));
    const json& smi = named(report["findings"], "capability", "sensor by ROCm SMI");
    EXPECT_EQ(smi["verdict"], "good") << smi;
    EXPECT_THAT(smi["detail"].get<std::string>(), HasSubstr(aborts ? "crashed" : "not needed"));
    EXPECT_EQ(named(report["fields"], "name", "energy")["status"], "ok");
  }
}

TEST(Doctor, LeavesClocksAloneWhenToldTo) {
  const TemporaryFolder folder;
  const FakeAmdTree tree(folder.path() / "sys");
  const auto finished = run({wirewatt(), "doctor", "--no-step-test", "--no-clock-control", "--json",
                             "--device", "pci:0000:03:00.0"},
                            {{"WIREWATT_SYSFS", (folder.path() / "sys").string()}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json& clocks = named(report["findings"], "capability", "clock control");
  EXPECT_EQ(clocks["verdict"], "unavailable");
  EXPECT_THAT(clocks["detail"].get<std::string>(), HasSubstr("--no-clock-control"));
}

TEST(Doctor, LooksAtAnNvidiaGpuThroughItsLibrary) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "config") << "mig 1\nenergy 3\nthrottle 64\nprocesses 1\nbusy 90\n";
  const auto finished =
      run({wirewatt(), "doctor", "--no-step-test", "--no-clock-control", "--json", "--device",
           "pci:0000:c1:00.0"},
          {{"LD_LIBRARY_PATH", stub_folder()}, {"WW_NVML_STUB", folder.path().string()}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  EXPECT_THAT(report["sensor"].get<std::string>(), HasSubstr("Stub 100"));
  EXPECT_EQ(named(report["findings"], "capability", "partition")["verdict"], "limited");
  EXPECT_EQ(named(report["findings"], "capability", "other load")["verdict"], "limited");
  EXPECT_THAT(named(report["findings"], "capability", "throttling")["detail"].get<std::string>(),
              HasSubstr("hardware thermal slowdown"));
  EXPECT_EQ(named(report["fields"], "name", "energy")["status"], "missing");
}

TEST(Doctor, WithoutAnyPowerToReadEndsWithTheReason) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "config") << "instant 4\naverage 4\nenergy 4\nusage 4\n";
  const auto finished =
      run({wirewatt(), "doctor", "--json", "--device", "pci:0000:c1:00.0"},
          {{"LD_LIBRARY_PATH", stub_folder()}, {"WW_NVML_STUB", folder.path().string()}});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  const json report = finished.json();
  EXPECT_THAT(report["no_sensor"].get<std::string>(), HasSubstr("Insufficient Permissions"));
}

TEST(Doctor, RefusesDevicesThatAreNotThere) {
  const auto sensor = run({wirewatt(), "doctor", "--device", "pci:0000:77:00.0"});
  EXPECT_EQ(sensor.exit_code, 3);
  EXPECT_THAT(sensor.err, HasSubstr("0000:77:00.0"));
  const auto device = run({wirewatt(), "doctor", "--device", "quantum"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.err, HasSubstr("quantum"));
}

TEST(Doctor, PrintsGainAndOffsetOfARecordingBesideAMeter) {
  if (!std::filesystem::exists(recordings() + "4090_TR")) {
    GTEST_SKIP() << "no recordings from real GPUs beside the checkout";
  }
  const auto finished =
      run({wirewatt(), "doctor", "--json", "--recording", recordings() + "4090_TR"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json& column = report["columns"].at(0);
  EXPECT_NEAR(column["gain"].get<double>(), 1.048, 0.01);
  EXPECT_NEAR(column["offset_w"].get<double>(), -21.5, 1.0);
  EXPECT_NEAR(column["period_s"].get<double>(), 0.09998, 0.0005);
  const auto text = run({wirewatt(), "doctor", "--recording", recordings() + "4090_TR"});
  EXPECT_THAT(text.out, HasSubstr("gain, offset"));
}

// A table of one's own: a sensor of 20 ms that shows 0.9 of the meter and 5 W.
TEST(Doctor, ReadsATableWithAMetersColumn) {
  const TemporaryFolder folder;
  std::ofstream table(folder.path() / "table.csv");
  table << "time_ms,power_w,meter_w,load\n";
  double shown = 0;
  const auto meter = [](int ms) {
    const bool on = ms / 373 % 2 == 1;
    return (on ? 180.0 : 70.0) + 0.01 * (ms * 7919 % 100);
  };
  for (int ms = 0; ms < 12'000; ms += 2) {
    if (ms % 20 == 0) {
      double sum = 0;
      for (int i = 0; i < 20; ++i) sum += meter(std::max(0, ms - 20 + i));
      shown = 0.9 * sum / 20 + 5;
    }
    table << ms << ',' << shown << ',' << meter(ms) << ',' << ms / 373 % 2 << '\n';
  }
  table.close();
  const auto finished =
      run({wirewatt(), "doctor", "--json", "--recording", (folder.path() / "table.csv").string()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json& column = report["columns"].at(0);
  EXPECT_NEAR(column["period_s"].get<double>(), 0.020, 0.0005) << column;
  EXPECT_NEAR(column["window_s"].get<double>(), 0.020, 0.003);
  EXPECT_NEAR(column["gain"].get<double>(), 0.9, 0.02);
  EXPECT_NEAR(column["offset_w"].get<double>(), 5, 2);
}

// A register that lags by 0.1 s in whole watts, refreshed faster than it is polled, beside the
// device's own counter and one that counts nothing.
TEST(Doctor, FindsTheLagOfARegisterThatIsRefreshedWithinAPoll) {
  const TemporaryFolder folder;
  std::ofstream table(folder.path() / "table.csv");
  table << "t_s,socket_power_w,energy_uj,dead_uj\n";
  double shown = 150, joules = 7;
  for (int ms = 0; ms < 4000; ++ms) {
    const double power = ms / 430 % 2 == 0 ? 150 : 400;
    joules += power * 1e-3;
    shown += (power - shown) / 100;
    if (ms % 4 == 0) {
      table << ms * 1e-3 << ',' << std::round(shown) << ',' << std::llround(joules * 1e6) << ",0\n";
    }
  }
  table.close();
  const auto finished =
      run({wirewatt(), "doctor", "--json", "--recording", (folder.path() / "table.csv").string()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json& column = report["columns"].at(0);
  EXPECT_TRUE(column["period_s"].is_null()) << column;
  EXPECT_NEAR(column["refreshed_within_s"].get<double>(), 0.004, 1e-6);
  EXPECT_EQ(column["compared_with"], "energy_uj");
  EXPECT_NEAR(column["lag_s"].get<double>(), 0.1, 0.01);
  EXPECT_LE(column["energy_j"]["low"].get<double>(), joules - 7);
  EXPECT_GE(column["energy_j"]["high"].get<double>(), joules - 7);
  EXPECT_NEAR(report["counters"].at(0)["energy_j"]["value"].get<double>(), joules - 7, 2);
  EXPECT_EQ(report["counters"].at(1)["verdict"], "bad");
  EXPECT_THAT(report["counters"].at(1)["reason"].get<std::string>(), HasSubstr("reads 0"));
  const auto text =
      run({wirewatt(), "doctor", "--recording", (folder.path() / "table.csv").string()});
  EXPECT_THAT(text.out, HasSubstr("at least once a poll"));
}

// A register of mW under a name of W, and a meter upstream that has a file of its own.
TEST(Doctor, FindsTheUnitAndTheGainBesideAMetersOwnFile) {
  const TemporaryFolder folder;
  const std::string card = (folder.path() / "card.csv").string();
  const std::string node = (folder.path() / "node.csv").string();
  {
    std::ofstream readings(card), meter(node);
    readings << "t_s,power_w,energy_j\n";
    meter << "t_s,node_energy_j,card_energy_j\n";
    double shown = 150, joules = 0, drawn = 0;
    for (int ms = 0; ms < 40'000; ++ms) {
      const double power = ms / 1730 % 2 == 0 ? 150 : 400;
      joules += power * 1e-3;
      drawn += (1.03 * power + 9) * 1e-3;
      shown += (power - shown) / 100;
      if (ms % 4 == 0) readings << 500 + ms * 1e-3 << ',' << shown * 1e3 << ',' << joules << '\n';
      if (ms % 100 == 0) meter << 500 + ms * 1e-3 << ',' << 3 * drawn << ',' << drawn << '\n';
    }
  }
  const auto open = run({wirewatt(), "doctor", "--recording", card, "--meter", node});
  EXPECT_NE(open.exit_code, 0);
  EXPECT_THAT(open.err, HasSubstr("name one, as in " + node + ":node_energy_j"));
  const auto finished = run(
      {wirewatt(), "doctor", "--json", "--recording", card, "--meter", node + ":card_energy_j"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json& column = report["columns"].at(0);
  EXPECT_EQ(column["compared_with"], "energy_j") << "the meter is read every 100 ms";
  EXPECT_NEAR(column["lag_s"].get<double>(), 0.1, 0.005) << column;
  EXPECT_THAT(column["unit"].get<std::string>(), HasSubstr("taken in mW, not in W"));
  const json& counter = report["counters"].at(0);
  EXPECT_NEAR(counter["meter_slope"].get<double>(), 1.03, 0.005);
  EXPECT_NEAR(counter["meter_offset_w"].get<double>(), 9, 1.5);
  EXPECT_NEAR(counter["meter_over_counter"].get<double>(), 1.03 + 9 / 272.0, 0.005);
}

TEST(Doctor, RefusesARecordingThatIsNone) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "x.csv") << "a,b\n1,2\n";
  const auto finished =
      run({wirewatt(), "doctor", "--recording", (folder.path() / "x.csv").string()});
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_THAT(finished.err, HasSubstr("time_s"));
  EXPECT_NE(run({wirewatt(), "doctor", "--recording", "/nonexistent"}).exit_code, 0);
}

}  // namespace
}  // namespace ww::e2e
