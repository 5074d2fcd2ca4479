// Machines with AMD cards that no campaign can use, faked as kernel files: which device is chosen,
// what is said of the others, and what the doctor reads. And counters of both of rocprofv3's forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "process.hpp"
#include "testing/fake_cards.hpp"
#include "testing/rocpd_database.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class AmdMachine : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path sysfs() const { return folder_.path() / "sys"; }
  [[nodiscard]] Finished with_cards(std::vector<std::string> words) const {
    words.insert(words.begin(), wirewatt());
    return run(words, {{"WIREWATT_SYSFS", sysfs().string()},
                       {"XDG_CACHE_HOME", (folder_.path() / "cache").string()},
                       {"WIREWATT_STATE_DIR", (folder_.path() / "state").string()}});
  }
  // calibrate without --device must stop, name the card at `pci` and leave nothing behind.
  void expect_no_silent_virtual(const std::string& pci) const {
    const auto out = folder_.path() / "run";
    const auto finished = with_cards({"calibrate", "--quick", "--out", out.string()});
    EXPECT_EQ(finished.exit_code, 3) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(pci));
    EXPECT_THAT(finished.err, HasSubstr("--device virtual:w9100"));
    EXPECT_FALSE(fs::exists(out));
    const auto dry = with_cards({"calibrate", "--dry-run"});
    EXPECT_EQ(dry.exit_code, 3) << dry.out;
    EXPECT_EQ(dry.out, "");
    EXPECT_THAT(dry.err, HasSubstr(pci));
    // Only who names the virtual GPU gets it.
    const auto named =
        with_cards({"calibrate", "--dry-run", "--device", "virtual:w9100", "--json"});
    ASSERT_EQ(named.exit_code, 0) << named.err;
    EXPECT_EQ(named.json().at("virtual"), true);
  }
  // Returns the remark of `devices` on the card at `pci`, on which nothing computes.
  [[nodiscard]] std::string said_of(const std::string& pci) const {
    const json devices = with_cards({"devices", "--json"}).json().at("devices");
    for (const json& device : devices) {
      if (device.at("name") != "pci:" + pci) continue;
      EXPECT_EQ(device.at("usable"), false);
      EXPECT_EQ(device.at("virtual"), false);
      return device.at("reason");
    }
    ADD_FAILURE() << "not listed: " << devices;
    return {};
  }
  [[nodiscard]] json doctor(const std::string& pci) const {
    const auto finished = with_cards(
        {"doctor", "--no-step-test", "--no-counters", "--json", "--device", "pci:" + pci});
    json report = finished.json();
    EXPECT_FALSE(report.is_discarded()) << finished.err;
    return report;
  }
  static json named(const json& list, const std::string& name) {
    for (const json& entry : list) {
      if (entry.at("name") == name) return entry;
    }
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(AmdMachine, OfEightPackagesReadsEachPackagesEnergyDividedOrNot) {
  const FakeCards cards(sysfs());
  for (int i = 0; i < 8; ++i) {
    const auto device = cards.add(i, "0000:" + std::to_string(10 + i) + ":00.0", "0x74a1");
    FakeCards::write(device / "hwmon/hwmon0/power1_input", std::string("140000000\n"));
    FakeCards::write(device / "current_compute_partition", std::string(i < 4 ? "SPX\n" : "CPX\n"));
    std::vector<std::byte> table(1664, std::byte{0xFF});  // v1.6
    const auto put = [&table](std::size_t at, std::uint64_t value, std::size_t bytes) {
      for (std::size_t b = 0; b < bytes; ++b) {
        table[at + b] = static_cast<std::byte>(value >> (8 * b));
      }
    };
    put(0, 1664, 2);
    put(2, 1, 1);
    put(3, 6, 1);
    put(4, 41, 2);
    put(16, 5'000 + static_cast<std::uint64_t>(i), 8);
    FakeCards::write(device / "gpu_metrics", table);
  }
  expect_no_silent_virtual("0000:10:00.0");
  for (const char* pci : {"0000:10:00.0", "0000:17:00.0"}) {
    EXPECT_THAT(said_of(pci), HasSubstr("power is read by amdgpu files")) << pci;
  }
  const json whole = doctor("0000:10:00.0");
  EXPECT_EQ(named(whole["fields"], "energy")["status"], "ok") << whole["fields"];
  EXPECT_THAT(named(whole["fields"], "gpu_metrics")["reason"].get<std::string>(),
              HasSubstr("v1.6"));
  EXPECT_TRUE(named(whole["fields"], "package").is_null());
  const json divided = doctor("0000:17:00.0");
  EXPECT_THAT(named(divided["fields"], "package")["reason"].get<std::string>(), HasSubstr("CPX"));
}

TEST_F(AmdMachine, OfPackagesOfTwoDiesReadsThePowerOfEachPackageAtTheDieThatHasIt) {
  const FakeCards cards(sysfs());
  const int buses[] = {0xc1, 0xc6, 0xc9, 0xce};
  const char* pci[] = {"0000:c1:00.0", "0000:c6:00.0", "0000:c9:00.0", "0000:ce:00.0"};
  const fs::path nodes = sysfs() / "class/kfd/kfd/topology/nodes";
  std::vector<fs::path> dies;
  for (int i = 0; i < 4; ++i) {
    const auto device = dies.emplace_back(cards.add(i, pci[i], "0x7408"));
    const bool holds_sensor = i % 2 == 0;
    FakeCards::write(device / "hwmon/hwmon0/power1_average",
                     std::string(holds_sensor ? "93000000\n" : "0\n"));
    FakeCards::write(device / "hwmon/hwmon0/power1_cap",
                     std::string(holds_sensor ? "560000000\n" : "0\n"));
    FakeCards::write(device / "gpu_busy_percent", std::string("0\n"));
    const fs::path node = nodes / std::to_string(i + 1);
    FakeCards::write(node / "properties", "simd_count 440\nlocation_id " +
                                              std::to_string(buses[i] << 8) + "\ndomain 0\n");
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      FakeCards::write(node / "io_links" / std::to_string(j) / "properties",
                       "node_to " + std::to_string(j + 1) + "\nmax_bandwidth " +
                           (i / 2 == j / 2 ? "200000" : "50000") + "\n");
    }
  }
  expect_no_silent_virtual(pci[0]);
  const json second = doctor(pci[1]);
  EXPECT_THAT(named(second["fields"], "package")["reason"].get<std::string>(), HasSubstr(pci[0]));
  EXPECT_EQ(named(second["fields"], "power_average")["status"], "ok") << second["fields"];
  // The reading contains the other die at work.
  FakeCards::write(dies[2] / "gpu_busy_percent", std::string("80\n"));
  EXPECT_THAT(said_of(pci[3]), HasSubstr("80% busy"));
  EXPECT_THAT(said_of(pci[1]), HasSubstr("power is read by amdgpu files"));
}

TEST_F(AmdMachine, WithASleepingCardNamesItAndHowToKeepItAwake) {
  const FakeCards cards(sysfs());
  const auto device = cards.add(0, "0000:03:00.0", "0x744c");
  FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("15000000\n"));
  FakeCards::write(device / "power/runtime_status", std::string("suspended\n"));
  expect_no_silent_virtual("0000:03:00.0");
  EXPECT_THAT(said_of("0000:03:00.0"), HasSubstr("suspended"));
  const auto finished = with_cards({"doctor", "--no-step-test", "--no-counters", "--json"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.out + finished.err, HasSubstr("suspended"));
  EXPECT_THAT(finished.out + finished.err, HasSubstr("power/control"));
}

TEST_F(AmdMachine, WithAnApuReadsTheSocketsPower) {
  const FakeCards cards(sysfs());
  const auto device = cards.add(0, "0000:c4:00.0", "0x1586");
  FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("9087000\n"));
  std::vector<std::byte> table(264, std::byte{0xFF});  // v3.0
  table[0] = std::byte{8};
  table[1] = std::byte{1};
  table[2] = std::byte{3};
  table[3] = std::byte{0};
  for (std::size_t b = 0; b < 4; ++b) table[112 + b] = static_cast<std::byte>(9'839U >> (8 * b));
  FakeCards::write(device / "gpu_metrics", table);
  expect_no_silent_virtual("0000:c4:00.0");
  EXPECT_THAT(said_of("0000:c4:00.0"), HasSubstr("power is read by amdgpu files"));
  const json report = doctor("0000:c4:00.0");
  EXPECT_THAT(named(report["fields"], "gpu_metrics")["reason"].get<std::string>(),
              HasSubstr("v3.0"));
  EXPECT_EQ(named(report["fields"], "energy")["status"], "missing");
}

TEST_F(AmdMachine, WithoutAnyCardUsesTheVirtualOne) {
  fs::create_directories(sysfs() / "class/drm");
  const auto finished = with_cards({"topology", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.json()["device"], "virtual:w9100");
  const auto dry = with_cards({"calibrate", "--dry-run", "--quick"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("virtual:w9100"));
  EXPECT_THAT(dry.out, HasSubstr("Nothing was measured"));
}

TEST_F(AmdMachine, GivesTheSameJoulesFromRocprofsTableAndFromItsDatabase) {
  const auto table = folder_.path() / "counter_collection.csv";
  const auto database = folder_.path() / "7_results.db";
  const std::pair<const char*, double> counters[] = {{"TCP_TCC_READ_REQ_sum", 131072},
                                                     {"TCP_TCC_WRITE_REQ_sum", 131073},
                                                     {"TCC_EA_RDREQ_sum", 131101},
                                                     {"TCC_EA_RDREQ_32B_sum", 7},
                                                     {"TCC_EA_WRREQ_sum", 90011},
                                                     {"TCC_EA_WRREQ_64B_sum", 90003},
                                                     {"TCP_TOTAL_CACHE_ACCESSES_sum", 262144}};
  std::ofstream csv(table);
  csv << R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp")"
      << '\n';
  std::vector<measure::testing::RocpdDispatch> dispatches;
  for (int id = 1; id <= 3; ++id) {
    auto& dispatch = dispatches.emplace_back();
    dispatch.id = id;
    dispatch.start_ns = 1'000 * id;
    dispatch.end_ns = 1'000 * id + 713;
    for (const auto& [name, value] : counters) {
      // A sum has one row, not one for each instance as the counters below it have.
      dispatch.counters.push_back({name, {value}});
      csv << id << ',' << id << ",\"Agent 4\",1,7,7,1048576,1,\"" << dispatch.kernel
          << "\",256,0,0,4,4,16,\"" << name << "\"," << std::to_string(value) << ','
          << dispatch.start_ns << ',' << dispatch.end_ns << '\n';
    }
  }
  csv.close();
  measure::testing::RocpdDatabase stored;
  stored.add_process("_a", 7, "gfx90a", dispatches);
  FakeCards::write(database, stored.bytes());
  const auto estimate = [&](const fs::path& file) {
    const auto finished =
        run({wirewatt(), "estimate", "--constant", "literature", "--node", "6", "--floorplan",
             (source_folder() / "model/floorplans/mi210.toml").string(), "--arch", "gfx90a",
             "--counters", file.string(), "--json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  };
  const std::string from_table = estimate(table);
  EXPECT_THAT(from_table, HasSubstr("copy(double*, double*)"));
  // The name of the file apart, every digit is the same.
  const auto without = [](std::string text, const std::string& name) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
      text.replace(at, name.size(), "FILE");
    }
    return text;
  };
  EXPECT_EQ(without(estimate(database), database.string()), without(from_table, table.string()));
}

}  // namespace
}  // namespace ww::e2e
