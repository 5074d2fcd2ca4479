// The campaign of crossings through CUDA's driver API on the stub, whose energy per crossing is
// known.
#include "ww/microbench/crossing.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "../test_support/stub_cuda.hpp"
#include "../test_support/stub_meter.hpp"
#include "bench/engine.hpp"
#include "device/nvidia_device.hpp"
#include "experiment/experiments.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

namespace stub = testing::stub_cuda;
using testing::StubMeter;

Result<Device> stub_card(bool has_energy) {
  ComputeDevice opened;
  WW_ASSIGN(host, open_host("cuda:0"));
  opened.host = std::move(host);
  auto sensor = std::make_unique<StubMeter>(has_energy);
  EXPECT_TRUE(sensor->usable());
  opened.sensor = std::move(sensor);
  return open_nvidia_device(std::move(opened), "cuda:0");
}

TEST(CrossingCampaign, RecoversTheStubsEnergyPerCrossing) {
  const auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  for (const bool has_energy : {true, false}) {
    const auto scratch = ScratchFolder::create("crossing").value();
    const auto folder = scratch.path() / "run";
    const int blocks = has_energy ? 4 : 3;
    ExperimentSettings settings{.quick = true};
    // A launch at the longest wait takes half a second of the stub's time.
    settings.own = {{"blocks", blocks}, {"plateau_s", 2.5}, {"groups_per_place", 1}};
    auto experiment = make_experiment(experiments(), "crossing", settings);
    ASSERT_TRUE(experiment) << experiment.error().text();
    ExperimentParts parts;
    parts.open = [&](const DeviceRequest&, const std::string&) { return stub_card(has_energy); };
    parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
    const auto summary = run_experiment(
        std::move(*experiment), {{.name = "cuda:0"}, folder, settings.seed, false}, parts, {});
    ASSERT_TRUE(summary) << summary.error().text();
    EXPECT_TRUE(summary->complete);
    const auto store = CampaignStore::open_read_only(folder / "campaign.db");
    ASSERT_TRUE(store) << store.error().text();
    const auto fit = calibration::fit_crossing(*store);
    ASSERT_TRUE(fit) << fit.error().text();
    EXPECT_EQ(fit->blocks, blocks);
    EXPECT_EQ(fit->waits, 3);
    EXPECT_EQ(fit->runs, 21 * blocks);
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
    for (const auto& control : fit->controls) {
      EXPECT_TRUE(control.passed) << control.name << ": " << control.detail;
    }
    EXPECT_NEAR(fit->gain / *fit->random_bit.value, kBoardGainTolerance95, 1e-9);
    const auto json = to_json(*fit);
    EXPECT_TRUE(json.at("energy_fj_per_bit_mm").is_null());
    EXPECT_EQ(json.at("controls").size(), 4u);
    EXPECT_TRUE(json.at("distance").at("estimated").get<bool>());
  }
}

}  // namespace
}  // namespace ww::microbench
