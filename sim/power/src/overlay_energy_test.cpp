// Dapper's bypass routers and Approx-NoC's interfaces: each event costs what its source says, and
// nothing is charged to networks that have neither.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ww/sim/power/accounting.hpp"
#include "ww/sim/power/overhead_energy.hpp"

namespace ww::sim::power::overlay_energy_test {
namespace {

EnergyConfig config64() {
  EnergyConfig config;
  config.router.flit_bits = 64;
  return config;
}

double pj(Picojoule energy) {
  return energy.to<double>();
}

EnergyReport report(const NetworkEvents& events) {
  const auto made = account(events, config64());
  EXPECT_TRUE(made) << made.error().text();
  return *made;
}

NetworkEvents with_overlay() {
  NetworkEvents events;
  events.overlay.routers = 16;
  events.overlay.links = 48;
  return events;
}

// DSENT, 22 nm, 64 bits, one VC of one flit: 0.187 + 0.116 + 0.272 pJ, 0.965 mW.
TEST(OverlayEnergy, ABypassRouterCostsWhatDsentSaysOfALatchedOne) {
  NetworkEvents events = with_overlay();
  events.overlay.crossbar_flits = 1000;
  events.overlay.latch_flits = 1000;
  events.cycles = 1000;  // 1 us
  const EnergyReport energy = report(events);
  EXPECT_NEAR(pj(energy.bypass_switch), 272.5, 0.5);
  EXPECT_NEAR(pj(energy.bypass_latch), 186.9 + 115.7, 6);
  EXPECT_NEAR(pj(energy.bypass_router_leakage), 16 * 0.965e3, 0.04 * 16 * 0.965e3);
  EXPECT_EQ(pj(energy.buffer_write), 0);
}

TEST(OverlayEnergy, ABypassRouterCostsTheStatedShareOfARouter) {
  NetworkEvents events = with_overlay();
  events.overlay.crossbar_flits = 1000;
  events.cycles = 1000;  // 1 us
  EnergyConfig config = config64();
  const auto router = router_energy(config.estimator, config.node_nm, config.router);
  ASSERT_TRUE(router);
  config.bypass_power = 0.5;
  const auto half = account(events, config);
  ASSERT_TRUE(half) << half.error().text();
  EXPECT_NEAR(pj(half->bypass_router_leakage), 16 * 0.5 * router->leakage_mw * 1e3, 1e-6);
  EXPECT_NEAR(pj(half->bypass_switch), 1000 * 0.5 * router->crossbar_pj, 1e-6);
  EXPECT_GT(pj(half->bypass_router_leakage), 2 * pj(report(events).bypass_router_leakage));
  config.bypass_power = 1.5;
  EXPECT_EQ(account(events, config).error().context, "bypass_power");
}

TEST(OverlayEnergy, CountedTransitionsReplaceTheToggleRate) {
  NetworkEvents events = with_overlay();
  events.overlay.link_flits = 100;
  EXPECT_NEAR(pj(report(events).bypass_link), 100 * 64 * 0.5 * 47.165e-3, 0.01);
  events.toggles_counted = true;
  events.overlay.link_toggles = 100;
  EXPECT_NEAR(pj(report(events).bypass_link), 100 * 47.165e-3, 1e-3);
}

TEST(OverlayEnergy, TotalIsTheSumAndNamesItsSources) {
  NetworkEvents events = with_overlay();
  events.cycles = 10;
  events.overlay.leader_words = 16;
  events.overlay.words_compared = 40;
  events.overlay.windows = 4;
  events.overlay.setups = 16;
  events.reply_buffer_flits = 9;
  events.compression.dictionary_bits = 1000;
  events.compression.blocks = 1;
  events.compression.searches = 16;
  events.compression.search_bits = 16 * 256;
  events.compression.lookups = 3;
  const EnergyReport energy = report(events);
  double sum = 0;
  for (const auto& [name, value] : energy.components()) sum += pj(value);
  EXPECT_DOUBLE_EQ(pj(energy.total()), sum);
  for (const Picojoule part : {energy.approximator, energy.overlay_control, energy.compressor,
                               energy.dictionary_leakage, energy.reply_buffer}) {
    EXPECT_GT(pj(part), 0);
  }
  const nlohmann::json json = energy;
  EXPECT_NE(json["overhead_source"].get<std::string>().find("Horowitz"), std::string::npos);
  EXPECT_NE(json["bypass_source"].get<std::string>().find("DSENT"), std::string::npos);
}

TEST(OverlayEnergy, AMeshIsChargedNothingOfIt) {
  NetworkEvents events;
  events.cycles = 1000;
  events.routers = 16;
  events.links = 48;
  const EnergyReport energy = report(events);
  EXPECT_EQ(pj(energy.bypass_clock + energy.bypass_router_leakage + energy.dictionary_leakage +
               energy.reply_buffer),
            0);
  EXPECT_TRUE(energy.overhead_source.empty());
}

TEST(OverheadEnergy, IsHorowitzAt45NanometresAndShrinks) {
  const auto at45 = overhead_energy(45);
  const auto at22 = overhead_energy(22);
  ASSERT_TRUE(at45 && at22);
  EXPECT_DOUBLE_EQ(at45->multiply_pj, 3.1);
  EXPECT_DOUBLE_EQ(at45->memory_pj_per_64b, 10);
  EXPECT_NEAR(at22->multiply_pj / at45->multiply_pj, 0.0675592 / 0.26666, 1e-6);
  EXPECT_FALSE(overhead_energy(7));
}

}  // namespace
}  // namespace ww::sim::power::overlay_energy_test
