// The campaign of crossings through CUDA's driver API on the stub, whose energy per crossing is
// known.
#include "ww/microbench/crossing.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "../test_support/stub_cuda.hpp"
#include "../test_support/stub_meter.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

namespace stub = testing::stub_cuda;
using testing::StubMeter;

TEST(CrossingCampaign, RecoversTheStubsEnergyPerCrossing) {
  auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  for (const bool has_energy : {true, false}) {
    StubMeter sensor(has_energy);
    ASSERT_TRUE(sensor.usable());
    const auto folder = std::filesystem::temp_directory_path() /
                        ("ww_crossing_" + std::to_string(getpid()) + (has_energy ? "e" : "p"));
    CrossingOptions options;
    options.blocks = has_energy ? 4 : 3;
    // A launch at the longest wait takes half a second of the stub's time.
    options.plateau_s = 2.5;
    options.groups_per_place = 1;
    options.settle_s = 0.1;
    const auto status = run_crossing(**host, sensor, "cuda:0", folder, options, {});
    ASSERT_TRUE(status) << status.error().text();
    const auto store = CampaignStore::open_read_only(folder / "campaign.db");
    ASSERT_TRUE(store) << store.error().text();
    const auto fit = fit_crossing(*store);
    ASSERT_TRUE(fit) << fit.error().text();
    EXPECT_EQ(fit->blocks, options.blocks);
    EXPECT_EQ(fit->waits, 3);
    EXPECT_EQ(fit->runs, 21 * options.blocks);
    EXPECT_EQ(fit->rejected, 0);
    // Half of random bits are ones.
    const double random = stub::joules_per_crossing_bit + 0.5 * stub::joules_per_crossing_one;
    ASSERT_EQ(fit->random_bit.status, RowStatus::ok) << fit->random_bit.reason;
    EXPECT_NEAR(*fit->random_bit.value / random, 1.0, 0.05);
    ASSERT_EQ(fit->zero_bit.status, RowStatus::ok) << fit->zero_bit.reason;
    EXPECT_NEAR(*fit->zero_bit.value / stub::joules_per_crossing_bit, 1.0, 0.05);
    // Near runs ahead of far by what a reduction of the stub is faster, and that changes nothing.
    EXPECT_GT(fit->greatest_mismatch, 0.05);
    ASSERT_EQ(fit->controls.size(), 4u);
    for (const CrossingCheck& control : fit->controls) {
      EXPECT_TRUE(control.passed) << control.name << ": " << control.detail;
    }
    EXPECT_NEAR(fit->gain / *fit->random_bit.value, 0.05, 1e-9);
    const auto json = to_json(*fit);
    EXPECT_TRUE(json.at("energy_fj_per_bit_mm").is_null());
    EXPECT_EQ(json.at("controls").size(), 4u);
    EXPECT_TRUE(json.at("distance").at("estimated").get<bool>());
    std::filesystem::remove_all(folder);
  }
}

}  // namespace
}  // namespace ww::microbench
