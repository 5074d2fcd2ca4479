// AMD SMI's structures of every release, through a stub of the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sensor/amd_smi/power_info.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/child.hpp"

namespace ww::measure {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

AmdGpu instinct_card() {
  AmdGpu gpu;
  gpu.pci = {0, 3, 0, 0};
  gpu.name = "AMD Instinct MI210";
  gpu.device_id = "0x740f";
  return gpu;
}

// Reads the stub as that release by the backend. In a child, for a library stays loaded.
json seen_through(const std::string& version, const std::string& fills) {
  const auto text = run_in_child(
      [&] {
        setenv("WW_AMD_SMI_VERSION", version.c_str(), 1);
        setenv("WW_AMD_SMI_FILLS", fills.c_str(), 1);
        const auto source = open_amd_smi(instinct_card());
        if (!source) {
          return json{{"error", source.error().text()}}.dump();
        }
        RawReading reading;
        (*source)->read_fast(reading);
        (*source)->read_slow(reading);
        json seen{{"name", (*source)->facts().name}, {"power_name", (*source)->power_name()}};
        const auto put = [&seen](const char* key, const auto& value) {
          seen[key] = value ? json(*value) : json();
        };
        put("power_uw", reading.power_uw);
        put("second_uw", reading.second_power_uw);
        put("ticks", reading.energy_ticks);
        put("edge_mc", reading.edge_mc);
        put("junction_mc", reading.junction_mc);
        put("memory_mc", reading.memory_mc);
        put("voltage_uv", reading.voltage_uv);
        put("clock_khz", reading.clock_khz);
        put("memory_clock_khz", reading.memory_clock_khz);
        for (const FieldState& field : (*source)->fields()) {
          seen["fields"][field.name] = to_string(field.status);
        }
        return seen.dump();
      },
      std::chrono::seconds(20));
  return text ? json::parse(*text) : json{{"error", text.error().text()}};
}

TEST(AmdSmi, GivesTheSameWattsInEveryReleasesLayout) {
  for (const char* version :
       {"23.2", "23.4", "24.5", "24.6", "24.7", "25.3", "26.0", "26.2", "26.5", "27.0", "27.1"}) {
    const json seen = seen_through(version, "average");
    EXPECT_EQ(seen.value("power_uw", 0), 142'000'000) << version << seen;
    EXPECT_EQ(seen.value("voltage_uv", 0), 881'000) << version;
    EXPECT_EQ(seen.value("ticks", 0), 1'000'000) << version;
    EXPECT_EQ(seen.value("power_name", ""), "AMD SMI average power") << version;
    EXPECT_TRUE(seen["second_uw"].is_null()) << version;
    EXPECT_THAT(seen.value("name", ""), HasSubstr(version));
  }
}

TEST(AmdSmi, TakesTheFieldThatTheCardFills) {
  // Before ROCm 6.0 there was but the average.
  for (const char* version : {"23.4", "24.7", "25.3", "26.1", "27.0"}) {
    const json seen = seen_through(version, "current");
    EXPECT_EQ(seen.value("power_uw", 0), 142'000'000) << version << seen;
    EXPECT_EQ(seen.value("power_name", ""), "AMD SMI current power") << version;
  }
  for (const char* version : {"25.3", "26.1", "27.0"}) {
    EXPECT_EQ(seen_through(version, "socket").value("power_uw", 0), 142'000'000) << version;
  }
}

TEST(AmdSmi, LeavesWhatTheCardDoesNotGiveAbsent) {
  const json seen = seen_through("26.0", "average");
  EXPECT_EQ(seen["edge_mc"], 41'000);
  EXPECT_EQ(seen["junction_mc"], 46'000);
  EXPECT_TRUE(seen["memory_mc"].is_null());
  EXPECT_EQ(seen["clock_khz"], 1'000'000);
  EXPECT_TRUE(seen["memory_clock_khz"].is_null());  // 65535 MHz is "none"
  EXPECT_EQ(seen["fields"]["power_instant"], "missing");
  EXPECT_EQ(seen["fields"]["temperature_memory"], "missing");
  EXPECT_THAT(seen_through("26.0", "nothing").value("error", ""),
              HasSubstr("neither power nor energy"));
}

// Reports counts as a guest's driver and a die without a sensor do.
TEST(AmdSmi, TakesNoCountForACounter) {
  for (const char* ticks : {"0", "4294967295", "18446744073709551615"}) {
    setenv("WW_AMD_SMI_TICKS", ticks, 1);
    const json seen = seen_through("26.0", "average");
    unsetenv("WW_AMD_SMI_TICKS");
    EXPECT_TRUE(seen["ticks"].is_null()) << seen;
    EXPECT_EQ(seen["fields"]["energy"], "missing") << seen;
    EXPECT_EQ(seen.value("power_uw", 0), 142'000'000) << seen;
  }
}

TEST(AmdSmi, SaysThatBothDiesOfAPackageAreMeasured) {
  AmdGpu die = instinct_card();
  die.device_id = "0x7408";
  const auto text = run_in_child(
      [&] {
        const auto source = open_amd_smi(die);
        return source ? measured_besides((*source)->fields()) : source.error().text();
      },
      std::chrono::seconds(20));
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("both dies"));
}

TEST(AmdSmi, RefusesReleasesWhoseStructureIsNotKnown) {
  EXPECT_THAT(seen_through("25.2", "average").value("error", ""), HasSubstr("25.2"));
  EXPECT_THAT(seen_through("28.0", "average").value("error", ""), HasSubstr("28.0"));
  EXPECT_FALSE(amd_smi_power_layout({2, 0}));
}

TEST(AmdSmi, ThatEndsTheProcessOrListsOtherCardsIsNotUsed) {
  setenv("WW_AMD_SMI_FILLS", "crash", 1);
  const Status crashed = probe_amd_smi(instinct_card());
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().code, ErrorCode::device_error);
  EXPECT_THAT(crashed.error().message, HasSubstr("AMD SMI is not used"));
  unsetenv("WW_AMD_SMI_FILLS");
  EXPECT_TRUE(probe_amd_smi(instinct_card()));
  AmdGpu other = instinct_card();
  other.pci.bus = 4;
  EXPECT_THAT(probe_amd_smi(other).error().message, HasSubstr("lists 1 GPUs and not this one"));
}

TEST(AmdSmi, DoesNotTakeTheCounterOfARadeonForJoules) {
  AmdGpu radeon = instinct_card();
  radeon.device_id = "0x744c";
  const auto source = open_amd_smi(radeon);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(std::ranges::find((*source)->fields(), "energy", &FieldState::name)->status,
            FieldStatus::missing);
}

}  // namespace
}  // namespace ww::measure
