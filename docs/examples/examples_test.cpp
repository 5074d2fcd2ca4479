// The worked examples of docs/extend.md do what the page says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "counter_rules.hpp"
#include "fixed_delay/network.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::examples {

// As the header that the list of backends is made into declares it.
std::optional<measure::SensorBackend> file_meter_backend(const measure::TelemetryGpu& gpu,
                                                         const measure::TelemetryOptions& options);

namespace {

TEST(FixedDelayNetwork, DeliversEveryPacketTenCyclesLater) {
  sim::net::NetworkConfig config;
  // Says nothing to a network without virtual channels.
  config.own<sim::net::VcRouterConfig>().vcs = 1;
  config.own<sim::net::VcRouterConfig>().vc_buffer = 1;
  auto made = sim::net::make_network(kFixedDelay, config);
  ASSERT_TRUE(made) << made.error().text();
  const auto network = std::move(*made);
  const sim::net::NodeId to = 5;
  sim::net::Packet packet;
  packet.source = 2;
  packet.destinations = {&to, 1};
  packet.flits = 4;
  ASSERT_TRUE(network->inject(packet));
  ASSERT_EQ(network->next_event(), Cycles{10});
  network->skip_to(Cycles{10});
  network->tick();
  ASSERT_EQ(network->deliveries().size(), 1U);
  EXPECT_EQ(network->deliveries()[0].destination, to);
  EXPECT_EQ(network->packets_inside(), 0U);
  network->tick();
  EXPECT_EQ(network->events().ejected_flits, 4U);
  packet.source = 10'000;
  EXPECT_FALSE(network->inject(packet));
}

TEST(FixedDelayNetwork, HasItsKeyFromItsRowAlone) {
  sim::net::NetworkConfig config;
  sim::net::BoundKeys keys;
  kFixedDelay.keys(config, keys);
  const auto* key = sim::net::find_key(keys, "fixed_delay");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(sim::net::option_name(key->name), "--fixed-delay");
  ASSERT_TRUE(sim::net::set_value(*key, "25"));
  const auto network = std::move(*sim::net::make_network(kFixedDelay, config));
  const sim::net::NodeId to = 1;
  sim::net::Packet packet;
  packet.destinations = {&to, 1};
  ASSERT_TRUE(network->inject(packet));
  EXPECT_EQ(network->next_event(), Cycles{25});
  EXPECT_EQ(sim::net::set_value(*key, "0").error().context, "fixed_delay");
  EXPECT_EQ(sim::net::make_network(kFixedDelay, config).error().context, "fixed_delay");
}

TEST(FileMeter, IsABackendWhoseSourceReadsTheFile) {
  const auto scratch = ScratchFolder::create("meter").value();
  const auto file = scratch.path() / "meter";
  ::unsetenv("WIREWATT_METER");
  EXPECT_FALSE(file_meter_backend({}, {}));
  ::setenv("WIREWATT_METER", file.c_str(), 1);
  const auto missing = file_meter_backend({}, {});
  ASSERT_TRUE(missing);
  EXPECT_FALSE(missing->usable);
  EXPECT_FALSE(missing->reason.empty());
  ASSERT_TRUE(write_file_atomically(file, "125500\n"));
  const auto backend = file_meter_backend({}, {});
  ASSERT_TRUE(backend && backend->usable);
  const auto source = backend->open();
  ASSERT_TRUE(source);
  measure::RawReading reading;
  (*source)->read_fast(reading);
  EXPECT_EQ(reading.power_uw, 125'500'000);
  std::filesystem::remove(file);
  measure::RawReading gone;
  (*source)->read_fast(gone);
  EXPECT_FALSE(gone.power_uw);
}

TEST(CounterRules, NameASourceAndNoSegmentTwice) {
  for (const SegmentRule& rule : kGfx999Rules) {
    EXPECT_FALSE(rule.source.empty());
    EXPECT_EQ(std::ranges::count(kGfx999Rules, rule.segment, &SegmentRule::segment), 1);
    EXPECT_TRUE(!rule.terms.empty() || !rule.note.empty());
  }
}

}  // namespace
}  // namespace ww::examples
