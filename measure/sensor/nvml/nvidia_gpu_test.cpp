// NVML sensors on a library made for these tests (testing/nvml_stub.cpp). Each test works in a
// process of its own: the library reads its settings once.
#include "ww/measure/nvidia_gpu.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "ww/measure/child.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class Nvml : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "state");
    fs::permissions(folder_ / "state", fs::perms::owner_all);
    setenv("WIREWATT_STATE_DIR", (folder_ / "state").c_str(), 1);
    setenv("WW_NVML_STUB", folder_.c_str(), 1);
  }

  // Returns as JSON what `body` finds while the stub has these settings.
  json with(const std::string& settings, const std::function<json()>& body) {
    std::ofstream(folder_ / "config") << settings;
    const auto text = run_in_child([&body] { return body().dump(); }, std::chrono::seconds(60));
    if (!text) return {{"error", text.error().text()}};
    return json::parse(*text, nullptr, false);
  }
  [[nodiscard]] std::string calls() const {
    std::ifstream file(folder_ / "calls");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  ScratchFolder scratch_ = ScratchFolder::create("nvml").value();
  const fs::path& folder_ = scratch_.path();
};

const PciAddress stub_pci{0, 0xc1, 0, 0};

// Locking clocks is for root. This process, if it has one thread, becomes root in a user namespace
// of its own where another user runs the tests.
bool become_root() {
  if (geteuid() == 0) return true;
  const auto user = std::to_string(geteuid());
  const auto group = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
  std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
  return geteuid() == 0;
}

