// The selftest leaves a file that can be read, whatever happens: no driver, one that crashes, hangs
// or ends the process, Ctrl-C, a kill, a folder that cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "process.hpp"
#include "testing/fake_cards.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SelftestFaults : public ::testing::Test {
 protected:
  SelftestFaults() { fs::create_directories(folder_.path() / "sys/class/drm"); }
  [[nodiscard]] std::string file() const { return (folder_.path() / "test.wwst").string(); }
  // An RX 7900 XTX at 03:00.0, with a stub of HIP or none.
  void add_card() const {
    const FakeCards cards(folder_.path() / "sys");
    const auto device = cards.add(0, "0000:03:00.0", "0x744c");
    FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("15000000\n"));
    FakeCards::write(device / "unique_id", std::string("0123456789abcdef\n"));
    FakeCards::write(device / "vbios_version", std::string("113-D7020100-102\n"));
    FakeCards::write(cards.sysfs() / "class/kfd/kfd/topology/nodes/1/properties",
                     std::string("simd_count 192\nunique_id 81985529216486895\n"));
  }
  [[nodiscard]] Environment environment(bool hip, const std::string& fault = "") const {
    const fs::path libraries = folder_.path() / "lib";
    fs::create_directories(libraries);
    fs::create_directories(folder_.path() / "vendors");
    for (const char* name : {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"}) {
      fs::remove(libraries / name);
      if (!hip) std::ofstream(libraries / name) << "no library";
    }
    if (hip) {
      fs::create_symlink(build_folder() / "lib/stubs/libamdhip64.so.6",
                         libraries / "libamdhip64.so.6");
    }
    Environment all{{"LD_LIBRARY_PATH", libraries.string()},
                    {"OCL_ICD_VENDORS", (folder_.path() / "vendors").string()},
                    {"WIREWATT_SYSFS", (folder_.path() / "sys").string()},
                    {"WW_STUB_HIP_CARDS", "0000:03:00.0 gfx1100 AMD Radeon RX 7900 XTX\n"},
                    {"XDG_CACHE_HOME", (folder_.path() / "cache").string()},
                    {"WIREWATT_STATE_DIR", (folder_.path() / "state").string()}};
    if (!fault.empty()) all.emplace_back("WW_STUB_HIP_FAULT", fault);
    return all;
  }
  // All that the file has, which is also judged.
  static json content(const std::string& file) {
    const auto replayed = run({wirewatt(), "selftest", "--replay", file, "--json"});
    EXPECT_THAT(replayed.exit_code, AnyOf(0, 1)) << replayed.err;
    const auto shown = run({wirewatt(), "selftest", "--show", file});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    return shown.json();
  }
  static json part(const json& all, const std::string& name) {
    for (const json& one : all.at("parts")) {
      if (one.at("name") == name) return one;
    }
    ADD_FAILURE() << name << " is no part";
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(SelftestFaults, WithoutHipLeaveWhatTheKernelAndTheSensorSay) {
  add_card();
  const auto made = run({wirewatt(), "selftest", "-o", file()}, environment(false));
  EXPECT_EQ(made.exit_code, 0) << made.err << made.out;
  EXPECT_THAT(made.out, HasSubstr("Please attach it to"));
  const json all = content(file());
  EXPECT_EQ(all["device"], "pci:0000:03:00.0");
  EXPECT_EQ(part(all, "latencies")["state"], "left out");
  EXPECT_EQ(part(all, "step test")["state"], "done");
  EXPECT_GT(all["idle"]["rows"].get<int>(), 10);
  EXPECT_THAT(all.dump(), HasSubstr("113-D7020100-102"));
  // Nothing names this one card.
  EXPECT_THAT(all.dump(), Not(HasSubstr("0123456789abcdef")));
  EXPECT_THAT(all.dump(), Not(HasSubstr("81985529216486895")));
}

TEST_F(SelftestFaults, OfADriverThatFailsAreInTheFileBesideWhatWorked) {
  add_card();
  struct Fault {
    const char* what;
    const char* said;
  };
  for (const auto& [what, said] : {Fault{"crash", "crashed"}, Fault{"exit", "exit code 7"},
                                   Fault{"hang", "did not answer within 2 s"}}) {
    SCOPED_TRACE(what);
    fs::remove(file());  // no output replaces a selftest's file
    const auto made = run({wirewatt(), "selftest", "-o", file(), "--limit", "2", "--json"},
                          environment(true, what));
    EXPECT_EQ(made.exit_code, 1) << made.err << made.out;
    const json all = content(file());
    EXPECT_EQ(all["device"], "hip:0");
    EXPECT_EQ(all["name"], "AMD Radeon RX 7900 XTX");
    EXPECT_EQ(part(all, "device")["state"], "done");
    EXPECT_EQ(part(all, "latencies")["state"], "failed");
    EXPECT_THAT(part(all, "latencies")["reason"].get<std::string>(), HasSubstr(said));
    EXPECT_EQ(part(all, "counters")["name"], "counters");
  }
}

// Libraries that crash or hang where they are loaded: HIP's, an OpenCL driver, NVML.
TEST_F(SelftestFaults, OfALibraryThatFailsWhereItIsLoadedLeaveTheRest) {
  add_card();
  const fs::path bad = build_folder() / "lib/stubs/libfault_at_load.so";
  for (const std::string name : {"libamdhip64.so.6", "an OpenCL driver", "libnvidia-ml.so.1"}) {
    for (const char* fault : {"crash", "hang"}) {
      SCOPED_TRACE(name + ", " + fault);
      auto all = environment(false);
      const fs::path vendor = folder_.path() / "vendors/bad.icd";
      const fs::path library = folder_.path() / "lib" / name;
      fs::remove(file());
      fs::remove(library);
      fs::remove(vendor);
      if (name.starts_with("lib")) {
        fs::create_symlink(bad, library);
      } else {
        std::ofstream(vendor) << bad.string() << "\n";
      }
      all.emplace_back("WW_FAULT_AT_LOAD", fault);
      all.emplace_back("WIREWATT_DRIVER_DEADLINE_S", "2");
      const auto made = run({wirewatt(), "selftest", "-o", file(), "--limit", "2", "--json"}, all);
      EXPECT_THAT(made.exit_code, AnyOf(0, 1)) << made.err;
      const json found = content(file());
      ASSERT_TRUE(found.is_object()) << made.err;
      EXPECT_EQ(found["device"], "pci:0000:03:00.0") << made.err;
      // A library that hangs costs the part that loads it, whose reason says so.
      EXPECT_THAT(part(found, "device")["state"].get<std::string>(), AnyOf("done", "failed"));
      fs::remove(library);
    }
  }
}

// No card and no driver: the file says what the machine has, and of the virtual GPU that it is one.
TEST_F(SelftestFaults, WithoutADeviceLeaveAFileOfTheVirtualOne) {
  const auto made = run({wirewatt(), "selftest", "-o", file(), "--limit", "2"}, environment(false));
  EXPECT_THAT(made.exit_code, AnyOf(0, 1)) << made.err;
  const json all = content(file());
  EXPECT_EQ(all["device"], "virtual:w9100");
  EXPECT_EQ(all["virtual"], true);
  EXPECT_THAT(made.out, Not(HasSubstr("Please attach")));
}

TEST_F(SelftestFaults, OfAHomeThatCannotBeWrittenLeaveTheFile) {
  add_card();
  auto all = environment(true, "exit");
  for (const char* name : {"HOME", "XDG_CACHE_HOME", "WIREWATT_STATE_DIR"}) {
    all.emplace_back(name, "/proc/nowhere");
  }
  const auto made = run({wirewatt(), "selftest", "-o", file(), "--limit", "2", "--json"}, all);
  EXPECT_THAT(made.exit_code, AnyOf(0, 1)) << made.err;
  EXPECT_EQ(content(file())["device"], "hip:0");
}

// Other commands have no child to kill: a call that does not come back ends them, and says so.
TEST_F(SelftestFaults, OfADriverThatHangsEndEveryCommandAtADeadline) {
  add_card();
  auto hanging = environment(true, "hang");
  hanging.emplace_back("WIREWATT_DRIVER_DEADLINE_S", "2");
  const auto begun = std::chrono::steady_clock::now();
  const auto looked = run({wirewatt(), "topology", "--device", "hip:0", "--fresh"}, hanging);
  EXPECT_EQ(looked.exit_code, 3) << looked.err;
  EXPECT_THAT(looked.err, HasSubstr("has not come back from a call within 2 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST_F(SelftestFaults, AsCtrlCLeaveTheFileAndEndWith130) {
  add_card();
  const auto begun = std::chrono::steady_clock::now();
  const auto made =
      run({"timeout", "-s", "INT", "--preserve-status", "3", wirewatt(), "selftest", "-o", file()},
          environment(true, "hang"));
  EXPECT_EQ(made.exit_code, 130) << made.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  const json all = content(file());
  EXPECT_EQ(part(all, "latencies")["state"], "stopped");
  EXPECT_EQ(part(all, "counters")["state"], "stopped");
}

// A batch system ends a job by this signal.
TEST_F(SelftestFaults, AsATerminationLeaveTheFile) {
  add_card();
  const auto made =
      run({"timeout", "-s", "TERM", "--preserve-status", "3", wirewatt(), "selftest", "-o", file()},
          environment(true, "hang"));
  EXPECT_EQ(made.exit_code, 143) << made.err;
  EXPECT_EQ(part(content(file()), "latencies")["state"], "stopped");
}

TEST_F(SelftestFaults, AsAKillAtAnyMomentLeaveTheFileOfTheLastPart) {
  for (const char* seconds : {"0", "0.1", "0.3", "0.6", "0.9", "1.2", "1.6", "2", "3", "4"}) {
    SCOPED_TRACE(seconds);
    fs::remove(file());
    // From when the file is there; the children of its parts are killed as well.
    const std::string killed = "setsid '" + wirewatt() + "' selftest --device virtual:w9100 -o '" +
                               file() + "' & while [ ! -s '" + file() +
                               "' ]; do sleep 0.02; done; sleep " + seconds +
                               "; kill -9 -- -$!; wait $!";
    const auto made = run({"bash", "-c", killed}, environment(false));
    EXPECT_EQ(made.exit_code, 137) << made.err;
    const json all = content(file());
    ASSERT_TRUE(all.is_object()) << made.err;
    EXPECT_EQ(all["parts"].size(), 10u);
  }
}

TEST_F(SelftestFaults, OfAFolderThatCannotBeWrittenSendTheFileElsewhere) {
  add_card();
  auto all = environment(true, "crash");
  all.emplace_back("TMPDIR", folder_.path().string());
  const auto made = run({wirewatt(), "selftest", "-o", "/proc/test.wwst", "--limit", "1"}, all);
  EXPECT_THAT(made.err, HasSubstr("the file is " + file() + " instead"));
  EXPECT_TRUE(content(file()).is_object());
}

TEST_F(SelftestFaults, WithoutAnArgumentTheFileIsNamedByTheTime) {
  add_card();
  const auto made =
      run({"sh", "-c",
           "cd '" + folder_.path().string() + "' && '" + wirewatt() + "' selftest --limit 1"},
          environment(true, "exit"));
  EXPECT_EQ(made.exit_code, 1) << made.err;
  std::string found;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("wirewatt-selftest-") && name.ends_with(".wwst")) found = entry.path();
  }
  ASSERT_FALSE(found.empty()) << made.out;
  EXPECT_TRUE(content(found).is_object());
}

}  // namespace
}  // namespace ww::e2e
