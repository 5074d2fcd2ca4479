// AMD cards that are not one awake card with a sensor of its own: sleeping cards, dies of one
// package, partitions, Radeon cards and APUs; and the files that real cards have.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "hwmon_power.hpp"
#include "testing/fake_amd_tree.hpp"
#include "testing/fake_cards.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/gpu_metrics.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AmdCards : public ::testing::Test {
 protected:
  [[nodiscard]] std::string sysfs() const { return folder_ / "sys"; }

  static void write(const fs::path& file, const std::string& text) {
    testing::FakeCards::write(file, text);
  }
  [[nodiscard]] fs::path add_card(int number, const std::string& pci,
                                  const std::string& device_id) const {
    return testing::FakeCards(sysfs()).add(number, pci, device_id);
  }
  static void write_metrics(const fs::path& device, const std::vector<std::byte>& table) {
    testing::FakeCards::write(device / "gpu_metrics", table);
  }

  ScratchFolder scratch_ = ScratchFolder::create("amd_cards").value();
  const fs::path& folder_ = scratch_.path();
};

TEST(HwmonPowers, AreReadAs256thsUnlessTheFileCountsFiner) {
  HwmonPower polaris;
  EXPECT_EQ(polaris.microwatts(41'045'000), 41'175'781);  // 41 W and 45/256
  EXPECT_EQ(polaris.microwatts(3'103'000), 3'402'343);
  EXPECT_EQ(polaris.microwatts(68'000'000), 68'000'000);
  HwmonPower strix(HwmonPower::Fraction::hundredths);
  EXPECT_EQ(strix.microwatts(9'087'000), 9'870'000);
  HwmonPower decimal;
  EXPECT_EQ(decimal.microwatts(123'456'789), 123'456'789);
  // Once the file has shown that it counts finer, every value does.
  EXPECT_EQ(decimal.microwatts(41'045'000), 41'045'000);
  HwmonPower milliwatts;
  EXPECT_EQ(milliwatts.microwatts(7'300'000), 7'300'000);  // 300 is no 256th
}

