#include "ww/measure/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "testing/fake_cards.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAdminOnly = "Mobile: 4294967295\nRmProfilingAdminOnly: 1\n";
constexpr const char* kRoot = "Name:\tw\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n";
// Docker's default set, which root in a container has.
constexpr const char* kRootInContainer =
    "Name:\tw\nCapEff:\t00000000a80425fb\nCapBnd:\t000001ffffffffff\n";

TEST(CountersOfNvidia, NeedTheCapabilityAndNotTheNameOfRoot) {
  EXPECT_EQ(check_ncu("/usr/bin/ncu", kAdminOnly, kRoot).verdict, Verdict::good);
  const Finding refused = check_ncu("/usr/bin/ncu", kAdminOnly, kRootInContainer);
  EXPECT_EQ(refused.verdict, Verdict::unavailable);
  EXPECT_THAT(refused.detail, HasSubstr("CAP_SYS_ADMIN"));
  EXPECT_THAT(refused.remedy, HasSubstr("--cap-add SYS_ADMIN"));
  EXPECT_EQ(check_ncu("/usr/bin/ncu", kAdminOnly, "").verdict, Verdict::unavailable);
}

TEST(CountersOfNvidia, AreOpenWhereTheDriverDoesNotKeepThem) {
  EXPECT_EQ(check_ncu("/usr/bin/ncu", "RmProfilingAdminOnly: 0\n", kRootInContainer).verdict,
            Verdict::good);
  EXPECT_EQ(check_ncu("", "", kRoot).verdict, Verdict::unavailable);
}

// An owner of one vendor's card is not told to install the other vendor's driver.
TEST(Libraries, AreMissedOnlyWhereADeviceOfTheirVendorIs) {
  const auto folder = ScratchFolder::create("environment");
  ASSERT_TRUE(folder) << folder.error().text();
  const auto devices = folder->path() / "bus/pci/devices";
  const auto remedy_of = [](const std::string& capability) -> std::optional<std::string> {
    for (const Finding& finding : check_libraries()) {
      if (finding.capability != capability) continue;
      if (finding.verdict == Verdict::good) return std::nullopt;  // it is installed here
      return finding.remedy;
    }
    ADD_FAILURE() << capability;
    return std::nullopt;
  };
  setenv("WIREWATT_SYSFS", folder->path().c_str(), 1);
  EXPECT_NE(remedy_of("NVML"), "");  // what the machine has cannot be seen
  testing::FakeCards::write(devices / "0000:03:00.0/vendor", std::string("0x1002\n"));
  const auto beside_amd = remedy_of("NVML");
  EXPECT_EQ(beside_amd.value_or(""), "");
  EXPECT_NE(remedy_of("AMD SMI"), "");
  testing::FakeCards::write(devices / "0000:04:00.0/vendor", std::string("0x10de\n"));
  EXPECT_NE(remedy_of("NVML"), "");
  unsetenv("WIREWATT_SYSFS");
}

// A profiler counts on a card or does not by the card's own target.
TEST(CountersOfAmd, AskForTheProfilerOfTheCardsTarget) {
  const auto folder = ScratchFolder::create("environment");
  ASSERT_TRUE(folder) << folder.error().text();
  const auto program = folder->path() / "bin/rocprofv3";
  testing::FakeCards::write(program, std::string("#!/bin/sh\n"));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const char* before = std::getenv("PATH");
  const std::string path = before != nullptr ? before : "";
  setenv("PATH", (folder->path() / "bin").c_str(), 1);
  struct Case {
    const char* version;
    const char* detail;
    bool with_mode;
  };
  for (const Case& each : {Case{"70001", "gfx701 is here (rocprof)", false},
                           Case{"90010", "rocprofv3", false}, Case{"110000", "rocprofv3", true}}) {
    SCOPED_TRACE(each.version);
    const testing::FakeCards cards(folder->path() / each.version);
    const auto device = cards.add(0, "0000:03:00.0", "0x1234");
    testing::FakeCards::write(device / "power_dpm_force_performance_level", std::string("auto\n"));
    testing::FakeCards::write(
        cards.sysfs() / "class/kfd/kfd/topology/nodes/1/properties",
        std::string("location_id 768\ndomain 0\ngfx_target_version ") + each.version + "\n");
    TelemetryGpu gpu;
    gpu.amd = list_amd_gpus(cards.sysfs()).at(0);
    const auto findings = check_gpu(gpu, cards.sysfs());
    const auto counters = std::ranges::find(findings, "counters", &Finding::capability);
    ASSERT_NE(counters, findings.end());
    EXPECT_THAT(counters->detail, HasSubstr(each.detail));
    const auto mode = std::ranges::find(findings, "clocks of counters", &Finding::capability);
    EXPECT_EQ(mode != findings.end(), each.with_mode);
    if (!each.with_mode) continue;
    EXPECT_EQ(mode->verdict, Verdict::limited);
    EXPECT_THAT(mode->remedy, HasSubstr("profile_standard"));
  }
  setenv("PATH", path.c_str(), 1);
}

// Two cards; one process computes on the second, another has opened both and launched nothing.
TEST(OtherLoadOfAmd, IsThatOfTheCardAndNotOfItsNeighbours) {
  const auto folder = ScratchFolder::create("environment");
  ASSERT_TRUE(folder) << folder.error().text();
  const testing::FakeCards cards(folder->path() / "sys");
  const auto write = [](const std::filesystem::path& file, const std::string& text) {
    testing::FakeCards::write(file, text);
  };
  const auto kfd = cards.sysfs() / "class/kfd/kfd";
  for (const auto& [number, bus] : {std::pair{0, 3}, {1, 0x43}}) {
    const auto device = cards.add(number, number == 0 ? "0000:03:00.0" : "0000:43:00.0", "0x740f");
    write(device / "gpu_busy_percent", "0\n");
    const auto node = kfd / "topology/nodes" / std::to_string(number + 1);
    write(node / "properties", "location_id " + std::to_string(bus << 8) + "\ndomain 0\n");
    write(node / "gpu_id", std::to_string(51'000 + number) + "\n");
  }
  write(kfd / "proc/4711/queues/2/gpuid", "51001\n");
  std::filesystem::create_directories(kfd / "proc/4712/queues");
  const auto other_load = [&](std::size_t card) {
    TelemetryGpu gpu;
    gpu.amd = list_amd_gpus(cards.sysfs()).at(card);
    const auto findings = check_gpu(gpu, cards.sysfs());
    return *std::ranges::find(findings, "other load", &Finding::capability);
  };
  EXPECT_EQ(other_load(0).verdict, Verdict::good) << other_load(0).detail;
  EXPECT_EQ(other_load(1).verdict, Verdict::limited);
  EXPECT_THAT(other_load(1).detail, HasSubstr("compute: 4711"));
  // An older kernel lists no queues: the process may be on any card.
  std::filesystem::remove_all(kfd / "proc/4711/queues");
  EXPECT_EQ(other_load(0).verdict, Verdict::limited);
}

}  // namespace
}  // namespace ww::measure
