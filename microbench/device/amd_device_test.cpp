#include "device/amd_device.hpp"
#include "device/amd_package.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/sensor_steps.hpp"
#include "device/launch_log.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::microbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

model::Floorplan w9100() {
  return model::parse_floorplan(*model::known_floorplan("w9100"), "w9100").value();
}

// Latency as the floorplan's distances would have it, where the channels of group g of the plan
// really lie where the plan puts group `really[g]`; offsets of engines and channels on top.
LatencyMap latencies(const model::Floorplan& plan, const std::vector<int>& really,
                     double ticks_per_mm) {
  LatencyMap map;
  map.found = true;
  for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
    auto& row = map.ticks.emplace_back(plan.l2_channels.size());
    for (std::size_t g = 0; g < plan.quadrants.size(); ++g) {
      const double mm = plan.distance(static_cast<int>(e), really[g]).value();
      for (const int channel : plan.quadrants[g]) {
        row[static_cast<std::size_t>(channel)] =
            200 + 3.0 * static_cast<double>(e) + 0.5 * channel + ticks_per_mm * mm;
      }
    }
  }
  return map;
}

TEST(AmdCards, AreKnownByPciIdAndBringAFloorplanOfTheirSize) {
  for (const char* id : {"0x67a0", "0x687f", "0x66a1", "0x738c", "0x740f", "740c"}) {
    const AmdCard* card = find_amd_card(id);
    ASSERT_NE(card, nullptr) << id;
    const auto text = model::known_floorplan(card->floorplan);
    ASSERT_TRUE(text) << card->name;
    const auto plan = model::parse_floorplan(*text, std::string(card->floorplan));
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_EQ(std::ssize(plan->l2_channels), card->channels) << card->name;
    EXPECT_TRUE(plan->estimated) << card->name;
  }
  EXPECT_EQ(find_amd_card("0x73bf"), nullptr);
  EXPECT_EQ(find_amd_card(""), nullptr);
  EXPECT_EQ(find_amd_card("0x67a0x"), nullptr);
}

TEST(AmdCards, ThatNoCampaignCanMeasureSayWhy) {
  EXPECT_EQ(campaign_obstacle("gfx701", "0x67a0"), "");
  EXPECT_EQ(campaign_obstacle("gfx90a:sramecc+:xnack-", "0x740f"), "");
  EXPECT_THAT(campaign_obstacle("gfx942", "0x74a1"), HasSubstr("fabric"));
  // RDNA is judged by what its caches show on the card.
  for (const char* rdna : {"gfx1030", "gfx1100", "gfx1201"}) {
    EXPECT_EQ(campaign_obstacle(rdna, "0x744c"), "") << rdna;
  }
  EXPECT_EQ(campaign_obstacle("gfx906:sramecc+:xnack-", "0x66a1"), "");
  EXPECT_EQ(campaign_obstacle("gfx908:sramecc+:xnack-", "0x738c"), "");
  EXPECT_THAT(campaign_obstacle("gfx904", "0x69af"), HasSubstr("0x69af"));
  EXPECT_THAT(campaign_obstacle("gfx904", ""), HasSubstr("unknown"));
  EXPECT_THAT(campaign_obstacle("", ""), HasSubstr("PTX"));
}

std::string obstacle(const std::string& target, const std::string& device_id,
                     const std::string& partition) {
  HostFacts host;
  host.api = "hip";
  host.target = target;
  measure::AmdGpu amd;
  amd.device_id = device_id;
  amd.compute_partition = partition;
  return package_obstacle(host, &amd);
}

TEST(AmdPackages, AreMeasuredUndividedWhereTheirDiesAreKnown) {
  EXPECT_EQ(obstacle("gfx942:sramecc+:xnack-", "0x74a1", "SPX"), "");
  EXPECT_EQ(obstacle("gfx942", "0x74a1", ""), "");
  EXPECT_THAT(obstacle("gfx942", "0x74a1", "CPX"), HasSubstr("CPX"));
  for (const auto& [id, name] : {std::pair("0x74a0", "MI300A"), std::pair("0x74b5", "MI300X VF"),
                                 std::pair("0x75a3", "MI355X")}) {
    EXPECT_THAT(obstacle("gfx942", id, ""), HasSubstr(std::string(name) + ": "));
  }
  EXPECT_THAT(obstacle("gfx942", "0x74ff", ""), HasSubstr("0x74ff"));
  EXPECT_THAT(obstacle("gfx942", "", ""), HasSubstr("unknown"));
  EXPECT_NE(obstacle("gfx90a", "0x740f", ""), "");
}

