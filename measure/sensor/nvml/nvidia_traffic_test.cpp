// GPM on the library made for tests (testing/nvml_stub.cpp). Each test works in a process of its
// own: the library reads its settings once.
#include "ww/measure/counted/nvidia_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "ww/core/temporary_folder.hpp"
#include "ww/measure/child.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr PciAddress kBoard{0, 0xc1, 0, 0};
constexpr const char* kHopper =
    "gpm 1\nnew_driver 1\ngpm_10 50\ngpm_20 100\ngpm_21 200\ngpm_60 3000\ngpm_61 4000\n";

class NvidiaTrafficOf : public ::testing::Test {
 protected:
  void SetUp() override { setenv("WW_NVML_STUB", folder_.c_str(), 1); }
  void load(bool on) {
    if (on) {
      std::ofstream(folder_ / "load") << "1";
    } else {
      fs::remove(folder_ / "load");
    }
  }
  json with(const std::string& settings, const std::function<json(NvidiaTrafficMeter&)>& body) {
    std::ofstream(folder_ / "config") << settings;
    const auto text = run_in_child(
        [&]() -> std::string {
          const auto meter = NvidiaTrafficMeter::open(kBoard);
          return meter ? body(**meter).dump() : json{{"error", meter.error().text()}}.dump();
        },
        std::chrono::seconds(60));
    return text ? json::parse(*text, nullptr, false) : json{{"error", text.error().text()}};
  }
  ScratchFolder scratch_ = ScratchFolder::create("gpm").value();
  const fs::path& folder_ = scratch_.path();
};

json to_json(const Result<std::optional<NvidiaTraffic>>& taken) {
  if (!taken) return {{"error", taken.error().text()}};
  if (!*taken) return nullptr;
  const NvidiaTraffic& traffic = **taken;
  json all{{"seconds", traffic.seconds}};
  const auto put = [&all](const char* name, const std::optional<double>& rate) {
    if (rate) all[name] = *rate;
  };
  put("memory", traffic.memory_at_most);
  put("nvlink_sent", traffic.nvlink_sent);
  put("nvlink_received", traffic.nvlink_received);
  put("pcie_sent", traffic.pcie_sent);
  put("pcie_received", traffic.pcie_received);
  return all;
}

void wait() {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

TEST_F(NvidiaTrafficOf, HopperIsBetweenTwoCalls) {
  const json found = with(kHopper, [this](NvidiaTrafficMeter& meter) {
    json all = json::array();
    all.push_back(to_json(meter.take()));  // too early
    wait();
    all.push_back(to_json(meter.take()));  // idle
    load(true);
    (void)meter.take();
    wait();
    (void)meter.take();  // the change of load within it
    wait();
    all.push_back(to_json(meter.take()));
    return all;
  });
  ASSERT_TRUE(found.is_array()) << found;
  EXPECT_TRUE(found[0].is_null());
  EXPECT_NEAR(found[1].at("memory").get<double>(), 0, 1e9) << found;
  // Half of 2 transfers x 2619 MHz x 5120 bits.
  const json& loaded = found[2];
  EXPECT_NEAR(loaded.at("memory").get<double>(), 0.5 * 2 * 2619e6 * 5120 / 8, 0.02e12) << found;
  EXPECT_NEAR(loaded.at("pcie_sent").get<double>(), 100 * 1048576.0, 2e6);
  EXPECT_NEAR(loaded.at("pcie_received").get<double>(), 200 * 1048576.0, 4e6);
  EXPECT_NEAR(loaded.at("nvlink_received").get<double>(), 3000 * 1048576.0, 6e7);
  EXPECT_NEAR(loaded.at("nvlink_sent").get<double>(), 4000 * 1048576.0, 8e7);
  EXPECT_GT(loaded.at("seconds").get<double>(), 0.19);
}

TEST_F(NvidiaTrafficOf, APartWithoutLinksLeavesThemOut) {
  const json found = with("gpm 1\nnew_driver 1\ngpm_10 0\n", [](NvidiaTrafficMeter& meter) {
    wait();
    return to_json(meter.take());
  });
  EXPECT_EQ(found.at("memory"), 0.0);
  EXPECT_FALSE(found.contains("nvlink_sent"));
  EXPECT_FALSE(found.contains("pcie_sent"));
}

TEST_F(NvidiaTrafficOf, OtherCardsAndDriversIsRefusedWithTheReason) {
  const auto nothing = [](NvidiaTrafficMeter&) { return json("opened"); };
  const auto refused = [&](const std::string& settings) {
    const json found = with(settings, nothing);
    return found.is_object() ? found.value("error", "") : "opened";
  };
  EXPECT_THAT(refused("new_driver 1\n"), HasSubstr("begins with Hopper"));
  EXPECT_THAT(refused("gpm 1\n"), HasSubstr("the driver 535 is older than 550"));
  EXPECT_THAT(refused("gpm 1\nnew_driver 1\ngpm_sample 4\n"),
              HasSubstr("Insufficient Permissions"));
}

}  // namespace
}  // namespace ww::measure
