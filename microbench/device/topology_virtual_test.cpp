// Topology by probing, against what the chip's public floorplan and data sheet say. One chip a
// process: WW_TEST_CHIP and WW_TEST_SEED choose it (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "device/device.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/counter_check.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

DeviceRequest chip() {
  DeviceRequest request;
  const char* name = std::getenv("WW_TEST_CHIP");
  const char* seed = std::getenv("WW_TEST_SEED");
  request.name = name != nullptr ? name : "virtual:w9100";
  request.chip_seed = seed != nullptr ? std::strtoull(seed, nullptr, 10) : 0;
  return request;
}

class VirtualTopology : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto opened = open_device(chip(), chip().name);
    ASSERT_TRUE(opened) << opened.error().text();
    device_ = std::make_unique<Device>(std::move(*opened));
    cache_.emplace(ScratchFolder::create("topology").value());
    setenv("XDG_CACHE_HOME", cache_->path().c_str(), 1);
    TopologyRequest request;
    request.device = chip();
    auto found = topology_of(request, {});
    ASSERT_TRUE(found) << found.error().text();
    topology_ = std::move(*found);
  }
  static void TearDownTestSuite() {
    device_.reset();
    cache_.reset();
  }
  static bool order_is_documented() { return device_->chip.interleave_bytes > 0; }
  static double distance(const model::Floorplan& plan, std::size_t engine, std::size_t channel) {
    double sum = 0;
    for (const model::Point& cu : plan.compute_units[engine]) {
      sum += std::abs(cu.x_mm - plan.l2_channels[channel].x_mm) +
             std::abs(cu.y_mm - plan.l2_channels[channel].y_mm);
    }
    return sum / static_cast<double>(plan.compute_units[engine].size());
  }
  static inline std::unique_ptr<Device> device_;
  static inline Topology topology_;
  static inline std::optional<ScratchFolder> cache_;
};

TEST_F(VirtualTopology, SeesEveryCuOfEveryEngine) {
  EXPECT_EQ(std::ssize(topology_.engines()), device_->chip.engines);
  // RDNA's register names pairs of CUs.
  const std::ptrdiff_t units = device_->chip.target.starts_with("gfx1") ? 2 : 1;
  EXPECT_EQ(units * std::ssize(topology_.places),
            std::ptrdiff_t{device_->chip.engines} * device_->chip.cus_per_engine);
}

TEST_F(VirtualTopology, RecoversChannelsAndInterleave) {
  ASSERT_TRUE(topology_.address.found) << topology_.address.reason;
  EXPECT_EQ(topology_.address.channels, device_->chip.channels);
  if (order_is_documented()) {
    EXPECT_EQ(topology_.address.interleave_bytes, device_->chip.interleave_bytes);
  }
}

TEST_F(VirtualTopology, CachesAreThoseOfTheDataSheet) {
  ASSERT_TRUE(topology_.caches) << topology_.caches_reason;
  const Caches& caches = *topology_.caches;
  ASSERT_TRUE(caches.l1.size_bytes.value) << caches.l1.size_bytes.reason;
  EXPECT_EQ(*caches.l1.size_bytes.value, static_cast<double>(device_->chip.l1_bytes));
  for (const CacheLevel* level : {&caches.l1, &caches.l2}) {
    ASSERT_TRUE(level->line_bytes.value) << level->line_bytes.reason;
    // Some chips' L2 brings lines in pairs: what is fetched together is also replaced together.
    ASSERT_TRUE(level->fetch_bytes.value) << level->fetch_bytes.reason;
    EXPECT_EQ(*level->line_bytes.value, *level->fetch_bytes.value);
    EXPECT_GT(level->line_bytes.confidence, 0.5);
  }
  EXPECT_LT(caches.l1.latency.p95_cycles, caches.l2.latency.p50_cycles);
  EXPECT_LT(caches.l2.latency.p95_cycles, caches.memory.latency.p50_cycles);
  EXPECT_GT(caches.l2.read_gib_s.value.value(), caches.memory.read_gib_s.value.value());
}