TEST(AmdPackages, OfTwoDiesAreMeasuredThroughHipWhereTheOtherDieIsKnown) {
  HostFacts host;
  host.api = "hip";
  host.target = "gfx90a:sramecc+:xnack-";
  measure::AmdGpu amd;
  amd.device_id = "0x7408";
  EXPECT_TRUE(is_amd_package(host, &amd));
  EXPECT_THAT(package_obstacle(host, &amd), HasSubstr("kfd/topology"));
  amd.other_die = measure::AmdGpu::OtherDie{};
  EXPECT_EQ(package_obstacle(host, &amd), "");
  HostListing other;
  other.name = "hip:1";
  other.facts = host;
  other.facts.pci_bus = to_string(amd.other_die->pci);
  EXPECT_EQ(package_obstacle(host, &amd, {other}), "");
  other.facts.pci_bus = "0000:c9:00.0";
  EXPECT_THAT(package_obstacle(host, &amd, {other}), HasSubstr("hip:1 at 0000:c9:00.0"));
  EXPECT_FALSE(is_amd_package(host, nullptr));
  EXPECT_EQ(hidden_sibling(amd), "");
  amd.other_die.reset();
  EXPECT_THAT(hidden_sibling(amd), HasSubstr("both dies"));
  amd.other_die = measure::AmdGpu::OtherDie{};
  // MI210 is such a die alone, and through OpenCL so is each of the two.
  host.api = "opencl";
  EXPECT_FALSE(is_amd_package(host, &amd));
  host.api = "hip";
  amd.device_id = "0x740f";
  amd.other_die.reset();
  EXPECT_EQ(hidden_sibling(amd), "");
  EXPECT_FALSE(is_amd_package(host, &amd));
}

// Channels in plain order: bits 8 to 11, or to 12, each one row of its own.
AddressMap plain(const AmdCard& card) {
  AddressMap map;
  map.found = true;
  map.form = AddressMap::Form::xor_of_bits;
  map.channels = card.channels;
  map.interleave_bytes = card.interleave_bytes;
  for (int bit = 1; bit < card.channels; bit *= 2) {
    map.masks.push_back(static_cast<std::uint64_t>(card.interleave_bytes * bit));
  }
  return map;
}

TEST(AddressObstacle, IsTheDriversSteeringEvenWhereContentionSeesPlainOrder) {
  // Hawaii alone has quadrants in the order of addresses; Vega's and Instinct's drivers steer.
  const AmdCard& hawaii = *find_amd_card("0x67a0");
  EXPECT_EQ(address_obstacle(plain(hawaii), hawaii), "");
  for (const char* id : {"0x687f", "0x66a1", "0x738c", "0x740f"}) {
    const AmdCard& card = *find_amd_card(id);
    EXPECT_THAT(address_obstacle(plain(card), card), HasSubstr("steers")) << card.name;
  }
}

TEST(AddressObstacle, IsAHashOrAnotherNumberOfChannels) {
  const AmdCard& hawaii = *find_amd_card("0x67a0");
  AddressMap map = plain(hawaii);
  map.masks[0] |= 1 << 14;
  EXPECT_THAT(address_obstacle(map, hawaii), HasSubstr("parities"));
  map.channels = 8;
  EXPECT_THAT(address_obstacle(map, hawaii), HasSubstr("8 channels"));
  EXPECT_THAT(address_obstacle({}, hawaii), HasSubstr("not found"));
}

TEST(QuadrantOrder, IsToldByLatenciesWhateverTheirOffsets) {
  const auto plan = w9100();
  const auto as_numbered = order_quadrants(latencies(plan, {0, 1, 2, 3}, 0.8), plan);
  EXPECT_TRUE(as_numbered.by_latency) << as_numbered.reason;
  EXPECT_THAT(as_numbered.group_of, ElementsAre(0, 1, 2, 3));
  EXPECT_GT(as_numbered.correlation, 0.99);
  // Group 0 lies where the plan has quadrant 2, and so on: quadrant 2 is group 0.
  const auto moved = order_quadrants(latencies(plan, {2, 0, 3, 1}, 0.8), plan);
  EXPECT_TRUE(moved.by_latency) << moved.reason;
  EXPECT_THAT(moved.group_of, ElementsAre(1, 3, 0, 2));
}