bool may_become_root() {
  const pid_t child = fork();
  if (child == 0) _exit(become_root() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

json states(const PowerSource& source) {
  json all;
  for (const FieldState& field : source.fields()) all[field.name] = to_string(field.status);
  return all;
}

TEST_F(Nvml, DoesNotTakeAnErrorForNoOtherProcesses) {
  const json found = with("processes_listed 3\nutilization 3\n", []() -> json {
    const auto gpus = list_nvidia_gpus();
    if (!gpus) return {{"error", gpus.error().text()}};
    return {{"processes", gpus->at(0).processes.has_value()},
            {"busy", gpus->at(0).busy_percent.has_value()}};
  });
  EXPECT_EQ(found["processes"], false) << found;
  EXPECT_EQ(found["busy"], false);
}

TEST_F(Nvml, ListsTheGpuWithItsModes) {
  const json found = with("mig 1\nprocesses 2\nbusy 37\n", []() -> json {
    const auto gpus = list_nvidia_gpus();
    if (!gpus) return {{"error", gpus.error().text()}};
    const NvidiaGpu& gpu = gpus->at(0);
    return {{"pci", to_string(gpu.pci)},
            {"name", gpu.name},
            {"driver", gpu.driver},
            {"mig", gpu.mig.value()},
            {"ecc", gpu.ecc.value()},
            {"busy", gpu.busy_percent.value()},
            {"processes", gpu.processes.value()}};
  });
  EXPECT_EQ(found["pci"], "0000:c1:00.0") << found;
  EXPECT_EQ(found["name"], "NVIDIA Stub 100");
  EXPECT_EQ(found["driver"], "535.54.03");
  EXPECT_EQ(found["mig"], true);
  EXPECT_EQ(found["ecc"], true);
  EXPECT_EQ(found["busy"], 37);
  EXPECT_EQ(found["processes"].size(), 2u);
}

TEST_F(Nvml, GivesInstantPowerWithTheAverageBesideIt) {
  const json found = with("noise_w 0\nidle_w 61.5\n", []() -> json {
    const auto source = open_nvml(stub_pci);
    if (!source) return {{"error", source.error().text()}};
    RawReading reading;
    (*source)->read_fast(reading);
    (*source)->read_slow(reading);
    return {{"power", reading.power_uw.value()},
            {"second", reading.second_power_uw.value()},
            {"energy", reading.energy_ticks.value()},
            {"edge", reading.edge_mc.value()},
            {"clock", reading.clock_khz.value()},
            {"throttle", (*source)->throttle_text(reading.throttle.value())},
            {"states", states(**source)},
            {"name", (*source)->power_name()}};
  });
  EXPECT_EQ(found["power"], 61'500'000) << found;
  EXPECT_EQ(found["second"], 61'500'000);
  EXPECT_GT(found["energy"], 6000 * 65536);
  EXPECT_EQ(found["edge"], 47'000);
  EXPECT_EQ(found["clock"], 1'755'000);
  EXPECT_EQ(found["throttle"], "");  // idle is no throttling
  EXPECT_THAT(found["name"].get<std::string>(), HasSubstr("186"));
  EXPECT_EQ(found["states"]["voltage"], "missing");
  EXPECT_EQ(found["states"]["temperature_memory"], "missing");
  EXPECT_EQ(found["states"]["energy"], "ok");
}

// Reports what the sensor covers, and whether its energy counter is used.
json scope_of_sensor() {
  const auto source = open_nvml(stub_pci);
  if (!source) return {{"error", source.error().text()}};
  RawReading reading;
  (*source)->read_fast(reading);
  return {{"besides", measured_besides((*source)->fields())},
          {"power", reading.power_uw.value_or(-1)},
          {"counts", reading.energy_ticks.has_value()},
          {"states", states(**source)}};
}

TEST_F(Nvml, SaysThatTheSensorSeesAllInstances) {
  EXPECT_EQ(with("mig 0\n", scope_of_sensor)["besides"], "");
  const json found = with("mig 1\n", scope_of_sensor);
  EXPECT_THAT(found["besides"].get<std::string>(), HasSubstr("whole GPU, with all its MIG"));
  EXPECT_EQ(found["counts"], true);
}

// A Grace Hopper's fields of power leave the processor out; its counter does not.
TEST_F(Nvml, MeasuresTheGpuOfAModuleByItsOwnPower) {
  for (const char* settings : {"noise_w 0\nmodule_w 90\n", "noise_w 0\ngrace 1\n"}) {
    const json found = with(settings, scope_of_sensor);
    EXPECT_EQ(found["power"], 60'000'000) << found;
    EXPECT_EQ(found["counts"], false) << found;
    EXPECT_EQ(found["states"]["energy"], "missing") << found;
    EXPECT_EQ(found["besides"], "") << found;
  }
  // On cards without a processor both scopes show one power.
  EXPECT_EQ(with("noise_w 0\nmodule_w 1\n", scope_of_sensor)["counts"], true);
  const json old = with("instant 3\naverage 3\ngrace 1\n", scope_of_sensor);
  EXPECT_THAT(old["besides"].get<std::string>(), HasSubstr("whole module")) << old;
  EXPECT_EQ(old["counts"], true) << old;
}

TEST_F(Nvml, TakesWhatAnOldCardHas) {
  const json found = with("instant 3\naverage 3\nenergy 3\n", []() -> json {
    const auto source = open_nvml(stub_pci);
    if (!source) return {{"error", source.error().text()}};
    RawReading reading;
    (*source)->read_fast(reading);
    return {{"power", reading.power_uw.has_value()},
            {"energy", reading.energy_ticks.has_value()},
            {"states", states(**source)},
            {"name", (*source)->power_name()}};
  });
  EXPECT_EQ(found["power"], true) << found;
  EXPECT_EQ(found["energy"], false);
  EXPECT_EQ(found["name"], "NVML power usage");
  EXPECT_EQ(found["states"]["power_instant"], "missing");
  EXPECT_EQ(found["states"]["energy"], "missing");
}

TEST_F(Nvml, AsksForTheTemperatureByTheNewerFunctionWhereTheOldOneFails) {
  const auto edge_of = [this](const std::string& config) {
    return with(config, []() -> json {
      const auto source = open_nvml(stub_pci);
      if (!source) return {{"error", source.error().text()}};
      RawReading reading;
      (*source)->read_slow(reading);
      return {{"edge", reading.edge_mc ? json(*reading.edge_mc) : json()},
              {"states", states(**source)}};
    });
  };
  EXPECT_EQ(edge_of("temperature_v 0\n")["edge"], 47'000);
  EXPECT_EQ(edge_of("temperature 13\ntemperature_v 0\n")["edge"], 48'000);
  const json neither = edge_of("temperature 3\n");
  EXPECT_TRUE(neither["edge"].is_null()) << neither;
  EXPECT_EQ(neither["states"]["temperature_edge"], "missing") << neither;
}

TEST_F(Nvml, TakesNoSuccessThatHoldsZeroForAReading) {
  const json found =
      with("memory_temperature 0\nmemory_celsius 0\ncelsius 0\nfrozen_energy -1\n", []() -> json {
        const auto source = open_nvml(stub_pci);
        if (!source) return {{"error", source.error().text()}};
        RawReading reading;
        (*source)->read_fast(reading);
        (*source)->read_slow(reading);
        return {{"states", states(**source)},
                {"memory", reading.memory_mc.has_value()},
                {"edge", reading.edge_mc.has_value()},
                {"energy", reading.energy_ticks.has_value()}};
      });
  for (const char* field : {"temperature_memory", "temperature_edge", "energy"}) {
    EXPECT_EQ(found["states"][field], "missing") << found;
  }
  EXPECT_EQ(found["states"]["clock"], "ok") << found;
  for (const char* field : {"memory", "edge", "energy"}) EXPECT_EQ(found[field], false) << found;
}

TEST_F(Nvml, SaysWhichFieldsAreDenied) {
  const json found = with("instant 4\naverage 0\nenergy 4\n", []() -> json {
    const auto source = open_nvml(stub_pci);
    if (!source) return {{"error", source.error().text()}};
    return {{"states", states(**source)}, {"name", (*source)->power_name()}};
  });
  EXPECT_EQ(found["states"]["power_instant"], "denied") << found;
  EXPECT_EQ(found["states"]["energy"], "denied");
  EXPECT_THAT(found["name"].get<std::string>(), HasSubstr("185"));
}

TEST_F(Nvml, WithoutAnyPowerIsRefusedWithTheReason) {
  const json found = with("instant 4\naverage 4\nenergy 4\nusage 4\n", []() -> json {
    const auto source = open_nvml(stub_pci);
    if (source) return {{"opened", true}};
    return {{"code", to_string(source.error().code)}, {"message", source.error().message}};
  });
  EXPECT_EQ(found["code"], "permission_denied") << found;
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("Insufficient Permissions"));
}

TEST_F(Nvml, ThatDoesNotStartSaysWhatToLookAt) {
  const json found = with("init 9\n", []() -> json {
    return {{"message", list_nvidia_gpus().error().message}};
  });
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("Driver Not Loaded"));
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("nvidia-smi"));
}

TEST(NvmlThrottle, NamesTheReasons) {
  EXPECT_EQ(nvml_throttle_text(0x1), "");
  EXPECT_EQ(nvml_throttle_text(0x44), "software power cap, hardware thermal slowdown");
}

TEST_F(Nvml, LocksFiveClocksAtMostAndResetsThem) {
  if (!may_become_root()) GTEST_SKIP() << "neither root nor allowed a user namespace";
  const json found = with("", []() -> json {
    become_root();
    auto guardian = ClockGuardian::start();
    if (!guardian) return {{"error", guardian.error().text()}};
    auto clocks = open_nvml_clock_control(stub_pci, std::move(*guardian));
    if (!clocks) return {{"error", clocks.error().text()}};
    json all{{"count", (*clocks)->states().size()},
             {"lowest", (*clocks)->states().front().clock_hz},
             {"highest", (*clocks)->states().back().clock_hz}};
    all["selected"] = (*clocks)->select(4).has_value();
    return all;
  });
  EXPECT_EQ(found["count"], 5) << found;
  EXPECT_EQ(found["highest"], 1.98e9);
  EXPECT_GE(found["lowest"], 1.18e9);
  EXPECT_EQ(found["selected"], true);
  EXPECT_EQ(calls(), "lock 1980 1980\nreset\n");
}

TEST_F(Nvml, ResetsLockedClocksWhenTheProcessIsKilled) {
  if (!may_become_root()) GTEST_SKIP() << "neither root nor allowed a user namespace";
  const auto ready = folder_ / "ready";
  const pid_t child = fork();
  if (child == 0) {
    become_root();
    auto guardian = ClockGuardian::start();
    if (!guardian) _exit(2);
    auto clocks = open_nvml_clock_control(stub_pci, std::move(*guardian));
    if (!clocks || !(*clocks)->select(0)) _exit(3);
    std::ofstream(ready) << "ready";
    while (true) pause();
  }
  const auto becomes = [](const std::function<bool()>& condition) {
    for (int i = 0; i < 500 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  };
  ASSERT_TRUE(becomes([&] { return fs::exists(ready); }));
  EXPECT_THAT(calls(), HasSubstr("lock"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(becomes([&] { return calls().ends_with("reset\n"); })) << calls();
}

TEST_F(Nvml, LeavesClocksAloneThatItMayNotLock) {
  if (!may_become_root()) GTEST_SKIP() << "neither root nor allowed a user namespace";
  const json found = with("lock 4\n", []() -> json {
    become_root();
    auto guardian = ClockGuardian::start();
    auto clocks = open_nvml_clock_control(stub_pci, std::move(*guardian));
    const auto done = (*clocks)->select(0);
    return {{"code", done ? "" : to_string(done.error().code)},
            {"message", done ? "" : done.error().message}};
  });
  EXPECT_EQ(found["code"], "permission_denied") << found;
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("--no-clock-control"));
  EXPECT_EQ(calls(), "");
}

TEST_F(Nvml, IsTriedInAChildAndOpenedHere) {
  const json found = with("noise_w 0\n", []() -> json {
    TelemetryOptions options;
    options.sysfs = "/nonexistent";
    options.clock_control = false;
    const auto telemetry = find_telemetry(options);
    if (telemetry.gpus.size() != 1) return {{"error", telemetry.no_nvidia}};
    const auto sensor = open_sensor(telemetry.gpus[0], options);
    if (!sensor) return {{"error", sensor.error().text()}};
    (*sensor)->sleep_until((*sensor)->now_ns() + 100'000'000);
    const auto samples = (*sensor)->new_samples();
    return {{"name", telemetry.gpus[0].name},
            {"samples", samples.size()},
            {"power", samples.at(0).reading.power_uw.value()},
            {"no_amd", telemetry.no_amd}};
  });
  EXPECT_EQ(found["name"], "NVIDIA Stub 100") << found;
  EXPECT_GT(found["samples"], 10);
  EXPECT_EQ(found["power"], 60'000'000);
  EXPECT_THAT(found["no_amd"].get<std::string>(), HasSubstr("no amdgpu card"));
}

}  // namespace
}  // namespace ww::measure
