// AMD sensors on trees of files, and the real ROCm SMI library on the same in a mount namespace.
#include "ww/measure/amd_gpu.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "testing/fake_amd_tree.hpp"
#include "ww/measure/gpu_metrics.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::FakeAmdTree;
using ::testing::HasSubstr;

class AmdFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "state");
    fs::permissions(folder_ / "state", fs::perms::owner_all);
    setenv("WIREWATT_STATE_DIR", (folder_ / "state").c_str(), 1);
  }
  [[nodiscard]] std::string sysfs() const { return folder_ / "sys"; }
  ScratchFolder scratch_ = ScratchFolder::create("amd").value();
  const fs::path& folder_ = scratch_.path();
};

const SensorBackend& backend(const TelemetryGpu& gpu, const std::string& name) {
  const auto found = std::ranges::find(gpu.backends, name, &SensorBackend::name);
  if (found == gpu.backends.end()) throw std::out_of_range(name);
  return *found;
}

TEST(AmdThrottle, NamesTheKindOfLimit) {
  EXPECT_EQ(amd_throttle_text(0), "");
  EXPECT_EQ(amd_throttle_text(1), "power");
  EXPECT_EQ(amd_throttle_text(1ULL << 36 | 1ULL << 17), "current, temperature");
}

TEST_F(AmdFiles, AreFoundWithTheirAddressAndName) {
  const FakeAmdTree tree(sysfs());
  const auto gpus = list_amd_gpus(sysfs());
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(to_string(gpus[0].pci), "0000:03:00.0");
  EXPECT_EQ(gpus[0].name, "AMD Instinct MI210");
  EXPECT_EQ(gpus[0].render, "renderD128");
  EXPECT_TRUE(list_amd_gpus(folder_ / "nowhere").empty());
}