TEST(QuadrantOrder, IsTheFloorplansWhereLatenciesDoNotTell) {
  const auto plan = w9100();
  LatencyMap none;
  none.reason = "contrast within the noise";
  const auto order = order_quadrants(none, plan);
  EXPECT_FALSE(order.by_latency);
  EXPECT_EQ(order.reason, none.reason);
  EXPECT_THAT(order.group_of, ElementsAre(0, 1, 2, 3));
  const auto flat = order_quadrants(latencies(plan, {0, 1, 2, 3}, 0.0), plan);
  EXPECT_FALSE(flat.by_latency);
  EXPECT_THAT(flat.group_of, ElementsAre(0, 1, 2, 3));
}

// A host whose kernels take time that a clock sees.
struct Clock final : measure::Sensor {
  std::int64_t now = 1000;
  measure::SensorFacts known;
  const measure::SensorFacts& facts() const override { return known; }
  std::int64_t now_ns() override { return now; }
  void sleep_until(std::int64_t time_ns) override { now = time_ns; }
  Result<std::vector<SensorReading>> new_readings() override {
    return std::vector<SensorReading>{};
  }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return {}; }
};
struct Kernel final : LoadedKernel {
  using LoadedKernel::set;
  Status set(unsigned, std::span<const std::byte>) override { return {}; }
  Status set(unsigned, const DeviceBuffer&) override { return {}; }
  Status launch(std::size_t, std::size_t) override { return {}; }
};
struct Host final : ComputeHost {
  explicit Host(Clock& clock) : clock_(clock) {}
  std::string device_name() const override { return "host"; }
  std::string driver_version() const override { return "1"; }
  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t) override {
    return fail(ErrorCode::unsupported, "none");
  }
  Result<std::vector<std::byte>> build(const std::string&, const std::string&) override {
    return std::vector<std::byte>{};
  }
  Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte>,
                                             const std::string&) override {
    return std::make_unique<Kernel>();
  }
  Status flush() override { return {}; }
  Status finish() override {
    clock_.now += 500;
    return {};
  }
  Clock& clock_;
};

TEST(SensorSteps, AreWhatTheReadingsResolve) {
  StoredRun run;
  for (const std::int64_t watts : {41, 42, 41, 130, 129}) {
    SensorReading sample;
    sample.power_uw = watts * 1'000'000;
    run.samples.push_back(sample);
  }
  run.samples.emplace_back();  // no answer
  EXPECT_DOUBLE_EQ(smallest_step_w(std::span(&run, 1)), 1.0);
  run.samples.resize(1);
  EXPECT_EQ(smallest_step_w(std::span(&run, 1)), 0.0);
}

TEST(LaunchLog, SpansFromQueueingToTheEmptyQueue) {
  Clock clock;
  LoggedHost logged = log_launches(std::make_unique<Host>(clock), clock);
  auto kernel = logged.host->load({}, "k");
  ASSERT_TRUE(kernel);
  ASSERT_TRUE((*kernel)->launch(1, 64));
  clock.now += 10;
  ASSERT_TRUE((*kernel)->launch(1, 64));
  ASSERT_TRUE(logged.host->finish());
  ASSERT_EQ(logged.launches->dispatch_count(), 2U);
  EXPECT_EQ(logged.launches->dispatch(0)->start_ns, 1000);
  EXPECT_EQ(logged.launches->dispatch(1)->start_ns, 1010);
  EXPECT_EQ(logged.launches->dispatch(0)->end_ns, 1510);
  EXPECT_EQ(logged.launches->dispatch(1)->end_ns, 1510);
  EXPECT_TRUE(logged.launches->sum(0, 2)->empty());
  EXPECT_FALSE(logged.launches->dispatch(2));
}

TEST(LaunchLog, ForgetsLaunchesOfLongAgoAndSaysSo) {
  Clock clock;
  LoggedHost logged = log_launches(std::make_unique<Host>(clock), clock);
  auto kernel = logged.host->load({}, "k");
  ASSERT_TRUE(kernel);
  for (int i = 0; i < 70'000; ++i) ASSERT_TRUE((*kernel)->launch(1, 64));
  ASSERT_TRUE(logged.host->finish());
  EXPECT_EQ(logged.launches->dispatch_count(), 70'000U);
  EXPECT_TRUE(logged.launches->dispatch(69'999));
  ASSERT_FALSE(logged.launches->dispatch(100));
  EXPECT_EQ(logged.launches->dispatch(100).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ww::microbench