TEST_F(AmdCards, ThatSleepAreWokenByTheirRenderDeviceBeforeTheyAreAsked) {
  const auto device = add_card(0, "0000:03:00.0", "0x744c");
  write(device / "hwmon/hwmon0/power1_average", "15000000\n");
  write(device / "power/runtime_status", "suspended\n");
  const auto gpu = list_amd_gpus(sysfs()).at(0);
  ASSERT_EQ(gpu.render_device, (folder_ / "dev/dri/renderD128").string());

  // Nobody wakes it: there is no such device.
  const auto asleep = open_amd_sysfs(gpu);
  ASSERT_FALSE(asleep);
  EXPECT_EQ(asleep.error().code, ErrorCode::device_error);
  EXPECT_THAT(asleep.error().message, HasSubstr("suspended"));
  EXPECT_THAT(asleep.error().message, HasSubstr("power/control"));

  // A pipe stands for the render device: its reader learns when it was opened and closed.
  fs::create_directories(folder_ / "dev/dri");
  ASSERT_EQ(mkfifo(gpu.render_device.c_str(), 0600), 0);
  const int pipe = open(gpu.render_device.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  std::thread driver([&] {
    pollfd opened{pipe, POLLIN, 0};
    poll(&opened, 1, 10'000);
    if ((opened.revents & POLLHUP) != 0) write(device / "power/runtime_status", "active\n");
  });
  const auto awake = open_amd_sysfs(gpu);
  driver.join();
  close(pipe);
  ASSERT_TRUE(awake) << awake.error().text();
  RawReading reading;
  (*awake)->read_fast(reading);
  EXPECT_EQ(reading.power_uw, 15'000'000);
}

// Two packages of two dies each. The first die of each has the sensor.
class DualDies : public AmdCards {
 protected:
  void SetUp() override {
    AmdCards::SetUp();
    const char* addresses[] = {"0000:29:00.0", "0000:2c:00.0", "0000:2f:00.0", "0000:32:00.0"};
    for (int i = 0; i < 4; ++i) {
      dies_.push_back(add_card(i, addresses[i], "0x740c"));
      const bool first = i % 2 == 0;
      write(dies_[i] / "hwmon/hwmon0/power1_average", first ? "310000000\n" : "0\n");
      write(dies_[i] / "hwmon/hwmon0/power1_cap", first ? "560000000\n" : "0\n");
      write(dies_[i] / "hwmon/hwmon0/temp1_label", "edge\n");
      write(dies_[i] / "hwmon/hwmon0/temp1_input", std::to_string(40'000 + 1000 * i) + "\n");
      write(dies_[i] / "gpu_busy_percent", "0\n");
      write_metrics(dies_[i], testing::gpu_metrics_v1(3, first ? 7'000 + i : 0));
    }
  }
  // Links as the driver lists them: four within a package, one to each other die.
  void add_topology() const {
    const fs::path nodes = fs::path(sysfs()) / "class/kfd/kfd/topology/nodes";
    const int buses[] = {0x29, 0x2c, 0x2f, 0x32};
    write(nodes / "0/properties", "location_id 0\ndomain 0\n");
    for (int i = 0; i < 4; ++i) {
      const fs::path node = nodes / std::to_string(i + 1);
      write(node / "properties",
            "simd_count 440\nlocation_id " + std::to_string(buses[i] << 8) + "\ndomain 0\n");
      write(node / "io_links/0/properties", "node_to 0\nmax_bandwidth 900000\n");
      int link = 1;
      for (int j = 0; j < 4; ++j) {
        if (i == j) continue;
        write(node / ("io_links/" + std::to_string(link++)) / "properties",
              "node_to " + std::to_string(j + 1) + "\nmax_bandwidth " +
                  (i / 2 == j / 2 ? "200000" : "50000") + "\n");
      }
    }
  }
  std::vector<fs::path> dies_;
};

TEST_F(DualDies, ReadPowerAndEnergyWhereTheSensorIsAndTheRestAtTheirOwn) {
  add_topology();
  const auto gpus = list_amd_gpus(sysfs());
  ASSERT_EQ(gpus.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(gpus[i].other_die) << i;
    EXPECT_EQ(gpus[i].other_die->pci, gpus[i ^ 1].pci);
    EXPECT_EQ(gpus[i].other_die->holds_sensor, i % 2 == 1);
  }
  const auto second = open_amd_sysfs(gpus[3]);
  ASSERT_TRUE(second) << second.error().text();
  RawReading reading;
  (*second)->read_fast(reading);
  (*second)->read_slow(reading);
  EXPECT_EQ(reading.power_uw, 310'000'000);
  EXPECT_EQ(reading.energy_ticks, 7'002);
  EXPECT_EQ(reading.edge_mc, 43'000);
  const auto& fields = (*second)->fields();
  const auto package = std::ranges::find(fields, "package", &FieldState::name);
  ASSERT_NE(package, fields.end());
  EXPECT_THAT(package->reason, HasSubstr("0000:2f:00.0"));
}

// Joules of the die with the sensor are those of both, too: two programs that add theirs up would
// count the package twice.
// Kernels that show no limit of power at the die without the sensor.
TEST_F(DualDies, AreToldApartWithoutALimitOfPower) {
  add_topology();
  for (const fs::path& die : dies_) fs::remove(die / "hwmon/hwmon0/power1_cap");
  const auto gpus = list_amd_gpus(sysfs());
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(gpus[i].other_die) << i;
    EXPECT_EQ(gpus[i].other_die->holds_sensor, i % 2 == 1);
    EXPECT_EQ(sensor_of(package_fields(gpus[i])),
              i % 2 == 1 ? to_string(gpus[i ^ 1].pci) : std::string());
  }
}

TEST_F(DualDies, SayAtEitherDieThatBothAreMeasured) {
  for (const bool with_topology : {false, true}) {
    if (with_topology) add_topology();
    const auto first = open_amd_sysfs(list_amd_gpus(sysfs()).at(2));
    ASSERT_TRUE(first) << first.error().text();
    EXPECT_THAT(measured_besides((*first)->fields()), HasSubstr("both dies"));
  }
}

TEST_F(DualDies, AreNotMeasuredWhileTheOtherDieWorks) {
  add_topology();
  write(dies_[1] / "gpu_busy_percent", "87\n");
  const auto gpus = list_amd_gpus(sysfs());
  TelemetryGpu card{gpus[0].pci, gpus[0].name, {}, gpus[0], {}};
  try_backends(card, {.sysfs = sysfs()});
  const auto first = open_sensor(card, {.sysfs = sysfs(), .clock_control = false});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::device_error);
  EXPECT_THAT(first.error().message, HasSubstr("0000:2c:00.0"));
  EXPECT_THAT(first.error().message, HasSubstr("87%"));
  EXPECT_TRUE(other_die_idles(gpus[2]));  // the other package is idle
  // Joules of the whole package are right whatever runs there.
  EXPECT_TRUE(open_sensor(card, {.sysfs = sysfs(), .clock_control = false, .whole_package = true}));
}

TEST_F(DualDies, WithoutATopologySayThatTheOtherDieHoldsTheSensor) {
  const auto gpus = list_amd_gpus(sysfs());
  EXPECT_TRUE(open_amd_sysfs(gpus[0]));
  const auto second = open_amd_sysfs(gpus[1]);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("the other die of its package holds the sensor"));
}

TEST_F(AmdCards, AreToldFromAProcessorsGraphicsByTheirTable) {
  const auto card = add_card(0, "0000:03:00.0", "0x744c");
  const auto graphics = add_card(1, "0000:0f:00.0", "0x15bf");
  write_metrics(card, testing::gpu_metrics_v1(3, 1));
  write_metrics(graphics, {std::byte{120}, std::byte{0}, std::byte{2}, std::byte{1}});
  const auto gpus = list_amd_gpus(sysfs());
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_FALSE(gpus[0].integrated);
  EXPECT_TRUE(gpus[1].integrated);
}

TEST_F(AmdCards, OfRadeonCountEnergyInNoKnownUnit) {
  const auto radeon = add_card(0, "0000:03:00.0", "0x73bf");
  write(radeon / "hwmon/hwmon0/power1_average", "36000000\n");
  write_metrics(radeon, testing::gpu_metrics_v1(3, 17'691'682));
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source);
  RawReading reading;
  (*source)->read_fast(reading);
  EXPECT_EQ(reading.power_uw, 36'000'000);
  EXPECT_FALSE(reading.energy_ticks);
  const auto& fields = (*source)->fields();
  const auto energy = std::ranges::find(fields, "energy", &FieldState::name);
  EXPECT_EQ(energy->status, FieldStatus::missing);
  EXPECT_THAT(energy->reason, HasSubstr("0x73bf"));
  AmdGpu instinct;
  instinct.device_id = "0x74a1";
  EXPECT_EQ(amd_energy_doubt(instinct), "");
}

TEST_F(AmdCards, OfManyDiesGiveTheEnergyOfEachPartAndTheBytesOfEachLink) {
  const auto device = add_card(0, "0000:c1:00.0", "0x74a1");
  write(device / "hwmon/hwmon0/power1_input", "412000000\n");
  write(device / "current_compute_partition", "CPX\n");
  const auto put = [](std::vector<std::byte>& data, std::size_t at, std::uint64_t value,
                      std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) data[at + i] = static_cast<std::byte>(value >> (8 * i));
  };
  std::vector<std::byte> table(2208, std::byte{0xFF});  // v1.7
  put(table, 0, 2208, 2);
  put(table, 2, 1, 1);
  put(table, 3, 7, 1);
  put(table, 24, 1'000, 8);  // energy
  put(table, 44, 0, 4);
  put(table, 48, 10, 4);   // ppt_residency_acc
  put(table, 136, 55, 8);  // xgmi_read_data_acc[0]
  put(table, 288, 500, 8);
  write_metrics(device, table);
  std::vector<std::byte> package(2092);
  put(package, 0, 2092, 2);
  put(package, 4, 0x0D000600, 4);
  put(package, 8, 0x00557000, 4);
  put(package, 12, 0xF, 4);
  put(package, 16 + 52, 700, 8);
  put(package, 16 + 60, 10'000, 8);
  put(package, 16 + 76, 5'000, 8);
  put(package, 16 + 84, 2'500, 8);
  put(package, 16 + 92, 1'500, 8);
  testing::FakeCards::write(device / "pm_metrics", package);

  const auto gpu = list_amd_gpus(sysfs()).at(0);
  EXPECT_EQ(gpu.compute_partition, "CPX");
  const auto source = open_amd_sysfs(gpu);
  ASSERT_TRUE(source) << source.error().text();
  const auto& fields = (*source)->fields();
  const auto state = std::ranges::find(fields, "package", &FieldState::name);
  ASSERT_NE(state, fields.end());
  EXPECT_THAT(state->reason, HasSubstr("all partitions"));
  RawReading reading;
  (*source)->read_fast(reading);
  (*source)->read_slow(reading);
  EXPECT_EQ(reading.energy_ticks, 1'000);
  const auto rails = (*source)->take_rails();
  ASSERT_EQ(rails.size(), 5u);
  EXPECT_EQ(rails[0].rail, "socket_energy");
  EXPECT_EQ(rails[1].rail, "xcd_energy");
  EXPECT_EQ(rails[2].rail, "aid_energy");
  EXPECT_EQ(rails[2].value, 2'500);
  EXPECT_EQ(rails[2].unit, "2^-16 J");
  EXPECT_EQ(rails[2].source_ns, 7'000);
  EXPECT_EQ(rails[3].rail, "hbm_energy");
  EXPECT_EQ(rails[4].rail, "xgmi_read_0");
  EXPECT_EQ(rails[4].value, 55);
  EXPECT_EQ(rails[4].unit, "kB");
  EXPECT_TRUE((*source)->take_rails().empty());

  // The package counts limits; one that has grown since the last table held the clocks.
  put(table, 48, 11, 4);
  write_metrics(device, table);
  RawReading later;
  (*source)->read_fast(later);
  (*source)->read_slow(later);
  ASSERT_TRUE(later.throttle);
  EXPECT_EQ((*source)->throttle_text(*later.throttle), "power");
}

// Two MI300A: what the CPU side says of a package belongs to the GPU whose processors are its own.
class ApuCards : public AmdCards {
 protected:
  void SetUp() override {
    AmdCards::SetUp();
    const fs::path cpus = fs::path(sysfs()) / "devices/system/cpu";
    for (int i = 0; i < 2; ++i) {
      const auto device = add_card(i, "000" + std::to_string(i) + ":01:00.0", "0x74a0");
      write(device / "hwmon/hwmon0/power1_input", "300000000\n");
      write(device / "local_cpulist", i == 0 ? "24-47\n" : "0-23\n");
      write(cpus / (i == 0 ? "cpu0" : "cpu24") / "topology/physical_package_id",
            std::to_string(i) + "\n");
      std::vector<std::byte> table(1404);
      table[84] = static_cast<std::byte>(10 + i);  // AidEnergyAcc
      testing::FakeCards::write(socket(i) / "metrics_bin", table);
    }
  }
  [[nodiscard]] fs::path socket(int i) const {
    return fs::path(sysfs()) / "devices/platform/amd_hsmp" / ("socket" + std::to_string(i));
  }
  [[nodiscard]] FieldState hsmp_field(const PowerSource& source) const {
    const auto& fields = source.fields();
    const auto state = std::ranges::find(fields, "hsmp", &FieldState::name);
    return state == fields.end() ? FieldState{} : *state;
  }
};

TEST_F(ApuCards, TakeTheRailsThatTheCpuSideOfTheirOwnPackageCounts) {
  for (int i = 0; i < 2; ++i) {
    const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(static_cast<std::size_t>(i)));
    ASSERT_TRUE(source) << source.error().text();
    EXPECT_THAT(hsmp_field(**source).reason, HasSubstr(socket(1 - i).string()));
    RawReading reading;
    (*source)->read_slow(reading);
    const auto rails = (*source)->take_rails();
    ASSERT_EQ(rails.size(), 1u);
    EXPECT_EQ(rails[0].rail, "aid_energy");
    EXPECT_EQ(rails[0].value, 11 - i);
  }
}

TEST_F(ApuCards, RefuseAProtocolThatIsNotKnownAndDoWithoutTheTable) {
  write(socket(1) / "protocol_version", "7\n");
  const auto source = open_amd_sysfs(list_amd_gpus(sysfs()).at(0));
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(hsmp_field(**source).status, FieldStatus::failed);
  EXPECT_THAT(hsmp_field(**source).reason, HasSubstr("protocol 7"));
}

TEST_F(ApuCards, WithoutKnownProcessorsTakeNoPackagesTable) {
  const AmdGpu before = list_amd_gpus(sysfs()).at(0);
  EXPECT_EQ(before.hsmp, socket(1).string());
  fs::remove(fs::path(before.folder) / "local_cpulist");
  EXPECT_EQ(list_amd_gpus(sysfs()).at(0).hsmp, "");
}

// Folders of device files that owners of cards gave.
class RecordedCards : public AmdCards {
 protected:
  void SetUp() override {
    AmdCards::SetUp();
    const char* shared = std::getenv("WW_SHARED_DATA");
    recordings_ = fs::path(shared == nullptr ? "" : shared) / "data/amdgpu_sysfs";
    if (!fs::exists(recordings_)) GTEST_SKIP() << "no recordings from real GPUs";
  }
  Result<std::unique_ptr<PowerSource>> open_recorded(const std::string& card) const {
    AmdGpu gpu;
    gpu.name = card;
    for (const auto& entry : fs::directory_iterator(recordings_ / card)) {
      gpu.folder = (entry.path() / "device").string();
    }
    for (const auto& entry : fs::directory_iterator(gpu.folder + "/hwmon")) {
      gpu.hwmon = entry.path().string();
    }
    return open_amd_sysfs(gpu);
  }
  fs::path recordings_;
};

TEST_F(RecordedCards, ReadTheWattsThatTheirOwnersSaw) {
  struct Expected {
    const char* card;
    std::int64_t power_uw;
    const char* from;
  };
  const Expected cards[] = {
      {"rx580", 41'175'781, "power1_average"},
      {"vega56", 8'000'000, "power1_average"},
      {"rx5700xt", 29'000'000, "power1_average"},
      {"rx6600", 3'000'000, "power1_average"},
      {"rx6900xt", 36'000'000, "power1_average"},
      {"rx7600s", 1'000'000, "power1_average"},
      {"rx7700s", 1'000'000, "power1_average"},
      {"rx7900xtx", 68'000'000, "power1_average"},
      {"rx9070", 49'000'000, "power1_average"},
      // APUs: the table's mW, not the file's 3.103 and 9.087.
      {"phoenix", 3'401'000, "gpu_metrics average power"},
      {"strixpoint", 9'839'000, "gpu_metrics average power"},
  };
  for (const Expected& expected : cards) {
    const auto source = open_recorded(expected.card);
    ASSERT_TRUE(source) << expected.card << ": " << source.error().text();
    RawReading reading;
    (*source)->read_fast(reading);
    (*source)->read_slow(reading);
    EXPECT_EQ(reading.power_uw, expected.power_uw) << expected.card;
    EXPECT_EQ((*source)->power_name(), expected.from) << expected.card;
    EXPECT_FALSE(reading.energy_ticks) << expected.card;
    const bool apu = std::string(expected.from).starts_with("gpu_metrics");
    EXPECT_EQ(measured_besides((*source)->fields()).find("processor cores") != std::string::npos,
              apu)
        << expected.card;
  }
}

TEST_F(RecordedCards, WithoutPowerAreRefusedAndNeverReadZero) {
  for (const char* card : {"hd7870", "r7-240"}) {
    const auto source = open_recorded(card);
    ASSERT_FALSE(source) << card;
    EXPECT_EQ(source.error().code, ErrorCode::not_found) << source.error().text();
  }
}

}  // namespace
}  // namespace ww::measure