// The channel numbers that probing gives are its own: addresses that the data sheet puts on one
// channel must be on one.
int told_channel(const Device& device, std::uint64_t address) {
  return static_cast<int>(address / static_cast<std::uint64_t>(device.chip.interleave_bytes) %
                          static_cast<std::uint64_t>(device.chip.channels));
}

TEST_F(VirtualTopology, NearAndFarAreThoseOfTheFloorplan) {
  ASSERT_TRUE(topology_.latency.found) << topology_.latency.reason;
  if (!order_is_documented()) GTEST_SKIP() << "homes_random_test compares chips with a hash";
  if (device_->floorplan_toml.empty()) GTEST_SKIP() << "the chip has no public floorplan";
  const auto plan = model::parse_floorplan(device_->floorplan_toml, "public floorplan").value();
  for (std::uint64_t piece = 0; piece < static_cast<std::uint64_t>(device_->chip.channels);
       ++piece) {
    const std::uint64_t address =
        piece * static_cast<std::uint64_t>(device_->chip.interleave_bytes);
    const auto told = static_cast<std::size_t>(told_channel(*device_, address));
    const auto column = static_cast<std::size_t>(topology_.address.channel_of(address));
    const auto nearest = static_cast<std::size_t>(topology_.latency.nearest_place[column]);
    // Pairs whose distances differ by more than the floorplan's own error and a cycle of flight are
    // in the same order.
    for (std::size_t engine = 0; engine < plan.compute_units.size(); ++engine) {
      const double longer = distance(plan, engine, told) - distance(plan, nearest, told);
      EXPECT_GT(longer, -0.1 * distance(plan, nearest, told) - 2.2)
          << "channel " << told << ": engine " << nearest << " is called nearer than " << engine;
    }
    for (std::size_t a = 0; a < plan.compute_units.size(); ++a) {
      for (std::size_t b = 0; b < plan.compute_units.size(); ++b) {
        if (distance(plan, a, told) - distance(plan, b, told) < 6.0) continue;
        EXPECT_GT(topology_.latency.ticks[a][column], topology_.latency.ticks[b][column])
            << "channel " << told << ", engines " << a << " and " << b;
      }
    }
  }
}

TEST_F(VirtualTopology, RoundTripsThroughJson) {
  const auto again = topology_from_json(to_json(topology_));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), to_json(topology_));
  auto broken = to_json(topology_);
  broken["address"].erase("masks");
  EXPECT_THAT(topology_from_json(broken).error().message, HasSubstr("masks"));
}

TEST_F(VirtualTopology, IsCachedByDeviceAndDriver) {
  EXPECT_FALSE(topology_.from_cache);
  EXPECT_TRUE(topology_.is_virtual);
  EXPECT_EQ(topology_.reported_by_driver.channels, device_->chip.channels);
  TopologyRequest request;
  request.device = chip();
  const auto again = topology_of(request, {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_TRUE(again->from_cache);
  EXPECT_EQ(again->latency.ticks, topology_.latency.ticks);
}

TEST_F(VirtualTopology, CounterMappingHoldsOnKnownBytes) {
  const std::size_t bytes = static_cast<std::size_t>(device_->chip.l2_bytes) * 4;
  const auto checks =
      check_counter_mapping(*device_->host, *device_->counters, device_->chip.l2_bytes, bytes, 2);
  ASSERT_TRUE(checks) << checks.error().text();
  for (const auto& check : *checks) {
    if (check.segment == measure::Segment::l1_l2) {
      EXPECT_EQ(check.verdict, measure::MappingVerdict::exact) << check.reason;
      EXPECT_NEAR(*check.counted_bytes / check.expected_bytes, 1.0, 0.005);
    }
    if (check.segment == measure::Segment::l2_memory_read ||
        check.segment == measure::Segment::l2_memory_write) {
      EXPECT_EQ(check.verdict, measure::MappingVerdict::exact) << check.reason;
    }
  }
}

}  // namespace
}  // namespace ww::microbench