TEST_F(AmdFiles, GiveEveryFieldAndFollowItsChanges) {
  const FakeAmdTree tree(sysfs());
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source) << source.error().text();
  RawReading reading;
  (*source)->read_fast(reading);
  (*source)->read_slow(reading);
  EXPECT_EQ(reading.power_uw, 100'000'000);
  EXPECT_EQ(reading.energy_ticks, 1'000'000);
  // The values are from the table, which each reading of the energy needs, and not from files.
  EXPECT_EQ(reading.edge_mc, 46'000);
  EXPECT_EQ(reading.junction_mc, 51'000);
  EXPECT_EQ(reading.memory_mc, 44'000);
  EXPECT_EQ(reading.voltage_uv, 881'000);
  EXPECT_EQ(reading.clock_khz, 1'000'000);
  ASSERT_TRUE(reading.throttle);
  EXPECT_EQ((*source)->throttle_text(*reading.throttle), "power");
  EXPECT_EQ((*source)->power_name(), "power1_average");
  tree.set_power(123'456'789);
  tree.set_energy(2'000'000);
  RawReading next;
  (*source)->read_fast(next);
  EXPECT_EQ(next.power_uw, 123'456'789);
  EXPECT_EQ(next.energy_ticks, 2'000'000);
  EXPECT_EQ(next.edge_mc, 46'000);
  EXPECT_FALSE(next.voltage_uv);
}

TEST_F(AmdFiles, WithoutATableGiveTemperaturesOfFiles) {
  const FakeAmdTree tree(sysfs(), {.with_metrics = false});
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source) << source.error().text();
  RawReading reading;
  (*source)->read_fast(reading);
  EXPECT_FALSE(reading.edge_mc);
  (*source)->read_slow(reading);
  EXPECT_EQ(reading.edge_mc, 41'000);
  EXPECT_EQ(reading.junction_mc, 46'000);
}

// A sensor that is not there reads 0 on some cards: with another file beside it that one is used.
TEST_F(AmdFiles, ThatReadZeroAreNoReadings) {
  const FakeAmdTree tree(sysfs(), {.with_metrics = false});
  tree.write(tree.hwmon() / "power1_input", "0");
  tree.write(tree.hwmon() / "temp1_input", "0");
  tree.write(tree.hwmon() / "in0_input", "0");
  const auto gpus = list_amd_gpus(sysfs());
  const auto source = open_amd_sysfs(gpus.at(0));
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ((*source)->power_name(), "power1_average");
  EXPECT_EQ((*source)->second_power_name(), "");
  RawReading reading;
  (*source)->read_slow(reading);
  EXPECT_FALSE(reading.edge_mc);
  EXPECT_FALSE(reading.voltage_uv);
  auto opened = open_amd_sysfs(gpus.at(0));
  const auto sensor = PolledSensor::start(std::move(*opened), nullptr, "").value();
  const auto fields = sensor->fields();
  for (const char* name : {"temperature_edge", "voltage"}) {
    const auto field = std::ranges::find(fields, name, &FieldState::name);
    ASSERT_NE(field, fields.end()) << name;
    EXPECT_EQ(field->status, FieldStatus::missing) << name;
    EXPECT_THAT(field->reason, HasSubstr("answers 0")) << name;
  }
}

TEST_F(AmdFiles, PreferInstantPowerAndKeepTheAverageBesideIt) {
  const FakeAmdTree tree(sysfs());
  tree.write(tree.hwmon() / "power1_input", "150000000");
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source);
  RawReading reading;
  (*source)->read_fast(reading);
  EXPECT_EQ(reading.power_uw, 150'000'000);
  EXPECT_EQ(reading.second_power_uw, 100'000'000);
  EXPECT_EQ((*source)->second_power_name(), "power1_average");
}

TEST_F(AmdFiles, SayFieldByFieldWhatIsMissing) {
  const FakeAmdTree tree(sysfs(), {.with_metrics = false});
  fs::remove(tree.hwmon() / "temp2_input");
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source);
  const auto& fields = (*source)->fields();
  const auto state = [&fields](const std::string& name) {
    return std::ranges::find(fields, name, &FieldState::name)->status;
  };
  EXPECT_EQ(state("energy"), FieldStatus::missing);
  EXPECT_EQ(state("temperature_junction"), FieldStatus::missing);
  EXPECT_EQ(state("power_average"), FieldStatus::ok);
  RawReading reading;
  (*source)->read_slow(reading);
  EXPECT_FALSE(reading.junction_mc);
  EXPECT_EQ(reading.clock_khz, 1'000'000);  // the starred level
}

TEST_F(AmdFiles, WithAnUnknownMetricsLayoutStillGivePower) {
  const FakeAmdTree tree(sysfs());
  auto data = testing::gpu_metrics_v1(3, 1);
  data[3] = std::byte{33};
  std::ofstream(tree.device() / "gpu_metrics", std::ios::binary)
      .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source);
  const auto& fields = (*source)->fields();
  const auto metrics = std::ranges::find(fields, "gpu_metrics", &FieldState::name);
  EXPECT_EQ(metrics->status, FieldStatus::failed);
  EXPECT_THAT(metrics->reason, HasSubstr("v1.33"));
  RawReading reading;
  (*source)->read_fast(reading);
  EXPECT_EQ(reading.power_uw, 100'000'000);
  EXPECT_FALSE(reading.energy_ticks);
}

TEST_F(AmdFiles, WithoutAnyPowerAreRefusedWithTheFilesNamed) {
  const FakeAmdTree tree(sysfs(), {.with_metrics = false});
  fs::remove(tree.hwmon() / "power1_average");
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, HasSubstr("power1_average"));
}

TEST_F(AmdFiles, AreDeniedToAUserWhoMayNotReadThem) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const FakeAmdTree tree(sysfs(), {.with_metrics = false});
  fs::permissions(tree.hwmon() / "power1_average", fs::perms::owner_read);
  fs::permissions(folder_, fs::perms::all);
  const auto gpu = list_amd_gpus(sysfs()).at(0);
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(2);
    const auto source = open_amd_sysfs(gpu);
    _exit(!source && source.error().code == ErrorCode::permission_denied ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(AmdFiles, FixClocksAndGiveThemBack) {
  const FakeAmdTree tree(sysfs());
  const auto level = tree.device() / "power_dpm_force_performance_level";
  const auto gpu = list_amd_gpus(sysfs()).at(0);
  {
    auto guardian = ClockGuardian::start();
    ASSERT_TRUE(guardian) << guardian.error().text();
    auto clocks = open_amd_clock_control(gpu, std::move(*guardian));
    ASSERT_TRUE(clocks) << clocks.error().text();
    ASSERT_EQ((*clocks)->states().size(), 3u);
    EXPECT_EQ((*clocks)->states()[2].clock_hz, 1.7e9);
    EXPECT_EQ((*clocks)->current(), -1);
    EXPECT_EQ(tree.read(level), "auto");
    ASSERT_TRUE((*clocks)->select(2));
    EXPECT_EQ(tree.read(level), "manual");
    EXPECT_EQ(tree.read(tree.device() / "pp_dpm_sclk"), "2");
    EXPECT_EQ((*clocks)->select(3).error().code, ErrorCode::out_of_range);
    EXPECT_FALSE(fs::is_empty(folder_ / "state"));
  }
  EXPECT_EQ(tree.read(level), "auto");
  EXPECT_TRUE(fs::is_empty(folder_ / "state"));
}

// MI200 to MI350 list the lowest clock, the present one and the highest; their drivers refuse a
// third level.
TEST_F(AmdFiles, FixClocksOfInstinctsAtTheirTwoLevels) {
  for (const char* id : {"0x740f", "0x74a1", "0x75a0"}) {
    fs::remove_all(sysfs());
    const FakeAmdTree tree(sysfs());
    tree.write(tree.device() / "device", id);
    const auto gpu = list_amd_gpus(sysfs()).at(0);
    auto guardian = ClockGuardian::start();
    ASSERT_TRUE(guardian) << guardian.error().text();
    auto clocks = open_amd_clock_control(gpu, std::move(*guardian));
    ASSERT_TRUE(clocks) << clocks.error().text();
    ASSERT_EQ((*clocks)->states().size(), 2u) << id;
    EXPECT_EQ((*clocks)->states()[0].clock_hz, 0.5e9);
    EXPECT_EQ((*clocks)->states()[1].clock_hz, 1.7e9);
    ASSERT_TRUE((*clocks)->select(1));
    EXPECT_EQ(tree.read(tree.device() / "pp_dpm_sclk"), "1");
  }
}

// RDNA lists the lowest clock, the present one and the highest: two states, not three.
TEST_F(AmdFiles, FixClocksOfRdnaByThePerformanceLevel) {
  const FakeAmdTree tree(sysfs());
  fs::create_directories(tree.device() / "ip_discovery/die/0/GC/0");
  const auto major = tree.device() / "ip_discovery/die/0/GC/0/major";
  tree.write(major, "10");
  tree.write(tree.device() / "pp_dpm_sclk", "0: 500Mhz\n1: 1210Mhz *\n2: 2575Mhz");
  const auto level = tree.device() / "power_dpm_force_performance_level";
  {
    auto guardian = ClockGuardian::start();
    ASSERT_TRUE(guardian) << guardian.error().text();
    auto clocks = open_amd_clock_control(list_amd_gpus(sysfs()).at(0), std::move(*guardian));
    ASSERT_TRUE(clocks) << clocks.error().text();
    ASSERT_EQ((*clocks)->states().size(), 2u);
    EXPECT_EQ((*clocks)->states()[0].clock_hz, 500e6);
    EXPECT_EQ((*clocks)->states()[1].clock_hz, 2575e6);
    ASSERT_TRUE((*clocks)->select(0));
    EXPECT_EQ(tree.read(level), "profile_min_sclk");
    EXPECT_FALSE(fs::is_empty(folder_ / "state"));
    ASSERT_TRUE((*clocks)->select(1));
    EXPECT_EQ(tree.read(level), "profile_peak");
    EXPECT_EQ(tree.read(tree.device() / "pp_dpm_sclk"), "0: 500Mhz");  // not written
    EXPECT_EQ((*clocks)->current(), 1);
  }
  EXPECT_EQ(tree.read(level), "auto");
  EXPECT_TRUE(fs::is_empty(folder_ / "state"));
  // An Instinct with such a table keeps its list.
  tree.write(major, "9");
  auto guardian = ClockGuardian::start();
  ASSERT_TRUE(guardian);
  const auto clocks = open_amd_clock_control(list_amd_gpus(sysfs()).at(0), std::move(*guardian));
  ASSERT_TRUE(clocks) << clocks.error().text();
  EXPECT_EQ((*clocks)->states().size(), 3u);
}

TEST_F(AmdFiles, AreNotTakenOverFromSomebodyWhoFixedClocksByHand) {
  const FakeAmdTree tree(sysfs());
  tree.write(tree.device() / "power_dpm_force_performance_level", "manual");
  auto guardian = ClockGuardian::start();
  ASSERT_TRUE(guardian);
  const auto clocks = open_amd_clock_control(list_amd_gpus(sysfs()).at(0), std::move(*guardian));
  ASSERT_FALSE(clocks);
  EXPECT_THAT(clocks.error().message, HasSubstr("auto"));
}

// Waits for what another process does within moments.
bool becomes(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A process that fixes clocks and waits to be killed; `ready` is written when they are.
pid_t clock_holder(const AmdGpu& gpu, const fs::path& ready, bool kill_guardian) {
  const pid_t child = fork();
  if (child != 0) return child;
  auto guardian = ClockGuardian::start();
  if (!guardian) _exit(2);
  auto clocks = open_amd_clock_control(gpu, std::move(*guardian));
  if (!clocks || !(*clocks)->select(0)) _exit(3);
  if (kill_guardian) {
    // The guardian is this process's only child.
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t process = 0;
    children >> process;
    if (process <= 0) _exit(4);
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  std::ofstream(ready) << "ready";
  while (true) pause();
}

// Resets clocks of an Instinct, and those of RDNA, which a performance level fixes.
TEST_F(AmdFiles, ComeBackWhenTheProcessIsKilled) {
  const FakeAmdTree tree(sysfs());
  fs::create_directories(tree.device() / "ip_discovery/die/0/GC/0");
  const auto level = tree.device() / "power_dpm_force_performance_level";
  for (const auto& [major, fixed] : {std::pair{"9", "manual"}, {"10", "profile_min_sclk"}}) {
    tree.write(tree.device() / "ip_discovery/die/0/GC/0/major", major);
    tree.write(tree.device() / "pp_dpm_sclk", "0: 500Mhz\n1: 1700Mhz *");
    const auto ready = folder_ / ("ready" + std::string(major));
    const pid_t child = clock_holder(list_amd_gpus(sysfs()).at(0), ready, false);
    ASSERT_TRUE(becomes([&] { return fs::exists(ready); }));
    EXPECT_EQ(tree.read(level), fixed);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(becomes([&] { return tree.read(level) == "auto"; })) << fixed;
    EXPECT_TRUE(becomes([&] { return fs::is_empty(folder_ / "state"); }));
  }
}

TEST_F(AmdFiles, ComeBackAtTheNextStartWhenTheGuardianIsKilledToo) {
  const FakeAmdTree tree(sysfs());
  const auto level = tree.device() / "power_dpm_force_performance_level";
  const auto ready = folder_ / "ready";
  const pid_t child = clock_holder(list_amd_gpus(sysfs()).at(0), ready, true);
  ASSERT_TRUE(becomes([&] { return fs::exists(ready); }));
  EXPECT_TRUE(restore_leftovers().empty());  // its owner still runs
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(tree.read(level), "manual");
  const auto lines = restore_leftovers();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("given back"));
  EXPECT_EQ(tree.read(level), "auto");
  EXPECT_TRUE(restore_leftovers().empty());
}

// A driver refuses every write while it resets the card.
TEST_F(AmdFiles, GiveClocksBackWhenTheDriverTakesThemAgain) {
  const FakeAmdTree tree(sysfs());
  const auto level = tree.device() / "power_dpm_force_performance_level";
  const auto aside = folder_ / "level";
  auto guardian = ClockGuardian::start();
  ASSERT_TRUE(guardian) << guardian.error().text();
  auto clocks = open_amd_clock_control(list_amd_gpus(sysfs()).at(0), std::move(*guardian));
  ASSERT_TRUE(clocks) << clocks.error().text();
  ASSERT_TRUE((*clocks)->select(0));
  fs::rename(level, aside);
  fs::create_directory(level);
  std::thread reset_ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    fs::remove(level);
    fs::rename(aside, level);
  });
  clocks->reset();
  reset_ends.join();
  EXPECT_EQ(tree.read(level), "auto");
  EXPECT_TRUE(fs::is_empty(folder_ / "state"));
}

TEST_F(AmdFiles, SayWhichClocksStayFixed) {
  const FakeAmdTree tree(sysfs());
  const auto level = tree.device() / "power_dpm_force_performance_level";
  auto guardian = ClockGuardian::start();
  ASSERT_TRUE(guardian) << guardian.error().text();
  auto clocks = open_amd_clock_control(list_amd_gpus(sysfs()).at(0), std::move(*guardian));
  ASSERT_TRUE(clocks) << clocks.error().text();
  ASSERT_TRUE((*clocks)->select(0));
  fs::remove(level);  // the card has left the bus
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  clocks->reset();
  spdlog::set_default_logger(before);
  EXPECT_THAT(text.str(), HasSubstr("clocks stay fixed"));
  EXPECT_THAT(text.str(), HasSubstr("echo auto | sudo tee " + level.string()));
  EXPECT_FALSE(fs::is_empty(folder_ / "state"));  // for the next start
}

TEST_F(AmdFiles, LeftByAnEndedProcessAreNoOrdersForOtherFiles) {
  const auto victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  std::ofstream(folder_ / "state/clocks-1-0") << "wirewatt-restore 1\n999999999 1 write\n"
                                              << victim.string() << "\nauto\n";
  EXPECT_THAT(restore_leftovers().at(0), HasSubstr("not a file that controls clocks"));
  std::string text;
  std::ifstream(victim) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(AmdFiles, AreWhatTelemetryUsesUnderAnotherTree) {
  const FakeAmdTree tree(sysfs());
  TelemetryOptions options;
  options.sysfs = sysfs();
  options.clock_control = false;
  auto telemetry = find_telemetry(options);
  ASSERT_GE(telemetry.gpus.size(), 1u);
  auto& gpu = telemetry.gpus[0];
  // The vendor's libraries are not needed where the files serve.
  ASSERT_EQ(gpu.backends.size(), 1u);
  options.all_backends = true;
  try_backends(gpu, options);
  ASSERT_EQ(gpu.backends.size(), 3u);
  EXPECT_TRUE(backend(gpu, "amdgpu files").usable) << gpu.backends[0].reason;
  EXPECT_FALSE(backend(gpu, "AMD SMI").usable);
  EXPECT_FALSE(backend(gpu, "ROCm SMI").usable);
  const auto sensor = open_sensor(gpu, options);
  ASSERT_TRUE(sensor) << sensor.error().text();
  EXPECT_TRUE((*sensor)->dvfs_states().empty());
  EXPECT_THAT((*sensor)->no_clocks(), HasSubstr("--no-clock-control"));
  EXPECT_EQ((*sensor)->select_dvfs(0).error().code, ErrorCode::unsupported);
  (*sensor)->sleep_until((*sensor)->now_ns() + 150'000'000);
  const auto readings = (*sensor)->new_readings();
  ASSERT_TRUE(readings);
  ASSERT_GT(readings->size(), 10u);
  EXPECT_EQ(readings->front().power_uw, 100'000'000);
  EXPECT_EQ(readings->front().temperature_mc, 46'000);
}

// The library that ROCm's users have, on a card that is not there.
class RealRocmSmi : public ::testing::Test {
 protected:
  // JSON that `body` returned, or a reason to skip.
  static json within(const std::function<json(const FakeAmdTree&)>& body) {
    const auto text = testing::with_own_sysfs([&body] {
      const FakeAmdTree tree("/sys");
      return body(tree).dump();
    });
    if (!text && text.error().code == ErrorCode::unsupported)
      return {{"no_namespace", text.error().text()}};
    if (!text) return {{"error", text.error().text()}};
    return json::parse(*text, nullptr, false);
  }
};

// Skips only where the kernel gives no mount namespace: any other error is a failure.
#define SKIP_WITHOUT_NAMESPACES(answer) \
  if ((answer).contains("no_namespace")) GTEST_SKIP() << (answer)["no_namespace"].get<std::string>()

TEST_F(RealRocmSmi, GivesWhatTheFilesSayAndTheCounterWithoutItsRounding) {
  const json answer = within([](const FakeAmdTree& tree) -> json {
    tree.set_energy(123'456'789'012);
    const auto gpus = list_amd_gpus("/sys");
    if (gpus.size() != 1) return {{"error", "no card"}};
    if (const auto probe = probe_rocm_smi(gpus[0]); !probe)
      return {{"error", probe.error().text()}};
    const auto source = open_rocm_smi(gpus[0]);
    if (!source) return {{"error", source.error().text()}};
    RawReading reading;
    (*source)->read_fast(reading);
    (*source)->read_slow(reading);
    json all;
    all["power"] = reading.power_uw.value_or(-1);
    all["energy"] = reading.energy_ticks.value_or(-1);
    all["edge"] = reading.edge_mc.value_or(-1);
    all["junction"] = reading.junction_mc.value_or(-1);
    all["memory"] = reading.memory_mc.value_or(-1);
    all["voltage"] = reading.voltage_uv.value_or(-1);
    all["clock"] = reading.clock_khz.value_or(-1);
    all["memory_clock"] = reading.memory_clock_khz.value_or(-1);
    tree.set_power(222'000'000);
    (*source)->read_fast(reading);
    all["later"] = reading.power_uw.value_or(-1);
    all["name"] = (*source)->power_name();
    return all;
  });
  SKIP_WITHOUT_NAMESPACES(answer);
  ASSERT_FALSE(answer.contains("error")) << answer;
  EXPECT_EQ(answer["power"], 100'000'000);
  EXPECT_EQ(answer["energy"], 123'456'789'012);
  EXPECT_EQ(answer["edge"], 41'000);
  EXPECT_EQ(answer["junction"], 46'000);
  EXPECT_EQ(answer["memory"], 44'000);
  EXPECT_EQ(answer["voltage"], 881'000);
  EXPECT_EQ(answer["clock"], 1'000'000);
  EXPECT_EQ(answer["memory_clock"], 1'600'000);
  EXPECT_EQ(answer["later"], 222'000'000);
  EXPECT_EQ(answer["name"], "ROCm SMI average power");
}

TEST_F(RealRocmSmi, ThatAbortsIsLeftForTheFilesWithTheReason) {
  const json answer = within([](const FakeAmdTree& tree) -> json {
    fs::remove_all("/sys/class/kfd/kfd/topology/nodes/1/io_links");  // the library aborts
    static_cast<void>(tree);
    TelemetryOptions options;
    options.clock_control = false;
    options.all_backends = true;
    const auto telemetry = find_telemetry(options);
    if (telemetry.gpus.empty()) return {{"error", "no card"}};
    const SensorBackend& smi = backend(telemetry.gpus[0], "ROCm SMI");
    json all{{"smi", smi.usable},
             {"reason", smi.reason},
             {"files", backend(telemetry.gpus[0], "amdgpu files").usable}};
    const auto sensor = open_sensor(telemetry.gpus[0], options);
    all["power"] = sensor ? (*sensor)->source().power_name() : sensor.error().text();
    all["locks"] = fs::exists("/dev/shm/rocm_smi_card0");
    return all;
  });
  SKIP_WITHOUT_NAMESPACES(answer);
  ASSERT_FALSE(answer.contains("error")) << answer;
  EXPECT_EQ(answer["smi"], false) << answer;
  EXPECT_THAT(answer["reason"].get<std::string>(), HasSubstr("crashed"));
  EXPECT_EQ(answer["files"], true);
  EXPECT_EQ(answer["power"], "power1_average");
  EXPECT_EQ(answer["locks"], false);
}

TEST_F(RealRocmSmi, WorksBesideTheFilesWhichAreTakenFirst) {
  const json answer = within([](const FakeAmdTree&) -> json {
    TelemetryOptions options;
    options.clock_control = false;
    options.all_backends = true;
    const auto telemetry = find_telemetry(options);
    if (telemetry.gpus.empty()) return {{"error", "no card"}};
    const auto sensor = open_sensor(telemetry.gpus[0], options);
    return {{"power", sensor ? (*sensor)->source().power_name() : sensor.error().text()},
            {"smi", backend(telemetry.gpus[0], "ROCm SMI").usable}};
  });
  SKIP_WITHOUT_NAMESPACES(answer);
  EXPECT_EQ(answer["power"], "power1_average") << answer;
  EXPECT_EQ(answer["smi"], true) << answer;
}

TEST(PciAddresses, AreReadInEverySpelling) {
  EXPECT_EQ(parse_pci_address("0000:03:00.0"), (PciAddress{0, 3, 0, 0}));
  EXPECT_EQ(parse_pci_address("00000000:C1:00.0"), (PciAddress{0, 0xc1, 0, 0}));
  EXPECT_EQ(parse_pci_address("0a:1f.7"), (PciAddress{0, 0x0a, 0x1f, 7}));
  EXPECT_EQ(to_string(PciAddress{1, 0xc1, 2, 3}), "0001:c1:02.3");
  for (const char* bad : {"", "03:00", "0000:03:00:0", "0000:103:00.0", "0000:03:20.0", "zz:00.0",
                          "0000:03:00.8", "0000:03:00.0x"}) {
    EXPECT_FALSE(parse_pci_address(bad)) << bad;
  }
}

}  // namespace
}  // namespace ww::measure
